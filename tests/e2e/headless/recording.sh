#!/usr/bin/env bash
# Recording during playback: split files, TERM, kill -9, a full disk, invalid names, a missing receiver.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"

count() { # count FILE: prints the number of frames that lensd reads from a file
  expect 0 "$1" --headless --overwrite --framehash "$WORK/count" -o null:
  frames "$WORK/count" | wc -l
}

# Recording and output have the same frames.
expect 0 test:testsrc2 --headless --frames 120 --record "$WORK/rec.mkv" -o "$WORK/out.mkv"
mv "$WORK/stdout" "$WORK/recorded"
[[ $(count "$WORK/rec.mkv") == 120 ]] || fail "the recording does not have 120 frames"
grep -qF "120 frames recorded to $WORK/rec.mkv" "$WORK/recorded" || fail "the summary lacks the recording"
[[ $(count "$WORK/out.mkv") == 120 ]] || fail "the output does not have 120 frames"
echo "ok: recording and output have 120 frames each"

# A file of the command line is relative to the working directory, not to [record] folder.
printf '[record]\nfolder = "%s/other"\n' "$WORK" >"$WORK/folder.toml"
mkdir "$WORK/other"
(cd "$WORK" && expect 0 test:testsrc2 --headless --frames 5 -c folder.toml --record here.mkv -o null:) || exit 1
[[ -s $WORK/here.mkv && -z $(ls "$WORK/other") ]] || fail "--record NAME is not in the working directory"
echo "ok: --record NAME is in the working directory"

# The summary names all outputs; its columns are straight, also below long names.
expect 0 "$WORK/rec.mkv" --headless --frames 5 --graph klt,temporal_denoise --tracks "$WORK/t.csv" --framehash "$WORK/h" -o "$WORK/long-$(printf '%0100d' 7).mkv"
grep -qF "tracks written to $WORK/t.csv" "$WORK/stdout" && grep -qF "hashes written to $WORK/h" "$WORK/stdout" || fail "$(<"$WORK/stdout")"
columns=$(grep -E '  (ms|cpu|gpu)$' "$WORK/stdout" | sed 's/…/./; s/  [a-z]*$//' | awk '{ print length }' | sort -u | wc -l)
((columns == 1)) || fail "the columns of the timings: $(<"$WORK/stdout")"
echo "ok: the summary names all outputs"

# A stream that nobody received is an error. One line says why.
cannot_send() { # cannot_send TARGET WHY
  expect 1 test:testsrc2=size=64x48 --headless --frames 20 -o "$1"
  [[ $(grep -c "nothing was sent: $2" "$WORK/stderr") == 1 ]] || fail "$1: $(<"$WORK/stderr")"
}
cannot_send srt://127.0.0.1:5997 "no receiver has answered"
cannot_send rtsp://127.0.0.1:9/x "connection refused"
cannot_send v4l2:/dev/video97 "there is no such device"
expect 0 test:testsrc2=size=64x48 --headless --frames 20 -o udp://127.0.0.1:9
grep -q "20 frames sent to udp://127.0.0.1:9" "$WORK/stdout" || grep -qE "[0-9]+ frames sent to udp://127.0.0.1:9, [0-9]+ dropped" "$WORK/stdout" ||
  fail "the summary lacks the stream: $(<"$WORK/stdout")"
expect 0 test:testsrc2=size=64x48 --headless --frames 20 -o "$WORK/list.m3u8"
grep -q "frames written to $WORK/list.m3u8" "$WORK/stdout" || fail "the summary lacks the playlist: $(<"$WORK/stdout")"
# A file beside the stream is complete.
printf '[output]\nurl = "rtsp://127.0.0.1:9/x"\n' >"$WORK/send.toml"
expect 1 test:testsrc2=size=64x48 --headless --frames 20 -c "$WORK/send.toml" -o "$WORK/beside.mkv"
grep -q "nothing was sent: .*; $WORK/beside.mkv is complete" "$WORK/stderr" || fail "$(<"$WORK/stderr")"
[[ $(count "$WORK/beside.mkv") == 20 ]] || fail "the file beside the stream does not have 20 frames"
echo "ok: a stream without a receiver"

# Splitting by configuration and environment loses no frame.
printf '[record]\nsplit_seconds = 1\ncodec = "ffv1"\n' >"$WORK/split.toml"
expect 0 test:testsrc2 --headless --frames 110 -c "$WORK/split.toml" --record "$WORK/part.mkv"
sum=0
for part in "$WORK"/part-*.mkv; do sum=$((sum + $(count "$part"))); done
[[ $sum == 110 && -e $WORK/part-005.mkv && ! -e $WORK/part-006.mkv ]] || fail "split: $sum frames in $(ls "$WORK")"
echo "ok: 110 frames in 5 files"

