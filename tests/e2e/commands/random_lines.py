#!/usr/bin/env python3
"""random_lines.py LENSD FOLDER COUNT SEED: runs random command lines in FOLDER, whose files under in/ must not change.

Each run ends within its time with a documented exit code, without a signal, and says why if the code is not 0.
"""
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

lensd, folder, count, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
pick = random.Random(seed)
LIMIT_S = 60

INPUTS = ["in/clip.mkv", "in/sound.mp4", "in/still.png", "in/seq_%02d.png", "in/cut.mkv", "in/noise.bin", "in/empty.mkv",
          "in/link.mkv", "in", "in/none.mkv", "test:testsrc2=size=64x48:rate=25:duration=0.4", "test:none", "in/klt.toml",
          "in/../in/clip.mkv", "file:in/clip.mkv", "/dev/null", "/dev/video99", "http://127.0.0.1:9/x", "ftp://x/y", ":",
          "in/späße 'x'.mkv", "-", ""]
NUMBERS = ["0", "1", "2", "3", "-1", "0.5", "1e9", "1e400", "nan", "inf", "-0", "007", "0x10", "4294967296",
           "99999999999999999999", "1,5", "", " ", "1 2", "ten", "50%", "150%", "0:01", "1:99:99"]
WORDS = ["", "auto", "no", "cpu", "cuda", "off", "true", "none", "x" * 300, "\u00e9\u4e2d", "a=b", "--", "-", "%", "%s%n", "../..",
         "null:", "in/clip.mkv", "out", "\t", "'", '"', "$(id)", "keep", "8", "16"]
FILTERS = ["median", "gaussian", "grayscale", "invert", "canny", "resize", "crop", "klt", "stabilize", "levels", "blend",
           "flip", "rotate", "deinterlace", "mosaic", "convolve", "threshold", "nothing", "box", "draw_tracks", "sobel"]
PARAMS = ["radius=2", "radius=99", "sigma=1.5", "sigma=-1", "width=9", "width=0", "width=16385", "scale=0.3", "scale=16",
          "x=5:y=7", "kernel=1 2 1", "kernel=1 2;3", "kernel=sharpen", "level=12.5", "method=area", "method=best",
          "angle=90", "mode=both", "border=wrap", "=", "radius", "radius=", ":", "radius=1:radius=2", "block=7", "otsu=yes"]
OUTPUTS = ["null:", "out/a.mkv", "out/a.mp4", "out/a.png", "out/a_%03d.jpg", "out/a.webm", "out/a.avi", "out/a.txt", "out",
           "in/clip.mkv", "in/link.mkv", "in/still.png", "in/../in/clip.mkv", "./in//clip.mkv", "none/a.mkv", "/", "",
           "out/a.m3u8", "rtmp://127.0.0.1:9/x", "file:in/clip.mkv", "in/seq_01.png", "in/seq_%02d.png"]


def chain():
    """A chain of filters, mostly valid."""
    parts = []
    for _ in range(pick.randint(1, 4)):
        part = pick.choice(FILTERS)
        if pick.random() < 0.5:
            part += "=" + pick.choice(PARAMS)
        parts.append(part)
    return pick.choice([",", ",", ",", ",,", " ", ";"]).join(parts)


def number():
    return pick.choice(NUMBERS)


def word():
    return pick.choice(WORDS)


def output():
    return pick.choice(OUTPUTS)


def file(*endings):
    return pick.choice([f"out/f{e}" for e in endings] + ["in/clip.mkv", "in/klt.toml", "out", "none/f", ""])


OPTIONS = {
    "--hwdec": word, "--hdr": word, "--video-track": number, "--profile": word, "--rtsp-transport": word,
    "--network-timeout": number, "--source-control": word, "--start": number, "--speed": number, "--frames": number,
    "--graph": chain, "--precision": number, "-c": lambda: pick.choice(["in/klt.toml", "in/bad.toml", "in/clip.mkv", "edges", word()]),
    "--set": lambda: pick.choice(["median.radius=2", "median.radius=x", "x.y=1", "=", ".", "a.b"]), "--volume": number,
    "--audio-track": number, "-o": output, "--output": output, "--record": output,
    "--framehash": lambda: file(".txt", ".csv"), "--tracks": lambda: file(".csv", ".jsonl", ".txt"),
    "--timings": lambda: file(".csv", ".json"), "--trace": lambda: file(".json"), "--trace-on": lambda: pick.choice(["drop", "5", word()]),
    "--backend": word, "--device": number, "--threads": number, "--msg-level": word, "--log-file": lambda: file(".log"),
    "--screenshot-template": word, "--screenshot-directory": word,
}
USUAL = {
    "--hwdec": ["no", "auto"], "--hdr": ["keep", "tonemap"], "--video-track": ["0", "1"], "--profile": ["default"],
    "--rtsp-transport": ["tcp"], "--network-timeout": ["1"], "--start": ["0", "0.2", "50%", "9"], "--speed": ["1", "2"],
    "--frames": ["1", "3"], "--precision": ["8", "16", "auto"], "-c": ["in/klt.toml"], "--volume": ["50"], "--audio-track": ["0", "1"],
    "--backend": ["cpu", "auto"], "--device": ["0"], "--threads": ["0", "1", "2"], "--msg-level": ["info", "off"],
    "-o": ["null:", "out/b.mkv", "out/b.png"], "--output": ["null:"], "--record": ["out/r.mkv", "out/r.mp4"],
    "--screenshot-template": ["%F"], "--screenshot-directory": ["out"],
}
FLAGS = ["--loop-file=no", "--pause", "--no-resume", "--mute", "--no-audio", "--overwrite", "-v", "-vv", "-q", "--fullscreen",
         "--frames=2", "--overwrite",
         "--version", "--help", "--nonsense", "-x", "--graph=", "--loop-file=maybe"]


