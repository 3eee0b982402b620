// The scripts that connect the shells with `lensd __complete`.

#include "app/help/completion.hpp"
#include "core/base/error.hpp"

namespace lensd {
namespace {

constexpr const char* kBash = R"sh(# Completion of lensd for bash, printed by `lensd completion bash`.
_lensd() {
  local line=${COMP_LINE:0:COMP_POINT} words word path name one full cut="" i
  read -a words <<<"$line" # without -r: a backslash quotes the next character
  [[ $line != *[[:blank:]] ]] || words+=("")
  [[ ${words[0]} != "~/"* ]] || words[0]=$HOME/${words[0]#"~/"} # it is run below
  word=${words[-1]}
  # bash replaces only what follows the last of these characters.
  for ((i = ${#word} - 1; i >= 0; --i)); do
    if [[ $COMP_WORDBREAKS == *"${word:i:1}"* ]]; then
      cut=${word:0:i+1}
      break
    fi
  done
  path=$word
  [[ $word != --*=* ]] || path=${word#*=}
  COMPREPLY=()
  while IFS=$'\t' read -r name _; do
    case $name in
      :files | :folders)
        while IFS= read -r one; do
          full=${word%"$path"}$one
          COMPREPLY+=("${full#"$cut"}")
          compopt -o filenames 2>/dev/null
        done < <(if [[ $name == :files ]]; then compgen -f -- "$path"; else compgen -d -- "$path"; fi)
        ;;
      *) COMPREPLY+=("${name#"$cut"}") ;;
    esac
  done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
  # Values follow these directly.
  [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[=:/,.] ]] || compopt -o nospace 2>/dev/null
}
complete -F _lensd lensd
)sh";

constexpr const char* kZsh = R"sh(#compdef lensd
# Completion of lensd for zsh, printed by `lensd completion zsh`.
_lensd() {
  local -a lines given plain open
  local line word doc paths=''
  (( CURRENT > 2 )) && given=("${(@Q)words[2,CURRENT-1]}")
  lines=("${(@f)$("${(Q)words[1]}" __complete "${given[@]}" "${(Q)PREFIX}" 2>/dev/null)}")
  for line in "${lines[@]}"; do
    word=${line%%$'\t'*}
    doc=${line#*$'\t'}
    case $word in
      '') ;;
      :files | :folders) paths=$word ;;
      *[=:/,.]) open+=("${word//:/\\:}:$doc") ;; # values follow these directly
      *) plain+=("${word//:/\\:}:$doc") ;;
    esac
  done
  (( $#plain )) && _describe 'lensd' plain
  (( $#open )) && _describe 'lensd' open -S ''
  if [[ -n $paths ]]; then
    [[ $PREFIX != --*=* ]] || compset -P '*='
    if [[ $paths == :folders ]]; then _files -/; else _files; fi
  fi
}
if [[ ${funcstack[1]} == _lensd ]]; then _lensd "$@"; else compdef _lensd lensd; fi
)sh";

constexpr const char* kFish = R"sh(# Completion of lensd for fish, printed by `lensd completion fish`.
function __lensd_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l path (string replace -r -- '^--[^=]*=' '' $words[-1])
    set -l before (string replace -r -- '^(--[^=]*=)?.*' '$1' $words[-1])
    for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                for one in (__fish_complete_path $path)
                    echo "$before$one"
                end
            case :folders
                for one in (__fish_complete_directories $path)
                    echo "$before$one"
                end
            case '*'
                echo $line
        end
    end
end
complete -c lensd -f -a '(__lensd_complete)'
)sh";

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  throw Error(ExitCode::usage, "completion", "'" + shell + "' is not one of bash, zsh, fish");
}

}  // namespace lensd
