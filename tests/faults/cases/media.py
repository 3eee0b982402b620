"""Bad media: files that are empty, cut, damaged or forged, odd sizes, and streams that change."""

import os
import random
import struct
import zlib

from cases import case
from test_cases import insist

KINDS = {"mkv": "libx264", "mp4": "libx264", "ts": "mpeg2video", "avi": "mpeg4", "webm": "libvpx", "flv": "flv"}


def clip(bench, name, codec, *options, size="160x120", frames=12):
    """Makes a short clip and returns its path."""
    path = bench.path(name)
    fast = ["-deadline", "realtime"] if codec == "libvpx" else ["-preset", "ultrafast"] if codec == "libx264" else []
    bench.ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={size}:rate=25", "-frames:v", str(frames), "-c:v", codec, *fast,
                 "-threads", "1", "-pix_fmt", "yuv420p", *options, path)
    return path


@case("media", "a file of 0 bytes, of 1 byte, of text", "exit code 4, one line that names the file")
def empty(bench):
    seen = [bench.refused(4, name, bench.write(name, data), "--headless", "-o", "null:")
            for name, data in (("empty.mp4", b""), ("one.mkv", b"x"), ("text.mp4", b"not a video\n"))]
    return seen[0]


@case("media", "a folder as the source", "exit code 4, one line")
def directory(bench):
    os.mkdir(bench.path("folder"))
    return bench.refused(4, "folder", bench.path("folder"), "--headless", "-o", "null:")


@case("media", "a sound file without video", "exit code 4, one line")
def no_video(bench):
    data = b"RIFF" + struct.pack("<I", 16036) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    path = bench.write("sound.wav", data + b"data" + struct.pack("<I", 16000) + bytes(16000))
    return bench.refused(4, "sound.wav", path, "--headless", "-o", "null:")


@case("media", "a FIFO that nobody writes; TERM after 0.3 s", "lensd serve answers and ends", deadline=1)
def fifo(bench):
    os.mkfifo(bench.path("pipe"))
    daemon = bench.serve(bench.path("pipe"))
    daemon.ask("get", "source")
    return daemon.end()


