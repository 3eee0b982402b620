#!/usr/bin/env python3
"""200 hostile HTTP connections while lensd plays and records: attack.py [SECONDS] [CONNECTIONS]

Prints the frames lost, the response times of the control socket, the memory and the time of TERM. Exit code 1 if a
frame is lost, less than 90 % of the frames are processed, the 99th percentile of the response times exceeds 50 ms,
memory grows by more than 32 MiB, a hidden request pauses lensd, or TERM takes more than a second. LENSD is the program,
by default build/lensd. The hostile client runs in another process and limits its rate, to leave processor time to
lensd.
"""

import multiprocessing
import os
import sys
import time

import paths  # noqa: F401  pylint: disable=unused-import
from bench import Bench
from hostile import Attack
from socket_client import percentile
from test_cases import insist

RATE = 60


def attack(port, token, connections, seconds, results):
    attacker = Attack(port, token, connections)
    attacker.run(seconds)
    results.put((attacker.opened, attacker.closed, dict(sorted(attacker.statuses.items()))))
    attacker.close()


class Watch:
    """Sends a request over the control socket every 10 ms and samples the memory."""

    def __init__(self, daemon):
        self.daemon, self.waits, self.peak = daemon, [], 0

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.waits.append(self.daemon.client.timed("get", "frame", "counters")[1])
            self.peak = max(self.peak, self.daemon.usage().rss_kib)
            time.sleep(0.01)


def measure(bench, seconds, connections):
    """Returns the figures as text and the list of limits that were missed."""
    daemon = bench.serve("--graph", "gaussian=sigma=1.2,canny", "--record", bench.path("a.mkv"),
                         f"test:testsrc2=size=640x360:rate={RATE}", http=True)
    daemon.playing(RATE)
    for path in ("/snapshot.png", "/healthz", "/metrics"):  # normal requests, so that their memory is in the baseline
        insist(daemon.get(path)[0] == 200, path)
    quiet = Watch(daemon)
    quiet.run(2)
    before, memory, begin = daemon.ask("get", "counters"), daemon.usage().rss_kib, time.monotonic()
    results = multiprocessing.Queue()
    attacker = multiprocessing.Process(target=attack, args=(daemon.port, daemon.token, connections, seconds + 1, results))
    attacker.start()
    watch = Watch(daemon)
    watch.run(seconds)
    after, took = daemon.ask("get", "counters"), time.monotonic() - begin
    insist(daemon.ask("get", "pause") is False, "a hidden request paused the daemon")
    ended = daemon.end()  # during the attack
    opened, closed, statuses = results.get(timeout=30)
    attacker.join()
    made = after["processed"] - before["processed"]
    lost = sum(after[name] - before[name] for name in ("dropped", "dropped_recorder"))
    growth, p99 = (watch.peak - memory) / 1024, percentile(watch.waits, 0.99)
    text = (f"{connections} connections for {seconds:g} s: {opened} opened, {closed} closed by lensd, answers {statuses}; "
            f"{made} frames of {took * RATE:.0f}, {lost} lost, {after['late'] - before['late']} late; control p50 {percentile(watch.waits, 0.5):.1f}, p99 {p99:.1f}, "
            f"longest {max(watch.waits):.1f} ms ({percentile(quiet.waits, 0.99):.1f} ms p99 before); memory {growth:+.1f} MiB at "
            f"most; {ended}")
    missed = [what for what, bad in (
        (f"{lost} frames lost", lost > 0), (f"{made} frames only", made < 0.9 * took * RATE),
        (f"p99 {p99:.1f} ms", p99 > 50 * bench.patience), (f"memory {growth:+.1f} MiB", growth > 32)) if bad]
    return text, missed


def main():
    os.environ.setdefault("LENSD", paths.program())
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20
    connections = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with Bench(2, 1) as bench:
        text, missed = measure(bench, seconds, connections)
    print(text)
    for what in missed:
        print("FAILED:", what)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
