"""Runs lensd serve with control traffic for LENSD_LONG_SECONDS (20); checks for lost frames and growing resources.

Every 50 ms, a client reads values or sets a parameter. Instead, it loads a graph once in ten seconds, and another
client connects and disconnects once in ten seconds. A third client receives events. Memory, threads and descriptors
are sampled once a second. The first fifth of the run, at most two minutes, is warm-up. LENSD_LONG_SOURCE sets another
source (its rate: LENSD_LONG_RATE), LENSD_LONG_CSV a file for the samples. The memory slope is that of a least-squares
line through the samples. Its standard error comes from the means of ten parts of the run, because successive samples
are not independent.

Threads and descriptors must not grow permanently. Memory must not grow by more than 64 MiB. With LENSD_LONG=1 the other
limits are for an idle machine: no dropped frame, no error, 99.9 % of the expected frames (otherwise 5 %), and a memory
slope of at most 1 MiB/h plus twice the standard error.
"""

import math
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
from socket_client import connect, percentile  # noqa: E402

LONG = os.environ.get("LENSD_LONG") == "1"
SECONDS = float(os.environ.get("LENSD_LONG_SECONDS", 20))
RATE = float(os.environ.get("LENSD_LONG_RATE", 60))
SOURCE = os.environ.get("LENSD_LONG_SOURCE", f"test:testsrc2=size=640x480:rate={RATE:g}")
GRAPHS = "gaussian=sigma=1.2,canny", "gaussian=sigma=1.2,median=radius=1,canny"


class Sample:
    def __init__(self, pid, at):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            fields = dict(line.split(":", 1) for line in status if ":" in line)
        self.at = at
        self.rss_kib, self.threads = int(fields["VmRSS"].split()[0]), int(fields["Threads"])
        self.descriptors = len(os.listdir(f"/proc/{pid}/fd"))


def slope(samples):
    """Slope of the memory in KiB per hour (least squares)."""
    n = len(samples)
    mean_t, mean_r = sum(s.at for s in samples) / n, sum(s.rss_kib for s in samples) / n
    spread = sum((s.at - mean_t) ** 2 for s in samples)
    return 3600 * sum((s.at - mean_t) * (s.rss_kib - mean_r) for s in samples) / spread


def slope_error(samples, parts=10):
    """Standard error of the memory slope in KiB per hour, from the means of `parts` parts of the run."""
    size = len(samples) // parts
    if size < 1:
        return math.inf
    means = []
    for k in range(parts):
        part = samples[k * size:(k + 1) * size]
        means.append((sum(s.at for s in part) / size, sum(s.rss_kib for s in part) / size))
    mean_t, mean_r = (sum(m[i] for m in means) / parts for i in (0, 1))
    spread = sum((t - mean_t) ** 2 for t, _ in means)
    rise = sum((t - mean_t) * (r - mean_r) for t, r in means) / spread
    rest = sum((r - mean_r - rise * (t - mean_t)) ** 2 for t, r in means)
    return 3600 * math.sqrt(rest / (parts - 2) / spread)


