#!/usr/bin/env bash
# Packages: what removal and purge delete, which files an installation has, and whether systemd accepts the units and
# rates their exposure as low.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"

# Removal disables every enabled instance; an upgrade disables none.
deb=$(dirname "$0")/../../../cmake/deb
wants=$WORK/system/etc/systemd/system/multi-user.target.wants
mkdir -p "$wants" "$WORK/tools"
ln -s /usr/lib/systemd/system/lensd.service "$wants/lensd.service"
ln -s /usr/lib/systemd/system/lensd@.service "$wants/lensd@front.service"
ln -s /usr/lib/systemd/system/ssh.service "$wants/ssh.service"
printf '#!/bin/sh\necho "$@" >>"%s"\n' "$WORK/systemctl.log" >"$WORK/tools/systemctl"
chmod +x "$WORK/tools/systemctl" && : >"$WORK/systemctl.log"
prerm() { DPKG_ROOT=$WORK/system PATH=$WORK/tools:$PATH sh "$deb/prerm" "$@"; }
prerm upgrade 2.0 && [[ ! -s $WORK/systemctl.log ]] || fail "an upgrade runs systemctl $(<"$WORK/systemctl.log")"
prerm remove in-favour lensd-cuda 2.0 && [[ ! -s $WORK/systemctl.log ]] ||
  fail "a replacement runs systemctl $(<"$WORK/systemctl.log")"
prerm remove && [[ $(sort "$WORK/systemctl.log") == $'disable lensd.service\ndisable lensd@front.service' ]] ||
  fail "removal runs systemctl $(<"$WORK/systemctl.log")"
echo "ok: removal disables the units"

# Both variants restart the running instances, also when one replaces the other. dpkg then names no old version.
printf '#!/bin/sh\n' >"$WORK/tools/systemd-sysusers" && chmod +x "$WORK/tools/systemd-sysusers"
mkdir -p "$WORK/system/run/systemd/system"
for version in '' 1.0; do
  : >"$WORK/systemctl.log"
  DPKG_ROOT=$WORK/system PATH=$WORK/tools:$PATH sh "$deb/postinst" configure "$version"
  [[ $(<"$WORK/systemctl.log") == $'daemon-reload\ntry-restart lensd.service lensd@*.service' ]] ||
    fail "the installation over version '$version' runs systemctl $(<"$WORK/systemctl.log")"
done
rm -r "$WORK/system/run"
echo "ok: an installation restarts the running services"

# A purge removes the cache and empty folders, and keeps configuration and recordings.
kept=$WORK/system
mkdir -p "$kept"/var/{lib,cache}/lensd/front "$kept/etc/lensd"
: >"$kept/var/cache/lensd/front/kernels"
: >"$kept/var/lib/lensd/front/recording.mkv"
printf '#!/bin/sh\n[ "$1" = passwd ]\n' >"$WORK/tools/getent"
printf '#!/bin/sh\necho userdel "$@" >>"%s"\n' "$WORK/systemctl.log" >"$WORK/tools/userdel"
chmod +x "$WORK/tools/getent" "$WORK/tools/userdel" && : >"$WORK/systemctl.log"
postrm() { DPKG_ROOT=$kept PATH=$WORK/tools:$PATH sh "$deb/postrm" "$@" || fail "postrm $*"; }
postrm remove
[[ -e $kept/var/cache/lensd && -e $kept/etc/lensd ]] || fail "removal without purge removes folders"
mkdir -p "$kept/usr/bin" && : >"$kept/usr/bin/lensd"
postrm purge
[[ -e $kept/var/cache/lensd ]] || fail "the purge of one variant removes the folders of the other"
rm "$kept/usr/bin/lensd"
postrm purge
[[ ! -e $kept/var/cache/lensd && ! -e $kept/etc/lensd ]] || fail "a purge leaves $(ls -d "$kept"/*/*/lensd)"
[[ -e $kept/var/lib/lensd/front/recording.mkv && ! -s $WORK/systemctl.log ]] || fail "a purge removes recordings or their owner"
rm "$kept/var/lib/lensd/front/recording.mkv"
postrm purge
[[ ! -e $kept/var/lib/lensd && $(<"$WORK/systemctl.log") == "userdel lensd" ]] || fail "a purge leaves the user or its folder"
echo "ok: a purge leaves only recordings and configuration"

need_tools cmake systemd-analyze
root=$WORK/root
DESTDIR=$root cmake --install "$(dirname "$LENSD")" --prefix /usr >"$WORK/install.log" 2>&1 ||
  fail "cmake --install: $(tail -n 3 "$WORK/install.log")"
