# shellcheck shell=bash
# Helpers of the end-to-end tests. Each test is a bash script that ctest starts with LENSD set to the program;
# it exits 0 (passed), 1 (failed) or 77 (skipped, with the reason on standard output).
set -u

: "${LENSD:?set LENSD to the program under test}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/lensd-e2e.XXXXXX")
# The user's own presets and remembered sizes have no part in a test, nor a test in them.
export XDG_CONFIG_HOME=$WORK/config XDG_STATE_HOME=$WORK/state
exec {SAID}>&1
STARTED=() # process ids to end when the test does

cleanup() {
  local pid
  for pid in "${STARTED[@]}"; do kill "$pid" 2>/dev/null; done
  wait 2>/dev/null
  rm -rf "$WORK"
}
trap cleanup EXIT

# fail WHY: ends the test. With LENSD_E2E_FAILED=FOLDER a picture of the screen and what the program wrote are left there.
fail() {
  echo "FAILED: $*" >&"$SAID" # also where the output of what waits is thrown away
  if [[ -n ${LENSD_E2E_FAILED:-} ]]; then
    local left=$LENSD_E2E_FAILED/$(basename "$0" .sh).$$
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

# need_tools TOOL…: skips the test where one is not installed.
need_tools() {
  local tool
  for tool in "$@"; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
}

# lensd ARGS…: runs the program to its end, at most a minute. Its exit code is left in CODE, its output in
# $WORK/stdout and $WORK/stderr.
lensd() {
  timeout --kill-after=5 60 "$LENSD" "$@" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null
  CODE=$?
}

# expect CODE ARGS…: runs the program and insists on its exit code.
expect() {
  local wanted=$1
  shift
  lensd "$@"
  [[ $CODE == "$wanted" ]] && return
  sed 's/^/  /' "$WORK/stderr"
  fail "lensd $* gave exit code $CODE instead of $wanted"
}

# refused CODE TEXT ARGS…: the exit code, and exactly one line on standard error, which contains TEXT.
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

# frames FILE: the lines of a frame-hash file without its comments.
frames() {
  grep -v '^#' "$1"
}

# wait_for SECONDS COMMAND…: tries the command until it succeeds.
wait_for() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

# free_port tcp|udp: a port of the loopback that nobody has just now.
free_port() {
  python3 -c 'import socket, sys
with socket.socket(type=socket.SOCK_DGRAM if sys.argv[1] == "udp" else socket.SOCK_STREAM) as s:
    s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' "$1"
}

# A display of the test's own, of $SCREEN pixels and bits, so that it neither moves the user's pointer nor depends
# on a window manager. Its number comes from the test's process id: a server that looks for a free number itself may
# take that of one just ending, which then removes the new one's socket. Without -noreset it would begin anew, and
# refuse whoever connects meanwhile, each time its last client leaves.
start_display() {
  need_tools Xvfb xdotool import convert compare
  local ready=$WORK/display number=$((1000 + $$ % 50000))
  Xvfb ":$number" -displayfd 3 -screen 0 "${SCREEN:-1280x800x24}" -nolisten tcp -noreset \
    3>"$ready" 2>"$WORK/xvfb.log" &
  STARTED+=($!)
  wait_for 30 test -s "$ready" || fail "Xvfb did not start: $(<"$WORK/xvfb.log")"
  export DISPLAY=:$number
  unset WAYLAND_DISPLAY
}

viewer_window() {
  WINDOW=$(xdotool search --onlyvisible --pid "$VIEWER" | tail -n 1)
  [[ -n $WINDOW ]]
}

# start_viewer ARGS…: starts the program with a window. Sets VIEWER (its process id) and WINDOW.
start_viewer() {
  export LENSD_UI_MAP=$WORK/ui-map
  "$LENSD" "$@" >"$WORK/viewer.out" 2>"$WORK/viewer.err" </dev/null &
  VIEWER=$!
  STARTED+=("$VIEWER")
  wait_for 30 viewer_window || fail "no window appeared: $(tail -n 5 "$WORK/viewer.err")"
  xdotool windowfocus "$WINDOW"
}

window_gone() { ! kill -0 "$VIEWER" 2>/dev/null; }

# quit_window: q, and the exit code 0.
quit_window() {
  xdotool key --window "$WINDOW" q
  wait_for 20 window_gone || fail "q did not end the program"
  wait "$VIEWER"
  local code=$?
  ((code == 0)) || fail "the program ended with $code: $(tail -n 5 "$WORK/viewer.err")"
}

# place NAME: sets X Y W H to where the program says that a control is, in window pixels. The program rewrites
# $LENSD_UI_MAP with lines "name x y w h" whenever its layout has come to rest.
place() {
  local name
  while read -r name X Y W H; do
    [[ $name != "$1" ]] || return 0
  done <"$LENSD_UI_MAP"
  return 1
} 2>/dev/null

# gone NAME: there is no such control.
gone() { ! place "$1"; }

# rests NAME: a control is where it was a moment ago: rows above it may have come meanwhile.
rests() {
  place "$1" || return 1
  local before="$X $Y"
  sleep 0.2
  place "$1" && [[ "$X $Y" == "$before" ]]
}

# click NAME: one click in the middle of a control, slow enough for a software renderer's frames.
click() {
  wait_for 20 rests "$1" || fail "the UI map has no '$1': $(cut -d' ' -f1 "$LENSD_UI_MAP" | tr '\n' ' ')"
  place "$1"
  xdotool mousemove --window "$WINDOW" $((${X%.*} + ${W%.*} / 2)) $((${Y%.*} + ${H%.*} / 2))
  sleep 0.3
  xdotool mousedown 1
  sleep 0.2
  xdotool mouseup 1
}

# hover NAME [PART]: the pointer comes to rest on a control, PART percent of its width from the left (50).
hover() {
  wait_for 20 place "$1" || fail "the UI map has no '$1': $(cut -d' ' -f1 "$LENSD_UI_MAP" | tr '\n' ' ')"
  place "$1"
  xdotool mousemove --window "$WINDOW" $((${X%.*} + ${W%.*} * ${2:-50} / 100)) $((${Y%.*} + ${H%.*} / 2))
  sleep 0.4
}

# drag NAME X Y [PART]: presses on a control, as hover does, and releases at X Y of the window.
drag() {
  hover "$1" "${4:-50}"
  xdotool mousedown 1
  sleep 0.3
  local x y i
  eval "$(xdotool getmouselocation --shell | sed -n 's/^X=/x=/p; s/^Y=/y=/p')"
  for i in 1 2 3 4; do
    xdotool mousemove --window "$WINDOW" $((x + ($2 - x) * i / 4)) $((y + ($3 - y) * i / 4))
    sleep 0.15
  done
  sleep 0.3
  xdotool mouseup 1
  sleep 0.3
}

# picture FILE: the middle of the shown picture as PNG: half the width and a quarter of the height of the place
# that it is fitted into, so that no bar beside it is seen.
picture() {
  place picture || return 1
  local x=${X%.*} y=${Y%.*} w=${W%.*} h=${H%.*}
  import -silent -window "$WINDOW" -crop "$((w / 2))x$((h / 4))+$((x + w / 4))+$((y + h * 3 / 8))" +repage "$1"
}

# difference A B: mean absolute difference of two pictures, 0 to 255, rounded.
difference() {
  compare -metric MAE "$1" "$2" null: 2>&1 | sed 's/.*(\(.*\)).*/\1/' | awk '{ printf "%d", $1 * 255 + 0.5 }'
}

# start_daemon ARGS…: lensd serve on a socket of its own. Sets DAEMON (its process id) and SOCKET; its messages are
# in $WORK/daemon.err.
start_daemon() {
  SOCKET=$WORK/control.sock
  "$LENSD" serve --socket "$SOCKET" "$@" >"$WORK/daemon.out" 2>"$WORK/daemon.err" </dev/null &
  DAEMON=$!
  STARTED+=("$DAEMON")
  wait_for 30 ctl get frame || fail "the daemon does not answer: $(tail -n 5 "$WORK/daemon.err")"
}

# ctl ARGS…: one command to the daemon.
ctl() {
  timeout 30 "$LENSD" ctl --socket "$SOCKET" "$@"
}

# ctl_refused TEXT ARGS…: the command must be refused with exit code 1 and one line that contains TEXT.
ctl_refused() {
  local text=$1 code=0
  shift
  ctl "$@" >"$WORK/ctl.out" 2>"$WORK/ctl.err" || code=$?
  [[ $code == 1 ]] || fail "ctl $* gave exit code $code instead of 1"
  grep -qF -- "$text" "$WORK/ctl.err" || fail "ctl $*: '$(<"$WORK/ctl.err")' does not name '$text'"
  echo "ok: $(<"$WORK/ctl.err")"
}

# field PROPERTY NAME, counter NAME: one of the values that a property shows.
field() { ctl get "$1" | awk -v name="$2" '$1 == name { print $2 }'; }
counter() { field counters "$1"; }

daemon_gone() { ! kill -0 "$DAEMON" 2>/dev/null; }

# stop_daemon: TERM, and insists on a clean end within a second (three on a busy machine).
stop_daemon() {
  local begin
  begin=$(date +%s%N)
  kill -TERM "$DAEMON"
  wait_for 10 daemon_gone || fail "TERM did not end the daemon"
  local ms=$((($(date +%s%N) - begin) / 1000000)) code=0
  wait "$DAEMON" || code=$?
  ((code == 0)) || fail "the daemon ended with $code: $(tail -n 5 "$WORK/daemon.err")"
  ((ms < ${LENSD_END_MS:-3000})) || fail "TERM took $ms ms"
  echo "ok: TERM ended it in $ms ms"
}
