"""Single calls that fail: allocation, files, sockets, threads, FFmpeg (inject/functions.inc).

One case per function. A batch run decodes, filters and records a clip; a daemon plays, records, answers the socket and
HTTP, and ends. Each is repeated with the first, the last and other calls of the function failing.
"""

import os
import subprocess
import time

from bench import is_library_abort
from cases import case
from injection import FUNCTIONS, Injection
from senders import Skip, free_port
from socket_client import Client
from test_cases import insist

FRAMES = 8
COUNTS = {}  # scenario → calls of each function in a run without failures


def clip(bench):
    path = bench.path("clip.mkv")
    if not os.path.exists(path):
        made = bench.run("test:testsrc2=size=96x64:rate=60", "--headless", "-q", "--frames", str(FRAMES), "-o", path)
        insist(made.code == 0, made.err)
    return path


# Calls that allocate memory. FFmpeg's demuxers treat some failed allocations as the end of the file.
MEMORY = ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc")


def batch(bench, what=""):
    """Returns the injection and the outcome as text. Fails on a signal, a hang, and on frames lost without a message."""
    injection, out = Injection(bench, what), bench.path("out.mkv")
    result = bench.run(clip(bench), "--headless", "-q", "--threads", "2", "--graph", "median,canny", "--overwrite", "-o", out,
                       environment=injection.environment, may_abort=what.startswith(MEMORY))
    if result.code < 0:
        return injection, "ended by a library"
    insist(result.code in (0, 1, 3, 4, 5), f"{what}: exit code {result.code}: {result.err[-300:]}")
    insist(result.code == 0 or result.err.strip(), f"{what}: exit code {result.code} without a message")
    if result.code == 0 and not result.err and not what.startswith(MEMORY):
        found = bench.frames(out)[1]
        insist(len(found) == FRAMES, f"{what}: exit 0 without a message, {len(found)} of {FRAMES} frames in the output")
    return injection, f"exit {result.code}"


def use(daemon_socket, port):
    """Uses the daemon as clients do; failures of requests are expected."""
    try:
        client = Client(daemon_socket, 3)
    except OSError:
        return
    for command in (("get", "frame"), ("set", "canny.low", 60), ("graph-set", "median,canny"), ("snapshot", "a.jpg"), ("stats",)):
        try:
            client.ask(*command)
        except RuntimeError:
            pass
        except (OSError, ValueError):
            break
    client.close()
    subprocess.run(["curl", "-s", "-m", "3", "-o", "/dev/null", f"http://127.0.0.1:{port}/metrics",
                    "-o", "/dev/null", f"http://127.0.0.1:{port}/snapshot.png"], check=False)


def served(bench, what=""):
    """Returns the injection and the outcome as text. Fails on a signal and on a daemon that does not end."""
    injection, port, path = Injection(bench, what), free_port(), bench.path("s.sock")
    for name in os.listdir(bench.work):
        if name.startswith(("rec", "s.sock")):
            os.unlink(bench.path(name))
    command = [bench.lensd, "serve", "--backend", "cpu", "--socket", path, "--http", str(port), "--threads", "2", "--graph",
               "canny", "--record", bench.path("rec.mkv"), "-c", bench.write("empty.toml", ""), "--loop-file=inf", clip(bench)]
    with open(bench.path("serve.err"), "wb") as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                   env={**bench.environment, "LENSD_HTTP_AUTH": "false", **injection.environment})
    try:
        end = time.monotonic() + 3 * bench.patience
        while not os.path.exists(path) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        use(path, port)
        time.sleep(0.1)
        went_on = process.poll() is None
        process.terminate()
        begin = time.monotonic()
        process.wait(10)
        took = time.monotonic() - begin
    finally:
        process.kill()
        process.wait()
    with open(bench.path("serve.err"), encoding="utf-8", errors="replace") as err:
        output = err.read()
    code = process.returncode
    if what.startswith(MEMORY) and is_library_abort(code, output):
        return injection, "ended by a library"
    insist(code in (0, 1, 3, 4, 5, 143), f"{what}: serve ended with {code}: {output[-300:]}")
    # Boost.Asio ignores a failed epoll_ctl(). The HTTP thread may then notice the shutdown only when a timer expires;
    # the deadline for a request head is 5 s.
    limit = 6 if what.startswith("epoll_ctl") else 1
    insist(not went_on or took <= limit * bench.patience, f"{what}: TERM took {took:.1f} s")
    insist(code == 0 or output.strip(), f"{what}: exit code {code} without a message")
    return injection, "goes on" if went_on and code == 0 else f"exit {code}"


