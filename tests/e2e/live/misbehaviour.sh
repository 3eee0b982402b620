#!/usr/bin/env bash
# Live sources whose servers hang, reset or send wrong data: the program shows the reason and stops when asked.
# misbehaviour.py lists the cases. LENSD_LONG=1 applies the product's own limits, for an idle machine.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools python3
python3 "${0%.sh}.py"
