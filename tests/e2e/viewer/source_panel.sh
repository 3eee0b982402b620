#!/usr/bin/env bash
# Opening a source in a real window: by typing, from the list, from recent sources, by dropping a file. A source that cannot
# be opened leaves the current one playing. A live source shows its state.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
# shellcheck source=../common/daemon.sh
. "$(dirname "$0")/../common/daemon.sh"

need_tools ffmpeg python3
clips="$WORK/my clips"
mkdir -p "$clips/old"
make_clip() { # make_clip FILE SOURCE: ten seconds
  ffmpeg -v error -f lavfi -i "$2=size=320x240:rate=25" -t 10 -c:v ffv1 "$1" || fail "no clip was made"
}
make_clip "$clips/bars.mkv" smptebars
make_clip "$clips/card.mkv" testsrc2
make_clip "$clips/old/oldest.mkv" testsrc

plays() { expect_value source "$1"; }
# open_box: presses Ctrl+o and waits until the dialog accepts text.
open_box() {
  key ctrl+o
  wait_for 20 place source/path || fail "ctrl+o opens no dialog"
  wait_for 20 place source/place/Home || fail "the dialog offers no places"
  sleep 0.5
}
type_text() { xdotool type --delay 60 "$1"; sleep 0.5; }
window_lives() { kill -0 "$VIEWER" 2>/dev/null || fail "the window is gone: $(tail -n 3 "$WORK/viewer.err")"; }

start_display
HOME=$WORK start_window "$clips/bars.mkv" --backend=cpu --graph invert
plays bars.mkv

open_box
wait_for 20 place source/file/card.mkv || fail "the clip's folder is not listed"
type_text "'$clips/card.mkv' "
key Return
plays card.mkv
wait_for 20 gone source/path || fail "the dialog stays open although the clip plays"
place graph/invert/enabled || fail "the graph is gone"
echo "ok: a pasted path with quotes and spaces"

# moves: expects new frames, which show that the current source is still playing.
moves() {
  local before
  before=$(value frame)
  later() { [[ $(value frame) != "$before" ]]; }
  wait_for 20 later || fail "$(value source) does not play"
}
open_box
type_text "$clips/missing.mkv"
key Return
wait_for 20 place source/problem || fail "a missing file is not reported"
[[ $(value source) == card.mkv ]] || fail "a missing file replaced the clip"
key Escape
wait_for 20 gone source/path || fail "Escape does not close the dialog"
key l l l # sets and clears an A-B loop: the pipeline still executes commands
window_lives
echo "ok: a missing file is reported and the current one plays on"

head -c $(($(stat -c %s "$clips/bars.mkv") / 2)) "$clips/bars.mkv" >"$clips/half.mkv"
open_box
type_text "$clips/half.mkv"
key Return
plays half.mkv
reported() { grep -q "half.mkv: the file ends early" "$WORK/viewer.err"; }
wait_for 40 reported || fail "a truncated file is not reported: $(tail -n 3 "$WORK/viewer.err")"
window_lives
open_box
type_text "$clips/card.mkv"
key Return
plays card.mkv
echo "ok: a file that ends early is reported while its window is open"

open_box
type_text "$clips/ol"
xdotool keydown Tab
sleep 0.2
xdotool keyup Tab # released early, because key repeat would also complete the name of the only file
wait_for 20 place source/file/oldest.mkv || fail "Tab does not complete the folder's name"
key Down Return
plays oldest.mkv
echo "ok: Tab completes, the arrows choose"

click source/open
wait_for 20 place source/file/oldest.mkv || fail "the clip's folder is not listed"
sleep 0.5
click source/up
wait_for 20 place source/folder/old || fail "the arrow does not leave the folder"
click source/folder/old
wait_for 20 place source/file/oldest.mkv || fail "a click does not enter the folder"
click source/up
click source/file/card.mkv
plays card.mkv
echo "ok: by clicks, through folders"

cp "$clips/card.mkv" "$clips/"$'two\nlines.mkv'
click source/open
sleep 1
click source/file/two_lines.mkv
opened() { grep -q "^value/source two" "$LENSD_UI_MAP"; }
wait_for 20 opened || fail "a file with a line break in its name is not opened: $(value notice)"
key Escape
click source/open
click source/file/card.mkv
plays card.mkv
rm "$clips/"$'two\nlines.mkv'
echo "ok: a name with a line break"

open_box
type_text bar
wait_for 20 gone source/file/card.mkv || fail "typing does not filter the list"
key Return
plays bars.mkv
echo "ok: found by a part of its name"

if python3 -c 'import Xlib' 2>/dev/null; then
  place picture
  python3 "$(dirname "$0")/drop_file.py" "$WINDOW" $((${X%.*} + ${W%.*} / 2)) $((${Y%.*} + ${H%.*} / 2)) "$clips/card.mkv" ||
    fail "the window does not accept a dropped file"
  plays card.mkv
  python3 "$(dirname "$0")/drop_file.py" "$WINDOW" $((${X%.*} + 40)) $((${Y%.*} + 40)) "$clips/none.mkv"
  sleep 1
  [[ $(value source) == card.mkv ]] || fail "a missing dropped file replaced the clip"
  window_lives
  place picture
  python3 "$(dirname "$0")/drop_file.py" "$WINDOW" $((${X%.*} + 60)) $((${Y%.*} + 60)) "$clips/card.mkv" "$clips/old" "$clips/bars.mkv"
  plays card.mkv
  wait_for 10 place playlist/3 || fail "the dropped files and folder are no playlist: $(grep ^playlist "$LENSD_UI_MAP")"
  key greater
  plays oldest.mkv
  key greater
  plays bars.mkv
  python3 "$(dirname "$0")/drop_file.py" "$WINDOW" $((${X%.*} + 80)) $((${Y%.*} + 80)) "$clips/none.mkv"
  wait_for 20 notice_about none.mkv || fail "nothing says that the dropped file is missing"
  key less
  plays oldest.mkv # the playlist is kept
  mkdir "$WORK/one" && cp "$clips/card.mkv" "$WORK/one/single.mkv"
  python3 "$(dirname "$0")/drop_file.py" "$WINDOW" $((${X%.*} + 90)) $((${Y%.*} + 90)) "$WORK/one"
  plays single.mkv
  wait_for 10 gone playlist/count || fail "a dropped folder with one file does not replace the playlist"
  echo "ok: dropped on the window, also several files and a folder"
