#!/usr/bin/env bash
# The completion scripts in bash, and in zsh and fish if they are installed.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"

mkdir -p "$WORK/bin" "$WORK/there/folder"
ln -s "$(realpath "$LENSD")" "$WORK/bin/lensd"
export PATH=$WORK/bin:$PATH
cd "$WORK/there" || exit 1
: >clip.mp4 && : >"a:b.mkv"
for shell in bash zsh fish; do
  expect 0 completion "$shell"
  cp "$WORK/stdout" "$WORK/lensd.$shell"
done
refused 2 csh completion csh

# completed SHELL LINE: prints what the shell would offer for the word at the end of the line, one per line.
completed_bash() {
  bash --norc -c 'source "$1"
    COMP_LINE=$2 COMP_POINT=${#2}
    _lensd && printf "%s\n" "${COMPREPLY[@]}"' bash "$WORK/lensd.bash" "$1"
}
completed_fish() {
  HOME=$WORK fish --no-config -c "source $WORK/lensd.fish; complete -C '$1'" | cut -f 1
}
# Replaces the functions that need zsh's line editor with functions that print.
completed_zsh() {
  zsh -f -c 'source "$1" 2>/dev/null
    _describe() { local name; for name in "${(@P)2}"; do name=${name//\\:/$'"'\\\\1'"'}; print -r -- ${${name%%:*}//$'"'\\\\1'"'/:}; done; }
    _files() { if [[ $1 == -/ ]]; then print -rl -- ${PREFIX}*(N-/); else print -rl -- ${PREFIX}*(N); fi; }
    compset() { PREFIX=${PREFIX#*=}; }
    compdef() { :; }
    words=("${(@s: :)2}") CURRENT=${#words} PREFIX=${words[-1]}
    _lensd' zsh "$WORK/lensd.zsh" "$1"
}

# offers LINE WORD…: fails unless $shell offers all these words.
offers() {
  local line=$1 given word
  shift
  given=$("completed_$shell" "$line")
  for word in "$@"; do
    grep -qxF -- "$word" <<<"$given" || fail "$shell: '$line' gives '${given//$'\n'/ }' without '$word'"
  done
}

for shell in bash zsh fish; do
  command -v "$shell" >/dev/null || continue
  offers 'lensd --gra' --graph
  offers 'lensd --backend ' auto cpu cuda
  offers 'lensd ctl log-le' log-level
  offers 'lensd filters med' median
  offers 'lensd -c pri' privacy
  offers 'lensd cl' clip.mp4
  offers 'lensd doc' doctor
  [[ -z $("completed_$shell" 'lensd --frames ') ]] || fail "$shell: --frames offers something"
done

# bash replaces only the part after '=', ':' and ','.
shell=bash
offers 'lensd --backend=cp' cpu
offers 'lensd --graph median=radius=1,gauss' 1,gaussian
offers 'lensd test:de' demo
offers 'lensd a:' b.mkv
offers 'lensd --output=cl' clip.mp4
# shellcheck disable=SC2088  # the completion replaces the tilde
HOME=$WORK offers '~/bin/lensd --gra' --graph
offers 'lensd --screenshot-directory ' folder
[[ $(completed_bash 'lensd --screenshot-directory ') != *clip* ]] || fail "bash: a file is offered as a folder"
for shell in zsh fish; do
  command -v "$shell" >/dev/null || continue
  offers 'lensd --backend=cp' --backend=cpu
  offers 'lensd --graph median=radius=1,gauss' median=radius=1,gaussian
  offers 'lensd test:de' test:demo
done
echo "ok"
