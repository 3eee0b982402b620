"""Misbehaving live sources: the state and reason that are shown, and a prompt exit on TERM."""

import os
import signal
import subprocess
import sys
import tempfile
import time

from test_cases import insist, run
from senders import Misbehaving, Udp, free_port, transport_stream
from source_probe import Probe

LONG = os.environ.get("LENSD_LONG") == "1"
SOON = 1.0 if LONG else 10.0  # the product's limit, or one for a busy machine


def end(probe):
    """Sends TERM; returns the seconds until the exit; fails above the limit."""
    took = probe.end()
    insist(took <= SOON, f"TERM took {took:.2f} s")
    return took


def stopped_sender():
    """SIGSTOP: stalled within a second, then reconnecting. SIGCONT: playing."""
    with Udp() as sender, Probe(sender.url) as probe:
        probe.picture(0)
        time.sleep(1)
        mark = probe.mark()
        sender.send_signal(signal.SIGSTOP)
        begin = time.monotonic()
        stalled = probe.state(mark, "stalled")["t"] - begin
        insist(stalled <= SOON, f"stalled was shown only after {stalled:.2f} s")
        lost = probe.state(mark, "reconnecting")["t"] - begin
        mark = probe.mark()
        sender.send_signal(signal.SIGCONT)
        again = time.monotonic()
        back = probe.picture(mark)["t"] - again
        end(probe)
        return f"stalled after {stalled * 1000:.0f} ms, lost after {lost:.1f} s, back after {back * 1000:.0f} ms"


def change_of_size_and_codec():
    """The sender returns with another size, then with another codec."""
    with Udp("320x240") as sender, Probe(sender.url) as probe:
        first = probe.picture(0)
        sizes = [(first["width"], first["height"])]
        for size, codec in (("640x360", "libx264"), ("176x144", "mpeg2video"), ("320x240", "libx264")):
            mark = probe.mark()
            sender.kill()
            probe.state(mark, "stalled", "reconnecting")
            mark = probe.mark()
            sender.size, sender.codec = size, codec
            sender.start()
            wanted = tuple(int(n) for n in size.split("x"))
            picture = probe.wait(lambda e, w=wanted: e["event"] == "picture" and (e["width"], e["height"]) == w, mark,
                                 30, f"a picture of {size} {codec}")
            sizes.append((picture["width"], picture["height"]))
        probe.end()
        return " → ".join(f"{w}×{h}" for w, h in sizes)


def loss(*options):
    """With 20 % packet loss pictures still arrive."""
    with Udp() as sender, Probe(sender.url, *options) as probe:
        probe.picture(0)
        sender.loss = 0.2
        time.sleep(4)
        before = probe.counts()["frames"]
        time.sleep(2)
        after = probe.counts()["frames"]
        probe.end()
        insist(after > before, "no pictures arrive with 20 % loss")
        return f"{after - before} pictures in 2 s at 20 % loss"


def bad_server(manner, reason, **more):
    """The reason is shown, and TERM stops the program within SOON seconds."""
    with Misbehaving(manner, **more) as server, Probe(server.url) as probe:
        event = probe.wait(lambda e: reason in e["reason"], 0, 30, f"the reason '{reason}'")
        return f"{event['state']}: {event['reason']}; TERM {end(probe) * 1000:.0f} ms"


def half_open():
    with Misbehaving("half_open", payload=transport_stream()) as server, Probe(server.url) as probe:
        probe.picture(0)
        stalled = probe.state(0, "stalled")
        lost = probe.state(0, "reconnecting")
        return f"stalled, then {lost['reason']} {lost['t'] - stalled['t']:.1f} s later; TERM {end(probe) * 1000:.0f} ms"


def term_while_opening():
    """TERM while the program waits for a silent server."""
    with Misbehaving("silent") as server:
        took = []
        for options in (["--headless", "-o", "null:"], ["--headless", "-o", "null:", "--profile=low-latency"]):
            process = subprocess.Popen([os.environ["LENSD"], server.url, *options], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.7)
            begin = time.monotonic()
            process.terminate()
            process.wait(30)
            took.append(time.monotonic() - begin)
        insist(max(took) <= SOON, f"TERM took {max(took):.2f} s")
        return f"TERM at most {max(took) * 1000:.0f} ms"


