#!/usr/bin/env bash
# tarball.sh BUILD NAME: makes BUILD/NAME.tar.gz, which runs from any folder: the program with the libraries that it
# needs beside it (RUNPATH $ORIGIN/../lib).
#
# Left to the system are the C and C++ run-time and what belongs to its display and graphics driver: another
# version of those beside it would keep the driver from working. README.tarball lists them.
# shellcheck disable=SC2016  # $ORIGIN is the loader's
set -euo pipefail
build=$1 name=$2
stage=$build/tarball/$name

system='^(ld-linux|libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s|libGL|libEGL|libGLX|libOpenGL'
system+='|libGLdispatch|libgbm|libdrm|libX[A-Za-z0-9]*|libX11-xcb|libxcb[a-z0-9-]*|libwayland-[a-z]*|libva|libva-[a-z0-9]*'
system+='|libvdpau|libcuda|libOpenCL|libsystemd|libudev|libdbus-1)(-[a-z0-9_]*)?\.so'

rm -rf "$build/tarball"
cmake --install "$build" --prefix "$stage" --strip >/dev/null
# Installed for a prefix that nobody knows yet: /opt/lensd, as README.tarball says.
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

# Packages own libraries under /usr or, from before the merge, without it.
packages=$(for path in "${from_system[@]}"; do
  real=$(realpath "$path")
  dpkg-query -S "$real" 2>/dev/null || dpkg-query -S "${real#/usr}" 2>/dev/null || true
done | sed 's/:.*//' | grep -vE '^(libc6|libstdc\+\+6|libgcc-s1)$' | sort -u | tr '\n' ' ')
cat >"$stage/README.tarball" <<README
lensd, to be run from any folder: bin/lensd.

The libraries that it needs are in lib/. These come from the system, since they belong to its display and graphics
driver, and are there on a desktop; on a server with Debian:

    apt-get install --no-install-recommends $packages

It was built with the C library of $(. /etc/os-release && echo "$PRETTY_NAME") and runs with that one and newer ones.

The systemd units in lib/systemd/system name /opt/lensd/bin/lensd: unpack it as /opt/lensd for them, copy them to
/etc/systemd/system and lib/sysusers.d/lensd.conf to /etc/sysusers.d, and call systemd-sysusers.
README
tar -C "$build/tarball" --owner=0 --group=0 --numeric-owner -czf "$build/$name.tar.gz" "$name"
