#!/usr/bin/env bash
# The virtual camera: GStreamer receives exactly the recorded frames, in colour and in gray. The camera follows the
# output's size, survives a restart of PipeWire, and is switched on and off by control.
# LENSD_LONG=1 compares 10,000 frames instead of 300.
# shellcheck source=../common/pipewire.sh
. "$(dirname "$0")/../common/pipewire.sh"

seconds=6
[[ -z ${LENSD_LONG:-} ]] || seconds=200
ended() { [[ $(ctl get ended) == true ]]; }

# compare_run NAME GRAPH FORMAT PIXEL_BYTES WIDTH HEIGHT ROW_BYTES: plays a source to its end; compares what a receiver
# got with the recording. ROW_BYTES: bytes per row in the shared memory.
compare_run() {
  local name=$1 graph=$2 format=$3 pixel=$4 width=$5 height=$6 row=$7
  # Noise, so that all frames differ.
  ffmpeg -v error -f lavfi -i "nullsrc=size=${width}x$height:rate=50,format=gray,geq=lum='random(1)*255'" -t "$seconds" \
    -c:v ffv1 "$WORK/$name-source.mkv" || skip "ffmpeg cannot make the source"
  LENSD_RECORD_CODEC=ffv1 start_daemon "$WORK/$name-source.mkv" --pause \
    --graph "$graph" --virtual-camera "Test camera" --record "$WORK/$name.mkv"
  wait_for 10 camera_is ready || fail "$name: $(ctl get virtual-camera)"
  receive "$WORK/$name.raw" "$format"
  wait_for 10 camera_is streaming || fail "$name: no receiver: $(ctl get virtual-camera) $(<"$WORK/$name.raw.log")"
  wait_for 10 received "$WORK/$name.raw" $((row * height)) || fail "$name: no picture while paused: $(stat -c %s "$WORK/$name.raw") bytes $(ctl get virtual-camera)"
  ctl set pause false >/dev/null
  wait_for $((seconds * 3 + 10)) ended || fail "$name: does not end"
  sleep 0.5
  local dropped
  dropped=$(camera dropped)
  stop_receiver "$RECEIVER"
  stop_daemon
  ffmpeg -v error -i "$WORK/$name.mkv" -fps_mode passthrough -f rawvideo -pix_fmt "${format,,}" "$WORK/$name.recorded" || fail "ffmpeg"
  python3 "$compare" "$WORK/$name.raw" "$WORK/$name.recorded" $((pixel * width)) "$row" "$height" "$dropped" >"$WORK/out" 2>&1 ||
    fail "$name: $(<"$WORK/out")"
  echo "ok: $name: $(<"$WORK/out"), $dropped dropped"
  rm -f "$WORK/$name"[.-]*
}

start_session
compare_run colour invert RGBA 4 64 48 256
compare_run gray grayscale GRAY8 1 66 48 68

# [output] dither: a grey between two values of 8 bits.
python3 -c "import struct, sys; sys.stdout.buffer.write(struct.pack('<H', 30003) * (3 * 64 * 48))" |
  ffmpeg -v error -f rawvideo -pixel_format rgb48le -video_size 64x48 -i - "$WORK/flat.png" || fail "ffmpeg"
for case in "false 117" "true 116 117"; do
  read -r dither wanted <<<"$case"
  LENSD_OUTPUT_DITHER=$dither start_daemon "$WORK/flat.png" --virtual-camera "Test camera"
  rm -f "$WORK/dither.raw"
  receive "$WORK/dither.raw" RGBA
  wait_for 10 received "$WORK/dither.raw" $((64 * 48 * 4)) || fail "no picture: $(<"$WORK/dither.raw.log")"
  stop_receiver "$RECEIVER"
  stop_daemon
  found=$(python3 -c "import sys; p = open(sys.argv[1], 'rb').read(64 * 48 * 4); print(*sorted(set(p[::4] + p[1::4] + p[2::4])))" "$WORK/dither.raw")
  [[ $found == "$wanted" ]] || fail "dither = $dither: the samples are $found, not $wanted"
done
echo "ok: dither"

# A camera that is switched on while a still image is shown, also a second time.
start_daemon "$WORK/flat.png"
wait_for 10 ended || fail "the image does not end"
listed() { node_id "Test camera" >/dev/null; }
withdrawn() { ! listed; }
for round in 1 2; do
  ctl virtual-camera on "Test camera" >/dev/null || fail "virtual-camera on"
  wait_for 10 listed || fail "round $round: no camera: $(ctl get virtual-camera)"
  rm -f "$WORK/still.raw"
  receive "$WORK/still.raw" RGBA
  wait_for 10 received "$WORK/still.raw" $((64 * 48 * 4)) || fail "round $round: no picture: $(<"$WORK/still.raw.log")"
  stop_receiver "$RECEIVER"
  ctl virtual-camera off >/dev/null
  wait_for 10 withdrawn || fail "round $round: the camera stays"
done
stop_daemon
echo "ok: a camera of a still image"

