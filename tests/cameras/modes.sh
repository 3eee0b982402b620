#!/usr/bin/env bash
# The mode of the kernel's simulated camera (vivid) is changed while it plays: format, size and rate through the control
# socket. The stream counts no reconnection, and the next run of the daemon begins with the configured mode.
# shellcheck source=../e2e/common/daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/daemon.sh"
# shellcheck source=vivid.sh
. "$(dirname "${BASH_SOURCE[0]}")/vivid.sh"
cat >"$WORK/camera.toml" <<TOML
[source]
url = "v4l2:$CAMERA"
size = "320x180"
TOML
stream() { ctl get source | sed -n 's/^stream *//p'; }
streams() { [[ $(stream) == "$1"* ]]; }
mode_is() {
  wait_for 30 streams "$1" || fail "the camera delivers '$(stream)' instead of '$1': $(tail -n 5 "$WORK/daemon.err")"
  wait_for 30 playing || fail "the camera does not play"
  echo "ok: $(stream)"
}

start_daemon -c "$WORK/camera.toml"
wait_for 60 playing || fail "the camera does not play: $(tail -n 5 "$WORK/daemon.err")"
[[ $(ctl get source.size) == 320x180 ]] || fail "the configured size is not the control's value"
for format in NV12 RGB3 GREY YU12; do
  ctl set "source.format" "$format" || fail "$format is refused"
  pictures_follow
  [[ $(ctl get source.format) == "$format" ]] || fail "the format is $(ctl get source.format) instead of $format"
done
mode_is "320×180 yuv420p"
ctl set source.size 640x360 source.rate 5
mode_is "640×360"
pictures_follow
ctl set source.size auto source.size 320x180
mode_is "320×180"
ctl_refused "size = '123x45' is not allowed" set source.size 123x45
ctl set source.brightness 99
device_is brightness 99
ctl reset-controls
mode_is "320×180"
[[ $(ctl get source.format) == auto ]] || fail "the format is not reset"
[[ $(counter reconnects) == 0 ]] || fail "changes of the mode count as $(counter reconnects) reconnections"
stop_daemon
echo "passed"
