#!/usr/bin/env bash
# Control over the socket: commands and exit codes, events, many clients, signals, an interrupted stream, and
# notifications to systemd.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools python3

export LENSD_CONTROL_FOLDER=$WORK/captures
start_daemon test:testsrc2=size=320x240:rate=30 --graph "canny@edges,invert"
[[ $(stat -c %a "$SOCKET") == 600 ]] || fail "the socket has mode $(stat -c %a "$SOCKET")"

[[ $(ctl get edges.low) == 50 ]] || fail "get edges.low: $(ctl get edges.low)"
ctl set edges.low 60 edges.high 170 invert.enabled false || fail "set"
[[ $(ctl get edges.low)/$(ctl get edges.high)/$(ctl get invert.enabled) == 60/170/false ]] || fail "not set"
ctl_refused "0 to" set edges.low 99999
ctl_refused "no parameter" set edges.lo 1
ctl_misused "no command" shell ls
ctl_misused "expected NAME VALUE" set edges.low
ctl_misused "expected seek SECONDS" seek abc
ctl_misused "expected [ID] NAME" observe 5
answer=$(ctl --json set edges.low 99999 2>/dev/null)
[[ $answer == *'"status":"'* && $answer == *99999* ]] || fail "ctl --json prints of a refusal: '$answer'"
[[ $(ctl get edges.low) == 60 ]] || fail "a refused value was applied"
ctl graph-set "median=radius=2,mosaic" || fail "graph-set"
[[ $(ctl --json graph-get) == *'"chain":"median=radius=2,mosaic"'* ]] || fail "graph-get: $(ctl graph-get)"
ctl_refused "radius" graph-set "median=radius=99"
ctl node-add invert median >/dev/null && ctl node-rename invert 12 >/dev/null && ctl node-move 12 0 >/dev/null || fail "node-…"
[[ $(ctl --json graph-get) == *'"chain":"invert@12,median=radius=2,mosaic"'* ]] || fail "the edits: $(ctl graph-get)"
ctl_refused "no node 'nobody'" node-remove nobody
ctl node-remove 12 >/dev/null || fail "node-remove"
ctl_refused "" load /nowhere/at/all.mp4
paused() { [[ $(ctl get pause) == "$1" ]]; }
ctl pause && wait_for 5 paused true || fail "pause"
ctl pause toggle && wait_for 5 paused false || fail "pause toggle"
for command in list "list properties" "list nodes" "list filters" stats version log "get"; do
  # shellcheck disable=SC2086
  ctl $command >"$WORK/out" || fail "ctl $command"
  [[ -s $WORK/out ]] || fail "ctl $command printed nothing"
done
[[ $(ctl list | wc -l) == $(ctl --json list | grep -o '"doc"' | wc -l) ]] || fail "ctl list: not one line per command"
ctl list | grep -qE '^record \[.*\]  +records' || fail "ctl list: $(ctl list)"
ctl list properties | grep -qE '^pause +can be set +' || fail "ctl list properties: $(ctl list properties)"
ctl list properties | grep -qE '^frame +read only +' || fail "ctl list properties: $(ctl list properties)"
lensd ctl --socket "$WORK/nobody.sock" version
[[ $CODE == 5 ]] || fail "a missing daemon gave exit code $CODE"
lensd ctl --socket "$SOCKET"
[[ $CODE == 2 ]] || fail "no command gave exit code $CODE"
ctl_misused "lensd: set: expected NAME VALUE" set edges.low
echo "ok: commands"

ctl snapshot a.png >/dev/null && [[ $(head -c 4 "$WORK/captures/a.png" | tail -c 3) == PNG ]] || fail "snapshot"
ctl trace t.json >/dev/null && python3 -m json.tool "$WORK/captures/t.json" >/dev/null || fail "trace"
for path in ../a.png /tmp/a.png sub/../../a.png; do ctl_refused "" snapshot "$path"; done
echo "ok: captures stay in their folder"

ctl record r.mkv >/dev/null || fail "record"
sleep 1
ctl record false || fail "record false"
wait_for 10 test -s "$WORK/captures/r.mkv" || fail "nothing was recorded"
ctl_refused "" record ../r.mkv
expect 0 "$WORK/captures/r.mkv" --headless -o null:
echo "ok: recording"

