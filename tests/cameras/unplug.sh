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
RANDOM=${LENSD_SEED:-1}
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

threads() { ls "/proc/$DAEMON/task" | wc -l; }
descriptors() { ls "/proc/$DAEMON/fd" | wc -l; }
resident() { awk '/VmRSS/ { print $2 }' "/proc/$DAEMON/status"; }
away() { [[ $(field source state) == reconnecting ]]; }
alive() { kill -0 "$DAEMON" 2>/dev/null || fail "the daemon ended in cycle $cycle: $(tail -n 20 "$WORK/daemon.err")"; }

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

cycle=0
for phase in plays records sends; do
  start $phase
  first_threads=0 first_descriptors=0 first_resident=0
  for ((i = 0; i < CYCLES / 3; ++i)); do
    cycle=$((cycle + 1))
    sleep "0.$((RANDOM % 1000))"
    echo "vivid.$BUS" >$DRIVER/unbind
    if ((RANDOM % 3)); then
      wait_for 60 away || { alive; fail "cycle $cycle: the lost camera is not noticed"; }
    fi
    alive
    echo "vivid.$BUS" >$DRIVER/bind
    wait_for 90 playing || { alive; fail "cycle $cycle: no picture: $(tail -n 5 "$WORK/daemon.err")"; }
    wait_for 10 device_has brightness 77 || fail "cycle $cycle: brightness is $(device brightness) instead of 77"
    if ((i == 1)); then
      first_threads=$(threads) first_descriptors=$(descriptors) first_resident=$(resident)
    fi
  done
  wait_for 20 playing || fail "the camera does not play"
  echo "$phase: $i cycles, threads $first_threads -> $(threads), descriptors $first_descriptors -> $(descriptors)," \
    "memory $first_resident -> $(resident) kB"
  ((i <= 2)) || (($(threads) <= first_threads)) || fail "threads grow"
  ((i <= 2)) || (($(descriptors) <= first_descriptors)) || fail "file descriptors grow"
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
echo "passed: $cycle cycles"
