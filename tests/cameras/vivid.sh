# shellcheck shell=bash
# Finds the kernel's simulated camera. Sets CAMERA (its device file) and BUS (its number in the driver), or skips the
# test. Source it after tests/e2e/common/daemon.sh.
need_tools v4l2-ctl
# An emulated processor needs seconds for what takes milliseconds.
export LENSD_START_S=${LENSD_START_S:-120} LENSD_END_MS=${LENSD_END_MS:-30000}

find_vivid() {
  local path
  for path in /dev/video*; do
    v4l2-ctl -d "$path" --info 2>/dev/null | grep -q 'Driver name *: vivid' &&
      v4l2-ctl -d "$path" --list-formats 2>/dev/null | grep -q 'Video Capture' && echo "$path" && return
  done
}
CAMERA=$(find_vivid)
[[ -n $CAMERA ]] || skip "there is no vivid camera: modprobe vivid (as root)"
# Input 0 is a webcam. Tests of grabbers choose others.
v4l2-ctl -d "$CAMERA" --set-input=0 >/dev/null 2>&1 || fail "the simulated camera has no input 0"
# shellcheck disable=SC2034 # used by the tests
BUS=$(v4l2-ctl -d "$CAMERA" --info | sed -n 's/.*Bus info *: platform:vivid-0*\([0-9]\)/\1/p' | head -n 1)

# device NAME: prints the control's value in the driver. device_is NAME VALUE: fails unless it becomes
# VALUE within 10 s.
device() { v4l2-ctl -d "$CAMERA" -C "$1" | sed 's/^[^:]*: *//; s/ (.*//; s/ *$//'; }
device_has() { [[ $(device "$1") == "$2" ]]; }
device_is() {
  wait_for 10 device_has "$1" "$2" || fail "$1 is '$(device "$1")' in the driver instead of '$2'"
  echo "ok: $1 is $2 in the driver"
}
daemon_is() { [[ $(ctl get "source.$1") == "$2" ]]; }
# pictures_follow: fails unless further pictures are processed.
pictures_follow() {
  local before
  before=$(counter processed)
  more() { (($(counter processed) > before + 2)); }
  wait_for 60 more || fail "no picture follows: $(ctl get source)"
}
