#!/usr/bin/env bash
# Zoom to single pixels with the wheel, and the probe: its values for source and output equal the pixels in files of the
# same frame.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

source=test:testsrc2=size=320x240:rate=25
start_display
expect 0 "$source" --headless --backend=cpu --frames 1 -o "$WORK/source.png"
start_window "$source" --pause --backend=cpu --graph "gaussian=sigma=1.2,invert"
one_to_one 320 240
snapshot "$WORK/graph.png"
echo "ok: snapshot of $(identify -format '%wx%h' "$WORK/graph.png")"

# pixel FILE X Y: prints a pixel of a file as "r g b".
pixel() {
  convert "$1" -alpha off -depth 8 -crop "1x1+$2+$3" +repage rgb:- | od -An -tu1 | xargs
}

# expect_pixel X Y: fails unless the probe is at this pixel and both rows of the probe equal the files.
expect_pixel() {
  wait_for 20 value_is probe/at "$1 $2" || fail "the probe is at '$(value probe/at)' instead of '$1 $2'"
  expect_value probe/output "$(pixel "$WORK/graph.png" "$1" "$2")"
  expect_value probe/source "$(pixel "$WORK/source.png" "$1" "$2")"
  echo "ok: pixel $1 $2: source $(value probe/source), output $(value probe/output)"
}

key x
for at in "40 60" "161 117" "300 200"; do
  read -r x y <<<"$at"
  xdotool mousemove --window "$WINDOW" $((PX + x)) $((PY + y))
  expect_pixel "$x" "$y"
done

# The wheel zooms at the pointer: the pixel under it stays there.
for ((turn = 0; turn < 60; ++turn)); do
  read -r _ _ width _ <<<"$(value placed)"
  ((width < 320 * 64)) || break
  before=$width
  xdotool click --window "$WINDOW" 4
  grew() { read -r _ _ width _ <<<"$(value placed)" && ((width > before)); }
  wait_for 10 grew || fail "the wheel stopped zooming at $before pixels of width"
done
((width >= 320 * 64)) || fail "the picture is only $width wide after $turn turns of the wheel"
expect_pixel 300 200
# A pixel is now a square of one colour; the square to the left is the pixel's neighbour in the file.
square=$((width / 320))
eval "$(xdotool getmouselocation --shell | sed 's/^/MOUSE_/')"
eval "$(xdotool getwindowgeometry --shell "$WINDOW" | sed -n 's/^\([XY]\)=/WIN_\1=/p')"
xdotool mousemove --window "$WINDOW" $((MOUSE_X - WIN_X - square)) $((MOUSE_Y - WIN_Y))
expect_pixel 299 200

key 0
fits() { read -r _ _ width _ <<<"$(value placed)" && ((width < 1280)); }
wait_for 10 fits || fail "0 did not fit the picture into the window"
echo "ok: 0 fits the picture again"
quit_window
