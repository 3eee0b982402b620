#!/usr/bin/env bash
# Mouse clicks in a real window: the checkbox of the invert node switches the negative on and off, q quits. Clicks also
# work at two display frames per second, where press and release happen between two frames.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

start_display
start_viewer test:smptehdbars --pause --backend=cpu --graph invert
wait_for 30 place picture || fail "the UI map has no picture"
wait_for 30 place graph/invert/enabled || fail "the UI map has no graph/invert/enabled: $(<"$LENSD_UI_MAP")"
sleep 1 # until the picture is drawn and the layout has settled
picture "$WORK/negative.png" || fail "no screenshot"
import -silent -window "$WINDOW" "$WORK/window.png"
cp "$WORK/window.png" "${LENSD_SCREENSHOT:-/dev/null}"

shown_like() { picture "$WORK/now.png" && (($(difference "$WORK/now.png" "$1") <= 2)); }

convert "$WORK/negative.png" -negate "$WORK/positive.png"
distance=$(difference "$WORK/negative.png" "$WORK/positive.png")
((distance > 30)) || fail "the picture is too close to its negative ($distance)"

click graph/invert/enabled
wait_for 10 shown_like "$WORK/positive.png" || fail "switching invert off did not bring the positive picture"
echo "ok: invert off"
click graph/invert/enabled
wait_for 10 shown_like "$WORK/negative.png" || fail "switching invert on did not bring the negative back"
echo "ok: invert on again"

quit_window
echo "ok: q quits with code 0"

# quick NAME: moves to a control, clicks and moves away without a pause.
quick() {
  wait_for 20 place "$1" || fail "the UI map has no '$1'"
  xdotool mousemove --window "$WINDOW" $((${X%.*} + ${W%.*} / 2)) $((${Y%.*} + ${H%.*} / 2)) mousedown 1 mouseup 1 \
    mousemove --window "$WINDOW" 136 640
}
export LENSD_DISPLAY_FPS=2
start_viewer test:smptehdbars --pause --backend=cpu --graph invert
wait_for 30 shown_like "$WORK/negative.png" || fail "no second window"
for wanted in positive negative positive negative; do
  quick graph/invert/enabled
  wait_for 10 shown_like "$WORK/$wanted.png" || fail "a quick click was lost: the picture is not $wanted"
done
wait_for 20 place graph/invert/title || fail "the UI map has no title"
xdotool mousemove --window "$WINDOW" $((${X%.*} + 10)) $((${Y%.*} + ${H%.*} / 2)) \
  mousedown 1 mouseup 1 mousedown 1 mouseup 1 mousemove --window "$WINDOW" 136 640
wait_for 10 place graph/invert/name || fail "a quick double click renames nothing"
echo "ok: quick clicks count on a slow display"
