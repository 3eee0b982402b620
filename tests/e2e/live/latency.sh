#!/usr/bin/env bash
# The latency of live sources with local senders. latency.py describes the measurement.
#   LENSD_LONG=1 chrt -r 1 ctest --test-dir build -V -R live_latency      as root or on an idle machine
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools python3
python3 "${0%.sh}.py"
