#!/usr/bin/env bash
# The latency of live sources with senders on this machine; live_latency.py says what is measured.
#   LENSD_LONG=1 chrt -r 1 ctest --test-dir build -V -R live_latency      as root, or on a quiet machine
command -v python3 >/dev/null || { echo "SKIPPED: python3 is not installed"; exit 77; }
exec python3 "$(dirname "$0")/live_latency.py"
