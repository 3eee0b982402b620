#!/usr/bin/env bash
# Keys work in keyboard layouts without Latin letters, and Ctrl with a digit in French ones.
# shellcheck source=../common/viewer.sh
. "$(dirname "$0")/../common/viewer.sh"
need_tools setxkbmap

start_display
# press_code CODE [MODIFIER]: presses the key with this X11 code of at least two digits. xdotool would add keys for names.
press_code() {
  [[ -z ${2:-} ]] || xdotool keydown "$2"
  xdotool key "$1"
  [[ -z ${2:-} ]] || xdotool keyup "$2"
  sleep 0.2
}
muted() { [[ $(value sound) == *" $1 "* ]]; }

for layout in ru gr il; do
  setxkbmap "$layout" || skip "no keyboard layout $layout"
  start_window test:testsrc2=size=320x240:rate=25 --backend=cpu --graph invert
  wait_for 30 place graph/invert/enabled || fail "no graph panel"
  press_code 58 # m
  wait_for 10 muted 1 || fail "$layout: the key of m does not mute: '$(value sound)'"
  press_code 58
  wait_for 10 muted 0 || fail "$layout: the key of m does not mute: '$(value sound)'"
  press_code 32 37 # Ctrl+o
  wait_for 10 place source/path || fail "$layout: Ctrl+o opens no dialog"
  xdotool key Escape
  wait_for 10 gone source/path || fail "$layout: Escape does not close the dialog"
  if [[ $layout != il ]]; then # the Hebrew layout has / there, which changes the volume
    press_code 24 # q
    wait_for 10 window_gone || fail "$layout: the key of q does not quit"
  else
    kill -TERM "$VIEWER"
    wait_for 10 window_gone || fail "the viewer does not end"
  fi
  echo "ok: keys in the layout $layout"
done

setxkbmap fr
start_window test:testsrc2=size=320x240:rate=25 --backend=cpu --graph invert
wait_for 30 place graph/invert/enabled || fail "no graph panel"
press_code 11 37 # Ctrl+é: graph B
wait_for 10 notice_about "raph B" || fail "fr: Ctrl with the key of 2 does not switch the graph: '$(value notice)'"
echo "ok: Ctrl and a digit in the layout fr"
setxkbmap us
quit_window
