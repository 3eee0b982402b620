#!/usr/bin/env python3
"""Runs lensd serve for a long time and looks for growth and lost frames: soak.py [SECONDS [CSV]]

Two daemons run for SECONDS (600). The first one plays a generated source at 60 fps and records into a ring. It gets 20
requests per second, among them parameter and graph changes, and is attacked by a hostile HTTP client with 20
connections. The second one plays an HTTP server that is killed and restarted every 20 to 40 s. Rss, Pss, descriptors
and threads of both are sampled every second. The first fifth, at most five minutes, is warm-up.

Prints the slope of each quantity per hour with its 95 % confidence interval. The interval comes from the means of
twelve parts of the run, because successive samples are not independent. Exit code 1 if the lower end of an interval is
above its limit (memory: 1 MiB/h, descriptors and threads: 0.5/h), if there are errors, if a frame is lost outside the
outages, if less than 99 % of the first daemon's frames are processed, if the recording stops, if a picture returns
later than two seconds after its server, or if TERM takes more than a second.
"""

import math
import multiprocessing
import os
import random
import sys
import time

import paths
from bench import Bench
from hostile import Attack
from senders import Http
from socket_client import connect, percentile
from test_cases import insist

RATE, PARTS = 60, 12
T_95 = 2.228  # Student's t for PARTS - 2 degrees of freedom
MATTERS = {"rss_kib": 1024.0, "pss_kib": 1024.0, "descriptors": 0.5, "threads": 0.5}  # per hour
GRAPHS = "gaussian=sigma=1.2,canny", "gaussian=sigma=1.2,median=radius=1,canny"


class Sample:
    def __init__(self, pid, at):
        self.at, self.rss_kib, self.pss_kib, self.threads = at, 0, 0, 0
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
            for line in rollup:
                if line.startswith(("Rss:", "Pss:")):
                    setattr(self, line[:3].lower() + "_kib", int(line.split()[1]))
        self.threads, self.descriptors = len(os.listdir(f"/proc/{pid}/task")), len(os.listdir(f"/proc/{pid}/fd"))


def slope(samples, what):
    """Returns the slope per hour and half the width of its 95 % confidence interval, from the means of PARTS parts."""
    size = len(samples) // PARTS
    if size < 1:
        return 0.0, math.inf
    points = []
    for k in range(PARTS):
        part = samples[k * size:(k + 1) * size]
        points.append((sum(s.at for s in part) / size, sum(getattr(s, what) for s in part) / size))
    mean_t, mean_v = (sum(p[i] for p in points) / PARTS for i in (0, 1))
    spread = sum((t - mean_t) ** 2 for t, _ in points)
    rise = sum((t - mean_t) * (v - mean_v) for t, v in points) / spread
    rest = sum((v - mean_v - rise * (t - mean_t)) ** 2 for t, v in points)
    return 3600 * rise, 3600 * T_95 * math.sqrt(rest / (PARTS - 2) / spread)


