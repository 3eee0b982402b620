"""Sources that are killed and come back, again and again: live_restart.py KIND…

Times are printed; the bounds of a normal run are wide, so that a slow machine does not fail it. With LENSD_LONG=1
there are 100 rounds instead of 10 and the product's own bounds hold: a picture 1 s after the source is up, threads
and descriptors flat, memory not more than 1 MiB above what it was after the first rounds.
"""

import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "live"))
from senders import Http, Rtmp, Rtsp, Screen, Skip, Srt, Udp  # noqa: E402
from watching import Probe  # noqa: E402

LONG = os.environ.get("LENSD_LONG") == "1"
ROUNDS = int(os.environ.get("LENSD_ROUNDS", 100 if LONG else 10))
BACK_WITHIN, GROWTH_KIB = (1.0, 1024) if LONG else (10.0, 16384)
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
    if back[-1] > BACK_WITHIN:
        problems.append(f"a picture came back only after {back[-1]:.2f} s")
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
            print(f"{kind} left out: {missing}")
    for problem in problems:
        print("FAILED:", problem)
    sys.exit(1 if problems else 0 if ran else 77)


main()
