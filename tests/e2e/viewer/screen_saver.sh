#!/usr/bin/env bash
# The desktop's screen saver is off while a video plays, and only then.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools dbus-run-session ffmpeg
/usr/bin/python3 -c 'from gi.repository import Gio' 2>/dev/null || skip "python3-gi is not installed"
"$LENSD" doctor 2>/dev/null | grep -q "built without PipeWire" && skip "lensd was built without PipeWire"
if [[ -z ${LENSD_E2E_BUS:-} ]]; then
  rm -rf "$WORK"
  LENSD_E2E_BUS=1 exec dbus-run-session -- "$0" "$@"
fi

LOG=$WORK/service.log
touch "$LOG"
ffmpeg -v error -f lavfi -i testsrc2=size=160x120:rate=10 -t 70 -c:v ffv1 "$WORK/clip.mkv" || fail "no clip was made"
ffmpeg -v error -f lavfi -i testsrc2=size=160x120:rate=10 -t 1 -c:v ffv1 "$WORK/short.mkv" || fail "no clip was made"
ffmpeg -v error -f lavfi -i testsrc2=size=160x120:rate=1 -frames:v 1 "$WORK/picture.png" || fail "no picture was made"
start_display

start_window "$WORK/clip.mkv" --backend=cpu --msg-level=info
expect_value source clip.mkv
sleep 12 # the second attempt is after 10 s
quit_window
(($(grep -c "cannot keep the screen on" "$WORK/viewer.err") == 1)) || fail "not one message: $(<"$WORK/viewer.err")"
echo "ok: a desktop without the service"

# start_service COUNT: starts the service for the COUNT-th time.
start_service() {
  /usr/bin/python3 "$(dirname "$0")/fake_screen_saver.py" "$LOG" >"$WORK/service.out" 2>&1 &
  SERVICE=$!
  STARTED+=("$SERVICE")
  started() { (($(grep -c ready "$LOG") == $1)); }
  wait_for 20 started "$1" || fail "the test's service does not start: $(<"$WORK/service.out")"
}
start_service 1
# calls COUNT: succeeds if there were COUNT calls since the service started.
calls() { (($(grep -cv ready "$LOG") == $1)); }
last_call() { tail -n 1 "$LOG"; }
# expect_call COUNT TEXT WHEN
expect_call() {
  wait_for 10 calls "$1" || fail "$3: $(tr '\n' ';' <"$LOG")"
  [[ $(last_call) == "$2" ]] || fail "$3: $(last_call)"
}

start_window "$WORK/clip.mkv" --backend=cpu
expect_call 1 "Inhibit lensd: a video is playing" "while a video plays"
key space
expect_call 2 "UnInhibit" "after a pause"
key space
expect_call 3 "Inhibit lensd: a video is playing" "after the pause has ended"
quit_window
expect_call 4 "UnInhibit" "after the end of the program"
echo "ok: off while a video plays, on in a pause and at the end"

start_window "$WORK/short.mkv" --backend=cpu
expect_call 5 "Inhibit lensd: a video is playing" "at the start of a short file"
expect_call 6 "UnInhibit" "at the end of the file"
quit_window
echo "ok: on after the end of a file"

start_window "$WORK/short.mkv" "$WORK/short.mkv" --backend=cpu
expect_call 7 "Inhibit lensd: a video is playing" "at the start of a playlist"
expect_call 8 "UnInhibit" "after its last file"
quit_window
echo "ok: one request for a playlist"

start_window "$WORK/picture.png" --backend=cpu --loop-file
expect_value source picture.png
sleep 2
quit_window
calls 8 || fail "a picture keeps the screen on: $(last_call)"
start_window "$WORK/clip.mkv" --backend=cpu --keep-screen-on=no
expect_value source clip.mkv
sleep 2
quit_window
calls 8 || fail "--keep-screen-on=no: $(last_call)"
echo "ok: pictures, and --keep-screen-on=no"

# A stream that sends nothing: a server accepts the connection and is silent.
python3 -c '
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
connections = []
while True:
    connections.append(server.accept())
    open(sys.argv[2], "w").write("accepted")
' "$WORK/port" "$WORK/accepted" &
STARTED+=($!)
wait_for 10 test -s "$WORK/port" || fail "no server"
start_window "http://127.0.0.1:$(<"$WORK/port")/live.ts" --backend=cpu
wait_for 20 test -s "$WORK/accepted" || fail "the stream was not opened"
sleep 3
quit_window
calls 8 || fail "a stream without pictures keeps the screen on: $(last_call)"
echo "ok: a live source without pictures"

start_window "$WORK/clip.mkv" --backend=cpu
expect_call 9 "Inhibit lensd: a video is playing" "while a video plays"
kill "$SERVICE"
start_service 2
wait_for 20 calls 10 || fail "a service that was started again has no request: $(tr '\n' ';' <"$LOG")"
echo "ok: a service that was started again"
kill -STOP "$SERVICE"
key q
wait_for 8 window_gone || fail "a service that does not answer delays the end of the program"
kill -CONT "$SERVICE"
echo "ok: a service that does not answer"
