#!/usr/bin/env bash
# The viewer restores the controls that were set for a camera in an earlier session, and sets one from its panel, with
# the kernel's simulated camera (vivid).
# shellcheck source=../e2e/common/viewer.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/viewer.sh"
# shellcheck source=../e2e/common/daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/daemon.sh"
# shellcheck source=vivid.sh
. "$(dirname "${BASH_SOURCE[0]}")/vivid.sh"
start_display
SOCKET=$WORK/control.sock
cat >"$WORK/small.toml" <<TOML
[source]
size = "320x180"
rate = 2
TOML
mkdir -p "$XDG_STATE_HOME/lensd"
printf '[panels]\ncamera = true\n' >"$XDG_STATE_HOME/lensd/state.toml"
open_camera() {
  start_viewer "v4l2:$CAMERA" -c "$WORK/small.toml" --socket "$SOCKET"
  wait_for 60 playing || fail "the camera does not play: $(tail -n 5 "$WORK/viewer.err")"
}

v4l2-ctl -d "$CAMERA" -c brightness=128,mute=0
open_camera
ctl set source.brightness 42 || fail "the viewer's control socket refuses a value"
click camera/mute
device_is mute 1
# A slider, a quarter from its left end, and the button that resets it.
v4l2-ctl -d "$CAMERA" -c contrast=128
daemon_is contrast 128 || wait_for 10 daemon_is contrast 128 || fail "the panel has contrast $(ctl get source.contrast)"
hover camera/contrast 25
press
quarter() { (($(device contrast) >= 40 && $(device contrast) <= 90)); }
wait_for 20 quarter || fail "the slider sets contrast to $(device contrast)"
echo "ok: contrast is $(device contrast) in the driver"
click camera/contrast/reset
device_is contrast 128
device_is brightness 42
quit_window

v4l2-ctl -d "$CAMERA" -c brightness=128,mute=0
open_camera
device_is brightness 42
device_is mute 1
if [[ -n ${LENSD_SCREENSHOT:-} ]]; then
  wait_for 20 settled camera/mute
  import -silent -window "$WINDOW" "$LENSD_SCREENSHOT/camera.png"
fi
quit_window
echo "passed"
