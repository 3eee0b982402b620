#!/usr/bin/env bash
# Live sources with real senders on this machine; live_misbehaviour.py says what is tried.
command -v python3 >/dev/null || { echo "SKIPPED: python3 is not installed"; exit 77; }
exec python3 "$(dirname "$0")/live_misbehaviour.py"
