#!/usr/bin/env bash
# Invalid input: one line on standard error that names the cause, and the documented exit code.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"

headless() { refused "$1" "$2" "${@:3}" --headless -o null:; }

# Sources: exit code 4.
: >"$WORK/empty.mp4"
echo "this is not a video" >"$WORK/text.mp4"
printf x >"$WORK/one-byte.mkv"
# 8 kHz mono, 16 bit, one second of silence
{
  printf 'RIFF\244\076\0\0WAVEfmt \020\0\0\0\001\0\001\0\100\037\0\0\200\076\0\0\002\0\020\0data\200\076\0\0'
  head -c 16000 /dev/zero
} >"$WORK/audio.wav"
headless 4 missing.mp4 "$WORK/missing.mp4"
headless 4 empty.mp4 "$WORK/empty.mp4"
headless 4 text.mp4 "$WORK/text.mp4"
headless 4 one-byte.mkv "$WORK/one-byte.mkv"
headless 4 "${WORK##*/}" "$WORK"
headless 4 audio.wav "$WORK/audio.wav"
headless 4 no_such_source test:no_such_source
headless 4 "another host" file://nas/clip.mp4
headless 4 "no such file.mp4" "file://$WORK/no%20such%20file.mp4"

# Images of a sequence are regular files. FFmpeg would wait for the writer of a FIFO.
mkfifo "$WORK/pipe_001.png" "$WORK/later_002.png"
headless 4 "Could not open file : $WORK/pipe_001.png" "$WORK/pipe_%03d.png"
"$LENSD" test:testsrc2=size=64x48 --headless -q --frames 1 -o "$WORK/later_001.png" || fail "no image"
code=0
timeout 20 "$LENSD" "$WORK/later_%03d.png" --headless -o null: >/dev/null 2>"$WORK/later.err" || code=$?
((code != 124)) && grep -q "later" "$WORK/later.err" || fail "exit code $code: $(<"$WORK/later.err")"

# Graphs: exit code 3.
headless 3 sharpenn test:testsrc2 --graph sharpenn
headless 3 radiu test:testsrc2 --graph median=radiu=1
headless 3 radius test:testsrc2 --graph median=radius=99
headless 3 sigma test:testsrc2 --graph gaussian=sigma=nan
headless 3 sigma test:testsrc2 --graph gaussian=sigma=inf
headless 3 radius test:testsrc2 --graph median --set median.radius=0
headless 3 medium test:testsrc2 --graph median --set medium.radius=1

# Controls for a source that has no controls only cause a warning.
printf '[source.controls]\ngain = 3\n' >"$WORK/controls.toml"
expect 0 test:testsrc2 --headless --frames 3 --source-control gain=3 -o null:
grep -q "no controls, so --source-control has no effect" "$WORK/stderr" || fail "--source-control: $(<"$WORK/stderr")"
expect 0 test:testsrc2 --headless --frames 3 -c "$WORK/controls.toml" -o null:
grep -q "no controls, so \[source.controls\] has no effect" "$WORK/stderr" || fail "controls: $(<"$WORK/stderr")"

# Configuration files: exit code 3, with file and line.
printf '[[node]]\nfilter = "median"\nradios = 1\n' >"$WORK/key.toml"
printf '[[node]\n' >"$WORK/syntax.toml"
headless 3 key.toml:3 test:testsrc2 -c "$WORK/key.toml"
headless 3 syntax.toml:1 test:testsrc2 -c "$WORK/syntax.toml"
headless 3 missing.toml test:testsrc2 -c "$WORK/missing.toml"

# Usage: exit code 2.
headless 2 --no-such-option test:testsrc2 --no-such-option
for flag in --mute --keep-screen-on --no-audio --overwrite; do
  headless 2 "$flag: 'maybe' is not yes or no" test:testsrc2 "$flag=maybe"
done
refused 2 out.xyz test:testsrc2 --headless --frames 1 -o "$WORK/out.xyz"

# Output that cannot be written: exit code 1.
refused 1 out.mkv test:testsrc2 --headless --frames 1 -o "$WORK/no/such/folder/out.mkv"

# Missing backend or display: exit code 5.
if [[ -e /dev/nvidiactl ]]; then
  echo "left out: --backend=cuda without a GPU, since a GPU is here"
else
  headless 5 cuda test:testsrc2 --backend=cuda
fi
unset DISPLAY WAYLAND_DISPLAY
refused 5 display test:testsrc2

# FFmpeg before version 8 reads no animated WebP.
if ffmpeg -v quiet -f lavfi -i testsrc2=size=64x48:rate=5 -t 1 -c:v libwebp_anim "$WORK/animation.webp" &&
  ! ffmpeg -v error -i "$WORK/animation.webp" -f null - 2>/dev/null >&2; then
  refused 4 "animated WebP" "$WORK/animation.webp" --headless -o null:
fi

# A truncated file plays to its end with a message; the output is complete and can be opened.
expect 0 test:testsrc2 --headless --frames 50 -o "$WORK/clip.mkv"
expect 0 "$WORK/clip.mkv" --headless --framehash "$WORK/whole" -o null:
head -c $(($(stat -c %s "$WORK/clip.mkv") * 6 / 10)) "$WORK/clip.mkv" >"$WORK/cut.mkv"
expect 0 "$WORK/cut.mkv" --headless --framehash "$WORK/part" -o "$WORK/out.mkv"
grep -q cut.mkv "$WORK/stderr" || fail "the damage of cut.mkv was not reported: $(<"$WORK/stderr")"
count=$(frames "$WORK/part" | wc -l)
((count > 5 && count < 50)) || fail "$count of 50 frames of a file cut to 60 %"
# The last frame may be damaged; all before it are complete.
diff <(frames "$WORK/whole" | head -n $((count - 1))) <(frames "$WORK/part" | head -n $((count - 1))) ||
  fail "frames before the cut differ from the whole file's"
expect 0 "$WORK/out.mkv" --headless --framehash "$WORK/again" -o null:
[[ $(frames "$WORK/again" | wc -l) == "$count" ]] || fail "the output of the cut file does not open whole"
echo "ok: the truncated file gave $count frames and a readable output"
