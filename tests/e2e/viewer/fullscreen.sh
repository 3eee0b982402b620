#!/usr/bin/env bash
# A fullscreen window stays when another window gets the focus, and hides an idle pointer.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools python3 xprop
python3 -c "import Xlib" 2>/dev/null || skip "python3-xlib is not installed"

start_display
python3 -B "$(dirname "$0")/window_manager.py" >"$WORK/manager" 2>&1 &
STARTED+=($!)
wait_for 10 grep -q ready "$WORK/manager" || fail "no window manager: $(<"$WORK/manager")"
start_window test:testsrc2=size=320x240:rate=25 --backend=cpu
wait_for 30 place picture || fail "the UI map has no picture"
key f
fullscreen() { xprop -id "$WINDOW" _NET_WM_STATE | grep -q FULLSCREEN; }
wait_for 10 fullscreen || fail "f is not fullscreen: $(xprop -id "$WINDOW" _NET_WM_STATE)"
sleep 1

# Another client with a window.
python3 - >"$WORK/other" <<'PYTHON' &
import time
from Xlib import X, display
shown = display.Display()
window = shown.screen().root.create_window(0, 0, 50, 50, 0, X.CopyFromParent)
window.map()
shown.sync()
print(window.id, flush=True)
time.sleep(600)
PYTHON
STARTED+=($!)
wait_for 10 test -s "$WORK/other" || fail "no other window"
sleep 0.5
xdotool windowfocus "$(<"$WORK/other")"
sleep 1
shown_frames() { read -r _ shown _ <<<"$(value counts)" && echo "$shown"; }
before=$(shown_frames)
more_shown() { (($(shown_frames) > before + 10)); }
wait_for 20 more_shown || fail "without the focus, no picture is shown: counts $before, then $(shown_frames)"
echo "ok: the fullscreen window stays visible without the focus"

# pointer_visible: succeeds if the pointer's image has any pixel.
pointer_visible() {
  python3 -c "
from Xlib import display
shown = display.Display()
shown.xfixes_query_version()
image = shown.xfixes_get_cursor_image(shown.screen().root)
raise SystemExit(not any(image.cursor_image))"
}
pointer_hidden() { ! pointer_visible; }
xdotool windowfocus "$WINDOW"
xdotool mousemove --window "$WINDOW" 300 300
wait_for 5 pointer_visible || fail "a moved pointer is not visible"
wait_for 10 pointer_hidden || fail "an idle pointer stays on the picture"
xdotool mousemove --window "$WINDOW" 320 300
wait_for 5 pointer_visible || fail "a movement does not show the pointer"
echo "ok: an idle pointer is hidden"
quit_window
