"""Measures the latency of live sources through the pipeline: latency.py [TRANSPORT…]

Senders draw the monotonic time into their pictures (time_code.hpp) and send them over loopback. A probe with the pipeline
of `lensd serve --profile=low-latency` reads it back. The latency includes encoding and sending; the sender's share is
printed as well.

LENSD_LATENCY_SECONDS is the duration of one measurement (10 with LENSD_LONG=1, otherwise 2), LENSD_LATENCY_RUNS the
number of runs (1), LENSD_LATENCY_RATES the frame rates ("60 30" with LENSD_LONG=1, otherwise "30"),
LENSD_LATENCY_GRAPH a graph, LENSD_LATENCY_SIZE the size (640x480), LENSD_LATENCY_PROFILE the profile (low-latency).

With LENSD_LONG=1 the best run of each transport must have a 99th percentile of at most two frame times. Otherwise pictures
must arrive with readable codes.
"""

import json
import os
import subprocess
import sys
import time

from senders import HERE, SYSTEM_PYTHON, Rtsp, Skip, free_port, listening, wait_until

LONG = os.environ.get("LENSD_LONG") == "1"
SECONDS = float(os.environ.get("LENSD_LATENCY_SECONDS", 10 if LONG else 2))
RUNS = int(os.environ.get("LENSD_LATENCY_RUNS", 1))
RATES = [int(rate) for rate in os.environ.get("LENSD_LATENCY_RATES", "60 30" if LONG else "30").split()]
GRAPH = os.environ.get("LENSD_LATENCY_GRAPH", "")
WIDTH, HEIGHT = os.environ.get("LENSD_LATENCY_SIZE", "640x480").split("x")
PROFILE = os.environ.get("LENSD_LATENCY_PROFILE", "low-latency")
SENDER, PROBE = os.environ["LENSD_TIME_CODE_SENDER"], os.environ["LENSD_LATENCY_PROBE"]


def sender(kind, scheme):
    def start(rate, seconds):
        port = free_port()
        url = f"udp://127.0.0.1:{port}" if scheme == "udp" else f"http://127.0.0.1:{port}/live"
        process = subprocess.Popen([SENDER, kind, url, WIDTH, HEIGHT, str(rate), str(int(seconds))],
                                   stdout=subprocess.PIPE, text=True)
        if scheme == "http":
            wait_until(lambda: listening(port), 20, "the sender's start")
        return process, url
    return start


def rtsp(codec):
    def start(rate, _):
        Rtsp()  # skips if no server is installed
        port = free_port()
        process = subprocess.Popen([SYSTEM_PYTHON, f"{HERE}/time_code_rtsp.py", str(port), WIDTH, HEIGHT, str(rate),
                                    codec], stdout=subprocess.PIPE, text=True)
        wait_until(lambda: listening(port), 20, "the RTSP server's start")
        return process, f"rtsp://127.0.0.1:{port}/live"
    return start


TRANSPORTS = {
    "udp-ts-h264": sender("ts", "udp"),
    "http-ts-h264": sender("ts", "http"),
    "http-mjpeg": sender("mjpeg", "http"),
    "http-raw": sender("raw", "http"),
    "rtsp-h264": rtsp("h264"),
    "rtsp-mjpeg": rtsp("mjpeg"),
}


def measure(start, rate):
    process, url = start(rate, SECONDS + 6)
    try:
        command = [PROBE, url, str(SECONDS)]
        if PROFILE == "low-latency":
            command.append("--low-latency")
        if GRAPH:
            command += ["--graph", GRAPH]
        run = subprocess.run(command, stdout=subprocess.PIPE, timeout=SECONDS + 60, check=True)
        result = json.loads(run.stdout)
        process.terminate()
        text = process.stdout.read() if process.wait(30) == 0 else ""
        result["sender"] = json.loads(text) if text else None
        return result
    finally:
        process.kill()


def line(name, rate, result):
    def four(part):
        return "/".join(f"{part[key]:.1f}" for key in ("p50", "p95", "p99", "max"))
    parts = "; ".join(f"{what} {four(result[what])}" for what in ("decoded", "taken", "graph", "seen"))
    sent = f"; sender {four(result['sender'])}" if result["sender"] else ""
    return (f"{name} {rate} fps: age {four(result['age'])} ms (p50/p95/p99/max), {result['frames']} frames, "
            f"{result['skipped']} skipped, {result['unread']} unread; {parts}{sent}")


def main():
    problems, ran = [], False
    for name in sys.argv[1:] or TRANSPORTS:
        for rate in RATES:
            try:
                results = []
                for _ in range(RUNS):
                    results.append(measure(TRANSPORTS[name], rate))
                    print(line(name, rate, results[-1]), flush=True)
                    time.sleep(0.2)
                ran = True
            except Skip as missing:
                print(f"{name} left out: {missing}")
                break
            best = min(results, key=lambda r: r["age"]["p99"])
            if best["frames"] < SECONDS * rate * (0.9 if LONG else 0.1):
                problems.append(f"{name}: only {best['frames']} frames")
            if best["unread"] > best["frames"] / 100:
                problems.append(f"{name}: {best['unread']} codes could not be read")
            if LONG and best["age"]["p99"] > 2000 / rate:
                problems.append(f"{name} at {rate} fps: p99 {best['age']['p99']:.1f} ms")
    for problem in problems:
        print("FAILED:", problem)
    sys.exit(1 if problems else 0 if ran else 77)


main()
