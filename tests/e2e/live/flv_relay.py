"""An HTTP server that relays FLV, for tests: flv_relay.py PORT SECONDS FIRST SECOND.

It sends FIRST for some seconds and then SECOND in the same connection, as a relay does whose publisher restarts. Later
connections get SECOND.
"""
import socket
import sys
import time

HEAD = (b"HTTP/1.1 200 OK\r\nContent-Type: video/x-flv\r\nConnection: close\r\n\r\n"
        b"FLV\x01\x05\0\0\0\x09\0\0\0\0")


def tags(path):
    """Returns the tags of a file with their times in milliseconds."""
    with open(path, "rb") as file:
        data = file.read()
    at = 13
    while at + 11 <= len(data):
        size = 11 + int.from_bytes(data[at + 1:at + 4], "big")
        yield int.from_bytes(data[at + 4:at + 7], "big") | data[at + 7] << 24, data[at:at + size]
        at += size + 4


def send(client, path, begin, from_ms, until_ms):
    for ms, tag in tags(path):
        if ms > until_ms:
            break
        ms += from_ms
        time.sleep(max(0, begin + ms / 1000 - time.monotonic()))
        tag = tag[:4] + (ms & 0xFFFFFF).to_bytes(3, "big") + bytes([ms >> 24]) + tag[8:]
        client.sendall(tag + len(tag).to_bytes(4, "big"))


def main():
    port, until_ms = int(sys.argv[1]), int(float(sys.argv[2]) * 1000)
    first, second = sys.argv[3:]
    server = socket.create_server(("127.0.0.1", port))
    restarted = False
    while True:
        client, _ = server.accept()
        with client:
            try:
                client.recv(4096)
                client.sendall(HEAD)
                begin = time.monotonic()
                if not restarted:
                    send(client, first, begin, 0, until_ms)
                send(client, second, begin, 0 if restarted else until_ms, float("inf"))
            except OSError:
                pass
            restarted = True


main()