def options(most):
    """Random options: a list of words for each, the option and its value."""
    line = []
    for name in pick.choices(list(OPTIONS), k=pick.randint(0, most)):
        if pick.random() < 0.25:
            line.append([pick.choice(FLAGS[:9] if pick.random() < 0.7 else FLAGS)])
            continue
        value = pick.choice(USUAL[name]) if name in USUAL and pick.random() < 0.75 else OPTIONS[name]()
        line.append([f"{name}={value}"] if pick.random() < 0.3 and name.startswith("--") else [name, value])
    return line


def command_line():
    kind = pick.random()
    if kind < 0.06:  # a window with a playlist; without a display it ends after the checks
        words = options(4) + [[pick.choice(INPUTS[:15])] for _ in range(pick.randint(2, 4))]
        pick.shuffle(words)
        return [w for group in words for w in group]
    if kind < 0.72:
        words = options(5) + [["--headless"], ["--frames", str(pick.randint(1, 5))]]
        words += [[pick.choice(INPUTS[:7] if pick.random() < 0.6 else INPUTS)] for _ in range(pick.choice([0, 1, 1, 1, 1, 1, 1, 2]))]
        names = [w[0].split("=")[0] for w in words]
        words = [w for i, w in enumerate(words) if names[i] not in names[:i] or pick.random() < 0.05]
        if "-o" not in names and pick.random() < 0.6:
            words.append(["-o", pick.choice(USUAL["-o"]) if pick.random() < 0.6 else output()])
        pick.shuffle(words)
        return [w for group in words for w in group]
    if kind < 0.80:
        return ["check"] + [pick.choice(["in/klt.toml", "in/bad.toml", "in/clip.mkv", "in", "none", "/dev/null", ""])
                            for _ in range(pick.randint(0, 3))]
    if kind < 0.86:
        return ["filters"] + pick.choice([[], [pick.choice(FILTERS)], [word()], ["--markdown"], ["--json"], [word(), word()]])
    if kind < 0.92:
        return ["bench", pick.choice(FILTERS + [word()]), "--size", pick.choice(["64x48", "1x1", "0x0", "x", "17x31", word()]),
                "--backend", "cpu"] + pick.choice([[], ["--threads", number()], ["--json"], [word()]])
    if kind < 0.96:
        return ["ctl", "--socket", pick.choice(["none.sock", "in/clip.mkv", "", "x" * 200])] + [word() for _ in range(pick.randint(0, 3))]
    return [pick.choice(["doctor", "completion", "manual", "serve", word()])] + [word() for _ in range(pick.randint(0, 2))]


def hashes():
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted((folder / "in").iterdir())}


def sources(line):
    """The names of the existing files that the line may play, also those in folders."""
    played = [folder / w for before, w in zip(["", *line], line) if w in INPUTS and before not in OPTIONS]
    files = [f for p in played for f in (p.iterdir() if p.is_dir() else [p])]
    return {os.path.basename(os.path.realpath(f)) for f in files if f.is_file()}


shutil.copytree(folder / "in", folder / "kept", symlinks=True)
environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder / "home"), "LANG": "C.UTF-8"}
before = hashes()
codes = {}
for i in range(count):
    line = command_line()
    if pick.random() < 0.8:  # else the outputs of earlier runs still exist
        shutil.rmtree(folder / "out")
        (folder / "out").mkdir()
    shown = f"run {i} of seed {seed}: lensd {line}"
    run = subprocess.Popen([lensd, *line], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, start_new_session=True)
    daemon = line[0] == "serve"
    try:
        out, err = run.communicate(timeout=2 if daemon else LIMIT_S)
    except subprocess.TimeoutExpired:
        run.send_signal(signal.SIGTERM)
        try:
            out, err = run.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            sys.exit(f"{shown}: does not end, not even with TERM")
        if not daemon:
            sys.exit(f"{shown}: runs for more than {LIMIT_S} s: {err.decode(errors='replace')[-500:]}")
    code, said = run.returncode, err.decode(errors="replace")
    codes[code] = codes.get(code, 0) + 1
    if os.environ.get("LENSD_LINES_SHOWN"):
        print(code, line, said.strip()[:150], flush=True)
    if code not in range(6):
        sys.exit(f"{shown}: exit code {code}: {said[-2000:]}")
    if code != 0 and not said.strip() and "-q" not in line and "off" not in line:
        sys.exit(f"{shown}: exit code {code} without a word")
    if "terminate called" in said or "Sanitizer" in said or "std::" in said:
        sys.exit(f"{shown}: {said[-2000:]}")
    after = hashes()
    changed = {name for name in before if after.get(name) != before[name]}
    # --overwrite allows replacing any file except the source.
    if changed and ("--overwrite" not in line or changed & sources(line)):
        sys.exit(f"{shown}: changed {', '.join(sorted(changed))}")
    if changed or after.keys() != before.keys():
        shutil.rmtree(folder / "in")
        shutil.copytree(folder / "kept", folder / "in", symlinks=True)
print(f"{count} command lines with seed {seed}: exit codes " + ", ".join(f"{c}: {n}" for c, n in sorted(codes.items())))
