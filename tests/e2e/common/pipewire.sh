# shellcheck shell=bash
# Runs the test on a private session bus, and starts a PipeWire daemon with a session manager there. Tests do not touch
# the user's session.
# shellcheck source=daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/daemon.sh"
need_tools dbus-run-session pipewire wireplumber pw-cli gst-launch-1.0 gst-inspect-1.0 ffmpeg python3
gst-inspect-1.0 pipewiresrc >/dev/null 2>&1 || skip "GStreamer's pipewiresrc (gstreamer1.0-pipewire) is not installed"
"$LENSD" doctor 2>/dev/null | grep -q "built without PipeWire" && skip "lensd was built without PipeWire"
if [[ -z ${LENSD_E2E_BUS:-} ]]; then
  rm -rf "$WORK"
  LENSD_E2E_BUS=1 exec dbus-run-session -- "$0" "$@"
fi

export XDG_RUNTIME_DIR=$WORK/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
compare=$(dirname "${BASH_SOURCE[0]}")/../pipewire/compare_frames.py

pipewire_answers() { timeout 5 pw-cli info 0; }
# launch_pipewire: starts the daemon and does not wait for it.
launch_pipewire() {
  pipewire >"$WORK/pipewire.log" 2>&1 {TEST_OUTPUT}>&- &
  PIPEWIRE=$!
  STARTED+=("$PIPEWIRE")
}
# launch_session_manager: starts the session manager, which links nodes, and waits for it.
launch_session_manager() {
  wait_for 20 pipewire_answers || skip "PipeWire does not start: $(tail -n 1 "$WORK/pipewire.log")"
  wireplumber >"$WORK/wireplumber.log" 2>&1 {TEST_OUTPUT}>&- &
  WIREPLUMBER=$!
  STARTED+=("$WIREPLUMBER")
  wait_for 20 session_manager_answers || skip "WirePlumber does not start: $(tail -n 1 "$WORK/wireplumber.log")"
}
start_session() {
  launch_pipewire
  launch_session_manager
}
session_manager_answers() { pw-cli ls Client | grep -q 'application.name = "WirePlumber"'; }
stop_session() {
  kill "$WIREPLUMBER" "$PIPEWIRE" 2>/dev/null
  wait "$WIREPLUMBER" "$PIPEWIRE" 2>/dev/null
  rm -f "$XDG_RUNTIME_DIR"/pipewire-0*
}

# offer_node MODE: starts the test's own node, lensd_test_node.
offer_node() {
  "$LENSD_TEST_NODE" "$1" >"$WORK/node.log" 2>&1 &
  NODE=$!
  STARTED+=("$NODE")
  wait_for 10 node_there || fail "no node: $(<"$WORK/node.log")"
}
stop_node() {
  kill "$NODE" 2>/dev/null
  wait "$NODE" 2>/dev/null
  wait_for 10 node_gone || fail "the node stays"
}
node_there() { node_id "${NODE_NAME:-test-node}" >/dev/null; }
node_gone() { ! node_there; }
# node_id NAME: prints the ID of a node.
node_id() {
  pw-cli ls Node | awk -v name="node.name = \"$1\"" '/^[[:space:]]*id [0-9]+,/ { id = $2 + 0 }
    index($0, name) { print id; found = 1; exit } END { exit !found }'
}

# plays_on SECONDS: fails unless the daemon's source plays for this time, with new pictures and without a reconnection.
plays_on() {
  local until=$(($(now_ms) + $1 * 1000)) reconnects processed
  reconnects=$(field source reconnects) processed=$(counter processed)
  while (($(now_ms) < until)); do
    playing || fail "the source does not play on: $(ctl get source)"
    sleep 0.1
  done
  [[ $(field source reconnects) == "$reconnects" ]] || fail "the source was connected again: $(ctl get source)"
  (($(counter processed) > processed)) || fail "no further pictures: $(ctl get counters)"
  echo "ok: plays on for $1 s"
}

now_ms() { date +%s%3N; }

# State of the virtual camera.
camera() { field virtual-camera "$1"; }
camera_is() { [[ $(camera state) == "$1" ]]; }

# receive FILE FORMAT: starts a receiver that writes raw frames to FILE. It copies them at once, so that a slow disk does
# not keep the shared buffers.
receive() {
  gst-launch-1.0 -q pipewiresrc target-object="Test camera" always-copy=true ! "video/x-raw,format=$2" ! \
    queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! filesink buffer-mode=unbuffered location="$1" \
    >"$1.log" 2>&1 &
  RECEIVER=$!
  STARTED+=("$RECEIVER")
}
received() { [[ $(stat -c %s "$1" 2>/dev/null) -ge $2 ]]; }
# stop_receiver PROCESS: ends a receiver. A receiver ignores SIGINT until it plays, so send SIGINT every 2 s, at most
# five times, then SIGKILL.
stop_receiver() {
  local try
  receiver_gone() { ! kill -0 "$1" 2>/dev/null; }
  for ((try = 0; try < 5; ++try)); do
    kill -INT "$1" 2>/dev/null
    wait_for 2 receiver_gone "$1" && break
  done
  kill -KILL "$1" 2>/dev/null
  wait "$1" 2>/dev/null
}
