#!/usr/bin/env bash
# Comparison in a real window: the source left of the handle and the output right of it, exact to the pixel; dragging
# the handle; side by side; the difference; the source while b is held.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

source=test:testsrc2=size=320x240:rate=25
start_display
expect 0 "$source" --headless --backend=cpu --frames 1 -o "$WORK/source.png"
expect 0 "$source" --headless --backend=cpu --frames 1 --graph invert -o "$WORK/graph.png"
start_window "$source" --pause --backend=cpu --graph invert
one_to_one 320 240

# part_is COLUMN WIDTH FILE: succeeds if these columns of the displayed picture equal those of the file.
part_is() {
  shot "$WORK/part.png" $((PX + $1)) "$PY" "$2" 240 || return 1
  convert "$WORK/$3" -alpha off -crop "$2x240+$1+0" +repage "$WORK/wanted.png"
  [[ $(differing "$WORK/part.png" "$WORK/wanted.png") == 0 ]]
}
expect_part() {
  wait_for 20 part_is "$@" || fail "columns $1 to $(($1 + $2)) differ from $3 in $(differing "$WORK/part.png" "$WORK/wanted.png") pixels"
}
# Expects the source left of the handle and the output right of it. Does not check the columns under the handle.
expect_split() {
  place compare/handle
  local column=$((${X%.*} + ${W%.*} / 2 - PX)) # of the picture
  expect_part 0 $((column - 12)) source.png
  expect_part $((column + 12)) $((320 - column - 12)) graph.png
  echo "ok: split at column $column"
}

expect_part 0 320 graph.png
key a
wait_for 20 place compare/handle || fail "a shows no handle"
wait_for 20 value_is compared 1 || fail "nothing was measured"
expect_split

place compare/handle
from=$((${X%.*} + ${W%.*} / 2)) row=$((${Y%.*} + ${H%.*} / 2))
pull "$from" "$row" $((from - 70)) "$row"
moved() { place compare/handle && ((${X%.*} + ${W%.*} / 2 - (from - 70) < 3 && ${X%.*} + ${W%.*} / 2 - (from - 70) > -3)); }
wait_for 10 moved || fail "the handle did not follow the mouse"
expect_split
[[ $(value placed) == "$PX $PY $PW $PH" ]] || fail "dragging the handle moved the picture"

# Side by side, each picture in its half of the area.
click view/compare_side
aside() { read -r NX _ _ _ <<<"$(value placed)" && ((NX > PX)); }
wait_for 20 aside || fail "the pictures are not side by side"
one_to_one 320 240
place picture
expect_part 0 320 graph.png
PX=$((PX - ${W%.*} + (${W%.*} - 2) / 2))
expect_part 0 320 source.png
echo "ok: side by side"

key 0 d
one_to_one 320 240

# heat: succeeds if the window shows something like a heat map of source and inverted source: full red in some pixels
# but not in all, and different from both pictures.
heat() {
  shot "$WORK/heat.png" "$PX" "$PY" 320 240 &&
    [[ $(convert "$WORK/heat.png" -format '%[fx:maxima.r > 0.99 && minima.r < 0.99]' info:) == 1 ]] &&
    (($(difference "$WORK/heat.png" "$WORK/source.png") > 20 && $(difference "$WORK/heat.png" "$WORK/graph.png") > 20))
}
wait_for 20 heat || fail "d shows no heat map"
click graph/invert/enabled # now both are the same
black() {
  shot "$WORK/heat.png" "$PX" "$PY" 320 240 &&
    [[ $(convert "$WORK/heat.png" -format '%[fx:maxima < 0.03]' info:) == 1 ]]
}
wait_for 20 black || fail "the difference of a picture to itself is not black"
echo "ok: difference"
click graph/invert/enabled
key d
expect_part 0 320 graph.png

xdotool keydown --window "$WINDOW" b
wait_for 20 part_is 0 320 source.png || fail "b held does not show the source"
xdotool keyup --window "$WINDOW" b
expect_part 0 320 graph.png
echo "ok: b held"

# A and B exchanged: the output left of the handle, the source right of it.
key a
for choice in A output B source; do
  [[ $choice == [AB] ]] && list=compare/$choice && click "$list" && continue
  wait_for 20 place "$list/$choice" || fail "$list does not open"
  click "$list/$choice"
done
exchanged() { place compare/handle && part_is 0 $((${X%.*} + ${W%.*} / 2 - PX - 12)) graph.png; }
wait_for 20 exchanged || fail "the output as picture A is not shown"
place compare/handle
column=$((${X%.*} + ${W%.*} / 2 - PX))
expect_part $((column + 12)) $((320 - column - 12)) source.png
echo "ok: A is the output"
quit_window
