#!/usr/bin/env bash
# No output replaces the source, under whatever name; other existing files are replaced only with --overwrite.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/daemon.sh"

clip=$WORK/clip.mkv
expect 0 test:testsrc2=size=64x48 --headless -q --frames 12 -o "$clip"
expect 0 "$clip" --headless -q -o "$WORK/in_%03d.png"
mkdir "$WORK/sub" "$WORK/folder"
cp "$clip" "$WORK/second.mkv" && cp "$clip" "$WORK/folder/third.mkv"
ln -s second.mkv "$WORK/second.json"
ln -s "$clip" "$WORK/symlink.mkv"
ln "$clip" "$WORK/hardlink.mkv"
ln -s clip.mkv "$WORK/clip.csv"
ln -s clip.mkv "$WORK/clip.json"
ln -s in_007.png "$WORK/other.png"
ln -s in_005.png "$WORK/out_2.png"
before=$(cd "$WORK" && sha256sum clip.mkv second.mkv folder/third.mkv in_*.png)

unchanged() { # unchanged ARGS…: fails if an input file has changed; ARGS: the command line, for the message
  [[ $(cd "$WORK" && sha256sum clip.mkv second.mkv folder/third.mkv in_*.png) == "$before" ]] || fail "the source was changed by: $*"
}
# is_source ARGS…: lensd refuses to overwrite its source, with and without --overwrite.
is_source() {
  refused 2 "would overwrite the source" "$@"
  refused 2 "would overwrite the source" "$@" --overwrite
  unchanged "$@"
}

# Any spelling, any link, any option that writes.
for name in "$clip" "$WORK/sub/../clip.mkv" "$WORK//clip.mkv" "$WORK/symlink.mkv" "$WORK/hardlink.mkv"; do
  is_source "$clip" --headless -q -o "$name"
  is_source "$clip" --headless -q -o null: --record "$name"
done
is_source "$WORK/symlink.mkv" --headless -q -o "$clip"
is_source "file://localhost$WORK/%63lip.mkv" --headless -q -o "$clip"
printf '[source]\nurl = "file://%s"\n' "$clip" >"$WORK/source.toml"
is_source -c "$WORK/source.toml" --headless -q -o "$clip"
expect 0 "file://$WORK/%63lip.mkv" --headless -q -o null:
(cd "$WORK" && is_source clip.mkv --headless -q -o "$clip") || exit 1
is_source "$clip" --headless -q -o null: --graph klt --tracks "$WORK/clip.csv"
for option in --timings --trace --framehash --log-file; do
  is_source "$clip" --headless -q -o null: "$option" "$WORK/clip.json"
done
code=0
"$LENSD" - --headless -q -o "$clip" --overwrite <"$clip" 2>"$WORK/stderr" >/dev/null || code=$?
[[ $code == 2 ]] || fail "standard input from the output file gave exit code $code"
unchanged "standard input"

# A log replaces and renames only logs.
cp "$clip" "$WORK/other.mkv" && cp "$clip" "$WORK/named.1.log"
for name in other.mkv named.log; do
  refused 2 "is not a log of lensd" "$clip" --headless -q -o null: --log-file "$WORK/$name"
done
cmp -s "$clip" "$WORK/other.mkv" && cmp -s "$clip" "$WORK/named.1.log" || fail "a log has replaced a file"
for _ in 1 2 3; do expect 0 "$clip" --headless -q -o null: --log-file "$WORK/own.log"; done
[[ -s $WORK/own.log && ! -e $WORK/own.1.log ]] || fail "a start does not append to the log"
truncate -s 17M "$WORK/own.log"
expect 0 "$clip" --headless -q -o null: --log-file "$WORK/own.log"
[[ -s $WORK/own.log && $(stat -c %s "$WORK/own.1.log") == $((17 << 20)) ]] || fail "a log of 17 MiB does not rotate"

