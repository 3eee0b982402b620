"""Sources that do not play by the rules: what is shown while they do not, and that the program can always be ended."""

import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "live"))
from senders import Misbehaving, Skip, Udp, free_port, transport_stream  # noqa: E402
from watching import Probe  # noqa: E402

LONG = os.environ.get("LENSD_LONG") == "1"
SOON = 1.0 if LONG else 10.0  # the product's bound, and one that a slow machine keeps


class Failure(Exception):
    pass


def insist(condition, sentence):
    if not condition:
        raise Failure(sentence)


def stopped_sender():
    """SIGSTOP: stalled within a second, then reconnecting; SIGCONT: it plays on."""
    sender = Udp()
    sender.start()
    probe = Probe(sender.url)
    try:
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
        ended = probe.end()
        insist(ended <= SOON, f"TERM took {ended:.2f} s")
        return f"stalled after {stalled * 1000:.0f} ms, given up after {lost:.1f} s, back after {back * 1000:.0f} ms"
    finally:
        sender.send_signal(signal.SIGCONT)
        sender.close()
        probe.process.kill()


def change_of_size_and_codec():
    """The sender comes back with another size, then with another codec: the picture follows."""
    sender = Udp("320x240")
    sender.start()
    probe = Probe(sender.url)
    try:
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
    finally:
        sender.close()
        probe.process.kill()


def loss(*options):
    """Every fifth packet lost: it goes on."""
    sender = Udp()
    sender.start()
    probe = Probe(sender.url, *options)
    try:
        probe.picture(0)
        sender.loss = 0.2
        time.sleep(4)
        before = probe.counts()["frames"]
        time.sleep(2)
        after = probe.counts()["frames"]
        probe.end()
        insist(after > before, "no pictures come with 20 % loss")
        return f"{after - before} pictures in 2 s at 20 % loss"
    finally:
        sender.close()
        probe.process.kill()


def bad_server(manner, reason, **more):
    """The reason is shown, placeholders come, and TERM ends the program within a second."""
    server = Misbehaving(manner, **more)
    probe = Probe(server.url)
    try:
        event = probe.wait(lambda e: reason in e["reason"], 0, 30, f"the reason '{reason}'")
        ended = probe.end()
        insist(ended <= SOON, f"TERM took {ended:.2f} s")
        return f"{event['state']}: {event['reason']}; TERM {ended * 1000:.0f} ms"
    finally:
        probe.process.kill()
        server.close()


def half_open():
    server = Misbehaving("half_open", payload=transport_stream())
    probe = Probe(server.url)
    try:
        probe.picture(0)
        stalled = probe.state(0, "stalled")
        lost = probe.state(0, "reconnecting")
        ended = probe.end()
        insist(ended <= SOON, f"TERM took {ended:.2f} s")
        return f"stalled, then {lost['reason']} {lost['t'] - stalled['t']:.1f} s later; TERM {ended * 1000:.0f} ms"
    finally:
        probe.process.kill()
        server.close()


def term_while_opening():
    """TERM while a silent server keeps the opening waiting, in the program itself."""
    server = Misbehaving("silent")
    try:
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
    finally:
        server.close()


def headless_run():
    """A recording of a live source that goes away: TERM ends it with a whole file and exit code 0."""
    sender = Udp()
    sender.start()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/out.mkv"
        process = subprocess.Popen([os.environ["LENSD"], sender.url, "--headless", "-o", path], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 30
            while not (os.path.exists(path) and os.path.getsize(path) > 0) and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(2)
            sender.kill()
            time.sleep(1.5)  # stalled: no frame comes that could notice the signal
            begin = time.monotonic()
            process.terminate()
            code = process.wait(30)
            took = time.monotonic() - begin
        finally:
            process.kill()
            sender.close()
        insist(code == 0, f"exit code {code}")
        insist(took <= SOON, f"TERM took {took:.2f} s")
        played = subprocess.run([os.environ["LENSD"], path, "--headless", "-o", "null:", "-q"], check=False,
                                capture_output=True, text=True)
        insist(played.returncode == 0 and not played.stderr, f"the recording is damaged: {played.stderr}")
        return f"TERM {took * 1000:.0f} ms, the recording is whole"


def refused_at_once():
    """What can never work ends with its exit code and one line; a source that is down does so headless."""
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
    """A server that points to another internal address is not followed into it."""
    target = Misbehaving("half_open", payload=transport_stream())
    port = target.server.getsockname()[1]
    server = Misbehaving("redirect", location=f"http://localhost:{port}/live.ts")
    probe = Probe(server.url)
    try:
        event = probe.wait(lambda e: "redirects to the internal address" in e["reason"], 0, 30, "the refusal")
        probe.end()
        return event["reason"]
    finally:
        probe.process.kill()
        server.close()
        target.close()


def redirection_followed():
    """To another place on the host that was named, with either profile."""
    told = []
    for options in ([], ["--low-latency"]):
        target = Misbehaving("half_open", payload=transport_stream())
        server = Misbehaving("redirect", location=target.url)
        probe = Probe(server.url, *options)
        try:
            picture = probe.picture(0)
            told.append(f"{picture['width']}×{picture['height']}")
            probe.end()
        finally:
            probe.process.kill()
            server.close()
            target.close()
    return ", ".join(told)


CASES = {
    "refused_at_once": refused_at_once,
    "silent": lambda: bad_server("silent", "no answer"),
    "slow": lambda: bad_server("slow", "no answer within the time for opening"),
    "reset": lambda: bad_server("reset", ""),
    "text": lambda: bad_server("text", "the connection broke off"),
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


def main():
    problems = 0
    for name in sys.argv[1:] or CASES:
        try:
            print(f"{name}: {CASES[name]()}", flush=True)
        except Skip as missing:
            print(f"{name} left out: {missing}")
        except (Failure, TimeoutError, subprocess.SubprocessError) as problem:
            problems += 1
            print(f"FAILED: {name}: {problem}", flush=True)
    sys.exit(1 if problems else 0)


main()
