#!/usr/bin/env bash
# Pictures that a PipeWire node marks as damaged are not shown but counted. If it delivers no others, the state gives
# this reason.
# shellcheck source=../common/pipewire.sh
. "$(dirname "$0")/../common/pipewire.sh"
need_tools curl
[[ -x ${LENSD_TEST_NODE:-} ]] || skip "the test's PipeWire node was not built"

metric() { curl -s -m 5 "http://127.0.0.1:$port/metrics" | sed -n 's/^lensd_camera_frames_lost_total{reason="broken"} //p'; }

start_session
offer_node damaged
port=$(free_port tcp)
LENSD_HTTP_AUTH=false LENSD_RECORD_CODEC=ffv1 start_daemon pipewire:test-node --backend=cpu --http "$port" --record "$WORK/shown.mkv"
enough() { (($(counter camera_broken) >= 60 && $(counter processed) >= 30)); }
wait_for 20 enough || fail "$(ctl get counters) $(ctl get source)"
[[ $(field source state) == playing ]] || fail "$(ctl get source)"
(($(metric) >= 60)) || fail "the metric is '$(metric)'"
broken=$(counter camera_broken) processed=$(counter processed)
stop_daemon
# A picture of noise would have other values; the state before the first picture is not recorded.
ffmpeg -v error -i "$WORK/shown.mkv" -f rawvideo -pix_fmt gray - | python3 -c 'import sys
values = set(sys.stdin.buffer.read())
sys.exit(0 if values == {100} else f"the pictures have the values {sorted(values)}")' || fail "a damaged picture was shown"
echo "ok: $processed pictures shown, $broken damaged ones counted"
stop_node

offer_node only-damaged
start_daemon pipewire:test-node --backend=cpu
only() { [[ $(ctl get source) == *"only damaged pictures"* ]]; }
wait_for 20 only || fail "no reason: $(ctl get source)"
stop_node
offer_node damaged
wait_for 20 playing || fail "does not recover: $(ctl get source)"
stop_daemon
echo "ok: a node with damaged pictures only"
