"""HDR in double precision, by BT.2020, BT.2100, BT.2390, IEC 61966-2-1 and CIE 142. Shares no code with the program.

hdr.py encode TRANSFER LIGHT FORMAT WIDTH SITING
                    reads an SDR picture (rgb24), writes it with PQ or HLG, BT.2020 colours and limited range (planar
                    RGB: full). LIGHT white: white becomes 203 cd/m². LIGHT from 300 to 10000: white becomes LIGHT cd/m²,
                    with higher contrast, and the primaries are taken as those of BT.2020.
hdr.py compare CLIP SHOWN MEAN P99
                    fails if the colours of the tone-mapped picture SHOWN (rgb48le) differ from CLIP's by ΔE2000 of more
                    than MEAN on average or P99 in the 99th percentile. CLIP is "format width height siting transfer
                    peak file" with the decoded samples in a file.
hdr.py expand       converts rgb24 to rgb48le.
hdr.py mean A B     prints the mean difference of two pictures (rgb48le), in 1/255.
"""

import array
import math
import sys

WHITE = 203  # cd/m², BT.2408
BT2020 = ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046))
BT709 = ((0.640, 0.330), (0.300, 0.600), (0.150, 0.060))
LUMA = (0.2627, 0.6780, 0.0593)  # BT.2020


def pq_light(signal):
    p = signal ** (32 / 2523)
    return 10000 * (max(p - 107 / 128, 0) / (2413 / 128 - 2392 / 128 * p)) ** (16384 / 2610)


def pq_signal(light):
    y = (light / 10000) ** (2610 / 16384)
    return ((107 / 128 + 2413 / 128 * y) / (1 + 2392 / 128 * y)) ** (2523 / 32)


HLG_A = 0.17883277
HLG_B = 1 - 4 * HLG_A
HLG_C = 0.5 - HLG_A * math.log(4 * HLG_A)


def hlg_scene(signal):
    return signal * signal / 3 if signal <= 0.5 else (math.exp((signal - HLG_C) / HLG_A) + HLG_B) / 12


def hlg_signal(scene):
    return math.sqrt(3 * scene) if scene <= 1 / 12 else HLG_A * math.log(12 * scene - HLG_B) + HLG_C


def srgb_light(signal):
    return signal / 12.92 if signal <= 0.04045 else ((signal + 0.055) / 1.055) ** 2.4


def times(m, v):
    return [m[r][0] * v[0] + m[r][1] * v[1] + m[r][2] * v[2] for r in range(3)]


def inverse(m):
    def minor(r, c):
        a, b = (r + 1) % 3, (r + 2) % 3
        d, e = (c + 1) % 3, (c + 2) % 3
        return m[a][d] * m[b][e] - m[a][e] * m[b][d]

    det = sum(m[0][c] * minor(0, c) for c in range(3))
    return [[minor(c, r) / det for c in range(3)] for r in range(3)]


def to_xyz(primaries):
    """The matrix from linear RGB with white D65 (SMPTE RP 177)."""
    columns = [(x / y, 1, (1 - x - y) / y) for x, y in primaries]
    m = [[column[r] for column in columns] for r in range(3)]
    weights = times(inverse(m), (0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290))
    return [[m[r][c] * weights[c] for c in range(3)] for r in range(3)]


def product(a, b):
    return [[sum(a[r][k] * b[k][c] for k in range(3)) for c in range(3)] for r in range(3)]


XYZ = to_xyz(BT709)
FROM_BT709 = product(inverse(to_xyz(BT2020)), XYZ)
TO_BT709 = inverse(FROM_BT709)


def tone_mapped(light, peak):
    """BT.2390 section 5.4.1 from a display of `peak` cd/m² to one of WHITE, black at 0."""
    full = pq_signal(peak)
    most = pq_signal(WHITE) / full
    start = 1.5 * most - 0.5
    e = min(pq_signal(light) / full, 1)
    if peak <= WHITE or e < start:
        return min(light, WHITE)
    t = (e - start) / (1 - start)
    p = ((2 * t**3 - 3 * t**2 + 1) * start + (t**3 - 2 * t**2 + t) * (1 - start) + (3 * t**2 - 2 * t**3) * most)
    return pq_light(p * full)


