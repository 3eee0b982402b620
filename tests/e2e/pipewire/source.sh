#!/usr/bin/env bash
# PipeWire nodes as sources: colours of all formats, the bytes of another lensd's virtual camera, and recovery from a
# restart of the node and of PipeWire.
# shellcheck source=../common/pipewire.sh
. "$(dirname "$0")/../common/pipewire.sh"

NODE_NAME=bars
# offer FORMAT: offers GStreamer's colour bars as the camera "bars". Widths and heights that are no multiples of 4 test
# the layout.
offer() {
  gst-launch-1.0 -q videotestsrc is-live=true pattern=smpte ! \
    "video/x-raw,format=$1,width=322,height=241,framerate=30/1" ! pipewiresink mode=provide \
    stream-properties="props,media.class=Video/Source,media.role=Camera,node.name=bars,node.description=Bars" \
    >"$WORK/gst.log" 2>&1 &
  NODE=$!
  STARTED+=("$NODE")
}

start_session
refused 4 "PipeWire has no camera" pipewire: --headless -o null:
refused 4 "no node 'bars'" pipewire:bars --headless -o null:
refused 3 "format and options cannot be set" pipewire:bars --headless -o null: -c <(printf '[source]\nformat = "mjpeg"\n')

for format in YUY2 UYVY NV12 I420 RGBA BGRA RGBx BGRx RGB BGR GRAY8; do
  offer "$format"
  wait_for 10 node_there || fail "GStreamer offers no $format: $(<"$WORK/gst.log")"
  expect 0 pipewire:bars --headless --frames 3 -o "$WORK/$format-%02d.png" --backend=cpu
  gray=$([[ $format == GRAY8 ]] && echo 1 || echo 0)
  ffmpeg -v error -i "$WORK/$format-02.png" -f rawvideo -pix_fmt rgb24 - | python3 -c '
import sys
data, width, gray = sys.stdin.buffer.read(), 322, sys.argv[1] == "1"
bars = [(255, 255, 255), (255, 255, 0), (0, 255, 255), (0, 255, 0), (255, 0, 255), (255, 0, 0), (0, 0, 255)]
if len(data) != width * 241 * 3: sys.exit("the picture has another size")
for y in (5, 150):
    for number, bar in enumerate(bars):
        at = (y * width + 23 + 46 * number) * 3
        pixel = tuple(data[at:at + 3])
        if gray:
            luma = round(16 + 219 * (0.299 * bar[0] + 0.587 * bar[1] + 0.114 * bar[2]) / 255)
            bar = (luma, luma, luma)
        if max(abs(a - b) for a, b in zip(pixel, bar)) > 2: sys.exit(f"bar {number} in row {y} is {pixel}, not {bar}")
' "$gray" >"$WORK/out" 2>&1 || fail "$format: $(<"$WORK/out")"
  stop_node
done
echo "ok: colours of all formats"

