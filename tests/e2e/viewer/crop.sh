#!/usr/bin/env bash
# Cropping on the picture: the rectangle is dragged with the mouse, and the sliders end at the picture's size.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

start_display
start_window test:testsrc2=size=640x480 --pause --backend=cpu --graph crop
wait_for 30 place picture || fail "no picture"
size_of() { identify -format '%wx%h' "$1"; }
key c
wait_for 10 place crop/rectangle || fail "c shows no rectangle"
place crop/rectangle
x=${X%.*} y=${Y%.*} w=${W%.*} h=${H%.*}
pull "$x" "$y" $((x + w / 2)) $((y + h / 4))
wait_for 10 place graph/crop/x/reset || fail "dragging the corner does not change x"
pull $((x + w * 3 / 4)) $((y + h / 2)) $((x + w / 4)) $((y + h / 2))
wait_for 10 gone graph/crop/x/reset || fail "dragging inside does not move the rectangle"
key Escape
wait_for 10 gone crop/rectangle || fail "Escape does not end the editing"
one_to_one 320 360
snapshot "$WORK/crop.png"
[[ $(size_of "$WORK/crop.png") == 320x360 ]] || fail "the result is $(size_of "$WORK/crop.png") instead of 320x360"
echo "ok: a corner, and the whole rectangle"

drag graph/crop/x 262 "$(place graph/crop/x && echo $((${Y%.*} + ${H%.*} / 2)))" 50
wait_for 10 place graph/crop/tiny || fail "a sliver is not marked"
echo "ok: a sliver is marked"
quit_window
