#!/usr/bin/env bash
# Bits per sample: recordings that keep every value, filters that keep fine steps, encoders with 10 bits, settings.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools ffmpeg ffprobe python3

printf '[record]\ncodec = "ffv1"\n[graph]\nprecision = 16\n' >"$WORK/exact.toml"
# source_of FORMAT: writes a short FFV1 file of a test picture with noise.
source_of() {
  ffmpeg -v error -y -f lavfi -i testsrc2=size=96x50:rate=10:duration=0.3 -vf "noise=alls=30:allf=t,format=$1" \
    -c:v ffv1 "$WORK/$1.mkv" || fail "ffmpeg cannot write $1"
}
raw() { # raw FILE FORMAT: prints the samples of all pictures
  ffmpeg -v error -i "$1" -map 0:v -pix_fmt "$2" -f rawvideo -
}
tags() {
  ffprobe -v error -select_streams v -show_entries stream=color_space,color_transfer,color_primaries -of csv=p=0 "$1"
}
pixel_format() { ffprobe -v error -select_streams v -show_entries stream=pix_fmt -of csv=p=0 "$1"; }

cat >"$WORK/kept.py" <<'PY'
# kept.py FORMAT BITS A B: fails unless B has the samples of A (BITS bits) with 16 bits, each at the nearest value or
# next to it.
import array, sys
bits, a, b = int(sys.argv[2]), *(open(f, "rb").read() for f in sys.argv[3:])
a, b = array.array("B" if bits == 8 else "H", a), array.array("H", b)
if sys.argv[1].startswith("gbrp"):  # planes of G, B and R
    plane, packed = 96 * 50, array.array("H", bytes(2 * len(a)))
    for frame in range(0, len(a), 3 * plane):
        for p, channel in enumerate((1, 2, 0)):
            packed[frame + channel:frame + 3 * plane:3] = a[frame + p * plane:frame + (p + 1) * plane]
    a = packed
