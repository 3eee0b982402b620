#!/usr/bin/env bash
# Mistyped names get a suggestion, and -c finds presets by name.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/daemon.sh"

refused 3 "did you mean median?" test:testsrc2 --headless -o null: --graph medain
refused 3 "did you mean radius?" test:testsrc2 --headless -o null: --graph median=radiu=1
refused 3 "write median=radius=2)" test:testsrc2 --headless -o null: --graph "median radius=2"
refused 3 "did you mean median?" filters medain
refused 3 "did you mean median?" bench medain
refused 2 "did you mean --headless?" test:testsrc2 --hedless
refused 2 "did you mean doctor?" dcotor

mkdir -p "$XDG_CONFIG_HOME/lensd/presets"
printf '[[node]]\nfilter = "invert"\n' >"$XDG_CONFIG_HOME/lensd/presets/my negative.toml"
cd "$WORK" || exit 1
expect 0 test:testsrc2 --headless --frames 2 -o null: -c "my negative" --timings t.csv
grep -q '^invert,' t.csv || fail "-c NAME did not load the preset"
refused 3 "did you mean my negative?" test:testsrc2 --headless -o null: -c "my negatve"

: >-dash.mkv
refused 2 "for the file of this name: ./-dash.mkv" -dash.mkv --headless -o null:

start_daemon test:testsrc2=size=64x48:rate=30 --graph median
ctl_misused "did you mean seek?" seke 3
ctl_refused "did you mean radius?" set median.radiu 2
stop_daemon
echo "ok"
