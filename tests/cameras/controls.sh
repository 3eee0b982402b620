#!/usr/bin/env bash
# Controls of a V4L2 camera, with the kernel's simulated camera (vivid): set through the configuration and the control
# socket, changed by another program, kept over a reconnection, and set while pictures stream.
# shellcheck source=../e2e/common/daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/daemon.sh"
need_tools python3 curl
# shellcheck source=vivid.sh
. "$(dirname "${BASH_SOURCE[0]}")/vivid.sh"

v4l2-ctl -d "$CAMERA" -c brightness=128,contrast=128,gain_automatic=1,boolean=1,menu=3
cat >"$WORK/camera.toml" <<TOML
[source]
url = "v4l2:$CAMERA"
size = "320x180"
rate = 5

[source.controls]
brightness = 77
boolean = false
integer_64_bits = -1234567890123
menu = "Menu Item 4"
integer_menu = 2
string = "abc"
bitmask = 0x402010
button = true
gain = 60
gain_automatic = false
unknown = 1
TOML
expect 0 check "$WORK/camera.toml"
printf '[source.controls]\ngain = 1.5\n' >"$WORK/bad.toml"
expect 3 check "$WORK/bad.toml"
start_daemon -c "$WORK/camera.toml" -vv
wait_for 60 playing || fail "the camera does not play: $(tail -n 5 "$WORK/daemon.err")"

device_is brightness 77
device_is boolean 0
device_is integer_64_bits -1234567890123
device_is menu 4
device_is integer_menu 2
device_is string "'abc"\'
device_is bitmask 4202512
device_is gain_automatic 0
device_is gain 60
grep -q "no control 'unknown'" "$WORK/daemon.err" || fail "the unknown control of the configuration is not reported"

ctl list controls | grep -q 'source.integer_32_bits' || fail "the controls are not listed"
ctl set source.brightness 10 source.boolean true source.integer_32_bits -5 source.integer_64_bits 9007199254740993 \
  source.menu 'Menu Item 1' source.integer_menu 3 source.string xyz source.bitmask 0x80000000 source.button true ||
  fail "values of all types cannot be set"
[[ $(ctl get source.brightness) == 10 ]] || fail "a client does not read back what it set"
device_is brightness 10
device_is boolean 1
device_is integer_32_bits -5
device_is integer_64_bits 9007199254740993
device_is menu 1
device_is integer_menu 3
device_is string "'xyz"\'
device_is bitmask -2147483648
ctl_refused 'brightness = 300 is not allowed, expected a whole number 0 to 255' set source.brightness 300
ctl_refused "did you mean brightness?" set source.brightnes 3
ctl_refused 'enable_capture_cropping cannot be set while the camera streams' set source.enable_capture_cropping true
ctl reset-controls source.menu
device_is menu 3

sed -i 's/^boolean = .*/boolean = false/; s/^integer_menu = .*/integer_menu = 5/' "$WORK/camera.toml"
ctl reload || fail "the changed configuration is refused"
device_is integer_menu 4 # the entry with the text 5
daemon_is brightness 10 || fail "a reload changes controls whose configuration is the same"

ctl observe source.contrast >"$WORK/events" &
STARTED+=($!)
wait_for 10 grep -q 'source.contrast = 128' "$WORK/events" || fail "the first value is not sent"
v4l2-ctl -d "$CAMERA" -c contrast=33
wait_for 10 grep -q 'source.contrast = 33' "$WORK/events" || fail "a change by another program is not observed"
echo "ok: a change by another program is observed"

lost() { echo "$(counter reconnects)/$(counter dropped)/$(counter record_failures)/$(counter camera_broken)"; }
before=$(lost) missed=$(counter camera_missed)
python3 - "$SOCKET" "$(dirname "$0")/../e2e/common" <<'PYTHON' || fail "1000 changes"
import sys
sys.path.insert(0, sys.argv[2])
import socket_client
client = socket_client.connect(sys.argv[1])
first = client.ask("get", "counters")["processed"]
for i in range(1000):
    client.ask("set", "source.hue", i % 200 - 100, "source.saturation", i % 256)
print("ok: 1000 changes during", client.ask("get", "counters")["processed"] - first, "frames")
PYTHON
device_is hue 99
device_is saturation 231
after=$(lost)
[[ $before == "$after" ]] || fail "reconnects/dropped/failures/damaged changed from $before to $after"
echo "the driver missed $(($(counter camera_missed) - missed)) pictures during the changes"

echo "vivid.$BUS" >/sys/bus/platform/drivers/vivid/unbind 2>/dev/null || skip "the rest needs root: unbind the camera"
away() { [[ $(field source state) == reconnecting ]]; }
wait_for 30 away || fail "the lost camera is not noticed"
ctl set source.brightness 55
echo "vivid.$BUS" >/sys/bus/platform/drivers/vivid/bind
wait_for 60 playing || fail "the camera does not return: $(tail -n 5 "$WORK/daemon.err")"
device_is brightness 55
device_is integer_32_bits -5
device_is string "'xyz"\'
device_is hue 99
device_is gain 60
device_is menu 3
daemon_is brightness 55 || fail "the daemon shows another brightness"
stop_daemon

# The next run restores the values that clients have set, except those of controls in the configuration.
v4l2-ctl -d "$CAMERA" -c integer_32_bits=0,brightness=128
start_daemon -c "$WORK/camera.toml"
wait_for 60 playing || fail "the camera does not play again: $(tail -n 5 "$WORK/daemon.err")"
device_is integer_32_bits -5
device_is brightness 77
stop_daemon

# The panel page sets values through HTTP: all types.
port=$(free_port tcp)
LENSD_HTTP_AUTH=false start_daemon -c "$WORK/camera.toml" --http "127.0.0.1:$port"
wait_for 60 playing || fail "the camera does not play with HTTP: $(tail -n 5 "$WORK/daemon.err")"
# page_sets JSON: sets values; the answer is in $WORK/answer. Fails if they are refused.
page_sets() { curl -sS --fail-with-body -m 30 -H "Content-Type: application/json" -d "$1" "http://127.0.0.1:$port/api/v1/set" >"$WORK/answer"; }
page_sets '{"source.brightness": 20, "source.boolean": true, "source.integer_32_bits": 7, "source.integer_64_bits": -5,
  "source.menu": "Menu Item 4", "source.integer_menu": 2, "source.string": "page", "source.bitmask": 4194320,
  "source.button": true}' || fail "the page's values are refused: $(<"$WORK/answer")"
device_is brightness 20
device_is boolean 1
device_is integer_32_bits 7
device_is integer_64_bits -5
device_is menu 4
device_is integer_menu 2
device_is string "'page"\'
device_is bitmask 4194320
page_sets '{"source.brightness": 256}' && fail "the page can set a wrong value"
grep -q "brightness = 256 is not allowed" "$WORK/answer" || fail "a wrong value is answered with: $(<"$WORK/answer")"
stop_daemon
echo "passed"
