#!/bin/sh
# Turns files into C arrays: embed.sh SRCDIR FILE... > embedded.c
# Names are kept relative to share/: profiles/generic-rest.json
set -eu
src=$1
shift
echo '/* Made by share/embed.sh; do not edit. */'
echo '#include "cli/embedded.h"'
n=0
for f in "$@"; do
  printf 'static const unsigned char file_%d[] = {\n' "$n"
  od -An -v -tu1 "$src/share/$f" |
    sed -e 's/^ *//' -e 's/  */,/g' -e 's/$/,/'
  echo '0};'
  n=$((n + 1))
done
echo 'const struct embedded embedded_files[] = {'
n=0
for f in "$@"; do
  printf '\t{"%s", file_%d, sizeof(file_%d) - 1},\n' "$f" "$n" "$n"
  n=$((n + 1))
done
echo '	{0, 0, 0}'
echo '};'