def headless_run():
    """A recording of a live source that disappears: TERM completes the file and ends the program."""
    with Udp() as sender, tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/out.mkv"
        process = subprocess.Popen([os.environ["LENSD"], sender.url, "--headless", "-o", path], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 30
            while not (os.path.exists(path) and os.path.getsize(path) > 0) and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(2)
            sender.kill()
            time.sleep(1.5)  # stalled: the program must notice the signal although no frame arrives
            begin = time.monotonic()
            process.terminate()
            code = process.wait(30)
            took = time.monotonic() - begin
        finally:
            process.kill()
        insist(code == -signal.SIGTERM, f"exit code {code}")
        insist(took <= SOON, f"TERM took {took:.2f} s")
        played = subprocess.run([os.environ["LENSD"], path, "--headless", "-o", "null:", "-q"], check=False,
                                capture_output=True, text=True)
        insist(played.returncode == 0 and not played.stderr, f"the recording is damaged: {played.stderr}")
        return f"TERM {took * 1000:.0f} ms, the recording is complete"


def refused_at_once():
    """Invalid sources, and unavailable ones in headless runs: the exit code and one line on standard error."""
    closed = free_port()
    cases = [(4, "ftp://127.0.0.1/x", []), (4, "v4l2:/dev/null", []), (4, "/dev/video99", []),
             (4, f"http://127.0.0.1:{closed}/x.ts", []), (4, f"rtsp://127.0.0.1:{closed}/x", []),
             (4, "file:///etc/passwd", []), (2, "udp://127.0.0.1:1", ["--profile=fast"]),
             (2, "udp://127.0.0.1:1", ["--rtsp-transport=pigeon"])]
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
        config.write('[source]\noptions = "no_such_option=1"\n')
        config.flush()
        cases.append((3, "udp://127.0.0.1:1", ["-c", config.name]))
        for code, url, options in cases:
            run = subprocess.run([os.environ["LENSD"], url, "--headless", "-o", "null:", *options], check=False,
                                 capture_output=True, text=True, timeout=30)
            insist(run.returncode == code, f"{url} {options}: exit code {run.returncode}, not {code}: {run.stderr}")
            insist(run.stderr.count("\n") == 1, f"{url} {options}: not one line: {run.stderr}")
    return f"{len(cases)} cases"


def redirection():
    """A redirection to another internal address is rejected."""
    with (Misbehaving("half_open", payload=transport_stream()) as target,
          Misbehaving("redirect", location=target.url.replace("127.0.0.1", "localhost")) as server,
          Probe(server.url) as probe):
        event = probe.wait(lambda e: "redirects to the internal address" in e["reason"], 0, 30, "the refusal")
        probe.end()
        return event["reason"]


def redirection_followed():
    """A redirection on the same host is followed, with both profiles."""
    told = []
    for options in ([], ["--low-latency"]):
        with (Misbehaving("half_open", payload=transport_stream()) as target,
              Misbehaving("redirect", location=target.url) as server, Probe(server.url, *options) as probe):
            picture = probe.picture(0)
            told.append(f"{picture['width']}×{picture['height']}")
            probe.end()
    return ", ".join(told)


CASES = {
    "refused_at_once": refused_at_once,
    "silent": lambda: bad_server("silent", "no answer"),
    "slow": lambda: bad_server("slow", "no answer before the open timeout"),
    "reset": lambda: bad_server("reset", ""),
    "text": lambda: bad_server("text", "connection lost"),
    "half_open": half_open,
    "term_while_opening": term_while_opening,
    "stopped_sender": stopped_sender,
    "headless_run": headless_run,
    "change_of_size_and_codec": change_of_size_and_codec,
    "loss": loss,
    "loss_low_latency": lambda: loss("--low-latency"),
    "redirection": redirection,
    "redirection_followed": redirection_followed,
}


run(CASES)
