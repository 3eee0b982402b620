#!/usr/bin/env bash
# What is installed: the files are where they belong, systemd takes the units and finds them closed.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

need_tools cmake systemd-analyze
root=$WORK/root
DESTDIR=$root cmake --install "$(dirname "$LENSD")" --prefix /usr >"$WORK/install.log" 2>&1 ||
  fail "cmake --install: $(tail -n 3 "$WORK/install.log")"
for file in bin/lensd share/man/man1/lensd.1 share/applications/lensd.desktop share/lensd/default.toml \
  share/icons/hicolor/scalable/apps/lensd.svg share/bash-completion/completions/lensd lib/sysusers.d/lensd.conf \
  share/doc/lensd/docs/guides/recording.md; do
  [[ -s $root/usr/$file ]] || fail "$file is not installed"
done
[[ $("$root/usr/bin/lensd" --version) == lensd* ]] || fail "the installed program does not start"
bash -n "$root/usr/share/bash-completion/completions/lensd" || fail "the completion is no bash"

units=$root/usr/lib/systemd/system
diff <(sed -n '/^# What it may touch/,$p' "$units/lensd.service") \
  <(sed -n '/^# What it may touch/,$p' "$units/lensd@.service") || fail "the units are not closed alike"
# systemd looks the programs up in the root that it is given.
mkdir -p "$root/bin" && : >"$root/bin/sh" && chmod +x "$root/bin/sh"
for unit in lensd.service lensd@.service; do
  report=$(systemd-analyze verify --man=no --recursive-errors=no --root="$root" "${unit/@/@front}" 2>&1) || fail "$unit: $report"
  [[ -z $report ]] || fail "$unit: $report"
  level=$(systemd-analyze security --offline=yes "$units/$unit" | sed -n 's/.*exposure level.*: \([0-9.]*\) .*/\1/p')
  awk -v level="$level" 'BEGIN { exit !(level > 0 && level <= 2.5) }' || fail "$unit is exposed: $level"
  echo "ok: $unit is taken by systemd, exposure $level"
done

# Another prefix: the units name the program where it is.
cmake --install "$(dirname "$LENSD")" --prefix "$WORK/there" >/dev/null || fail "cmake --install with a prefix"
grep -q "^ExecStart=$WORK/there/bin/lensd serve" "$WORK/there/lib/systemd/system/lensd.service" ||
  fail "the unit names another program: $(grep ExecStart= "$WORK/there/lib/systemd/system/lensd.service")"
echo "ok: installed under another prefix"
