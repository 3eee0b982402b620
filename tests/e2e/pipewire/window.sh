#!/usr/bin/env bash
# The window switches the virtual camera on and off, by its button and by key, and shows its state.
# shellcheck source=../common/pipewire.sh
. "$(dirname "$0")/../common/pipewire.sh"
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"

start_display
start_session
start_window test:testsrc2=size=320x240:rate=25 --backend=cpu
expect_value virtual_camera off
click view/virtual_camera
expect_value virtual_camera "ready lensd"
gst-launch-1.0 -q pipewiresrc target-object=lensd num-buffers=20 ! video/x-raw ! fakesink >"$WORK/gst.log" 2>&1 &
RECEIVER=$!
STARTED+=("$RECEIVER")
receiver_gone() { ! kill -0 "$RECEIVER" 2>/dev/null; }
wait_for 20 receiver_gone || fail "no frames from the window: $(<"$WORK/gst.log")"
key v
expect_value virtual_camera off
quit_window

start_window test:testsrc2=size=320x240:rate=25 --backend=cpu --virtual-camera "My window"
expect_value virtual_camera "ready My window"
click view/virtual_camera
expect_value virtual_camera off
quit_window
# The dialog lists the nodes of the session beside the cameras.
gst-launch-1.0 -q videotestsrc is-live=true ! video/x-raw,format=RGBA,width=320,height=240,framerate=30/1 ! \
  pipewiresink mode=provide stream-properties="props,media.class=Video/Source,node.name=bars,node.description=Bars" \
  >"$WORK/gst.log" 2>&1 &
STARTED+=($!)
start_window test:testsrc2=size=320x240:rate=25 --backend=cpu
xdotool key --window "$WINDOW" ctrl+o
click source/pipewire/bars
expect_value source pipewire:bars
wait_for 20 test "$(value live | cut -d" " -f1)" = playing || fail "the node does not play: $(value live)"
quit_window

echo "ok: on and off by button, key and option"
