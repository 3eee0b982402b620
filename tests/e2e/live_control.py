"""Misbehaving servers under the daemon itself: what it says, how fast it answers, how soon it ends.

For each manner lensd serve plays a server that never answers, sends a byte a second, breaks off, dries up in the
middle of a stream, or is stopped with SIGSTOP. Meanwhile `get source` is asked 200 times (20 without LENSD_LONG=1)
over the socket, and a few times through `lensd ctl`; then comes TERM. A source that has never shown a picture is
connecting; one that has is shown as stalled.

With LENSD_LONG=1 the product's bounds hold: stalled within a second, 99 of 100 answers within 50 ms, gone a second
after TERM. Otherwise bounds that a busy machine keeps.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "live"))
from cases import insist, run  # noqa: E402
from senders import Closing, Misbehaving, Rtsp, Udp, transport_stream  # noqa: E402
from socket_client import connect, percentile  # noqa: E402

LONG = os.environ.get("LENSD_LONG") == "1"
ASKS, STALL_S, ANSWER_MS, END_S = (200, 1.0, 50, 1.0) if LONG else (20, 10.0, 5000, 10.0)


class Daemon(Closing):
    """lensd serve on a socket of its own; it is killed at the end of a with statement."""

    def __init__(self, url, *options):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "control.sock")
        self.process = subprocess.Popen([os.environ["LENSD"], "serve", "--backend", "cpu", "--socket", self.path,
                                         "--graph", "gaussian=sigma=1.2,canny", *options, url],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client, self.waits = None, []

    def start(self):
        self.client = connect(self.path)

    def source(self):
        data, ms = self.client.timed("get", "source")
        self.waits.append(ms)
        return data

    def until(self, *states, seconds=30):
        """Asks every 20 ms; the monotonic time at which one of the states was seen."""
        end = time.monotonic() + seconds
        while True:
            now = time.monotonic()
            source = self.source()
            if source["state"] in states:
                return now
            insist(now < end, f"{' or '.join(states)} was not shown within {seconds} s: {source}")
            time.sleep(0.02)

    def ctl_ms(self):
        begin = time.monotonic()
        subprocess.run([os.environ["LENSD"], "ctl", "--socket", self.path, "get", "source"], check=True, timeout=30,
                       stdout=subprocess.DEVNULL)
        return (time.monotonic() - begin) * 1000

    def keep_asking(self, count):
        self.waits = []
        for _ in range(count):
            self.source()
            time.sleep(0.015)
        return self.source()

    def end(self):
        begin = time.monotonic()
        self.process.terminate()
        code = self.process.wait(30)
        took = time.monotonic() - begin
        insist(code == 0, f"exit code {code}")
        insist(took <= END_S, f"TERM took {took:.2f} s")
        return took

    def close(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def judge(daemon, shown):
    """200 questions, ctl beside them, then TERM; a line about it."""
    last = daemon.keep_asking(ASKS)
    waits = daemon.waits
    ctl = sorted(daemon.ctl_ms() for _ in range(5 if LONG else 2))
    took = daemon.end()
    p99 = percentile(waits, 0.99)
    insist(p99 <= ANSWER_MS, f"an answer took {p99:.1f} ms at p99")
    return (f"{shown}; then {last['state']}: {last['reason'] or 'no reason'}; {len(waits)} answers p50 "
            f"{percentile(waits, 0.5):.2f} p99 {p99:.2f} longest {max(waits):.2f} ms; lensd ctl {ctl[len(ctl) // 2]:.0f}"
            f" ms; TERM {took * 1000:.0f} ms")


def never_played(manner, **more):
    def case():
        with Misbehaving(manner, **more) as server, Daemon(server.url) as daemon:
            return judge(daemon, daemon.source()["state"])
    return case


def stall(daemon, since):
    """Seconds until stalled was shown, and that it is in time."""
    seen = daemon.until("stalled", "reconnecting") - since
    insist(seen <= STALL_S, f"stalled was shown only after {seen:.2f} s")
    return f"stalled after {seen * 1000:.0f} ms"


def half_open():
    """The good part is over when its last byte was sent; pictures come until then."""
    with Misbehaving("half_open", payload=transport_stream()) as server, Daemon(server.url) as daemon:
        daemon.until("playing")
        while server.dry_since is None:
            time.sleep(0.005)
        return judge(daemon, stall(daemon, server.dry_since))


def loading():
    """`load` of a server that never answers, by another client; TERM comes while it waits."""
    with Misbehaving("silent") as server, Daemon("test:testsrc2=size=320x240:rate=30") as daemon:
        daemon.until("playing")

        def load():
            try:
                connect(daemon.path).ask("load", server.url)
            except (OSError, RuntimeError):
                pass  # the daemon ends meanwhile
        begin = time.monotonic()
        threading.Thread(target=load, daemon=True).start()
        daemon.keep_asking(ASKS // 4)
        shown = f"{daemon.source()['state']} {(time.monotonic() - begin) * 1000:.0f} ms after the request"
        daemon.until("connecting")
        threading.Thread(target=load, daemon=True).start()
        return judge(daemon, shown)


def stopped(make):
    """A sender that is stopped with its connection open."""
    def case():
        with make() as sender, Daemon(sender.url, "--profile=low-latency") as daemon:
            daemon.until("playing")
            time.sleep(1)
            since = time.monotonic()
            sender.send_signal(signal.SIGSTOP)
            shown = stall(daemon, since)
            sender.send_signal(signal.SIGCONT)
            again = time.monotonic()
            back = daemon.until("playing") - again
            sender.send_signal(signal.SIGSTOP)
            return judge(daemon, f"{shown}, playing {back * 1000:.0f} ms after it goes on")
    return case


CASES = {
    "silent": never_played("silent"),
    "slow": never_played("slow"),
    "reset": never_played("reset"),
    "half_open": half_open,
    "loading": loading,
    "stopped_udp": stopped(Udp),
    "stopped_rtsp": stopped(Rtsp),
}


run(CASES)