ctl observe mosaic.block >"$WORK/events" &
STARTED+=($!)
wait_for 10 grep -q "mosaic.block = 16" "$WORK/events" || fail "no first event"
ctl set mosaic.block 20
wait_for 10 grep -q "mosaic.block = 20  (frame [1-9]" "$WORK/events" || fail "no event: $(<"$WORK/events")"
"$LENSD" ctl --socket "$SOCKET" observe speed 2>"$WORK/observer.err" >"$WORK/speed" &
observer=$!
STARTED+=("$observer")
timeout 10 "$LENSD" ctl --socket "$SOCKET" observe speed | head -n 1 >"$WORK/first"
codes="${PIPESTATUS[*]}"
[[ $codes == "141 0" && $(<"$WORK/first") == "speed = 1"* ]] || fail "observe to a closed pipe: $codes, $(<"$WORK/first")"
echo "ok: observe"

# Another program at the socket: its answers have any types, and texts that would control the terminal.
python3 - "$LENSD" "$WORK/other.sock" <<'PY' || fail "answers of another program"
import socket, subprocess, sys
server = socket.socket(socket.AF_UNIX); server.bind(sys.argv[2]); server.listen(1)
def run(answer, *command):
    client = subprocess.Popen([sys.argv[1], "ctl", "--socket", sys.argv[2], *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    connection = server.accept()[0]; connection.recv(1000); connection.sendall(answer.encode()); connection.close()
    out, err = client.communicate(timeout=30)
    assert b"unexpected" not in err, (answer, err)
    return client.returncode, out.decode()
for answer in '{"error":5}', '{"error":null}', '{"error":"no","status":7}', "[" * 5000, '{"event":[],"error":{}}':
    assert run(answer + "\n", "get", "frame")[0] == 1, answer
ok, change = '{"error":"success"}\n', '{"event":"property-change",'
for event in '{"event":7}', change + '"name":5}', change + '"name":"x","frame":"y"}':
    assert run(ok + event + "\n", "observe", "frame")[0] == 1, event
assert run(ok + change + '"name":"pause","data":1,"frame":99999999999}\n', "observe", "pause")[1] == "pause = 1  (frame 99999999999)\n"
for answer in '{"data":{"\u202e":["\u202e"],"a":"\u202e","\u202e2":{"b":[[1]]}},"error":"success"}\n', ok + '{"event":"\u202e"}\n':
    out = run(answer, "observe", "frame")[1]
    assert out and "\u202e" not in out, out
print("ok: answers of another program")
PY

# 64 observing clients, one of which never reads: the others get their answers in time.
python3 - "$SOCKET" <<'PY' || fail "many clients"
import json, socket, sys, time
def connect():
    s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1]); return s
def say(s, *command, id=0): s.sendall(json.dumps({"command": command, "request_id": id}).encode() + b"\n")
clients = [connect() for _ in range(64)]
for c in clients:
    say(c, "observe", 1, "frame", "mosaic.block", "counters", "time-pos")
deaf, talkers = clients[0], clients[1:]
files = [c.makefile() for c in talkers]
waits = []
for round in range(30):
    begin = time.monotonic()
    say(talkers[round], "set", "mosaic.block", 2 + round, id=100 + round)
    while True:
        answer = json.loads(files[round].readline())
        if answer.get("request_id") == 100 + round: break
    assert answer["error"] == "success", answer
    waits.append((time.monotonic() - begin) * 1000)
for f in files[40:]:  # all clients get the last value, with its frame
    while True:
        event = json.loads(f.readline())
        if event.get("name") == "mosaic.block" and event["data"] == 31: break
    assert event["frame"] > 0
