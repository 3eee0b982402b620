# shellcheck shell=bash
# Runs the program and checks its results. Each end-to-end test is a bash script that sources this file, viewer.sh or
# daemon.sh. ctest starts the script with LENSD set to the program. The script exits with 0 (passed), 1 (failed) or 77
# (skipped, with the reason on standard output).
! declare -F need_tools >/dev/null || return 0 # already sourced
set -u

: "${LENSD:?set LENSD to the program under test}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/lensd-e2e.XXXXXX")
# Tests neither read nor change the user's presets and remembered state.
export XDG_CONFIG_HOME=$WORK/config XDG_STATE_HOME=$WORK/state
exec {TEST_OUTPUT}>&1
STARTED=() # process ids to kill at the end of the test

cleanup() {
  local pid
  for pid in "${STARTED[@]}"; do kill "$pid" 2>/dev/null; done
  wait 2>/dev/null
  rm -rf "$WORK"
}
trap cleanup EXIT

# fail WHY: ends the test. With LENSD_E2E_FAILED=FOLDER, tests of the viewer save a screenshot, the viewer's messages
# and the UI map there.
fail() {
  echo "FAILED: $*" >&"$TEST_OUTPUT" # standard output is /dev/null inside wait_for
  if [[ -n ${LENSD_E2E_FAILED:-} ]]; then
    local left=$LENSD_E2E_FAILED/$(basename "$(dirname "$0")")_$(basename "$0" .sh).$$
    [[ -z ${WINDOW:-} ]] || import -silent -window root "$left.png"
    cp "$WORK/viewer.err" "$left.err" 2>/dev/null
    cp "$WORK/ui-map" "$left.map" 2>/dev/null
  fi
  exit 1
}

skip() {
  echo "SKIPPED: $*"
  exit 77
}

# The system's Python has the modules that the tests' packages install; another one may be first on PATH.
if [[ -x /usr/bin/python3 && $(command -v python3) != /usr/bin/python3 ]]; then
  mkdir "$WORK/bin"
  ln -s /usr/bin/python3 "$WORK/bin/python3"
  PATH=$WORK/bin:$PATH
fi

# need_tools TOOL…: skips the test if one of the tools is not installed.
need_tools() {
  local tool
  for tool in "$@"; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
}

# lensd ARGS…: runs the program for at most a minute. Sets CODE to its exit code; its output is in $WORK/stdout and
# $WORK/stderr.
lensd() {
  timeout --kill-after=5 60 "$LENSD" "$@" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null
  CODE=$?
}

# expect CODE ARGS…: runs the program and fails if its exit code differs.
expect() {
  local wanted=$1
  shift
  lensd "$@"
  [[ $CODE == "$wanted" ]] && return
  sed 's/^/  /' "$WORK/stderr"
  fail "lensd $* gave exit code $CODE instead of $wanted"
}

# refused CODE TEXT ARGS…: expects the exit code and exactly one line on standard error that contains TEXT.
refused() {
  local wanted=$1 text=$2
  shift 2
  expect "$wanted" "$@"
  local lines
  lines=$(wc -l <"$WORK/stderr")
  if [[ $lines != 1 ]]; then
    sed 's/^/  /' "$WORK/stderr"
    fail "lensd $* wrote $lines lines on standard error instead of one"
  fi
  grep -qF -- "$text" "$WORK/stderr" || fail "lensd $*: '$(<"$WORK/stderr")' does not name '$text'"
  echo "ok: $(<"$WORK/stderr")"
}

# frames FILE: prints the lines of a frame-hash file without comments.
frames() {
  grep -v '^#' "$1"
}

# wait_for SECONDS COMMAND…: repeats the command until it succeeds. Returns 1 after the timeout.
wait_for() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

# free_port tcp|udp: prints a free port of the loopback interface.
free_port() {
  python3 -c 'import socket, sys
with socket.socket(type=socket.SOCK_DGRAM if sys.argv[1] == "udp" else socket.SOCK_STREAM) as s:
    s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' "$1"
}
