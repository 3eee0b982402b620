"""Network cameras that deliver slowly, in bursts or late, or that refuse the login, and what lensd serve records of them."""

import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
from test_cases import insist, run  # noqa: E402
from senders import Closing, Server, free_port, need, wait_until  # noqa: E402
from socket_client import connect  # noqa: E402


def jpegs(count=50):
    """Returns small pictures that differ."""
    need("ffmpeg")
    made = subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-frames:v",
                           str(count), "-c:v", "mjpeg", "-f", "image2pipe", "-"], check=True, capture_output=True).stdout
    return [b"\xff\xd8" + part for part in made.split(b"\xff\xd8")[1:]]


class Mjpeg(Server):
    """Motion JPEG over HTTP: `burst` pictures at once, on average `fps`. Counts the requests and the sent pictures."""

    def __init__(self, fps, burst=1):
        super().__init__()
        self.fps, self.burst, self.pictures = fps, burst, jpegs()
        self.sent = self.requests = 0
        self.url = f"http://127.0.0.1:{self.port}/video.mjpg"

    def answer(self, client):
        if not client.recv(4096):
            return  # a client that refuses the certificate
        self.requests += 1
        client.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=xx\r\n\r\n")
        due = time.monotonic()
        while True:
            for _ in range(self.burst):
                picture = self.pictures[self.sent % len(self.pictures)]
                client.sendall(b"--xx\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(picture) +
                               picture + b"\r\n")
                self.sent += 1
            due += self.burst / self.fps
            time.sleep(max(0.0, due - time.monotonic()))


class TlsMjpeg(Mjpeg):
    """The same over HTTPS, with a certificate that is not in the system's list."""

    def __init__(self, certificate, key):
        super().__init__(25)
        self.url = f"https://admin:secret@localhost:{self.port}/video.mjpg"
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate, key)

    def answer(self, client):
        with self.tls.wrap_socket(client, server_side=True) as encrypted:
            super().answer(encrypted)


class RefusingRtsp(Server):
    """An RTSP camera that refuses every login, and counts them."""

    def __init__(self):
        super().__init__()
        self.logins = 0
        self.url = f"rtsp://admin:wrong@127.0.0.1:{self.port}/live"

    def answer(self, client):
        lines = client.makefile("rb")
        while True:
            head = []
            while line := lines.readline().strip().decode():
                head.append(line)
            if not head:
                return
            sequence = next(line for line in head if line.lower().startswith("cseq"))
            self.logins += any(line.lower().startswith("authorization") for line in head)
            reply = "200 OK\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY"
            if not head[0].startswith("OPTIONS"):
                reply = '401 Unauthorized\r\nWWW-Authenticate: Digest realm="camera", nonce="abc"'
            client.sendall(f"RTSP/1.0 {reply}\r\n{sequence}\r\n\r\n".encode())


class Daemon(Closing):
    """lensd serve that records in the CPU backend; killed at the end of a with statement."""

    def __init__(self, url, *options, name="out.mkv", config=""):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "control.sock")
        self.file = os.path.join(self.folder.name, name)
        text = os.path.join(self.folder.name, "lensd.toml")
        with open(text, "w", encoding="ascii") as out:
            out.write(config)
        self.process = subprocess.Popen([os.environ["LENSD"], "serve", "--backend", "cpu", "--socket", self.path, "-c", text,
                                         *(["--record", self.file] if name else []), *options, url],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = None

    def start(self):
        self.client = connect(self.path)

    def get(self, name):
        return self.client.timed("get", name)[0]

    def until(self, condition, seconds, what):
        wait_until(condition, seconds, what)

    def end(self):
        self.process.terminate()
        insist(self.process.wait(30) == 0, "the daemon failed")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def times(path):
    """Returns the times of the pictures in a file, in seconds, and those of the key frames."""
    out = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,dts_time,flags",
                          "-of", "csv=p=0", path], check=True, capture_output=True, text=True).stdout
    shown, keys = [], []
    for pts, dts, flags in (line.split(",")[:3] for line in out.split()):
        shown.append(float(dts if pts == "N/A" else pts))  # AVI has no pts
        keys += shown[-1:] if flags.startswith("K") else []
    return sorted(shown), sorted(keys)


def slow_mjpeg():
    """Five pictures per second: the recording lasts as long as they took."""
    with Mjpeg(5) as camera, Daemon(camera.url) as daemon:
        daemon.until(lambda: daemon.get("record")["frames"] >= 25, 60, "25 frames")
        daemon.end()
        shown = times(daemon.file)[0][8:]  # FFmpeg reads the first pictures before the first one is decoded
        length = (shown[-1] - shown[0]) / (len(shown) - 1)
        insist(abs(length - 0.2) < 0.02, f"a picture lasts {length:.3f} s")
        return f"a picture lasts {length:.3f} s"


