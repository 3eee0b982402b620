#!/usr/bin/env python3
"""Unplugs a simulated camera and plugs it in again: unplug_cycles.py SOCKET CAMERA BUS CYCLES SEED PROCESS

SOCKET is the daemon's, CAMERA the device file, BUS the camera's number in the driver, PROCESS the daemon's process id.
Each time the picture must return with brightness 77. Prints one line at the end, with the slowest return.

Asks the daemon and the driver directly: in an emulated machine a start of `lensd ctl` or v4l2-ctl takes seconds.
"""

import fcntl
import os
import random
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e" / "common"))
from socket_client import connect  # noqa: E402

DRIVER = Path("/sys/bus/platform/drivers/vivid")
BRIGHTNESS, VALUE = 0x00980900, 77
GET_CONTROL = 0xC008561B  # VIDIOC_G_CTRL of linux/videodev2.h


def brightness(camera):
    """Returns the control's value in the driver, or None if there is no such device at the moment."""
    try:
        device = os.open(camera, os.O_RDWR | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return struct.unpack("Ii", fcntl.ioctl(device, GET_CONTROL, struct.pack("Ii", BRIGHTNESS, 0)))[1]
    except OSError:
        return None
    finally:
        os.close(device)


class Resources:
    """Threads, file descriptors and memory of a process."""

    def __init__(self, process):
        self.threads = len(os.listdir(f"/proc/{process}/task"))
        self.descriptors = len(os.listdir(f"/proc/{process}/fd"))
        status = Path(f"/proc/{process}/status").read_text()
        self.kibibytes = int(status.split("VmRSS:")[1].split()[0])


def wait_for(seconds, condition, what):
    """Ends the program with the text what() if the condition does not become true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"unplug: {what()}")
        time.sleep(0.02)


def run(socket, camera, bus, cycles, seed, process):
    generator = random.Random(int(seed))
    client = connect(socket)

    def state():
        return client.ask("get", "source")["state"]

    def processed():
        return client.ask("get", "counters")["processed"]

    slowest, first = 0, None
    for cycle in range(1, int(cycles) + 1):
        time.sleep(generator.random())
        (DRIVER / "unbind").write_text(f"vivid.{bus}")
        # In one cycle of three, plug in again at once, at any point of the program's reaction.
        if generator.randrange(3):
            wait_for(60, lambda: state() == "reconnecting", lambda: f"cycle {cycle}: the lost camera is not noticed")
        else:
            time.sleep(generator.random() / 5)
        begin, before = time.monotonic(), processed()
        (DRIVER / "bind").write_text(f"vivid.{bus}")
        wait_for(90, lambda: state() == "playing" and processed() > before, lambda: f"cycle {cycle}: no picture")
        wait_for(10, lambda: brightness(camera) == VALUE,
                 lambda: f"cycle {cycle}: brightness is {brightness(camera)} instead of {VALUE}")
        slowest = max(slowest, time.monotonic() - begin)
        if cycle == 2:
            first = Resources(process)
    wait_for(20, lambda: state() == "playing", lambda: "the camera does not play")
    if first is None:
        return
    last = Resources(process)
    print(f"{cycles} cycles, threads {first.threads} -> {last.threads}, descriptors {first.descriptors} -> "
          f"{last.descriptors}, memory {first.kibibytes} -> {last.kibibytes} kB, slowest return {slowest:.1f} s")
    if last.threads > first.threads or last.descriptors > first.descriptors:
        sys.exit("unplug: threads or file descriptors grow")


if __name__ == "__main__":
    run(*sys.argv[1:])
