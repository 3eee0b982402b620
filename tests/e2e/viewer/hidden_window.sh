#!/usr/bin/env bash
# The pipeline does not depend on the display: while the window is unmapped, iconified or drawn at 5 frames per second,
# frames are processed at about the rate of the visible window, none is dropped, and hidden ones are counted as not
# shown.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"

FPS=25
SECONDS_EACH=${LENSD_HIDDEN_SECONDS:-4}
start_display
SOCKET=$WORK/control.sock
clip=$WORK/clip.mkv
lensd "test:testsrc2=size=320x240:rate=$FPS" --headless --frames 250 -o "$clip"
((CODE == 0)) || fail "no clip could be made: $(<"$WORK/stderr")"

# now_ms: milliseconds of the monotonic clock.
now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

# measure WHAT: measures for $SECONDS_EACH seconds. Sets RATE (in tenths of frames per second), and LATE and DROPPED
# (numbers of frames).
measure() {
  local frames begin ms
  begin=$(now_ms) frames=$(counter processed) LATE=$(counter late) DROPPED=$(counter dropped)
  sleep "$SECONDS_EACH"
  ms=$(($(now_ms) - begin)) frames=$(($(counter processed) - frames))
  LATE=$(($(counter late) - LATE)) DROPPED=$(($(counter dropped) - DROPPED))
  RATE=$((frames * 10000 / ms))
  echo "$1: $((RATE / 10)).$((RATE % 10)) fps, $LATE late, $DROPPED dropped"
}

# keeps_pace WHAT: expects no dropped frame and, in one of three tries, about the rate of the visible window. A busy
# machine may not reach the source's rate. A pipeline that waited for the display would process a fifth of the frames or
# be late with most of them.
keeps_pace() {
  for _ in 1 2 3; do
    measure "$1"
    ((DROPPED == 0)) || fail "$1: $DROPPED frames were dropped"
    ((RATE * 10 >= SIGHT * 9 && LATE <= SIGHT_LATE + SECONDS_EACH * FPS / 10)) && return
  done
  fail "$1: $RATE tenths of fps and $LATE late, with the visible window $SIGHT and $SIGHT_LATE"
}

start() {
  start_window "$clip" --loop-file --backend=cpu --graph gaussian=sigma=1 --input-ipc-server "$SOCKET"
  wait_for 30 place picture || fail "the UI map has no picture"
  wait_for 30 ctl get frame || fail "the viewer does not answer: $(tail -n 3 "$WORK/viewer.err")"
  sleep 1
}

start
measure "with the visible window"
SIGHT=$RATE SIGHT_LATE=$LATE
((DROPPED == 0 && RATE > 0)) || fail "with the visible window: $RATE tenths of fps, $DROPPED dropped"

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

# Without a window manager, iconifying unmaps the window, and the window is notified.
xdotool windowminimize "$WINDOW"
sleep 0.5
keeps_pace "minimised"
xdotool windowmap "$WINDOW"
sleep 0.5
quit_window

# A display with 5 frames per second.
export LENSD_DISPLAY_FPS=5
rm -f "$LENSD_UI_MAP"
start
began=$(now_ms)
read -r processed_before shown_before hidden_before <<<"$(value counts)"
keeps_pace "on a display of 5 fps"
read -r processed shown not_shown <<<"$(value counts)"
most=$((($(now_ms) - began) * 5 / 1000 + 3))
((shown - shown_before <= most)) || fail "a display of 5 fps showed $((shown - shown_before)), not $most"
((not_shown > hidden_before)) || fail "no frame is counted as not shown"
echo "ok: $((shown - shown_before)) shown, $((not_shown - hidden_before)) not shown of $((processed - processed_before))"
quit_window
