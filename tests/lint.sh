#!/bin/sh
# Style is a test: floors, library doors, headers that compile alone,
# function, line and file length, banned calls. Each finding names file and
# line. Run by make check; by hand: tests/lint.sh [SRCDIR]
set -u
top=${1:-${top_srcdir:-$(dirname "$0")/..}}
cc=${CC:-cc}
cd "$top" || exit 1
bad=0
found() { printf '%s\n' "$1"; bad=1; }

sources=$(find src store ui tests -name '*.[ch]' | sort)

# floors: a lower one never includes a higher one
floor() { # room, what it may include
  for f in $(find "$1" -name '*.[ch]'); do
    grep -nE '^#include "' "$f" | grep -vE "^[0-9]+:#include \"($2)" |
      while IFS= read -r line; do
        printf '%s:%s  (not allowed on this floor)\n' "$f" "$line"
      done
  done
}
out=$(floor src/core 'core/')
[ -z "$out" ] || found "$out"
out=$(floor store 'core/|store/')
[ -z "$out" ] || found "$out"
out=$(floor src/engine 'core/|store/|engine/')
[ -z "$out" ] || found "$out"
out=$(floor ui 'core/|store/view\.h|store/act\.h|store/operator\.h|ui/')
[ -z "$out" ] || found "$out"
out=$(floor src/sim 'core/|sim/|config\.h|cli/embedded\.h')
[ -z "$out" ] || found "$out"

# doors: each big library is included by one file; SQLite calls a second
door() { # header, the one file
  out=$(grep -rnE "^#include <$1>" src store ui | grep -v "^$2:")
  [ -z "$out" ] || found "$out  (the door of $1 is $2)"
}
door 'sqlite3\.h' 'store/\(db\|vfs\)\.c'
door 'curl/curl\.h' src/engine/wire.c
door 'microhttpd\.h' src/sim/http.c
door 'cJSON\.h' src/sim/control.c
door 'curses\.h' ui/term.c
door 'libxml/.*\.h' src/core/xml.c

# banned calls: unbounded, locale- or zone-dependent, shell, sleeping
out=$(grep -nE '(^|[^_A-Za-z0-9.>])(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|strncpy|strncat|alloca|system|popen|sleep|usleep|nanosleep|mktime|strptime|ctime|asctime|setenv|putenv|tmpnam|tempnam|rand|random) *\(' \
  $(printf '%s\n' $sources | grep -v '^tests/') /dev/null |
  grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' || :)
[ -z "$out" ] || found "$out  (banned call)"

# length: 80 columns (100 where a text must not be broken), functions of 70
# lines, files of 800
for f in $sources; do
  out=$(awk -v file="$f" '
    {
      w = 0
      n = length($0)
      for (i = 1; i <= n; i++)
        w = substr($0, i, 1) == "\t" ? w + 8 - w % 8 : w + 1
      if (w > 100 || (w > 80 && index($0, "\"") == 0))
        printf "%s:%d: %d columns wide\n", file, NR, w
    }
    /^{/ { start = NR }
    /^}/ {
      if (start && NR - start - 1 > 70)
        printf "%s:%d: function of %d lines\n", file, start, NR - start - 1
      start = 0
    }
    / $|\t$/ { printf "%s:%d: blanks at the end\n", file, NR }
    END { if (NR > 800) printf "%s: %d lines\n", file, NR }' "$f")
  [ -z "$out" ] || found "$out"
done

# headers compile alone
for h in $(find src store ui -name '*.h'); do
  out=$($cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Isrc -I. \
    ${LINT_CPPFLAGS-} -fsyntax-only -x c "$h" 2>&1) ||
    found "$h does not compile alone: $out"
done

# a rule for the log of a test program takes automake's own rule away, and the
# test never runs (scripts have suffix rules)
out=$(grep -nE '^tests/[a-z_/]*\.log:' tests/local.mk tests/fuzz/local.mk \
  ui/local.mk store/local.mk src/*/local.mk | grep -v 'test_docs\.log')
[ -z "$out" ] || found "$out  (a test that never runs)"

# a file of the house is in the build
for f in $(find src store ui -name '*.[ch]'); do
  grep -qF "$f" src/*/local.mk store/local.mk ui/local.mk || found "$f: in no local.mk"
done

# words that do not belong in a repository
out=$(grep -rnE '\b(TODO|FIXME|XXX)\b' src store ui share bootstrap 2>/dev/null)
[ -z "$out" ] || found "$out"

[ $bad -eq 0 ] && echo "lint: clean" && exit 0
exit 1
