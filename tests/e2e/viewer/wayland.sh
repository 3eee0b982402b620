#!/usr/bin/env bash
# The viewer as a Wayland client of Weston, whose output is a window on a virtual X display. The viewer opens, receives
# keys and follows the scale of the output. DISPLAY is not set in the viewer's environment. LENSD_TEST_GLFW is a folder with
# a GLFW for Wayland, if the installed one supports X11 only.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools weston
start_display
export XDG_RUNTIME_DIR=$WORK/run LENSD_UI_MAP=$WORK/ui-map
mkdir -m 700 "$XDG_RUNTIME_DIR"

# start_weston SCALE: starts a compositor; WAYLAND is its socket.
start_weston() {
  WAYLAND=wayland-$1
  weston --backend=x11-backend.so --use-pixman --width=1100 --height=700 --scale="$1" --idle-time=0 --no-config \
    --socket="$WAYLAND" >"$WORK/weston.log" 2>&1 &
  WESTON=$!
  STARTED+=("$WESTON")
  wait_for 20 test -S "$XDG_RUNTIME_DIR/$WAYLAND" || fail "Weston did not start: $(tail -n 3 "$WORK/weston.log")"
}

# From GLFW 3.4 on, the compositor gets the name of the desktop file.
glfw=$(LD_LIBRARY_PATH=${LENSD_TEST_GLFW:-} ldd "$LENSD" | awk '/libglfw/ { print $3 }')
names_itself=''
[[ $(readlink -f "$glfw") != *libglfw.so.3.[0-3]* ]] && names_itself=1

# start_client: starts the viewer and waits for frames. Skips the test if GLFW has no support for Wayland.
start_client() {
  rm -f "$LENSD_UI_MAP"
  env -u DISPLAY WAYLAND_DISPLAY="$WAYLAND" ${names_itself:+WAYLAND_DEBUG=1} ${LENSD_TEST_GLFW:+"LD_LIBRARY_PATH=$LENSD_TEST_GLFW"} "$LENSD" test:testsrc2=size=320x240 --backend cpu --graph invert \
    >"$WORK/viewer.out" 2>"$WORK/viewer.err" </dev/null &
  VIEWER=$!
  STARTED+=("$VIEWER")
  wait_for 30 some_frames && ! window_gone && return
  window_gone || fail "no frames: $(tail -n 3 "$WORK/viewer.err")"
  wait "$VIEWER"
  [[ $? != 5 ]] || skip "$(tail -n 1 "$WORK/viewer.err")"
  fail "the viewer ended: $(tail -n 3 "$WORK/viewer.err")"
}

shown() { awk -v name="value/$1" '$1 == name { print $2 }' "$LENSD_UI_MAP" 2>/dev/null; }
some_frames() { window_gone || [[ $(shown frame) -gt 3 ]]; }
is_paused() { [[ $(shown paused) == 1 ]]; }
# panel_width: prints the x position of the picture's left edge in framebuffer pixels, which is the width of the panel to
# its left. Fails if the UI map has no picture.
panel_width() { [[ -n $(shown placed) ]] && shown placed; }

# Weston gives the keyboard focus to a new window.
start_weston 1
start_client
xdotool mousemove 500 350
pauses() { xdotool key space; sleep 1; is_paused; }
wait_for 20 pauses || fail "the space key does not pause"
echo "ok: opens on Wayland and takes keys"
if [[ -n $names_itself ]]; then
  grep -q 'set_app_id("lensd")' "$WORK/viewer.err" || fail "the window has no application id"
fi
once=$(panel_width) || fail "the UI map has no picture"
xdotool key q
wait_for 20 window_gone || fail "q did not end the program"
wait "$VIEWER" || fail "the program ended with $?: $(tail -n 3 "$WORK/viewer.err")"
kill "$WESTON"

start_weston 2
start_client
wait_for 10 panel_width || fail "the UI map has no picture"
twice=$(panel_width)
((twice == once * 2)) || fail "the panels do not follow the scale: $once and $twice pixels"
echo "ok: follows the scale of the output ($once and $twice pixels)"
