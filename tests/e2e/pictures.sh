#!/usr/bin/env bash
# Takes the pictures of the documentation: the viewer in a window of 1600×900.
#   LENSD=build/lensd tests/e2e/pictures.sh [FILE] [LENSD-ARGS…]
# FILE is docs/pictures/viewer.png where none is named; the arguments replace the source and the graph shown there.
# Not a test: whether a picture is good is seen by looking at it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

root=$(cd "$(dirname "$0")/../.." && pwd)
file=${1:-$root/docs/pictures/viewer.png}
shift || true
# Deep in the Mandelbrot set, its loud colours toned down.
(($#)) || set -- test:mandelbrot=size=880x660:rate=15:start_scale=0.03:end_pts=500:maxiter=300 --graph \
  "temporal_denoise@steady,median@clean=radius=1,levels@grade=saturation=0.35:gamma=1.2,unsharp@crisp=sigma=2:amount=0.8"

SCREEN=1600x900x24
start_display
printf '[window]\nwidth = 1600\nheight = 900\n' >"$WORK/window.toml"
start_viewer "$@" -c "$WORK/window.toml"
wait_for 30 place picture || fail "the viewer shows no picture"
sleep "${LENSD_PICTURE_SECONDS:-12}" # until the timings have something to tell
import -silent -window "$WINDOW" "$WORK/window.png"
convert "$WORK/window.png" -strip -dither FloydSteinberg -colors 128 -define png:compression-level=9 "PNG8:$file" ||
  fail "$file cannot be written"
echo "$file: $(identify -format '%wx%h' "$file"), $(($(stat -c %s "$file") / 1024)) KiB"
