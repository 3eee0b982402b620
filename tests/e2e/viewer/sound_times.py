#!/usr/bin/env python3
"""Times of beeps and of pictures, for sound.sh.

record FILE           reads a monitor (16 bit, mono, 48 kHz) from standard input until its end, and writes the
                      monotonic time of the first and of the last sample of each beep, in seconds
compare BEEPS TRACE TOLERANCE
                      prints for each flash (every 25th frame) its offset to the nearest beep in ms, when it was
                      due and when it was on the screen; positive: the picture is later. Fails unless at least 8
                      flashes have a beep and no flash with a beep is due more than TOLERANCE ms from it.
"""

import array
import json
import os
import sys
import time

RATE, LOUD = 48000, 1500
GAP = RATE // 50  # silence that ends a beep, in samples


def record(path):
    # The least delayed chunk gives the time of sample 0.
    origin, samples, beeps, last = None, 0, [], None
    with open(path, 'w', encoding='ascii') as out:
        while chunk := os.read(0, 4800):
            now = time.monotonic()
            if len(chunk) % 2:
                chunk += os.read(0, 1)
            values = array.array('h', chunk)
            start = now - samples / RATE
            origin = start if origin is None else min(origin, start)
            for i, value in enumerate(values):
                if abs(value) < LOUD:
                    continue
                at = samples + i
                if last is None or at - last > GAP:
                    beeps.append([at, at])
                beeps[-1][1] = last = at
            samples += len(values)
            out.seek(0)
            out.writelines(f'{origin + a / RATE:.6f} {origin + b / RATE:.6f}\n' for a, b in beeps)
            out.flush()


def compare(beeps_path, trace_path, tolerance):
    with open(beeps_path, encoding='ascii') as lines:
        beeps = [float(line.split()[0]) for line in lines]
    with open(trace_path, encoding='utf-8') as text:
        trace = json.load(text)
    origin = int(trace['otherData']['origin_ns']) / 1e9
    flashes = {}
    for event in trace['traceEvents']:
        frame = event.get('args', {}).get('frame')
        # Skip frame 0: it is shown before its sound.
        if event.get('ph') == 'X' and frame and frame % 25 == 0:
            end = origin + (event['ts'] + event['dur']) / 1e6
            kind = {'wait until due': 'due', 'swap': 'shown'}.get(event['name'])
            if kind:
                flashes.setdefault((frame, round(end)), {})[kind] = end
    offsets = []
    for (frame, _), times in sorted(flashes.items(), key=lambda item: min(item[1].values())):
        near = {kind: min((at - b for b in beeps), key=abs, default=9) * 1000 for kind, at in times.items()}
        if abs(near.get('due', 1000)) > 400:  # skipped by a seek, or due at a pause
            continue
        offsets.append(near['due'])
        print(f'frame {frame}: ' + ', '.join(f'{kind} {ms:+.1f} ms' for kind, ms in sorted(near.items())))
    offsets.sort(key=abs)
    if len(offsets) < 8:
        return f'only {len(offsets)} flashes have a beep'
    print(f'median {offsets[len(offsets) // 2]:+.1f} ms, worst {offsets[-1]:+.1f} ms')
    return 0 if abs(offsets[-1]) <= float(tolerance) else 1


if __name__ == '__main__':
    sys.exit({'record': record, 'compare': compare}[sys.argv[1]](*sys.argv[2:]))