else
  echo "left out: dropping files needs python3-xlib"
fi
quit_window

mv "$clips/old/oldest.mkv" "$WORK/elsewhere.mkv"
SOCKET=$WORK/control.sock
HOME=$WORK start_window test:smptebars --backend=cpu --input-ipc-server="$SOCKET"
wait_for 30 ctl get frame || fail "the window's socket does not answer"
ctl load "$clips/card.mkv" >"$WORK/ctl.out" 2>&1 || fail "control cannot load: $(<"$WORK/ctl.out")"
plays card.mkv
ctl_refused "no such file" load "$clips/missing.mkv"
[[ $(value source) == card.mkv ]] || fail "a missing file replaced the clip"

open_box
wait_for 20 place source/recent/oldest.mkv || fail "recent sources are not remembered: $(<"$XDG_STATE_HOME/lensd/state.toml")"
hover source/recent/oldest.mkv
click source/forget/oldest.mkv
wait_for 20 gone source/recent/oldest.mkv || fail "a recent source cannot be removed"
click source/recent/bars.mkv
plays bars.mkv
moves
sleep 1.5 # the state is saved about a second after a change
grep -q oldest "$XDG_STATE_HOME/lensd/state.toml" && fail "the removed source is still remembered"
echo "ok: recent sources after a restart"

# An address without a sender: opening it is shown and can be cancelled.
port=$(free_port udp)
open_box
type_text "udp://127.0.0.1:$port"
key Return
expect_value opening "udp://127.0.0.1:$port"
moves # the current source plays while the other one is being opened
click source/give_up
expect_value opening ""
[[ $(value source) == bars.mkv ]] || fail "a cancelled source replaced the clip"
echo "ok: opening is shown and cancelled, the current source keeps playing"

"$LENSD" test:testsrc2=size=320x240:rate=25 --headless -o "udp://127.0.0.1:$port" >"$WORK/sender.out" 2>&1 &
sender=$!
STARTED+=("$sender")
key Return
live_is() { [[ $(value live) == "$1 "* ]]; }
wait_for 60 live_is playing || fail "the live source is '$(value live)': $(tail -n 2 "$WORK/viewer.err" "$WORK/sender.out")"
wait_for 20 place source/live || fail "the source's row does not show the state"
wait_for 20 place status/state || fail "the status does not show the state"
# received + placeholders = replaced + skipped + processed, except for a few pictures in flight.
adds_up() {
  local received placeholders at_source at_graph skipped late again processed shown not_shown
  read -r received placeholders at_source at_graph skipped late again <<<"$(value losses)"
  read -r processed shown not_shown <<<"$(value counts)"
  ((received > 50)) || return 1
  local under_way=$((received + placeholders - at_source - at_graph - skipped - processed))
  local unseen=$((processed + again - shown - not_shown))
  ((under_way >= -2 && under_way <= 6 && unseen >= -2 && unseen <= 6))
}
wait_for 60 adds_up || fail "the counters do not add up: losses $(value losses), counts $(value counts)"
echo "ok: a live source plays, its counters add up"

key space
paused() { [[ $(value paused) == 1 ]]; }
wait_for 20 paused || fail "space does not pause"
passed_by() { (($(value losses | cut -d' ' -f5) > 5)); }
wait_for 30 passed_by || fail "pictures skipped while paused are not counted: $(value losses)"
key space
wait_for 60 adds_up || fail "the counters do not add up after a pause: losses $(value losses), counts $(value counts)"
echo "ok: pictures skipped while paused are counted"

kill -9 "$sender"
wait "$sender" 2>/dev/null
away() { live_is stalled || live_is reconnecting; }
wait_for 30 away || fail "the sender is gone, and the state is '$(value live)'"
wait_for 10 place live/state || fail "the picture does not show the state"
window_lives
"$LENSD" test:testsrc2=size=320x240:rate=25 --headless -o "udp://127.0.0.1:$port" >"$WORK/sender.out" 2>&1 &
STARTED+=($!)
wait_for 60 live_is playing || fail "the sender is back, and the state is '$(value live)'"
wait_for 60 adds_up || fail "the counters do not add up: losses $(value losses), counts $(value counts)"
echo "ok: disconnected and reconnected"
open_box
type_text "http://nobody.invalid/x.mp4"
key Return
wait_for 40 place source/problem || fail "a host that does not exist gives no message"
no_host() { grep -q "there is no host 'nobody.invalid'" "$WORK/viewer.err"; }
wait_for 10 no_host || fail "the message is: $(tail -n 2 "$WORK/viewer.err")"
key Escape
wait_for 10 gone source/path || fail "the dialog stays"
echo "ok: a host that does not exist"

[[ -z ${LENSD_SCREENSHOT:-} ]] || import -silent -window "$WINDOW" "$LENSD_SCREENSHOT"
quit_window
