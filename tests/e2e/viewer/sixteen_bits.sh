#!/usr/bin/env bash
# Pictures with 16 bits in the window: the probe, the values drawn into large pixels and snapshots have all bits.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools ffmpeg python3

width=12 height=8 # 57 pixels of the screen per pixel
# samples.py WIDTH HEIGHT: writes a picture with 16 bits (rgb48le). Three pixels in row 4 are grey: two of equal value, and
# one whose value is larger by 8, so that the screen shows the same colour.
cat >"$WORK/samples.py" <<'PY'
import array, sys
width, height = map(int, sys.argv[1:])
out = array.array("H")
for y in range(height):
    for x in range(width):
        out.extend((257 * 13 * x + 31 * y, 65535 - 4001 * y - 7 * x, (x * 4099 + y * 7177) % 65536))
for x, value in (4, 40960), (6, 40960), (8, 40968):
    for c in range(3):
        out[3 * (4 * width + x) + c] = value
out.tofile(sys.stdout.buffer)
PY
python3 "$WORK/samples.py" $width $height >"$WORK/rgb48le"
ffmpeg -v error -f rawvideo -pix_fmt rgb48le -video_size ${width}x$height -i "$WORK/rgb48le" "$WORK/rgb.png"
head -c $((2 * width * height)) "$WORK/rgb48le" >"$WORK/gray16le"
ffmpeg -v error -f rawvideo -pix_fmt gray16le -video_size ${width}x$height -i "$WORK/gray16le" "$WORK/gray.png"

# sample FORMAT X Y INVERTED: prints R, G and B of a pixel of the picture, or of its negative if INVERTED is 1.
sample() {
  python3 -c 'import array, sys
form, x, y, inverted = sys.argv[2], *map(int, sys.argv[3:])
v = array.array("H", open(sys.argv[1] + "/" + form, "rb").read())
i, n = y * '$width' + x, 3 if form == "rgb48le" else 1
v = [65535 - s if inverted else s for s in v[n * i:n * i + n]]
print(*(v if n == 3 else 3 * v))' "$WORK" "$@"
}
# probe_shows FORMAT X Y: points at a pixel; fails unless both rows of the probe have its values.
probe_shows() {
  local form=$1 x=$2 y=$3
  local side=$((PW / width))
  xdotool mousemove --window "$WINDOW" $((PX + x * side + side / 2)) $((PY + y * side + side / 2))
  wait_for 20 value_is probe/at "$x $y" || fail "the probe is at '$(value probe/at)' instead of '$x $y'"
  expect_value probe/source "$(sample "$form" "$x" "$y" 0)"
  expect_value probe/output "$(sample "$form" "$x" "$y" 1)"
  echo "ok: pixel $x $y: source $(value probe/source), output $(value probe/output)"
}
# bits FILE: prints the bits per sample of a PNG file, from its IHDR chunk.
bits() { od -An -tu1 -j24 -N1 "$1" | xargs; }
# snapshot_has FORMAT: fails unless a snapshot has 16 bits and is exactly the negative of the source.
snapshot_has() {
  snapshot "$WORK/shot.png"
  [[ $(bits "$WORK/shot.png") == 16 ]] || fail "the snapshot has $(bits "$WORK/shot.png") bits"
  ffmpeg -v error -i "$WORK/shot.png" -pix_fmt "$1" -f rawvideo - | python3 -c 'import array, sys
a, b = (array.array("H", f.read()) for f in (open(sys.argv[1], "rb"), sys.stdin.buffer))
bad = [i for i, (p, q) in enumerate(zip(a, b)) if p + q != 65535]
sys.exit(f"{len(a)} and {len(b)} samples, {len(bad)} wrong" if len(a) != len(b) or bad else 0)' "$WORK/$1" ||
    fail "the snapshot is not the negative of the source"
  echo "ok: snapshot with 16 bits, $1"
}
# fitted: sets PX PY PW PH to the place of the picture, which fills the window, so that values are drawn into its pixels.
fitted() {
  read -r PX PY PW PH <<<"$(value placed)"
  [[ -n ${PH:-} ]] && ((PW == 57 * width))
}

start_display
start_window "$WORK/rgb.png" --pause --backend=cpu --graph invert
key 0
wait_for 30 fitted || fail "the picture is at '$(value placed)'"
# inside FILE X: saves the inner part of a pixel in row 4.
inside() {
  local side=$((PW / width))
  shot "$1" $((PX + $2 * side + 4)) $((PY + 4 * side + 4)) $((side - 8)) $((side - 8))
}
different() { compare -fuzz 25% -metric AE "$1" "$2" null: 2>&1; }
all_bits_drawn() {
  for x in 4 6 8; do inside "$WORK/inside$x.png" $x; done
  same=$(different "$WORK/inside4.png" "$WORK/inside6.png") other=$(different "$WORK/inside4.png" "$WORK/inside8.png")
  ((other >= 12 && other > 2 * same))
}
wait_for 10 all_bits_drawn || fail "large pixels of values 24575 and 24567 differ in $other points, equal ones in $same"
echo "ok: large pixels of values 24575 and 24567 differ in $other points, equal ones in $same"
key x
for at in "0 0" "5 2" "11 7"; do
  read -r x y <<<"$at"
  probe_shows rgb48le "$x" "$y"
done
snapshot_has rgb48le
quit_window

start_window "$WORK/gray.png" --pause --backend=cpu --graph invert
key 0
wait_for 30 fitted || fail "the picture is at '$(value placed)'"
key x
probe_shows gray16le 7 3
snapshot_has gray16le
quit_window

# With 8 bits the same values are rounded.
start_window "$WORK/rgb.png" --pause --backend=cpu --precision 8
key 0
wait_for 30 fitted || fail "the picture is at '$(value placed)'"
snapshot "$WORK/shot.png"
[[ $(bits "$WORK/shot.png") == 8 ]] || fail "--precision 8 gives a snapshot with $(bits "$WORK/shot.png") bits"
echo "ok: --precision 8 gives snapshots with 8 bits"
quit_window