def shown(signal, transfer, peak):
    """Converts BT.2020 signals to linear BT.709, both 0 to 1."""
    signal = [min(max(s, 0), 1) for s in signal]
    if transfer == "pq":
        light = [pq_light(s) for s in signal]
    else:
        light = [hlg_scene(s) for s in signal]
        gain = 1000 * sum(w * v for w, v in zip(LUMA, light)) ** 0.2
        light, peak = [v * gain for v in light], 1000
    most = max(light)
    gain = tone_mapped(most, peak) / most / WHITE if most > 0 else 0
    return [min(max(v, 0), 1) for v in times(TO_BT709, [v * gain for v in light])]


def lab(linear):
    white = [sum(row) for row in XYZ]
    f = [t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
         for t in (v / w for v, w in zip(times(XYZ, linear), white))]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def delta_e2000(p, q):
    """In the notation of Sharma, Wu, Dalal, "The CIEDE2000 color-difference formula", 2005."""
    c7 = ((math.hypot(p[1], p[2]) + math.hypot(q[1], q[2])) / 2) ** 7
    g = 0.5 * (1 - math.sqrt(c7 / (c7 + 25**7)))
    a1, a2 = (1 + g) * p[1], (1 + g) * q[1]
    c1, c2 = math.hypot(a1, p[2]), math.hypot(a2, q[2])
    h1, h2 = math.atan2(p[2], a1) % math.tau, math.atan2(q[2], a2) % math.tau
    dh = h2 - h1 if c1 * c2 else 0
    dh -= math.tau if dh > math.pi else -math.tau if dh < -math.pi else 0
    dl, dc, dhue = q[0] - p[0], c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(dh / 2)
    l, c, h = (p[0] + q[0]) / 2, (c1 + c2) / 2, h1 + h2
    if c1 * c2:
        if abs(h1 - h2) > math.pi:
            h += math.tau if h < math.tau else -math.tau
        h /= 2
    t = (1 - 0.17 * math.cos(h - math.radians(30)) + 0.24 * math.cos(2 * h) +
         0.32 * math.cos(3 * h + math.radians(6)) - 0.20 * math.cos(4 * h - math.radians(63)))
    turn = math.radians(30) * math.exp(-(((math.degrees(h) - 275) / 25) ** 2))
    rc = 2 * math.sqrt(c**7 / (c**7 + 25**7))
    sl = 1 + 0.015 * (l - 50) ** 2 / math.sqrt(20 + (l - 50) ** 2)
    x, y, z = dl / sl, dc / (1 + 0.045 * c), dhue / (1 + 0.015 * c * t)
    return math.sqrt(max(x * x + y * y + z * z - math.sin(2 * turn) * rc * y * z, 0))


def samples(file, code="H"):
    with open(file, "rb") as f:
        return array.array(code, f.read())


def layout(form):
    """Returns the bits per sample, and 1 for each direction in which chroma has half the size."""
    bits = int(form.removesuffix("le").rsplit("p", 1)[1])
    return bits, int(form[3:6] in ("420", "422")), int(form[3:6] == "420")


def chroma_size(size, halved):
    return (size + halved) >> halved


