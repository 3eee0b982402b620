#!/usr/bin/env bash
# Receivers and senders of the virtual camera are killed and restarted: pictures arrive within a second.
# shellcheck source=../common/pipewire.sh
. "$(dirname "$0")/../common/pipewire.sh"

limit=${LENSD_RECONNECT_MS:-1000}
frame=$((64 * 48 * 4))
# The camera repeats its last frame for a receiver that joins. Ten frames show that new ones follow at once.
ten_frames() { received "$1" $((10 * frame)); }
start_sender() { start_daemon test:testsrc2=size=64x48:rate=50 --virtual-camera "Test camera"; }
kill_now() {
  kill -KILL "$1"
  wait "$1" 2>/dev/null
}

# took BEGIN WHAT CONDITION…: waits for the condition; fails if it takes longer than the limit from BEGIN.
took() {
  local begin=$1 what=$2 ms
  shift 2
  until "$@"; do (($(now_ms) - begin < 10000)) || fail "$what: never: $(ctl get virtual-camera)"; done
  ms=$(($(now_ms) - begin))
  ((ms < limit)) || fail "$what: after $ms ms"
  echo "ok: $what: after $ms ms"
}

start_session
start_sender
wait_for 10 camera_is ready || fail "no camera: $(ctl get virtual-camera)"
receive "$WORK/first.raw" RGBA
FIRST=$RECEIVER
wait_for 10 ten_frames "$WORK/first.raw" || fail "no frames: $(<"$WORK/first.raw.log")"

# One of two receivers is killed while it holds buffers; the other one continues.
receive "$WORK/other.raw" RGBA
wait_for 10 ten_frames "$WORK/other.raw" || fail "no frames for two: $(<"$WORK/other.raw.log")"
kill_now "$RECEIVER"
size=$(stat -c %s "$WORK/first.raw")
took "$(now_ms)" "the receiver beside a killed one goes on" received "$WORK/first.raw" $((size + 10 * frame))

stop_receiver "$FIRST"
for round in {1..10}; do
  begin=$(now_ms)
  receive "$WORK/receiver-$round.raw" RGBA
  took "$begin" "frames for receiver $round" ten_frames "$WORK/receiver-$round.raw"
  if ((round % 2)); then kill_now "$RECEIVER"; else stop_receiver "$RECEIVER"; fi
done

# lensd is killed. GStreamer's receiver forbids PipeWire to link it to another node, so the test starts a new receiver,
# like a program that opens the webcam again.
for round in 1 2 3; do
  kill_now "$DAEMON"
  begin=$(now_ms)
  start_sender
  took "$begin" "the camera of sender $round" camera_is ready
  receive "$WORK/sender-$round.raw" RGBA
  took "$begin" "frames of sender $round" ten_frames "$WORK/sender-$round.raw"
  kill_now "$RECEIVER"
done
stop_daemon
