#!/usr/bin/env bash
# The Python programs in docs/guides/tracks.md run unmodified on a file that lensd wrote.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools python3

guide=$(dirname "$0")/../../../docs/guides/tracks.md
expect 0 test:testsrc2=size=320x240:rate=25 --headless --backend=cpu --frames 20 --graph klt --tracks "$WORK/tracks.csv"
awk -v to="$WORK/program" '/^```python/ { ++n; in_it = 1; next } /^```/ { in_it = 0 } in_it { print > (to n ".py") }' "$guide"
[[ -s $WORK/program1.py && -s $WORK/program2.py ]] || fail "the guide does not have two programs"

python3 "$WORK/program1.py" "$WORK/tracks.csv" >"$WORK/out" || fail "the guide's first program failed"
tracks=$(tail -n +2 "$WORK/tracks.csv" | cut -d, -f3 | sort -u | wc -l)
[[ $(head -n 1 "$WORK/out") == "$tracks tracks" && $tracks -gt 10 ]] || fail "$tracks tracks in the file, but: $(<"$WORK/out")"
[[ $(grep -c ' px$' "$WORK/out") == 5 ]] || fail "not five tracks: $(<"$WORK/out")"
python3 "$WORK/program2.py" "$WORK/tracks.csv" "$WORK/plot.svg" || fail "the guide's second program failed"
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$WORK/plot.svg" || fail "its SVG is not valid XML"
[[ $(grep -c '<rect' "$WORK/plot.svg") == 40 ]] || fail "its SVG does not have 40 bars"

# The guide explains every column and status in the file.
for column in $(head -n 1 "$WORK/tracks.csv" | tr , ' '); do
  grep -q "^| .*\`$column\`" "$guide" || fail "the guide does not explain the column $column"
done
for status in $(tail -n +2 "$WORK/tracks.csv" | cut -d, -f9 | sort -u); do
  grep -q "^| \`status\`.*\`$status\`" "$guide" || fail "the guide does not explain the status $status"
done
echo "ok: $tracks tracks, read and plotted"
