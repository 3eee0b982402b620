"""The daemon with misbehaving servers: the state that it shows, its response times, and its shutdown.

lensd serve opens a server that never answers, sends one byte per second, resets connections, stops sending in the middle of
a stream, or is stopped with SIGSTOP. Meanwhile `get source` is sent 200 times (20 without LENSD_LONG=1) over the socket and
a few times with `lensd ctl`; then TERM. A source without a picture so far is connecting, otherwise stalled.

With LENSD_LONG=1 the product's limits apply: stalled within a second, 99 of 100 answers within 50 ms, exit within a second
of TERM. Otherwise the limits are wide enough for a busy machine.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
from test_cases import insist, run  # noqa: E402
from senders import Closing, Misbehaving, Rtsp, Udp, transport_stream  # noqa: E402
from socket_client import connect, percentile  # noqa: E402

LONG = os.environ.get("LENSD_LONG") == "1"
ASKS, STALL_S, ANSWER_MS, END_S = (200, 1.0, 50, 1.0) if LONG else (20, 10.0, 5000, 10.0)


class Daemon(Closing):
    """lensd serve on a temporary socket; killed at the end of a with statement."""

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
        """Polls every 20 ms; returns the monotonic time at which one of the states was seen."""
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
    """Sends the requests over the socket and with lensd ctl, then TERM; returns a line with the results."""
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
    """Returns the seconds until stalled was shown; fails above the limit."""
    seen = daemon.until("stalled", "reconnecting") - since
    insist(seen <= STALL_S, f"stalled was shown only after {seen:.2f} s")
    return f"stalled after {seen * 1000:.0f} ms"


def half_open():
    """The server stops in the middle of a stream and keeps the connection open."""
    with Misbehaving("half_open", payload=transport_stream()) as server, Daemon(server.url) as daemon:
        daemon.until("playing")
        while server.dry_since is None:
            time.sleep(0.005)
        return judge(daemon, stall(daemon, server.dry_since))


def loading():
    """Another client loads a server that never answers; TERM arrives meanwhile."""
    with Misbehaving("silent") as server, Daemon("test:testsrc2=size=320x240:rate=30") as daemon:
        daemon.until("playing")

        def load():
            try:
                connect(daemon.path).ask("load", server.url)
            except (OSError, RuntimeError):
                pass  # the daemon exits meanwhile
        begin = time.monotonic()
        threading.Thread(target=load, daemon=True).start()
        daemon.keep_asking(ASKS // 4)
        shown = f"{daemon.source()['state']} {(time.monotonic() - begin) * 1000:.0f} ms after the request"
        daemon.until("connecting")
        threading.Thread(target=load, daemon=True).start()
        return judge(daemon, shown)


def stopped(make):
    """Returns a case: a sender is stopped while connected, continues, and is stopped again."""
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
