"""An RTSP server of pictures with time codes (time_code.hpp): time_code_rtsp.py PORT WIDTH HEIGHT FPS CODEC

CODEC is h264 or mjpeg. The codes are drawn just before encoding.
"""

import sys
import threading
import time

import gi
from rtsp_media import Gst, serve

gi.require_version("GstApp", "1.0")
from gi.repository import GstApp  # noqa: E402, F401  gives appsrc its push-buffer

BITS, BARS = 48, 52
CODECS = {
    "h264": "x264enc tune=zerolatency speed-preset=ultrafast threads=1 key-int-max={gop} bitrate=4000"
            " ! rtph264pay config-interval=-1",
    "mjpeg": "jpegenc quality=70 ! rtpjpegpay",
}


def checksum(us):
    crc = 0x5A
    for byte in us.to_bytes(5, "big"):
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07) & 0xFF if crc & 0x80 else crc << 1
    return crc


def code_row(us, bar):
    us %= 1 << 40
    bits = f"{us << 8 | checksum(us):0{BITS}b}"
    return b"".join((b"\xeb" if bit == "1" else b"\x10") * bar for bit in f"10{bits}01")


class Painter:
    def __init__(self, width, height, fps):
        self.width, self.height, self.fps, self.bar = width, height, fps, width // BARS
        ramp = bytes(16 + (i * 3 ^ i >> 4) % 200 for i in range(width + 512))
        self.backgrounds = []
        for n in range(16):
            rows = (ramp[(n * 3 + y // 16 * 31) % 512:][:width] for y in range(height))
            self.backgrounds.append(b"".join(rows) + b"\x70" * (width * height // 2))

    def picture(self, index):
        base, depth = self.backgrounds[index % len(self.backgrounds)], 2 * self.bar
        row = code_row(time.monotonic_ns() // 1000, self.bar).ljust(self.width, b"\x10")
        return row * depth + base[depth * self.width:]


class Media:
    """Feeds one medium, shared by all clients, until it is unprepared."""

    def __init__(self, source, painter):
        self.source, self.painter = source, painter
        threading.Thread(target=self.feed, daemon=True).start()

    def feed(self):
        begin, index = time.monotonic(), 0
        while True:
            time.sleep(max(0.0, begin + index / self.painter.fps - time.monotonic()))
            buffer = Gst.Buffer.new_wrapped(self.painter.picture(index))
            if self.source.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
                return
            index += 1


def main():
    port, width, height, fps, codec = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
    painter = Painter(width, height, fps)

    def prepare(factory):
        factory.set_latency(0)
        factory.connect("media-configure", lambda _, media: Media(media.get_element().get_by_name("source"), painter))

    serve(port, "appsrc name=source is-live=true do-timestamp=true format=time"
                f" caps=video/x-raw,format=I420,width={width},height={height},framerate={fps}/1"
                f" ! {CODECS[codec].format(gop=fps // 2)}", prepare)


main()
