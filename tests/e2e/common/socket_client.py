"""A client of the control socket: one JSON object per line. An answer has the id of its request, an event has no id."""

import json
import socket
import time


class Client:
    """One connection. Not thread-safe."""

    def __init__(self, path, seconds=30):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds)
        self.socket.connect(path)
        self.lines = self.socket.makefile()
        self.number, self.events = 0, 0

    def ask(self, *command):
        """Returns the answer's data. Raises RuntimeError if the command failed. Counts the events before the answer."""
        self.number += 1
        self.socket.sendall(json.dumps({"command": command, "request_id": self.number}).encode() + b"\n")
        while True:
            line = self.lines.readline()
            if not line:
                raise ConnectionError("the daemon closed the connection")
            answer = json.loads(line)
            if answer.get("request_id") != self.number:
                self.events += 1
                continue
            if answer["error"] != "success":
                raise RuntimeError(f"{' '.join(map(str, command))}: {answer['error']}")
            return answer.get("data")

    def timed(self, *command):
        """Returns the answer's data and the milliseconds that it took."""
        begin = time.monotonic()
        data = self.ask(*command)
        return data, (time.monotonic() - begin) * 1000

    def close(self):
        self.lines.close()
        self.socket.close()


def connect(path, seconds=30):
    """Connects to a daemon that may still be starting."""
    end = time.monotonic() + seconds
    while True:
        try:
            return Client(path)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def percentile(values, share):
    """Returns the percentile `share` (0 to 1) of a non-empty list."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
