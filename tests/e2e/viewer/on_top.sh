#!/usr/bin/env bash
# "Always on top" by key and menu reaches the window manager. The open dialog hides the picture behind it.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools ffmpeg python3 xprop
python3 -c "import Xlib" 2>/dev/null || skip "python3-xlib is not installed"

start_display
python3 -B "$(dirname "$0")/window_manager.py" >"$WORK/manager" 2>&1 &
STARTED+=($!)
wait_for 10 grep -q ready "$WORK/manager" || fail "no window manager: $(<"$WORK/manager")"
for colour in white black; do
  ffmpeg -v error -f lavfi -i color=$colour:size=640x360:rate=1 -frames:v 1 "$WORK/$colour.png" || fail "ffmpeg"
done

start_window "$WORK/white.png" --backend=cpu
wait_for 30 place transport/pause || fail "no transport bar"
above() { xprop -id "$WINDOW" _NET_WM_STATE | grep -q ABOVE; }
below() { ! above; }
# on_top 0|1 HOW: expects that the viewer and the window manager have this state.
on_top() {
  wait_for 10 value_is on_top "$1" || fail "$2: the viewer's state is '$(value on_top)' instead of $1"
  if (($1)); then wait_for 10 above; else wait_for 10 below; fi || fail "$2: $(xprop -id "$WINDOW" _NET_WM_STATE)"
}
on_top 0 "at the start"
key T
on_top 1 "the key T"
key T
on_top 0 "the key T again"
# choose: clicks the entry of the picture's menu.
choose() {
  picture_menu
  click menu/on_top
}
choose
on_top 1 "the menu"
choose
on_top 0 "the menu again"
echo "ok: always on top, by key and menu"
quit_window

# A dialog that lets the picture through differs between a white and a black picture.
for colour in white black; do
  HOME=$WORK start_window "$WORK/$colour.png" --backend=cpu
  wait_for 30 place transport/pause || fail "no transport bar"
  shot "$WORK/$colour-free.png" 320 90 300 300
  key ctrl+o
  wait_for 20 place source/path || fail "ctrl+o opens no dialog"
  wait_for 20 settled source/place/Home || fail "the dialog offers no places"
  shot "$WORK/$colour-dialog.png" 320 90 300 300
  key Escape
  wait_for 20 gone source/path || fail "Escape does not close the dialog"
  quit_window
done
(($(difference "$WORK/white-free.png" "$WORK/black-free.png") > 100)) || fail "the picture is not where the dialog opens"
different=$(difference "$WORK/white-dialog.png" "$WORK/black-dialog.png")
((different <= 2)) || fail "the dialog shows the picture behind it: mean difference $different"
echo "ok: the open dialog is opaque"