waits.sort()
print("ok: 64 clients; an answer took %.1f ms in the middle, %.1f ms at most" % (waits[len(waits) // 2], waits[-1]))
PY

before=$(counter processed)
more() { (($(counter processed) > before)); }
wait_for 10 more || fail "the video stopped"
[[ $(counter dropped) == 0 ]] || fail "frames were dropped"

lensd serve --socket "$SOCKET" test:testsrc2
[[ $CODE == 1 ]] && grep -q "another lensd" "$WORK/stderr" || fail "a second daemon on the socket: $CODE $(<"$WORK/stderr")"
stop_daemon
[[ ! -e $SOCKET ]] || fail "the socket is still there"
wait "$observer"
code=$?
[[ $code == 1 && $(<"$WORK/observer.err") == "lensd: ctl: lensd closed the connection" ]] ||
  fail "observe gave exit code $code when the daemon ended: $(<"$WORK/observer.err")"

start_daemon test:testsrc2
ctl quit || fail "quit"
wait_for 10 daemon_gone || fail "quit did not end the daemon"
echo "ok: quit"

lensd serve --socket "$SOCKET" /nowhere/at/all.mp4
[[ $CODE == 4 ]] || fail "a missing source gave exit code $CODE"

# A stream that appears, disappears and returns: the state is reported, control answers, TERM stops the daemon.
source_port=$(free_port udp)
state_is() { ctl get source | grep -qE "^state +($1)$"; }
send() {
  timeout 60 "$LENSD" test:testsrc2=size=320x240:rate=30 -o "udp://127.0.0.1:$source_port" >"$WORK/send.out" 2>&1 &
  SENDER=$!
  STARTED+=("$SENDER")
}
start_daemon "udp://127.0.0.1:$source_port" --graph invert
wait_for 5 state_is connecting || fail "before the sender: $(ctl get source)"
ctl observe events >"$WORK/events" &
STARTED+=($!)
for round in 1 2; do
  send
  wait_for 20 state_is playing || fail "round $round, with a sender: $(ctl get source)"
  [[ $(field source width) == 320 ]] || fail "size: $(ctl get source)"
  kill "$SENDER" && wait "$SENDER" 2>/dev/null
  wait_for 20 state_is 'stalled|reconnecting' || fail "round $round, without a sender: $(ctl get source)"
done
grep -q '"state":"playing"' "$WORK/events" || fail "no event of the source: $(<"$WORK/events")"
grep -qE "warning: .*(stalled|reconnecting)" "$WORK/daemon.err" && grep -q "warning: .*: playing" "$WORK/daemon.err" || fail "nothing in the log: $(<"$WORK/daemon.err")"
stop_daemon
echo "ok: a live source"

# Notifications to systemd: READY, RELOADING with its time, READY, STOPPING, and watchdog pings.
python3 - "$LENSD" "$WORK" <<'PY' || fail "service notifications"
import json, os, select, signal, socket, subprocess, sys, time
lensd, work = sys.argv[1:]
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); notify.settimeout(30); notify.bind(work + "/notify")
open(work + "/n.toml", "w").write('[[node]]\nfilter = "invert"\n')
env = dict(os.environ, NOTIFY_SOCKET=work + "/notify", WATCHDOG_USEC="400000")
daemon = subprocess.Popen([lensd, "serve", "--socket", work + "/n.sock", "-c", work + "/n.toml",
                           "test:testsrc2=size=160x120"], env=env)
def until(text, at_the_start=False):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        message = notify.recv(4096).decode()
        if message.startswith(text) if at_the_start else text in message: return message
    sys.exit("no message with " + text)
try:
    until("READY=1"); until("WATCHDOG=1")
    until("STATUS=", at_the_start=True)
    daemon.send_signal(signal.SIGHUP)
    assert "MONOTONIC_USEC=" in until("RELOADING=1")
    until("READY=1"); until("WATCHDOG=1")
    for _ in range(20): daemon.send_signal(signal.SIGHUP)
    until("READY=1")
    # A reload that must wait for other requests is announced once.
    def client(*command, times=1):
        s = socket.socket(socket.AF_UNIX); s.connect(work + "/n.sock")
        s.sendall((json.dumps({"command": command}) + "\n").encode() * times); return s
    os.mkfifo(work + "/silent")
    loading = client("load", work + "/silent"); time.sleep(0.3)
    clients = [client("graph-output", "invert", times=16) for _ in range(6)]
    ready = select.select(clients, [], [], 7)[0]
    assert ready and b"too many requests" in ready[0].recv(4096), "the queue is not full"
    notify.setblocking(False)
    try:
        while notify.recv(4096): pass
    except BlockingIOError: pass
    notify.settimeout(30)
    daemon.send_signal(signal.SIGHUP)
    announced, end = 0, time.monotonic() + 1.5
    while time.monotonic() < end: announced += "RELOADING=1" in notify.recv(4096).decode()
    assert announced == 1, "%d times RELOADING" % announced
    until("READY=1")
    daemon.send_signal(signal.SIGINT); until("STOPPING=1")
    assert daemon.wait(10) == 0
finally:
    daemon.kill()
print("ok: READY, STATUS, RELOADING, WATCHDOG, STOPPING")
PY
