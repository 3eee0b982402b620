#!/usr/bin/env bash
# Hidden panels: by Tab, at the next start and in fullscreen. Also the key help in a small window, and values typed into
# a slider.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

SCREEN=800x600x24
printf '[window]\nwidth = 800\nheight = 600\n' >"$WORK/small.toml"
start_display
start_viewer test:testsrc2 --pause --backend=cpu --graph "gaussian=sigma=1" -c "$WORK/small.toml"
wait_for 30 place transport/pause || fail "no transport bar"
xdotool mousemove --window "$WINDOW" 400 200
key Tab
wait_for 10 gone transport/pause || fail "Tab does not hide the panels"
place panels/hint || fail "nothing says how to show the panels"
xdotool mousemove --window "$WINDOW" 400 590
wait_for 10 place transport/pause || fail "the pointer at the lower edge shows no timeline"
xdotool mousemove --window "$WINDOW" 400 200
wait_for 10 gone transport/pause || fail "the timeline stays"
quit_window
start_viewer test:testsrc2 --pause --backend=cpu --graph "gaussian=sigma=1" -c "$WORK/small.toml"
wait_for 30 place transport/pause || fail "after Tab and q, the next start shows no controls"
echo "ok: hidden panels leave a hint, and the next start shows them"

key f
wait_for 10 gone transport/pause || fail "fullscreen keeps the panels"
key Tab
wait_for 10 place transport/pause || fail "Tab shows no panels in fullscreen"
key f
wait_for 10 place transport/pause || fail "the panels are not restored"
echo "ok: fullscreen"

key question
wait_for 10 place keys || fail "? shows no keys"
place keys
((${W%.*} * ${H%.*} * 2 < 800 * 600)) || fail "the keys hide the window: ${W}x$H"
place transport/pause && ((${Y%.*} > 500)) || fail "the transport bar is gone"
key question
wait_for 10 gone keys || fail "? does not close the keys"
echo "ok: the keys in a small window"


xdotool keydown ctrl
click graph/gaussian/sigma
xdotool keyup ctrl
sleep 0.5
xdotool type --delay 100 9000
key Return
wait_for 10 place graph/gaussian/sigma/refused || fail "a typed value out of range is not refused"
xdotool keydown ctrl
click graph/gaussian/sigma
xdotool keyup ctrl
sleep 0.5
xdotool type --delay 100 2.5
key Return
wait_for 10 gone graph/gaussian/sigma/refused || fail "the message stays after an accepted value"
wait_for 10 place graph/gaussian/sigma/reset || fail "the typed value was not taken"
echo "ok: typed values"
quit_window
