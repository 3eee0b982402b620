#!/usr/bin/env bash
# The panel page in Chromium, at desktop and phone width: it shows the stream and a control for every parameter, and edits
# the graph.
# LENSD_SCREENSHOT=FOLDER keeps the screenshots.
# shellcheck source=../common/page.sh
. "$(dirname "$0")/../common/page.sh"

graph=${LENSD_PAGE_GRAPH:-median=radius=1,gaussian@soften=sigma=1.6,canny@edges,levels,convolve}
arguments=("test:mandelbrot=size=960x540:rate=30:start_scale=1.2:maxiter=400" --http "$port"
  --graph "$graph")
start_daemon "${arguments[@]}"

python3 "$(dirname "$0")/edit_page.py" "$browser" "http://127.0.0.1:$port/" "$WORK" "$LENSD" "$SOCKET" ||
  fail "the page's editing"
ctl graph-set "$graph" >"$WORK/graph-set" || fail "the first graph cannot be restored"

ctl observe soften.sigma edges.enabled >"$WORK/seen" &
STARTED+=($!)
python3 "$(dirname "$0")/use_page.py" "$browser" "http://127.0.0.1:$port/" "$WORK" "$DAEMON" \
  "$LENSD" serve --socket "$SOCKET" "${arguments[@]}" || fail "the page"
STARTED+=("$(<"$WORK/pid")")
[[ -z ${LENSD_SCREENSHOT:-} ]] || cp "$WORK"/*.png "$LENSD_SCREENSHOT"
grep "soften.sigma = " "$WORK/seen" | grep -qv "= 1.6" || fail "moving the slider changed nothing"
grep -q "edges.enabled = false" "$WORK/seen" || fail "the checkbox changed nothing"
