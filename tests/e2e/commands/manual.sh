#!/usr/bin/env bash
# The manual page documents every option of every --help, and every environment variable that the sources read.
# shellcheck source=../common/harness.sh
. "$(dirname "$0")/../common/harness.sh"

page=$WORK/lensd.1
expect 0 manual
cp "$WORK/stdout" "$page"
plain=$(sed 's/\\f[BIR]//g; s/\\-/-/g; s/\\(ti/~/g' "$page")

expect 0 --help
mapfile -t commands < <(sed -n '/^Commands$/,/^$/s/^  \([a-z]*\) .*/\1/p' "$WORK/stdout")
((${#commands[@]} >= 8)) || fail "--help lists only these commands: ${commands[*]}"
for command in '' "${commands[@]}"; do
  expect 0 ${command:+"$command"} --help
  # Options are at the start of the rows: "  -o, --output FILE   text".
  mapfile -t options < <(sed -n 's/^  \(-[^ ]*\(, -[^ ]*\)*\).*/\1/p' "$WORK/stdout" | tr -d ' ' | tr , '\n' | sed 's/\[.*//')
  [[ -z $command && ${#options[@]} -lt 30 ]] && fail "--help lists only these options: ${options[*]}"
  for option in "${options[@]}"; do
    grep -qE -- "(^|, )$option([ ,=]|\[|\$)" <<<"$plain" || fail "the page does not document $command $option"
  done
  [[ -z $command ]] || grep -qF "lensd $command" <<<"$plain" || fail "the page does not document $command"
done
echo "ok: the page documents all options"

sections=$(sed -n 's/^\.SH "*\([A-Z ]*\)"*$/\1/p' "$page" | paste -sd,)
[[ $sections == NAME,SYNOPSIS,DESCRIPTION,OPTIONS,COMMANDS,* && $sections == *,"EXIT STATUS",ENVIRONMENT,FILES,EXAMPLES,"SEE ALSO" ]] ||
  fail "the page has the sections $sections"
echo "ok: the page has its sections"

sources=$(cd "$(dirname "$0")/../../.." && pwd)
mapfile -t variables < <(grep -rhoE '(getenv|absolute_from|home_folder|variable|find\(layers.environment,)[( ]"[A-Za-z_]+"' \
  "$sources/app" "$sources/core" "$sources/ui" "$sources/kernels" | sed 's/.*"\(.*\)"/\1/' | sort -u)
((${#variables[@]} >= 15)) || fail "the sources read only ${variables[*]}"
for variable in "${variables[@]}"; do
  grep -qx -- "$variable" <<<"$plain" || fail "the page does not document the variable $variable"
done
echo "ok: the page documents ${#variables[@]} variables"

! command -v man >/dev/null || ! command -v groff >/dev/null || {
  warnings=$(man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
  [[ -z $warnings ]] || fail "troff warns: $warnings"
  echo "ok: troff reports nothing"
}
