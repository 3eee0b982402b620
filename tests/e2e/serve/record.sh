#!/usr/bin/env bash
# Recordings of the daemon, started by command or by [record] on. They continue after a change of the source, a restart
# and a failure.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools python3

count() { # count FILE…: prints the number of frames that lensd reads from the files
  local file sum=0
  for file; do
    expect 0 "$file" --headless --overwrite --framehash "$WORK/count" -o null:
    sum=$((sum + $(frames "$WORK/count" | wc -l)))
  done
  echo "$sum"
}
recorded() { (($(field record frames) >= $1)); }

export LENSD_CONTROL_FOLDER=$WORK/captures
start_daemon test:testsrc2=size=320x240:rate=30 --graph invert
[[ $(ctl record on a.mkv) == *"$WORK/captures/a.mkv" ]] || fail "record on a.mkv"
[[ $(ctl get recording) == "$WORK/captures/a.mkv" ]] || fail "recording: $(ctl get recording)"
wait_for 10 recorded 20 || fail "$(ctl get record)"
ctl record off >"$WORK/off" || fail "record off"
frames=$(awk '$1 == "frames" { print $2 }' "$WORK/off")
[[ $(count "$WORK/captures/a.mkv") == "$frames" && -z $(ctl get recording) ]] || fail "off reported $frames frames"
ctl record off || fail "off twice"
ctl_refused "exists already" record a.mkv
ctl_refused "control character" record $'a\nb.mkv'
[[ $(field record on) == false ]] || fail "a rejected recording is on"
for path in ../r.mkv /tmp/r.mkv sub/../../r.mkv r.txt r; do ctl_refused "" record "$path"; done
ln -s "$WORK" "$WORK/captures/out" && ctl_refused "leads out" record out/r.mkv
ctl_misused "expected" record on a.mkv b.mkv
ctl record >"$WORK/named" || fail "record"
[[ $(<"$WORK/named") == *captures/rec-20*.mkv ]] || fail "without a name: $(<"$WORK/named")"
wait_for 10 recorded 5 && ctl record off >/dev/null || fail "off"
# `source` records the decoded pictures, before the graph.
ctl record on s.mkv source >/dev/null && wait_for 10 recorded 5 && ctl record false >/dev/null || fail "record source"
[[ $(count "$WORK/captures/s.mkv") -gt 0 ]] || fail "the source was not recorded"
echo "ok: record by control"

# The recording continues in a new file with another source. A source that cannot be opened does not affect it.
ctl record b.mkv >/dev/null && wait_for 10 recorded 5 || fail "record b.mkv"
ctl load test:testsrc2=size=160x120:rate=30 && wait_for 10 recorded 5 || fail "after load: $(ctl get record)"
ctl_refused "" load /nowhere/at/all.mp4
[[ $(ctl get recording) == "$WORK/captures/b-2.mkv" ]] || fail "after load: $(ctl get recording)"
stop_daemon
(($(count "$WORK/captures/b.mkv") >= 5 && $(count "$WORK/captures/b-2.mkv") >= 5)) || fail "two files"
echo "ok: continues with another source"

# Recording from the start, in a ring buffer that continues after kill -9.
printf '[record]\non = true\nfolder = "%s/ring"\nname = "r-%%H%%M%%S.mkv"\nsplit_seconds = 0.5\nkeep_minutes = 0.05\n' \
  "$WORK" >"$WORK/ring.toml"
for run in 1 2 3; do
  start_daemon test:testsrc2=size=160x120:rate=30 -c "$WORK/ring.toml"
  wait_for 20 recorded 60 || fail "run $run does not record: $(ctl get record) $(<"$WORK/daemon.err")"
  kill -9 "$DAEMON"
  wait "$DAEMON" 2>/dev/null
