#!/usr/bin/env bash
# Recordings and outputs of network streams have the sound of the stream, in step with the picture.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
# shellcheck source=../common/flashes.sh
. "$(dirname "$0")/../common/flashes.sh"

here=$(dirname "$0")
flashes 20 -c:v mpeg2video -q:v 3 -g 12 -bf 2 -c:a mp2 -b:a 128k "$WORK/mp2.ts"
ffmpeg -v error -i "$WORK/mp2.ts" -c:v copy -c:a aac -b:a 96k "$WORK/aac.ts" || skip "ffmpeg cannot make the stream"

# send CLIP TARGET: sends in real time, again and again. Sets SENDER.
send() {
  ffmpeg -v error -re -stream_loop -1 -i "$1" -c copy -f mpegts "$2" </dev/null 2>"$WORK/sender.log" &
  SENDER=$!
  STARTED+=("$SENDER")
}
end_sender() {
  kill "$SENDER"
  wait "$SENDER" 2>/dev/null || true
}

port=$(free_port udp)
stream="udp://127.0.0.1:$port?pkt_size=1316"
for kind in mp2 aac; do
  send "$WORK/$kind.ts" "$stream"
  for type in mkv mp4; do
    expect 0 "udp://127.0.0.1:$port" --headless --backend=cpu --frames 150 -o "$WORK/$kind.$type"
    # ffprobe takes MP2 in .mp4 for MP3.
    [[ $(codec "$WORK/$kind.$type") == @("$kind"|mp3) ]] ||
      fail "$kind.$type has '$(codec "$WORK/$kind.$type")': $(<"$WORK/stderr")"
    in_step "$WORK/$kind.$type" 3
  done
  expect 0 "udp://127.0.0.1:$port" --headless --backend=cpu --frames 150 --record "$WORK/recorded-$kind.mkv"
  in_step "$WORK/recorded-$kind.mkv" 3
  echo "ok: $kind in outputs and recordings"
  end_sender
done
send "$WORK/mp2.ts" "$stream"
expect 0 "udp://127.0.0.1:$port" --headless --backend=cpu --frames 25 --no-audio -o "$WORK/silent.mkv"
[[ -z $(codec "$WORK/silent.mkv") ]] || fail "--no-audio records sound"

if python3 -c 'import gi; gi.require_version("GstRtspServer", "1.0")' 2>/dev/null; then
  ffmpeg -v error -i "$WORK/mp2.ts" -c:v mjpeg -huffman default -pix_fmt yuvj420p -q:v 4 -c:a pcm_s16le "$WORK/jpeg.mkv"
  rtsp=$(free_port tcp)
  python3 "$here/rtsp_sound.py" "$rtsp" "$WORK/jpeg.mkv" >"$WORK/rtsp.log" 2>&1 &
  STARTED+=($!)
  sleep 1
  expect 0 "rtsp://127.0.0.1:$rtsp/live" --headless --backend=cpu --frames 150 -o "$WORK/rtsp.mkv"
  [[ $(codec "$WORK/rtsp.mkv") == pcm_alaw ]] || fail "rtsp.mkv has '$(codec "$WORK/rtsp.mkv")': $(<"$WORK/stderr")"
  in_step "$WORK/rtsp.mkv" 3
  echo "ok: RTSP with G.711"
fi

# The daemon: a recording with several files and an outage, and an output that is sent on.
onward=$(free_port udp)
cat >"$WORK/config.toml" <<T
[source]
url = "udp://127.0.0.1:$port"
[record]
folder = "$WORK"
name = "part.mkv"
split_seconds = 4
[output]
url = "udp://127.0.0.1:$onward?pkt_size=1316"
T
start_daemon -c "$WORK/config.toml" --backend=cpu
wait_for 20 playing || fail "the stream does not play"
ffmpeg -v error -nostdin -y -i "udp://127.0.0.1:$onward" -t 6 -c copy "$WORK/onward.mkv" 2>"$WORK/receiver.log" &
receiver=$!
STARTED+=("$receiver")
ctl record on >/dev/null || fail "cannot record"
sleep 9
wait "$receiver"
in_step "$WORK/onward.mkv" 3
echo "ok: the sound is sent on"
end_sender
sleep 2
send "$WORK/mp2.ts" "$stream"
wait_for 20 playing || fail "the stream does not return"
sleep 7
ctl record off >/dev/null
stop_daemon
files=("$WORK"/part*.mkv)
((${#files[@]} >= 3)) || fail "${#files[@]} files"
for file in "${files[@]}"; do in_step "$file" 0; done
ffmpeg -v error -y -i "${files[0]}" -f null - || fail "${files[0]} is damaged"
echo "ok: recordings of the daemon, ${#files[@]} files"
end_sender
