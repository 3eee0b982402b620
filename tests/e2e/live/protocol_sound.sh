#!/usr/bin/env bash
# Files get the sound of SRT, RTMP, HTTP and UDP streams with several codecs, also if the sender changes the codec within
# a connection. All streams are sent and received at the same time.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
# shellcheck source=../common/flashes.sh
. "$(dirname "$0")/../common/flashes.sh"

here=$(dirname "$0")
has_encoder() { ffmpeg -v quiet -encoders | grep -q " $1 "; }
has_protocol() { ffmpeg -v quiet -protocols | grep -qx "  $1"; }

flashes 20 -c:v mpeg2video -q:v 3 -g 12 -bf 2 -c:a pcm_s16le "$WORK/base.mkv"
# clip NAME ARGS…: makes a transport stream with other sound; ARGS are ffmpeg's options.
clip() {
  ffmpeg -v error -i "$WORK/base.mkv" -c:v copy "${@:2}" -f mpegts "$WORK/$1.ts" </dev/null || skip "ffmpeg cannot make $1"
}
clip aac -c:a aac -b:a 96k
clip ac3 -c:a ac3 -b:a 128k
clip eac3 -c:a eac3 -b:a 128k
clip stereo -c:a aac -b:a 96k -ac 2 -ar 44100
clip latm -c:a aac -b:a 96k -mpegts_flags latm
! has_encoder libopus || clip opus -c:a libopus -b:a 96k
# flv NAME ARGS…: the same in FLV.
flv() {
  ffmpeg -v error -i "$WORK/base.mkv" -c:v flv -q:v 3 -g 12 "${@:2}" "$WORK/$1.flv" </dev/null || skip "ffmpeg cannot make $1"
}
flv mono -c:a aac -b:a 96k
flv stereo -c:a aac -b:a 96k -ac 2 -ar 44100

# send CLIP ARGS…: sends in real time, again and again.
send() {
  local latm=()
  [[ $1 != latm.ts ]] || latm=(-mpegts_flags latm)
  ffmpeg -v error -re -stream_loop -1 -i "$WORK/$1" -c copy "${latm[@]}" "${@:2}" </dev/null 2>"$WORK/sender-$1.log" &
  STARTED+=("$!")
}
bound() { grep -qi ":$(printf '%04X' "$1") " /proc/net/tcp /proc/net/udp; }

declare -A runs=() codecs=()
# receive FILE CODEC ADDRESS ARGS…: starts a run that writes four seconds to FILE.
receive() {
  timeout --kill-after=5 60 "$LENSD" "$3" --headless --backend=cpu --frames 100 -o "$WORK/$1" "${@:4}" \
    >"$WORK/$1.out" 2>"$WORK/$1.err" </dev/null &
  runs[$1]=$!
  codecs[$1]=$2
  STARTED+=("$!")
}
# udp FILE CLIP CODEC ARGS…
udp() {
  local port
  port=$(free_port udp)
  receive "$1" "$3" "udp://127.0.0.1:$port" "${@:4}"
  send "$2" -f mpegts "udp://127.0.0.1:$port?pkt_size=1316"
}
udp ac3.mp4 ac3.ts ac3
udp eac3.mkv eac3.ts eac3
udp latm.mp4 latm.ts aac
udp low-eac3.mp4 eac3.ts eac3 --profile=low-latency
udp low-latm.mkv latm.ts aac --profile=low-latency
if [[ -f $WORK/opus.ts ]]; then udp opus.mp4 opus.ts opus; fi
# listening FILE CLIP CODEC ADDRESS ARGS…: the sender listens at ADDRESS, in which PORT is replaced.
listening() {
  local port
  port=$(free_port "$([[ $4 == srt* ]] && echo udp || echo tcp)")
  send "$2" "${@:5}" "${4/PORT/$port}"
  wait_for 20 bound "$port" || fail "no sender at ${4/PORT/$port}: $(<"$WORK/sender-$2.log")"
  receive "$1" "$3" "$(sed "s/PORT/$port/; s/?mode=listener//" <<<"$4")"
}
listening http.mkv aac.ts aac http://127.0.0.1:PORT/live.ts -listen 1 -f mpegts
listening http-flv.mp4 stereo.flv aac http://127.0.0.1:PORT/live.flv -listen 1 -f flv
! has_protocol rtmp || listening rtmp.mp4 mono.flv aac rtmp://127.0.0.1:PORT/live/x -listen 1 -f flv
! has_protocol srt || listening srt.mkv aac.ts aac 'srt://127.0.0.1:PORT?mode=listener' -f mpegts
if has_protocol srt; then # lensd listens
  port=$(free_port udp)
  receive srt-listener.mp4 ac3 "srt://127.0.0.1:$port?mode=listener"
  wait_for 20 bound "$port" || fail "lensd does not listen: $(<"$WORK/srt-listener.mp4.err")"
  send ac3.ts -f mpegts "srt://127.0.0.1:$port"
fi
for file in "${!runs[@]}"; do
  wait "${runs[$file]}" || fail "$file: $(<"$WORK/$file.err")"
  [[ $(codec "$WORK/$file") == "${codecs[$file]}" ]] ||
    fail "$file has '$(codec "$WORK/$file")': $(<"$WORK/$file.err")"
  intact "$WORK/$file"
  echo -n "$file: "
  in_step "$WORK/$file" 2
done
for pid in "${STARTED[@]}"; do kill "$pid" 2>/dev/null; done
# The server sends from the first picture on: its first beep must not be lost.
first=$(sed -n 's/^beeps \([^ ]*\).*/\1/p' "$WORK/http.mkv.times")
[[ $first == 0.0? ]] || fail "http.mkv: the first beep is at $first s: $(paste -sd' ' "$WORK/http.mkv.times")"
echo "ok: ${#runs[@]} streams"

# record FILE ADDRESS: starts a run that records eight seconds to FILE. Sets RUN.
record() {
  timeout --kill-after=5 60 "$LENSD" "$2" --headless --backend=cpu --frames 200 --record "$WORK/$1" \
    >"$WORK/$1.out" 2>"$WORK/$1.err" </dev/null &
  RUN=$!
  STARTED+=("$RUN")
}

# A publisher restarts behind a relay with other AAC. Senders restart at once, with another codec or other AAC.
relay=$(free_port tcp)
python3 "$here/flv_relay.py" "$relay" 4 "$WORK/mono.flv" "$WORK/stereo.flv" 2>"$WORK/relay.log" &
STARTED+=("$!")
wait_for 20 bound "$relay" || fail "no relay: $(<"$WORK/relay.log")"
record relayed.mkv "http://127.0.0.1:$relay/live.flv"
relayed=$RUN
switched_port=$(free_port udp)
record switched.mkv "udp://127.0.0.1:$switched_port"
switched=$RUN
send aac.ts -f mpegts "udp://127.0.0.1:$switched_port?pkt_size=1316"
senders=("$!")
port=$(free_port udp)
send aac.ts -f mpegts "udp://127.0.0.1:$port?pkt_size=1316"
senders+=("$!")
start_daemon "udp://127.0.0.1:$port" --backend=cpu --record "$WORK/changed.mkv"
wait_for 20 playing || fail "the stream does not play"
sleep 4
kill "${senders[@]}"
wait "${senders[@]}" 2>/dev/null
send ac3.ts -f mpegts "udp://127.0.0.1:$port?pkt_size=1316"
send stereo.ts -f mpegts "udp://127.0.0.1:$switched_port?pkt_size=1316"
wait "$relayed" || fail "relayed.mkv: $(<"$WORK/relayed.mkv.err")"
wait "$switched" || fail "switched.mkv: $(<"$WORK/switched.mkv.err")"
second_file() { [[ -s $WORK/changed-2.mkv ]]; }
wait_for 20 second_file || fail "no second file: $(<"$WORK/daemon.err")"
sleep 4
stop_daemon
for file in relayed:aac relayed-2:aac switched:aac switched-2:aac changed:aac changed-2:ac3; do
  path=$WORK/${file%:*}.mkv
  [[ $(codec "$path") == "${file#*:}" ]] || fail "$path has '$(codec "$path")' instead of ${file#*:}"
  intact "$path"
  in_step "$path" 1
done
echo "ok: sound that changes within a connection"
