# Completion for bash. Options and subcommands come from the program itself, so that they are always its own.

_lensd_options() {
  # shellcheck disable=SC2086  # none is no argument
  lensd $1 --help 2>/dev/null | grep -oE -- '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,'
}

_lensd() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} sub="" w
  for w in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $w in serve | ctl | check | filters | doctor | bench) sub=$w && break ;; esac
  done
  COMPREPLY=()
  case $before in
    --backend) mapfile -t COMPREPLY < <(compgen -W 'auto cuda cpu' -- "$word") && return ;;
    --hwdec) mapfile -t COMPREPLY < <(compgen -W 'auto cuda no' -- "$word") && return ;;
    --msg-level) mapfile -t COMPREPLY < <(compgen -W 'trace debug info warn error off' -- "$word") && return ;;
    --graph)
      mapfile -t COMPREPLY < <(compgen -W "$(lensd filters 2>/dev/null | awk '{print $1}')" -- "$word")
      return
      ;;
  esac
  if [[ $sub =~ ^(filters|bench)$ && $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(lensd filters 2>/dev/null | awk '{print $1}')" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_lensd_options "$sub")" -- "$word")
  else
    ((COMP_CWORD > 1)) || mapfile -t COMPREPLY < <(compgen -W 'serve ctl check filters doctor bench' -- "$word")
    compopt -o filenames 2>/dev/null
    local files
    mapfile -t files < <(compgen -f -- "$word")
    COMPREPLY+=("${files[@]}")
  fi
}
complete -F _lensd lensd
