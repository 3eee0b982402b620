#!/usr/bin/env bash
# Random sequences of keys and mouse events: the viewer neither crashes nor hangs, and no input file changes.
# LENSD_SEQUENCES sets how many, LENSD_SEED which ones.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
HERE=$(cd "$(dirname "$0")" && pwd) || exit 1
start_display
need_tools ffmpeg python3 sha256sum
mkdir -p "$WORK/in" "$WORK/home" && cd "$WORK/in" || exit 1
export HOME=$WORK/home
ffmpeg -v error -f lavfi -i testsrc2=size=320x180:rate=25:duration=4 -f lavfi -i sine=duration=4 -c:v libx264 -g 25 -shortest a.mkv
ffmpeg -v error -f lavfi -i testsrc2=size=200x200:rate=10:duration=2 -c:v ffv1 b.mkv
ffmpeg -v error -f lavfi -i testsrc2=size=64x64 -frames:v 1 c.png
sha256sum ./* >"$WORK/before"

seed=${LENSD_SEED:-$((RANDOM * 32768 + RANDOM))} left=${LENSD_SEQUENCES:-40} batch=20 restarts=0
echo "LENSD_SEED=$seed"
launch() {
  start_window a.mkv b.mkv c.png --graph median,canny,levels --socket "$WORK/viewer.sock" --no-audio --log-file "$WORK/viewer.log"
  wait_for 30 place picture || fail "no picture"
}
answers() { timeout 20 "$LENSD" ctl --socket "$WORK/viewer.sock" get frame; }
launch
while ((left > 0)); do
  python3 "$HERE/random_input.py" "$((seed + left))" "$batch" "$LENSD_UI_MAP" 1280 720 >"$WORK/events"
  xdotool - <"$WORK/events" >"$WORK/xdotool.out" 2>&1
  xdotool mouseup 1 mouseup 3
  left=$((left - batch))
  if window_gone; then # a click or key has closed the window
    wait "$VIEWER"
    code=$?
    ((code == 0)) || fail "seed $seed, $left left: exit code $code: $(tail -n 5 "$WORK/viewer.err")"
    restarts=$((restarts + 1))
    launch
  fi
  wait_for 30 answers || fail "seed $seed, $left left: the window does not answer: $(tail -n 5 "$WORK/viewer.err")"
  sha256sum --quiet --check "$WORK/before" || fail "seed $seed, $left left: an input file has changed"
done
kill -TERM "$VIEWER"
wait_for 20 window_gone || fail "TERM did not end the program"
echo "ok: ${LENSD_SEQUENCES:-40} sequences, $restarts restarts"
