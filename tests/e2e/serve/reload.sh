#!/usr/bin/env bash
# Reloads during playback are transactions: every second file is invalid, no frame is lost, nothing is partially applied.
# LENSD_RELOADS=1000 is the long form.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"

need_tools python3

reloads=${LENSD_RELOADS:-100}
config=$WORK/a.toml
good() { printf '[[node]]\nfilter = "mosaic"\nblock = %d\n[[node]]\nfilter = "levels"\ngamma = 1.%d5\n' "$1" "$1"; }

good 10 >"$config"
start_daemon test:testsrc2=size=320x240:rate=60 -c "$config"
# The loop uses the socket directly, because a process per command would dominate the time.
python3 - "$SOCKET" "$config" "$reloads" <<'PY' || fail "reloads"
import json, os, re, socket, sys, time
path, config, reloads = sys.argv[1], sys.argv[2], int(sys.argv[3])
s = socket.socket(socket.AF_UNIX); s.connect(path); lines = s.makefile()
def ask(*command):
    s.sendall(json.dumps({"command": command}).encode() + b"\n"); return json.loads(lines.readline())
def write(text):
    with open(config + ".new", "w") as f: f.write(text)
    os.rename(config + ".new", config)
good = '[[node]]\nfilter = "mosaic"\nblock = %d\n[[node]]\nfilter = "levels"\ngamma = 1.%d5\n'
bad = ['[[node]]\nfilter = \n', '[[node]]\nfilter = "mosaic"\nblock = 9999\n',
       '[[node]]\nfilter = "levels"\ngamma = 2\nnobody = 1\n', '[record]\nname = "a.txt"\n' + good % (5, 5),
       '[[node]]\nfilter = "crop"\nwidth = 20\n[[node]]\nfilter = "blend"\ninputs = ["source", "crop"]\n']
begin, longest, refused = time.monotonic(), 0, 0
for i in range(reloads):
    if i % 2:
        write(bad[i // 2 % len(bad)]); answer = ask("reload"); refused += 1
        assert answer["error"] != "success", "reload %d was not refused" % i
        assert re.search(r"a\.toml:\d+:\d+: ", answer["error"]), answer
    else:
        block = 10 + i % 50; write(good % (block, block))
        start = time.monotonic(); answer = ask("reload"); longest = max(longest, time.monotonic() - start)
        assert answer["error"] == "success", (i, answer)
    now = ask("get", "mosaic.block", "levels.gamma")["data"]
    assert now == {"mosaic.block": block, "levels.gamma": float("1.%d5" % block)}, (i, now)
print("ok: %d reloads in %.1f s, %d refused, an accepted one took %.0f ms at most"
      % (reloads, time.monotonic() - begin, refused, longest * 1000))
PY

# Every frame was processed once: the newest index follows from the number of frames.
enough() { (($(counter processed) > 30)); }
wait_for 30 enough || fail "no frames: $(ctl get counters)"
ctl --json get counters frame >"$WORK/out" || fail "get counters frame"
python3 - "$WORK/out" <<'PY' || fail "frames were lost"
import json, sys
data = json.load(open(sys.argv[1]))["data"]; processed, frame = data["counters"]["processed"], data["frame"]
assert processed > 30 and 0 <= processed - (frame + 1) <= 1, data
print("ok: %d frames, none lost" % processed)
PY
[[ $(counter dropped) == 0 ]] || fail "$(counter dropped) frames were dropped"

# The file is watched: every way of saving it causes a reload without a command.
block_is() { [[ $(ctl get mosaic.block) == "$1" ]]; }
good 21 >"$config"
wait_for 10 block_is 21 || fail "truncate and write was not noticed"
good 22 >"$config.new" && mv "$config.new" "$config"
wait_for 10 block_is 22 || fail "rename was not noticed"
rm "$config" && sleep 0.3
block_is 22 || fail "deleting the file changed a value"
good 23 >"$config"
wait_for 10 block_is 23 || fail "delete and create was not noticed"
good 24 >"$WORK/other.toml" && ln -s other.toml "$WORK/link" && mv -T "$WORK/link" "$config"
wait_for 10 block_is 24 || fail "a symbolic link was not noticed"
rm "$config" && good 25 >"$config"
kill -HUP "$DAEMON"
wait_for 10 block_is 25 || fail "HUP was not noticed"
while sleep 0.07; do echo busy >"$WORK/status.txt"; done &
noise=$!
STARTED+=("$noise")
good 26 >"$config"
wait_for 5 block_is 26 || fail "not noticed while another file in the folder changes"
kill "$noise"
good 25 >"$config"
wait_for 10 block_is 25 || fail "not noticed"
printf 'nonsense' >"$config" && wait_for 10 grep -q "a.toml:1:" "$WORK/daemon.err" || fail "no message: $(<"$WORK/daemon.err")"
block_is 25 || fail "an invalid file changed a value"
echo "ok: the file is watched"
stop_daemon
mkdir "$WORK/etc" "$WORK/other"
good 31 >"$WORK/etc/a.toml"
start_daemon test:testsrc2=size=320x240:rate=60 -c "$WORK/etc/a.toml"
rm -r "$WORK/etc" && mkdir "$WORK/etc" && good 32 >"$WORK/etc/a.toml"
wait_for 10 block_is 32 || fail "a new folder was not noticed"
good 33 >"$WORK/other/a.toml"
mv "$WORK/etc" "$WORK/old" && mv "$WORK/other" "$WORK/etc"
wait_for 10 block_is 33 || fail "a renamed folder was not noticed"
echo "ok: the folder is watched"
stop_daemon

# Precedence: file < later file < environment < --set.
good 11 >"$config"
printf '[[node]]\nfilter = "mosaic"\nblock = 12\n' >"$WORK/b.toml"
LENSD_SET="mosaic.block=13" start_daemon test:testsrc2 -c "$config" -c "$WORK/b.toml"
block_is 13 || fail "the environment does not override files: $(ctl get mosaic.block)"
stop_daemon
LENSD_SET="mosaic.block=13" start_daemon test:testsrc2 -c "$config" -c "$WORK/b.toml" --set mosaic.block=14
block_is 14 || fail "--set does not override"
stop_daemon
LENSD_HTTP_PROT=1 lensd serve test:testsrc2
[[ $CODE == 3 ]] && grep -q LENSD_HTTP_PROT "$WORK/stderr" || fail "an unknown variable: $CODE $(<"$WORK/stderr")"
echo "ok: precedence"

expect 0 check --schema
grep -q json-schema.org "$WORK/stdout" || fail "check --schema"
