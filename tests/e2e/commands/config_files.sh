#!/usr/bin/env bash
# The shipped configuration files and the graphs of the guides run, and a graph in TOML gives the same frames as the
# equivalent chain.
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

docs=$(dirname "$0")/../../..
found=0
while read -r option value; do
  expect 0 test:testsrc2=size=320x240 --headless --frames 1 -o null: "$option" "${value//\"/}"
  found=$((found + 1))
done < <(sed -n '/^```sh/,/^```$/p' "$docs"/README.md "$docs"/docs/*.md "$docs"/docs/guides/*.md |
  grep -oE -- '--graph ("[^"]*"|[a-z][^ ]*)|-c [a-z]+( |$)' | sort -u)
((found >= 10)) || fail "only $found graphs in the guides"
echo "ok: $found graphs in the guides"
