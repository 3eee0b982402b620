#!/usr/bin/env bash
# Figures of the window: time to the first picture, time of a seek, what thumbnails cost the playing picture, and whether
# all controls are within the window. LENSD_LONG=1 requires the times; otherwise they are only printed, because other
# programs may use the processor.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools ffmpeg python3
HERE=$(cd "$(dirname "$0")" && pwd) || exit 1

RATE=30
clip=$WORK/clip.mp4
ffmpeg -v error -f lavfi -i "testsrc2=size=1920x1080:rate=$RATE" -t 20 -c:v libx264 -preset ultrafast -g $((2 * RATE)) \
  -keyint_min $((2 * RATE)) -sc_threshold 0 -pix_fmt yuv420p "$clip" || skip "this ffmpeg has no H.264 encoder"

# at_most WHAT MS LIMIT: prints a time. With LENSD_LONG=1, fails if it exceeds the limit.
at_most() {
  echo "$1: $2 ms (limit $3 ms)"
  [[ -z ${LENSD_LONG:-} ]] || (($2 <= $3)) || fail "$1 takes $2 ms, more than $3 ms"
}

SCREEN=2600x1700x24
start_display
export LENSD_UI_MAP=$WORK/ui-map
times=()
for _ in 1 2 3; do
  times+=("$(python3 "$HERE/figures.py" first "$LENSD" "$clip")") || fail "no first picture: ${times[*]}"
done
median=$(printf '%s\n' "${times[@]}" | sort -n | sed -n 2p)
at_most "first picture of a 1080p file, median of ${times[*]}" "$median" 500

start_window "$clip" --backend=cpu --no-audio --pause --input-ipc-server="$WORK/control.sock"
wait_for 30 value_is frame 0 || fail "no picture"
wait_for 30 test -S "$WORK/control.sock" || fail "no control socket"
read -r median worst <<<"$(python3 "$HERE/figures.py" seeks "$WORK/control.sock" "$LENSD_UI_MAP" $RATE $((20 * RATE)))"
[[ -n $worst ]] || fail "the seeks cannot be measured"
at_most "seek to the frame before a key frame, median" "$median" 150
at_most "seek to the frame before a key frame, worst" "$worst" 150
quit_window

# lost: prints the frames that were late, dropped or not shown so far.
lost() {
  local late not_shown
  read -r _ _ _ _ _ late _ <<<"$(value losses)"
  read -r _ _ not_shown <<<"$(value counts)"
  echo $((late + not_shown))
}
ffmpeg -v error -i "$clip" -vf scale=640:360 -c:v libx264 -preset ultrafast -g $((2 * RATE)) "$WORK/small.mp4"
start_window "$WORK/small.mp4" --backend=cpu --no-audio --loop-file
wait_for 30 place transport/seek || fail "no timeline"
sleep 2 # the first pictures may be late
# lost_over NAME: prints the frames lost while the pointer moves over a control for about 4 s.
lost_over() {
  local before part
  before=$(lost)
  for part in 10 20 30 40 50 60 70 80; do hover "$1" $part; done
  sleep 0.5
  echo $(($(lost) - before))
}
alone=$(lost_over transport/speed)
hovered=$(lost_over transport/seek)
place transport/thumbnail || fail "the timeline shows no thumbnail"
echo "lost frames while the pointer moves for 4 s: $alone elsewhere, $hovered over the timeline"
[[ -z ${LENSD_LONG:-} ]] || ((hovered <= alone)) || fail "thumbnails cost $((hovered - alone)) frames"
quit_window

twelve="median@n1,gaussian@n2,canny@n3,sobel@n4,box@n5,levels@n6,unsharp@n7,bilateral@n8,invert@n9,threshold@n10,flip@n11,mosaic@n12"
# open WIDTH HEIGHT SCALE: opens a window with twelve nodes.
open() {
  printf '[window]\nwidth = %d\nheight = %d\n' "$1" "$2" >"$WORK/window.toml"
  rm -rf "$XDG_STATE_HOME"
  LENSD_SCALE=$3 start_window test:testsrc2 --backend=cpu --pause -c "$WORK/window.toml" --graph "$twelve"
  wait_for 30 place graph/add || fail "no button that adds a filter"
  sleep 1
}

# outside WIDTH HEIGHT: prints the controls that are not within the window. Lists that scroll may go beyond its lower edge.
outside() {
  awk -v w="$1" -v h="$2" '$1 ~ /^value/ { next }
    $2 < -1 || $2 + $4 > w + 1 || ($1 !~ /^(graph\/n|status\/|timings\/)/ && ($3 < -1 || $3 + $5 > h + 1))' "$LENSD_UI_MAP"
}

for size in "800 600 1" "1280 720 1" "1600 1200 2"; do
  read -r width height scale <<<"$size"
  open "$width" "$height" "$scale"
  cut=$(outside "$width" "$height")
  [[ -z $cut ]] || fail "cut at $width×$height, scale $scale: $cut"
  echo "ok: nothing is cut at $width×$height, scale $scale"
  if ((width == 1280)); then
    place graph/add
    bottom=${Y%.*}
    # shown NAME: scrolls down until the node's row is between the headings and the button.
    shown() {
      place "graph/$1/title" && ((${Y%.*} >= 120 && ${Y%.*} + ${H%.*} <= bottom)) && return
      xdotool click 5
      sleep 0.3
      return 1
    }
    xdotool mousemove --window "$WINDOW" 60 400
    sleep 0.3
    for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
      wait_for 20 shown "n$number" || fail "node $number cannot be scrolled to"
      place graph/add && ((${Y%.*} + ${H%.*} <= height)) || fail "the button that adds a filter is gone"
    done
    echo "ok: twelve nodes at $width×$height"
  fi
  quit_window
done
