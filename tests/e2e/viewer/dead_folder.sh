#!/usr/bin/env bash
# A source on a network folder whose server is gone: the window neither waits for it nor for its folder, and the attempt can
# be cancelled.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools ffmpeg
: "${LENSD_DEAD_FOLDER_LIBRARY:?set it to liblensd_dead_folder.so}"

mkdir "$WORK/dead" "$WORK/clips"
ffmpeg -v error -f lavfi -i testsrc2=size=160x120:rate=10 -t 70 -c:v ffv1 "$WORK/clips/clip.mkv" || fail "no clip was made"
cp "$WORK/clips/clip.mkv" "$WORK/dead/film.mkv"
mkdir -p "$XDG_STATE_HOME/lensd"
printf 'recent_sources = ["%s"]\npositions = [["%s", 30.0]]\n' "$WORK/dead/film.mkv" "$WORK/dead/film.mkv" \
  >"$XDG_STATE_HOME/lensd/state.toml"

start_display
export LENSD_DEAD_FOLDER=$WORK/dead/
LD_PRELOAD=$LENSD_DEAD_FOLDER_LIBRARY start_window "$WORK/clips/clip.mkv" --backend=cpu
expect_value source clip.mkv

# plays_on WHEN: expects that new frames are shown.
plays_on() {
  local before
  before=$(value frame)
  later() { (($(value frame) > before)); }
  wait_for 10 later || fail "the window stands still $1"
}
opening() { [[ $(value opening) == film.mkv ]]; }
plays_on "before the film is opened"
key ctrl+o
wait_for 20 place source/path || fail "ctrl+o opens no dialog"
sleep 0.5
xdotool type --delay 60 "$WORK/dead/film.mkv"
key Return
wait_for 10 opening || fail "the film is not being opened: $(grep value "$LENSD_UI_MAP")"
plays_on "while a film on a dead folder is being opened"
key Escape Escape
wait_for 10 gone source/path || fail "Escape does not close the dialog"
plays_on "after the dialog was closed"
if python3 -c 'import Xlib' 2>/dev/null; then
  place picture
  for dropped in "$WORK/dead/film.mkv" "$WORK/dead/folder"; do
    python3 "$(dirname "$0")/drop_file.py" "$WINDOW" $((${X%.*} + ${W%.*} / 2)) $((${Y%.*} + ${H%.*} / 2)) "$dropped"
    wait_for 10 test -n "$(value opening)" || fail "the dropped $dropped is not being opened"
    plays_on "while the dropped $dropped is being opened"
  done
fi
[[ $(value source) == clip.mkv ]] || fail "the source is $(value source)"
quit_window
echo "ok: a dead folder stops neither the window nor its end"
