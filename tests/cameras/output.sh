#!/usr/bin/env bash
# Output to a V4L2 device (-o v4l2:PATH) whose driver has no write(): the output of the kernel's simulated camera (vivid),
# which is connected to the same device's input. What the input captures must be what was sent, also after the
# daemon was killed. A busy and an unplugged device are reported and used again.
# shellcheck source=../e2e/common/daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/daemon.sh"
need_tools convert compare ffmpeg
# shellcheck source=vivid.sh
. "$(dirname "${BASH_SOURCE[0]}")/vivid.sh"
WIDTH=640 HEIGHT=480
LARGEST=2 # mean difference, of 255

# node KIND BUS: prints the device file of vivid with 'Video KIND' and this bus; any bus if it is empty.
node() {
  local path info
  for path in /dev/video*; do
    info=$(v4l2-ctl -d "$path" --info 2>/dev/null) || continue
    grep -q 'Driver name *: vivid' <<<"$info" || continue
    grep -q "Bus info *: .*$2\$" <<<"$info" || continue
    # "Device Caps" follows "Capabilities", which are those of all nodes.
    sed -n '/Device Caps/,/^[^\t]/p' <<<"$info" | grep -q "Video $1\$" && echo "$path" && return
  done
}
OUTPUT=$(node Output '')
[[ -n $OUTPUT ]] || skip "no simulated camera has an output: modprobe vivid node_types=0x101"
BUS=$(v4l2-ctl -d "$OUTPUT" --info 2>/dev/null | sed -n 's/.*Bus info *: platform:\(vivid-[0-9]*\)/\1/p' | head -n 1)
INPUT=$(node Capture "$BUS")
[[ -n $INPUT ]] || skip "the simulated camera with an output has no input"
v4l2-ctl -d "$INPUT" --list-ctrls 2>/dev/null | grep -q loop_video || skip "this kernel's vivid has no control loop_video"

# connect_output: sends the HDMI output to the HDMI input, both with 640×480, and without text in the picture.
connect_output() {
  v4l2-ctl -d "$OUTPUT" --set-output=1 && v4l2-ctl -d "$OUTPUT" --set-dv-bt-timings=index=0 &&
    v4l2-ctl -d "$INPUT" --set-input=3 && v4l2-ctl -d "$INPUT" --set-dv-bt-timings=index=0 &&
    v4l2-ctl -d "$INPUT" -c osd_text_mode=2,loop_video=1 &&
    v4l2-ctl -d "$INPUT" --set-fmt-video="width=$WIDTH,height=$HEIGHT,pixelformat=YU12"
}
connect_output >"$WORK/v4l2.log" 2>&1 || fail "the output cannot be connected: $(<"$WORK/v4l2.log")"

# A clip of one picture, shown again and again, and the pictures that should arrive: those of the clip and of its
# negative, both with the 4:2:0 chroma of the device.
FLAGS=flags=bilinear+accurate_rnd+full_chroma_int+full_chroma_inp
FROM_DEVICE="scale=in_range=limited:in_color_matrix=bt601:$FLAGS,format=rgb24"
make_clip() {
  ffmpeg -v error -f lavfi -i "testsrc2=size=${WIDTH}x$HEIGHT:rate=4" -frames:v 1 -pix_fmt rgb24 "$WORK/picture.png"
  ffmpeg -v error -loop 1 -framerate 4 -i "$WORK/picture.png" -frames:v 8 -c:v ffv1 -pix_fmt bgr0 "$WORK/clip.mkv"
  convert "$WORK/picture.png" -negate "$WORK/inverted.png"
  local to_device="scale=out_range=limited:out_color_matrix=bt601:$FLAGS,format=yuv420p"
  ffmpeg -v error -i "$WORK/picture.png" -vf "$to_device,$FROM_DEVICE" "$WORK/sent.png"
  ffmpeg -v error -i "$WORK/inverted.png" -vf "$to_device,$FROM_DEVICE" "$WORK/negative.png"
}
make_clip || fail "FFmpeg makes no clip"

# difference REFERENCE PICTURE: prints the mean difference of 255.
difference() {
  compare -metric MAE "$1" "$2" -alpha off null: 2>&1 | sed 's/.*(\(.*\)).*/\1/' | awk '{ printf "%.2f", $1 * 255 }'
}
sending() { [[ $(field stream state) == sending ]] && (($(field stream frames) > ${1:-0})); }
# arrives REFERENCE: fails unless the input captures the picture.
arrives() {
  wait_for 120 sending 8 || fail "nothing is sent: $(ctl get stream) $(tail -n 5 "$WORK/daemon.err")"
  timeout 120 v4l2-ctl -d "$INPUT" --stream-mmap --stream-skip=2 --stream-count=1 --stream-to="$WORK/got.yuv" \
    >"$WORK/v4l2.log" 2>&1 || fail "v4l2-ctl captured nothing: $(tail -n 2 "$WORK/v4l2.log")"
  ffmpeg -v error -y -f rawvideo -pixel_format yuv420p -video_size "${WIDTH}x$HEIGHT" -i "$WORK/got.yuv" \
    -vf "$FROM_DEVICE" "$WORK/got.png" || fail "FFmpeg does not read the captured picture"
  local mean
  mean=$(difference "$1" "$WORK/got.png")
  awk -v mean="$mean" -v largest=$LARGEST 'BEGIN { exit !(mean <= largest) }' ||
    fail "the captured picture differs from the sent one by $mean of 255"
  echo "ok: $(basename "$1") arrives, mean difference $mean of 255"
}
start_output() { start_daemon "$WORK/clip.mkv" --loop-file -o "v4l2:$OUTPUT" "$@"; }

start_output
arrives "$WORK/sent.png"
kill -KILL "$DAEMON"
wait "$DAEMON" 2>/dev/null
start_output --graph invert # another picture, so that an old one does not pass
arrives "$WORK/negative.png"

DRIVER=/sys/bus/platform/drivers/vivid
if [[ -w $DRIVER/unbind ]]; then
  waiting() { [[ $(field stream state) == waiting ]]; }
  echo vivid.0 >$DRIVER/unbind # one device for the driver, with all cameras
  wait_for 30 waiting || fail "the lost device is not noticed: $(ctl get stream)"
  grep -q 'there is no such device' "$WORK/daemon.err" || fail "no reason: $(tail -n 5 "$WORK/daemon.err")"
  pictures_follow
  echo vivid.0 >$DRIVER/bind
  sent=$(field stream frames)
  wait_for 60 sending "$((sent + 2))" || fail "the device is not used again: $(tail -n 5 "$WORK/daemon.err")"
  echo "ok: an unplugged device is used again"
fi
stop_daemon
connect_output >"$WORK/v4l2.log" 2>&1 || fail "the output cannot be connected again: $(<"$WORK/v4l2.log")"

v4l2-ctl -d "$OUTPUT" --set-fmt-video-out="width=$WIDTH,height=$HEIGHT,pixelformat=YU12" --stream-out-mmap \
  >/dev/null 2>&1 &
OTHER=$!
STARTED+=("$OTHER")
sleep 2
start_output
busy() { grep -q "in use by another program (v4l2-ctl, process $OTHER)" "$WORK/daemon.err"; }
wait_for 60 busy || fail "the busy device is not reported: $(tail -n 5 "$WORK/daemon.err")"
kill "$OTHER"
arrives "$WORK/sent.png"
stop_daemon
echo "passed"
