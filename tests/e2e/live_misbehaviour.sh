#!/usr/bin/env bash
# Live sources with real senders on this machine; live_misbehaviour.py says what is tried.
# Holds the program to deadlines of a second, which a machine that is busy with other things cannot promise.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
[[ -n ${LENSD_LONG:-} ]] || skip "measures times; set LENSD_LONG=1 on a quiet machine"
need_tools python3
python3 "${0%.sh}.py"
