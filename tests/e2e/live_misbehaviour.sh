#!/usr/bin/env bash
# Live sources with real senders on this machine; live_misbehaviour.py says what is tried.
# Holds the program to deadlines of a second, which a machine that is busy with other things cannot promise.
if [[ -z ${LENSD_LONG:-} ]]; then
  echo "SKIPPED: measures times; set LENSD_LONG=1 on a quiet machine"
  exit 77
fi
command -v python3 >/dev/null || { echo "SKIPPED: python3 is not installed"; exit 77; }
exec python3 "$(dirname "$0")/live_misbehaviour.py"
