#!/usr/bin/env bash
# The shipped configuration files run, and a graph in TOML gives the same frames as the equivalent chain.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"

config=$(dirname "$0")/../../../config
found=0
for file in "$config"/*.toml "$config"/graphs/*.toml "$config"/presets/*.toml; do
  expect 0 test:testsrc2 --headless --frames 3 -c "$file" -o null:
  found=$((found + 1))
done
((found >= 3)) || fail "only $found configuration files in $config"
echo "ok: $found files"

hash() {
  expect 0 test:testsrc2 --headless --frames 10 --framehash "$WORK/$1" -o null: "${@:2}"
}
hash file -c "$config/graphs/denoise.toml"
hash chain --graph "median@denoise=radius=1,gaussian@soften=sigma=1.6"
diff <(frames "$WORK/file") <(frames "$WORK/chain") || fail "denoise.toml and its chain gave different frames"

hash set -c "$config/graphs/denoise.toml" --set soften.sigma=3
! diff -q <(frames "$WORK/file") <(frames "$WORK/set") >/dev/null || fail "--set changed nothing"

hash off -c "$config/graphs/denoise.toml" --set denoise.enabled=false --set soften.enabled=false
hash none
diff <(frames "$WORK/off") <(frames "$WORK/none") || fail "switched-off nodes did not pass the picture on"
echo "ok: chain, --set and enabled"
