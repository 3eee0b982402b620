#!/usr/bin/env bash
# Live sources whose sender is killed and restarted: the picture must come back. restart.py has the details.
# By default, it makes 3 restarts with wide limits. LENSD_LONG=1 makes 100 with the product's limits, for an idle
# machine.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools python3
python3 "${0%.sh}.py"