# The rest uses a moving picture of a running daemon.
start_daemon test:testsrc2=size=64x48:rate=50
[[ $(camera on) == false && $(camera state) == off ]] || fail "on without a request: $(ctl get virtual-camera)"
[[ $(ctl virtual-camera on "Test camera") == *"Test camera"* ]] || fail "virtual-camera on"
wait_for 5 camera_is ready || fail "not ready: $(ctl get virtual-camera)"
pw-cli ls Node >"$WORK/nodes"
grep -q 'media.class = "Video/Source"' "$WORK/nodes" || fail "no camera in the session: $(<"$WORK/nodes")"
receive "$WORK/size.raw" RGBA
first=$RECEIVER
wait_for 10 received "$WORK/size.raw" $((64 * 48 * 4 * 20)) || fail "no frames: $(<"$WORK/size.raw.log")"
# Two receivers at a time.
receive "$WORK/second.raw" RGBA
wait_for 10 received "$WORK/second.raw" $((64 * 48 * 4 * 20)) || fail "no frames for two: $(<"$WORK/second.raw.log")"
stop_receiver "$RECEIVER"
echo "ok: two receivers"

# The size of the output changes: the camera remains, and the receiver continues in the new size.
frames=$(camera frames)
ctl load test:testsrc2=size=128x96:rate=50 >/dev/null || fail "load"
more_frames() { (($(camera frames) >= $1)); }
if ! wait_for 10 more_frames $((frames + 50)) && grep -q "unhandled format" "$WORK/size.raw.log"; then
  # The receiver of PipeWire 1.4 ends when the format changes. The camera must remain for a new one.
  echo "this pipewiresrc does not follow another size: $(grep -m 1 "unhandled format" "$WORK/size.raw.log")"
  receive "$WORK/size.raw" RGBA
  first=$RECEIVER
fi
wait_for 10 more_frames $((frames + 50)) || fail "no frames in the new size: $(ctl get virtual-camera)"
size=$(stat -c %s "$WORK/size.raw")
wait_for 10 received "$WORK/size.raw" $((size + 128 * 96 * 4 * 20)) || fail "no frames in the new size: $(<"$WORK/size.raw.log")"
ctl set pause true >/dev/null
sleep 0.5
picture=$(ctl snapshot last.png | awk '$1 == "path" { print $2 }')
stop_receiver "$first"
ffmpeg -v error -i "$picture" -f rawvideo -pix_fmt rgba "$WORK/last.rgba" || fail "ffmpeg"
tail -c $((128 * 96 * 4)) "$WORK/size.raw" | cmp - "$WORK/last.rgba" || fail "the last frame received is not the one shown"
ctl set pause false >/dev/null
echo "ok: another size"

# After a restart of PipeWire, the camera is available again within a second.
lost_before=$(grep -c "virtual camera" "$WORK/daemon.err")
stop_session
wait_for 5 camera_is waiting || fail "the loss of PipeWire is not shown: $(ctl get virtual-camera)"
not_running() { [[ $(ctl get virtual-camera) == *"PipeWire is not running"* ]]; }
wait_for 5 not_running || fail "no reason: $(ctl get virtual-camera)"
launch_pipewire
begin=$(now_ms)
until [[ -S $XDG_RUNTIME_DIR/pipewire-0 ]]; do (($(now_ms) - begin < 20000)) || fail "no socket"; done
begin=$(now_ms)
until camera_is ready; do (($(now_ms) - begin < 5000)) || fail "does not reconnect: $(ctl get virtual-camera)"; done
took=$(($(now_ms) - begin))
((took < ${LENSD_RECONNECT_MS:-1000})) || fail "the camera came back after $took ms"
launch_session_manager
receive "$WORK/again.raw" RGBA
wait_for 10 received "$WORK/again.raw" $((128 * 96 * 4 * 20)) || fail "no frames after the restart: $(<"$WORK/again.raw.log")"
stop_receiver "$RECEIVER"
lost=$(($(grep -c "virtual camera" "$WORK/daemon.err") - lost_before))
((lost == 1)) || fail "$lost lines about the loss instead of one: $(<"$WORK/daemon.err")"
echo "ok: back $took ms after PipeWire: $(grep "virtual camera" "$WORK/daemon.err")"

# Off and on again; invalid names.
ctl virtual-camera off >/dev/null && camera_is off || fail "off: $(ctl get virtual-camera)"
nodes_gone() { ! pw-cli ls Node | grep -q 'media.class = "Video/Source"'; }
wait_for 5 nodes_gone || fail "the camera stays in the session"
ctl_refused "1 to 64 bytes" virtual-camera on a/b
ctl virtual-camera on Another >/dev/null && wait_for 5 camera_is ready || fail "on again: $(ctl get virtual-camera)"
[[ $(camera name) == Another ]] || fail "name: $(ctl get virtual-camera)"
stop_daemon

# Without a daemon the picture plays, and the reason is shown.
stop_session
start_daemon test:testsrc2=size=64x48:rate=50 --virtual-camera
wait_for 5 camera_is waiting || fail "without PipeWire: $(ctl get virtual-camera)"
playing() { (($(ctl get frame) > 50)); }
wait_for 10 playing || fail "the picture does not play without PipeWire"
stop_daemon
refused 2 "put the source before the option" --virtual-camera /tmp/clip.mp4
refused 2 "1 to 64 bytes" serve --virtual-camera $'a\tb'
echo "ok: without PipeWire, and refused names"
