#!/usr/bin/env python3
"""Times of beeps and of pictures, for sound.sh and sound_offset.sh.

record FILE           reads a monitor (16 bit, mono, 48 kHz) from standard input until its end, and writes the
                      monotonic time of the first and of the last sample of each beep, in seconds
compare BEEPS TRACE TOLERANCE
                      prints for each flash (every 25th frame) its offset to the nearest beep in ms, when it was
                      due and when it was on the screen; positive: the picture is later. Fails unless at least 8
                      flashes have a beep and no flash with a beep is due more than TOLERANCE ms from it.
watch FILE X Y        reads the screen's pixel at X, Y until it is killed or the display closes, and writes the monotonic
                      time of each change from dark to bright, in seconds
offsets FLASHES BEEPS PARTS TOLERANCE
                      prints for each line "BEGIN END NAME" of PARTS the offsets of the flashes of that time to their
                      beeps in ms: the median and the largest; positive: the picture is later. Fails unless each part
                      has at least 4 flashes with a beep and no median is more than TOLERANCE ms.
"""

import array
import json
import os
import sys
import time

RATE, LOUD = 48000, 1500
GAP = RATE // 50  # silence that ends a beep, in samples


def record(path):
    # The least delayed chunk of each second gives the time of sample 0. Only the seconds around a beep count, because
    # the server may drop or repeat samples of its monitor.
    origins, samples, beeps, last, written = {}, 0, [], None, 0

    def time_of(sample):
        second = sample // RATE
        return sample / RATE + min(origins[s] for s in range(second - 1, second + 2) if s in origins)

    with open(path, 'w', encoding='ascii') as out:
        while chunk := os.read(0, 4800):
            now = time.monotonic()
            if len(chunk) % 2:
                chunk += os.read(0, 1)
            values = array.array('h', chunk)
            second = samples // RATE
            origins[second] = min(origins.get(second, now), now - samples / RATE)
            for i, value in enumerate(values):
                if abs(value) < LOUD:
                    continue
                at = samples + i
                if last is None or at - last > GAP:
                    beeps.append([at, at])
                beeps[-1][1] = last = at
            samples += len(values)
            if now < written + 0.2:
                continue
            written = now
            out.seek(0)
            out.writelines(f'{time_of(a):.6f} {time_of(b):.6f}\n' for a, b in beeps)
            out.truncate()
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


def watch(path, x, y):
    import Xlib.display  # installed with the tests' packages
    root = Xlib.display.Display().screen().root
    bright = True  # the first picture is a flash, which may have begun earlier
    with open(path, 'w', encoding='ascii') as out:
        while True:
            before = time.monotonic()
            data = root.get_image(int(x), int(y), 1, 1, Xlib.X.ZPixmap, 0xFFFFFFFF).data
            after = time.monotonic()
            if (data[1] > 128) != bright:
                bright = not bright
                if bright:
                    out.write(f'{(before + after) / 2:.6f}\n')
                    out.flush()
            time.sleep(0.002)


def offsets(flashes_path, beeps_path, parts_path, tolerance):
    with open(flashes_path, encoding='ascii') as lines:
        flashes = [float(line) for line in lines]
    with open(beeps_path, encoding='ascii') as lines:
        beeps = [float(line.split()[0]) for line in lines]
    with open(parts_path, encoding='ascii') as lines:
        parts = [line.rstrip('\n').split(' ', 2) for line in lines]
    failed = 0
    for begin, end, name in parts:
        inside = [at for at in flashes if float(begin) <= at <= float(end)]
        apart = [min((at - beep for beep in beeps), key=abs, default=9) * 1000 for at in inside]
        apart = sorted((ms for ms in apart if abs(ms) < 400), key=abs)
        if len(apart) < 4:
            print(f'{name}: only {len(apart)} of {len(inside)} flashes have a beep')
            failed = 1
            continue
        middle = sorted(apart)[len(apart) // 2]
        print(f'{name}: {len(apart)} flashes, median {middle:+.1f} ms, largest {apart[-1]:+.1f} ms')
        failed |= abs(middle) > float(tolerance)
    return failed


if __name__ == '__main__':
    sys.exit({'record': record, 'compare': compare, 'watch': watch, 'offsets': offsets}[sys.argv[1]](*sys.argv[2:]))
