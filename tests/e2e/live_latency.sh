#!/usr/bin/env bash
# The latency of live sources with senders on this machine; live_latency.py says what is measured.
#   LENSD_LONG=1 chrt -r 1 ctest --test-dir build -V -R live_latency      as root, or on a quiet machine
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_tools python3
python3 "${0%.sh}.py"
