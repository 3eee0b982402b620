#!/usr/bin/env bash
# Headless runs: all frames are written, and are identical with one and two threads.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"

graph="median=radius=1,gaussian=sigma=1.6,grayscale"
clip=$WORK/clip.mkv

expect 0 test:testsrc2 --headless --frames 50 -o "$clip"
[[ -s $clip ]] || fail "no clip was written"

for threads in 1 2; do
  expect 0 "$clip" --headless --backend=cpu --graph "$graph" --threads "$threads" \
    --framehash "$WORK/hash$threads" -o "$WORK/out$threads.mkv"
  count=$(frames "$WORK/hash$threads" | wc -l)
  [[ $count == 50 ]] || fail "$count frames hashed with $threads threads instead of 50"
done
diff <(frames "$WORK/hash1") <(frames "$WORK/hash2") || fail "1 and 2 threads gave different frames"
echo "ok: 50 frames, the same with 1 and 2 threads"

distinct=$(frames "$WORK/hash1" | grep -oE '[0-9a-f]{64}' | sort -u | wc -l)
((distinct >= 40)) || fail "only $distinct of 50 frames of a moving picture differ"

expect 0 "$clip" --headless --backend=cpu --framehash "$WORK/plain" -o null:
! diff -q <(frames "$WORK/plain") <(frames "$WORK/hash1") >/dev/null || fail "the graph changed nothing"

expect 0 "$WORK/out1.mkv" --headless --framehash "$WORK/again" -o null:
count=$(frames "$WORK/again" | wc -l)
[[ $count == 50 ]] || fail "the output has $count frames instead of 50 when read again"
echo "ok: the output can be read and has 50 frames"

expect 0 "$clip" --headless --graph "$graph" --frames 1 -o "$WORK/still.png"
[[ $(head -c 4 "$WORK/still.png" | tail -c 3) == PNG ]] || fail "still.png is not a PNG"

expect 0 "$clip" --headless --graph "$graph" --frames 10 --timings "$WORK/timings.csv" -o null:
for node in median gaussian grayscale; do
  grep -q "$node" "$WORK/timings.csv" || fail "timings.csv has no row for $node"
done
# Timings name the output file, whose name need not be UTF-8 or fit a CSV field.
odd=$WORK/$'odd\xff,"x.mkv'
for ending in json csv; do
  expect 0 "$clip" --headless --overwrite --frames 3 -o "$odd" --timings "$WORK/odd.$ending"
done
python3 -c 'import csv, json, sys
json.load(open(sys.argv[1] + ".json"))
with open(sys.argv[1] + ".csv", errors="replace", newline="") as file:
    sys.exit(len({len(row) for row in csv.reader(file)}) != 1)' "$WORK/odd" || fail "timings of $odd"
echo "ok: snapshot and timings"