# A pipe that nobody reads does not stop the program's end.
mkfifo "$WORK/pipe"
for option in --timings --trace; do
  refused 1 "nobody reads this pipe" "$clip" --headless -q -o null: "$option" "$WORK/pipe"
done
timeout 20 cat "$WORK/pipe" >"$WORK/read.csv" &
expect 0 "$clip" --headless -q -o null: --timings "$WORK/pipe"
wait $! && grep -q '^node,pass' "$WORK/read.csv" || fail "the reader of a pipe got: $(<"$WORK/read.csv")"

# Images go to pipes and devices, also through links, and never replace them.
mkfifo "$WORK/pipe.png"
ln -s pipe.png "$WORK/to_pipe.png"
refused 1 "nobody reads this pipe" "$clip" --headless -q --frames 1 -o "$WORK/pipe.png"
expect 0 "$clip" --headless -q --frames 1 -o "$WORK/one.png"
for name in pipe.png to_pipe.png; do
  timeout 20 cat "$WORK/pipe.png" >"$WORK/read.png" &
  expect 0 "$clip" --headless -q --frames 1 -o "$WORK/$name"
  wait $! && cmp -s "$WORK/one.png" "$WORK/read.png" || fail "the reader of $name did not get the image"
done
[[ -p $WORK/pipe.png && -L $WORK/to_pipe.png ]] || fail "an image has replaced a pipe or a link"
if mknod "$WORK/device.png" c 1 3 2>/dev/null; then # needs root; a device like /dev/null
  expect 0 "$clip" --headless -q --frames 1 -o "$WORK/device.png"
  [[ -c $WORK/device.png ]] || fail "an image has replaced a device"
fi

# Image sequences.
is_source "$WORK/in_%03d.png" --headless -q -o "$WORK/in_%03d.png"
is_source "$WORK/in_%03d.png" --headless -q --frames 1 -o "$WORK/other.png"
is_source "$WORK/in_%03d.png" --headless -q -o "$WORK/out_%d.png"
is_source "$WORK/in_004.png" --headless -q -o "$WORK/in_%03d.png"
is_source "$WORK/in_004.png" --headless -q -o "$WORK/in_004.png"

# The viewer and the daemon refuse before they open anything.
(unset DISPLAY WAYLAND_DISPLAY && is_source "$clip" --record "$clip" && is_source serve "$clip" --record "$clip") || exit 1

# With several sources, a window refuses an output that names any of them.
in_playlist() {
  local name
  is_source "$clip" "$WORK/second.mkv" --record "$WORK/second.mkv"
  is_source "$clip" "$WORK/folder" --record "$WORK/folder/third.mkv"
  for name in --trace --timings --log-file; do is_source "$clip" "$WORK/second.mkv" "$name" "$WORK/second.json"; done
  ln -sf "$WORK/folder/third.mkv" "$WORK/third.json"
  is_source "$WORK/folder" --trace "$WORK/third.json"
  ln -sf "$WORK/in_003.png" "$WORK/image.json"
  is_source "$clip" "$WORK/in_%03d.png" --trace "$WORK/image.json"
}
(unset DISPLAY WAYLAND_DISPLAY && in_playlist) || exit 1

# The daemon refuses to load a source that is one of its outputs, and continues with the current source.
ln "$clip" "$WORK/hardlink.json"
start_daemon test:testsrc2=size=64x48:rate=30 --trace "$WORK/hardlink.json" --overwrite
ctl_refused "would overwrite the source" load "$clip"
ctl get source | grep -q testsrc2 || fail "the daemon plays $(ctl get source)"
rm "$WORK/hardlink.json" # a link to the clip; the daemon writes its trace to this name when it ends
stop_daemon
unchanged "a source that was loaded later"

