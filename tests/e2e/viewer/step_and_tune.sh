#!/usr/bin/env bash
# While paused, a step forward or back shows exactly the next or the previous frame, and a slider changes the current
# frame without decoding another one.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

start_display
expect 0 test:testsrc2=size=320x240:rate=25 --headless --backend=cpu --frames 40 -o "$WORK/clip.mkv"
expect 0 "$WORK/clip.mkv" --headless --backend=cpu --graph gaussian=sigma=2 -o "$WORK/frame_%04d.png" \
  --framehash "$WORK/hashes"
[[ $(frames "$WORK/hashes" | wc -l) == 40 ]] || fail "the clip does not have 40 frames"

start_window "$WORK/clip.mkv" --pause --backend=cpu --graph gaussian=sigma=2
expect_value paused 1
expect_value frame 0
wait_for 30 place graph/gaussian/sigma || fail "the UI map has no slider for sigma"

# expect_frame INDEX: fails unless the displayed frame has this index and its snapshot equals the output of a headless
# run.
expect_frame() {
  expect_value frame "$1"
  snapshot "$WORK/now.png"
  local file
  file=$(printf '%s/frame_%04d.png' "$WORK" $(($1 + FIRST)))
  [[ $(pixels "$WORK/now.png") == $(pixels "$file") ]] ||
    fail "frame $1 is not the picture of the headless run: $(differing "$WORK/now.png" "$file") pixels differ"
  echo "ok: frame $1"
}
FIRST=0
[[ -e $WORK/frame_0000.png ]] || FIRST=1 # the sequence's first number

expect_frame 0
for to in 1 2 3; do
  key period
  expect_value frame $to
done
expect_frame 3
key comma
expect_frame 2
key comma comma
expect_frame 0
key period
expect_frame 1

# A drag along the slider while paused.
place graph/gaussian/sigma
row=$((${Y%.*} + ${H%.*} / 2))
pull $((${X%.*} + ${W%.*} / 2)) "$row" $((${X%.*} + ${W%.*} * 9 / 10)) "$row"
retuned() {
  snapshot "$WORK/tuned.png"
  [[ $(pixels "$WORK/tuned.png") != $(pixels "$WORK/now.png") ]]
}
wait_for 20 retuned || fail "the slider did not change the picture while paused"
expect_value frame 1
expect_value paused 1
xdotool mousemove --window "$WINDOW" $((${X%.*} + ${W%.*} / 2)) "$row"
sleep 0.3
xdotool click --window "$WINDOW" 3 # back to the default
defaulted() {
  snapshot "$WORK/default.png"
  [[ $(pixels "$WORK/default.png") == $(pixels "$WORK/wanted.png") ]]
}
expect 0 "$WORK/clip.mkv" --headless --backend=cpu --frames 2 --graph gaussian -o "$WORK/default_%04d.png"
mv "$WORK/default_$(printf %04d $((1 + FIRST))).png" "$WORK/wanted.png"
wait_for 20 defaulted || fail "a right click on the slider did not restore the default"
expect_value frame 1
echo "ok: tuned while paused, still frame 1"

key space
runs() { (($(value frame) > 3)); }
wait_for 20 runs || fail "space did not resume playback"
echo "ok: playing again"
quit_window
