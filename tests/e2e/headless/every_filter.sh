#!/usr/bin/env bash
# Every filter runs on tiny pictures and odd sizes, and all errors of a graph are reported.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools identify

# ---- every filter with its defaults, on difficult sizes ---------------------------------------

size_of() { identify -format '%wx%h' "$1" 2>/dev/null; }

# size_after FILTER W H: prints the output size of a filter with its defaults.
size_after() {
  case $1 in
    rotate) echo "$3x$2" ;;
    resize) echo "$((($2 + 1) / 2))x$((($3 + 1) / 2))" ;; # half, rounded half up, at least 1
    *) echo "$2x$3" ;;
  esac
}

expect 0 filters --json
mapfile -t names < <(grep -oP '^    "name": "\K[a-z0-9_]+' "$WORK/stdout")
mapfile -t least < <(grep -oP '^    "min_inputs": \K[0-9]+' "$WORK/stdout")
mapfile -t most < <(grep -oP '^    "max_inputs": \K[0-9]+' "$WORK/stdout")
mapfile -t readers < <(grep -oP '^    "needs_tracks": \K[a-z]+' "$WORK/stdout")
((${#names[@]} >= 24 && ${#names[@]} == ${#readers[@]} && ${#names[@]} == ${#least[@]} && ${#names[@]} == ${#most[@]})) ||
  fail "'lensd filters --json' lists ${#names[@]} names, ${#least[@]} and ${#most[@]} numbers of inputs"

# two_inputs FILTER: prints a graph with a filter of two inputs, the source and its negative.
two_inputs() {
  printf '[[node]]\nid = "other"\nfilter = "invert"\n[[node]]\nfilter = "%s"\ninputs = ["source", "other"]\n' "$1"
}

runs=0
for size in 1x1 1x7 3x3 17x31 64x48; do
  width=${size%x*} height=${size#*x}
  frame=$WORK/frame-$size.png
  expect 0 test:testsrc2 --headless -q --frames 1 --graph "crop=x=120:y=60:width=$width:height=$height" -o "$frame"
  [[ $(size_of "$frame") == "$size" ]] || fail "crop made $(size_of "$frame") instead of $size"
  for i in "${!names[@]}"; do
    name=${names[i]} out=$WORK/out.png before=
    if [[ ${readers[i]} == true ]]; then
      printf '%s\n' "${names[@]}" | grep -qx klt || continue
      before=klt,
    fi
    wanted=$(size_after "$name" "$width" "$height")
    if ((least[i] == 1)); then
      rm -f "$out"
      expect 0 "$frame" -q --graph "$before$name" -o "$out"
      [[ $(size_of "$out") == "$wanted" ]] || fail "$name on $size gave '$(size_of "$out")' instead of $wanted"
      runs=$((runs + 1))
    fi
    if ((most[i] > 1)); then
      rm -f "$out"
      two_inputs "$name" >"$WORK/two.toml"
      expect 0 "$frame" -q -c "$WORK/two.toml" -o "$out"
      [[ $(size_of "$out") == "$wanted" ]] || fail "$name of two on $size gave '$(size_of "$out")' instead of $wanted"
      runs=$((runs + 1))
    fi
  done
done
echo "ok: ${#names[@]} filters on 5 sizes, $runs runs"

# ---- invalid parameters: filter, key, value and the allowed values on one line --------------------------

# bad GRAPH TEXT…: expects one line that contains each text.
bad() {
  local graph=$1 text
  shift
  refused 3 "$1" "$WORK/frame-3x3.png" --graph "$graph" -o null:
  for text in "$@"; do
    grep -qF -- "$text" "$WORK/stderr" || fail "'$(<"$WORK/stderr")' does not name '$text'"
  done
}

ones() { printf '1 %.0s' $(seq "$1"); }

bad median=radios=1 median radios "radius, border"
bad invert=amount=1 invert amount "has none"
bad median=radius=99 median radius 99 "a whole number 1 to"
bad median=radius=0 median radius 0 "a whole number 1 to"
bad median=radius=1.5 median radius 1.5 "a whole number 1 to"
bad median=radius=wide median radius wide "a whole number 1 to"
bad median=radius= median radius "''" "a whole number 1 to"
bad median=radius median radius parameter=value
bad median=radius=1:radius=2 median radius twice
bad median=enabled=maybe median enabled maybe "true or false"
bad median=border=round median border round "replicate, reflect"
bad gaussian=sigma=nan gaussian sigma nan "a number 0.1 to 20"
bad gaussian=sigma=-inf gaussian sigma -inf "a number 0.1 to 20"
bad gaussian=sigma=1e308 gaussian sigma 1e308 "a number 0.1 to 20"
bad gaussian=sigma=thick gaussian sigma thick "a number 0.1 to 20"
bad canny=aperture=4 canny aperture 4 "an odd number 3 to 7"
bad threshold=otsu=perhaps threshold otsu perhaps "true or false"
bad resize=width=99999 resize width 99999 "0 to 16384"
bad "convolve=kernel=1 2" convolve kernel "1 2" "odd height and width up to 15×15"
bad "convolve=kernel=1 2 1;2 4" convolve kernel "1 2 1;2 4" "odd height and width"
bad "convolve=kernel=$(ones 17)" convolve kernel "1 1 1" "up to 15×15"
bad "convolve=kernel=nan" convolve kernel nan "finite numbers"
bad "convolve=kernel=one" convolve kernel one "finite numbers"
bad "convolve=kernel=" convolve kernel "''" "odd height and width"
bad convolve=preset=blurry convolve preset blurry identity
bad "convolve=compose=[smudge]" convolve compose smudge gaussian
bad blend "blend takes 2 inputs, not 1"
bad "median=radius=77,gaussian=sigma=0,smudge" "radius = '77'" "sigma = '0'" smudge

# bad_file LINE FILTER TEXT…: like bad, with LINE as the parameter in a TOML file. The message must also have file and
# line.
bad_file() {
  local line=$1 text
  shift
  printf '[[node]]\nfilter = "%s"\n%s\n' "$1" "$line" >"$WORK/bad.toml"
  refused 3 bad.toml:3: "$WORK/frame-3x3.png" -c "$WORK/bad.toml" -o null:
  for text in "$@"; do
    grep -qF -- "$text" "$WORK/stderr" || fail "'$(<"$WORK/stderr")' does not name '$text'"
  done
}

bad_file 'radios = 1' median radios
bad_file 'radius = "1"' median "radius = '1'" "a whole number 1 to"
bad_file 'radius = true' median radius true "a whole number 1 to"
bad_file 'radius = 2.5' median radius 2.5 "a whole number 1 to"
bad_file 'radius = { a = 1 }' median radius "a whole number 1 to"
bad_file 'sigma = nan' gaussian sigma nan "a number 0.1 to 20"
bad_file 'sigma = inf' gaussian sigma inf "a number 0.1 to 20"
bad_file 'sigma = 1e308' gaussian sigma 1e+308 "a number 0.1 to 20"
bad_file 'border = 3' median border 3 "replicate, reflect"
bad_file 'kernel = [[1, 2], [3, 4]]' convolve kernel "[[1, 2], [3, 4]]" "odd height and width"
bad_file 'kernel = [[1, 2, 3], [4, 5]]' convolve kernel "4, 5" "odd height and width"
bad_file 'kernel = [[1, "two", 3]]' convolve kernel two "finite numbers"
bad_file 'kernel = 3' convolve kernel 3 "rows of finite numbers"
bad_file "kernel = [[$(ones 17 | sed 's/ $//; s/ /, /g')]]" convolve kernel "up to 15×15"
bad_file 'enabled = "yes"' median enabled "true or false"

# ---- invalid graphs: all errors at once, with the nodes' names ------------------------------------------

# graph_refused TEXT…: expects that $WORK/graph.toml is rejected with a report that contains each text.
graph_refused() {
  local text
  expect 3 "$WORK/frame-17x31.png" -c "$WORK/graph.toml" -o null:
  for text in "$@"; do
    grep -qF -- "$text" "$WORK/stderr" || fail "the report does not have '$text': $(<"$WORK/stderr")"
  done
  sed 's/^/ok: /' "$WORK/stderr"
}

cat >"$WORK/graph.toml" <<'TOML'
[graph]
output = "nowhere"
[[node]]
id = "chicken"
filter = "median"
input = "egg"
[[node]]
id = "egg"
filter = "box"
input = "chicken"
[[node]]
id = "eater"
filter = "invert"
input = "egg"
[[node]]
id = "lonely"
filter = "blend"
input = "source"
[[node]]
id = "crowded"
filter = "gaussian"
inputs = ["source", "source"]
[[node]]
id = "lost"
filter = "invert"
input = "nobody"
[[node]]
id = "odd"
filter = "smudge"
[[node]]
id = "wrong"
filter = "median"
radius = 77
[[node]]
id = "twin"
filter = "invert"
input = "source"
[[node]]
id = "twin"
filter = "invert"
input = "source"
TOML
graph_refused "a cycle through chicken, egg" "lonely: blend takes 2 inputs, not 1" \
  "crowded: gaussian takes 1 input, not 2" "'nobody' is not a node" "odd: there is no filter 'smudge'" \
  "radius = 77" "two nodes have the id 'twin'" "output 'nowhere' is not a node"
! grep -q "cycle.*eater" "$WORK/stderr" || fail "eater is not on the cycle"
[[ $(wc -l <"$WORK/stderr") == 8 ]] || fail "8 problems are $(wc -l <"$WORK/stderr") lines"

cat >"$WORK/graph.toml" <<'TOML'
[graph]
output = "both"
[[node]]
id = "small"
filter = "resize"
input = "source"
[[node]]
id = "one"
filter = "blend"
inputs = ["source", "small"]
[[node]]
id = "two"
filter = "difference"
inputs = ["small", "source"]
[[node]]
id = "both"
filter = "blend"
inputs = ["one", "two"]
TOML
graph_refused "one: its inputs differ in size: source is 17×31, small is" "two: its inputs differ in size: small is" \
  "both: its inputs differ in size: one is 17×31, two is"
