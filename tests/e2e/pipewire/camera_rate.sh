#!/usr/bin/env bash
# The virtual camera offers the rate of its source, also if the source appears after the start.
# shellcheck source=../common/pipewire.sh
. "$(dirname "$0")/../common/pipewire.sh"
[[ -x ${LENSD_TEST_NODE:-} ]] || skip "the test's PipeWire node was not built"

# offered: prints the offered rates of the virtual camera.
offered() {
  pw-dump | python3 -c '
import json, sys
for node in json.load(sys.stdin):
    info = node.get("info") or {}
    if (info.get("props") or {}).get("node.description") != "Rate": continue
    for offer in (info.get("params") or {}).get("EnumFormat") or []:
        rate = offer.get("framerate") or {}
        print(rate.get("num"), rate.get("denom"))' 2>/dev/null | sort -u
}
offers() { [[ $(offered) == "$1" ]]; }

start_session
start_daemon pipewire:test-node --backend=cpu --virtual-camera Rate
wait_for 10 offers "0 1" || fail "before the source is there: $(offered), $(ctl get virtual-camera)"
offer_node damaged # 50 pictures per second
wait_for 20 playing || fail "does not play: $(ctl get source)"
wait_for 10 offers "50 1" || fail "the camera offers another rate than 50: $(offered)"
stop_daemon
echo "ok: the rate of a source that appears later"