package=$(basename "$root"/usr/share/doc/*)
for file in bin/lensd share/man/man1/lensd.1.gz share/applications/lensd.desktop share/lensd/default.toml \
  share/icons/hicolor/scalable/apps/lensd.svg share/bash-completion/completions/lensd lib/sysusers.d/lensd.conf \
  share/zsh/vendor-completions/_lensd share/fish/vendor_completions.d/lensd.fish \
  share/metainfo/org.lensd.lensd.metainfo.xml share/doc/"$package"/{copyright,changelog.gz,changelog.Debian.gz} \
  share/doc/"$package"/docs/guides/recording.md; do
  [[ -s $root/usr/$file ]] || fail "$file is not installed"
done
[[ $("$root/usr/bin/lensd" --version) == lensd* ]] || fail "the installed program does not start"
bash -n "$root/usr/share/bash-completion/completions/lensd" || fail "the completion is not valid bash"
gzip -dc "$root/usr/share/man/man1/lensd.1.gz" | cmp -s - <("$LENSD" manual) || fail "the manual page differs"
! command -v desktop-file-validate >/dev/null ||
  desktop-file-validate "$root/usr/share/applications/lensd.desktop" || fail "the desktop entry is not valid"
! command -v appstreamcli >/dev/null ||
  appstreamcli validate --no-net "$root/usr/share/metainfo/org.lensd.lensd.metainfo.xml" >"$WORK/appstream.log" ||
  fail "the AppStream metadata is not valid: $(<"$WORK/appstream.log")"

units=$root/usr/lib/systemd/system
sandbox() { sed -n '/^# Sandbox/,$p' "$units/$1"; }
[[ $(sandbox lensd.service) == *ProtectSystem=* ]] || fail "the units have no section that begins with '# Sandbox'"
diff <(sandbox lensd.service) <(sandbox lensd@.service) || fail "the sandboxing of the units differs"
# systemd-analyze verify looks for the programs of the units in this root; ExecReload= runs /bin/sh.
mkdir -p "$root/bin" && : >"$root/bin/sh" && chmod +x "$root/bin/sh"
for unit in lensd.service lensd@.service; do
  report=$(systemd-analyze verify --man=no --recursive-errors=no --root="$root" "${unit/@/@front}" 2>&1) || fail "$unit: $report"
  [[ -z $report ]] || fail "$unit: $report"
  level=$(systemd-analyze security --offline=yes "$units/$unit" | sed -n 's/.*exposure level.*: \([0-9.]*\) .*/\1/p')
  awk -v level="$level" 'BEGIN { exit !(level > 0 && level <= 2.5) }' || fail "$unit is exposed: $level"
  echo "ok: systemd accepts $unit, exposure $level"
done

# systemd resolves DeviceAllow= when a service starts, so another unit must load NVIDIA's module before.
nvidia=$(dirname "$0")/../../../config/systemd/lensd-nvidia.service
for unit in lensd.service lensd@.service; do
  for key in After Wants; do
    grep -q "^$key=.*lensd-nvidia.service" "$units/$unit" || fail "$unit has no $key=lensd-nvidia.service"
  done
done
if [[ $package == lensd-cuda ]]; then
  cmp -s "$nvidia" "$units/lensd-nvidia.service" || fail "lensd-nvidia.service is not installed"
  report=$(systemd-analyze verify --man=no --recursive-errors=no --root="$root" lensd-nvidia.service 2>&1) ||
    fail "lensd-nvidia.service: $report"
  [[ -z $report ]] || fail "lensd-nvidia.service: $report"
else
  [[ ! -e $units/lensd-nvidia.service ]] || fail "the package without CUDA has lensd-nvidia.service"
fi
for tool in modprobe nvidia-modprobe; do
  printf '#!/bin/sh\necho %s "$@" >>"%s"\n' "$tool" "$WORK/modules.log" >"$WORK/tools/$tool"
  chmod +x "$WORK/tools/$tool"
done
PATH=$WORK/tools:$PATH sh -c "$(sed -n "s|^ExecStart=-/bin/sh -c '\(.*\)'$|\1|p" "$nvidia")" 2>"$WORK/modules.err" ||
  fail "lensd-nvidia.service: $(<"$WORK/modules.err")"
[[ $(<"$WORK/modules.log") == $'modprobe -bq nvidia_uvm\nnvidia-modprobe -u'* ]] ||
  fail "lensd-nvidia.service runs $(<"$WORK/modules.log")"
echo "ok: the module nvidia_uvm is loaded before a service starts"

# A service with a group that does not exist fails with 216/GROUP.
for group in $(sed -n 's/^SupplementaryGroups=//p' "$units/lensd.service"); do
  grep -q "^g $group " "$root/usr/lib/sysusers.d/lensd.conf" || fail "sysusers.d does not make the group $group"
done
echo "ok: the groups of the services are made"

# Another prefix: the units contain the program's path.
cmake --install "$(dirname "$LENSD")" --prefix "$WORK/there" >/dev/null || fail "cmake --install with a prefix"
grep -q "^ExecStart=$WORK/there/bin/lensd serve" "$WORK/there/lib/systemd/system/lensd.service" ||
  fail "the unit names another program: $(grep ExecStart= "$WORK/there/lib/systemd/system/lensd.service")"
echo "ok: installed under another prefix"
