#!/usr/bin/env bash
# 64 observing clients, one of which never reads, during a recording: no frame is lost and memory stays bounded.
# Takes some seconds, with LENSD_LONG=1 ten minutes.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools python3

seconds=8
[[ -z ${LENSD_LONG:-} ]] || seconds=${LENSD_CROWD_SECONDS:-600}
export LENSD_CONTROL_FOLDER=$WORK/captures
start_daemon test:testsrc2=size=320x240:rate=60 --graph "mosaic=block=4,canny@edges" --record "$WORK/all.mkv"
python3 - "$SOCKET" "$DAEMON" "$seconds" <<'PY' || fail "the crowd"
import json, os, select, socket, sys, time
path, pid, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
def resident():
    with open(f"/proc/{pid}/statm") as f: return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def connect():
    s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(path); return s
def say(s, *command, id=0): s.sendall(json.dumps({"command": command, "request_id": id}).encode() + b"\n")
talk = connect(); answers = talk.makefile()
def ask(*command):
    say(talk, *command, id=1)
    answer = json.loads(answers.readline()); assert answer["error"] == "success", answer
    return answer.get("data")
deaf = connect(); say(deaf, "observe", 1, "frame", "time-pos", "counters", "graph", "source")
crowd = [connect() for _ in range(62)]
for c in crowd: say(c, "observe", 1, "frame", "counters", "time-pos", "edges.low")
begin, next_set, n, events = time.monotonic(), 0, 0, 0
settled, peak, cut = 0, 0, 0
while (elapsed := time.monotonic() - begin) < seconds:
    for s in select.select(crowd, [], [], 0.05)[0]: events += s.recv(1 << 16).count(b"\n")
    if elapsed > next_set:
        ask("set", "edges.low", 20 + n % 100, "mosaic.block", 2 + n % 30); n += 1; next_set = elapsed + 0.1
        peak = max(peak, resident())
        if elapsed < seconds / 3: settled = peak
    hangup = select.poll(); hangup.register(deaf, 0)
    if hangup.poll(0):  # the daemon disconnects it after ten seconds; replace it
        cut += 1; deaf.close(); deaf = connect(); say(deaf, "observe", 1, "frame", "time-pos", "counters", "graph", "source")
counters = ask("get", "counters"); ask("pause"); time.sleep(0.5)
after, frame = ask("get", "counters"), ask("get", "frame")
assert events > 62 * seconds, events
assert after["dropped"] == 0 and after["dropped_recorder"] == 0, after
assert 0 <= after["processed"] - (frame + 1) <= 1, (after, frame)
assert peak < settled + (16 << 20), f"memory grew from {settled >> 20} to {peak >> 20} MiB"
assert cut > 0 or seconds < 20, "the client that never reads is still there"
print("ok: %d s, %d events to 62 clients, %d changes, %d frames processed, at most %.1f MiB resident (%.1f in the first "
      "third), %d clients cut off" % (seconds, events, n, after["processed"], peak / 2**20, settled / 2**20, cut))
PY
processed=$(counter processed)
stop_daemon
if command -v ffprobe >/dev/null; then
  recorded=$(ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$WORK/all.mkv")
else
  expect 0 "$WORK/all.mkv" --headless --overwrite --framehash "$WORK/count" -o null:
  recorded=$(frames "$WORK/count" | wc -l)
fi
[[ $recorded == "$processed" ]] || fail "$recorded frames in the recording of $processed"
echo "ok: $recorded frames in the recording, $processed processed"
