#!/usr/bin/env bash
# Misbehaving servers under lensd serve; live_control.py says what is tried, and what LENSD_LONG=1 adds.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_tools python3
python3 "${0%.sh}.py"
