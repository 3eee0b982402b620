#!/usr/bin/env bash
# lensd serve with misbehaving servers. control.py describes the cases and LENSD_LONG=1.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools python3
python3 "${0%.sh}.py"
