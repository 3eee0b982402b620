#!/usr/bin/env bash
# Non-square pixels: the window applies their aspect ratio, and recordings and images store it.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools ffprobe

source=test:testsrc2=size=720x576:rate=25:sar=64/45
# aspect_of FILE: prints the sample aspect ratio of a file. Files may omit that of square pixels.
aspect_of() {
  ffprobe -v error -select_streams v:0 -show_entries stream=sample_aspect_ratio -of csv=p=0 "$1" | tr -d ',' | sed 's|N/A|1:1|'
}
# gives ASPECT CHAIN NAME: runs a chain with the output file NAME; fails unless the file has this aspect ratio.
gives() {
  local graph=()
  [[ -z $2 ]] || graph=(--graph "$2")
  expect 0 "$source" --headless -q --backend=cpu --frames 2 "${graph[@]}" -o "$WORK/$3"
  [[ $(aspect_of "$WORK/$3") == "$1" ]] || fail "'$2' to $3 gave $(aspect_of "$WORK/$3") instead of $1"
}
gives 64:45 "" plain.mkv
gives 64:45 invert plain.mp4
gives 45:64 rotate turned.mkv
gives 64:45 rotate=angle=180 half.mkv
gives 1:1 resize=width=1024:height=576 square.mkv
gives 64:45 resize=scale=0.5 small.mkv
expect 0 "$source" --headless -q --backend=cpu --frames 2 --record "$WORK/rec.mkv" -o "$WORK/still_%d.png"
[[ $(aspect_of "$WORK/rec.mkv") == 64:45 ]] || fail "--record gave $(aspect_of "$WORK/rec.mkv")"
[[ $(aspect_of "$WORK/still_1.png") == 64:45 ]] || fail "the image has $(aspect_of "$WORK/still_1.png")"
echo "ok: outputs"

start_display
start_window "$WORK/plain.mkv" --pause --backend=cpu
# shown: prints width / height of the picture on the screen, in percent.
shown() { value placed | awk '{ printf "%.0f", $3 / $4 * 100 }'; }
wide() { local at; at=$(shown) && ((at >= 177 && at <= 179)); }
wait_for 30 wide || fail "the picture's sides are $(shown) %, expected 178"
key 0
wait_for 10 wide || fail "fitted, the picture's sides are $(shown) %, expected 178"
quit_window
start_window "$WORK/plain.mkv" --pause --backend=cpu --graph rotate
upright() { local at; at=$(shown) && ((at >= 55 && at <= 57)); }
wait_for 30 upright || fail "the turned picture's sides are $(shown) %, expected 56"
xdotool keydown --window "$WINDOW" b
wait_for 10 wide || fail "bypassed, the picture's sides are $(shown) %, expected 178"
xdotool keyup --window "$WINDOW" b
wait_for 10 upright || fail "after the bypass, the picture's sides are $(shown) %, expected 56"
quit_window
echo "ok: the window"
