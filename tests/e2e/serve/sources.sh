#!/usr/bin/env bash
# The daemon's sources: which options are for the first one only, and names that look like patterns.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools ffmpeg

cd "$WORK" || fail "no folder"
ffmpeg -v error -f lavfi -i testsrc2=size=160x120:rate=10 -t 30 -c:v ffv1 clip.mkv || fail "no clip was made"
ffmpeg -v error -f lavfi -i color=red:size=160x120:rate=10 -f lavfi -i color=blue:size=200x100:rate=10 -t 20 \
  -map 0 -map 1 -c:v ffv1 two.mkv || fail "no clip was made"
echo -e '[record]\nfolder = "rec"\n[log]\nlevel = "debug"' >a.toml
start_daemon two.mkv --start 15 --pause --video-track 2 -c a.toml
[[ $(ctl get pause) == true && $(ctl get frame) == 150 ]] || fail "at frame $(ctl get frame), pause $(ctl get pause)"
[[ $(field source video_track) == 2 ]] || fail "--video-track 2 plays track $(field source video_track)"
timeout 30 "$LENSD" ctl --socket "$SOCKET" observe events >"$WORK/events" 2>/dev/null &
STARTED+=($!)
sleep 0.5
ctl load clip.mkv || fail "a source without track 2 is refused"
[[ $(ctl get pause) == false ]] || fail "--pause is applied to a later source"
awk -v at="$(ctl get time-pos)" 'BEGIN { exit !(at < 10) }' || fail "--start is applied to a later source"
wait_for 5 grep -q '"event":"notice".*it has no video track 2' "$WORK/events" || fail "no notice about the track"
ctl load two.mkv || fail "load two.mkv"
[[ $(field source video_track) == 2 ]] || fail "after load, track $(field source video_track) plays"
echo "ok: options of the first source"

ctl load test:demo || fail "load test:demo"
[[ $(field source url) == test:demo ]] || fail "the source is $(field source url)"
for name in 'a.b%20c.mkv' '100%.mkv' 'x%03d.mkv' '%%.mkv'; do
  cp clip.mkv "$name"
  ctl load "$name" || fail "load $name"
  [[ $(field source name) == "$name" ]] || fail "$name is called $(field source name)"
done
for name in 'a.b%20c.mkv' '100%.mkv' 'x%03d.mkv'; do
  ctl record on "$name" >record.out || fail "record on $name"
  grep -qF "rec/$name" record.out || fail "record on $name: $(<record.out)"
  ctl record off >/dev/null || fail "record off"
  [[ -s rec/$name ]] || fail "there is no $name: $(ls rec)"
done
echo "ok: names with percent signs"

[[ $(ctl log-level) == debug ]] || fail "the log level is $(ctl log-level)"
echo -e '[record]\nfolder = "rec"' >a.toml
level_is() { [[ $(ctl log-level) == "$1" ]]; }
wait_for 10 level_is warn || fail "after its key was removed, the log level is $(ctl log-level)"
stop_daemon
mkfifo pipe
cat clip.mkv >pipe &
start_daemon pipe --loop-file
wait_for 10 grep -q "pipe: this source cannot seek, so --loop-file has no effect" daemon.err || fail "$(<daemon.err)"
stop_daemon
refused 2 "--mute: cannot be used with lensd serve" serve clip.mkv --mute
refused 2 "--http: cannot be used with --headless" clip.mkv --headless --http 0
refused 2 "one%%_%04d.png" clip.mkv --headless -o one%.png
refused 2 "--start: a live source has no start position" udp://127.0.0.1:9 --headless --start 5
echo "ok: options without effect"
