#!/usr/bin/env bash
# Disks that stop answering: TERM ends the daemon within its deadline, whatever waits for the disk.
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"
: "${LENSD_DEAD_FOLDER_LIBRARY:?set it to liblensd_dead_folder.so}"

mkdir "$WORK/dead"
export LENSD_DEAD_FOLDER=$WORK/dead/ LENSD_DEAD_WHEN=$WORK/is_dead
printf '[record]\nfolder = "%s/dead"\n[control]\nfolder = "%s/dead"\n' "$WORK" "$WORK" >"$WORK/dead.toml"

# ends_in_time WHAT: TERM ends the daemon, which names the reason, in less than 13 s.
ends_in_time() {
  local begin code=0
  begin=$(date +%s%N)
  kill -TERM "$DAEMON"
  wait_for 20 daemon_gone || fail "$1: TERM did not end the daemon"
  local ms=$((($(date +%s%N) - begin) / 1000000))
  wait "$DAEMON" || code=$?
  ((code == 1 && ms < 13000)) || fail "$1: exit code $code after $ms ms: $(<"$WORK/daemon.err")"
  grep -q "does not answer" "$WORK/daemon.err" || fail "$1: no reason: $(<"$WORK/daemon.err")"
  rm "$LENSD_DEAD_WHEN"
  echo "ok: $1: TERM ended it in $ms ms"
}
recorded() { (($(field record frames) >= 10)); }

LD_PRELOAD=$LENSD_DEAD_FOLDER_LIBRARY start_daemon test:testsrc2=size=320x240:rate=30 -c "$WORK/dead.toml"
ctl record on a.mkv >/dev/null && wait_for 10 recorded || fail "no recording: $(ctl get record)"
touch "$LENSD_DEAD_WHEN"
sleep 1
[[ $(ctl get speed) == 1* ]] || fail "the daemon does not answer while its disk is dead"
ends_in_time "a recording"

LD_PRELOAD=$LENSD_DEAD_FOLDER_LIBRARY start_daemon test:testsrc2=size=320x240:rate=30 -c "$WORK/dead.toml"
touch "$LENSD_DEAD_WHEN"
timeout 2 "$LENSD" ctl --socket "$SOCKET" snapshot s.png >/dev/null 2>&1 && fail "a snapshot on a dead disk"
ends_in_time "a snapshot"

cp "$WORK/dead/a.mkv" "$WORK/dead/film.mkv"
LD_PRELOAD=$LENSD_DEAD_FOLDER_LIBRARY start_daemon test:testsrc2=size=320x240:rate=30 -c "$WORK/dead.toml"
touch "$LENSD_DEAD_WHEN"
timeout 2 "$LENSD" ctl --socket "$SOCKET" load "$WORK/dead/film.mkv" >/dev/null 2>&1 && fail "a source on a dead disk"
ends_in_time "a source"
