#!/usr/bin/env bash
# The kernel's simulated camera (vivid) is unplugged and plugged in again LENSD_CYCLES times at random instants, in
# turn while the daemon plays, records and sends to the network. Each time the picture returns with the controls as they
# were set. In the end the numbers of threads and file descriptors are those of the first cycles. Needs root.
# shellcheck source=../e2e/common/daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/daemon.sh"
# shellcheck source=vivid.sh
. "$(dirname "${BASH_SOURCE[0]}")/vivid.sh"
CYCLES=${LENSD_CYCLES:-12}
DRIVER=/sys/bus/platform/drivers/vivid
[[ -w $DRIVER/unbind ]] || skip "needs root: unbind the camera"
SEED=${LENSD_SEED:-1}
CYCLES_PROGRAM=$(dirname "${BASH_SOURCE[0]}")/unplug_cycles.py
mkdir -p "$WORK/recordings"
cat >"$WORK/camera.toml" <<TOML
[source]
url = "v4l2:$CAMERA"
size = "320x180"
rate = 5

[source.controls]
brightness = 77

[record]
codec = "ffv1"
folder = "$WORK/recordings"
TOML

# start PHASE: starts the daemon for one third of the cycles.
start() {
  case $1 in
    plays) start_daemon -c "$WORK/camera.toml" ;;
    records)
      start_daemon -c "$WORK/camera.toml"
      wait_for 60 playing || fail "the camera does not play: $(tail -n 5 "$WORK/daemon.err")"
      ctl record on >"$WORK/record" || fail "no recording: $(<"$WORK/record")"
      ;;
    sends) start_daemon -c "$WORK/camera.toml" -o udp://127.0.0.1:45999 ;;
  esac
  wait_for 60 playing || fail "the camera does not play: $(tail -n 5 "$WORK/daemon.err")"
}

for phase in plays records sends; do
  start $phase
  "$CYCLES_PROGRAM" "$SOCKET" "$CAMERA" "$BUS" $((CYCLES / 3)) $((SEED++)) "$DAEMON" >"$WORK/cycles" 2>&1 ||
    fail "$phase: $(<"$WORK/cycles") $(tail -n 5 "$WORK/daemon.err")"
  echo "$phase: $(<"$WORK/cycles")"
  stop_daemon
done
if compgen -G "$WORK/recordings/*.mkv" >/dev/null; then
  for file in "$WORK"/recordings/*.mkv; do
    timeout 60 "$LENSD" "$file" --headless -q </dev/null || fail "the recording $file cannot be read"
  done
  echo "ok: $(ls "$WORK/recordings" | wc -l) recordings can be read"
else
  fail "nothing was recorded"
fi
echo "passed: $((CYCLES / 3 * 3)) cycles"
