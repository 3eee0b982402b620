#!/usr/bin/env bash
# The daemon for as long as is wanted, under control all the while; long_run.py says what is measured.
#   LENSD=build/lensd LENSD_LONG_SECONDS=1800 LENSD_LONG=1 tests/e2e/long_run.sh
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need_tools python3
python3 "$(dirname "$0")/long_run.py" "$WORK" || fail "the long run"
