#!/usr/bin/env bash
# Positions after the end of a file give its last frame, without a message about an early end.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/daemon.sh"

clip=$WORK/clip.mkv
expect 0 test:testsrc2=size=64x48:rate=25 --headless -q --frames 150 -o "$clip"
expect 0 "$clip" --headless -q --framehash "$WORK/all" -o null:
last=$(frames "$WORK/all" | tail -n 1 | awk '{ print $NF }')
expect 0 "$clip" --headless -q --start 900 --framehash "$WORK/late" -o null:
[[ $(frames "$WORK/late" | awk '{ print $NF }') == "$last" ]] || fail "--start 900 gave $(<"$WORK/late")"
[[ ! -s $WORK/stderr ]] || fail "--start 900 said $(<"$WORK/stderr")"
refused 0 "--start is after its end" "$clip" --headless --start 900 -o null:
expect 0 "$clip" --headless --start 5 -o null:
[[ ! -s $WORK/stderr ]] || fail "--start 5 said $(<"$WORK/stderr")"

# A sequence with a missing image ends there, with a warning.
expect 0 "$clip" --headless -q --frames 9 -o "$WORK/image_%02d.png"
expect 0 "$WORK/image_%02d.png" --headless -o null:
[[ ! -s $WORK/stderr ]] || fail "a complete sequence said $(<"$WORK/stderr")"
rm "$WORK/image_05.png"
refused 0 "image_05.png is missing" "$WORK/image_%02d.png" --headless -o null:

# A file that announces more than it has. Its last picture is one that no other picture needs, which a seek may skip.
layers=ts_number_layers=2:ts_target_bitrate=100,200:ts_rate_decimator=2,1:ts_periodicity=2:ts_layer_id=0,1:ts_layering_mode=2
if ffmpeg -v error -f lavfi -i testsrc2=size=64x48:rate=25 -t 10 -c:v libvpx -b:v 200k -deadline realtime -g 125 \
  -ts-parameters $layers "$WORK/layers.webm" 2>"$WORK/ffmpeg"; then
  for percent in 60 61 62 63 64 65; do
    head -c $(($(stat -c %s "$WORK/layers.webm") * percent / 100)) "$WORK/layers.webm" >"$WORK/cut.webm"
    expect 0 "$WORK/cut.webm" --headless -q --overwrite --framehash "$WORK/all" -o null:
    last=$(frames "$WORK/all" | tail -n 1 | awk '{ print $NF }')
    expect 0 "$WORK/cut.webm" --headless -q --overwrite --start 8.5 --framehash "$WORK/late" -o null:
    [[ $(frames "$WORK/late" | awk '{ print $NF }') == "$last" ]] || fail "after a cut at $percent %: $(<"$WORK/late")"
  done
else
  echo "not tried: this FFmpeg makes no stream with layers ($(head -n 1 "$WORK/ffmpeg"))"
fi

# same_after_seek FILE NUMBER…: these frames have the same time and pixels after a seek as without one.
same_after_seek() {
  local file=$1 number line
  shift
  expect 0 "$file" --headless -q --overwrite --framehash "$WORK/all" -o null:
  for number; do
    line=$(frames "$WORK/all" | sed -n "$((number + 1))p")
    expect 0 "$file" --headless -q --overwrite --frames 1 --framehash "$WORK/one" -o null: \
      --start "$(awk -F', ' '{ printf "%.9f", $2 / 1e9 }' <<<"$line")"
    [[ $(frames "$WORK/one") == "$line" ]] || fail "${file##*/}: frame $(frames "$WORK/one") after a seek to $line"
  done
}
# A raw MPEG-2 stream. After a seek near its end, FFmpeg knows no times.
ffmpeg -v error -i "$clip" -frames:v 60 -c:v mpeg2video -bf 2 "$WORK/raw.m2v" || fail "no raw MPEG-2 stream was made"
same_after_seek "$WORK/raw.m2v" 0 25 58 59
expect 0 "$WORK/raw.m2v" --headless -q --overwrite --start 900 --framehash "$WORK/one" -o null:
[[ $(frames "$WORK/one") == "$(frames "$WORK/all" | tail -n 1)" ]] || fail "--start 900 gave $(frames "$WORK/one")"
# The only key frame is the first one, so a seek decodes the damaged picture at the end before it tries again.
ffmpeg -v error -f lavfi -i testsrc2=size=320x240:rate=25 -t 2 -pix_fmt yuv420p -c:v libx264 -preset ultrafast \
  "$WORK/whole.ts" || fail "no transport stream was made"