done
start_daemon test:testsrc2=size=160x120:rate=30 -c "$WORK/ring.toml"
wait_for 20 recorded 150 || fail "does not record"
stop_daemon
mapfile -t ring < <(ls "$WORK"/ring/*.mkv)
((${#ring[@]} >= 5 && ${#ring[@]} <= 10)) || fail "${#ring[@]} files in a ring of 6: ${ring[*]}"
echo "ok: a ring of ${#ring[@]} files after four runs"

# A second daemon in the folder of a running one deletes its own files only.
start_daemon test:testsrc2=size=160x120:rate=30 -c "$WORK/ring.toml"
ctl pause && sleep 0.5
ls "$WORK"/ring/*.mkv >"$WORK/first"
first=$DAEMON first_socket=$SOCKET
sed 's/^keep.*/keep_minutes = 0.01/' "$WORK/ring.toml" >"$WORK/second.toml"
SOCKET=$WORK/second.sock
"$LENSD" serve --socket "$SOCKET" test:testsrc2=size=160x120:rate=30 -c "$WORK/second.toml" >/dev/null 2>"$WORK/second.err" </dev/null &
second=$!
STARTED+=("$second")
wait_for 20 recorded 120 || fail "the second daemon does not record: $(<"$WORK/second.err")"
kill "$second" && wait "$second" || fail "the second daemon ended with $?"
grep -q "belongs to another configuration of lensd" "$WORK/second.err" || fail "no warning: $(<"$WORK/second.err")"
while read -r file; do [[ -e $file ]] || fail "the second daemon deleted $file"; done <"$WORK/first"
mapfile -t own < <(ls "$WORK"/ring/*.mkv | grep -vxFf "$WORK/first")
((${#own[@]} <= 4)) || fail "the second daemon keeps ${#own[@]} files of a ring of 2"
DAEMON=$first SOCKET=$first_socket
stop_daemon
echo "ok: two daemons in one folder"

# The recording has every processed frame while a stream is sent.
sed -i 's/^keep.*//; s/ring"/all"/' "$WORK/ring.toml"
start_daemon test:testsrc2=size=160x120:rate=60 -c "$WORK/ring.toml" -o udp://127.0.0.1:9
wait_for 20 recorded 100 || fail "does not record"
ctl pause && sleep 0.5
[[ $(field stream state) == sending && $(ctl get recording) == "$WORK"/all/* ]] || fail "$(ctl get recording stream)"
processed=$(counter processed)
stop_daemon
[[ $(count "$WORK"/all/*.mkv) == "$processed" ]] || fail "$(count "$WORK"/all/*.mkv) frames of $processed"
echo "ok: $processed frames processed and recorded"

# A file that reaches the size limit: the failure is reported and counted, the video continues, and the recording
# continues in a new file.
printf '[record]\non = true\nfolder = "%s/full"\nname = "f.mkv"\n' "$WORK" >"$WORK/full.toml"
ulimit -S -f 200 # kB
start_daemon test:testsrc2=size=320x240:rate=60 -c "$WORK/full.toml"
ulimit -S -f unlimited
failures() { (($(field record failures) >= $1)); }
wait_for 30 failures 1 || fail "no limit was reached: $(ctl get record)"
processed=$(counter processed)
wait_for 10 grep -q "warning: recording stopped: .*f.mkv: cannot be written" "$WORK/daemon.err" || fail "not reported: $(<"$WORK/daemon.err")"
wait_for 20 test -s "$WORK/full/f-2.mkv" || fail "not restarted: $(ctl get record)"
(($(counter processed) > processed)) || fail "the video stopped"
stop_daemon
(($(count "$WORK/full/f.mkv") > 20)) || fail "the recording is not playable"
echo "ok: continues after a failure"

# An impossible folder: the daemon runs and reports it.
printf '[record]\non = true\nfolder = "/dev/null/x"\n' >"$WORK/none.toml"
start_daemon test:testsrc2=size=160x120:rate=30 -c "$WORK/none.toml"
wait_for 10 failures 1 || fail "$(ctl get record)"
[[ $(field record on) == true && -z $(ctl get recording) && $(ctl get record) == *"cannot be written"* ]] || fail "$(ctl get record)"
stop_daemon
echo "ok: an impossible folder"

# A pipe: without a reader, with one that takes nothing, and with one that reads. The video continues.
mkfifo "$WORK/pipe.mkv"
start_daemon test:testsrc2=size=160x120:rate=60 --record "$WORK/pipe.mkv"
wait_for 10 failures 1 && [[ $(ctl get record) == *"nobody reads this pipe"* ]] || fail "no reader: $(ctl get record)"
more() { (($(counter processed) > processed + 30)); }
processed=$(counter processed)
wait_for 5 more || fail "the video stopped without a reader"
sleep 100 <"$WORK/pipe.mkv" &
reader=$!
STARTED+=("$reader")
wait_for 15 recorded 1 || fail "not retried: $(ctl get record)"
stuck() { [[ $(ctl get record) == *"reads no data"* ]]; }
wait_for 20 stuck || fail "a reader that takes nothing: $(ctl get record)"
processed=$(counter processed)
wait_for 5 more || fail "the video stopped with a reader that takes nothing"
kill "$reader"
before=$(field record frames)
cat "$WORK/pipe.mkv" >"$WORK/piped.mkv" &
reader=$!
STARTED+=("$reader")
wait_for 15 recorded $((before + 60)) || fail "not recorded to the reader: $(ctl get record)"
stop_daemon
wait "$reader"
(($(count "$WORK/piped.mkv") >= 60)) || fail "the reader's file is not playable"
[[ -p $WORK/pipe.mkv && ! -e $WORK/pipe-2.mkv ]] || fail "a retry did not write to the pipe"
# TERM while the reader takes nothing.
sleep 100 <>"$WORK/pipe.mkv" &
reader=$!
STARTED+=("$reader")
start_daemon test:testsrc2=size=1280x720:rate=60 --record "$WORK/pipe.mkv"
wait_for 15 recorded 1 || fail "not recorded: $(ctl get record)"
sleep 0.5 # fills the pipe
stop_daemon
kill "$reader"
# A batch run waits for its reader.
for option in -o "-o null: --record"; do
  # shellcheck disable=SC2086
  "$LENSD" test:testsrc2=size=320x240 --headless -q --frames 90 $option "$WORK/pipe.mkv" &
  run=$!
  sleep 1
  (sleep 3 && cat) <"$WORK/pipe.mkv" >"$WORK/piped.mkv"
  wait "$run" || fail "a batch run to a pipe with $option"
  [[ $(count "$WORK/piped.mkv") == 90 ]] || fail "$(count "$WORK/piped.mkv") of 90 frames with $option"
done
# TERM ends a batch run whose reader takes nothing.
for option in -o "-o null: --record"; do
  sleep 100 <>"$WORK/pipe.mkv" &
  reader=$!
  STARTED+=("$reader")
  # shellcheck disable=SC2086
  "$LENSD" test:testsrc2=size=1280x720 --headless -q $option "$WORK/pipe.mkv" 2>/dev/null &
  run=$!
  STARTED+=("$run")
  sleep 2 # fills the pipe
  kill "$run"
  gone() { ! kill -0 "$run" 2>/dev/null; }
  wait_for 20 gone || fail "TERM does not end a batch run whose reader takes nothing, with $option"
  kill "$reader"
done
echo "ok: a recording to a pipe"
