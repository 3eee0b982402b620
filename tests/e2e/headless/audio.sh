#!/usr/bin/env bash
# The audio of outputs and recordings: in step with the pictures, from every container to every other, from pipes and
# damaged files, to the source's end. Audio that cannot be copied loses no picture.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"
need_tools ffmpeg ffprobe python3
HERE=$(cd "$(dirname "$0")" && pwd)
ff() { ffmpeg -v error -nostdin -y "$@" || fail "ffmpeg $*"; }

# A flash and a beep together at every full second.
clip=$WORK/clip.mp4
ff -f lavfi -i "color=black:s=160x120:r=25:d=4,drawbox=c=white:t=fill:enable='lt(mod(t,1),0.08)'" \
  -f lavfi -i "aevalsrc='if(lt(mod(t,1),0.08),sin(2*PI*1000*t),0)':d=4:s=48000" \
  -c:v libx264 -preset veryfast -g 50 -bf 2 -c:a aac "$clip"
ff -i "$clip" -c copy "$WORK/clip.ts"

# run ARGS…: writes $WORK/out.EXT (the last argument is out.EXT) and expects success.
run() {
  rm -f "$WORK"/out.*
  expect 0 --headless "${@:1:$#-1}" -o "$WORK/${*: -1}"
}
packets() { ffprobe -v error -select_streams "$2" -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$1"; }
codec() { ffprobe -v error -select_streams a -show_entries stream=codec_name -of csv=p=0 "$1"; }
frames_are() { # frames_are FILE COUNT
  local count
  count=$(packets "$1" v)
  [[ ${count%,} == "$2" ]] || fail "$1 has ${count:-no} frames instead of $2: $(<"$WORK/stderr")"
}
# in_step FILE FLASHES: there are so many flashes, with a beep at each.
in_step() {
  python3 -B "$HERE/flashes_and_beeps.py" "$1" >"$WORK/times" || fail "$1 cannot be decoded"
  python3 -c "
import sys
flashes, beeps = ([float(t) for t in line.split()[1:]] for line in open('$WORK/times'))
sys.exit(len(flashes) != $2 or len(beeps) != $2 or max(abs(f - b) for f, b in zip(flashes, beeps)) > 0.08)" ||
    fail "$1 is not in step: $(tr '\n' ' ' <"$WORK/times")"
}
seconds_are() { # seconds_are FILE FROM TO
  python3 -c "import sys; sys.exit(not $2 <= float(sys.argv[1]) <= $3)" \
    "$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$1")" ||
    fail "$1 lasts $(ffprobe -v error -show_entries format=duration -of csv=p=0 "$1") s instead of $2 to $3"
}

# Pipes can be read only once; a file as standard input can be read twice.
ff -f lavfi -i testsrc2=size=320x240:rate=25:duration=4 -f lavfi -i sine=d=4 -c:v mpeg4 -q:v 2 -c:a aac "$WORK/big.mkv"
for option in -o --record; do
  rm -f "$WORK/out.mkv"
  "$LENSD" - --headless "$option" "$WORK/out.mkv" < <(cat "$WORK/big.mkv") >/dev/null 2>"$WORK/stderr" || fail "$(<"$WORK/stderr")"
  frames_are "$WORK/out.mkv" 100
  grep -q "standard input cannot be read a second time" "$WORK/stderr" || fail "no warning: $(<"$WORK/stderr")"
  rm -f "$WORK/out.mkv"
  "$LENSD" - --headless "$option" "$WORK/out.mkv" <"$WORK/big.mkv" >/dev/null 2>"$WORK/stderr" || fail "$(<"$WORK/stderr")"
  frames_are "$WORK/out.mkv" 100
  [[ $(codec "$WORK/out.mkv") == aac ]] || fail "no audio from a file as standard input with $option"
done
mkfifo "$WORK/fifo"
cat "$WORK/big.mkv" >"$WORK/fifo" &
run "$WORK/fifo" out.mkv
frames_are "$WORK/out.mkv" 100
echo "ok: no frame is lost from pipes"