# Outputs that cannot be written are refused before anything starts, with one line.
one_line() { # one_line TEXT ARGS…
  refused 2 "$@"
  [[ $(wc -l <"$WORK/stderr") == 1 && ! -e $WORK/new.mkv ]] || fail "${*:2}: $(<"$WORK/stderr")"
}
one_line "does not end in .json" "$clip" --headless -o "$WORK/new.mkv" --trace "$WORK/t.foo"
one_line "'%Q' is not a date or time conversion" "$clip" --headless -o "$WORK/new.mkv" --record "$WORK/%Q.mkv"
one_line "--output and --record name the same file" "$clip" --headless -o "$WORK/new.mkv" --record "$WORK/./new.mkv"
for address in http://127.0.0.1:9/x.mkv tcp://127.0.0.1:9 file://other/new.mkv; do
  one_line "$address: this is not a stream target" "$clip" --headless -o "$address"
done
expect 0 "$clip" --headless -q --frames 1 -o "file:$WORK/new.mkv"
[[ -s $WORK/new.mkv ]] || fail "-o file:PATH writes no file"

# Existing files need --overwrite in batch runs.
echo precious >"$WORK/mine.mkv"
cp "$WORK/mine.mkv" "$WORK/mine.csv"
cp "$WORK/mine.mkv" "$WORK/mine.json"
cp "$WORK/mine.mkv" "$WORK/mine_0003.png"
exists() { # exists FILE ARGS…: fails unless lensd refuses the arguments and leaves FILE unchanged
  local file=$1
  shift
  refused 2 "exists already" "$clip" --headless -q "$@"
  [[ $(<"$file") == precious ]] || fail "$* changed $file"
}
exists "$WORK/mine.mkv" -o "$WORK/mine.mkv"
exists "$WORK/mine.mkv" -o null: --record "$WORK/mine.mkv"
exists "$WORK/mine_0003.png" -o "$WORK/mine_%04d.png"
for option in --timings --trace --framehash; do exists "$WORK/mine.json" -o null: "$option" "$WORK/mine.json"; done
for option in --timings --trace; do # the window writes them when it ends
  (unset DISPLAY WAYLAND_DISPLAY && refused 2 "exists already" "$clip" "$option" "$WORK/mine.json") || exit 1
  [[ $(<"$WORK/mine.json") == precious ]] || fail "the window's $option changed a file"
done
exists "$WORK/mine.csv" -o null: --graph klt --tracks "$WORK/mine.csv"
expect 0 "$clip" --headless -q --frames 2 -o "$WORK/mine_%04d.png" # writes fewer than three files
expect 0 "$clip" --headless -q -o null: --framehash /dev/stdout    # redirected to a file by this script
expect 0 "$clip" --headless -q --overwrite -o "$WORK/mine.mkv" --framehash "$WORK/mine.csv"
[[ $(frames "$WORK/mine.csv" | wc -l) == 12 ]] || fail "--overwrite did not replace the frame hashes"
expect 0 "$WORK/mine.mkv" --headless -q -o null:

# A daemon's recording gets the next free number.
echo precious >"$WORK/cam.mkv"
start_daemon test:testsrc2=size=64x48:rate=30 --record "$WORK/cam.mkv"
wait_for 10 test -s "$WORK/cam-2.mkv" || fail "no recording with a number"
stop_daemon
[[ $(<"$WORK/cam.mkv") == precious ]] || fail "the daemon replaced a recording"
expect 0 "$WORK/cam-2.mkv" --headless -q -o null:

# A daemon's timings and trace replace only those of an earlier run.
processes() {
  local frames
  frames=$(counter processed)
  ((${frames:-0} > 0))
}
for option in --timings --trace; do
  file=$WORK/daemon$option.json
  echo precious >"$file"
  refused 2 "exists already" serve test:testsrc2=size=64x48 --socket "$WORK/none.sock" "$option" "$file"
  [[ $(<"$file") == precious ]] || fail "the daemon's $option changed a file"
  rm "$file"
  for run in 1 2; do
    start_daemon test:testsrc2=size=64x48:rate=30 "$option" "$file"
    wait_for 20 processes || fail "the daemon processes no picture" # before it does, it has no results to write
    # The daemon keeps a file that another program creates while it runs.
    if ((run == 2)); then rm "$file" && echo precious >"$file" && kill "$DAEMON" && wait_for 10 daemon_gone; else stop_daemon; fi
  done
  [[ $(<"$file") == precious ]] || fail "the daemon's $option changed a file that was created meanwhile"
  grep -q "exists already" "$WORK/daemon.err" || fail "no message: $(<"$WORK/daemon.err")"
