#!/usr/bin/env bash
# Sources of the desktop portal: a shared screen plays, comes back after PipeWire restarts without a new question, and
# ends its session; a declined, silent or missing portal gives one clear message.
# shellcheck source=../common/pipewire.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common/pipewire.sh"
/usr/bin/python3 -c 'from gi.repository import Gio' 2>/dev/null || skip "python3-gi is not installed"
LOG=$WORK/portal.log
start_session

# A program's stream stands for the compositor's.
start_screen() {
  gst-launch-1.0 -q videotestsrc is-live=true pattern=smpte ! video/x-raw,format=BGRx,width=320,height=180,framerate=30/1 ! \
    pipewiresink mode=provide stream-properties="props,media.class=(string)Video/Source,node.name=(string)test-screen" \
    >"$WORK/screen.log" 2>&1 &
  SCREEN_PROGRAM=$!
  STARTED+=("$SCREEN_PROGRAM")
  wait_for 20 screen_id || fail "the test's screen does not appear: $(tail -n 2 "$WORK/screen.log")"
}
screen_id() {
  pw-cli ls Node | awk '/^[[:space:]]*id [0-9]+,/ { id = $2 + 0 } /node.name = "test-screen"/ { print id; found = 1; exit }
    END { exit !found }'
}
start_portal() {
  rm -f "$LOG" "$LOG.answer"
  /usr/bin/python3 "$(dirname "$0")/fake_portal.py" "$(screen_id)" "$LOG" >"$WORK/fake_portal.log" 2>&1 &
  PORTAL=$!
  STARTED+=("$PORTAL")
  wait_for 20 grep -q ready "$LOG" || fail "the test's portal does not start: $(<"$WORK/fake_portal.log")"
}
no_screen() { ! screen_id >/dev/null; }
# new_screen: replaces the screen, because GStreamer's sink ends (PipeWire 1.4) or may give nothing (0.3) after its receiver
# has left.
new_screen() {
  kill "$SCREEN_PROGRAM" 2>/dev/null
  wait_for 10 no_screen || fail "the test's screen stays"
  start_screen
}

HEADLESS=(--headless --frames 1 -q -o null:)
refused 5 "desktop portal" portal: "${HEADLESS[@]}"
refused 4 "there is no such portal" portal:window "${HEADLESS[@]}"

start_screen
start_portal
"$LENSD" doctor | grep -q "shares screens and windows" || fail "doctor does not report the portal"
timeout 60 "$LENSD" portal: --headless --frames 10 -q --overwrite -o "$WORK/shared_%02d.png" </dev/null ||
  fail "a shared screen is not recorded: $(<"$LOG")"
[[ $(identify -format '%wx%h %[pixel:p{60,20}]' "$WORK/shared_10.png") == "320x180 srgba(255,255,0,1)" ]] ||
  fail "the picture is $(identify -format '%wx%h %[pixel:p{60,20}]' "$WORK/shared_10.png") instead of yellow"
grep -q "ScreenCast.SelectSources cursor_mode=2 persist_mode=1 types=3" "$LOG" ||
  fail "the request differs: $(<"$LOG")"
wait_for 10 grep -q "closed session" "$LOG" || fail "the session stays open"
echo "ok: a shared screen is recorded and its session is closed"

kill "$PORTAL"
new_screen
start_portal # it names the new screen
start_daemon portal:
wait_for 30 playing || fail "the daemon does not play: $(tail -n 3 "$WORK/daemon.err")"
stop_session
kill "$PORTAL" "$SCREEN_PROGRAM" 2>/dev/null
away() { [[ $(field source state) != playing ]]; }
wait_for 20 away || fail "the end of PipeWire is not noticed"
start_session
start_screen
start_portal
wait_for 20 playing || fail "the shared screen does not return: $(tail -n 3 "$WORK/daemon.err")"
grep -q "restore_token=token" "$LOG" || fail "the user is asked again after a reconnection: $(<"$LOG")"
echo "ok: back after a restart of PipeWire and the portal, without a question"
stop_daemon

echo decline >"$LOG.answer"
refused 5 "declined" portal: "${HEADLESS[@]}"
echo silent >"$LOG.answer"
"$LENSD" serve portal: --socket "$WORK/silent.sock" >/dev/null 2>"$WORK/silent.err" </dev/null &
SILENT=$!
STARTED+=("$SILENT")
asked() { (($(grep -c CreateSession "$LOG") >= $1)); }
before=$(grep -c CreateSession "$LOG")
wait_for 20 asked $((before + 1)) || fail "the portal is not asked"
begin=$(now_ms)
kill -TERM "$SILENT"
wait "$SILENT" || fail "TERM while the dialog is open gives exit code $?"
(($(now_ms) - begin < 3000)) || fail "TERM took $(($(now_ms) - begin)) ms while the dialog was open"
wait_for 10 grep -q "closed request" "$LOG" || fail "the dialog stays open"
echo "ok: TERM closes the dialog and ends the daemon in $(($(now_ms) - begin)) ms"
rm -f "$LOG.answer"
new_screen
timeout 60 "$LENSD" portal:camera --headless --frames 5 -q --overwrite -o null: </dev/null ||
  fail "a camera of the portal does not play: $(<"$LOG")"
grep -q "Camera.AccessCamera" "$LOG" || fail "the camera portal is not asked"
echo "passed"