def positions(calls, count):
    """Returns the numbers of the calls to fail: all if there are at most `count`, otherwise `count` of them: the first
    half consecutive, the others evenly spaced up to the last call."""
    if calls <= count:
        return list(range(1, calls + 1))
    first = count // 2
    return sorted({*range(1, first + 1), *(round(first + (calls - first) * i / (count - first)) for i in range(1, count - first + 1))})


def sweep(bench, function, scenario, count):
    if scenario not in COUNTS:
        injection, outcome = scenario(bench)
        insist(outcome in ("exit 0", "goes on"), f"without a failure: {outcome}")
        COUNTS[scenario] = injection.counts()
    calls, outcomes, failures = COUNTS[scenario][function], {}, []
    for number in positions(calls, count):
        try:
            injection, outcome = scenario(bench, f"{function}:{number}")
            outcome = outcome if injection.counts()["failed"] else "not reached"
        except Exception as problem:  # reported together
            failures.append(str(problem))
            continue
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    insist(not failures, f"{len(failures)} of {len(positions(calls, count))} positions: {'; '.join(failures)[:250]}")
    return f"{calls} calls: " + (", ".join(f"{n} × {outcome}" for outcome, n in sorted(outcomes.items())) or "none made to fail")


def register(function):
    def injected(bench):
        seen = [f"{name} {sweep(bench, function, scenario, count)}"
                for name, scenario, count in (("batch", batch, 30 if function in MEMORY else 10), ("serve", served, 12 if function in MEMORY else 6))]
        if all(COUNTS[scenario][function] == 0 for scenario in (batch, served)):
            raise Skip("neither scenario calls it")
        return "; ".join(seen)
    injected.__name__ = function
    case("injected", f"a call of {function}() fails", "goes on, or ends with a code and a message", deadline=10, slow=True)(injected)


for each in FUNCTIONS:
    register(each)


@case("injected", "the first malloc, open, write, pthread_create, avcodec_open2, av_frame_alloc, sws_scale … fails in a batch run",
      "goes on, or ends with a code and a message", deadline=10)
def first_calls(bench):
    outcomes = {}
    for function in ("malloc", "posix_memalign", "mmap", "open", "write", "fdatasync", "pthread_create", "avformat_find_stream_info",
                     "av_read_frame", "avcodec_open2", "av_frame_alloc", "sws_scale", "avformat_write_header", "av_write_trailer"):
        _, outcome = batch(bench, f"{function}:1")
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return ", ".join(f"{n} × {outcome}" for outcome, n in sorted(outcomes.items()))


@case("injected", "the last avcodec_send_packet() and avcodec_send_frame(): the ends of the decoder and the encoder",
      "the lost frames are reported", deadline=10)
def last_calls(bench):
    counts, seen = batch(bench)[0].counts(), []
    for function in ("avcodec_send_packet", "avcodec_send_frame"):
        seen.append(f"{function} {batch(bench, f'{function}:{counts[function]}')[1]}")
    return ", ".join(seen)


@case("injected", "signalfd(), each eventfd(), the epoll_create1() and epoll_ctl() of the socket fail in lensd serve",
      "exit code 1 with a message, or it goes on and ends on TERM", deadline=10)
def wakeups(bench):
    return ", ".join(f"{what} {served(bench, what)[1]}" for what in
                     ("signalfd:1", "eventfd:1", "eventfd:2", "epoll_create1:1", "epoll_ctl:1", "epoll_ctl:2"))