def bursts():
    """Ten pictures at once, every 400 ms: none is lost."""
    with Mjpeg(25, 10) as camera, Daemon(camera.url) as daemon:
        daemon.until(lambda: daemon.get("record")["frames"] >= 10, 60, "the first frames")
        before, counted = camera.sent, daemon.get("record")["frames"]
        daemon.until(lambda: camera.sent >= before + 150, 60, "15 bursts")
        time.sleep(0.2)
        sent = camera.sent - before
        daemon.end()
        shown, _ = times(daemon.file)
        insist(len(shown) - counted >= 0.95 * sent - 10, f"{len(shown) - counted} of {sent} pictures were recorded")
        return f"{len(shown) - counted} of {sent} pictures"


def wrong_password():
    """At most two logins in ten seconds."""
    with RefusingRtsp() as camera, Daemon(camera.url, name="") as daemon:
        daemon.until(lambda: camera.logins > 0, 30, "the first login")
        time.sleep(9)
        insist(camera.logins <= 2, f"{camera.logins} logins")
        reason = daemon.get("source")["reason"]
        insist(reason == "wrong user name or password; next attempt in 30 s", reason)
        daemon.end()
        return f"{camera.logins} logins; {reason}"


def certificates():
    """A foreign certificate: accepted in private networks, otherwise refused before the request."""
    need("openssl")
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = f"{folder}/cert.pem", f"{folder}/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate], check=True,
                       capture_output=True)
        with TlsMjpeg(certificate, key) as camera:
            for config in ("", 'tls = "any"', f'tls = "verify"\noptions = "ca_file={certificate}"'):
                with Daemon(camera.url, name="", config=f"[source]\n{config}\n") as daemon:
                    daemon.until(lambda d=daemon: d.get("source")["state"] == "playing", 30, f"playing with {config}")
            before = camera.requests
            with Daemon(camera.url, name="", config='[source]\ntls = "verify"\n') as daemon:
                daemon.until(lambda: daemon.get("source")["reason"], 30, "the reason")
                time.sleep(1)
                reason = daemon.get("source")["reason"]
                insist(reason.startswith("its certificate cannot be verified"), reason)
                insist(daemon.get("source")["state"] == "connecting", "it plays")
            insist(camera.requests == before, "a request was sent")
            return reason


def slow_udp():
    """One picture per second over UDP: no reconnection."""
    port = free_port(socket.SOCK_DGRAM)
    sender = subprocess.Popen(["ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=1", "-c:v",
                               "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "1", "-f", "mpegts",
                               f"udp://127.0.0.1:{port}?pkt_size=1316"], stdin=subprocess.DEVNULL)
    try:
        with Daemon(f"udp://127.0.0.1:{port}", name="", config="[source]\ntimeout = 5\nstall = 5\n") as daemon:
            daemon.until(lambda: daemon.get("source")["state"] == "playing", 30, "playing")
            before = daemon.get("counters")
            time.sleep(8)
            after = daemon.get("counters")
            insist(after["reconnects"] == before["reconnects"], f"{after['reconnects']} reconnections")
            made = after["processed"] - before["processed"]
            insist(made >= 6, f"{made} pictures in 8 s")
            daemon.end()
            return f"{made} pictures in 8 s"
    finally:
        sender.kill()
        sender.wait()


def late_camera(fps, name, check):
    """Returns a case: the sender starts after the daemon, which therefore does not know its rate at the start."""
    def case():
        port = free_port(socket.SOCK_DGRAM)
        with Daemon(f"udp://127.0.0.1:{port}", name=name) as daemon:
            daemon.until(lambda: daemon.get("source")["state"] == "connecting", 30, "connecting")
            time.sleep(1.5)
            subprocess.run(["ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", f"testsrc2=size=160x90:rate={fps}", "-t", "8",
                            "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", str(fps), "-f", "mpegts",
                            f"udp://127.0.0.1:{port}?pkt_size=1316"], stdin=subprocess.DEVNULL, check=True)
            daemon.end()
            return check(*times(daemon.file))
    return case


def has_keys(shown, keys):
    gaps = [b - a for a, b in zip(keys, keys[1:])]
    insist(gaps and all(abs(gap - 2) < 0.3 for gap in gaps), f"key frames at {keys}")
    return f"{len(shown)} pictures, key frames every {gaps[0]:.2f} s"


def has_length(shown, _):
    interval = (shown[-1] - shown[0]) / (len(shown) - 1)
    insist(abs(interval - 0.02) < 0.003, f"a picture lasts {interval:.4f} s instead of 0.02 s")
    return f"{len(shown)} pictures of {interval * 1000:.1f} ms"


CASES = {
    "slow_mjpeg": slow_mjpeg,
    "bursts": bursts,
    "wrong_password": wrong_password,
    "certificates": certificates,
    "slow_udp": slow_udp,
    "late_camera_keys": late_camera(10, "out.mkv", has_keys),
    "late_camera_avi": late_camera(50, "out.avi", has_length),
}


run(CASES)
