#!/bin/sh
# What is written about the program is what the program does: every command
# and option of --help stands in the man page and in the completion, man
# pages render in silence, and the README names only commands that exist.
set -u
top=${top_srcdir:-$(dirname "$0")/..}
build=${top_builddir:-.}
EDCSYNC=${EDCSYNC:-$build/edcsync}
EDCSIM=${EDCSIM:-$build/edcsim}
dir=$(mktemp -d || mktemp -d /tmp/edcsync-docs-XXXXXX) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
wrong() { printf '%s\n' "$*"; bad=1; }

help_commands() {
  "$EDCSYNC" --help |
    sed -n '/^Commands:/,/^$/s/^  \(.\{18\}\).*/\1/p' | sed 's/ *$//'
}
help_options() { # COMMAND-WORDS...
  "$EDCSYNC" "$@" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort -u
}

"$EDCSYNC" --man >"$dir/edcsync.1" || wrong "--man fails"
"$EDCSYNC" --man=5 >"$dir/edcsync.json.5" || wrong "--man=5 fails"
cp "$top/share/man/edcsim.1" "$dir"
help_commands >"$dir/commands"
[ "$(wc -l <"$dir/commands")" -gt 20 ] || wrong "no commands in --help"

# The man page: each command's part has its options.
plain() { sed -e 's/\\f[BIR]//g' -e 's/\\-/-/g' "$1"; }
plain "$dir/edcsync.1" >"$dir/page"
while IFS= read -r command; do
  grep -qxF ".SS $command" "$dir/page" || wrong "man page: no '$command'"
  # shellcheck disable=SC2086
  for option in $(help_options $command </dev/null); do
    awk -v c=".SS $command" '/^\.S[SH] /{on = $0 == c || $0 == ".SH OPTIONS"}
      on' "$dir/page" | grep -qE "^$option(=|\$)" ||
      wrong "man page: '$command' has no $option"
  done
done <"$dir/commands"

# Settings: every key of the example stands in edcsync.json(5).
plain "$dir/edcsync.json.5" >"$dir/page5"
"$EDCSYNC" config example |
  sed -n 's/^ *"\([a-z_]*\)":.*/\1/p' | sort -u | grep -vx example |
  while IFS= read -r key; do
    grep -qE "^\.B (.*\.)?$key(\.|\$)" "$dir/page5" ||
      echo "edcsync.json(5): no $key"
  done >"$dir/missing"
[ -s "$dir/missing" ] && wrong "$(cat "$dir/missing")"

# edcsim(1): options, actions, scenarios.
plain "$dir/edcsim.1" >"$dir/page-sim"
for word in $("$EDCSIM" --help | grep -oE -- '--[a-z]+' | sort -u) \
  $("$EDCSIM" --actions | cut -d' ' -f1) $("$EDCSIM" --list); do
  grep -qF -- "$word" "$dir/page-sim" || wrong "edcsim(1): no $word"
done

# Order of the sections, and renderers without a word.
for page in edcsync.1 edcsync.json.5 edcsim.1; do
  got=$(sed -n 's/^\.SH "\{0,1\}\([A-Z ]*\)"\{0,1\}$/\1/p' "$dir/$page" |
    grep -v COMMANDS)
  want=
  for s in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' ENVIRONMENT \
    FILES NOTES EXAMPLES 'SEE ALSO'; do
    printf '%s\n' "$got" | grep -qxF "$s" && want="$want$s
