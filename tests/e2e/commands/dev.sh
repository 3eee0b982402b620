#!/usr/bin/env bash
# ./dev build: missing packages, Ctrl+C, an interrupted CMake run, a moved checkout, two runs at once. apt, dpkg, sudo,
# CMake, ninja, git and clang-tidy are faked.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools flock setsid

tree=$(cd "$(dirname "$0")/../../.." && pwd)
checkout="$WORK/a folder's name/lensd"
log=$WORK/calls.log
mkdir -p "$WORK/tools" "$checkout/cmake"
cp "$tree/dev" "$checkout"
cp "$tree/cmake/cuda_toolkit.sh" "$checkout/cmake"

# tool NAME: makes a program of this name from standard input. It appends its name and arguments to the log first.
tool() {
  { printf '#!/bin/bash\necho "%s $*" >>"%s"\n' "$1" "$log" && cat; } >"$WORK/tools/$1"
  chmod +x "$WORK/tools/$1"
}
tool sudo <<<'exec "$@"'
tool dpkg <<<'echo amd64'
# $STATES: lines of state and architecture of each package.
tool dpkg-query <<'FAKE'
[[ -n $STATES ]] || exit 1
echo "$STATES" | if [[ $* == *Architecture* ]]; then cat; else cut -d' ' -f1 | tr -d '\n'; fi
FAKE
# Ctrl+C: apt-get and pip end with an ordinary exit code.
tool apt-get <<<'trap "exit 100" INT; sleep "${APT_SECONDS:-0}"'
tool cmake <<'FAKE'
[[ ${CMAKE_FAILS:-} != 1 ]] || exit 1
while [[ $1 != -B ]]; do shift; done
mkdir -p "$2" && : >"$2/build.ninja"
FAKE
# A slow ninja waits up to 20 s until the other run prints that it waits.
tool ninja <<FAKE
for ((i = 0; i < 400 * \${SLOW:-0}; ++i)); do
  ! grep -q 'waiting for' "$WORK/out" || break
  sleep 0.05
done
echo "ninja ends" >>"$log"
FAKE

# dev ARGS…: runs ./dev in the checkout. Its output is in $WORK/out, the calls of the tools are in the log.
dev() {
  : >"$log"
  (cd "$checkout" && env -u LENSD_CUDA_ARCHS -u LENSD_UNITY_TESTS -u LENSD_TESTS -u LENSD_BENCH -u LENSD_PEERS \
    LENSD_CUDA=off PATH="$WORK/tools:$PATH" "$@") >"$WORK/out" 2>&1 </dev/null
}
calls() { grep -c "^$1" "$log"; }

export STATES='installed amd64'
dev ./dev build || fail "the first build: $(<"$WORK/out")"
[[ $(calls apt-get) == 0 && $(calls cmake) == 1 && $(calls 'ninja .*lensd') == 1 ]] || fail "the first build runs $(<"$log")"
STATES=$'installed amd64\ninstalled i386' dev ./dev build || fail "a package for two architectures: $(<"$WORK/out")"
[[ $(calls apt-get) == 0 && $(calls cmake) == 0 ]] || fail "with a package for two architectures: $(grep -v ^dpkg "$log")"
STATES='installed all' dev ./dev build
[[ $(calls apt-get) == 0 ]] || fail "a package for all architectures is installed again"
for STATES in '' 'installed i386' 'config-files amd64' 'half-configured amd64'; do
  dev ./dev build
  [[ $(calls apt-get) == 1 ]] || fail "state '$STATES': the package is not installed"
done
STATES='installed amd64'
echo "ok: only missing packages are installed"

# Ctrl+C signals the whole process group once. env, because a job in the background ignores INT.
STATES='' APT_SECONDS=60 dev bash -c 'env --default-signal=INT setsid ./dev build &
  until grep -q ^apt-get "$1"; do sleep 0.05; done
  kill -INT -- "-$!"
  wait "$!"' bash "$log"
code=$?
[[ $code == 130 ]] || fail "Ctrl+C: exit code $code, $(<"$WORK/out")"
(($(calls apt-get) <= 1 && $(calls cmake) == 0)) || fail "after Ctrl+C, ./dev runs $(grep -v ^dpkg "$log")"
echo "ok: Ctrl+C during apt-get ends ./dev"

CMAKE_FAILS=1 dev env LENSD_CUDA_ARCHS=75 ./dev build && fail "a failure of CMake is ignored"
dev ./dev build || fail "after an interrupted CMake run: $(<"$WORK/out")"
[[ $(calls cmake) == 1 ]] || fail "after an interrupted CMake run, the folder is not configured again"
mv "$checkout" "$WORK/moved" && checkout=$WORK/moved
dev ./dev build || fail "in a moved checkout: $(<"$WORK/out")"
[[ $(calls cmake) == 1 ]] || fail "a moved checkout is not configured again"
dev ./dev build
[[ $(calls cmake) == 0 ]] || fail "CMake runs without a change"
mkdir -p "$WORK/elsewhere/moved"
dev env CDPATH="$WORK/elsewhere:$WORK" bash -c 'cd "$1" && exec bash moved/dev build' bash "$WORK" || fail "CDPATH: $(<"$WORK/out")"
echo "ok: the build folder is configured if needed"

dev bash -c 'SLOW=1 ./dev build & while ! grep -q ^ninja "$1"; do sleep 0.05; done; ./dev build; wait' bash "$log"
[[ $(grep ^ninja "$log") == "ninja "*$'\nninja ends\nninja '*$'\nninja ends' ]] || fail "two runs at once: $(grep -v ^dpkg "$log")"
grep -q 'waiting for another ./dev' "$WORK/out" || fail "the second run does not say that it waits: $(<"$WORK/out")"

echo 'make_packages() { ninja package; }' >"$checkout/cmake/package.sh"
dev bash -c 'SLOW=1 ./dev package & while ! grep -q ^ninja "$1"; do sleep 0.05; done; ./dev package; wait' bash "$log"
[[ $(grep ^ninja "$log") == $'ninja package\nninja ends\nninja package\nninja ends' ]] ||
  fail "two ./dev package at once: $(grep -v ^dpkg "$log")"
grep -q 'waiting for another ./dev package' "$WORK/out" || fail "the second one does not say that it waits: $(<"$WORK/out")"

tool git <<<'echo a.cpp'
tool "clang-tidy-$(sed -n 's/^clang_version=\([0-9]*\).*/\1/p' "$tree/dev")" <<<'flock --nonblock build/dev-lock true'
dev ./dev tidy || fail "./dev tidy keeps the lock of the build: $(<"$WORK/out")"
[[ $(calls clang-tidy) == 1 ]] || fail "./dev tidy runs $(grep -v ^dpkg "$log")"
echo "ok: two runs do not build at the same time"
