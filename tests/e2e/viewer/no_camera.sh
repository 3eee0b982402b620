#!/usr/bin/env bash
# Without a source and without a camera, the window shows a test picture and a notice that no camera was found.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
! compgen -G '/dev/video*' >/dev/null || skip "this machine has a camera"

start_display
start_window --backend=cpu
said() { [[ $(value notice) == "No camera was found. "*"open a file"* ]]; }
wait_for 30 said || fail "the window says '$(value notice)'"
echo "ok: $(value notice)"
quit_window
refused 4 "no camera at /dev/video0" /dev/video0 --headless -o null:
