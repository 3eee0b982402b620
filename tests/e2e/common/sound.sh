# shellcheck shell=bash
# A PulseAudio server of the test, a clip with flashes and beeps, and the times of the beeps in the server's output.
# shellcheck source=viewer.sh
. "$(dirname "${BASH_SOURCE[0]}")/viewer.sh"

times=$(dirname "${BASH_SOURCE[0]}")/../viewer/sound_times.py
export XDG_RUNTIME_DIR=$WORK/run PULSE_SERVER=unix:$WORK/run/socket
mkdir -m 700 "$XDG_RUNTIME_DIR"
control=$WORK/control

# make_clip SECONDS: writes $WORK/clip.mkv, with a flash and a beep at every full second.
make_clip() {
  ffmpeg -v error -f lavfi -i "color=black:size=320x240:rate=25:duration=$1,format=yuv420p,geq=lum='if(lt(mod(T\,1)\,0.079)\,235\,16)':cb=128:cr=128" \
    -f lavfi -i "aevalsrc='if(lt(mod(t\,1)\,0.08)\,0.5*sin(2*PI*1000*t)\,0)':s=48000:d=$1" \
    -c:v mpeg4 -q:v 5 -g 25 -c:a pcm_s16le "$WORK/clip.mkv" || skip "ffmpeg cannot make the clip"
}

server_answers() { pactl info; }
start_server() {
  pulseaudio -n --exit-idle-time=-1 --daemonize=no --use-pid-file=no \
    -L "module-native-protocol-unix auth-anonymous=1 socket=$WORK/run/socket" \
    -L "module-null-sink sink_name=test" >"$WORK/pulse.log" 2>&1 &
  SERVER=$!
  STARTED+=("$SERVER")
  wait_for 20 server_answers || skip "the PulseAudio server does not start: $(tail -n 1 "$WORK/pulse.log")"
}

# start_recording NAME: writes the times of all beeps to $WORK/NAME.
start_recording() {
  RECORD=$WORK/$1
  parec --device=test.monitor --format=s16le --rate=48000 --channels=1 --latency-msec=5 --raw \
    > >(exec python3 "$times" record "$RECORD") 2>/dev/null &
  STARTED+=($!)
  sleep 1.5 # until parec receives samples
}
beeps() { wc -l <"$RECORD"; }
more_beeps() { (($(beeps) >= $1)); }
control() { timeout 20 "$LENSD" ctl --socket "$control" "$@" || fail "ctl $*"; }
