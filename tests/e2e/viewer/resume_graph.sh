#!/usr/bin/env bash
# The graph of the previous session is stored even if it is not saved as a preset, and restored on request. Open scopes
# are restored without a request.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

start_display
start_window test:testsrc2=size=320x240 --pause --backend=cpu --graph "median=radius=2,invert"
wait_for 30 place graph/invert/enabled || fail "the UI map has no invert"
click graph/invert/enabled
key h
click scopes/waveform
sleep 0.5
quit_window
kept=$XDG_STATE_HOME/lensd/last-graph.toml
grep -q 'radius = 2' "$kept" || fail "$kept does not have the graph: $(<"$kept")"
grep -q 'enabled = false' "$kept" || fail "$kept does not have the last change: $(<"$kept")"
echo "ok: the graph is kept"

rm -f "$LENSD_UI_MAP"
start_window test:testsrc2=size=320x240 --pause --backend=cpu
wait_for 30 place graph/resume || fail "the last graph is not offered"
place graph/median/enabled && fail "the graph was loaded without a request"
wait_for 20 place scopes/plot || fail "the open scopes were not restored"
grep -q '^scope = "waveform"' "$XDG_STATE_HOME/lensd/state.toml" || fail "the selected scope was not stored"
click graph/resume
wait_for 20 place graph/median/enabled || fail "the last graph was not restored"
key h
wait_for 20 gone scopes/plot || fail "h does not fold the scopes"
quit_window
grep -q '^scopes = false' "$XDG_STATE_HOME/lensd/state.toml" || fail "closed scopes are not remembered"
echo "ok: restored, with the open scope"

# A damaged file, or one from another version, is ignored.
echo 'filter = [' >"$kept"
rm -f "$LENSD_UI_MAP"
start_window test:testsrc2=size=320x240 --pause --backend=cpu
wait_for 30 place graph/add || fail "the UI map has no button"
place graph/resume && fail "a damaged graph is offered"
quit_window
echo "ok: a damaged file is ignored"
