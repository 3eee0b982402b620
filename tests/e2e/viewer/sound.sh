#!/usr/bin/env bash
# The sound of a file is heard with its pictures: at the start, after a seek, a pause and a change of speed. There is no
# sound while paused or muted. Playback survives the loss of the sound server. The window gives the reason for silence.
# The test starts its own PulseAudio server. The times of the beeps in its output are compared with the times of the
# pictures in the program's trace.
# shellcheck source=../common/sound.sh
. "$(dirname "$0")/../common/sound.sh"
need_tools pulseaudio parec ffmpeg python3

TOLERANCE_MS=60 # for a loaded machine; about 5 ms are normal on an idle one
make_clip 30
ffmpeg -v error -i "$WORK/clip.mkv" -t 2 -c copy "$WORK/short.mkv"
ffmpeg -v error -i "$WORK/clip.mkv" -t 10 -c copy "$WORK/ten.mkv"
ffmpeg -v error -i "$WORK/clip.mkv" -c copy -an "$WORK/mute.mkv"

says() { [[ $(value sound) == *"$1"* ]]; }
silent() { [[ $(value sound) =~ ^[0-9]+\ [01]\ No\ sound ]]; }
sounds() { [[ $(value sound) =~ ^[0-9]+\ 0\ *$ ]]; }

# expect_silence WHAT: waits 0.5 s, then fails if a beep is heard in the next 2.2 s.
expect_silence() {
  sleep 0.5
  local before
  before=$(beeps)
  sleep 2.2
  (($(beeps) == before)) || fail "$1: there is sound"
  echo "ok: $1: silent"
}

# expect_beeps WHAT: fails unless three more beeps are heard within 10 s.
expect_beeps() {
  wait_for 10 more_beeps $(($(beeps) + 3)) || fail "$1: no sound"
  echo "ok: $1: sound"
}

start_display
start_server
start_recording beeps
start_window "$WORK/clip.mkv" --backend=cpu --no-resume --volume 95 --socket "$control" --trace "$WORK/trace.json"
expect_beeps start
control set volume 90 >/dev/null
control set time-pos 12.5 >/dev/null
expect_beeps "after a seek"
control set pause true >/dev/null
expect_silence paused
control set pause false >/dev/null
expect_beeps "after a pause"
control set speed 1.25 >/dev/null
expect_beeps "at 1.25 times the speed"
quit_window
python3 "$times" compare "$WORK/beeps" "$WORK/trace.json" "$TOLERANCE_MS" ||
  fail "pictures and sound are more than $TOLERANCE_MS ms apart"
echo "ok: pictures follow the sound"

# While the file stays at its end, the server requests data. It must not take the sound of that time at once later.
start_window "$WORK/ten.mkv" --backend=cpu --no-resume --socket "$control"
control set time-pos 8 >/dev/null
wait_for 20 says "the audio has ended" || fail "the end of the audio is not named: $(value sound)"
sleep 14
key Home
expect_beeps "after the end"
sounds || fail "with sound after the end, the window says '$(value sound)'"
quit_window

start_window "$WORK/short.mkv" --backend=cpu --loop-file --socket "$control"
wait_for 20 sounds || fail "the window says '$(value sound)'"
[[ $(value sound) == "90 0"* ]] || fail "the volume of the last run was not remembered: $(value sound)"
expect_beeps "a looping file"
key m
expect_silence muted
[[ $(control get mute) == true ]] || fail "the control socket does not report the mute"
key m
expect_beeps "no longer muted"
key slash
expect_value sound "88 0 "
control set volume 60 >/dev/null
expect_value sound "60 0 "
control set speed 8 >/dev/null
wait_for 10 says "from 0.25× to 4×" || fail "the speed is not named: $(value sound)"
control set speed 1 >/dev/null

kill "$SERVER"
wait "$SERVER" 2>/dev/null
wait_for 10 says "no sound server" || fail "the loss of the server is not named: $(value sound)"
frame=$(value counts)
sleep 1
[[ $(value counts) != "$frame" ]] || fail "the picture stops without the sound server"
start_server
start_recording again
wait_for 10 sounds || fail "the sound does not come back: $(value sound)"
expect_beeps "with the new server"
quit_window

start_window "$WORK/mute.mkv" --backend=cpu
wait_for 20 says "the source has no audio" || fail "the window says '$(value sound)'"
quit_window
start_window "$WORK/clip.mkv" --backend=cpu --no-audio
wait_for 20 says "switched off" || fail "the window says '$(value sound)'"
quit_window
PULSE_SERVER=unix:$WORK/run/nothing start_window "$WORK/clip.mkv" --backend=cpu
wait_for 20 says "no sound server" || fail "the window says '$(value sound)'"
silent || fail "no reason is shown"
wait_for 20 test "$(value frame)" -gt 0 || fail "no picture without a sound server"
quit_window
echo "ok: without sound the picture plays, and the window says why"
