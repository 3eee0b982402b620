"""Live sources: servers that hang, stop, reset, redirect or return as another stream.

Most of these faults have an end-to-end test with the same helpers; it runs here for one case at a time.
"""

import os
import signal
import subprocess
import sys
import time

import paths
from cases import case
from senders import Misbehaving, Skip, Udp, transport_stream
from test_cases import insist

E2E = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e", "live")


def through(bench, script, name, **environment):
    """Runs one case of an end-to-end test and returns what it printed."""
    if not os.path.exists(os.environ["LENSD_E2E_SOURCE_PROBE"]):
        raise Skip("lensd_source_probe is not built")
    variables = {**os.environ, **environment}
    if bench.patience == 1:
        variables.setdefault("LENSD_LONG", "1")  # the product's own limits
    output = subprocess.run([sys.executable, os.path.join(E2E, script), name], capture_output=True, text=True, check=False,
                          env=variables, timeout=600)
    lines = output.stdout.strip().splitlines() or [output.stderr.strip()[-300:]]
    if lines[0].startswith(f"{name} skipped: "):
        raise Skip(lines[0].removeprefix(f"{name} skipped: "))
    insist(output.returncode == 0, "; ".join(lines)[-400:])
    return f"tests/e2e/live/{script} {lines[0]}"


@case("live", "an HTTP server that accepts and never answers", "connecting; commands are answered; TERM within a second")
def silent_server(bench):
    with Misbehaving("silent") as server:
        daemon = bench.serve(server.url)
        state = daemon.ask("get", "source")["state"]
        insist(state == "connecting", state)
        waits = [daemon.client.timed("get", "source")[1] for _ in range(50)]
        insist(max(waits) < 50 * bench.patience, f"an answer took {max(waits):.0f} ms")
        return f"{state}, longest answer {max(waits):.1f} ms; {daemon.end()}"


@case("live", "an HTTP server that sends one byte per second", "connecting; TERM within a second")
def byte_per_second(bench):
    with Misbehaving("slow") as server:
        daemon = bench.serve(server.url)
        time.sleep(0.5)
        state = daemon.ask("get", "source")["state"]
        insist(state == "connecting", state)
        return f"{state}; {daemon.end()}"


@case("live", "a server that resets every connection; one that sends a web page", "the reason is shown, retries go on")
def resetting_server(bench):
    seen = []
    for manner in ("reset", "text"):
        with Misbehaving(manner) as server:
            daemon = bench.serve(server.url, name=manner)
            daemon.until(lambda d=daemon: d.ask("get", "source")["reason"], "a reason", 10 * bench.patience)
            daemon.until(lambda s=server: len(s.kept) >= 3, "three tries", 10 * bench.patience)
            seen.append(f"{manner}: {daemon.ask('get', 'source')['reason']}, {len(server.kept)} tries; {daemon.end()}")
    return "; ".join(seen)


@case("live", "the stream stops in the middle, the connection stays open", "stalled within a second, then reconnecting", deadline=1,
      slow=True)
def half_open(bench):
    with Misbehaving("half_open", payload=transport_stream()) as server:
        daemon = bench.serve(server.url)
        daemon.until(lambda: daemon.ask("get", "source")["state"] == "playing", "playing", 20 * bench.patience)
        while server.dry_since is None:
            time.sleep(0.01)
        daemon.until(lambda: daemon.ask("get", "source")["state"] != "playing", "stalled")
        took = time.monotonic() - server.dry_since
        return f"{daemon.ask('get', 'source')['state']} {took * 1000:.0f} ms after the last byte; {daemon.end()}"


@case("live", "a UDP sender is stopped with SIGSTOP for 2 s, then continues", "stalled and playing again within a second each",
      deadline=1, slow=True)
def stopped_sender(bench):
    with Udp() as sender:
        daemon = bench.serve(sender.url)

        def state():
            return daemon.ask("get", "source")["state"]
        daemon.until(lambda: state() == "playing", "playing", 20 * bench.patience)
        time.sleep(0.5)
        sender.send_signal(signal.SIGSTOP)
        stalled = daemon.until(lambda: state() != "playing", "stalled")
        time.sleep(2)
        sender.send_signal(signal.SIGCONT)
        back = daemon.until(lambda: state() == "playing", "playing again")
        return f"stalled after {stalled * 1000:.0f} ms, back after {back * 1000:.0f} ms; {daemon.end()}"


for kind in ("udp", "http", "srt", "rtmp", "rtsp", "screen"):
    def restarted(bench, which=kind):
        return through(bench, "restart.py", which, LENSD_ROUNDS="3")
    restarted.__name__ = f"restarted_{kind}"
    case("live", f"a sender of {kind} is killed and restarted three times", "the picture is back within a second of the sender",
         slow=True, deadline=1)(restarted)

for name, how, expected in (
        ("change_of_size_and_codec", "the sender returns with another size, then with another codec", "each size is shown"),
        ("loss", "20 % of the packets are lost", "pictures still arrive"),
        ("loss_low_latency", "20 % of the packets are lost, low-latency profile", "pictures still arrive"),
        ("redirection", "a redirection to another internal address", "refused, with the reason"),
        ("redirection_followed", "a redirection on the same host", "followed"),
        ("refused_at_once", "impossible addresses, unknown options, closed ports", "the documented exit code, one line"),
        ("term_while_opening", "TERM while a server does not answer, headless", "ends within a second"),
        ("headless_run", "a headless recording whose source disappears, then TERM", "exit 0, the file is complete")):
    def misbehaving(bench, which=name):
        return through(bench, "misbehaviour.py", which)
    misbehaving.__name__ = name
    case("live", how, expected, slow=True, deadline=1)(misbehaving)


@case("live", "a camera is unplugged and plugged in again while the daemon plays, records and sends",
      "the picture and the controls return, recordings can be read, no thread or descriptor is lost", slow=True)
def camera_unplugged(bench):
    output = subprocess.run([os.path.join(paths.ROOT, "tests", "cameras", "unplug.sh")], capture_output=True, text=True,
                            check=False, env={**os.environ, "LENSD": bench.lensd, "LENSD_CYCLES": "6"}, timeout=1200)
    lines = (output.stdout + output.stderr).strip().splitlines()
    if output.returncode == 77:
        raise Skip(lines[-1] if lines else "needs the kernel's simulated camera")
    insist(output.returncode == 0, "; ".join(lines)[-400:])
    return "tests/cameras/unplug.sh " + lines[-1]