class Traffic:
    """Control traffic of the first daemon: twenty requests per second."""

    def __init__(self, daemon):
        self.daemon, self.waits, self.steps = daemon, [], 0

    def step(self):
        self.steps += 1
        n = self.steps
        if n % 200 == 0:
            command = ("graph-set", GRAPHS[n // 200 % 2])
        elif n % 97 == 0:
            visitor = connect(self.daemon.socket_path)
            visitor.ask("observe", 7, "counters", "frame")
            visitor.ask("stats")
            visitor.close()
            return
        else:
            command = (("set", "canny.low", 40 + n % 30), ("get", "source", "counters", "rate"), ("stats",))[n % 3]
        self.waits.append(self.daemon.client.timed(*command)[1])


class Outages:
    """Kills and restarts the server of the second daemon; counts the frames it loses between the outages."""

    def __init__(self, daemon, server):
        self.daemon, self.server, self.chance = daemon, server, random.Random(5)
        self.returns, self.lost, self.state, self.due = [], 0, "up", time.monotonic() + 10
        self.begin = self.counters()

    def counters(self):
        return self.daemon.ask("get", "counters")

    def step(self, now):
        if self.state == "up" and now >= self.due:
            after = self.counters()
            self.lost += after["dropped"] - self.begin["dropped"]
            self.server.kill()
            self.state, self.due = "down", now + 1 + 3 * self.chance.random()
        elif self.state == "down" and now >= self.due:
            self.due = self.server.start()
            self.state = "returning"
        elif self.state == "returning" and self.daemon.ask("get", "source")["state"] == "playing":
            self.returns.append(time.monotonic() - self.due)
            self.state, self.due = "settling", now + 1  # the server begins with a burst, from which a live source drops pictures
        elif self.state == "settling" and now >= self.due:
            self.begin, self.state, self.due = self.counters(), "up", now + 20 + 20 * self.chance.random()


def attack(port, token, seconds):
    attacker = Attack(port, token, 20)
    while attacker.opened < 10_000_000 and seconds > 0:
        attacker.run(min(1.0, seconds))
        seconds -= 1.0
    attacker.close()


def soak(bench, seconds):
    """Returns both daemons, their samples, the frames of the first one, the traffic, the outages and the times of TERM."""
    ring = bench.write("ring.toml", f'[record]\non = true\nfolder = "{bench.path("ring")}"\nname = "r-%H%M%S.mkv"\n'
                       "split_seconds = 5\nkeep_minutes = 0.5\n")
    first = bench.serve("-c", ring, "--graph", GRAPHS[0], f"test:testsrc2=size=320x240:rate={RATE}", http=True)
    server = Http("320x240")
    server.start()
    second = bench.serve("--graph", "canny", server.url, name="second")
    attacker = multiprocessing.Process(target=attack, args=(first.port, first.token, seconds + 5), daemon=True)
    try:
        first.playing(RATE)
        second.until(lambda: second.ask("get", "source")["state"] == "playing", "the second daemon plays", 20)
        attacker.start()
        traffic, outages = Traffic(first), Outages(second, server)
        samples, begin = ([], []), time.monotonic()
        before, next_sample = first.ask("get", "counters"), begin
        while (now := time.monotonic()) < begin + seconds:
            if now >= next_sample:
                for daemon, list_ in zip((first, second), samples):
                    list_.append(Sample(daemon.process.pid, now - begin))
                next_sample += 1
            traffic.step()
            outages.step(now)
            time.sleep(max(0.0, begin + traffic.steps * 0.05 - time.monotonic()))
        after, took = first.ask("get", "counters"), time.monotonic() - begin
        made = {name: after[name] - before[name] for name in ("processed", "dropped", "dropped_recorder", "late", "errors")}
        ended = [daemon.end() for daemon in (first, second)]
        insist("recording stopped" not in first.messages(), first.messages()[-300:])
        return samples, made, took, traffic, outages, ended
    finally:
        server.close()
        if attacker.pid:
            attacker.terminate()
            attacker.join()


def report(samples, made, took, traffic, outages, ended):
    problems = []
    warm_up = min(300.0, took / 5)
    print(f"{took:.0f} s at {RATE} fps: {made['processed']} frames of {took * RATE:.0f}, {made['dropped']} dropped, "
          f"{made['dropped_recorder']} not recorded, {made['late']} late, {made['errors']} errors")
    print(f"control: {len(traffic.waits)} requests, p50 {percentile(traffic.waits, 0.5):.1f}, p99 "
          f"{percentile(traffic.waits, 0.99):.1f}, longest {max(traffic.waits):.1f} ms")
    returns = sorted(outages.returns)
    print(f"outages: {len(returns)}; {outages.lost} frames lost outside of them" +
          (f"; playing again after median {returns[len(returns) // 2]:.2f}, longest {returns[-1]:.2f} s" if returns else ""))
    for name, list_ in zip(("recording", "reconnecting"), samples):
        steady = [s for s in list_ if s.at >= warm_up]
        for what, limit in MATTERS.items():
            rise, error = slope(steady, what)
            values = [getattr(s, what) for s in steady]
            print(f"{name:12} {what:11} {values[0]:8} → {values[-1]:8}  ({min(values)} to {max(values)})  slope {rise:+9.1f} "
                  f"± {error:.1f} per hour")
            if rise - error > limit:
                problems.append(f"{name}: {what} grows by {rise:.1f} ± {error:.1f} per hour")
    print(f"TERM: {', '.join(ended)}")
    if made["dropped"] or made["dropped_recorder"] or made["errors"] or outages.lost:
        problems.append(f"frames lost: {made}, outside the outages {outages.lost}")
    if made["processed"] < 0.99 * took * RATE:  # on a busy machine, some frames are late
        problems.append(f"{took * RATE - made['processed']:.0f} frames missing")
    if returns and returns[-1] > 2:
        problems.append(f"a picture came back only after {returns[-1]:.1f} s")
    return problems


def main():
    os.environ.setdefault("LENSD", paths.program())
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    with Bench(5, 1) as bench:
        samples, *rest = soak(bench, seconds)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="ascii") as out:
            print("daemon,seconds,rss_kib,pss_kib,threads,descriptors", file=out)
            for number, list_ in enumerate(samples):
                for s in list_:
                    print(f"{number},{s.at:.2f},{s.rss_kib},{s.pss_kib},{s.threads},{s.descriptors}", file=out)
    problems = report(samples, *rest)
    for problem in problems:
        print("FAILED:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