full = (1 << bits) - 1
lost = sum((q * full + 32767) // 65535 != p for p, q in zip(a, b))
far = max(abs(q * full - p * 65535) for p, q in zip(a, b)) / full if a else 9
sys.exit(f"{len(a)} and {len(b)} samples, {lost} lost, {far} from the exact value" if len(a) != len(b) or lost or far > 1 or not a else 0)
PY

# file → graph without filters → FFV1
for case in gray:8:gray16le gray10le:10:gray16le gray12le:12:gray16le gray16le:16:gray16le \
  bgr0:8:rgb48le gbrp10le:10:rgb48le gbrp12le:12:rgb48le gbrp16le:16:rgb48le rgb48le:16:rgb48le; do
  IFS=: read -r format bits deep <<<"$case"
  source_of "$format"
  expect 0 "$WORK/$format.mkv" --headless -c "$WORK/exact.toml" --record "$WORK/$format-out.mkv" -o null:
  raw "$WORK/$format.mkv" "${format/bgr0/rgb24}" >"$WORK/a" && raw "$WORK/$format-out.mkv" "$deep" >"$WORK/b"
  python3 "$WORK/kept.py" "$format" "$bits" "$WORK/a" "$WORK/b" || fail "$format: $(pixel_format "$WORK/$format-out.mkv")"
done
expect 0 "$WORK/bgr0.mkv" --headless -c "$WORK/exact.toml" --precision 8 --record "$WORK/eight-out.mkv" -o null:
cmp <(raw "$WORK/bgr0.mkv" rgb24) <(raw "$WORK/eight-out.mkv" rgb24) || fail "a graph with 8 bits changes 8-bit RGB"
echo "ok: FFV1 recordings keep all samples of 8, 10, 12 and 16 bits"

# Grey images with alpha keep every value of both.
python3 - "$WORK" <<'PY'
import struct, sys, zlib
def write(name, depth, kind, pixel):
    chunk = lambda t, d: struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))
    rows = b"".join(b"\0" + b"".join(pixel(y * 256 + x) for x in range(256)) for y in range(256))
    head = struct.pack(">IIBBBBB", 256, 256, depth, kind, 0, 0, 0)
    open(f"{sys.argv[1]}/{name}.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
write("ya8", 8, 4, lambda i: bytes((i & 255, i >> 8)))
write("ya8-rgba", 8, 6, lambda i: bytes((i & 255, i & 255, i & 255, i >> 8)))
write("ya16be", 16, 4, lambda i: struct.pack(">2H", i, 65535 - i))
write("ya16be-rgba", 16, 6, lambda i: struct.pack(">4H", i, i, i, 65535 - i))
PY
for name in ya8 ya8-rgba ya16be ya16be-rgba; do
  expect 0 "$WORK/$name.png" --headless --precision 16 --framehash "$WORK/$name.hash" -o "$WORK/$name-out.png"
done
for name in ya8 ya16be; do
  cmp <(frames "$WORK/$name.hash") <(frames "$WORK/$name-rgba.hash") || fail "$name loses values"
  [[ $(pixel_format "$WORK/$name-out.png") == rgba64be ]] || fail "$name: $(pixel_format "$WORK/$name-out.png")"
done
echo "ok: grey with alpha"

cat >"$WORK/kept_yuv.py" <<'PY'
# kept_yuv.py FORMAT BITS RESULT_BITS A B: fails unless the samples of the YUV picture A follow from the RGB picture B by
# the inverse of BT.601 with limited range. Skips pixels with a sample at its limit: colours outside RGB are clipped.
import array, sys
form, (bits, deep) = sys.argv[1], map(int, sys.argv[2:4])
a, b = (array.array("B" if n == 8 else "H", open(f, "rb").read()) for n, f in zip((bits, deep), sys.argv[4:]))
width, height, step, red, blue = 96, 50, 1 << (bits - 8), 0.299, 0.114
half = form.startswith("yuv422")
compared = lost = 0
def check(exact, sample):
    global compared, lost
    compared, lost = compared + 1, lost + (round(step * exact) != sample)
for i in range(width * height):
    r, g, b_ = (v / ((1 << deep) - 1) for v in b[3 * i:3 * i + 3])
    if not 0 < min(r, g, b_) <= max(r, g, b_) < 1: continue
    luma = red * r + (1 - red - blue) * g + blue * b_
    check(219 * luma + 16, a[i])
    if half and i % 2: continue
    for plane, (v, weight) in enumerate(((b_, blue), (r, red))):
        check(224 * (v - luma) / (2 - 2 * weight) + 128, a[width * height + ((plane * width * height + i) >> half)])
print(compared)
sys.exit(f"{compared} samples, {lost} lost" if lost or compared < 3000 else 0)
PY

# Graphs work in RGB, so YUV is converted. With chroma on luma columns and in all rows, no sample is lost.
for case in yuv444p:8:auto yuv444p10le:10:16 yuv444p12le:12:16 yuv444p16le:16:16 yuv422p10le:10:16; do
  IFS=: read -r format bits precision <<<"$case"
  result_bits=16 result=rgb48le
  [[ $precision != auto ]] || result_bits=8 result=rgb24
  source_of "$format"
  expect 0 "$WORK/$format.mkv" --headless -c "$WORK/exact.toml" --precision "$precision" --frames 1 --overwrite \
    --record "$WORK/yuv-out.mkv" -o null:
  raw "$WORK/$format.mkv" "$format" >"$WORK/a" && raw "$WORK/yuv-out.mkv" "$result" >"$WORK/b"
  python3 "$WORK/kept_yuv.py" "$format" "$bits" $result_bits "$WORK/a" "$WORK/b" >/dev/null ||
    fail "$format with precision $precision: $(pixel_format "$WORK/yuv-out.mkv")"
done
echo "ok: the samples of YUV 4:4:4 and 4:2:2 follow from those of the recording"

# `record … source` stores the decoded pictures unchanged: each recorded picture occurs in the source.
pictures() { ffmpeg -v error -i "$1" -map 0:v -pix_fmt "$2" -f framemd5 - | sed -n 's/.*, *//p' | grep -x '[0-9a-f]*' | sort -u; }
printf '[record]\ncodec = "ffv1"\n' >"$WORK/source.toml"
for format in gbrp10le gbrp12le yuv420p10le gray12le; do
  source_of "$format"
  start_daemon "$WORK/$format.mkv" --loop-file -c "$WORK/source.toml"
  file=$(ctl record on "$format-out.mkv" source | sed -n 's/^path *//p')
  recorded() { (($(ctl get record | sed -n 's/^frames *//p') > 3)); }
  wait_for 20 recorded || fail "nothing is recorded of $format"
  ctl record off >/dev/null
  stop_daemon
  [[ $(pixel_format "$file") == "$format" ]] || fail "$format is recorded as $(pixel_format "$file")"
  other=$(comm -13 <(pictures "$WORK/$format.mkv" "$format") <(pictures "$file" "$format"))
  [[ -z $other ]] || fail "$format is recorded with other samples"
  [[ $(tags "$file") == "$(tags "$WORK/$format.mkv")" ]] || fail "other tags in $format: $(tags "$file")"
done
echo "ok: FFV1 recordings of sources are identical"

# A ramp of 12 bits keeps its steps through two filters that undo each other; with 8 bits it does not.
python3 -c 'import array,sys; array.array("H", range(4096)).tofile(sys.stdout.buffer)' >"$WORK/ramp.raw"
ffmpeg -v error -f rawvideo -pix_fmt gray12le -video_size 64x64 -i "$WORK/ramp.raw" -c:v ffv1 "$WORK/ramp.mkv"
distinct() { # distinct PRECISION: prints the number of different values that remain
  expect 0 "$WORK/ramp.mkv" --headless -c "$WORK/exact.toml" --precision "$1" --overwrite -o null: \
    --graph levels=gamma=2.2,levels=gamma=0.4545 --record "$WORK/ramp-out.mkv"
  raw "$WORK/ramp-out.mkv" gray16le | python3 -c 'import array,sys
print(len(set(array.array("H", sys.stdin.buffer.read()))))'
}
deep=$(distinct auto) shallow=$(distinct 8)
((deep >= 3500)) || fail "only $deep of 4096 values remain"
((shallow <= 256)) || fail "--precision 8 leaves $shallow values"
echo "ok: $deep of 4096 values remain with 16 bits, $shallow with 8"

# Pictures of 16 bits are not changed. Samples in PNG files are big-endian.
for case in rgb48be:in.png rgb48be:in.tiff gray16be:in.png gray16be:in.tiff; do
  format=${case%:*} in=$WORK/${case#*:}
  ffmpeg -v error -y -f lavfi -i testsrc2=size=66x42:rate=1 -frames:v 1 -vf "noise=alls=40,format=$format" "$in"
  expect 0 "$in" --headless --overwrite -o "$WORK/out.png"
  [[ $(raw "$in" "${format/be/le}" | sha256sum) == "$(raw "$WORK/out.png" "${format/be/le}" | sha256sum)" ]] ||
    fail "$case changed: $(pixel_format "$WORK/out.png")"
done
echo "ok: pictures of 16 bits in files"

# Encoders with 10 bits use them for graphs with 16 bits, unless the settings say otherwise.
for case in libx265:auto:yuv420p10le libx265:8:yuv420p libx264:auto:yuv420p libx264:10:yuv420p10le prores_ks:auto:yuv422p10le; do
  IFS=: read -r codec depth wanted <<<"$case"
  ffmpeg -v error -h encoder=$codec 2>&1 | grep -q "^Encoder" || continue
  printf '[record]\ncodec = "%s"\ndepth = "%s"\n' "$codec" "$depth" >"$WORK/depth.toml"
  expect 0 "$WORK/gbrp10le.mkv" --headless -c "$WORK/depth.toml" --overwrite --record "$WORK/depth.mkv" -o null:
  [[ $(pixel_format "$WORK/depth.mkv") == "$wanted" ]] ||
    fail "$codec with depth $depth gives $(pixel_format "$WORK/depth.mkv")"
done
echo "ok: 10 bits in encoders"

# White and a gray between two values of 8 bits, in lossless H.264: white has the standard's code, and dither keeps the mean
# of the gray. luma FILE BITS: the smallest, largest and mean luma of the first frame.
luma() {
  ffmpeg -v error -i "$1" -frames:v 1 -vf extractplanes=y -f rawvideo - | python3 -c "
import array, sys
data = sys.stdin.buffer.read()
samples = array.array('H', data) if $2 > 8 else data
print(min(samples), max(samples), round(sum(samples) / len(samples), 2))"
}
for case in 65535:8:false:235,235,235.0 65535:8:true:235,235,235.0 65535:10:true:940,940,940.0 \
  30003:8:false:116,116,116.0 30003:8:true:116,117,116.27; do
  IFS=: read -r value depth dither wanted <<<"$case"
  python3 -c "import struct, sys; sys.stdout.buffer.write(struct.pack('<H', $value) * (3 * 64 * 48))" |
    ffmpeg -v error -y -f rawvideo -pixel_format rgb48le -video_size 64x48 -i - "$WORK/flat.png"
  printf '[record]\ncodec = "libx264"\ncrf = 0\ndepth = "%s"\ndither = %s\n' "$depth" "$dither" >"$WORK/dither.toml"
  expect 0 "$WORK/flat.png" --headless -c "$WORK/dither.toml" --frames 1 --overwrite --record "$WORK/flat.mkv" -o null:
  result=$(luma "$WORK/flat.mkv" "$depth")
  [[ ${result// /,} == "$wanted" ]] || fail "a picture of $value with $depth bits, dither $dither: $result, not $wanted"
done
for dither in false true; do # [output] dither holds for -o FILE
  LENSD_OUTPUT_DITHER=$dither expect 0 "$WORK/flat.png" --headless --frames 1 --overwrite -o "$WORK/flat.mkv"
  read -r least most _ < <(luma "$WORK/flat.mkv" 8)
  [[ $dither == $( ((least < most)) && echo true || echo false) ]] || fail "-o FILE, dither $dither: luma $least to $most"
done
echo "ok: white and dither"

refused 2 "precision" "$WORK/gray.mkv" --headless --precision 12 -o null:

# A running daemon changes its precision; the next source keeps it.
start_daemon "$WORK/gbrp10le.mkv" --graph invert --loop-file
[[ $(ctl get precision)/$(ctl get bits) == auto/16 ]] || fail "$(ctl get precision) $(ctl get bits)"
bits() { [[ $(ctl get bits) == "$1" ]]; }
ctl set precision 8 && wait_for 5 bits 8 || fail "set precision 8: $(ctl get bits)"
ctl load "$WORK/gbrp12le.mkv" || fail "load"
kept() { [[ $(ctl get precision)/$(ctl get bits) == 8/8 ]]; }
wait_for 5 kept || fail "the precision is lost with the next source: $(ctl get precision)"
ctl_refused "precision" set precision 10
ctl set precision auto && wait_for 5 bits 16 || fail "set precision auto"
echo "ok: the precision of a daemon"
