# shellcheck shell=bash
# Makes pictures for tests of HDR, and compares them. Source it after harness.sh, viewer.sh or daemon.sh.

# hdr COMMAND…: see hdr.py.
hdr() {
  python3 -B "$(dirname "${BASH_SOURCE[0]}")/hdr.py" "$@"
}

# raw FILE FORMAT: prints the samples of the first picture.
raw() {
  ffmpeg -v error -i "$1" -map 0:v -frames:v 1 -pix_fmt "$2" -f rawvideo - </dev/null
}

# deep FILE: prints the samples of a PNG file as rgb48le. FFmpeg does not convert 8 to 16 bits exactly.
deep() {
  if [[ $(od -An -tu1 -j24 -N1 "$1") -eq 16 ]]; then raw "$1" rgb48le; else raw "$1" rgb24 | hdr expand; fi
}

# colourful FILE WIDTH HEIGHT: writes a bright SDR picture with 8 bits. Its left third is grey.
colourful() {
  local bright="lutrgb=r=gammaval(0.4):g=gammaval(0.4):b=gammaval(0.4)"
  local grey="split[a][b];[b]crop=iw/3:ih:0:0,format=gray,format=rgb24[c];[a][c]overlay=format=gbrp"
  ffmpeg -v error -f lavfi -i mandelbrot=size=384x216:start_scale=0.6:rate=1 -frames:v 1 \
    -vf "scale=$2:$3:flags=area,format=rgb24,$bright,$grey,format=rgb24" "$1" </dev/null ||
    fail "ffmpeg cannot write a picture"
}
