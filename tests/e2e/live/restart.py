"""Kills and restarts the senders of live sources: restart.py KIND…

Prints the times. A normal run makes 3 restarts with wide limits, so that it passes on a busy machine. With LENSD_LONG=1
it makes 100 with the product's limits: a picture within 1 s of the sender's restart, no growth of threads and
descriptors, at most 1 MiB more memory than after the first restarts.
"""

import os
import random
import sys
import time

from senders import Http, Rtmp, Rtsp, Screen, Skip, Srt, Udp
from source_probe import Probe

LONG = os.environ.get("LENSD_LONG") == "1"
ROUNDS = int(os.environ.get("LENSD_ROUNDS", 100 if LONG else 3))
BACK_WITHIN_S, GROWTH_KIB = (1.0, 1024) if LONG else (10.0, 16384)
KINDS = {"udp": (Udp,), "http": (Http,), "srt": (Srt,), "rtmp": (Rtmp,), "rtsp": (Rtsp,), "screen": (Screen,),
         "udp-low-latency": (Udp, "--low-latency"), "http-low-latency": (Http, "--low-latency"),
         "srt-low-latency": (Srt, "--low-latency")}


def restart(kind):
    make, *options = KINDS[kind]
    sender = make()
    chance = random.Random(7)
    probe = Probe(sender.url, *options)
    back, gone, early = [], [], None
    try:
        probe.state(0, "connecting")
        mark = probe.mark()
        sender.start()
        probe.picture(mark)
        for number in range(ROUNDS):
            time.sleep(0.3 + 0.4 * chance.random())
            mark = probe.mark()
            killed = time.monotonic()
            sender.kill()
            gone.append(probe.state(mark, "stalled", "reconnecting")["t"] - killed)
            time.sleep(1.2 * chance.random())
            mark = probe.mark()
            up = sender.start()
            back.append(probe.picture(mark)["t"] - up)
            if back[-1] > 1:
                print(f"{kind}: round {number}: back only after {back[-1]:.2f} s:",
                      *(f"{e['t'] - up:+.2f} {e['state']} {e['reason']};" for e in probe.events[mark:]), flush=True)
            if number == min(9, ROUNDS // 3):
                time.sleep(0.5)
                early = probe.counts()
        time.sleep(0.5)
        late = probe.counts()
        took, code = probe.finish()
    finally:
        sender.close()
        probe.process.kill()
    back.sort()
    growth = late["rss_kib"] - early["rss_kib"]
    within = sum(t <= 1.0 for t in back)
    print(f"{kind}: {ROUNDS} restarts, picture back after median {back[len(back) // 2] * 1000:.0f} ms, longest "
          f"{back[-1] * 1000:.0f} ms, {within} of {ROUNDS} within 1 s; loss seen after at most "
          f"{max(gone) * 1000:.0f} ms; threads {early['threads']} → {late['threads']}, descriptors "
          f"{early['descriptors']} → {late['descriptors']}, memory {growth:+d} KiB; ended in {took * 1000:.0f} ms",
          flush=True)
    problems = []
    if code != 0:
        problems.append(f"exit code {code}")
    if back[-1] > BACK_WITHIN_S:
        problems.append(f"a picture came back after {back[-1]:.2f} s")
    if late["threads"] > early["threads"] or late["descriptors"] > early["descriptors"]:
        problems.append("threads or descriptors grow")
    if growth > GROWTH_KIB:
        problems.append(f"memory grew by {growth} KiB")
    return [f"{kind}: {problem}" for problem in problems]


def main():
    problems, ran = [], False
    for kind in sys.argv[1:] or KINDS:
        try:
            problems += restart(kind)
            ran = True
        except Skip as missing:
            print(f"{kind} skipped: {missing}")
    for problem in problems:
        print("FAILED:", problem)
    sys.exit(1 if problems else 0 if ran else 77)


main()
