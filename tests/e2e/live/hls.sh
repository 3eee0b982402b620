#!/usr/bin/env bash
# HLS playlists from a web server: a complete one in fragmented MP4 plays like the file that it was made of, with its
# sound; a live one that another lensd writes plays at its rate and returns after an outage of the server; TERM does
# not wait for a segment.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
need_tools python3 ffmpeg

www=$WORK/www
mkdir "$www"
port=$(free_port tcp)
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$port"); }
serve_folder() {
  python3 -m http.server --bind 127.0.0.1 --directory "$www" "$port" >/dev/null 2>&1 </dev/null &
  web=$!
  STARTED+=("$web")
  wait_for 20 listens || fail "the web server does not start"
}
serve_folder

# ---- a complete playlist
ffmpeg -v error -f lavfi -i testsrc2=size=320x240:rate=25 -f lavfi -i sine=frequency=440 -t 9 -c:v mpeg2video -q:v 4 -g 50 -bf 2 \
  -pix_fmt yuv420p -c:a aac "$WORK/base.mp4" </dev/null || skip "ffmpeg cannot make a clip"
expect 0 "$WORK/base.mp4" --headless -q --backend=cpu --framehash "$WORK/base.framehash" -o null:
hashes() { frames "$1" | awk -F, '{ print $NF }'; }
for type in fmp4 mpegts; do
  mkdir "$www/$type"
  ffmpeg -v error -i "$WORK/base.mp4" -c copy -f hls -hls_time 2 -hls_playlist_type vod -hls_segment_type $type \
    "$www/$type/a.m3u8" </dev/null || skip "ffmpeg cannot make a playlist with $type"
  expect 0 "http://127.0.0.1:$port/$type/a.m3u8" --headless -q --backend=cpu --framehash "$WORK/$type.framehash" -o null:
  [[ $(frames "$WORK/$type.framehash" | wc -l) == 225 ]] ||
    fail "$type: $(frames "$WORK/$type.framehash" | wc -l) of 225 frames"
  cmp -s <(hashes "$WORK/base.framehash") <(hashes "$WORK/$type.framehash") || fail "$type: other frames than in the file"
  expect 0 "http://127.0.0.1:$port/$type/a.m3u8" --headless -q --backend=cpu --start 5 --frames 1 \
    --framehash "$WORK/$type-one.framehash" -o null:
  cmp -s <(hashes "$WORK/base.framehash" | sed -n 126p) <(hashes "$WORK/$type-one.framehash") ||
    fail "$type: --start 5 shows another frame"
  expect 0 "http://127.0.0.1:$port/$type/a.m3u8" --headless -q --backend=cpu --overwrite -o "$WORK/copy.mkv"
  seconds=$(ffprobe -v error -select_streams a -show_entries packet=pts_time -of csv=p=0 "$WORK/copy.mkv" | tail -1)
  awk -v s="$seconds" 'BEGIN { exit !(s > 8.8 && s < 9.2) }' || fail "$type: the copied sound ends at ${seconds:-no} s"
  echo "ok: $type plays whole, seeks exactly and has its sound"
done

# ---- a live playlist
"$LENSD" serve test:testsrc2=size=320x240:rate=25 --socket "$WORK/writer.sock" --backend=cpu -o "$www/live.m3u8" \
  >"$WORK/writer.err" 2>&1 </dev/null &
STARTED+=("$!")
wait_for 60 test -e "$www/live-3.ts" || fail "no playlist: $(tail -n 5 "$WORK/writer.err")"
refused 4 "the server has no such file or stream (404)" "http://127.0.0.1:$port/absent.mp4" --headless -o null:
start_daemon "http://127.0.0.1:$port/live.m3u8" --backend=cpu
wait_for 30 playing || fail "does not play: $(ctl get source)"
sleep 9
echo "ok: after 9 s: $(ctl get source | tr -s ' \n' ' ')"
[[ $(field source reconnects) == 0 ]] || fail "it reconnected"
awk -v fps="$(field source measured_fps)" 'BEGIN { exit !(fps > 24 && fps < 26) }' || fail "another rate"
kill -KILL "$web"
wait_for 40 away || fail "the outage is not noticed"
serve_folder
wait_for 40 playing || fail "does not return: $(ctl get source)"
echo "ok: after the outage: $(ctl get source | tr -s ' \n' ' ')"
stop_daemon

# ---- a segment that hangs
cat >"$WORK/hang.py" <<'PYTHON'
import http.server, sys, time
class Answer(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        time.sleep(60 if self.path.endswith("3.ts") else 0)
        super().do_GET()
make = lambda *a: Answer(*a, directory=sys.argv[2])
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), make).serve_forever()
PYTHON
port=$(free_port tcp)
python3 "$WORK/hang.py" "$port" "$www" >/dev/null 2>&1 </dev/null &
STARTED+=("$!")
wait_for 20 listens || fail "the web server does not start"
start_daemon "http://127.0.0.1:$port/mpegts/a.m3u8" --backend=cpu
sleep 4
stop_daemon