def encode(transfer, light, form, width, siting):
    picture, width = sys.stdin.buffer.read(), int(width)
    linear = [srgb_light(code / 255) for code in range(256)]
    peak, power, matrix = (WHITE, 1, FROM_BT709) if light == "white" else (float(light), 1.4, None)
    linear = [peak * v**power for v in linear]
    coded = []
    for i in range(0, len(picture), 3):
        v = [linear[code] for code in picture[i:i + 3]]
        if matrix:
            v = [max(x, 0) for x in times(matrix, v)]
        if transfer == "hlg":  # the inverse of the OOTF for a display of 1000 cd/m²
            y = sum(w * x for w, x in zip(LUMA, v)) / 1000
            v = [min(x / 1000 * y ** (-1 / 6), 1) if y else 0 for x in v]
        coded.append([pq_signal(x) if transfer == "pq" else hlg_signal(x) for x in v])
    height = len(coded) // width
    bits, half_x, half_y = layout(form)
    planes = array.array("H")
    if form.startswith("gbrp"):
        for channel in (1, 2, 0):
            planes.extend(round(((1 << bits) - 1) * v[channel]) for v in coded)
    else:
        scale = 1 << (bits - 8)
        luma = [sum(w * x for w, x in zip(LUMA, v)) for v in coded]
        planes.extend(round(scale * (219 * y + 16)) for y in luma)

        def taps(at, halved, cosited, count):
            if not halved:
                return ((at, 1),)
            taps = ((-1, 0.25), (0, 0.5), (1, 0.25)) if cosited else ((0, 0.5), (1, 0.5))
            return tuple((min(max(2 * at + i, 0), count - 1), weight) for i, weight in taps)

        columns = [taps(x, half_x, True, width) for x in range(chroma_size(width, half_x))]
        rows = [taps(y, half_y, siting == "topleft", height) for y in range(chroma_size(height, half_y))]
        for channel in (2, 0):
            plane = [(v[channel] - y) / (2 - 2 * LUMA[channel]) for v, y in zip(coded, luma)]
            for row in rows:
                for column in columns:
                    chroma = sum(a * b * plane[j * width + i] for j, a in row for i, b in column)
                    planes.append(round(scale * (224 * chroma + 128)))
    planes.tofile(sys.stdout.buffer)


def signals(form, width, height, siting, file):
    """Returns R'G'B' of each pixel. Chroma is interpolated linearly."""
    bits, half_x, half_y = layout(form)
    values = samples(file)
    if form.startswith("gbrp"):
        size = width * height
        full = (1 << bits) - 1
        return [(values[2 * size + i] / full, values[i] / full, values[size + i] / full) for i in range(size)]
    w, h = chroma_size(width, half_x), chroma_size(height, half_y)
    scale = 1 << (bits - 8)

    def taps(at, halved, cosited, count):
        if not halved:
            return ((at, 1),)
        place = at / 2 if cosited else (at - 0.5) / 2
        first = math.floor(place)
        return tuple((min(max(i, 0), count - 1), weight)
                     for i, weight in ((first, 1 - (place - first)), (first + 1, place - first)))

    columns = [taps(x, half_x, True, w) for x in range(width)]
    rows = [taps(y, half_y, siting == "topleft", h) for y in range(height)]
    result = []
    for y in range(height):
        for x in range(width):
            luma = (values[y * width + x] / scale - 16) / 219
            u, v = (sum(a * b * values[start + j * w + i] for j, a in rows[y] for i, b in columns[x])
                    for start in (width * height, width * height + w * h))
            u, v = (u / scale - 128) / 224, (v / scale - 128) / 224
            r, b = luma + 2 * (1 - LUMA[0]) * v, luma + 2 * (1 - LUMA[2]) * u
            result.append((r, (luma - LUMA[0] * r - LUMA[2] * b) / LUMA[1], b))
    return result


def compare(clip, shown_file, most_mean, most_p99):
    form, width, height, siting, transfer, peak, file = clip.split(" ", 6)
    width, height = int(width), int(height)
    got = samples(shown_file)
    if len(got) != 3 * width * height:
        sys.exit(f"{len(got)} samples")
    differences = []
    for i, signal in enumerate(signals(form, width, height, siting, file)):
        result = [srgb_light(v / 65535) for v in got[3 * i:3 * i + 3]]
        differences.append(delta_e2000(lab(shown(signal, transfer, float(peak))), lab(result)))
    differences.sort()
    mean, p99 = sum(differences) / len(differences), differences[len(differences) * 99 // 100]
    print(f"ΔE2000 mean {mean:.4f}, p99 {p99:.4f}, worst {differences[-1]:.3f}")
    sys.exit(0 if mean <= float(most_mean) and p99 <= float(most_p99) else 1)


def mean(a, b):
    a, b = samples(a), samples(b)
    if len(a) != len(b) or not a:
        sys.exit(f"{len(a)} and {len(b)} samples")
    print(f"{sum(abs(x - y) for x, y in zip(a, b)) / len(a) / 257:.4f}")


def expand():
    array.array("H", (257 * v for v in sys.stdin.buffer.read())).tofile(sys.stdout.buffer)


{"encode": encode, "expand": expand, "compare": compare, "mean": mean}[sys.argv[1]](*sys.argv[2:])
