#!/usr/bin/env bash
# The output of --version, --help, filters, check, doctor and bench.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"

expect 0 --version
grep -qE '^lensd [0-9]+\.[0-9]+\.[0-9]+' "$WORK/stdout" || fail "--version says '$(<"$WORK/stdout")'"

expect 0 --help
for option in --graph --set --config --backend --threads --headless --output --frames; do
  grep -q -- "$option" "$WORK/stdout" || fail "--help does not list $option"
done

expect 0 filters
for filter in gaussian grayscale invert median mosaic; do
  grep -q "$filter" "$WORK/stdout" || fail "'lensd filters' does not list $filter"
done

# The lists of the window and of the page search names and descriptions.
for pair in blur:box blur:gaussian noise:median noise:bilateral edge:sobel edge:canny pixelate:mosaic scale:resize \
  track:klt overlay:blend mirror:flip sharpen:unsharp contrast:levels; do
  grep "^${pair#*:} " "$WORK/stdout" | grep -q "${pair%:*}" || fail "a search for ${pair%:*} does not find ${pair#*:}"
done

expect 0 filters median
grep -q radius "$WORK/stdout" || fail "'lensd filters median' does not list its parameter"

printf '[[node]]\nfilter = "median"\nradius = 2\n' >"$WORK/good.toml"
printf '[[node]]\nfilter = "median"\nradius = 99\ncolour = 1\n' >"$WORK/bad.toml"
expect 0 check "$WORK/good.toml"
expect 3 check "$WORK/good.toml" "$WORK/bad.toml"
for problem in bad.toml:3: bad.toml:4:; do
  grep -q "$problem" "$WORK/stderr" || fail "'lensd check' does not report $problem: $(<"$WORK/stderr")"
done

printf '[http]\ntoken_file = "%s/token"\n' "$WORK" >"$WORK/http.toml"
expect 3 check "$WORK/http.toml"
grep -q 'http.toml:2:14: http.token_file: .*no such file' "$WORK/stderr" ||
  fail "'lensd check' does not look for the token's file: $(<"$WORK/stderr")"
echo 12345678 >"$WORK/token"
expect 0 check "$WORK/http.toml"

expect 0 doctor
grep -qi cpu "$WORK/stdout" || fail "'lensd doctor' does not mention the CPU backend"
if [[ ! -e /dev/nvidiactl ]]; then
  grep -qiE 'driver|CUDA' "$WORK/stdout" || fail "'lensd doctor' does not say why there is no CUDA backend"
fi

grep -q 'lensd doctor' "$WORK/stdout" && fail "'lensd doctor' refers to itself: $(<"$WORK/stdout")"

expect 0 bench invert --backend cpu --threads 1 --size 64x48 --json
python3 -c 'import json, sys; rows = [json.loads(l) for l in sys.stdin]
assert [r["kernel"] for r in rows] == ["invert Gray8", "invert RGBA8", "invert Gray16", "invert RGBA16"] and all(r["cold_us"] > 0 for r in rows), rows' \
  <"$WORK/stdout" || fail "'lensd bench' printed $(<"$WORK/stdout")"
CUDA_VISIBLE_DEVICES='' expect 0 bench invert --threads 1 --size 64x48 --json
grep -q '^CUDA: .* (.*)$' "$WORK/stderr" || fail "'lensd bench' does not say how to get CUDA: $(<"$WORK/stderr")"
expect 3 bench no_such_filter
expect 2 bench invert --size enormous

# Lost output is a failure with a reason. A closed pipe ends the program without a message.
lost() {
  timeout 20 "$LENSD" "$@" >/dev/full 2>"$WORK/stderr" </dev/null
  local code=$?
  [[ $code == 1 && $(<"$WORK/stderr") == "lensd: standard output: cannot be written: No space left on device" ]] ||
    fail "lensd $* to a full device gave exit code $code: $(<"$WORK/stderr")"
}
for command in --help --version "filters --json" "filters median" manual doctor "completion bash" "check $WORK/good.toml"; do
  read -ra words <<<"$command"
  lost "${words[@]}"
done
mkfifo "$WORK/pipe"
for command in --version "filters --json"; do
  read -ra words <<<"$command"
  exec {reader}<>"$WORK/pipe" {writer}>"$WORK/pipe" {reader}<&-
  "$LENSD" "${words[@]}" >&"$writer" 2>"$WORK/stderr" {writer}>&-
  code=$?
  exec {writer}>&-
  [[ $code == 141 && ! -s $WORK/stderr ]] || fail "lensd $command to a closed pipe gave exit code $code: $(<"$WORK/stderr")"
done
echo "ok"