# A recording without a hardware encoder gives one warning. NVENC has no codec for .webm.
printf '[record]\ncodec = "hardware"\n' >"$WORK/hardware.toml"
expect 0 test:testsrc2 --headless --frames 5 -o null: -c "$WORK/hardware.toml" --record "$WORK/soft.webm"
[[ $(<"$WORK/stderr") == "lensd: warning: there is no hardware encoder for this file type; using "*" instead" ]] ||
  fail "no single warning about the encoder: $(<"$WORK/stderr")"
[[ $(count "$WORK/soft.webm") == 5 ]] || fail "the recording without a hardware encoder does not have 5 frames"
echo "ok: one warning about a missing hardware encoder"

# A file that another program makes after the start is kept. The source is a pipe, so that the run waits.
expect 0 test:testsrc2 --headless --frames 20 -o "$WORK/clip.mkv"
mkfifo "$WORK/pipe"
for option in -o --record; do
  rm -f "$WORK/late.mkv"
  "$LENSD" "$WORK/pipe" --headless "$option" "$WORK/late.mkv" >/dev/null 2>"$WORK/late.err" &
  pid=$!
  STARTED+=("$pid")
  sleep 1
  echo "not lensd's" >"$WORK/late.mkv"
  cat "$WORK/clip.mkv" >"$WORK/pipe"
  wait "$pid"
  code=$?
  [[ $(<"$WORK/late.mkv") == "not lensd's" ]] || fail "$option replaced a file that was made after the start"
  case $option in
    -o) ((code == 2)) || fail "-o gave exit code $code: $(<"$WORK/late.err")" ;;
    *) [[ $(count "$WORK/late-2.mkv") == 20 ]] || fail "--record: $(ls "$WORK"): $(<"$WORK/late.err")" ;;
  esac
done
for option in --framehash --tracks --timings --trace -o; do
  file=$WORK/made.csv value=$WORK/made.csv
  [[ $option == -o ]] && file=$WORK/made_03.png value=$WORK/made_%02d.png
  [[ $option == --trace ]] && file=$WORK/made.json value=$WORK/made.json
  rm -f "$file"
  output=(-o null:)
  [[ $option == -o ]] && output=()
  "$LENSD" "$WORK/pipe" --headless --graph klt "${output[@]}" "$option" "$value" >/dev/null 2>"$WORK/late.err" &
  pid=$!
  STARTED+=("$pid")
  sleep 1
  echo "not lensd's" >"$file"
  timeout 20 cat "$WORK/clip.mkv" >"$WORK/pipe"
  wait "$pid"
  code=$?
  [[ $(<"$file") == "not lensd's" ]] || fail "$option replaced a file that was made after the start"
  ((code == 2)) && grep -q "exists already" "$WORK/late.err" || fail "$option: exit code $code: $(<"$WORK/late.err")"
done
[[ -e $WORK/made_02.png && ! -e $WORK/made_04.png ]] || fail "a sequence: $(ls "$WORK")"
echo "ok: files that another program makes meanwhile are kept"

# TERM completes the file.
"$LENSD" test:testsrc2 --headless --record "$WORK/term.mp4" -q >/dev/null 2>"$WORK/term.err" &
pid=$!
STARTED+=("$pid")
wait_for 20 test -s "$WORK/term.mp4" || fail "no recording was started"
sleep 0.5
kill "$pid"
wait "$pid"
code=$?
[[ $code == 143 && $(<"$WORK/term.err") =~ "interrupted after "[0-9]+" frames; $WORK/term.mp4 is complete" ]] ||
  fail "TERM gave exit code $code: $(<"$WORK/term.err")"
(($(count "$WORK/term.mp4") > 20)) || fail "the recording was not completed by TERM"
echo "ok: TERM completes the recording"

# After kill -9 the file is playable.
for name in killed.mkv killed.mp4; do
  "$LENSD" test:testsrc2 --headless --record "$WORK/$name" -q >/dev/null 2>&1 &
  pid=$!
  STARTED+=("$pid")
  wait_for 20 bash -c "(( \$(stat -c %s '$WORK/$name' 2>/dev/null || echo 0) > 200000 ))" || fail "$name does not grow"
  kill -9 "$pid"
  wait "$pid" 2>/dev/null
  (($(count "$WORK/$name") > 20)) || fail "$name does not play after kill -9"
done
echo "ok: kill -9 leaves files that play"

