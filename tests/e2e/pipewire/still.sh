#!/usr/bin/env bash
# A node of variable rate that sends one picture and then nothing plays on. A camera of fixed rate that does so is stalled.
# shellcheck source=../common/pipewire.sh
. "$(dirname "$0")/../common/pipewire.sh"
[[ -x ${LENSD_TEST_NODE:-} ]] || skip "the test's PipeWire node was not built"

stalled() { [[ $(field source state) == stalled ]]; }
reconnected() { (($(field source reconnects) > 0)); }

start_session
offer_node still
start_daemon pipewire:test-node --backend=cpu
wait_for 10 playing || fail "does not play: $(ctl get source)"
plays_on 5
(($(counter camera_broken) == 0 && $(counter camera_missed) == 0)) || fail "counted as lost: $(ctl get counters)"
stop_node
wait_for 5 away || fail "the end of the node is not noticed: $(ctl get source)"
offer_node still
wait_for 10 playing || fail "does not come back: $(ctl get source)"
stop_daemon

expect 0 pipewire:test-node --headless --frames 5 --backend=cpu -o "$WORK/still_%d.png"
[[ $(identify -format '%[fx:round(255*minima)] %[fx:round(255*maxima)]' "$WORK/still_5.png") == "100 100" ]] ||
  fail "the repeated picture has other values: $(identify -format '%[fx:minima] %[fx:maxima]' "$WORK/still_5.png")"
stop_node

offer_node frozen
start_daemon pipewire:test-node --backend=cpu
wait_for 10 playing || fail "does not play: $(ctl get source)"
wait_for 5 stalled || fail "a camera that hangs is not stalled: $(ctl get source)"
wait_for 10 reconnected || fail "a camera that hangs is not connected again: $(ctl get source)"
echo "ok: a camera that hangs is stalled"
stop_daemon
