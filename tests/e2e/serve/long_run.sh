#!/usr/bin/env bash
# The daemon under constant control traffic for a given time. long_run.py describes the measurement.
#   LENSD=build/lensd LENSD_LONG_SECONDS=1800 LENSD_LONG=1 tests/e2e/serve/long_run.sh
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools python3
python3 "$(dirname "$0")/long_run.py" "$WORK" || fail "the long run"
