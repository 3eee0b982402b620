#!/usr/bin/env bash
# Faults that the kernel's simulated camera (vivid) injects: each one shows in a counter or as the state's reason, and ends
# when the fault ends. First as a webcam, then as a grabber (its TV and HDMI inputs).
# shellcheck source=../e2e/common/daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/daemon.sh"
# shellcheck source=vivid.sh
. "$(dirname "${BASH_SOURCE[0]}")/vivid.sh"

# inject NAME=VALUE: sets a control that injects a fault.
inject() { v4l2-ctl -d "$CAMERA" -c "$1" || fail "the driver refuses $1"; }
reason() { ctl get source | sed -n 's/^reason *//p'; }
# start WHAT: starts the daemon with the camera that configure() has described.
start() {
  start_daemon "v4l2:$CAMERA" -c "$WORK/camera.toml"
  wait_for 60 playing || fail "$1 does not play: $(tail -n 5 "$WORK/daemon.err")"
}
# counts NAME FROM: waits until the counter exceeds FROM.
counts() {
  exceeds() { (($(counter "$1") > $2)); }
  wait_for 30 exceeds "$1" "$2" || fail "$1 stays at $2"
  echo "ok: $1 $2 -> $(counter "$1")"
}
# reason_is TEXT: waits until the state's reason begins with TEXT.
reason_is() {
  begins() { [[ $(reason) == "$1"* ]]; }
  wait_for 60 begins "$1" || fail "the reason is '$(reason)' instead of '$1', state $(field source state)"
  echo "ok: $(field source state), $(reason)"
}
no_reason() { [[ -z $(reason) ]]; }
recovers() {
  pictures_follow
  wait_for 30 playing || fail "the state is $(field source state), $(reason)"
  wait_for 30 no_reason || fail "the reason '$(reason)' stays"
  echo "ok: plays again"
}
# The lowest rate, because an emulated processor drops pictures at higher ones.
configure() { printf '[source]\nsize = "320x180"\nrate = 5\noptions = "%s"\n' "$1" >"$WORK/camera.toml"; }

configure ""
start "the webcam"
inject percentage_of_dropped_buffers=50
counts camera_missed "$(counter camera_missed)"
inject percentage_of_dropped_buffers=0
recovers
missed=$(counter camera_missed)
pictures_follow
(($(counter camera_missed) <= missed + 1)) || fail "the driver drops nothing, but camera_missed grows"

broken=$(counter camera_broken)
inject inject_v4l2_buf_flag_error=1
counts camera_broken "$broken"
recovers

connections=$(counter reconnects)
inject inject_fatal_streaming_error=1
counts reconnects "$connections"
recovers

inject inject_vidioc_streamon_error=1 # the next start fails
inject inject_fatal_streaming_error=1
counts reconnects "$((connections + 1))"
recovers
stop_daemon

configure "channel=1"
start "the TV input"
inject standard_signal_mode=1
reason_is "no signal"
inject standard_signal_mode=0
recovers
inject standard_signal_mode=2
reason_is "no stable signal"
inject standard_signal_mode=0
recovers
stop_daemon

v4l2-ctl -d "$CAMERA" --set-input=1 --set-standard=pal >/dev/null || fail "the driver refuses PAL"
configure "channel=1"
start "the TV input with PAL"
connections=$(counter reconnects)
inject standard_signal_mode=4,standard=3 # the signal is NTSC from now on
counts reconnects "$connections"
grep -qF "the camera's signal changed its format" "$WORK/daemon.err" || fail "no message names the change"
recovers
inject standard_signal_mode=0
stop_daemon

# Without a size: the size of the signal, not the largest one of the driver's scaler.
size() { ctl get source | sed -n 's/^stream *//p'; }
has_size() { [[ $(size) == "$1"* ]]; }
printf '[source]\nrate = 5\noptions = "channel=1 standard=PAL"\n' >"$WORK/camera.toml"
start "the TV input without a size"
wait_for 30 has_size "720×576" || fail "the input delivers '$(size)' instead of 720×576"
stop_daemon

configure "channel=3"
start "the HDMI input"
inject dv_timings_signal_mode=1
reason_is "no signal"
inject dv_timings_signal_mode=0
recovers
stop_daemon
echo passed
