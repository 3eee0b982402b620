"""What a fault case works with: a folder, runs of lensd, and daemons."""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from senders import Skip, free_port
from socket_client import connect
from test_cases import Failure, insist

SANITIZER = re.compile(r"(Address|Thread|Leak|Memory)Sanitizer|runtime error:")


class Result:
    """A finished run of a program."""

    def __init__(self, code, out, err, seconds, peak_kib):
        self.code, self.out, self.err, self.seconds, self.peak_kib = code, out, err, seconds, peak_kib

    def line(self):
        """The only line on standard error. Fails if there are several or none."""
        insist(self.err.count("\n") == 1, f"{self.err.count(chr(10))} lines on standard error: {self.err[:300]!r}")
        return self.err.strip()


def is_library_abort(code, messages):
    """True if the C library or an assertion of FFmpeg aborted the process. After an assertion there are no messages.
    The C++ library would print the name of an exception."""
    return code == -signal.SIGABRT and ("Fatal glibc error" in messages or not messages)


def set_limits(limits):
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))


class Bench:
    """The environment of one case: a folder, runs of lensd, and daemons. At the end kills the daemons and removes the
    folder."""

    def __init__(self, deadline, patience):
        self.deadline, self.patience = deadline * patience, patience
        self.lensd = os.environ["LENSD"]
        self.work = tempfile.mkdtemp(prefix="lensd-faults.")
        self.daemons = []
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("LENSD_")}
        self.environment.update(XDG_CONFIG_HOME=self.path("config"), XDG_STATE_HOME=self.path("state"),
                                LENSD_CONTROL_FOLDER=self.path("captures"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            daemon.close()
        shutil.rmtree(self.work, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.work, *names)

    def write(self, name, data):
        """Writes a file of the case's folder and returns its path."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(data if isinstance(data, bytes) else data.encode())
        return path

    def run(self, *arguments, limits=None, environment=None, program=None, stdin=subprocess.DEVNULL, seconds=None,
            may_abort=False):
        """Runs lensd to its end. Fails if it exceeds the deadline or is ended by a signal. With `may_abort`, libraries may
        end it if an allocation fails."""
        command = [program or self.lensd, *arguments]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begin = time.monotonic()
            process = subprocess.Popen(command, stdin=stdin, stdout=out, stderr=err, cwd=self.work,
                                       env={**self.environment, **(environment or {})},
                                       preexec_fn=(lambda: set_limits(limits)) if limits else None)
            expired = threading.Event()
            timer = threading.Timer(seconds or self.deadline, lambda: (expired.set(), process.kill()))
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            took = time.monotonic() - begin
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
        what = " ".join(str(a)[:60] for a in arguments[:6])
        if environment and "LENSD_INJECT" in environment:
            what = environment["LENSD_INJECT"]
        insist(not expired.is_set(), f"{what}: still running after {took:.1f} s")
        insist(process.returncode >= 0 or (may_abort and is_library_abort(process.returncode, texts[1])),
               f"{what}: ended by signal {-process.returncode}: {texts[1][-300:]!r}")
        insist(not SANITIZER.search(texts[1]), f"{what}: {texts[1][:300]!r}")
        return Result(process.returncode, texts[0], texts[1], took, usage.ru_maxrss)

    def headless(self, source, *options, **more):
        """Processes a source without writing an output."""
        return self.run(source, "--headless", "-q", "-o", "null:", *options, **more)

    def refused(self, code, text, *arguments, **more):
        """Expects an exit code and one line on standard error that has the text. Returns both as text."""
        result = self.run(*arguments, **more)
        insist(result.code == code, f"exit code {result.code}, not {code}: {result.err[:300]!r}")
        line = result.line()
        insist(text in line, f"{text!r} is not in {line!r}")
        return f"exit {code}: {line.replace(self.work + '/', '')}"

    def frames(self, source, *options, **more):
        """Processes a source; returns the result and the lines of its frame hashes."""
        hashes = self.path("hashes")
        result = self.headless(source, "--framehash", hashes, "--overwrite", *options, **more)
        if not os.path.exists(hashes):
            return result, []
        with open(hashes, encoding="utf-8") as lines:
            return result, [line.split() for line in lines if not line.startswith("#")]

    def ffmpeg(self, *arguments):
        """Runs ffmpeg, to make input files."""
        if not shutil.which("ffmpeg"):
            raise Skip("ffmpeg is not installed")
        subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, cwd=self.work, timeout=120)

    def serve(self, *arguments, **more):
        daemon = Daemon(self, arguments, **more)
        self.daemons.append(daemon)
        daemon.start()
        return daemon


class Usage:
    """Threads, descriptors and memory of a process."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            fields = dict(line.split(":", 1) for line in status if ":" in line)
        self.rss_kib, self.threads = int(fields["VmRSS"].split()[0]), int(fields["Threads"])
        self.descriptors = len(os.listdir(f"/proc/{pid}/fd"))

    def __str__(self):
        return f"{self.threads} threads, {self.descriptors} descriptors, {self.rss_kib >> 10} MiB"


class Daemon:
    """lensd serve on a temporary socket."""

    def __init__(self, bench, arguments, http=False, environment=None, limits=None, name="control", wrapper=()):
        self.bench = bench
        self.socket_path = bench.path(name + ".sock")
        self.errors = bench.path(name + ".err")
        command = [*wrapper, bench.lensd, "serve", "--backend", "cpu", "--socket", self.socket_path, *arguments]
        variables = {**bench.environment, **(environment or {})}
        self.port, self.token = None, "0123456789abcdef"
        if http:
            self.port = free_port()
            command += ["--http", str(self.port)]
            variables.setdefault("LENSD_HTTP_TOKEN", self.token)
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(self.errors, "wb"), env=variables, cwd=bench.work,
                                        preexec_fn=(lambda: set_limits(limits)) if limits else None)
        self.client = None

    def start(self):
        end = time.monotonic() + 20 * self.bench.patience
        while True:
            insist(self.process.poll() is None, f"the daemon ended with {self.process.returncode}: {self.messages()}")
            try:
                self.client = connect(self.socket_path, 0)
                return
            except OSError:
                insist(time.monotonic() < end, f"the daemon does not answer: {self.messages()}")
                time.sleep(0.01)

    def messages(self):
        with open(self.errors, encoding="utf-8", errors="replace") as err:
            return err.read()

    def ask(self, *command):
        """Returns the data of the answer. Raises RuntimeError with the reason if the command was refused."""
        try:
            return self.client.ask(*command)
        except RuntimeError as refused:
            sent = " ".join(map(str, command))
            raise RuntimeError(f"{sent[:40]}: {str(refused).removeprefix(sent + ': ')}") from None

    def refusal(self, *command):
        """Expects that the command is refused; returns the reason."""
        try:
            data = self.ask(*command)
        except RuntimeError as refused:
            return str(refused)
        raise Failure(f"{str(command)[:80]} was accepted: {data}")

    def until(self, condition, what, seconds=None):
        """Waits until condition() is true; returns the seconds that it took."""
        begin = time.monotonic()
        end = begin + (seconds or self.bench.deadline)
        while not condition():
            insist(self.process.poll() is None, f"the daemon ended with {self.process.returncode}: {self.messages()}")
            insist(time.monotonic() < end, f"{what}: not within {end - begin:.1f} s: {self.messages()[-300:]}")
            time.sleep(0.01)
        return time.monotonic() - begin

    def processed(self):
        return self.ask("get", "counters")["processed"]

    def playing(self, frames=1, seconds=None):
        """Waits until `frames` more frames are processed; returns the seconds that it took."""
        before = self.processed()
        return self.until(lambda: self.processed() >= before + frames, f"{frames} more frames",
                          seconds or 10 * self.bench.patience)

    def usage(self):
        return Usage(self.process.pid)

    def http(self, request, seconds=10, close=True):
        """Sends the bytes on a new connection and returns everything that comes back until the daemon closes, or the
        open socket and the first bytes if `close` is False."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=seconds)
        connection.sendall(request)
        if not close:
            return connection, connection.recv(65536)
        with connection:
            connection.shutdown(socket.SHUT_WR)
            data = b""
            while True:
                try:
                    more = connection.recv(65536)
                except ConnectionError:
                    return data
                if not more:
                    return data
                data += more

    def get(self, path, *fields, token=True):
        """A GET request; returns the status and the body."""
        head = [f"GET {path} HTTP/1.1", "Host: localhost", "Connection: close", *fields]
        if token:
            head.append(f"Authorization: Bearer {self.token}")
        answer = self.http(("\r\n".join(head) + "\r\n\r\n").encode())
        top, _, body = answer.partition(b"\r\n\r\n")
        insist(top.startswith(b"HTTP/1.1 "), f"{path}: not an HTTP answer: {answer[:80]!r}")
        return int(top.split()[1]), body

    def end(self, how=signal.SIGTERM):
        """Ends the daemon with signal `how`. Fails if that takes more than a second or the exit code is not 0. Returns
        the exit code and the milliseconds as text."""
        begin = time.monotonic()
        self.process.send_signal(how)
        code = self.process.wait(20 * self.bench.patience)
        took = time.monotonic() - begin
        insist(code == 0, f"exit code {code}: {self.messages()[-300:]}")
        insist(took <= self.bench.patience, f"the exit took {took:.2f} s")
        return f"exit 0 in {took * 1000:.0f} ms"

    def close(self):
        self.process.kill()
        self.process.wait()
        if self.client:
            self.client.close()


