# shellcheck shell=bash
# Starts `lensd serve`, sends it commands and stops it.
# shellcheck source=harness.sh
. "$(dirname "${BASH_SOURCE[0]}")/harness.sh"

# start_daemon ARGS…: starts lensd serve on a temporary socket and waits until it answers, at most LENSD_START_S seconds
# (default 30). Sets DAEMON (its process id) and SOCKET; its messages are in $WORK/daemon.err.
start_daemon() {
  SOCKET=$WORK/control.sock
  "$LENSD" serve --socket "$SOCKET" "$@" >"$WORK/daemon.out" 2>"$WORK/daemon.err" </dev/null &
  DAEMON=$!
  STARTED+=("$DAEMON")
  wait_for "${LENSD_START_S:-30}" ctl get frame || fail "the daemon does not answer: $(tail -n 5 "$WORK/daemon.err")"
}

# ctl ARGS…: sends one command to the daemon.
ctl() {
  timeout 30 "$LENSD" ctl --socket "$SOCKET" "$@"
}

# ctl_refused TEXT ARGS…: expects exit code 1 and a message that contains TEXT. ctl_misused: expects exit code 2.
ctl_refused() { ctl_fails 1 "$@"; }
ctl_misused() { ctl_fails 2 "$@"; }
ctl_fails() { # ctl_fails CODE TEXT ARGS…
  local wanted=$1 text=$2 code=0
  shift 2
  ctl "$@" >"$WORK/ctl.out" 2>"$WORK/ctl.err" || code=$?
  [[ $code == "$wanted" ]] || fail "ctl $* gave exit code $code instead of $wanted"
  grep -qF -- "$text" "$WORK/ctl.err" || fail "ctl $*: '$(<"$WORK/ctl.err")' does not name '$text'"
  echo "ok: $(<"$WORK/ctl.err")"
}

# field PROPERTY NAME: prints one value of a property. counter NAME: prints one value of the property `counters`.
field() { ctl get "$1" | awk -v name="$2" '$1 == name { print $2 }'; }
counter() { field counters "$1"; }
playing() { [[ $(field source state) == playing ]]; }
away() { [[ $(field source state) == reconnecting || $(field source state) == stalled ]]; }

daemon_gone() { ! kill -0 "$DAEMON" 2>/dev/null; }

# stop_daemon: sends TERM; fails unless the daemon exits with 0 within LENSD_END_MS milliseconds
# (default 3000).
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
