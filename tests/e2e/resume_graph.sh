#!/usr/bin/env bash
# The graph of the run before is kept, saved as a preset or not, and taken up again on demand; scopes are shown as they
# were.
# shellcheck source=window_lib.sh
. "$(dirname "$0")/window_lib.sh"

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
place graph/median/enabled && fail "the graph was loaded unasked"
wait_for 20 place scopes/plot || fail "the scopes are folded, which were open"
grep -q '^scope = "waveform"' "$XDG_STATE_HOME/lensd/state.toml" || fail "another scope is shown"
click graph/resume
wait_for 20 place graph/median/enabled || fail "the last graph was not taken up again"
key h
wait_for 20 gone scopes/plot || fail "h does not fold the scopes"
quit_window
grep -q '^scopes = false' "$XDG_STATE_HOME/lensd/state.toml" || fail "folded scopes are not remembered"
echo "ok: taken up again, with the scope that was shown"

# What another version wrote, or a disk damaged, is not offered and harms nothing.
echo 'filter = [' >"$kept"
rm -f "$LENSD_UI_MAP"
start_window test:testsrc2=size=320x240 --pause --backend=cpu
wait_for 30 place graph/add || fail "the UI map has no button"
place graph/resume && fail "a damaged graph is offered"
quit_window
echo "ok: a damaged file is passed over"
