#!/usr/bin/env bash
# Misbehaving servers under lensd serve; live_control.py says what is tried, and what LENSD_LONG=1 adds.
command -v python3 >/dev/null || { echo "SKIPPED: python3 is not installed"; exit 77; }
exec python3 "$(dirname "$0")/live_control.py"
