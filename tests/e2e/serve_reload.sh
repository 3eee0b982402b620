#!/usr/bin/env bash
# Reloads as transactions, while the video runs: every second file is invalid, no frame is lost, nothing applies by
# halves. LENSD_RELOADS=1000 is the long form.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

need_tools python3

reloads=${LENSD_RELOADS:-100}
config=$WORK/a.toml
good() { printf '[[node]]\nfilter = "mosaic"\nblock = %d\n[[node]]\nfilter = "levels"\ngamma = 1.%d5\n' "$1" "$1"; }
# Broken by syntax, by a value, by a name, by planning: sizes that do not fit.
bad() {
  case $(($1 % 4)) in
    0) printf '[[node]]\nfilter = \n' ;;
    1) printf '[[node]]\nfilter = "mosaic"\nblock = 9999\n' ;;
    2) printf '[[node]]\nfilter = "levels"\ngamma = 2\nnobody = 1\n' ;;
    3) printf '[[node]]\nfilter = "crop"\nwidth = 20\n[[node]]\nfilter = "blend"\ninputs = ["source", "crop"]\n' ;;
  esac
}
counter() { ctl get counters | awk -v name="$1" '$1 == name { print $2 }'; }

good 10 >"$config"
# One file that is watched, and one that only `reload` reads, since it lies behind a link into a folder of its own.
start_daemon test:testsrc2=size=320x240:rate=60 -c "$config"
for ((i = 0; i < reloads; ++i)); do
  block=$((10 + i % 50))
  if ((i % 2)); then
    bad $((i / 2)) >"$config.new" && mv "$config.new" "$config"
    ctl reload >"$WORK/out" 2>"$WORK/err" && fail "reload $i was not refused: $(<"$config")"
    (((i / 2) % 4 == 3)) || grep -qE "a\.toml:[0-9]+:[0-9]+" "$WORK/err" || fail "no place in: $(<"$WORK/err")"
    (((i / 2) % 4 == 3)) && { grep -q blend "$WORK/err" || fail "no node in: $(<"$WORK/err")"; }
  else
    last=$block
    good "$block" >"$config.new" && mv "$config.new" "$config"
    ctl reload >"$WORK/out" || fail "reload $i was refused"
  fi
  now=$(ctl get mosaic.block)/$(ctl get levels.gamma)
  [[ $now == "$last/1.${last}5" ]] || fail "after reload $i: $now instead of $last/1.${last}5"
done
((reloads > 2)) && echo "ok: $reloads reloads, $(counter reloads_refused) refused"

# Frames: every one was processed, once: the newest one's index follows from their number.
ctl --json get counters frame >"$WORK/out" || fail "get counters frame"
python3 - "$WORK/out" <<'PY' || fail "frames were lost"
import json, sys
data = json.load(open(sys.argv[1]))["data"]; processed, frame = data["counters"]["processed"], data["frame"]
assert processed > 30 and 0 <= processed - (frame + 1) <= 1, data
print("ok: %d frames, none lost" % processed)
PY
[[ $(counter dropped) == 0 ]] || fail "$(counter dropped) frames were dropped"

# Without a command: the file is watched, however it is saved.
block_is() { [[ $(ctl get mosaic.block) == "$1" ]]; }
good 21 >"$config"
wait_for 10 block_is 21 || fail "truncate and write was not seen"
good 22 >"$config.new" && mv "$config.new" "$config"
wait_for 10 block_is 22 || fail "rename was not seen"
rm "$config" && sleep 0.3
block_is 22 || fail "a file that is gone changed something"
good 23 >"$config"
wait_for 10 block_is 23 || fail "delete and create was not seen"
good 24 >"$WORK/other.toml" && ln -s other.toml "$WORK/link" && mv -T "$WORK/link" "$config"
wait_for 10 block_is 24 || fail "a link in its place was not seen"
rm "$config" && good 25 >"$config"
kill -HUP "$DAEMON"
wait_for 10 block_is 25 || fail "HUP was not seen"
printf 'nonsense' >"$config" && wait_for 10 grep -q "a.toml:1:" "$WORK/daemon.err" || fail "no message: $(<"$WORK/daemon.err")"
block_is 25 || fail "nonsense changed something"
echo "ok: the file is watched"
stop_daemon

# Precedence: file < later file < environment < --set.
good 11 >"$config"
printf '[[node]]\nfilter = "mosaic"\nblock = 12\n' >"$WORK/b.toml"
LENSD_SET="mosaic.block=13" start_daemon test:testsrc2 -c "$config" -c "$WORK/b.toml"
block_is 13 || fail "the environment does not win over files: $(ctl get mosaic.block)"
stop_daemon
LENSD_SET="mosaic.block=13" start_daemon test:testsrc2 -c "$config" -c "$WORK/b.toml" --set mosaic.block=14
block_is 14 || fail "--set does not win"
stop_daemon
LENSD_HTTP_PROT=1 lensd serve test:testsrc2
[[ $CODE == 3 ]] && grep -q LENSD_HTTP_PROT "$WORK/stderr" || fail "an unknown variable: $CODE $(<"$WORK/stderr")"
echo "ok: precedence"

expect 0 check --schema
grep -q json-schema.org "$WORK/stdout" || fail "check --schema"
