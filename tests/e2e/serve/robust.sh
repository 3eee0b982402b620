#!/usr/bin/env bash
# Stress: many signals, control before the source is open, more clients than descriptors, hundreds of sources, and a stop
# within a second in every state.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools python3 curl

export LENSD_CONTROL_FOLDER=$WORK/captures LENSD_HTTP_AUTH=false
port=$(free_port tcp)

# A server that accepts and never answers: every command is answered meanwhile.
python3 -c '
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(16); print(s.getsockname()[1], flush=True); time.sleep(120)' >"$WORK/silent" &
STARTED+=($!)
wait_for 10 test -s "$WORK/silent" || fail "no silent server"
start_daemon "http://127.0.0.1:$(<"$WORK/silent")/a.mkv" --http "$port"
for command in "trace a.json" "graph-set median" "set bypass true" "record a.mkv" "record off" "snapshot b.png" "pause" "pause false" \
  "reload" "stats" "seek 1" "step" "speed 2" "log"; do
  # shellcheck disable=SC2086
  ctl $command >"$WORK/out" 2>&1 || [[ -s $WORK/out ]] || fail "$command: no answer"
  daemon_gone && fail "'$command' ended it: $(<"$WORK/daemon.err")"
done
[[ $(curl -s -m 5 "http://127.0.0.1:$port/healthz") == *'"ok":true'* ]] || fail "healthz fails while the source is unavailable"
stop_daemon
echo "ok: commands before the first picture"

# Stopping while the source opens is not a failure.
mkfifo "$WORK/pipe"
start_daemon "$WORK/pipe"
stop_daemon

# Loading a pipe without a writer: a newer load or reload cancels it, a deadline ends it, TERM ends it.
printf '[[node]]\nfilter = "mosaic"\n' >"$WORK/pipe.toml"
start_daemon test:testsrc2=size=160x120:rate=30 -c "$WORK/pipe.toml"
load_pipe() {
  ctl load "$WORK/pipe" >"$WORK/load" 2>&1 &
  LOAD=$!
  sleep 0.5
}
for command in reload "load test:testsrc2=size=320x240:rate=30"; do
  load_pipe
  # shellcheck disable=SC2086
  ctl $command || fail "$command while a pipe is being opened"
  wait "$LOAD"
  grep -q "cancelled by a newer load or reload" "$WORK/load" || fail "the load of a pipe: $(<"$WORK/load")"
done
load_pipe
ctl graph-set median || fail "graph-set after a pipe"
wait "$LOAD"
grep -q "no picture within 8 s" "$WORK/load" || fail "the load of a pipe: $(<"$WORK/load")"
load_pipe
stop_daemon
echo "ok: loads of a pipe"

# Continuous HUP signals, then TERM among them.
printf '[[node]]\nfilter = "mosaic"\nblock = 8\n' >"$WORK/a.toml"
start_daemon test:testsrc2=size=320x240:rate=60 -c "$WORK/a.toml" --record "$WORK/storm.mkv"
for i in $(seq 300); do
  kill -HUP "$DAEMON" 2>/dev/null
  ((i % 10)) && continue
  printf '[[node]]\nfilter = "mosaic"\nblock = %d\n' $((2 + i % 60)) >"$WORK/b.toml" # renamed below, because a partly written file would be refused
  mv "$WORK/b.toml" "$WORK/a.toml"
done
[[ $(counter dropped) == 0 && $(counter reloads_refused) == 0 ]] || fail "after the storm: $(ctl get counters)"
(for i in $(seq 50); do kill -HUP "$DAEMON"; done) 2>/dev/null &
stop_daemon
expect 0 "$WORK/storm.mkv" --headless -o null:
echo "ok: repeated HUP"

# Repeated TERM: the second one ends the daemon at once if it still runs, and the recording is playable.
start_daemon test:testsrc2=size=320x240:rate=60 --record "$WORK/term.mkv"
recorded() { (($(field record frames) >= 90)); }
wait_for 30 recorded || fail "does not record: $(ctl get record)"
for i in $(seq 20); do kill -TERM "$DAEMON" 2>/dev/null; done
wait_for 5 daemon_gone || fail "repeated TERM did not stop it"
expect 0 "$WORK/term.mkv" --headless -o null:
echo "ok: repeated TERM"

# Closed standard descriptors: nothing gets their numbers, or messages would be written into it.
SOCKET=$WORK/closed.sock
"$LENSD" serve --socket "$SOCKET" test:testsrc2=size=160x120 --record "$WORK/closed.mkv" <&- >&- 2>&- &
DAEMON=$!
STARTED+=("$DAEMON")
wait_for 30 ctl get frame || fail "does not start with closed standard descriptors"
for fd in 0 1 2; do
  [[ $(readlink "/proc/$DAEMON/fd/$fd") == /dev/null ]] || fail "descriptor $fd is $(readlink "/proc/$DAEMON/fd/$fd")"