done

# A run continues an HLS playlist only if lensd wrote it. Without such a playlist, existing segments are not replaced.
mkdir "$WORK/hls"
for name in cam.m3u8 cam-0.ts cam-17.ts; do
  echo precious >"$WORK/hls/$name"
  refused 2 "exists already" serve test:testsrc2=size=64x48 --socket "$WORK/none.sock" -o "$WORK/hls/cam.m3u8"
  [[ $(<"$WORK/hls/$name") == precious ]] || fail "the daemon's playlist changed $name"
  rm "$WORK/hls/$name"
done
echo precious >"$WORK/hls/two-1.ts"
refused 2 "two.m3u8: its segment" test:testsrc2=size=64x48 --headless --frames 5 -o "$WORK/hls/two.m3u8"
rm "$WORK/hls/two-1.ts"
echo precious >"$WORK/hls/cam12.ts" # not a segment of cam.m3u8
foreign=$'#EXTM3U\n#EXTINF:2,\nfilm0.ts'
echo "$foreign" >"$WORK/hls/cam.m3u8"
refused 2 "exists already" serve test:testsrc2=size=64x48 --socket "$WORK/none.sock" -o "$WORK/hls/cam.m3u8"
[[ $(<"$WORK/hls/cam.m3u8") == "$foreign" ]] || fail "the daemon replaced another program's playlist"
rm "$WORK/hls/cam.m3u8"
for _ in 1 2; do
  start_daemon test:testsrc2=size=64x48:rate=30 -o "$WORK/hls/cam.m3u8"
  wait_for 20 test -s "$WORK/hls/cam-0.ts" || fail "no segment: $(<"$WORK/daemon.err")"
  stop_daemon
  [[ $(head -n 1 "$WORK/hls/cam.m3u8") == "#EXTM3U" ]] || fail "no playlist"
done
# At the end, the daemon checks only the files that it writes then.
start_daemon test:testsrc2=size=64x48:rate=30 -o "$WORK/hls/end.m3u8" --timings "$WORK/hls/end.csv"
wait_for 20 test -s "$WORK/hls/end.m3u8" || fail "no playlist: $(<"$WORK/daemon.err")"
rm "$WORK/hls/end.m3u8" && mkdir "$WORK/hls/end.m3u8" || fail "the playlist was not replaced by a folder"
stop_daemon
[[ -s $WORK/hls/end.csv ]] || fail "no timings: $(<"$WORK/daemon.err")"
[[ $(<"$WORK/hls/cam12.ts") == precious ]] || fail "the playlist changed cam12.ts"
echo "ok: a daemon keeps files of others"

# Clients may open a file by its address; it is the same source as by its path.
start_daemon test:testsrc2=size=64x48
ctl load "file://$WORK/%63lip.mkv" || fail "load file://"
[[ $(field source url) == "$clip" ]] || fail "the source is $(field source url)"
ctl_refused "another host" load "file://nas$clip"
stop_daemon

# The progress line of a terminal: not with -q, and not if errors only are wanted by another option.
need_tools script
on_terminal() { script -qec "$LENSD test:testsrc2=size=64x48 --headless --frames 20 -o null: $*" /dev/null </dev/null; }
[[ $(on_terminal) == *fps* ]] || fail "no progress on a terminal"
for option in -q --msg-level=error --msg-level=off; do
  [[ $(on_terminal "$option") != *fps* ]] || fail "$option does not hide the progress"
done
echo "ok"
