#!/usr/bin/env bash
# Random command lines: none crashes or hangs, each failure is explained, and no input file changes. LENSD_LINES sets how
# many, LENSD_SEED which ones.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools ffmpeg python3
HERE=$(cd "$(dirname "$0")" && pwd) || exit 1
mkdir -p "$WORK/in" "$WORK/out" "$WORK/home"
cd "$WORK" || exit 1
picture=(-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.6)
ffmpeg -v error "${picture[@]}" -c:v ffv1 in/clip.mkv
ffmpeg -v error "${picture[@]}" -f lavfi -i sine=duration=0.6 -c:v libx264 -shortest in/sound.mp4
ffmpeg -v error "${picture[@]}" -frames:v 3 in/seq_%02d.png
cp in/seq_01.png in/still.png && cp in/clip.mkv "in/späße 'x'.mkv" && ln -s clip.mkv in/link.mkv
head -c 3000 in/clip.mkv >in/cut.mkv && head -c 5000 /dev/urandom >in/noise.bin && : >in/empty.mkv
printf '[[node]]\nfilter = "klt"\n[[node]]\nfilter = "stabilize"\n' >in/klt.toml
printf '[[node]]\nfilter = "median"\nradius = 99\n[x]\n' >in/bad.toml
seed=${LENSD_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "LENSD_SEED=$seed"
python3 "$HERE/random_lines.py" "$LENSD" "$WORK" "${LENSD_LINES:-60}" "$seed" || fail "random command lines"
