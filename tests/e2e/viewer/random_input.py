#!/usr/bin/env python3
"""random_input.py SEED COUNT MAP WIDTH HEIGHT: prints xdotool commands for COUNT random sequences of keys and mouse events.

Half of the positions are controls of the UI map MAP, which lists "name x y w h".
"""
import random
import sys

pick = random.Random(int(sys.argv[1]))
count, width, height = int(sys.argv[2]), int(sys.argv[4]), int(sys.argv[5])
KEYS = ("space Left Right Up Down Home End Page_Up Page_Down Tab Escape Return BackSpace Delete F1 F5 F11 comma period minus plus "
        "less greater bracketleft bracketright slash question numbersign underscore 0 1 2 3 5 9 "
        + " ".join("abcdefghijklmnoprstuvwxyz") + " " + " ".join("ABCDEGHIJKLMNOPRSTUVWXYZ")).split()
MODIFIED = [f"{m}+{k}" for m in ("ctrl", "shift", "alt", "ctrl+shift") for k in "z y c v s o d r Left Right a 1 2 Delete".split()]


def controls():
    found = []
    for line in open(sys.argv[3], encoding="utf-8"):
        words = line.split()
        try:
            found.append([float(v) for v in words[-4:]])
        except ValueError:
            continue
    return [c for c in found if len(c) == 4 and 0 <= c[0] < width and 0 <= c[1] < height]


places = controls()


def position():
    if places and pick.random() < 0.5:
        x, y, w, h = pick.choice(places)
        return int(min(max(x + w * pick.random(), 0), width - 1)), int(min(max(y + h * pick.random(), 0), height - 1))
    return pick.randrange(width), pick.randrange(height)


def event():
    kind = pick.random()
    if kind < 0.45:
        return f"key {pick.choice(KEYS)}"
    if kind < 0.55:
        return f"key {pick.choice(MODIFIED)}"
    x, y = position()
    if kind < 0.75:
        return f"mousemove {x} {y} click {pick.choice([1, 1, 1, 1, 2, 3, 4, 5])}"
    if kind < 0.85:
        return f"mousemove {x} {y} click --repeat 2 --delay 60 1"
    if kind < 0.97:
        to = position()
        return f"mousemove {x} {y} mousedown 1 sleep 0.05 mousemove {to[0]} {to[1]} sleep 0.05 mouseup 1"
    return f"type --delay 5 {pick.choice(['12', '0.5', '-3', 'abc', '99999999999', 'in', '..', 'nan'])}"


for _ in range(count):
    for _ in range(pick.randint(3, 10)):
        print(event())
    print("sleep 0.03")
