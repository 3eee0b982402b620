"""Starts lensd_source_probe and reads its events."""

import json
import os
import subprocess
import threading
import time


class Probe:
    """Runs the probe on a URL and collects its events. Killed at the end of a with statement."""

    def __init__(self, url, *options):
        self.process = subprocess.Popen([os.environ["LENSD_E2E_SOURCE_PROBE"], url, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
        self.events, self.arrived = [], threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def read(self):
        for line in self.process.stdout:
            with self.arrived:
                self.events.append(json.loads(line))
                self.arrived.notify_all()

    def wait(self, wanted, since, seconds, what):
        """Waits for an event that `wanted` accepts, from position `since` on, and returns it."""
        end = time.monotonic() + seconds
        with self.arrived:
            while True:
                for event in self.events[since:]:
                    if wanted(event):
                        return event
                if not self.arrived.wait(max(0.0, end - time.monotonic())) and time.monotonic() >= end:
                    last = self.events[-1] if self.events else None
                    raise TimeoutError(f"{what}: not within {seconds} s; last event {last}")

    def mark(self):
        return len(self.events)

    def picture(self, since, seconds=30):
        return self.wait(lambda e: e["event"] == "picture", since, seconds, "a picture")

    def state(self, since, *states, seconds=30):
        return self.wait(lambda e: e["event"] == "state" and e["state"] in states, since, seconds,
                         f"the state {' or '.join(states)}")

    def counts(self):
        mark = self.mark()
        self.process.stdin.write("\n")
        return self.wait(lambda e: e["event"] == "counts", mark, 10, "the counts")

    def end(self):
        """Sends TERM; returns the seconds until the exit."""
        begin = time.monotonic()
        self.process.terminate()
        self.process.wait(30)
        return time.monotonic() - begin

    def finish(self):
        """Closes standard input of the probe, which ends it; returns the seconds until the exit and the exit code."""
        begin = time.monotonic()
        self.process.stdin.close()
        code = self.process.wait(30)
        return time.monotonic() - begin, code
