#!/usr/bin/env bash
# A transport stream that was joined from three files with other timestamps: the sound is heard with its pictures in each
# part, also after seeks and in a loop. The duration, the positions and the thumbnails are those of the whole file.
# shellcheck source=../common/sound.sh
. "$(dirname "$0")/../common/sound.sh"
need_tools pulseaudio parec ffmpeg python3

TOLERANCE_MS=60 # for a loaded machine
# part NAME COLOUR FIRST SECONDS: a clip whose timestamps begin at FIRST, with a beep at every full second.
part() {
  ffmpeg -v error -nostdin -f lavfi -i "color=$2:s=320x240:r=25:d=$4" \
    -f lavfi -i "aevalsrc='if(lt(mod(t,1),0.08),0.5*sin(2*PI*1000*t),0)':s=48000:d=$4" -c:v mpeg2video -q:v 5 -g 25 -bf 2 \
    -c:a mp2 -output_ts_offset "$3" "$WORK/$1.ts" || skip "ffmpeg cannot make the clip"
}
part red 0x800000 100 8
part green 0x008000 0 8
part blue 0x000080 95440 16 # its clock of 33 bits wraps after 2.3 s
cat "$WORK/red.ts" "$WORK/green.ts" "$WORK/blue.ts" >"$WORK/joined.ts"
cat "$WORK/green.ts" "$WORK/green.ts" >"$WORK/loop.ts"

# expect_beeps WHAT COUNT: fails unless so many more beeps are heard within 12 s.
expect_beeps() {
  wait_for 12 more_beeps $(($(beeps) + $2)) || fail "$1: no sound"
  echo "ok: $1: sound"
}
frame_reached() { (($(control get frame) >= $1)); }
# near_frame FRAME: the shown frame is at most a second after FRAME.
near_frame() { (($(control get frame) >= $1 && $(control get frame) < $1 + 25)); }
# thumbnail RGB PART: hovers over the timeline at PART percent, and waits for a picture of this colour.
thumbnail() {
  hover transport/seek "$2"
  wait_for 10 shows "$1" || fail "the thumbnail at $2 % is not of the right part"
}
shows() {
  place transport/thumbnail || return 1
  import -silent -window "$WINDOW" -crop "${W%.*}x${H%.*}+${X%.*}+${Y%.*}" +repage "$WORK/thumbnail.png"
  [[ $(convert "$WORK/thumbnail.png" -scale '1x1!' -format '%[fx:u.r>0.3] %[fx:u.g>0.3] %[fx:u.b>0.3]' info:) == "$1" ]]
}

start_display
start_server
start_recording beeps
start_window "$WORK/joined.ts" --backend=cpu --no-resume --volume 95 --socket "$control" --trace "$WORK/trace.json"
[[ $(control get duration) == 32* ]] || fail "the duration is $(control get duration) s instead of 32 s"
expect_beeps "the first part" 3
wait_for 20 frame_reached 210 || fail "the second part does not begin: frame $(control get frame)"
expect_beeps "the second part, after the join" 4
control set time-pos 20.5 >/dev/null
wait_for 10 near_frame 512 || fail "a seek to 20.5 s shows frame $(control get frame)"
expect_beeps "after a seek into the third part" 4
control set time-pos 3.5 >/dev/null
wait_for 10 near_frame 87 || fail "a seek to 3.5 s shows frame $(control get frame)"
expect_beeps "after a seek into the first part" 2
control set pause true >/dev/null
thumbnail "1 0 0" 10 # red
thumbnail "0 1 0" 40 # green
thumbnail "0 0 1" 80 # blue
echo "ok: thumbnails of each part"
quit_window
python3 "$times" compare "$WORK/beeps" "$WORK/trace.json" "$TOLERANCE_MS" ||
  fail "pictures and sound are more than $TOLERANCE_MS ms apart"
echo "ok: pictures follow the sound"

start_window "$WORK/loop.ts" --backend=cpu --no-resume --loop-file --start 12 --socket "$control"
wait_for 10 frame_reached 300 || fail "--start 12 shows frame $(control get frame)"
expect_beeps "the second part with --start" 2
beyond_start() { near_frame 25; }
wait_for 20 beyond_start || fail "the loop does not begin again: frame $(control get frame)"
expect_beeps "after a loop" 2
wait_for 20 frame_reached 225 || fail "the second part does not begin: frame $(control get frame)"
expect_beeps "the second part after a loop" 2
quit_window
