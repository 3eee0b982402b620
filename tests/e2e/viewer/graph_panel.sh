#!/usr/bin/env bash
# Editing a graph with mouse and keys: switch, drag a slider, reorder, add, undo, redo, save, remove, load. Checks the
# picture and the saved file. The viewer remembers its size.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

SCREEN=1300x900x24
presets=$XDG_CONFIG_HOME/lensd/presets state=$XDG_STATE_HOME/lensd/state.toml
mkdir "$WORK/here"
cd "$WORK/here" || exit 1

like() { picture "$WORK/now.png" && (($(difference "$WORK/now.png" "$1") <= 2)); }
unlike() { picture "$WORK/now.png" && (($(difference "$WORK/now.png" "$1") >= 4)); }
# Moves the pointer to an empty place, so that no tooltip covers the picture.
aside() { xdotool mousemove --window "$WINDOW" 136 640; }
# keep FILE: saves the picture once two screenshots agree.
keep() {
  aside
  sleep 0.5
  picture_settled() { picture "$1" && sleep 0.3 && like "$1"; }
  wait_for 10 picture_settled "$1" || fail "the picture does not settle"
}
key() { xdotool key --window "$WINDOW" "$1" && sleep 0.4; }
# y NAME: prints the vertical centre of a control.
y() { place "$1" && echo $((${Y%.*} + ${H%.*} / 2)); }
above() { (($(y "$1") < $(y "$2"))); }
# same_frames FILE GRAPH: succeeds if a saved preset and a chain give the same frames.
same_frames() {
  expect 0 test:testsrc2 --headless --frames 2 --overwrite --framehash "$WORK/a" -o null: -c "$1"
  expect 0 test:testsrc2 --headless --frames 2 --overwrite --framehash "$WORK/b" -o null: --graph "$2"
  diff <(frames "$WORK/a") <(frames "$WORK/b") >/dev/null
}

start_display
start_viewer test:testsrc2 --pause --backend=cpu --graph "gaussian=sigma=1,invert"
wait_for 30 place picture || fail "the UI map has no picture"
keep "$WORK/start.png"

click graph/invert/enabled
wait_for 10 unlike "$WORK/start.png" || fail "switching invert off changed nothing"
keep "$WORK/positive.png"
echo "ok: toggle"

drag graph/gaussian/sigma 250 "$(y graph/gaussian/sigma)" 10
wait_for 10 unlike "$WORK/positive.png" || fail "dragging sigma to the right changed nothing"
keep "$WORK/blurred.png"
key ctrl+z
wait_for 10 like "$WORK/positive.png" || fail "one undo did not revert the whole drag"
key ctrl+y
wait_for 10 like "$WORK/blurred.png" || fail "redo did not restore the blur"
echo "ok: a slider's drag is one step, undone and redone"

key plus
wait_for 10 place add/search || fail "+ opened no list"
sleep 0.3
xdotool type --delay 120 mosa
wait_for 10 gone add/median || fail "the list shows filters that do not match"
wait_for 10 place add/mosaic || fail "mosaic is not found"
key Return
wait_for 10 place graph/mosaic/block || fail "Enter did not add mosaic"
above graph/invert/title graph/mosaic/title || fail "mosaic is not below the last node"
wait_for 10 unlike "$WORK/blurred.png" || fail "mosaic changed nothing"
keep "$WORK/mosaic.png"
echo "ok: added by search"

drag graph/mosaic/title 60 $(($(y graph/gaussian/title) - 12)) 20
wait_for 10 above graph/mosaic/title graph/gaussian/title || fail "the node was not moved by dragging it"
wait_for 10 unlike "$WORK/mosaic.png" || fail "blurring the blocks instead of the picture looks the same"
keep "$WORK/moved.png"
click graph/gaussian/sigma/reset
wait_for 10 unlike "$WORK/moved.png" || fail "the arrow did not restore the default"
keep "$WORK/reset.png"
echo "ok: reordered by dragging"

click graph/invert/enabled
wait_for 10 unlike "$WORK/reset.png" || fail "switching invert on again changed nothing"
place presets/unsaved || fail "no mark for unsaved changes"
key ctrl+s
wait_for 10 place presets/name || fail "ctrl+s asked for no name"
sleep 0.4
xdotool type --delay 120 mine
key Return
wait_for 10 test -s "$presets/mine.toml" || fail "no preset was saved"
wait_for 10 gone presets/unsaved || fail "the mark stays after saving"
expect 0 check "$presets/mine.toml"
same_frames "$presets/mine.toml" "mosaic,gaussian,invert" || fail "the preset is another graph: $(<"$presets/mine.toml")"
keep "$WORK/saved.png"
echo "ok: saved, with the same frames"

