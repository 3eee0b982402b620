"""HTTP: requests that are endless, slow, too large, encoded, or hide a second request; who may connect."""

import socket
import time

from cases import case
from test_cases import insist

SOURCE = "test:testsrc2=size=160x120:rate=60"
HIDDEN = b"POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"


def statuses(answer):
    return [int(part.split(b" ", 1)[0]) for part in answer.split(b"HTTP/1.1 ")[1:]]


@case("network", "a second request in the unread rest of requests that are refused, without and with authentication",
      "one response, then the connection closes; nothing is paused")
def smuggling(bench):
    length, host = f"Content-Length: {len(HIDDEN)}\r\n".encode(), b"Host: localhost\r\n"
    requests = [b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\n" + host + length, b"GET / HTTP/1.1\r\nRange: bytes=9-1\r\n" + host
                + length, b"HEAD /healthz HTTP/1.1\r\n" + host + length, b"OPTIONS / HTTP/1.1\r\n" + host + length,
                b"PUT / HTTP/1.1\r\n" + host + length, b"GET /nothing HTTP/1.1\r\n" + host + length,
                b"POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n" + host + length,
                b"POST /api/v1 HTTP/1.1\r\nOrigin: http://evil.example\r\n" + host + length,
                b"POST /api/v1 HTTP/1.1\r\nHost: evil.example\r\n" + length,
                b"POST /api/v1 HTTP/1.1\r\nContent-Length: 99999999\r\n" + host,
                b"POST /api/v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + length + host,
                b"POST /api/v1 HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n" + host,
                b"POST /api/v1 HTTP/1.1\r\nTransfer-Encoding: identity\r\n" + host,
                b"POST /api/v1 HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: gzip\r\n" + host,
                b"POST /api/v1 HTTP/1.1\r\nTransfer-Encoding: \x0bchunked\r\n" + host,
                b"POST /api/v1 HTTP/1.1\r\nTransfer-Encoding : chunked\r\n" + host,
                b"POST /api/v1 HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 5\r\n" + host,
                b"POST /api/v1 HTTP/1.1\r\nContent-Length: +5\r\n" + host,
                b"POST /api/v1 HTTP/1.1\r\nContent-Length: 0x5\r\n" + host,
                b"GET / HTTP/1.1\r\nExpect: 100-continue\r\n" + host + length]
    for auth in ("false", "true"):
        daemon = bench.serve(SOURCE, http=True, environment={"LENSD_HTTP_AUTH": auth}, name="auth-" + auth)
        daemon.playing()
        for request in requests:
            answer = daemon.http(request + b"\r\n" + HIDDEN)
            final = [s for s in statuses(answer) if s != 100]
            insist(len(final) <= 1, f"{request[:60]!r}: {final}")
            insist(daemon.ask("get", "pause") is False, f"{request[:60]!r} paused the daemon")
        daemon.end()
    return f"{len(requests)} requests, with and without authentication"


@case("network", "a header without end, at full speed, without a token", "431 within 5 s, memory + 8 MiB at most", deadline=6)
def endless_header(bench):
    daemon = bench.serve(SOURCE, http=True)
    daemon.playing()
    before = daemon.usage().rss_kib
    begin, sent = time.monotonic(), 0
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=bench.deadline) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        try:
            while time.monotonic() < begin + bench.deadline and sent < 64 << 20:
                sent += s.send(b"a:b\r\n" * 2000)
        except OSError:
            pass
    insist(sent < 64 << 20, f"{sent >> 20} MiB of header were accepted")
    insist(time.monotonic() < begin + bench.deadline, "the connection was not closed")
    growth = daemon.usage().rss_kib - before
    insist(growth < 8 << 10, f"memory grew by {growth} KiB")
    return f"closed after {sent >> 10} KiB and {(time.monotonic() - begin) * 1000:.0f} ms, memory {growth:+d} KiB"


@case("network", "a request of one byte per 0.2 s; a body that never comes; nothing at all", "closed within 5 s", deadline=7,
      slow=True)
def slow_requests(bench):
    daemon = bench.serve(SOURCE, http=True)
    daemon.playing()
    begin = time.monotonic()
    heads = [b"", b"GET / HT", b"POST /api/v1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\n"
             b"Content-Length: 100\r\n\r\n{"]
    clients = [socket.create_connection(("127.0.0.1", daemon.port), timeout=bench.deadline) for _ in range(4)]
    for client, head in zip(clients, heads):
        client.sendall(head)
    text, alive = iter(b"GET / HTTP/1.1\r\nX-Slow: " + b"y" * 1000), True
    while alive and time.monotonic() < begin + bench.deadline:
        try:
            clients[3].sendall(bytes([next(text)]))
        except OSError:
            alive = False
        time.sleep(0.2)
    insist(not alive, "one byte per 0.2 s keeps a connection open")
    for client in clients[:3]:
        client.settimeout(max(0.1, begin + bench.deadline - time.monotonic()))
        while client.recv(4096):
            pass
        client.close()
    return f"all closed after {time.monotonic() - begin:.1f} s"


