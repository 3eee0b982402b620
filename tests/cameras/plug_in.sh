#!/usr/bin/env bash
# The viewer without a source shows a test picture while there is no camera, and opens the kernel's simulated camera (vivid)
# when it is plugged in. Needs root.
# shellcheck source=../e2e/common/viewer.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/viewer.sh"
# shellcheck source=../e2e/common/daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/common/daemon.sh"
# shellcheck source=vivid.sh
. "$(dirname "${BASH_SOURCE[0]}")/vivid.sh"
DRIVER=/sys/bus/platform/drivers/vivid
[[ -w $DRIVER/unbind ]] || skip "needs root: unbind the camera"
plug_in() { echo "vivid.$BUS" >$DRIVER/bind; }
SOCKET=$WORK/control.sock

echo "vivid.$BUS" >$DRIVER/unbind
if compgen -G '/dev/video*' >/dev/null; then
  plug_in
  skip "this machine has other cameras"
fi
start_display
printf '[source]\nsize = "320x180"\nrate = 5\n' >"$WORK/small.toml"
start_viewer -c "$WORK/small.toml" --socket "$SOCKET"
waits() { [[ $(value source) == test:mandelbrot ]]; } # the notice may have gone: an emulated window draws slowly
wait_for 120 waits || { plug_in; fail "the window shows '$(value source)'"; }
plug_in
playing() { [[ $(field source state) == playing && $(field source stream) == 320×180* ]]; }
wait_for 120 playing || fail "the camera does not open: $(ctl get source), $(tail -n 5 "$WORK/viewer.err")"
echo "ok: $(field source stream)"
quit_window
echo "passed"