# ADTS in every container.
for type in mp4 mov mkv avi; do
  run "$WORK/clip.ts" "out.$type"
  frames_are "$WORK/out.$type" 100
  in_step "$WORK/out.$type" 4
done
echo "ok: AAC of transport streams"

# Joined, cut and damaged transport streams.
cat "$WORK/clip.ts" "$WORK/clip.ts" "$WORK/clip.ts" >"$WORK/joined.ts"
for type in mkv mp4; do
  run "$WORK/joined.ts" "out.$type"
  frames_are "$WORK/out.$type" 300
  in_step "$WORK/out.$type" 12
done
ff -i "$clip" -t 1.5 -i "$clip" -map 0:v -map 1:a -c copy "$WORK/short.ts"
cat "$WORK/short.ts" "$WORK/clip.ts" >"$WORK/joined.ts"
run "$WORK/joined.ts" out.mkv
python3 -B "$HERE/flashes_and_beeps.py" "$WORK/out.mkv" | grep -q "^beeps 0.0. 1.0. 4.0. 5.0. 6.0. 7.0.$" ||
  fail "audio that ends early: $(python3 -B "$HERE/flashes_and_beeps.py" "$WORK/out.mkv")"
dd if="$WORK/clip.ts" of="$WORK/cut.ts" bs=188 skip=77 2>/dev/null
run "$WORK/cut.ts" out.mkv
in_step "$WORK/out.mkv" "$(python3 -B "$HERE/flashes_and_beeps.py" "$WORK/out.mkv" | sed -n 's/^flashes //p' | wc -w)"
python3 - "$WORK/clip.ts" "$WORK/damaged.ts" <<'PYTHON'
import random
import sys
random.seed(3)
stream = open(sys.argv[1], "rb").read()
packets = [stream[i:i + 188] for i in range(0, len(stream), 188)]
open(sys.argv[2], "wb").write(b"".join(p for i, p in enumerate(packets) if i < 10 or random.random() > 0.03))
PYTHON
expect 0 "$WORK/damaged.ts" --headless --framehash "$WORK/hashes" -o null:
for type in mkv mp4; do
  run "$WORK/damaged.ts" "out.$type"
  frames_are "$WORK/out.$type" "$(frames "$WORK/hashes" | wc -l)"
done
echo "ok: joined, cut and damaged transport streams"

# Start, track and --no-audio; a video track that starts later.
for option in -o --record; do
  rm -f "$WORK/out.mkv"
  expect 0 "$clip" --headless --start 1.5 "$option" "$WORK/out.mkv"
  in_step "$WORK/out.mkv" 2
  rm -f "$WORK/out.mkv"
  expect 0 "$clip" --headless --no-audio "$option" "$WORK/out.mkv"
  [[ -z $(codec "$WORK/out.mkv") ]] || fail "audio despite --no-audio and $option"
done
ff -i "$clip" -i "$WORK/big.mkv" -map 0:v -map 1:a -map 0:a -c copy "$WORK/two.mkv"
run "$WORK/two.mkv" --audio-track 2 out.mkv
in_step "$WORK/out.mkv" 4
ff -i "$WORK/big.mkv" -itsoffset 1 -i "$clip" -map 0:v -map 1:v -map 1:a -c copy "$WORK/later.mkv"
run "$WORK/later.mkv" --video-track 2 out.mkv
in_step "$WORK/out.mkv" 4
echo "ok: start, tracks and --no-audio"