class Traffic:
    """The actions of the clients, one every 50 ms."""

    def __init__(self, path):
        self.path = path
        self.client, self.listener = connect(path), connect(path)
        while self.counters()["processed"] < 1:  # there is no graph before the first frame
            time.sleep(0.05)
        self.listener.ask("observe", 1, "frame", "counters", "canny.low")
        self.waits, self.steps = [], 0

    def say(self, *command):
        data, ms = self.client.timed(*command)
        self.waits.append(ms)
        return data

    def step(self):
        self.steps += 1
        n = self.steps
        if n % 200 == 0:
            self.say("graph-set", GRAPHS[n // 200 % 2])
        elif n % 100 == 0:
            visitor = connect(self.path)
            visitor.ask("observe", 7, "counters")
            visitor.ask("stats")
            visitor.close()
        elif n % 3 == 0:
            self.say("set", "canny.low", 40 + n % 30)
        elif n % 3 == 1:
            self.say("get", "source", "counters", "rate")
        else:
            self.say("stats")
        if n % 10 == 0:
            self.listener.ask("get", "frame")  # reads pending events

    def counters(self):
        return self.client.ask("get", "counters")


def watch(daemon, path):
    traffic = Traffic(path)
    samples, begin = [], time.monotonic()
    first, next_sample = traffic.counters(), begin
    while (now := time.monotonic()) < begin + SECONDS:
        if daemon.poll() is not None:
            raise RuntimeError(f"the daemon ended with code {daemon.returncode} after {now - begin:.0f} s")
        if now >= next_sample:
            samples.append(Sample(daemon.pid, now - begin))
            next_sample += 1
        traffic.step()
        time.sleep(max(0.0, begin + traffic.steps * 0.05 - time.monotonic()))
    last, took = traffic.counters(), time.monotonic() - begin
    made = {name: last[name] - first[name] for name in ("processed", "dropped", "late", "errors")}
    return samples, made, took, traffic


def report(samples, made, took, traffic):
    problems = []
    warm_up = min(120.0, SECONDS / 5)
    steady = [s for s in samples if s.at >= warm_up]
    expected = took * RATE
    growth, error = slope(steady), slope_error(steady)
    threads, descriptors = ({getattr(s, what) for s in steady} for what in ("threads", "descriptors"))
    print(f"{SOURCE}: {took:.0f} s; {made['processed']} frames of {expected:.0f} expected "
          f"({100 * made['processed'] / expected:.2f} %), {made['dropped']} dropped, {made['late']} late, "
          f"{made['errors']} errors")
    print(f"memory {steady[0].rss_kib} → {steady[-1].rss_kib} KiB (lowest {min(s.rss_kib for s in steady)}, highest "
          f"{max(s.rss_kib for s in steady)}), slope {growth:+.0f} ± {error:.0f} KiB/h after {warm_up:.0f} s of warm-up")
    print(f"threads {min(threads)} to {max(threads)}, descriptors {min(descriptors)} to {max(descriptors)}")
    print(f"control: {len(traffic.waits)} requests, p50 {percentile(traffic.waits, 0.5):.1f}, "
          f"p99 {percentile(traffic.waits, 0.99):.1f}, longest {max(traffic.waits):.1f} ms; "
          f"{traffic.listener.events} events heard", flush=True)
    # A client that has just disconnected may still be counted; only lasting growth is an error.
    half = len(steady) // 2
    for what in ("threads", "descriptors"):
        early, late = (min(getattr(s, what) for s in part) for part in (steady[:half], steady[half:]))
        if late > early:
            problems.append(f"{what} grew from {early} to {late}")
    if made["processed"] < expected * (0.999 if LONG else 0.05):
        problems.append(f"only {made['processed']} frames")
    if LONG and (made["dropped"] or made["errors"]):
        problems.append(f"{made['dropped']} frames dropped, {made['errors']} errors")
    if LONG and growth - 2 * error > 1024:
        problems.append(f"memory grows by {growth:.0f} KiB/h")
    if max(s.rss_kib for s in steady) - steady[0].rss_kib > 65536:
        problems.append("memory grew by more than 64 MiB")
    return problems


def main():
    path = os.path.join(sys.argv[1], "long.sock")
    command = [os.environ["LENSD"], "serve", "--backend", "cpu", "--socket", path, "--loop-file=inf", "--graph",
               GRAPHS[0], SOURCE]
    daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        samples, made, took, traffic = watch(daemon, path)
        begin = time.monotonic()
        daemon.terminate()
        code = daemon.wait(30)
        print(f"TERM ended it in {(time.monotonic() - begin) * 1000:.0f} ms with code {code}")
    finally:
        daemon.kill()
    if os.environ.get("LENSD_LONG_CSV"):
        with open(os.environ["LENSD_LONG_CSV"], "w", encoding="ascii") as out:
            print("seconds,rss_kib,threads,descriptors", file=out)
            for s in samples:
                print(f"{s.at:.2f},{s.rss_kib},{s.threads},{s.descriptors}", file=out)
    problems = report(samples, made, took, traffic) + ([f"exit code {code}"] if code else [])
    for problem in problems:
        print("FAILED:", problem)
    sys.exit(1 if problems else 0)


main()
