"""Starts and stops, commands that race, and a watched process."""

import os
import random
import subprocess
import threading
import time

import paths
from cases import case
from senders import Skip
from socket_client import connect
from test_cases import insist


def starts(bench, count):
    slowest = 0.0
    chance = random.Random(3)
    for i in range(count):
        process = subprocess.Popen([bench.lensd, "serve", "--backend", "cpu", "--threads", "2", "--socket",
                                    bench.path("s.sock"), "--graph", "canny", "test:testsrc2=size=64x48:rate=60"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=bench.environment)
        time.sleep(chance.random() * 0.12)
        begin = time.monotonic()
        process.terminate()
        err = process.communicate(timeout=10 * bench.patience)[1]
        slowest = max(slowest, time.monotonic() - begin)
        # TERM ends the program with a signal until main() blocks it.
        insist(process.returncode in (0, -15), f"start {i}: exit code {process.returncode}: {err[-300:]}")
    insist(slowest <= bench.patience, f"TERM took {slowest:.2f} s")
    return f"{count} starts, TERM after 0 to 120 ms, at most {slowest * 1000:.0f} ms"


@case("concurrency", "15 starts, each with TERM after 0 to 120 ms", "ends within a second, no crash")
def starts_and_stops(bench):
    return starts(bench, 15)


@case("concurrency", "1000 starts, each with TERM after 0 to 120 ms", "ends within a second, no crash", slow=True)
def thousand_starts(bench):
    return starts(bench, 1000)


def race(bench, seconds):
    """Four clients send random commands; then TERM arrives among them."""
    clip = bench.path("clip.mkv")
    made = bench.run("test:testsrc2=size=96x64:rate=60", "--headless", "-q", "--frames", "120", "-o", clip)
    insist(made.code == 0, made.err)
    config = bench.write("a.toml", '[[node]]\nfilter = "mosaic"\n')
    daemon = bench.serve("-c", config, clip, "--loop-file=inf")
    daemon.playing()
    stop, sent, problems = threading.Event(), [], []

    def send(seed):
        chance = random.Random(seed)
        client = connect(daemon.socket_path)
        client.socket.settimeout(10 * bench.patience)
        while not stop.is_set():
            command = chance.choice([
                ("seek", chance.random() * 2, "absolute"), ("graph-set", chance.choice(["canny", "median=radius=2,resize",
                                                                                       "gaussian=sigma=2,klt,draw_tracks"])),
                ("load", chance.choice([clip, "test:testsrc2=size=80x60:rate=60", "/nowhere.mkv"])), ("reload",), ("pause",),
                ("pause", False), ("step", 3), ("speed", chance.choice([0.5, 1, 4])), ("snapshot", f"s{seed}.jpg"),
                ("record", f"r{seed}-{len(sent)}.mkv"), ("record", "off"), ("stats",), ("set", "bypass", chance.random() < 0.5),
                ("trace", f"t{seed}.json")])
            try:
                client.ask(*command)
            except RuntimeError:
                pass  # refused commands are expected
            except (OSError, ValueError) as problem:
                if not stop.is_set():
                    problems.append(f"{command}: {problem}")
                return
            sent.append(command[0])
    senders = [threading.Thread(target=send, args=(n,)) for n in range(4)]
    for sender in senders:
        sender.start()
    time.sleep(seconds)
    stop.set()
    ended = daemon.end()
    for sender in senders:
        sender.join()
    insist(not problems, problems[:1])
    return f"{len(sent)} commands of {len(set(sent))} kinds; {ended}"


@case("concurrency", "four clients: reload, seek, resize, load, record, snapshot, pause, step in random order for 1 s, then TERM",
      "every command is answered; exit 0 within a second")
def racing_commands(bench):
    return race(bench, 1)


@case("concurrency", "the same for a minute", "every command is answered; exit 0 within a second", slow=True)
def racing_commands_long(bench):
    return race(bench, 60)


@case("concurrency", "the same for 10 s in a build with the thread sanitizer", "no report", slow=True)
def thread_sanitizer(bench):
    program = os.path.join(paths.ROOT, "build-tsan", "lensd")
    if not os.path.exists(program):
        raise Skip("build-tsan/lensd is not built: cmake --preset tsan && ninja -C build-tsan lensd")
    bench.lensd = program
    bench.patience, bench.deadline = bench.patience * 10, bench.deadline * 10  # the program is that much slower
    bench.environment["TSAN_OPTIONS"] = f"suppressions={os.path.join(paths.ROOT, 'tests', 'tsan.supp')}"
    return race(bench, 10)  # a report changes the exit code
