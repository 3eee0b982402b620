#!/usr/bin/env bash
# Sources of the desktop portal: a shared screen plays, also while it does not change, comes back after PipeWire restarts
# without a new question, and ends its session; a declined, silent or missing portal gives one clear message.
# shellcheck source=../common/pipewire.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common/pipewire.sh"
/usr/bin/python3 -c 'from gi.repository import Gio' 2>/dev/null || skip "python3-gi is not installed"
[[ -x ${LENSD_TEST_NODE:-} ]] || skip "the test's PipeWire node was not built"
LOG=$WORK/portal.log
start_session

# A program's stream stands for the compositor's.
start_screen() {
  gst-launch-1.0 -q videotestsrc is-live=true pattern=smpte ! video/x-raw,format=BGRx,width=320,height=180,framerate=30/1 ! \
    pipewiresink mode=provide stream-properties="props,media.class=(string)Video/Source,node.name=(string)test-screen" \
    >"$WORK/screen.log" 2>&1 &
  SCREEN_PROGRAM=$!
  STARTED+=("$SCREEN_PROGRAM")
  wait_for 20 node_id test-screen || fail "the test's screen does not appear: $(tail -n 2 "$WORK/screen.log")"
  share test-screen
}
# share NODE: makes the portal share this node.
share() { node_id "$1" >"$WORK/new_node" && mv "$WORK/new_node" "$WORK/shared_node"; }
start_portal() {
  rm -f "$LOG" "$LOG.answer"
  /usr/bin/python3 "$(dirname "$0")/fake_portal.py" "$WORK/shared_node" "$LOG" >"$WORK/fake_portal.log" 2>&1 &
  PORTAL=$!
  STARTED+=("$PORTAL")
  wait_for 20 grep -q ready "$LOG" || fail "the test's portal does not start: $(<"$WORK/fake_portal.log")"
}
no_screen() { ! node_id test-screen >/dev/null; }
# entries TEXT: prints how often the portal's log has this line.
entries() { grep -cx "$1" "$LOG"; }
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
kill "$SCREEN_PROGRAM"
start_portal
offer_node frozen # a screen may be still at any rate
share test-node
start_daemon portal:
wait_for 30 playing || fail "the daemon does not play: $(tail -n 3 "$WORK/daemon.err")"
plays_on 5
(($(grep -c CreateSession "$LOG") == 1)) || fail "more than one session for a still window: $(<"$LOG")"
away() { [[ $(field source state) != playing ]]; }
stop_session
wait_for 20 away || fail "the end of PipeWire is not noticed"
stop_node
start_session
offer_node still
share test-node
wait_for 20 playing || fail "the shared window does not return: $(tail -n 3 "$WORK/daemon.err")"
(($(entries asked) == 1 && $(entries restored) >= 1)) || fail "the user was asked again after a restart: $(<"$LOG")"
echo "ok: back after a restart of PipeWire, without a question"
stop_node
wait_for 20 away || fail "the end of the sharing is not noticed"
offer_node still
share test-node
wait_for 20 playing || fail "the shared window does not return: $(tail -n 3 "$WORK/daemon.err")"
(($(entries asked) == 2)) || fail "sharing was restored without a question after its end: $(<"$LOG")"
echo "ok: the user is asked after the end of the sharing"
stop_daemon
stop_node

kill "$PORTAL"
start_screen
start_portal
start_daemon portal:
wait_for 30 playing || fail "the daemon does not play: $(tail -n 3 "$WORK/daemon.err")"
stop_session
kill "$PORTAL" "$SCREEN_PROGRAM" 2>/dev/null
wait_for 20 away || fail "the end of PipeWire is not noticed"
start_session
start_screen
start_portal
wait_for 20 playing || fail "the shared screen does not return: $(tail -n 3 "$WORK/daemon.err")"
echo "ok: back after a restart of PipeWire and the portal"
stop_daemon

# A restart of the session bus ends the connection that the source keeps.
start_bus() {
  rm -f "$WORK/bus"
  dbus-daemon --session --nofork --nopidfile --address="unix:path=$WORK/bus" >"$WORK/bus.log" 2>&1 &
  BUS=$!
  STARTED+=("$BUS")
  wait_for 10 test -S "$WORK/bus" || fail "no session bus: $(<"$WORK/bus.log")"
}
bus_before=$DBUS_SESSION_BUS_ADDRESS
export DBUS_SESSION_BUS_ADDRESS=unix:path=$WORK/bus
start_bus
start_portal
offer_node still
share test-node
start_daemon portal:
wait_for 20 playing || fail "the daemon does not play: $(tail -n 3 "$WORK/daemon.err")"
kill "$BUS"
wait "$BUS" 2>/dev/null
plays_on 1
stop_node
wait_for 20 away || fail "the end of the sharing is not noticed"
start_bus
offer_node still
share test-node
start_portal
wait_for 20 playing || fail "the shared window does not return: $(tail -n 3 "$WORK/daemon.err")"
echo "ok: back after a restart of the session bus"
stop_daemon
stop_node
kill "$BUS"
export DBUS_SESSION_BUS_ADDRESS=$bus_before
share test-screen

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
