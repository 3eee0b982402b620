#!/usr/bin/env bash
# Latency of live pictures in the viewer's window, measured with their time codes (time_code.hpp): a sender, the viewer with
# --profile=low-latency on a virtual display, and a probe that reads the window's pixels.
#   LENSD_LONG=1 chrt -r 1 ctest --test-dir build -V -R live_window      as root or on an idle machine
# LENSD_LATENCY_SECONDS: duration of one measurement; LENSD_LATENCY_RATES: frame rates; LENSD_LATENCY_KINDS: some of
# "udp-ts http-ts http-mjpeg http-raw"; LENSD_LATENCY_KEYS: keys to press first (Tab hides the panels).
# With LENSD_LONG=1 the 99th percentile must be at most two frame times.
SCREEN=${SCREEN:-640x480x24}
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools python3
[[ -x ${LENSD_LATENCY_WINDOW:-} ]] || skip "built without X11's headers"
LONG=${LENSD_LONG:-}
SECONDS_EACH=${LENSD_LATENCY_SECONDS:-${LONG:+10}}
SECONDS_EACH=${SECONDS_EACH:-3}

start_display

has_picture() { [[ $(value frame) -gt 5 ]]; }

# measure KIND RATE: prints the ages and sets P99 to the 99th percentile.
measure() {
  local kind=$1 rate=$2 url sender
  url=${kind%%-*}://127.0.0.1:$(free_port tcp)
  [[ $url == udp* ]] || url+=/live
  # The sender's duration includes the viewer's start. An HTTP sender waits for its client.
  "$LENSD_TIME_CODE_SENDER" "${kind#*-}" "$url" 640 480 "$rate" $((SECONDS_EACH + 20)) >/dev/null 2>"$WORK/sender.err" &
  sender=$!
  STARTED+=("$sender")
  rm -rf "$WORK/ui-map" "$WORK/state" # the previous run hid the panels
  start_window "$url" --profile=low-latency
  xdotool windowmove "$WINDOW" 0 0 windowsize "$WINDOW" "${SCREEN%%x*}" "$(cut -dx -f2 <<<"$SCREEN")"
  # shellcheck disable=SC2086
  key ${LENSD_LATENCY_KEYS-Tab}
  wait_for 20 has_picture || fail "no picture: $(tail -n 3 "$WORK/viewer.err")"
  sleep 2
  local x y w
  read -r x y w _ <<<"$(value placed)"
  local ages
  ages=$("$LENSD_LATENCY_WINDOW" "${x%.*}" "${y%.*}" "${w%.*}" "$SECONDS_EACH") || fail "the probe: $ages"
  kill "$VIEWER" "$sender" 2>/dev/null
  wait "$VIEWER" "$sender" 2>/dev/null
  echo "$kind $rate fps, picture ${w%.*} wide in $SCREEN: $ages"
  P99=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["p99"])' "$ages")
}

for kind in ${LENSD_LATENCY_KINDS:-udp-ts http-mjpeg}; do
  for rate in ${LENSD_LATENCY_RATES:-${LONG:+60} 30}; do
    measure "$kind" "$rate"
    [[ -z $LONG ]] || python3 -c "import sys; sys.exit($P99 > 2000 / $rate)" || fail "$kind at $rate fps: p99 $P99 ms"
  done
done
