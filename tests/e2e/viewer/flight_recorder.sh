#!/usr/bin/env bash
# Flight recorder: the key and the button write a trace below $XDG_STATE_HOME. The trace is valid JSON with all threads,
# the queues, and flow events that link the events of a frame. With --trace-on drop, lost frames trigger a trace. No
# file is written to the working directory.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

need_tools python3
export XDG_STATE_HOME=$WORK/state
TRACES=$XDG_STATE_HOME/lensd/traces
mkdir "$WORK/here" && cd "$WORK/here" || exit 1
start_display

traces() { compgen -G "$TRACES/lensd-*-$1.json" | wc -l; }
has_traces() { (($(traces "$1") >= $2)); }

valid() {
  python3 - "$1" <<'PYTHON' || fail "$1 is not a valid trace"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
threads = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert {"decode thread", "process thread", "ui thread"} <= threads, threads
slices = [e for e in events if e["ph"] == "X"]
assert len(slices) > 20 and all(e["ts"] >= 0 and e["dur"] >= 0 for e in slices), len(slices)
assert any(e["name"] == "invert/invert" or e["name"].startswith("bilateral/") for e in slices)
assert any(e["ph"] == "C" and e["name"] == "decoded pictures waiting" for e in events)
phases = {p: sorted(e["id"] for e in events if e["ph"] == p) for p in "sf"}
assert phases["s"] and phases["s"] == phases["f"], "arrows begin and end alike"
PYTHON
}

start_viewer test:testsrc2=size=320x240:rate=25 --backend=cpu --graph invert
wait_for 30 place timings/trace || fail "the UI map has no timings/trace"
sleep 2 # some frames
xdotool key --window "$WINDOW" g
wait_for 20 has_traces key 1 || fail "key g wrote no trace: $(tail -n 3 "$WORK/viewer.err")"
click timings/trace
wait_for 20 has_traces key 2 || fail "the button wrote no trace"
for file in "$TRACES"/*.json; do valid "$file"; done
echo "ok: key and button"
quit_window

start_viewer test:testsrc2=size=1280x720:rate=60 --backend=cpu --threads 1 --trace-on drop \
  --graph bilateral=radius=7
wait_for 60 has_traces drop 1 || fail "lost frames wrote no trace: $(tail -n 3 "$WORK/viewer.err")"
for file in "$TRACES"/*-drop.json; do valid "$file"; done
(($(traces drop) == 1)) || fail "$(traces drop) traces within 10 s"
echo "ok: a lost frame"
[[ -z $(ls -A "$WORK/here") ]] || fail "a file was written to the working directory: $(ls -A "$WORK/here")"

refused 2 "--trace-on" test:testsrc2 --trace-on soon
