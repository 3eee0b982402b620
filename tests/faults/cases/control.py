"""The control socket: many writers, bad requests, work that grows, refusals, and signals."""

import json
import os
import signal
import socket
import threading
import time

from cases import case
from socket_client import connect, percentile
from test_cases import insist

SOURCE = "test:testsrc2=size=160x120:rate=60"


@case("control", "ten clients set a parameter 200 times each at once", "all are answered; the last value stays")
def ten_writers(bench):
    daemon = bench.serve("--graph", "mosaic", SOURCE)
    daemon.playing()
    problems = []

    def write(number):
        try:
            client = connect(daemon.socket_path)
            for i in range(200):
                client.ask("set", "mosaic.block", 2 + (number * 7 + i) % 60)
            client.close()
        except (OSError, RuntimeError) as problem:
            problems.append(problem)
    writers = [threading.Thread(target=write, args=(n,)) for n in range(10)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(20 * bench.patience)
    insist(not problems and not any(w.is_alive() for w in writers), f"{problems[:1]}")
    daemon.ask("set", "mosaic.block", 33)
    insist(daemon.ask("get", "mosaic.block") == 33, "the last value was lost")
    dropped = daemon.ask("get", "counters")["dropped"]
    insist(dropped == 0, f"{dropped} frames dropped")
    return f"2000 requests, 0 frames dropped; {daemon.end()}"


BAD_LINES = [b"\n", b"{}\n", b"[]\n", b"null\n", b'{"command":[]}\n', b'{"command":{}}\n', b'{"command":[[]]}\n',
             b'{"command":["set"]}\n', b'{"command":["set","a"]}\n', b'{"command":[1,2,3]}\n', b"\xff\xfe\n", b"\0\0\n",
             b'{"command":["get","\\ud800"]}\n', b'{"command":["seek",1e999]}\n', b'{"command":["speed","nan"]}\n',
             b'{"command":["get"],"request_id":' + b"9" * 400 + b"}\n", b"[" * 60000 + b"\n",
             b'{"command":["load","' + b"x" * 5000 + b'"]}\n', b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"\n"]


@case("control", f"{len(BAD_LINES)} malformed requests, then a line without end", "each is answered or the client is cut off")
def malformed(bench):
    daemon = bench.serve("--graph", "mosaic", SOURCE)
    daemon.playing()
    before = daemon.usage()
    for line in BAD_LINES:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(bench.deadline)
            s.connect(daemon.socket_path)
            s.sendall(line)
            s.shutdown(socket.SHUT_WR)
            answer = s.recv(65536)
            insist(b'"success"' not in answer or line == b"\n", f"{line[:40]!r}: {answer[:100]!r}")
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(bench.deadline)
        s.connect(daemon.socket_path)
        sent = 0
        try:
            while sent < 8 << 20:
                sent += s.send(b"x" * 65536)
        except OSError:
            pass
        insist(sent < 8 << 20, "8 MiB without a line end were accepted")
    daemon.playing(5)
    growth = daemon.usage().rss_kib - before.rss_kib
    insist(growth < 16 << 10, f"memory grew by {growth} KiB")
    return f"memory {growth:+d} KiB; {daemon.end()}"


def chain(nodes):
    return {"nodes": [{"filter": "invert", "id": f"n{i}"} for i in range(nodes)]}


@case("control", "graphs of 257 to 800 nodes and of long names, beside a client that asks all the time",
      "refused, answers p99 ≤ 50 ms")
def huge_graphs(bench):
    daemon = bench.serve("--graph", "mosaic", SOURCE)
    daemon.playing()
    stop, waits = threading.Event(), []

    def watch():
        client = connect(daemon.socket_path)
        while not stop.is_set():
            waits.append(client.timed("get", "frame")[1])
            time.sleep(0.005)
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for graph in (chain(257), chain(800), ",".join(["invert"] * 5000), {"nodes": [{"filter": "x" * 5000}]},
                      {"nodes": [{"filter": "blend", "inputs": ["source"] * 200}]}):
            daemon.refusal("graph-set", graph)
        daemon.ask("graph-set", {"nodes": [{"filter": "invert", "id": f"n{i}"} for i in range(256)]})
    finally:
        stop.set()
        watcher.join()
    p99 = percentile(waits, 0.99)
    insist(p99 <= 50 * bench.patience, f"an answer took {p99:.0f} ms at p99")
    return f"p99 {p99:.1f} ms of {len(waits)}; {daemon.end()}"


@case("control", "600 different node names in accepted graphs, 600 in refused ones", "graph-set still works", deadline=5)
def refusals_leave_nothing(bench):
    daemon = bench.serve("--graph", "mosaic", "test:testsrc2=size=32x32:rate=60")
    daemon.playing()
    for round_ in range(3):
        daemon.ask("graph-set", {"nodes": [{"filter": "invert", "id": f"r{round_}n{i}"} for i in range(200)]})
        bad = [{"filter": "invert", "id": f"b{round_}n{i}"} for i in range(200)]
        daemon.refusal("graph-set", {"nodes": bad + [{"filter": "gaussian", "sigma": -1}]})
    daemon.ask("graph-set", "median=radius=1,canny@last")
    insist(daemon.ask("get", "last.low") == 50, "the last graph does not run")
    return f"1200 names; {daemon.end()}"


@case("control", "TERM, INT, quit in each state: connecting, playing, paused, ended, recording, during a load",
      "exit 0 within a second", slow=True)
def end_in_every_state(bench):
    clip = bench.path("clip.mkv")
    insist(bench.run("test:testsrc2=size=64x48:rate=30", "--headless", "-q", "--frames", "5", "-o", clip).code == 0, "clip")
    silent = socket.create_server(("127.0.0.1", 0))
    hanging = f"http://127.0.0.1:{silent.getsockname()[1]}/a.mkv"

    def load(daemon):
        threading.Thread(target=lambda: swallow(connect(daemon.socket_path), "load", hanging), daemon=True).start()
        time.sleep(0.2)
    states = {"connecting": (hanging, lambda d: None), "playing": (SOURCE, lambda d: d.playing()),
              "paused": (SOURCE, lambda d: (d.playing(), d.ask("pause"))),
              "ended": (clip, lambda d: d.until(lambda: d.ask("get", "ended"), "the end")),
              "recording": (SOURCE, lambda d: (d.playing(), d.ask("record", "a.mkv"))),
              "loading": (SOURCE, lambda d: (d.playing(), load(d)))}
    slowest = ""
    for name, (source, prepare) in states.items():
        for how in (signal.SIGTERM, signal.SIGINT):
            daemon = bench.serve("--graph", "canny", source)
            prepare(daemon)
            slowest = max(slowest, f"{daemon.end(how)} ({name})", key=lambda text: int(text.split()[3]) if text else 0)
            if name == "recording":
                os.unlink(bench.path("captures", "a.mkv"))
    silent.close()
    return f"{len(states)} states × 2 signals, slowest: {slowest}"


def swallow(client, *command):
    try:
        client.ask(*command)
    except (OSError, RuntimeError):
        pass


@case("control", "quit, and one TERM 0, 5 and 20 ms later, while it records", "the recording is complete", deadline=5)
def quit_then_term(bench):
    for milliseconds in (0, 5, 20):
        daemon = bench.serve("--graph", "invert", SOURCE)
        daemon.playing()
        path = daemon.ask("record", f"q{milliseconds}.mkv")["path"]
        daemon.until(lambda d=daemon: d.ask("get", "record")["frames"] >= 30, "30 frames")
        counters = daemon.ask("get", "counters")["processed"]
        daemon.ask("quit")
        time.sleep(milliseconds / 1000)
        daemon.process.send_signal(signal.SIGTERM)
        code = daemon.process.wait(10)
        insist(code == 0, f"TERM after {milliseconds} ms: exit code {code}")
        result, hashes = bench.frames(path)
        insist(result.code == 0 and not result.err, f"TERM after {milliseconds} ms: {result.err}")
        insist(len(hashes) >= 30, f"TERM after {milliseconds} ms: {len(hashes)} frames of {counters}")
    return "3 recordings complete, exit 0"


@case("control", "TERM twice while it records", "ends at once; the recording plays", deadline=5)
def term_twice(bench):
    daemon = bench.serve("--graph", "invert", SOURCE)
    daemon.playing()
    path = daemon.ask("record", "t.mkv")["path"]
    daemon.until(lambda: daemon.ask("get", "record")["frames"] >= 90, "90 frames")
    begin = time.monotonic()
    daemon.process.send_signal(signal.SIGTERM)
    time.sleep(0.01)
    daemon.process.send_signal(signal.SIGTERM)
    code = daemon.process.wait(10)
    took = time.monotonic() - begin
    insist(code in (0, 143), f"exit code {code}")
    insist(took <= bench.patience, f"{took:.2f} s")
    result, hashes = bench.frames(path)
    insist(result.code == 0 and hashes, f"{result.err}")
    return f"exit {code} after {took * 1000:.0f} ms, {len(hashes)} frames play"


@case("control", "a client that observes everything and never reads", "bounded memory; frames go on")
def deaf_client(bench):
    daemon = bench.serve("--graph", "mosaic", SOURCE)
    daemon.playing()
    before = daemon.usage().rss_kib
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(daemon.socket_path)
        s.sendall(json.dumps({"command": ["observe", 1, "frame", "counters", "time-pos", "events"]}).encode() + b"\n")
        daemon.playing(60)
        growth = daemon.usage().rss_kib - before
    insist(growth < 16 << 10, f"memory grew by {growth} KiB")
    insist(daemon.ask("get", "counters")["dropped"] == 0, "frames were dropped")
    return f"memory {growth:+d} KiB in 60 frames; {daemon.end()}"
