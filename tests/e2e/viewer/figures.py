"""Measures the window's reaction times by the UI map that the program writes after each display frame.

    figures.py first LENSD CLIP             milliseconds from the start of the process to the first picture
    figures.py seeks SOCKET MAP FPS FRAMES  median and worst milliseconds from a seek to its picture, paused

The map is written after the frame was presented, so the numbers are upper bounds. For the seeks, the program must be
paused; each seek goes to the frame before a key frame, which costs the most.
"""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

LIMIT_S = 20
KEY_FRAMES = 2  # seconds


class Map:
    """The lines value/NAME of the map. Reads the file only when it changed, because reading takes time from the program."""

    def __init__(self, path):
        self.path, self.written, self.values = Path(path), None, {}

    def get(self, name, default=None):
        try:
            now = self.path.stat()
            written = (now.st_mtime_ns, now.st_ino)  # the times of two files may be equal
            if written != self.written:
                lines = self.path.read_text(errors="replace").splitlines()
                self.values = dict(line[len("value/"):].partition(" ")[::2] for line in lines if line.startswith("value/"))
                self.written = written
        except OSError:
            pass  # the program has not written it yet
        return self.values.get(name, default)


def seconds_until(condition, what):
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > LIMIT_S:
            sys.exit(f"not within {LIMIT_S} s: {what}")
        time.sleep(0.001)
    return time.monotonic() - begin


def first(lensd, clip):
    path = os.environ["LENSD_UI_MAP"]
    Path(path).unlink(missing_ok=True)
    ui = Map(path)
    run = subprocess.Popen([lensd, clip, "--backend=cpu", "--no-audio", "--no-resume"], stdout=subprocess.DEVNULL)
    try:
        taken = seconds_until(lambda: int(ui.get("counts", "0 0 0").split()[1]) > 0, "the first picture")
    finally:
        run.terminate()
        run.wait()
    print(f"{taken * 1000:.0f}")


def seeks(address, path, rate, frames):
    client = socket.socket(socket.AF_UNIX)
    client.connect(address)
    ui = Map(path)
    taken = []
    for key in range(KEY_FRAMES * 2 * rate, frames, KEY_FRAMES * rate):
        frame = key - 1
        request = {"command": ["seek", (frame - 0.5) / rate, "absolute"]}
        client.sendall(json.dumps(request).encode() + b"\n")
        taken.append(seconds_until(lambda: ui.get("frame") == str(frame), f"frame {frame}") * 1000)
        time.sleep(0.2)
    print(f"{sorted(taken)[len(taken) // 2]:.0f} {max(taken):.0f}")


if sys.argv[1] == "first":
    first(sys.argv[2], sys.argv[3])
else:
    seeks(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
