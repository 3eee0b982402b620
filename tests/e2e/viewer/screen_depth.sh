#!/usr/bin/env bash
# The window has the depth of the display: doctor reports it, and snapshots of the window are right on each.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools ffmpeg

ffmpeg -v error -f lavfi -i color=0x4080c0:size=64x48:rate=1 -frames:v 1 "$WORK/flat.png" || fail "ffmpeg"
for depth in 24:8 30:10; do
  SCREEN=1280x800x${depth%:*}
  start_display
  lensd doctor
  grep -q "screen  *${depth#*:} bits per channel" "$WORK/stdout" || fail "depth ${depth%:*}: $(grep screen "$WORK/stdout")"
  start_viewer "$WORK/flat.png" --screenshot-directory "$WORK" --screenshot-template "window-${depth%:*}.png"
  wait_for 20 place status/display || fail "no status"
  key S
  wait_for 20 test -s "$WORK/window-${depth%:*}.png" || fail "no snapshot of the window"
  quit_window
  kill "$SERVER"
  wait "$SERVER" || true
done
(($(difference "$WORK/window-24.png" "$WORK/window-30.png") <= 1)) || fail "the windows differ"
echo "ok: 8 and 10 bits"
