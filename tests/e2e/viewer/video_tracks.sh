#!/usr/bin/env bash
# Files with several video tracks, and interlaced ones.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools ffmpeg

two=$WORK/two.mkv
ffmpeg -v error -f lavfi -i color=red:size=160x120:rate=10 -f lavfi -i color=blue:size=200x100:rate=10 -t 20 \
  -map 0 -map 1 -metadata:s:v:1 title="Camera 2" -c:v ffv1 "$two" || fail "no clip was made"
hash_of() {
  expect 0 "$@" --headless --frames 1 --overwrite --framehash "$WORK/hash" -o null:
  frames "$WORK/hash"
}
best=$(hash_of "$two") first=$(hash_of "$two" --video-track 1) second=$(hash_of "$two" --video-track 2)
[[ $first != "$second" ]] || fail "--video-track 2 plays the first track"
[[ $best == "$first" || $best == "$second" ]] || fail "without --video-track: $best"
refused 4 "no video track 3, the last one is 2" "$two" --headless --video-track 3 -o null:
echo "ok: --video-track"

start_display
start_window "$two" --backend=cpu --pause --video-track 1 --start 5
frame_is() { [[ $(value frame) == "$1" ]]; }
shape_is() { [[ $(value placed | awk '{ printf "%.0f", $3 / $4 * 100 }') == "$1" ]]; }
wait_for 20 shape_is 133 || fail "the first track is not shown: $(value placed)"
key l
wait_for 10 place transport/loop_A || fail "l sets no A: $(value notice)"
key underscore
wait_for 20 shape_is 200 || fail "_ does not show the second track: $(value placed)"
expect_value notice "Video track 2 of 2: 200×100 ffv1, Camera 2"
wait_for 10 frame_is 50 || fail "the second track starts at frame $(value frame) instead of 50"
[[ $(value paused) == 1 ]] || fail "the change of the track ended the pause"
wait_for 10 place transport/loop_A || fail "the change of the track cleared the A-B loop"
xdotool mousemove --window "$WINDOW" 640 400 click 3
wait_for 10 place menu/video_track || fail "the menu has no video tracks"
click menu/video_track
wait_for 10 place menu/video_track/1 || fail "the menu does not list the tracks"
click menu/video_track/1
wait_for 20 shape_is 133 || fail "the menu does not show the first track: $(value placed)"
xdotool key --window "$WINDOW" --delay 1 underscore space # Space comes while the track is being opened
wait_for 20 shape_is 200 || fail "_ does not show the second track again: $(value placed)"
expect_value paused 0
quit_window
echo "ok: video tracks in the window"

fields=$WORK/fields.mkv
ffmpeg -v error -f lavfi -i testsrc2=size=320x240:rate=50 -t 4 -vf "tinterlace=interleave_top,fieldorder=tff" \
  -flags +ilme+ildct -c:v mpeg2video -q:v 3 "$fields" || fail "no interlaced clip was made"
start_window "$fields" --backend=cpu --pause --start 1
wait_for 20 place source/deinterlace || fail "an interlaced source offers no filter"
shot "$WORK/combs.png" 300 200 600 400
click source/deinterlace
wait_for 20 gone source/deinterlace || fail "the filter is not added"
sleep 1
shot "$WORK/whole.png" 300 200 600 400
(($(differing "$WORK/combs.png" "$WORK/whole.png") > 500)) || fail "the filter changes nothing"
quit_window
echo "ok: an interlaced source"
