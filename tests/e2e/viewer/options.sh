#!/usr/bin/env bash
# Options in the window, with several sources, pipes and still pictures; notices for control clients.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools ffmpeg

clip() { ffmpeg -v error -f lavfi -i "testsrc2=size=160x120:rate=25" "$@" || fail "no clip was made"; }
clip -t 20 -c:v ffv1 "$WORK/long.mkv"
clip -frames 5 -c:v ffv1 "$WORK/short.mkv"
clip -frames 1 "$WORK/still.png"
echo "no video" >"$WORK/broken.mkv"
ffmpeg -v error -f lavfi -i color=red:size=160x120:rate=10 -f lavfi -i color=blue:size=200x100:rate=10 -t 20 \
  -map 0 -map 1 -c:v ffv1 "$WORK/two.mkv" || fail "no clip was made"
start_display

# closes ARGS…: fails unless the window closes by itself, with exit code 0.
closes() { expect 0 "$@" --backend=cpu; }
recorded() { ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$1"; }
closes "$WORK/long.mkv" --frames 3 --record "$WORK/three.mkv"
[[ $(recorded "$WORK/three.mkv") == 3 ]] || fail "--frames 3 recorded $(recorded "$WORK/three.mkv") frames"
closes "$WORK/long.mkv" "$WORK/short.mkv" --frames 3 --loop-file
closes "$WORK/short.mkv" --frames 50
closes "$WORK/long.mkv" "$WORK/broken.mkv" --frames 3
closes "$WORK/still.png" --frames 3
timeout 30 "$LENSD" - --frames 50 --backend=cpu < <(cat "$WORK/short.mkv") >/dev/null 2>&1 ||
  fail "--frames with a pipe: exit code $?"
echo "ok: --frames closes the window"

closes "$WORK/long.mkv" --frames 3 --mute --volume 33
grep -qE '^(mute = true|volume = 33)' "$XDG_STATE_HOME/lensd/state.toml" && fail "--mute and --volume are stored"
echo "ok: --mute and --volume are for one run"

start_window "$WORK/two.mkv" "$WORK/short.mkv" --backend=cpu --pause --video-track 2
expect_value source two.mkv
shape_is() { [[ $(value placed | awk '{ printf "%.0f", $3 / $4 * 100 }') == "$1" ]]; }
wait_for 20 shape_is 200 || fail "the second track is not shown: $(value placed)"
key greater
expect_value source short.mkv
wait_for 10 notice_about "it has no video track 2" || fail "nothing says that the track is missing"
quit_window
refused 4 "no video track 2" "$WORK/short.mkv" --video-track 2 --backend=cpu
echo "ok: --video-track in a playlist"

mkdir -p "$WORK/home/Videos"
cp "$WORK/long.mkv" "$WORK/100%H.mkv"
HOME=$WORK/home start_window "$WORK/100%H.mkv" --backend=cpu
key r
recorded_as() { compgen -G "$WORK/home/Videos/lensd-100%H-*.mkv"; }
wait_for 20 recorded_as || fail "the recording is called $(ls "$WORK/home/Videos")"
quit_window
echo "ok: a recording of a source with a percent sign"

export LENSD_SOCKET=$WORK/control.sock
mkfifo "$WORK/pipe"
cat "$WORK/short.mkv" >"$WORK/pipe" &
start_window "$WORK/pipe" --backend=cpu --socket "$LENSD_SOCKET" --loop-file
wait_for 20 grep -q "this source cannot seek, so --loop-file has no effect" "$WORK/viewer.err" ||
  fail "nothing says that the pipe cannot loop: $(<"$WORK/viewer.err")"
ended() { [[ $(timeout 10 "$LENSD" ctl get ended) == true ]]; }
wait_for 20 ended || fail "the pipe does not end"
key End
wait_for 10 notice_about "This source cannot seek" || fail "End with a pipe says '$(value notice)'"
key space
wait_for 10 notice_about "has ended and cannot be played again" || fail "Space at its end says '$(value notice)'"
timeout 30 "$LENSD" ctl observe events >"$WORK/events" 2>/dev/null &
STARTED+=($!)
notified() { timeout 10 "$LENSD" ctl pause false && grep -q '"event":"notice".*cannot seek' "$WORK/events"; }
wait_for 20 notified || fail "a client got no notice: $(<"$WORK/events")"
quit_window
echo "ok: a pipe's end, and notices for clients"

XDG_RUNTIME_DIR=$WORK/nothing start_window "$WORK/long.mkv" "$WORK/two.mkv" --backend=cpu --pause --socket "$LENSD_SOCKET"
key v
wait_for 20 notice_about "PipeWire is not running" || fail "without PipeWire, v says '$(value notice)'"
timeout 20 "$LENSD" ctl load "$WORK/short.mkv" || fail "load: exit code $?"
expect_value source short.mkv
key greater
wait_for 10 notice_about "There is no playlist" || fail "without a playlist, > says '$(value notice)'"
quit_window
echo "ok: notices name what is missing"

# An offset without a size: the rest of the screen.
closes "screen:+100,50" --headless --frames 2 -o "$WORK/part.mkv"
part=$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$WORK/part.mkv")
[[ $part == 1180,750 ]] || fail "the screen from 100, 50 has $part"
printf '[source]\noptions = "video_size=600x400"\n' >"$WORK/area.toml"
closes "screen:+640,50" -c "$WORK/area.toml" --headless --frames 2 -o "$WORK/area.mkv"
part=$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 "$WORK/area.mkv")
[[ $part == 600,400 ]] || fail "an area of 600x400 has $part"
refused 4 "the offset is outside the screen of 1280x800" "screen:+1280,0" --headless --frames 2 -o "$WORK/none.mkv"
echo "ok: a part of the screen"
