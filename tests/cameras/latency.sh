#!/usr/bin/env bash
# The delay from the driver's stamp of a picture to the processed frame, with the kernel's simulated camera (vivid) at
# 30 pictures per second, with a filter that costs little: at most two frame times in 99 of 100 frames.
# LENSD_LATENCY_PROBE is the measuring program.
# shellcheck source=../e2e/common/daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/daemon.sh"
# shellcheck source=vivid.sh
. "$(dirname "${BASH_SOURCE[0]}")/vivid.sh"
[[ -x ${LENSD_LATENCY_PROBE:-} ]] || skip "LENSD_LATENCY_PROBE is not set"
RATE=30 LIMIT=67 # ms
SECONDS_MEASURED=${LENSD_LATENCY_SECONDS:-20}

json=$("$LENSD_LATENCY_PROBE" "v4l2:$CAMERA" "$SECONDS_MEASURED" --graph grayscale --camera 320x180@$RATE) ||
  fail "the camera cannot be measured: $json"
echo "$json"
read -r frames p99 <<<"$(python3 -c 'import json, sys; p = json.loads(sys.argv[1]); print(p["frames"], p["age"]["p99"])' "$json")"
((frames >= SECONDS_MEASURED * RATE / 2)) || fail "only $frames frames"
awk -v p99="$p99" -v limit=$LIMIT 'BEGIN { exit p99 > limit }' || fail "p99 is $p99 ms, more than two frame times"
echo "passed"
