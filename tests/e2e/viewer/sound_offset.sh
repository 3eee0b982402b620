#!/usr/bin/env bash
# Sound and picture of a clip with a flash and a beep every second, both captured: the flashes from the screen, the beeps
# from the sound server's output. Measured at the start, after a seek, after a pause, at another speed, and with
# LENSD_LONG=1 also after ten minutes.
#
# The limit is 20 ms with LENSD_LONG=1, for an idle machine. Without, it is 80 ms.
# shellcheck source=../common/sound.sh
. "$(dirname "$0")/../common/sound.sh"
need_tools pulseaudio parec ffmpeg python3
python3 -c 'import Xlib' 2>/dev/null || skip "python3-xlib is not installed"

minutes=0 tolerance=80
[[ -z ${LENSD_LONG:-} ]] || minutes=10 tolerance=20
make_clip $((minutes * 60 + 60))
start_display
start_server
start_recording beeps
start_window "$WORK/clip.mkv" --backend=cpu --no-resume --socket "$control"
key Tab # hides the panels, which cost time in a software renderer
frames_shown() { (($(value frame) > 3)); }
wait_for 30 frames_shown || fail "no frames"
wait_for 20 settled picture || fail "no picture"
place picture
eval "$(xdotool getwindowgeometry --shell "$WINDOW" | sed -n 's/^X=/left=/p; s/^Y=/top=/p')"
# shellcheck disable=SC2154  # left and top come from eval
python3 "$times" watch "$WORK/flashes" $((left + ${X%.*} + ${W%.*} / 2)) $((top + ${Y%.*} + ${H%.*} / 2)) \
  2>"$WORK/watch.err" &
STARTED+=($!)

# measure NAME: notes the next 6 seconds under this name.
now() { python3 -c 'import time; print(time.monotonic())'; }
measure() {
  local begin
  begin=$(now)
  sleep 6
  echo "$begin $(now) $1" >>"$WORK/parts"
}
sleep 1
measure "at the start"
if ((minutes)); then
  sleep $((minutes * 60 - 8))
  measure "after $minutes minutes"
fi
control set time-pos 12.5 >/dev/null
sleep 1
measure "after a seek"
control set pause true >/dev/null
sleep 2
control set pause false >/dev/null
sleep 1
measure "after a pause"
control set speed 1.25 >/dev/null
sleep 1
measure "at 1.25 times the speed"
quit_window
python3 "$times" offsets "$WORK/flashes" "$WORK/beeps" "$WORK/parts" "$tolerance" ||
  fail "pictures and sound are more than $tolerance ms apart $(tail -n 2 "$WORK/watch.err")"
