#!/usr/bin/env bash
# The panel page in Chromium: the whole picture at several window sizes, the picture while paused, an outage of the network.
# LENSD_SCREENSHOT=FOLDER keeps the screenshots.
# shellcheck source=../common/page.sh
. "$(dirname "$0")/../common/page.sh"

start_daemon test:testsrc2=size=270x480:rate=10 --http "$port" --graph gaussian
python3 "$(dirname "$0")/watch_page.py" "$browser" "$port" "$WORK" "$LENSD" "$SOCKET"
result=$?
[[ -z ${LENSD_SCREENSHOT:-} ]] || cp "$WORK"/*.png "$LENSD_SCREENSHOT"
((result == 0)) || fail "the page's picture"
