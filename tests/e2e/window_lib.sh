# shellcheck shell=bash
# More helpers for tests that look closely at a window: numbers that it shows, exact pixels, snapshots.
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# start_window ARGS…: start_viewer, with snapshots in $WORK/shots.
start_window() {
  start_viewer "$@" --screenshot-directory "$WORK/shots" --screenshot-template shot.png
}

# value NAME: the numbers that the program writes behind value/NAME into its map: frame, paused, placed (the whole
# picture's x y w h), views, compared, record, counts (frames processed, shown, not shown), source, opening, live
# (state, reconnects, reason), losses (received, placeholders, replaced at the source, before the graph, skipped while
# paused, late, made again), tracks, probe/at, probe/NODE.
value() {
  sed -n "s|^value/$1 ||p" "$LENSD_UI_MAP" 2>/dev/null
}

value_is() { [[ $(value "$1") == "$2" ]]; }

# expect_value NAME TEXT: waits until the window shows it.
expect_value() {
  wait_for 30 value_is "$1" "$2" || fail "$1 is '$(value "$1")' instead of '$2'"
}

# key NAME…: key strokes in xdotool's names, one at a time so that a slow window sees each.
key() {
  local name
  for name in "$@"; do
    xdotool key --window "$WINDOW" "$name"
    sleep 0.1
  done
}

# pull X Y TOX TOY: presses the left button at X Y of the window, moves in steps, lets go.
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

# one_to_one W H: a picture of that size, each pixel on one of the screen. Sets PX PY to where it begins.
one_to_one() {
  wait_for 30 place view/actual || fail "the UI map has no view/actual"
  key alt+1
  at_size() {
    read -r PX PY PW PH <<<"$(value placed)"
    [[ $PW == "$1" && $PH == "$2" ]]
  }
  wait_for 20 at_size "$1" "$2" || fail "the picture is ${PW}x$PH on the screen, not $1x$2"
}

# shot FILE X Y W H: a part of the window as PNG.
shot() {
  import -silent -window "$WINDOW" -crop "$4x$5+$2+$3" +repage "$1"
}

# differing A B: how many pixels of two pictures differ.
differing() {
  compare -metric AE "$1" "$2" null: 2>&1
}

# pixels FILE: a hash of a picture's colours, whatever the file's form.
pixels() {
  convert "$1" -alpha off -colorspace sRGB -type TrueColor -depth 8 rgb:- | sha256sum
}

# snapshot FILE: presses s, waits for the file and moves it to FILE.
snapshot() {
  key s
  wait_for 20 test -s "$WORK/shots/shot.png" || fail "s wrote no snapshot: $(tail -n 3 "$WORK/viewer.err")"
  mv "$WORK/shots/shot.png" "$1"
}