# Codecs that some containers do not support.
ff -i "$clip" -c:v copy -c:a pcm_alaw "$WORK/alaw.mov"
ff -i "$clip" -c:v copy -c:a pcm_s16le "$WORK/pcm.mov"
ff -i "$clip" -c:v copy -c:a flac "$WORK/flac.mkv"
ff -i "$clip" -c:v copy -c:a wmav2 "$WORK/wma.mkv"
for pair in alaw.mov:mkv:pcm_alaw wma.mkv:mkv:wmav2 flac.mkv:mp4:flac pcm.mov:mkv:pcm_s16le; do
  IFS=: read -r in type audio <<<"$pair"
  run "$WORK/$in" "out.$type"
  [[ $(codec "$WORK/out.$type") == "$audio" ]] || fail "$in in .$type has no $audio: $(<"$WORK/stderr")"
  [[ $audio == wmav2 ]] || in_step "$WORK/out.$type" 4 # a WMA decoder's first packet is silent
done
for pair in alaw.mov:mp4 flac.mkv:mov clip.mp4:webm; do # FFmpeg 7.1 has pcm_s16le in .mp4
  run "$WORK/${pair%:*}" --frames 20 "out.${pair#*:}"
  frames_are "$WORK/out.${pair#*:}" 20
  [[ $(grep -c "the audio is not copied.*(.mkv does)" "$WORK/stderr") == 1 ]] || fail "$pair: $(<"$WORK/stderr")"
done
echo "ok: audio that a container does not support"

# A track of AC-3 needs a packet.
for audio in ac3 eac3; do
  ff -i "$clip" -c:v copy -c:a $audio "$WORK/$audio.mkv"
  ff -i "$WORK/$audio.mkv" -itsoffset 1 -i "$WORK/$audio.mkv" -map 0:v -map 1:a -c copy "$WORK/delay.mkv"
  run "$WORK/delay.mkv" --frames 10 out.mp4
  frames_are "$WORK/out.mp4" 10
  expect 0 "$WORK/out.mp4" --headless -o null:
done
echo "ok: an .mp4 that ends before its AC-3"

# The end: audio and the last picture's duration.
ff -f lavfi -i testsrc2=s=160x120:r=25:d=1 -f lavfi -i sine=d=3 -c:v libx264 -c:a aac "$WORK/longer.mkv"
ff -f lavfi -i testsrc2=s=160x120:r=10:d=1 -final_delay 200 "$WORK/held.gif"
for type in mkv mp4; do
  run "$WORK/longer.mkv" "out.$type"
  seconds_are "$WORK/out.$type" 2.9 3.1
  run "$WORK/held.gif" "out.$type"
  seconds_are "$WORK/out.$type" 2.8 3.0
done
rm -f "$WORK/out.mkv"
expect 0 "$WORK/longer.mkv" --headless --record "$WORK/out.mkv"
seconds_are "$WORK/out.mkv" 2.9 3.1
run "$WORK/longer.mkv" --frames 10 out.mkv
seconds_are "$WORK/out.mkv" 0.3 0.5
echo "ok: outputs end with the source"

# A file without any picture is not left.
for option in -o --record; do
  rm -f "$WORK/out.mkv"
  (
    ulimit -f 0
    timeout 60 "$LENSD" "$clip" --headless "$option" "$WORK/out.mkv" >/dev/null 2>&1 </dev/null
  )
  [[ $? == 1 && ! -e $WORK/out.mkv ]] || fail "$option leaves a file without pictures"
done
echo "ok: no file without pictures"

# Pictures keep their times over a gap in which the audio goes on.
ff -f lavfi -i testsrc=r=15:s=160x120:d=4 -f lavfi -i sine=d=8 -vf 'setpts=PTS+gte(N\,30)*4/TB' -fps_mode vfr \
  -c:v libx264 -bf 0 -c:a aac "$WORK/gap.mkv"
for extension in mp4 mov mkv; do
  run "$WORK/gap.mkv" "out.$extension"
  gap=$(ffprobe -v error -select_streams v -show_entries packet=pts_time -of csv=p=0 "$WORK/out.$extension" | tr -d , |
    awk 'NR > 1 && $1 - last > 0.5 {printf "%.1f to %.1f", last, $1} {last = $1}')
  [[ $gap == '1.9 to 6.0' ]] || fail "the .$extension has the gap $gap"
done
echo "ok: pictures keep their times over a gap"
