#!/usr/bin/env bash
# tarball.sh BUILD FOLDER NAME: makes FOLDER/NAME.tar.gz, a relocatable copy of the program with its libraries
# (RUNPATH $ORIGIN/../lib).
#
# The C and C++ runtime libraries and those of the display and the graphics driver come from the system: bundled
# versions could break the driver. README.tarball lists the packages.
# shellcheck disable=SC2016  # $ORIGIN is for the loader
set -euo pipefail
build=$1 folder=$2 name=$3
stage=$build/tarball/$name

system='^(ld-linux|libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s|libGL|libEGL|libGLX|libOpenGL'
system+='|libGLdispatch|libgbm|libdrm|libX[A-Za-z0-9]*|libX11-xcb|libxcb[a-z0-9-]*|libwayland-[a-z]*|libva|libva-[a-z0-9]*'
system+='|libvdpau|libcuda|libOpenCL|libsystemd|libudev|libdbus-1)(-[a-z0-9_]*)?\.so'

rm -rf "$build/tarball"
cmake --install "$build" --prefix "$stage" --strip >/dev/null
# The final prefix is unknown; the units use /opt/lensd, as README.tarball says.
sed -i "s|$stage|/opt/lensd|" "$stage"/lib/systemd/system/*.service
needed=$(ldd "$stage/bin/lensd")
if missing=$(grep 'not found' <<<"$needed"); then
  echo "tarball: $missing" >&2
  exit 1
fi
from_system=()
while read -r library path; do
  if [[ $library =~ $system ]]; then
    from_system+=("$path")
  else
    cp -L "$path" "$stage/lib/$library"
    chmod 644 "$stage/lib/$library"
    patchelf --set-rpath '$ORIGIN' "$stage/lib/$library"
  fi
done < <(awk '$2 == "=>" { print $1, $3 }' <<<"$needed")
patchelf --set-rpath '$ORIGIN/../lib' "$stage/bin/lensd"

# dpkg lists some libraries without /usr, because their packages are from before the /usr merge.
packages=$(for path in "${from_system[@]}"; do
  real=$(realpath "$path")
  dpkg-query -S "$real" 2>/dev/null || dpkg-query -S "${real#/usr}" 2>/dev/null || true
done | sed 's/:.*//' | grep -vE '^(libc6|libstdc\+\+6|libgcc-s1)$' | sort -u | tr '\n' ' ')
cat >"$stage/README.tarball" <<README
bin/lensd runs from any folder. Its libraries are in lib/.

The libraries of display and graphics driver come from the system. A desktop has them; on a Debian server install:

    apt-get install --no-install-recommends $packages

It was built with the C library of $(. /etc/os-release && echo "$PRETTY_NAME") and needs this version or a newer one.

The systemd units in lib/systemd/system start /opt/lensd/bin/lensd. To use them, unpack this tarball as /opt/lensd, copy
the units to /etc/systemd/system and lib/sysusers.d/lensd.conf to /etc/sysusers.d, and run systemd-sysusers.
README
tar -C "$build/tarball" --owner=0 --group=0 --numeric-owner -czf "$folder/$name.tar.gz" "$name"