"
  done
  [ "$got
" = "$want" ] || wrong "$page: sections out of order: $got"
  if command -v mandoc >/dev/null; then
    out=$(mandoc -Tlint -Wwarning "$dir/$page" 2>&1)
    [ -z "$out" ] || wrong "mandoc: $out"
  fi
  if command -v groff >/dev/null; then
    out=$(groff -man -Tutf8 -ww -z -rLL=78n "$dir/$page" 2>&1)
    [ -z "$out" ] || wrong "groff: $page: $out"
  fi
done

# The completion offers what --help has, for bash ...
complete_bash() { # words, the last one to be completed
  bash --norc -c '
    . "$1"; shift
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _edcsync; printf "%s\n" "${COMPREPLY[@]}"' - \
    "$top/share/completions/edcsync.bash" "$EDCSYNC" "$@"
}
if command -v bash >/dev/null; then
  bash -n "$top/share/completions/edcsync.bash" || wrong "bash -n"
  complete_bash '' >"$dir/offer"
  cut -d' ' -f1 "$dir/commands" | sort -u >"$dir/want"
  sort -u "$dir/offer" | diff "$dir/want" - || wrong "bash: commands"
  complete_bash audit '' | sort >"$dir/offer"
  sed -n 's/^audit //p' "$dir/commands" | sort | diff - "$dir/offer" ||
    wrong "bash: audit ..."
  while IFS= read -r command; do
    # shellcheck disable=SC2086
    help_options $command </dev/null >"$dir/want"
    # shellcheck disable=SC2086
    complete_bash $command -- </dev/null | sed 's/=$//' | sort -u |
      diff "$dir/want" - || wrong "bash: options of $command"
  done <"$dir/commands"
  [ "$(complete_bash replay --rea)" = "--reason=
--reason-code=" ] || wrong "bash: replay --rea"
  [ "$(complete_bash classify --transport = tim)" = timeout ] ||
    wrong "bash: classify --transport=tim"
  complete_bash --store x classify --profile '' | grep -qx generic-rest ||
    wrong "bash: names of profiles"
fi

# ... and for zsh, by the functions that it is made of.
if command -v zsh >/dev/null; then
  zsh -n "$top/share/completions/_edcsync" || wrong "zsh -n"
  sed '/^_edcsync "\$@"$/d' "$top/share/completions/_edcsync" >"$dir/zsh"
  zsh -fc '. "$1"; _edcsync_commands "$2"' - "$dir/zsh" "$EDCSYNC" |
    cut -d: -f1 | diff "$dir/commands" - || wrong "zsh: commands"
  zsh -fc '. "$1"; _edcsync_options "$2" replay' - "$dir/zsh" "$EDCSYNC" |
    sed 's/^\*\{0,1\}\(--[a-z-]*\).*/\1/' | sort -u >"$dir/offer"
  help_options replay | diff - "$dir/offer" || wrong "zsh: options of replay"
fi

# README and HACKING name commands that exist.
for text in README.md HACKING.md; do
  grep -oE '(^|[`$ (])edcsync [a-z][a-z-]+( [a-z][a-z-]+)?' "$top/$text" |
    sed 's/.*edcsync //' | sort -u |
    while read -r one two; do
      # In prose "edcsync delivers" is no command: only those in code count.
      grep -qE "[\`\$(] *edcsync $one|^    .*edcsync $one" "$top/$text" ||
        continue
      cut -d' ' -f1 "$dir/commands" | grep -qxF "$one" ||
        echo "$text: there is no 'edcsync $one'"
      grep -qxF "$one" "$dir/commands" ||
        grep -qxF "$one $two" "$dir/commands" ||
        echo "$text: there is no 'edcsync $one $two'"
    done
done >"$dir/readme"
[ -s "$dir/readme" ] && wrong "$(sort -u "$dir/readme")"

# What tests and programs read is in the distribution.
for file in $(cd "$top" && find tests/e2e tests/vectors tests/fuzz/corpus \
  share -type f ! -name '*.pyc'); do
  name=${file#share/}
  case $file in
  share/man/edcsync*) continue ;;
  *.in) name=${name%.in} ;;
  esac
  grep -qF "$name" "$top"/tests/local.mk "$top"/tests/fuzz/local.mk \
    "$top"/share/local.mk || wrong "$file: in no local.mk, so in no release"
done

[ $bad -eq 0 ] && echo "docs: what is written is what there is"
exit $bad
