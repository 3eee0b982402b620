#!/usr/bin/env bash
# The sound of network streams: MPEG-TS over UDP and HTTP, HLS, and RTSP. Flashes are captured from the screen, beeps from the
# sound server's output; both come at the same time. Sound returns after an outage of the sender. A pause is silent. With
# --low-latency and --no-audio, pictures do not wait.
#
# The limit is 40 ms with LENSD_LONG=1, for an idle machine. Without, it is 100 ms.
# shellcheck source=../common/sound.sh
. "$(dirname "$0")/../common/sound.sh"
need_tools pulseaudio parec ffmpeg python3
python3 -c 'import Xlib' 2>/dev/null || skip "python3-xlib is not installed"

tolerance=100 seconds=6
[[ -z ${LENSD_LONG:-} ]] || tolerance=40 seconds=60
port=$((20000 + $$ % 20000))
make_clip 20
ffmpeg -v error -i "$WORK/clip.mkv" -c:v mpeg2video -q:v 3 -g 12 -bf 2 -c:a mp2 -b:a 128k "$WORK/clip.ts" ||
  skip "ffmpeg cannot make the stream"
ffmpeg -v error -i "$WORK/clip.ts" -c:v copy -c:a aac -b:a 96k "$WORK/aac.ts" || skip "ffmpeg cannot make the stream"

# send ARGS…: sends $CLIP in real time, again and again, with these output options. Sets SENDER.
CLIP=$WORK/clip.ts
send() {
  ffmpeg -v error -re -stream_loop -1 -i "$CLIP" -c copy "$@" </dev/null 2>"$WORK/sender.log" &
  SENDER=$!
  STARTED+=("$SENDER")
}
end_sender() {
  kill "$SENDER" 2>/dev/null # over HTTP it has ended with its client
  wait "$SENDER" 2>/dev/null
}
now() { python3 -c 'import time; print(time.monotonic())'; }
sounds() { [[ $(value sound) =~ ^[0-9]+\ 0\ *$ ]]; }
says() { [[ $(value sound) == *"$1"* ]]; }
frames_shown() { (($(value frame) > 10)); }

# measure NAME: compares flashes and beeps of the next seconds.
measure() {
  local begin watcher
  begin=$(now)
  python3 "$times" watch "$WORK/flashes" "$SPOT_X" "$SPOT_Y" 2>"$WORK/watch.err" &
  watcher=$!
  sleep "$seconds"
  echo "$begin $(now) $1" >"$WORK/parts"
  kill "$watcher"
  python3 "$times" offsets "$WORK/flashes" "$WORK/beeps" "$WORK/parts" "$tolerance" ||
    fail "$1: pictures and sound are more than $tolerance ms apart $(tail -n 2 "$WORK/watch.err")"
}

# watch_stream NAME ARGS…: starts the window and waits for sound. Sets SPOT_X and SPOT_Y, the middle of the picture.
watch_stream() {
  local name=$1
  shift
  start_window "$@" --backend=cpu --socket "$control"
  wait_for 30 frames_shown || fail "$name: no picture: $(tail -n 2 "$WORK/viewer.err" "$WORK/sender.log")"
  key Tab # hides the panels, which cost time in a software renderer
  wait_for 20 settled picture || fail "$name: no picture"
  place picture
  eval "$(xdotool getwindowgeometry --shell "$WINDOW" | sed -n 's/^X=/left=/p; s/^Y=/top=/p')"
  # shellcheck disable=SC2154  # left and top come from eval
  SPOT_X=$((left + ${X%.*} + ${W%.*} / 2)) SPOT_Y=$((top + ${Y%.*} + ${H%.*} / 2))
  wait_for 20 sounds || fail "$name: the window says '$(value sound)'"
  wait_for 20 more_beeps $(($(beeps) + 2)) || fail "$name: no sound"
}

start_display
start_server
start_recording beeps

send -f mpegts "udp://127.0.0.1:$port?pkt_size=1316"
watch_stream udp "udp://127.0.0.1:$port"
measure "MPEG-TS over UDP"
control set pause true >/dev/null
sleep 1
before=$(beeps)
sleep 2.5
(($(beeps) == before)) || fail "there is sound while paused"
control set pause false >/dev/null
wait_for 10 more_beeps $((before + 3)) || fail "no sound after a pause"
measure "after a pause"
end_sender
sleep 3
send -f mpegts "udp://127.0.0.1:$port?pkt_size=1316"
before=$(beeps)
wait_for 20 more_beeps $((before + 3)) || fail "no sound after an outage"
measure "after an outage"
end_sender
CLIP=$WORK/aac.ts send -f mpegts "udp://127.0.0.1:$port?pkt_size=1316"
before=$(beeps)
wait_for 20 more_beeps $((before + 3)) || fail "no sound from a sender with another codec: $(value sound)"
sleep 2
measure "from a sender with another codec"
quit_window

start_window "udp://127.0.0.1:$port" --backend=cpu --profile=low-latency
wait_for 20 sounds || fail "low latency: the window says '$(value sound)'"
before=$(beeps)
wait_for 20 more_beeps $((before + 3)) || fail "low latency: no sound"
quit_window
start_window "udp://127.0.0.1:$port" --backend=cpu --no-audio
wait_for 20 says "switched off" || fail "the window says '$(value sound)'"
quit_window
end_sender

send -f mpegts -listen 1 "http://127.0.0.1:$((port + 1))"
sleep 1
watch_stream http "http://127.0.0.1:$((port + 1))"
measure "MPEG-TS over HTTP"
quit_window
end_sender

# HLS: segments of two seconds arrive at once. A complete playlist is a file.
mkdir "$WORK/www"
python3 -m http.server --bind 127.0.0.1 --directory "$WORK/www" $((port + 3)) >/dev/null 2>&1 </dev/null &
STARTED+=("$!")
for type in fmp4 mpegts; do
  send -f hls -hls_time 2 -hls_flags delete_segments -hls_segment_type $type "$WORK/www/$type.m3u8"
  wait_for 30 grep -q "MEDIA-SEQUENCE:[1-9]" "$WORK/www/$type.m3u8" || fail "no playlist: $(tail -n 2 "$WORK/sender.log")"
  watch_stream "HLS, $type" "http://127.0.0.1:$((port + 3))/$type.m3u8"
  measure "live HLS playlist with $type"
  quit_window
  end_sender
done
ffmpeg -v error -i "$CLIP" -c copy -f hls -hls_time 2 -hls_playlist_type vod "$WORK/www/file.m3u8" </dev/null
watch_stream "HLS file" "http://127.0.0.1:$((port + 3))/file.m3u8" --loop-file
measure "complete HLS playlist"
quit_window

if python3 -c 'import gi; gi.require_version("GstRtspServer", "1.0")' 2>/dev/null; then
  ffmpeg -v error -i "$WORK/clip.mkv" -c:v mjpeg -huffman default -pix_fmt yuvj420p -q:v 4 -c:a copy "$WORK/jpeg.mkv"
  python3 "$(dirname "$0")/../live/rtsp_sound.py" $((port + 2)) "$WORK/jpeg.mkv" >"$WORK/sender.log" 2>&1 &
  SENDER=$!
  STARTED+=("$SENDER")
  sleep 1
  watch_stream rtsp "rtsp://127.0.0.1:$((port + 2))/live"
  measure "RTSP"
  quit_window
  end_sender
fi

send -an -f mpegts "udp://127.0.0.1:$port?pkt_size=1316"
start_window "udp://127.0.0.1:$port" --backend=cpu
wait_for 20 says "the source has no audio" || fail "the window says '$(value sound)'"
quit_window