# Pixels that are not square keep their shape from one lensd to another.
start_daemon test:testsrc2=size=72x48:rate=25:sar=64/45 --virtual-camera Wide
wait_for 10 camera_is ready || fail "the camera is not ready: $(ctl get virtual-camera)"
wide=$(pw-dump | python3 -c '
import json, sys
for node in json.load(sys.stdin):
    properties = (node.get("info") or {}).get("props") or {}
    if properties.get("node.description") == "Wide": print(properties["node.name"])')
expect 0 "pipewire:$wide" --headless --frames 3 -o "$WORK/wide.mkv" --backend=cpu
shape=$(ffprobe -v error -select_streams v:0 -show_entries stream=sample_aspect_ratio -of csv=p=0 "$WORK/wide.mkv" | tr -d ',')
[[ $shape == 64:45 ]] || fail "pixels of 64:45 arrive as $shape"
stop_daemon
echo "ok: the shape of pixels"

# The node and PipeWire restart: pictures arrive again within a second.
offer NV12
wait_for 10 node_there || fail "no node"
PIPEWIRE_DEBUG=2 "$LENSD" doctor >"$WORK/doctor" 2>"$WORK/doctor.err"
! grep "leaked proxy" "$WORK/doctor.err" || fail "doctor leaks an object of PipeWire"
grep -q "pipewire:bars" "$WORK/doctor" || fail "doctor does not list the node: $(grep -i pipewire "$WORK/doctor")"
start_daemon pipewire:bars
wait_for 10 playing || fail "does not play: $(ctl get source)"
stop_node
wait_for 5 away || fail "the loss of the node is not shown: $(ctl get source)"
offer NV12
until node_there; do sleep 0.02; done
begin=$(now_ms)
until playing; do (($(now_ms) - begin < 10000)) || fail "does not come back: $(ctl get source)"; done
took=$(($(now_ms) - begin))
((took < ${LENSD_RECONNECT_MS:-1000})) || fail "the picture came back $took ms after the node"
echo "ok: back $took ms after the node"

stop_session
wait_for 5 away || fail "the loss of PipeWire is not shown: $(ctl get source)"
[[ $(ctl get source) == *PipeWire* ]] || fail "no reason: $(ctl get source)"
stop_node
start_session
offer RGBA
until node_there; do sleep 0.02; done
begin=$(now_ms)
until playing; do (($(now_ms) - begin < 10000)) || fail "does not come back: $(ctl get source)"; done
took=$(($(now_ms) - begin))
((took < ${LENSD_RECONNECT_MS:-1000})) || fail "the picture came back $took ms after PipeWire and the node"
stop_daemon
stop_node
echo "ok: back $took ms after PipeWire"

# The virtual camera of another lensd delivers the exact bytes of its frames.
width=64 height=48
ffmpeg -v error -f lavfi -i "nullsrc=size=${width}x$height:rate=50,format=gray,geq=lum='random(1)*255'" -t 4 -c:v ffv1 \
  "$WORK/noise.mkv" || skip "ffmpeg cannot make the source"
LENSD_RECORD_CODEC=ffv1 start_daemon "$WORK/noise.mkv" --pause --virtual-camera Noise --record "$WORK/sent.mkv" --graph invert
sender=$SOCKET sender_daemon=$DAEMON
noise_there() { pw-cli ls Node | grep -q 'node.name = "Noise"'; }
wait_for 10 noise_there || fail "no virtual camera"
SOCKET=$WORK/receiver.sock
LENSD_RECORD_CODEC=ffv1 "$LENSD" serve --socket "$SOCKET" pipewire:Noise --record "$WORK/got.mkv" 2>"$WORK/receiver.err" &
DAEMON=$!
STARTED+=("$DAEMON")
wait_for 20 playing || fail "the receiver does not play: $(<"$WORK/receiver.err")"
"$LENSD" ctl --socket "$sender" set pause false >/dev/null
ended() { [[ $("$LENSD" ctl --socket "$sender" get ended) == true ]]; }
wait_for 30 ended || fail "the sender does not end"
sleep 0.5
dropped=$(($(counter dropped) + $(counter dropped_recorder) + $("$LENSD" ctl --socket "$sender" get counters |
  awk '$1 == "dropped_virtual_camera" { print $2 }')))
stop_daemon
kill "$sender_daemon"
wait "$sender_daemon" 2>/dev/null
for name in sent got; do
  ffmpeg -v error -i "$WORK/$name.mkv" -fps_mode passthrough -f rawvideo -pix_fmt rgba "$WORK/$name.raw" || fail "ffmpeg"
done
python3 "$compare" "$WORK/got.raw" "$WORK/sent.raw" $((4 * width)) $((4 * width)) "$height" "$dropped" >"$WORK/out" 2>&1 ||
  fail "another lensd: $(<"$WORK/out")"
echo "ok: another lensd: $(<"$WORK/out"), $dropped dropped"
