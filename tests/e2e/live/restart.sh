#!/usr/bin/env bash
# Live sources whose sender is killed and restarted: the picture must come back. restart.py has the details.
# Normally some restarts with wide limits. LENSD_LONG=1 makes 100 with the product's own limits, for an idle machine.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools python3
python3 "${0%.sh}.py"
