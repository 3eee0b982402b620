#!/usr/bin/env bash
# A sender that shows a part of its buffers, such as a shared window: only the part is shown, with its size, also after the
# window was resized. A picture that the sender has turned is shown upright.
# shellcheck source=../common/pipewire.sh
. "$(dirname "$0")/../common/pipewire.sh"
[[ -x ${LENSD_TEST_NODE:-} ]] || skip "the test's PipeWire node was not built"

# shows SIZE: the source's picture has this size.
shows() { [[ $(ctl get sizes) == *"[${1/x/,}]"* ]]; }
# values FILE CROP: prints the smallest and the largest value in this rectangle of a picture.
values() { convert "$1" -crop "$2" +repage -format '%[fx:round(255*minima)] %[fx:round(255*maxima)]' info:; }

start_session
offer_node window
start_daemon pipewire:test-node --backend=cpu
for size in 24x20 30x10; do
  wait_for 20 shows "$size" || fail "the picture is not the window of $size: $(ctl get sizes)"
  picture=$(ctl snapshot "window_$size.png" | awk '$1 == "path" { print $2 }')
  [[ $(identify -format %wx%h "$picture") == "$size" ]] || fail "the snapshot is no window of $size"
  [[ $(values "$picture" "$size+0+0") == "100 100" ]] ||
    fail "the picture has pixels outside the window of $size: $(values "$picture" "$size+0+0")"
  echo "ok: the window of $size"
  kill -USR1 "$NODE"
done
stop_daemon
stop_node

offer_node turned
expect 0 pipewire:test-node --headless --frames 3 --backend=cpu -o "$WORK/turned_%d.png"
[[ $(identify -format %wx%h "$WORK/turned_2.png") == 48x64 ]] || fail "the turned picture has the wrong size"
[[ "$(values "$WORK/turned_2.png" 24x64+24+0) $(values "$WORK/turned_2.png" 24x64+0+0)" == "100 100 255 255" ]] ||
  fail "the turned picture is not upright"
echo "ok: a turned picture is upright"
