#!/usr/bin/env bash
# Messages: a stderr that nobody reads stops neither control nor the end. A second instance leaves the log alone.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools python3

port=$(free_port udp)
python3 - "$LENSD" "$WORK" "$port" "${LENSD_END_MS:-3000}" <<'PY' || fail "a stderr that nobody reads"
import fcntl, json, os, socket, subprocess, sys, time
lensd, work, port, end_ms = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
path = work + "/deaf.sock"

def start(*arguments):
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writer, b"x" * 4090)
    daemon = subprocess.Popen([lensd, "serve", *arguments, "--socket", path], stderr=writer, stdin=subprocess.DEVNULL)
    os.close(writer)
    return daemon, reader

def ask(*command):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(5); s.connect(path)
        s.sendall(json.dumps({"command": command}).encode() + b"\n")
        return json.loads(s.makefile().readline())

def wait_until(what, seconds=30):
    end = time.monotonic() + seconds
    while True:
        try:
            if what(): return
        except OSError: pass
        assert time.monotonic() < end, "not within %d s" % seconds
        time.sleep(0.05)

def end(daemon):
    begin = time.monotonic(); daemon.terminate()
    assert daemon.wait(10) == 0, daemon.returncode
    ms = (time.monotonic() - begin) * 1000
    assert ms < end_ms, "TERM took %d ms" % ms
    return ms

# One warning is enough to fill the pipe: the source is silent.
daemon, reader = start("udp://127.0.0.1:" + port)
try:
    wait_until(lambda: any("warn" in line for line in ask("log")["data"]))
    assert ask("get", "frame")["error"] == "success"
    print("ok: control answers; TERM ended it in %.0f ms" % end(daemon))
finally:
    daemon.kill(); os.close(reader)

# The number of dropped messages is written once the pipe is read.
config = work + "/bad.toml"
good = '[[node]]\nfilter = "invert"\n'
bad = good + "".join("nobody%d = 1\n" % i for i in range(60))
def write(text): open(config, "w").write(text)
write(good)
daemon, reader = start("test:testsrc2=size=160x120:rate=30", "-c", config)
try:
    wait_until(lambda: ask("get", "frame")["data"] is not None)
    write(bad)
    for i in range(40): assert ask("reload")["error"] != "success"
    os.set_blocking(reader, False)
    text = b""
    def dropped():
        global text
        try: text += os.read(reader, 1 << 20)
        except BlockingIOError: pass
        return b" messages were dropped" in text
    wait_until(dropped)
    print("ok:", [line for line in text.decode().splitlines() if "were dropped" in line][0])
    end(daemon)
finally:
    daemon.kill(); os.close(reader)

# The same with a log file that is a pipe.
fifo = work + "/log.fifo"
os.mkfifo(fifo)
log = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
fcntl.fcntl(log, fcntl.F_SETPIPE_SZ, 4096)
write(good)
daemon, reader = start("test:testsrc2=size=160x120:rate=30", "-c", config, "--log-file", fifo)
try:
    wait_until(lambda: ask("get", "frame")["data"] is not None)
    write(bad)
    for i in range(40): assert ask("reload")["error"] != "success"
    print("ok: a log file that blocks; TERM ended it in %.0f ms" % end(daemon))
finally:
    daemon.kill(); os.close(reader); os.close(log)

# A pipe without a reader: the start does not wait for one, and a reader that comes later gets the messages.
write(good)
daemon, reader = start("test:testsrc2=size=160x120:rate=30", "-c", config, "--log-file", fifo)
try:
    wait_until(lambda: ask("get", "frame")["data"] is not None)
    log = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    wait_until(lambda: b"serving" in os.read(log, 65536))
    print("ok: a log pipe without a reader; TERM ended it in %.0f ms" % end(daemon))
finally:
    daemon.kill(); os.close(reader); os.close(log)
PY

# A second instance that is refused neither rotates nor writes the log of the first one.
start_daemon test:testsrc2=size=160x120:rate=30 --log-file "$WORK/lensd.log"
before=$(stat -c %i "$WORK/lensd.log")
refused_again() {
  lensd serve test:testsrc2 --socket "$SOCKET" --log-file "$WORK/lensd.log"
  [[ $CODE == 1 ]] && grep -q "another process writes this log" "$WORK/stderr" && grep -q "another lensd" "$WORK/stderr"
}
for _ in 1 2 3 4; do refused_again || fail "a second instance: $CODE $(<"$WORK/stderr")"; done
[[ $(stat -c %i "$WORK/lensd.log") == "$before" && ! -e $WORK/lensd.1.log ]] || fail "a second instance has rotated the log"
! grep -q "another lensd" "$WORK/lensd.log" || fail "a second instance has written to the log"
stop_daemon
start_daemon test:testsrc2=size=160x120:rate=30 --log-file "$WORK/lensd.log"
[[ $(grep -c serving "$WORK/lensd.log") == 2 ]] || fail "a restart does not append to the log: $(<"$WORK/lensd.log")"
stop_daemon
echo "ok: the log belongs to one instance"
