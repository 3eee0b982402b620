#!/usr/bin/env bash
# Without a source and without a camera, the window shows a moving test picture and says that it waits for a camera.
# tests/cameras/plug_in.sh plugs one in.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
! compgen -G '/dev/video*' >/dev/null || skip "this machine has a camera"

start_display
start_window --backend=cpu
said() { [[ $(value notice) == "No camera found. Showing a test picture; a camera that is plugged in opens by itself." ]]; }
wait_for 30 said || fail "the window says '$(value notice)'"
echo "ok: $(value notice)"
moves() { (($(value frame) > 2)); }
wait_for 30 moves || fail "the test picture does not move"
quit_window
refused 4 "no camera at /dev/video0" /dev/video0 --headless -o null:
