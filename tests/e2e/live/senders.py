"""Local senders of live video that can be killed and restarted.

Every sender has url, start() → the monotonic time at which it was ready, kill() and send_signal(signal). A with statement
starts it and closes it at the end.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Debian's python3 has the GStreamer bindings; another one in PATH may not.
SYSTEM_PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


class Skip(Exception):
    """A required program is missing."""


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listening(port):
    """Returns True if the TCP port is listening or has accepted its only client. Does not connect."""
    wanted = f":{port:04X}"
    with open("/proc/net/tcp", encoding="ascii") as table:
        return any(f[1].endswith(wanted) and f[3] in ("0A", "01") for f in (line.split() for line in table))


def bound(port):
    """Returns True if the UDP port is bound."""
    with open("/proc/net/udp", encoding="ascii") as table:
        return any(line.split()[1].endswith(f":{port:04X}") for line in table)


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} took more than {seconds} s")
        time.sleep(0.005)
    return time.monotonic()


class Closing:
    """Calls start() at the beginning of a with statement, and close() at its end or if start() fails."""

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()


class Sender(Closing):
    """A sending process; subclasses define the command."""

    url = ""
    process = None

    def spawn(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def kill(self, how=signal.SIGKILL):
        if self.process:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None

    def send_signal(self, how):
        self.process.send_signal(how)

    def close(self):
        self.kill()


def ffmpeg(size, *output, codec="libx264"):
    encoder = ["-c:v", codec]
    if codec == "libx264":
        encoder += ["-preset", "ultrafast", "-tune", "zerolatency"]
    return ["ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", f"testsrc2=size={size}:rate=25", *encoder,
            "-threads", "1", "-g", "12", "-pix_fmt", "yuv420p", *output]


def transport_stream():
    """Returns three seconds of MPEG-TS as bytes."""
    need("ffmpeg")
    with tempfile.NamedTemporaryFile(suffix=".ts") as out:
        command = [word for word in ffmpeg("320x240", "-t", "3", "-f", "mpegts", "-y", out.name) if word != "-re"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        return out.read()


class Udp(Sender):
    """FFmpeg sends MPEG-TS through a relay that records the time of the first packet."""

    def __init__(self, size="320x240"):
        need("ffmpeg")
        self.size, self.codec = size, "libx264"
        self.entry = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.entry.bind(("127.0.0.1", 0))
        self.exit = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        port = free_port(socket.SOCK_DGRAM)
        self.url = f"udp://127.0.0.1:{port}"
        self.target = ("127.0.0.1", port)
        self.first, self.loss = None, 0.0
        self.random = random.Random(1)
        threading.Thread(target=self.relay, daemon=True).start()

    def relay(self):
        while True:
            packet = self.entry.recv(65536)
            if self.first is None:
                self.first = time.monotonic()
            if self.random.random() >= self.loss:
                self.exit.sendto(packet, self.target)

    def start(self):
        self.first = None
        self.spawn(ffmpeg(self.size, "-f", "mpegts", f"udp://127.0.0.1:{self.entry.getsockname()[1]}?pkt_size=1316",
                          codec=self.codec))
        wait_until(lambda: self.first is not None, 20, "the UDP sender's start")
        return self.first


class Http(Sender):
    """FFmpeg waits for one client and sends it MPEG-TS."""

    def __init__(self, size="320x240"):
        need("ffmpeg")
        self.size, self.port = size, free_port()
        self.url = f"http://127.0.0.1:{self.port}/live.ts"

    def start(self):
        self.spawn(ffmpeg(self.size, "-f", "mpegts", "-listen", "1", self.url))
        return wait_until(lambda: listening(self.port), 20, "the HTTP sender's start")


class Srt(Sender):
    """FFmpeg waits for one caller and sends it MPEG-TS."""

    def __init__(self, size="320x240"):
        need("ffmpeg")
        protocols = subprocess.run(["ffmpeg", "-v", "error", "-protocols"], capture_output=True, text=True, check=False)
        if "srt" not in protocols.stdout.split():
            raise Skip("this ffmpeg was built without SRT")
        self.size, self.port = size, free_port(socket.SOCK_DGRAM)
        self.url = f"srt://127.0.0.1:{self.port}"

    def start(self):
        self.spawn(ffmpeg(self.size, "-f", "mpegts", f"{self.url}?mode=listener"))
        return wait_until(lambda: bound(self.port), 20, "the SRT sender's start")


class Rtmp(Sender):
    """FFmpeg waits for one player and sends it FLV."""

    def __init__(self, size="320x240"):
        need("ffmpeg")
        self.size, self.port = size, free_port()
        self.url = f"rtmp://127.0.0.1:{self.port}/live/stream"

    def start(self):
        self.spawn(ffmpeg(self.size, "-f", "flv", "-listen", "1", self.url))
        return wait_until(lambda: listening(self.port), 20, "the RTMP sender's start")


class Rtsp(Sender):
    def __init__(self, size="320x240"):
        test = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import GstRtspServer"
        if subprocess.run([SYSTEM_PYTHON, "-c", test], capture_output=True, check=False).returncode:
            raise Skip("python3-gi and gir1.2-gst-rtsp-server-1.0 are not installed")
        self.size, self.port = size, free_port()
        self.url = f"rtsp://127.0.0.1:{self.port}/live"

    def start(self):
        self.spawn([SYSTEM_PYTHON, f"{HERE}/rtsp_server.py", str(self.port), *self.size.split("x")])
        return wait_until(lambda: listening(self.port), 20, "the RTSP server's start")


class Screen(Sender):
    """A virtual display."""

    def __init__(self, size="320x240"):
        need("Xvfb")
        self.size = size
        self.number = next(n for n in range(200 + os.getpid() % 600, 999)
                           if not os.path.exists(f"/tmp/.X11-unix/X{n}") and not os.path.exists(f"/tmp/.X{n}-lock"))
        self.url = f"screen::{self.number}"

    def start(self):
        read, write = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", f":{self.number}", "-screen", "0", f"{self.size}x24", "-nolisten", "tcp", "-noreset",
             "-displayfd", str(write)], pass_fds=[write], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as ready:  # read the whole line: Xvfb exits if it cannot write the rest
            if not ready.readline():
                raise Skip(f"Xvfb :{self.number} does not start")
        return time.monotonic()

    def kill(self, how=signal.SIGKILL):
        super().kill(how)
        for left in (f"/tmp/.X11-unix/X{self.number}", f"/tmp/.X{self.number}-lock"):
            if os.path.exists(left):
                os.unlink(left)


class Server(Closing):
    """A TCP server on 127.0.0.1; subclasses define answer(client), after which the connection is closed."""

    keeps_connections = False

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.server.getsockname()[1]

    def start(self):
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            self.answer(client)
        except OSError:
            pass
        if not self.keeps_connections:
            client.close()

    def answer(self, client):
        raise NotImplementedError

    def close(self):
        self.server.close()


class Misbehaving(Server):
    """A misbehaving HTTP server: accepts and never answers (`silent`), sends one byte per second (`slow`), resets the
    connection (`reset`), stops in the middle of a stream without closing (`half_open`), sends a web page (`text`), or
    redirects (`redirect`)."""

    keeps_connections = True

    def __init__(self, manner, payload=b"", location=""):
        super().__init__()
        self.manner, self.payload, self.location = manner, payload, location
        self.url = f"http://127.0.0.1:{self.port}/live.ts"
        self.kept = []
        self.dry_since = None  # the monotonic time at which a half-open stream's last byte was sent

    def answer(self, client):
        self.kept.append(client)
        if self.manner == "silent":
            return
        client.recv(4096)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\n\r\n"
        if self.manner == "slow":
            for byte in head + b"G" * 600:
                client.sendall(bytes([byte]))
                time.sleep(1)
        elif self.manner == "reset":
            client.sendall(head)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.close()
        elif self.manner == "half_open":
            client.sendall(head)
            for i in range(0, len(self.payload), 18800):  # send at about the speed of playback
                client.sendall(self.payload[i:i + 18800])
                time.sleep(0.05)
            self.dry_since = time.monotonic() - 0.05
        elif self.manner == "redirect":
            client.sendall(f"HTTP/1.1 302 Found\r\nLocation: {self.location}\r\nContent-Length: 0\r\n\r\n".encode())
            client.close()
        elif self.manner == "text":
            client.sendall(head.replace(b"video/mp2t", b"text/html") + b"<html>no video</html>" * 500)
            client.close()

    def close(self):
        super().close()
        for client in self.kept:
            client.close()
