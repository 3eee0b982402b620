# shellcheck shell=bash
# Starts the viewer on a virtual display, sends it mouse and key events, and checks its pixels and values.
# shellcheck source=harness.sh
. "$(dirname "${BASH_SOURCE[0]}")/harness.sh"

# Starts a virtual display, so that the test does not move the user's pointer and needs no window manager. SCREEN is its
# size and depth (default 1280x800x24). Sets SERVER, its process id. The display number comes from the test's process id:
# Xvfb could choose the number of a server that is shutting down, and that server would remove the socket of the new one.
# Without -noreset, the server resets when its last client disconnects, and refuses connections meanwhile.
start_display() {
  need_tools Xvfb xdotool import convert compare
  local ready=$WORK/display number=$((1000 + $$ % 50000))
  rm -f "$ready" # of an earlier display
  Xvfb ":$number" -displayfd 3 -screen 0 "${SCREEN:-1280x800x24}" -nolisten tcp -noreset \
    3>"$ready" 2>"$WORK/xvfb.log" &
  SERVER=$!
  STARTED+=("$SERVER")
  wait_for 30 test -s "$ready" || fail "Xvfb did not start: $(<"$WORK/xvfb.log")"
  export DISPLAY=:$number
  unset WAYLAND_DISPLAY
}

viewer_window() {
  WINDOW=$(xdotool search --onlyvisible --pid "$VIEWER" | tail -n 1)
  [[ -n $WINDOW ]]
}

# start_viewer ARGS…: starts the program and waits for its window. Sets VIEWER (its process id) and WINDOW.
start_viewer() {
  export LENSD_UI_MAP=$WORK/ui-map
  rm -f "$LENSD_UI_MAP" # of the previous window
  "$LENSD" "$@" >"$WORK/viewer.out" 2>"$WORK/viewer.err" </dev/null &
  VIEWER=$!
  STARTED+=("$VIEWER")
  wait_for 30 viewer_window || fail "no window appeared: $(tail -n 5 "$WORK/viewer.err")"
  xdotool windowfocus "$WINDOW"
}

window_gone() { ! kill -0 "$VIEWER" 2>/dev/null; }

# quit_window: presses q; fails unless the program exits with 0.
quit_window() {
  xdotool key --window "$WINDOW" q
  wait_for 20 window_gone || fail "q did not end the program"
  wait "$VIEWER"
  local code=$?
  ((code == 0)) || fail "the program ended with $code: $(tail -n 5 "$WORK/viewer.err")"
}

# place NAME: sets X Y W H to the rectangle of a control, in window pixels. The program writes lines "name x y w h" to
# $LENSD_UI_MAP each time its layout has settled.
place() {
  local name
  while read -r name X Y W H; do
    [[ $name != "$1" ]] || return 0
  done <"$LENSD_UI_MAP"
  return 1
} 2>/dev/null

# gone NAME: succeeds if there is no such control.
gone() { ! place "$1"; }

# settled NAME: succeeds if the control has not moved for 0.2 s. New rows above it can move it.
settled() {
  place "$1" || return 1
  local before="$X $Y"
  sleep 0.2
  place "$1" && [[ "$X $Y" == "$before" ]]
}

# press [BUTTON]: clicks where the pointer is, slowly enough for a software renderer. BUTTON: 1 (left, the default) or 3.
press() {
  sleep 0.3
  xdotool mousedown "${1:-1}"
  sleep 0.2
  xdotool mouseup "${1:-1}"
}

# click NAME: clicks the middle of a control.
click() {
  wait_for 20 settled "$1" || fail "the UI map has no '$1': $(cut -d' ' -f1 "$LENSD_UI_MAP" | tr '\n' ' ')"
  place "$1"
  xdotool mousemove --window "$WINDOW" $((${X%.*} + ${W%.*} / 2)) $((${Y%.*} + ${H%.*} / 2))
  press
}

# picture_menu: opens the menu of the picture, a third of its height from the top.
picture_menu() {
  place picture
  xdotool mousemove --window "$WINDOW" $((${X%.*} + ${W%.*} / 2)) $((${Y%.*} + ${H%.*} / 3))
  press 3
}

# hover NAME [PART]: moves the pointer onto a control, PART percent of its width from the left (default 50).
hover() {
  wait_for 20 place "$1" || fail "the UI map has no '$1': $(cut -d' ' -f1 "$LENSD_UI_MAP" | tr '\n' ' ')"
  place "$1"
  xdotool mousemove --window "$WINDOW" $((${X%.*} + ${W%.*} * ${2:-50} / 100)) $((${Y%.*} + ${H%.*} / 2))
  sleep 0.4
}

