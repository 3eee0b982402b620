#!/usr/bin/env bash
# What the display does is no business of the pipeline: while the window is unmapped, iconified, or shown by a
# display of 5 frames a second, frames are made at the source's pace, none is late or dropped, and those that are
# not seen are counted as not shown.
# shellcheck source=window_lib.sh
. "$(dirname "$0")/window_lib.sh"

FPS=25
SECONDS_EACH=${LENSD_HIDDEN_SECONDS:-4}
start_display
SOCKET=$WORK/control.sock
clip=$WORK/clip.mkv
lensd "test:testsrc2=size=320x240:rate=$FPS" --headless --frames 250 -o "$clip"
((CODE == 0)) || fail "no clip could be made: $(<"$WORK/stderr")"

# now_ms: of the clock that is not set.
now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

# measure WHAT: RATE (tenths of frames a second), LATE and DROPPED over some seconds.
measure() {
  local frames begin ms
  begin=$(now_ms) frames=$(counter processed) LATE=$(counter late) DROPPED=$(counter dropped)
  sleep "$SECONDS_EACH"
  ms=$(($(now_ms) - begin)) frames=$(($(counter processed) - frames))
  LATE=$(($(counter late) - LATE)) DROPPED=$(($(counter dropped) - DROPPED))
  RATE=$((frames * 10000 / ms))
  echo "$1: $((RATE / 10)).$((RATE % 10)) frames a second, $LATE late, $DROPPED dropped"
}

# keeps_pace WHAT: the source's rate is kept, and nothing is lost on the way. A machine that is busy with other
# things falls behind by itself, so three tries are judged by what it did with the window in plain sight; a
# pipeline that waited for the display would make a fifth of the frames, or have most of them late.
keeps_pace() {
  for _ in 1 2 3; do
    measure "$1"
    ((DROPPED == 0)) || fail "$1: $DROPPED frames were dropped"
    ((RATE * 10 >= SIGHT * 9 && LATE <= SIGHT_LATE + SECONDS_EACH * FPS / 10)) && return
  done
  fail "$1: $RATE tenths of frames a second and $LATE late, in plain sight $SIGHT and $SIGHT_LATE"
}

start() {
  start_window "$clip" --loop-file --backend=cpu --graph gaussian=sigma=1 --input-ipc-server "$SOCKET"
  wait_for 30 place picture || fail "the UI map has no picture"
  wait_for 30 ctl get frame || fail "the viewer does not answer: $(tail -n 3 "$WORK/viewer.err")"
  sleep 1
}

start
measure "in plain sight"
SIGHT=$RATE SIGHT_LATE=$LATE
((DROPPED == 0 && RATE > 0)) || fail "in plain sight: $RATE tenths of frames a second, $DROPPED dropped"

read -r _ shown_before hidden_before <<<"$(value counts)"
xdotool windowunmap "$WINDOW"
sleep 0.5
keeps_pace "unmapped"
xdotool windowmap "$WINDOW"
counted_hidden() {
  read -r processed shown not_shown <<<"$(value counts)"
  ((not_shown - hidden_before > SECONDS_EACH * FPS / 4))
}
wait_for 20 counted_hidden || fail "frames that were not seen are not counted: '$(value counts)'"
((shown > shown_before && processed - shown - not_shown <= 4)) ||
  fail "$processed frames were made, but $shown shown and $not_shown not shown"
echo "ok: $not_shown of $processed frames counted as not shown"

# Without a window manager this is an unmapping that the window knows of.
xdotool windowminimize "$WINDOW"
sleep 0.5
keeps_pace "minimised"
xdotool windowmap "$WINDOW"
sleep 0.5
quit_window

# A display of 5 frames a second.
export LENSD_DISPLAY_FPS=5
rm -f "$LENSD_UI_MAP"
start
began=$(now_ms)
read -r processed_before shown_before hidden_before <<<"$(value counts)"
keeps_pace "on a display of 5 frames a second"
read -r processed shown not_shown <<<"$(value counts)"
most=$((($(now_ms) - began) * 5 / 1000 + 3))
((shown - shown_before <= most)) || fail "a display of 5 frames a second showed $((shown - shown_before)), not $most"
((not_shown > hidden_before)) || fail "no frame is counted as not shown"
echo "ok: $((shown - shown_before)) shown, $((not_shown - hidden_before)) not shown of $((processed - processed_before))"
quit_window