head -c $(($(stat -c %s "$WORK/whole.ts") * 7 / 10)) "$WORK/whole.ts" >"$WORK/cut.ts"
same_after_seek "$WORK/cut.ts" 1 12 30

# Variable frame rates: the first 3 s have 60 frames/s, the rest 10. The index of an MP4 file counts the frames.
ffmpeg -v error -f lavfi -i testsrc2=size=64x48:rate=60 -t 10 -vf "select='lt(t,3)+not(mod(n,6))'" -vsync vfr \
  -c:v libx264 -bf 3 -g 30 "$WORK/variable.mp4" || fail "no clip with a variable rate was made"
same_after_seek "$WORK/variable.mp4" 0 1 29 30 90 179 180 181 200 248 249
for flags in +frag_keyframe +frag_keyframe+empty_moov; do
  ffmpeg -v error -i "$WORK/variable.mp4" -c copy -movflags $flags "$WORK/$flags.mp4" || fail "no MP4 with $flags"
done
ffmpeg -v error -i "$WORK/variable.mp4" -c copy "$WORK/variable.mkv" || fail "no Matroska file was made"
for file in variable.mkv +frag_keyframe.mp4 +frag_keyframe+empty_moov.mp4; do
  start_daemon "$WORK/$file" --pause
  estimated() { [[ $(ctl get frame-estimated) == "$1" ]]; }
  estimated false || fail "$file: the first number is an estimate"
  for position in 5 9.9; do
    ctl seek $position absolute >/dev/null && wait_for 10 estimated true || fail "$file: the number at $position s is exact"
    (($(ctl get frame) < 260)) || fail "$file: frame $(ctl get frame) of 250 at $position s"
  done
  stop_daemon
done

# The property `source` has the size of the newest picture.
for size in 64x48 96x80; do
  ffmpeg -v error -f lavfi -i testsrc2=size=$size:rate=25 -t 1 -c:v mpeg2video "$WORK/$size.ts" || fail "no TS was made"
done
cat "$WORK/64x48.ts" "$WORK/96x80.ts" >"$WORK/sizes.ts"
start_daemon "$WORK/sizes.ts"
wait_for 20 eval '[[ $(ctl get ended) == true ]]' || fail "the joined file does not end"
[[ $(field source width)x$(field source height) == 96x80 ]] || fail "the source is $(field source width) wide"
[[ $(ctl get source) == *96×80* ]] || fail "the text is $(field source detail)"
stop_daemon

start_daemon "$clip" --pause
at() { [[ $(ctl get frame) == "$1" ]]; }
wait_for 10 at 0 || fail "frame $(ctl get frame) at the start"
ctl seek 500 >/dev/null || fail "seek 500"
wait_for 10 at 149 || fail "seek 500 shows frame $(ctl get frame)"
[[ $(ctl get ended) == false ]] || fail "seek 500 ended a paused clip"
ctl seek 2 absolute >/dev/null && wait_for 10 at 50 || fail "seek 2 shows frame $(ctl get frame)"
ctl seek 5 >/dev/null && wait_for 10 at 149 || fail "a step of 5 s at 2 of 6 s shows frame $(ctl get frame)"
! grep -q "ends early" "$WORK/daemon.err" || fail "$(<"$WORK/daemon.err")"
stop_daemon
echo "ok"