sed -i 's/^filter = "mosaic"/filter = "mosaic"  # mine/' "$presets/mine.toml"
click graph/mosaic/block/plus
wait_for 10 place presets/unsaved || fail "a change after saving shows no mark"
key ctrl+s
saved_again() { grep -q '^block = 17' "$presets/mine.toml"; }
wait_for 10 saved_again || fail "ctrl+s did not save again: $(<"$presets/mine.toml")"
grep -q '# mine' "$presets/mine.toml" || fail "saving lost a comment"
key ctrl+z
echo "ok: saved in place with its comment"

hover graph/mosaic/title 20
click graph/mosaic/remove
wait_for 10 gone graph/mosaic/title || fail "the node was not removed"
wait_for 10 unlike "$WORK/saved.png" || fail "removing mosaic changed nothing"
click presets/menu
sleep 0.5
click presets/list/mine
wait_for 10 place graph/mosaic/title || fail "the preset was not loaded"
keep "$WORK/loaded.png"
unlike "$WORK/start.png" || fail "the loaded preset shows the first picture"
wait_for 10 gone presets/unsaved || fail "a loaded preset counts as unsaved"
echo "ok: removed, and loaded again"

hover graph/mosaic/title 20
click graph/mosaic/solo
aside
wait_for 10 unlike "$WORK/loaded.png" || fail "solo shows the whole graph"
hover graph/mosaic/title 20
click graph/mosaic/solo
aside
wait_for 10 like "$WORK/loaded.png" || fail "solo did not end"
echo "ok: solo"

key ctrl+2
hover graph/mosaic/title 20
click graph/mosaic/remove
wait_for 10 gone graph/mosaic/title || fail "no node is removed in slot B"
key ctrl+1
wait_for 10 place graph/mosaic/title || fail "slot A lost its graph"
aside
wait_for 10 like "$WORK/loaded.png" || fail "slot A shows another picture"
key ctrl+2
wait_for 10 gone graph/mosaic/title || fail "slot B lost its graph"
key ctrl+z
wait_for 10 place graph/mosaic/title || fail "a switch is not undone"
key ctrl+1
key ctrl+2
wait_for 10 gone graph/mosaic/title || fail "undo has overwritten slot B"
key ctrl+3
wait_for 10 gone graph/mosaic/title || fail "slot C is not a copy of B"
key ctrl+1
wait_for 10 place graph/mosaic/title || fail "slot A lost its graph"
echo "ok: slots A, B and C"

click graph/gaussian/title
key ctrl+c
key ctrl+v
wait_for 10 place graph/gaussian2/title || fail "no copy is pasted: $(cut -d' ' -f1 "$LENSD_UI_MAP" | grep '^graph/.*title')"
above graph/gaussian/title graph/gaussian2/title || fail "the copy is not below the node"
key ctrl+z
wait_for 10 gone graph/gaussian2/title || fail "pasting is not undone"
drag graph/gaussian/sigma 250 "$(y graph/gaussian/sigma)" 10
wait_for 10 place graph/gaussian/sigma/reset || fail "sigma is the default"
click graph/gaussian/title
key ctrl+r
wait_for 10 gone graph/gaussian/sigma/reset || fail "Ctrl+R does not reset the node"
key ctrl+z
wait_for 10 place graph/gaussian/sigma/reset || fail "the reset is not undone"
key ctrl+z
echo "ok: copied, pasted, reset by key"

xdotool windowsize "$WINDOW" 1100 700
sleep 1
quit_window
grep -q '^width = 1100' "$state" || fail "the window's size was not kept: $(<"$state")"
[[ -z $(ls -A .) ]] || fail "a file was written to the working directory: $(ls -A .)"
start_viewer test:testsrc2 --pause --backend=cpu
wait_for 30 place picture || fail "no second window"
[[ $(xdotool getwindowgeometry "$WINDOW") == *1100x700* ]] || fail "the second window has another size"
click presets/menu
sleep 0.5
click presets/last
wait_for 10 place graph/mosaic/title || fail "the last preset was not offered"
echo "ok: size and last preset are remembered, the working directory stays empty"