def cut(bench, kinds, percents):
    """Plays each kind of file cut at each percent; returns the counts of each exit code."""
    codes = {}
    for kind in kinds:
        with open(clip(bench, "whole." + kind, KINDS[kind]), "rb") as whole:
            data = whole.read()
        for percent in percents:
            result, hashes = bench.frames(bench.write(f"cut.{kind}", data[:len(data) * percent // 100]))
            insist(result.code in (0, 4), f"{kind} at {percent} %: exit code {result.code}: {result.err[:200]}")
            insist(result.code == 0 or result.err.count("\n") == 1, f"{kind} at {percent} %: {result.err[:300]!r}")
            insist(result.code == 4 or hashes, f"{kind} at {percent} %: exit code 0 without a frame")
            codes[result.code] = codes.get(result.code, 0) + 1
    return ", ".join(f"{count} × exit {code}" for code, count in sorted(codes.items()))


@case("media", "an .mkv cut at 10 %, 30 %, 50 %, 70 %, 90 %", "plays up to the cut, or exit code 4 with one line")
def truncated(bench):
    return cut(bench, ["mkv"], range(10, 100, 20))


@case("media", "mkv, mp4, ts, avi, webm, flv cut at every percent", "plays up to the cut, or exit code 4 with one line",
      slow=True)
def truncated_everywhere(bench):
    return cut(bench, KINDS, range(1, 100))


def damage(bench, kinds, seeds):
    """Plays files with flipped bits at several rates; returns the counts of each exit code."""
    codes, longest = {}, 0.0
    for kind in kinds:
        with open(clip(bench, "sound." + kind, KINDS[kind]), "rb") as whole:
            data = whole.read()
        for seed in seeds:
            chance = random.Random(seed)
            bad = bytearray(data)
            for _ in range(max(1, int(len(bad) * chance.choice((1e-4, 1e-3, 1e-2, 5e-2))))):
                bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
            result = bench.headless(bench.write(f"damaged.{kind}", bytes(bad)))
            insist(result.code in (0, 4), f"{kind}, seed {seed}: exit code {result.code}: {result.err[:200]}")
            insist(result.code == 0 or result.err.count("\n") == 1, f"{kind}, seed {seed}: {result.err[:300]!r}")
            codes[result.code] = codes.get(result.code, 0) + 1
            longest = max(longest, result.seconds)
    return ", ".join(f"{n} × exit {code}" for code, n in sorted(codes.items())) + f", longest {longest:.2f} s"


@case("media", "flipped bits at four rates, 5 seeds each in mkv and ts", "plays, or exit code 4 with one line", deadline=10)
def flipped_bits(bench):
    return damage(bench, ["mkv", "ts"], range(5))


@case("media", "flipped bits at four rates, 40 seeds for each of six containers", "plays, or exit code 4 with one line",
      deadline=10, slow=True)
def flipped_bits_everywhere(bench):
    return damage(bench, KINDS, range(100, 140))


def raw_clip(bench, name, size, pixels, frames=2):
    path = bench.path(name)
    bench.ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={size}:rate=25", "-frames:v", str(frames), "-pix_fmt", pixels,
                 "-c:v", "ffv1", "-threads", "1", path)
    return path


@case("media", "1×1, 3×3 and 17×31 pixels through median and canny", "one frame each")
def tiny(bench):
    for width, height in ((1, 1), (3, 3), (17, 31)):
        path = bench.write(f"{width}.ppm", f"P6\n{width} {height}\n255\n".encode() + bytes(3 * width * height))
        result, hashes = bench.frames(path, "--graph", "median=radius=2,canny")
        insist(result.code == 0 and len(hashes) == 1, f"{width}×{height}: exit {result.code}: {result.err}")


@case("media", "8, 10 and 12 bits; 4:2:0, 4:2:2, 4:4:4; gray, RGB, alpha", "2 frames each", slow=True)
def pixel_formats(bench):
    formats = ["yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "yuv422p10le", "yuv444p10le", "yuv420p12le", "yuv422p12le",
               "yuv444p12le", "gray", "gray10le", "gray12le", "gbrp", "gbrp10le", "gbrp12le", "yuva420p", "bgra", "yuv410p"]
    for pixels in formats:
        result, hashes = bench.frames(raw_clip(bench, "pixels.mkv", "66x50", pixels), "--graph", "gaussian=sigma=1")
        insist(result.code == 0 and len(hashes) == 2, f"{pixels}: exit {result.code}, {len(hashes)} frames: {result.err}")
    return f"{len(formats)} pixel formats"


@case("media", "4095×2161 and 7680×4320 pixels, 8 and 10 bits", "2 frames each", deadline=20, slow=True)
def large(bench):
    for size, pixels in (("4095x2161", "yuv444p"), ("7680x4320", "yuv420p"), ("7680x4320", "yuv420p10le")):
        result, hashes = bench.frames(raw_clip(bench, "large.mkv", size, pixels), "--graph", "invert")
        insist(result.code == 0 and len(hashes) == 2, f"{size} {pixels}: exit {result.code}: {result.err}")


def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes(64))) + chunk(b"IEND", b""))


def bmp(width, height):
    return b"BM" + struct.pack("<IHHI", 100, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 32, 0, 0, 0, 0,
                                                                      0, 0) + bytes(46)


def avi_head(bench, width, height):
    """An AVI file whose header claims another size."""
    with open(clip(bench, "small.avi", "mpeg4"), "rb") as small:
        data = bytearray(small.read())
    place = data.index(b"strf") + 12
    data[place:place + 8] = struct.pack("<II", width, height)
    return bytes(data)


@case("media", "PNG, BMP, PPM and AVI headers that claim 30,000 × 30,000 to 2³¹ pixels, in 1 GiB of address space",
      "exit code 4, one line, at most 200 MiB resident")
def forged_sizes(bench):
    files = {"a.png": png(30000, 30000), "b.png": png(2**31 - 1, 2**31 - 1), "c.bmp": bmp(30000, 30000),
             "d.bmp": bmp(2**31 - 1, 1), "e.ppm": b"P6\n30000 30000\n255\n" + bytes(99),
             "f.pgm": b"P5\n2147483647 2147483647\n65535\n" + bytes(99), "g.avi": avi_head(bench, 60000, 60000)}
    peak = 0
    for name, data in files.items():
        result = bench.headless(bench.write(name, data), limits={"AS": 1 << 30})
        insist(result.code == 4, f"{name}: exit code {result.code}: {result.err[:300]}")
        result.line()
        insist(result.peak_kib < 200 << 10, f"{name}: {result.peak_kib >> 10} MiB")
        peak = max(peak, result.peak_kib)
    return f"{len(files)} files refused, at most {peak >> 10} MiB resident"


