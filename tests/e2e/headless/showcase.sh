#!/usr/bin/env bash
# The shipped configuration files are valid, and the largest graph (twelve nodes in two branches) gives identical frames
# with one and two threads.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"

config=$(dirname "$0")/../../../config
shopt -s globstar
files=("$config"/**/*.toml)
((${#files[@]} >= 7)) || fail "only ${#files[@]} configuration files in $config"
expect 0 check "${files[@]}"
[[ $(grep -c ': ok$' "$WORK/stdout") == "${#files[@]}" ]] || fail "'lensd check' says: $(<"$WORK/stdout")"
echo "ok: ${#files[@]} files are valid"

showcase=$config/graphs/showcase.toml
source=test:testsrc2=size=322x181:rate=25
[[ $(grep -c '^\[\[node\]\]' "$showcase") == 12 ]] || fail "showcase.toml does not have 12 nodes"
expect 0 "$source" --headless --frames 20 -o "$WORK/clip.avi"

for threads in 1 2; do
  expect 0 "$WORK/clip.avi" --headless --backend=cpu -c "$showcase" --threads "$threads" \
    --overwrite --framehash "$WORK/hash$threads" --timings "$WORK/timings.csv" -o null:
  [[ $(frames "$WORK/hash$threads" | wc -l) == 20 ]] || fail "not 20 frames with $threads threads"
done
diff <(frames "$WORK/hash1") <(frames "$WORK/hash2") || fail "1 and 2 threads gave different frames"
for node in steady clean soften edges glow tint balance stretch crisp base drawn finish; do
  grep -q "^$node," "$WORK/timings.csv" || fail "$node did not run: $(cut -d, -f1 "$WORK/timings.csv" | sort -u | tr '\n' ' ')"
done
echo "ok: 12 nodes, 20 frames, the same with 1 and 2 threads"

# Both branches reach the output.
for switched in edges base; do
  expect 0 "$WORK/clip.avi" --headless -c "$showcase" --set "$switched.enabled=false" --overwrite --framehash "$WORK/without" -o null:
  ! diff -q <(frames "$WORK/hash1") <(frames "$WORK/without") >/dev/null || fail "$switched changes nothing"
done
echo "ok: both branches reach the output"
