#!/usr/bin/env bash
# A graph with klt: points appear over the picture, t hides them and brings them back, the panel opens.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

start_display
expect 0 "test:testsrc2=size=320x240:rate=25" --headless --backend=cpu --frames 12 -o "$WORK/clip.mkv"
expect 0 "$WORK/clip.mkv" --headless --backend=cpu --frames 9 -o "$WORK/frame_%04d.png"
files=("$WORK"/frame_*.png)
bare=${files[8]} # frame 8
start_window "$WORK/clip.mkv" --pause --backend=cpu --graph klt
one_to_one 320 240
for step in 1 2 3 4 5 6 7 8; do
  expect_value frame $((step - 1))
  key period
done
expect_value frame 8
tracked() { (($(value tracks) > 10)); }
wait_for 20 tracked || fail "only $(value tracks) tracks on a picture with corners"

marked() { shot "$WORK/now.png" "$PX" "$PY" 320 240 && (($(differing "$WORK/now.png" "$bare") > 200)); }
unmarked() { shot "$WORK/now.png" "$PX" "$PY" 320 240 && [[ $(differing "$WORK/now.png" "$bare") == 0 ]]; }
wait_for 20 marked || fail "no tracks over the picture"
key t
wait_for 20 unmarked || fail "t did not hide the tracks: $(differing "$WORK/now.png" "$bare") pixels differ"
key t
wait_for 20 marked || fail "t did not bring the tracks back"
snapshot "$WORK/snapshot.png" # without the overlay
[[ $(pixels "$WORK/snapshot.png") == $(pixels "$bare") ]] || fail "the snapshot is not the bare picture"
echo "ok: $(value tracks) tracks, shown and hidden"

click tracks/fold
wait_for 20 place tracks/trails || fail "the panel of the tracks does not open"
click tracks/overlay
wait_for 20 unmarked || fail "the panel's button did not hide the tracks"
echo "ok: panel"
quit_window

XDG_STATE_HOME=$WORK/fresh start_window "$WORK/clip.mkv" --pause --backend=cpu --graph klt,flip
wait_for 20 place tracks/fold || fail "there is no section for the tracks"
place tracks/trails || click tracks/fold
wait_for 20 place tracks/elsewhere || fail "the panel does not say why there are no tracks over the picture"
click tracks/overlay
no_reason() { ! place tracks/elsewhere; }
wait_for 20 no_reason || fail "hidden tracks need no reason"
echo "ok: tracks of another geometry"
quit_window