@case("media", "cat of MJPEG streams of two sizes and two samplings", "every frame is processed")
def change_of_size(bench):
    data = b""
    for size, pixels in (("64x48", "yuvj420p"), ("96x80", "yuvj422p"), ("48x64", "yuvj444p"), ("64x48", "gray")):
        bench.ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={size}:rate=25", "-frames:v", "3", "-pix_fmt", pixels, "-c:v",
                     "mjpeg", bench.path("part.mjpeg"))
        with open(bench.path("part.mjpeg"), "rb") as part:
            data += part.read()
    result, hashes = bench.frames(bench.write("all.mjpeg", data), "--graph", "median,canny")
    insist(result.code == 0 and len(hashes) == 12, f"exit {result.code}, {len(hashes)} of 12 frames: {result.err}")
    return "12 of 12 frames"


GRAPH_OF_ONE_SIZE = """
[[node]]
filter = "crop"
width = 64
height = 48
[[node]]
filter = "blend"
inputs = ["source", "crop"]
"""


def growing(bench):
    """A stream that starts with 64×48 pixels and continues with 96×80, and a graph that fits the first size only."""
    data = b""
    for size in ("64x48", "96x80"):
        bench.ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={size}:rate=25", "-frames:v", "3", "-c:v", "mjpeg",
                     bench.path("part.mjpeg"))
        with open(bench.path("part.mjpeg"), "rb") as part:
            data += part.read()
    return bench.write("growing.mjpeg", data), "-c", bench.write("one.toml", GRAPH_OF_ONE_SIZE)


@case("media", "a stream changes to a size that the graph does not fit", "exit code 3, one line")
def graph_does_not_fit(bench):
    return bench.refused(3, "blend", *growing(bench), "--headless", "-q", "-o", "null:")


@case("media", "the same stream in lensd serve", "the reason is shown; it runs again with a graph that fits", deadline=10)
def graph_does_not_fit_served(bench):
    daemon = bench.serve(*growing(bench), "--loop-file=inf")
    took = daemon.until(lambda: "blend" in daemon.messages(), "a message")
    daemon.ask("graph-set", "invert")
    daemon.playing(10)
    return f"message after {took:.1f} s, graph-set goes on; {daemon.end()}"


@case("media", "MPEG-TS whose time stamps pass 2³³", "12 frames, in order")
def time_stamp_wrap(bench):
    result, hashes = bench.frames(clip(bench, "wrap.ts", "mpeg2video", "-output_ts_offset", "95443.5"))
    insist(result.code == 0 and len(hashes) == 12, f"exit {result.code}, {len(hashes)} of 12 frames: {result.err}")
    return "12 of 12 frames"


@case("media", "MPEG-TS with a gap of an hour, then time stamps that go back; raw H.264 without any; variable rate",
      "every frame")
def odd_time_stamps(bench):
    def parts(*offsets):
        data = b""
        for offset in offsets:
            with open(clip(bench, "part.ts", "mpeg2video", "-output_ts_offset", str(offset)), "rb") as part:
                data += part.read()
        return data
    files = {"gap.ts": (parts(10, 3610), 24), "back.ts": (parts(500, 10), 24)}
    for name, (data, count) in files.items():
        result, hashes = bench.frames(bench.write(name, data))
        insist(result.code == 0 and len(hashes) == count, f"{name}: exit {result.code}, {len(hashes)} of {count} frames: "
               f"{result.err}")
    for name, codec, options in (("raw.h264", "libx264", ()), ("vfr.mkv", "libx264", (
            "-vf", "setpts='if(lt(N,6),N,N*N)/25/TB'", "-vsync", "vfr"))):
        result, hashes = bench.frames(clip(bench, name, codec, *options))
        insist(result.code == 0 and len(hashes) == 12, f"{name}: exit {result.code}, {len(hashes)} of 12 frames")


@case("media", "an .mp4 with rotation by 90°", "the output is upright: 120×160 of 160×120")
def rotation(bench):
    clip(bench, "level.mp4", "libx264")
    bench.ffmpeg("-i", bench.path("level.mp4"), "-c", "copy", "-metadata:s:v", "rotate=90", bench.path("turned.mp4"))
    bench.headless(bench.path("turned.mp4"))
    result = bench.run(bench.path("turned.mp4"), "--headless", "-q", "--frames", "1", "-o", bench.path("turned.png"))
    insist(result.code == 0, result.err)
    with open(bench.path("turned.png"), "rb") as picture:
        width, height = struct.unpack(">II", picture.read(24)[16:])
    insist((width, height) == (120, 160), f"{width}×{height}")
    return f"{width}×{height}"