def send_large(daemon):
    """Sends long, chunked and compressed bodies and a request for 4000 byte ranges; returns the results as text."""
    head = (b"POST /api/v1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + daemon.token.encode() +
            b"\r\nConnection: close\r\n")
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    seen = []
    for request, status in ((head + b"Content-Length: 1000000\r\n\r\n" + b" " * 1000000, 413),
                            (head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 16 + b"0\r\n\r\n", 413),
                            (head + b"Content-Encoding: gzip\r\nContent-Length: 20\r\n\r\n" + bytes(20), 415)):
        try:
            seen += statuses(daemon.http(request))[:1]
            insist(seen[-1] == status, f"{request[:200]!r}: {seen[-1]}")
        except ConnectionError:
            seen.append("closed")
    status, body = daemon.get("/snapshot.png", "Range: bytes=" + "0-," * 4000 + "0-")
    insist(status in (200, 416) and len(body) < 8 << 20, f"{status} with {len(body)} bytes for 4000 ranges")
    return f"{seen}, ranges: {status} with {len(body) >> 10} KiB"


@case("network", "chunked, compressed and long bodies; 4000 byte ranges of a picture, four times",
      "413, 415; one picture; memory + 16 MiB at most")
def large_requests(bench):
    daemon = bench.serve("test:testsrc2=size=640x360:rate=30", http=True)
    daemon.playing()
    send_large(daemon)
    before = daemon.usage().rss_kib
    for _ in range(4):
        seen = send_large(daemon)
    growth = daemon.usage().rss_kib - before
    insist(growth < 16 << 10, f"memory grew by {growth} KiB")
    return f"{seen}; memory {growth:+d} KiB; {daemon.end()}"


@case("network", "60 idle connections without a token, then one with it", "the one with the token is served at once")
def idle_connections(bench):
    daemon = bench.serve(SOURCE, http=True)
    daemon.playing()
    idle = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(60)]
    begin = time.monotonic()
    status, _ = daemon.get("/api/v1/get?name=frame")
    took = (time.monotonic() - begin) * 1000
    insist(status == 200, f"{status}")
    for client in idle:
        client.close()
    return f"{status} after {took:.0f} ms; {daemon.end()}"


@case("network", "each path without a token, with a wrong one, a foreign Host, a foreign Origin, another cookie",
      "401 or 403; only /healthz is open")
def access(bench):
    daemon = bench.serve(SOURCE, http=True)
    daemon.playing()
    for path in ("/", "/api/v1/get", "/snapshot.png", "/stream.mjpeg", "/events", "/metrics", "/schema.json", "/none"):
        for fields in ((), ("Authorization: Bearer x",), ("Authorization: Bearer " + daemon.token + "x",),
                       ("Cookie: lensd_token_1=" + daemon.token,), ("Authorization: Basic Og==",)):
            status, _ = daemon.get(path, *fields, token=False)
            insist(status == 401, f"{path} {fields}: {status}")
        for field in ("Origin: http://evil.example", "Origin: null"):
            status, _ = daemon.get(path, field)
            insist(status == 403, f"{path} with {field}: {status}")
    answer = daemon.http(b"GET /api/v1/get HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nAuthorization: Bearer " +
                         daemon.token.encode() + b"\r\n\r\n")
    insist(statuses(answer) == [403], f"a foreign Host: {answer[:60]!r}")
    insist(daemon.get("/healthz", token=False)[0] == 200, "healthz")
    return daemon.end()


@case("network", "auth=false on loopback: another site embeds the stream, the page, a picture",
      "X-Frame-Options, Cross-Origin-Resource-Policy; foreign Origin 403")
def embedding(bench):
    daemon = bench.serve(SOURCE, http=True, environment={"LENSD_HTTP_AUTH": "false"})
    daemon.playing()
    for path in ("/", "/snapshot.jpg", "/schema.json"):
        head = daemon.http(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())[:2000].lower()
        insist(b"x-frame-options: deny" in head and b"cross-origin-resource-policy: same-origin" in head, f"{path}: {head}")
    connection, head = daemon.http(b"GET /stream.mjpeg HTTP/1.1\r\nHost: localhost\r\n\r\n", close=False)
    connection.close()
    insist(b"cross-origin-resource-policy: same-origin" in head.lower(), f"the stream: {head[:300]}")
    status, _ = daemon.get("/stream.mjpeg", "Origin: http://evil.example")
    insist(status == 403, f"a foreign origin: {status}")
    for site in ("cross-site", "same-site"):
        status, _ = daemon.get("/snapshot.jpg", "Sec-Fetch-Site: " + site)
        insist(status in (200, 403), f"{site}: {status}")
    return daemon.end()


@case("network", "requests pipelined 500 times in one write, half-closed, then reset", "answers in order; descriptors return")
def pipelined(bench):
    daemon = bench.serve(SOURCE, http=True)
    daemon.playing()
    before = daemon.usage()
    one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answers = statuses(daemon.http(one * 500))
    insist(answers == [200] * 500, f"{len(answers)} answers: {set(answers)}")
    for _ in range(50):
        s = socket.create_connection(("127.0.0.1", daemon.port))
        s.sendall(one * 20)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()
    daemon.until(lambda: daemon.usage().descriptors <= before.descriptors + 1, "the descriptors return")
    return f"500 answers; {daemon.usage().descriptors} descriptors of {before.descriptors}; {daemon.end()}"