done
ctl_refused "standard input" load -
stop_daemon
code=0
"$LENSD" test:testsrc2=size=64x48 --headless --frames 3 -o null: >&- 2>"$WORK/stderr" || code=$?
{ [[ $code == 1 ]] && grep -q "standard output: cannot be written" "$WORK/stderr"; } || fail "a closed stdout: $code $(<"$WORK/stderr")"
echo "ok: closed standard descriptors"

# Too few threads or too little memory to start: one line that names the cause. Root has no limit of processes.
named() { # named CODE FILE: the run has ended well, or its last line names a cause
  [[ $1 == 0 || $1 == 124 || $1 == 127 ]] ||
    { [[ $1 == [145] && -s $2 ]] && ! grep -qE "unexpected failure: (std::|Resource|thread:)" "$2"; }
}
user=()
((EUID)) || user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${user[@]}" test -x "$LENSD" && chmod 777 "$WORK"; then
  for limit in 1 2 3 4 5 6 7 8 9 10 12; do
    code=0
    timeout 1 prlimit --nproc="$limit" "${user[@]}" "$LENSD" serve --socket "$WORK/few-$limit.sock" --http 0 \
      test:testsrc2=size=64x48 >/dev/null 2>"$WORK/few.err" || code=$?
    named "$code" "$WORK/few.err" || fail "with $limit processes: $code $(<"$WORK/few.err")"
  done
  echo "ok: too few threads: $(tail -n 1 "$WORK/few.err")"
fi
for ((megabytes = 280; megabytes <= 420; megabytes += 10)); do
  code=0
  (ulimit -v $((megabytes * 1000)) && exec "$LENSD" test:testsrc2 --headless --frames 2 -o null: >/dev/null 2>"$WORK/few.err") || code=$?
  named "$code" "$WORK/few.err" || fail "with $megabytes MB: $code $(<"$WORK/few.err")"
done
echo "ok: too little memory"

# Hundreds of sources: threads, descriptors and memory do not grow.
usage() { ctl --json stats | python3 -c '
import json, sys; p = json.load(sys.stdin)["data"]["process"]; print(p["threads"], p["descriptors"], p["resident_bytes"] >> 20)'; }
start_daemon test:testsrc2=size=320x240:rate=30 --graph "median,canny" --http "$port"
for i in $(seq 8); do ctl load test:testsrc2=size=$((160 + i * 16))x240:rate=30 || fail "load $i"; done
read -r threads descriptors megabytes <<<"$(usage)"
for i in $(seq "${LENSD_LOADS:-15}"); do
  ctl load test:testsrc2=size=$((160 + i % 8 * 16))x240:rate=30 || fail "load $i"
  ctl load /nowhere/at/all.mkv >/dev/null 2>&1 && fail "a missing source was loaded"
done
sleep 0.5
read -r threads2 descriptors2 megabytes2 <<<"$(usage)"
((threads2 <= threads && descriptors2 <= descriptors + 2 && megabytes2 <= megabytes + 24)) ||
  fail "threads $threads → $threads2, descriptors $descriptors → $descriptors2, MiB $megabytes → $megabytes2"
echo "ok: ${LENSD_LOADS:-15} sources: threads $threads → $threads2, descriptors $descriptors → $descriptors2, MiB $megabytes → $megabytes2"

stop_daemon

# Fewer descriptors than clients: those within the limit are served, and the video keeps its descriptors.
(
  ulimit -n 64
  exec "$LENSD" serve --socket "$WORK/few.sock" --http "$port" test:testsrc2=size=160x120 2>"$WORK/daemon.err" >/dev/null
) &
DAEMON=$! SOCKET=$WORK/few.sock
STARTED+=("$DAEMON")
wait_for 20 ctl get frame || fail "64 descriptors are too few: $(<"$WORK/daemon.err")"
python3 - "$SOCKET" "$port" <<'PY' || fail "clients beyond the descriptors"
import socket, sys
def read_all(s):
    s.settimeout(10)
    try: return s.recv(200)
    except OSError: return b""
clients = []
for _ in range(80):
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); clients.append(s)
    try: s.sendall(b'{"command":["get","frame"]}\n')
    except OSError: pass
answers = [read_all(s) for s in clients]
served = sum(b'"success"' in a for a in answers); turned_away = sum(b"too many" in a for a in answers)
assert served >= 8 and served + turned_away == 80, (served, turned_away)
h = socket.create_connection(("127.0.0.1", int(sys.argv[2]))); h.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
assert b"200 OK" in read_all(h)
print("ok: with 64 descriptors %d of 80 clients are served, %d turned away" % (served, turned_away))
PY
ctl record few.mkv >/dev/null && ctl record off >/dev/null || fail "no descriptor is left for a recording"
stop_daemon