# drag NAME X Y [PART]: presses on a control (position as in hover) and releases at X Y of the window.
drag() {
  hover "$1" "${4:-50}"
  xdotool mousedown 1
  sleep 0.3
  local x y i
  eval "$(xdotool getmouselocation --shell | sed -n 's/^X=/x=/p; s/^Y=/y=/p')"
  for i in 1 2 3 4; do
    xdotool mousemove --window "$WINDOW" $((x + ($2 - x) * i / 4)) $((y + ($3 - y) * i / 4))
    sleep 0.15
  done
  sleep 0.3
  xdotool mouseup 1
  sleep 0.3
}

# picture FILE: saves the middle of the displayed picture as PNG: half the width and a quarter of the height of its area,
# so that letterbox bars are not included.
picture() {
  place picture || return 1
  local x=${X%.*} y=${Y%.*} w=${W%.*} h=${H%.*}
  import -silent -window "$WINDOW" -crop "$((w / 2))x$((h / 4))+$((x + w / 4))+$((y + h * 3 / 8))" +repage "$1"
}

# difference A B: prints the mean absolute difference of two pictures, 0 to 255, rounded.
difference() {
  compare -metric MAE "$1" "$2" null: 2>&1 | sed 's/.*(\(.*\)).*/\1/' | awk '{ printf "%d", $1 * 255 + 0.5 }'
}

# start_window ARGS…: start_viewer, with snapshots in $WORK/shots.
start_window() {
  start_viewer "$@" --screenshot-directory "$WORK/shots" --screenshot-template shot.png
}

# value NAME: prints the text after value/NAME in the UI map. Names: frame, paused, placed (x y w h of the whole
# picture), views, compared, record (1 if on, frames), counts (frames processed, shown, not shown), source, opening,
# live (state, reconnects, reason), losses (received, placeholders, replaced at the source, replaced before the graph,
# skipped while paused, late, reruns), sound (volume, 1 if muted, reason for silence), tracks, probe/at, probe/NODE,
# notice (the newest one).
value() {
  sed -n "s|^value/$1 ||p" "$LENSD_UI_MAP" 2>/dev/null
}
notice_about() { value notice | grep -q "$1"; }

value_is() { [[ $(value "$1") == "$2" ]]; }

# expect_value NAME TEXT: fails unless the value becomes TEXT within 30 s.
expect_value() {
  wait_for 30 value_is "$1" "$2" || fail "$1 is '$(value "$1")' instead of '$2'"
}

# key NAME…: presses keys (xdotool's names) one at a time, so that a slow window receives each.
key() {
  local name
  for name in "$@"; do
    xdotool key --window "$WINDOW" "$name"
    sleep 0.1
  done
}

# pull X Y TOX TOY: presses the left button at X Y of the window, moves to TOX TOY in steps, releases.
pull() {
  local step
  xdotool mousemove --window "$WINDOW" "$1" "$2"
  sleep 0.3
  xdotool mousedown 1
  for step in 1 2 3 4; do
    sleep 0.2
    xdotool mousemove --window "$WINDOW" $(($1 + ($3 - $1) * step / 4)) $(($2 + ($4 - $2) * step / 4))
  done
  sleep 0.3
  xdotool mouseup 1
}

# one_to_one W H: shows a W×H picture at 100 %. Sets PX PY to its top left corner.
one_to_one() {
  wait_for 30 place view/actual || fail "the UI map has no view/actual"
  key alt+1
  at_size() {
    read -r PX PY PW PH <<<"$(value placed)"
    [[ $PW == "$1" && $PH == "$2" ]]
  }
  wait_for 20 at_size "$1" "$2" || fail "the picture is ${PW}x$PH on the screen, not $1x$2"
}

# shot FILE X Y W H: saves a part of the window as PNG.
shot() {
  import -silent -window "$WINDOW" -crop "$4x$5+$2+$3" +repage "$1"
}

# differing A B: prints the number of pixels that differ.
differing() {
  compare -metric AE "$1" "$2" null: 2>&1
}

# pixels FILE: prints a hash of a picture's pixels, independent of the file format.
pixels() {
  convert "$1" -alpha off -colorspace sRGB -type TrueColor -depth 8 rgb:- | sha256sum
}

# snapshot FILE: presses s, waits for the snapshot and moves it to FILE.
snapshot() {
  key s
  wait_for 20 test -s "$WORK/shots/shot.png" || fail "s wrote no snapshot: $(tail -n 3 "$WORK/viewer.err")"
  mv "$WORK/shots/shot.png" "$1"
}
