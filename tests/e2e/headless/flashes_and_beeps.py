"""Prints the times of flashes and beeps in a file, in seconds: flashes_and_beeps.py FILE. Needs ffmpeg."""
import array
import re
import subprocess
import sys

RATE = 8000


def ffmpeg(*arguments):
    return subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", sys.argv[1], *arguments], check=True,
                          stdout=subprocess.PIPE).stdout


def starts(times, gap):
    """Returns the times that follow the previous one by more than `gap` seconds."""
    return [t for before, t in zip([-10.0] + times, times) if t - before > gap]


lines = ffmpeg("-map", "0:v", "-fps_mode", "passthrough", "-vf", "signalstats,metadata=print:file=-", "-f", "null", "-")
frames = re.findall(r"pts_time:(\S+)|YAVG=(\S+)", lines.decode())
bright = [float(time) for (time, _), (_, level) in zip(frames[::2], frames[1::2]) if float(level) > 100]
sound = ffmpeg("-map", "0:a", "-af", "aresample=async=1:min_hard_comp=0.01:first_pts=0", "-ac", "1", "-ar", str(RATE), "-f", "s16le", "-")
loud = [i / RATE for i, sample in enumerate(array.array("h", sound)) if abs(sample) > 3000]
print("flashes", *(f"{t:.2f}" for t in starts(bright, 0.3)))
print("beeps", *(f"{t:.2f}" for t in starts(loud, 0.3)))
