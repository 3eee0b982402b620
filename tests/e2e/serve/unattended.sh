#!/usr/bin/env bash
# A daemon without clients logs failures of its recording and its stream.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"

printf '[record]\non = true\nfolder = "/dev/null/x"\n' >"$WORK/none.toml"
"$LENSD" serve --socket off -c "$WORK/none.toml" -o "rtmp://127.0.0.1:$(free_port tcp)/live/x" test:testsrc2=size=160x120:rate=30 \
  >/dev/null 2>"$WORK/daemon.err" </dev/null &
DAEMON=$!
STARTED+=("$DAEMON")
wait_for 20 grep -q "warning: recording stopped: " "$WORK/daemon.err" || fail "no recording: $(<"$WORK/daemon.err")"
wait_for 10 grep -q "warning: rtmp://.*; retrying" "$WORK/daemon.err" || fail "no receiver: $(<"$WORK/daemon.err")"
stop_daemon
echo "ok: failures are logged without clients"
