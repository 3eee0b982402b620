# shellcheck shell=bash
# Clips with a flash and a beep at every full second, and checks of files that are made from them. Source it after
# harness.sh or daemon.sh.
need_tools ffmpeg ffprobe python3

# flashes SECONDS ARGS…: makes a clip; ARGS are ffmpeg's options for the output.
flashes() {
  local seconds=$1
  shift
  ffmpeg -v error -f lavfi -i "color=black:size=320x240:rate=25:duration=$seconds,format=yuv420p,geq=lum='if(lt(mod(T\,1)\,0.079)\,235\,16)':cb=128:cr=128" \
    -f lavfi -i "aevalsrc='if(lt(mod(t\,1)\,0.08)\,0.5*sin(2*PI*1000*t)\,0)':s=48000:d=$seconds" "$@" ||
    skip "ffmpeg cannot make the stream"
}

# in_step FILE LEAST: fails unless the file has at least LEAST flashes, each with a beep within 60 ms.
in_step() {
  python3 "$(dirname "${BASH_SOURCE[0]}")/../headless/flashes_and_beeps.py" "$1" >"$1.times" 2>"$1.times.err" ||
    fail "$1 has no sound: $(tail -n 1 "$1.times.err")"
  python3 - "$1.times" "$2" 0.06 <<'P' || fail "$1: flashes and beeps are apart: $(paste -sd' ' "$1.times")"
import sys
lines = [line.split()[1:] for line in open(sys.argv[1])]
flashes, beeps = ([float(t) for t in line] for line in lines)
inner = [f for f in flashes if flashes and 0.1 < f < max(flashes) - 0.1] or flashes
offsets = [min((b - f for b in beeps), key=abs, default=9) for f in inner]
print(f"{len(inner)} flashes, beeps from {min(offsets) * 1000:+.0f} to {max(offsets) * 1000:+.0f} ms")
sys.exit(len(inner) < int(sys.argv[2]) or max(map(abs, offsets)) > float(sys.argv[3]))
P
}

# intact FILE: fails if the file cannot be decoded without errors. Small steps of the timestamps are none.
intact() {
  local errors
  errors=$(ffmpeg -v error -i "$1" -f null - 2>&1 </dev/null | grep -v "non monotonically\|Last message repeated" | head -n 3)
  [[ -z $errors ]] || fail "$1 is damaged: $errors"
}

# codec FILE: prints the codec of the sound.
codec() { ffprobe -v error -select_streams a -show_entries stream=codec_name -of csv=p=0 "$1" | tr -d ,; }