# Full disk: the recording stops with a message and a playable file; playback continues to the end.
(
  ulimit -f 300 # kB
  timeout 60 "$LENSD" test:testsrc2 --headless --frames 2000 --framehash "$WORK/all" --record "$WORK/full.mkv" -q \
    >/dev/null 2>"$WORK/stderr" </dev/null
)
[[ $? == 1 ]] || fail "a failed recording did not give exit code 1"
said=$(<"$WORK/stderr")
grep -q full.mkv "$WORK/stderr" || fail "the failure does not name the file: $(<"$WORK/stderr")"
[[ $(frames "$WORK/all" | wc -l) == 2000 ]] || fail "playback stopped"
(($(count "$WORK/full.mkv") > 50)) || fail "the recording is not playable"
echo "ok: $said"

# Missing and read-only folders, and names that are not videos.
refused 1 none/a.mkv test:testsrc2 --headless --frames 30 -q --record "$WORK/none/a.mkv"
refused 2 a.txt test:testsrc2 --headless --frames 30 -q --record "$WORK/a.txt"
refused 3 ftp test:testsrc2 --headless --frames 30 -q -c <(printf '[output]\nurl = "ftp://h/x"\n')

# The codec is checked against the file that is recorded. [output] without a receiver describes the file of -o.
printf '[record]\ncodec = "qtrle"\n' >"$WORK/qtrle.toml"
expect 0 test:testsrc2 --headless --frames 5 -o null: -c "$WORK/qtrle.toml" --record "$WORK/animation.mov"
[[ $(count "$WORK/animation.mov") == 5 ]] || fail "the recording as QuickTime Animation does not have 5 frames"
refused 3 "a.avi: this file type does not support qtrle (use .mov)" test:testsrc2 --headless --frames 5 -o null: \
  -c "$WORK/qtrle.toml" --record "$WORK/a.avi"
printf '[record]\ncodec = "rawvideo"\n' >"$WORK/raw.toml"
refused 3 "a.mov: this file type does not support rawvideo" test:testsrc2 --headless --frames 5 -o null: \
  -c "$WORK/raw.toml" --record "$WORK/a.mov"
printf '[output]\ncodec = "ffv1"\n' >"$WORK/ffv1.toml"
refused 2 "a.mp4: this file type does not support ffv1" test:testsrc2 --headless --frames 5 -c "$WORK/ffv1.toml" \
  -o "$WORK/a.mp4"
printf '[output]\ncrf = 51\n' >"$WORK/crf.toml"
expect 0 test:testsrc2 --headless --frames 20 -o "$WORK/fine.mkv"
expect 0 test:testsrc2 --headless --frames 20 -o "$WORK/coarse.mkv" -c "$WORK/crf.toml"
(($(stat -c %s "$WORK/coarse.mkv") * 2 < $(stat -c %s "$WORK/fine.mkv"))) || fail "[output] crf has no effect on -o"
printf '[output]\nurl = "rtmp://127.0.0.1:9/x/y"\ncrf = 51\n' >"$WORK/stream.toml"
expect 1 test:testsrc2 --headless --frames 20 -q -o "$WORK/file.mkv" -c "$WORK/stream.toml" # no receiver
[[ $(stat -c %s "$WORK/file.mkv") == "$(stat -c %s "$WORK/fine.mkv")" ]] || fail "the stream's settings are used for the file"

# Addresses of receivers without a valid port.
refused 2 "udp://127.0.0.1: the address has no port" test:testsrc2 --headless -o udp://127.0.0.1
refused 2 "'70000' is not a port" test:testsrc2 --headless -o srt://127.0.0.1:70000
refused 2 "'99999' is not a port" test:testsrc2 --headless -o rtsp://127.0.0.1:99999/x

# A missing receiver does not stop the video. The run fails at its end.
expect 1 test:testsrc2=rate=50 --headless --frames 60 -o rtmp://127.0.0.1:9/x/y
grep -q "^60 frames in" "$WORK/stdout" || fail "the video stopped: $(<"$WORK/stdout")"

command -v ffmpeg >/dev/null || { echo "left out: receiving with ffmpeg, which is not installed" && exit 0; }
port=$((20000 + RANDOM % 20000))
timeout 60 ffmpeg -v error -i "udp://127.0.0.1:$port?timeout=20000000" -frames:v 50 -f framemd5 "$WORK/received" \
  </dev/null >/dev/null 2>&1 &
receiver=$!
STARTED+=("$receiver")
"$LENSD" test:testsrc2=rate=25 --headless -q -o "udp://127.0.0.1:$port" >/dev/null 2>&1 &
sender=$!
STARTED+=("$sender")
wait "$receiver" || fail "ffmpeg received nothing"
kill "$sender"
wait "$sender"
code=$?
((code == 143)) || fail "TERM while sending gave exit code $code"
[[ $(grep -vc '^#' "$WORK/received") == 50 ]] || fail "ffmpeg did not receive 50 frames"
echo "ok: ffmpeg received 50 frames over UDP"
