#!/usr/bin/env python3
"""Writes utf8_table.c from Python's own Unicode data (here: Unicode 14).

Width of a cell, -1 = not to be drawn: the rules of utf8.h, in order below.
Run it again only to move to another Unicode version; utf8_table.c is kept in
the repository so that a build needs no Python.
"""
import textwrap
import unicodedata as u

KEPT_FORMATS = set(range(0x600, 0x606)) | {0x6DD, 0x70F, 0x8E2, 0x110BD}
IGNORABLE = ({0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0} |
             set(range(0x180B, 0x1810)) | set(range(0xFE00, 0xFE10)) |
             set(range(0xFFF9, 0xFFFC)) | set(range(0xE0000, 0xE01F0)))


def width(cp):
    c = chr(cp)
    cat = u.category(c)
    if cp in KEPT_FORMATS:
        return 1
    if cp in IGNORABLE or cat in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return -1
    if cat in ("Mn", "Me"):
        return 0
    # Medial vowels and final consonants of Hangul join the one before.
    if 0x1161 <= cp <= 0x11FF or 0xD7B0 <= cp <= 0xD7FB:
        return 0
    return 2 if u.east_asian_width(c) in "WF" else 1


def kind(cp):
    cat = u.category(chr(cp))
    if cat[0] in "LN":
        return 1
    return 2 if cat[0] == "M" and width(cp) >= 0 else 0


def fold(cp):
    """Simple case folding: one character to one."""
    for f in (chr(cp).casefold(), chr(cp).lower()):
        if len(f) == 1:
            return ord(f)
    return cp


def runs(of):
    last, out = None, []
    for cp in range(0x110000):
        value = of(cp)
        if value != last:
            out.append((cp, value))
            last = value
    return out


def fold_ranges():
    """(first, last, stride, distance) of characters folded alike."""
    out = []
    for cp in range(0x110000):
        d = fold(cp) - cp
        if not d:
            continue
        if out:
            first, last, stride, dist = out[-1]
            step = cp - last
            if dist == d and step <= 2 and stride in (0, step):
                out[-1] = (first, cp, step, d)
                continue
        out.append((cp, cp, 0, d))
    return [(a, b, s or 1, d) for a, b, s, d in out]


def lines(cells):
    text = textwrap.fill(" ".join(cells), 72)
    print("\t" + text.replace("\n", "\n\t").replace("\u00a0", " "))


def table(name, words):
    print(f"\nconst uint32_t {name}[] = {{")
    lines("0x%x," % w for w in words)
    print("};")
    print(f"const size_t {name}_n =\n\tsizeof({name}) / sizeof({name}[0]);")


print(f"""/* Written by utf8_table.py from Unicode {u.unidata_version}; do not edit. */
#include "core/utf8_table.h"

/* Where a run starts, times 4, plus its width + 1. */""", end="")
table("utf8_width_runs", [cp << 2 | (w + 1) for cp, w in runs(width)])
print("\n/* Where a run starts, times 4, plus 1 letter or digit, 2 mark. */",
      end="")
table("utf8_kind_runs", [cp << 2 | k for cp, k in runs(kind)])
print("""
/* Sorted; every stride-th of first..last moves by distance. */
const struct utf8_fold_range utf8_fold_ranges[] = {""")
lines("{0x%x,\u00a00x%x,\u00a0%d,\u00a0%d}," % r for r in fold_ranges())
print("""};
const size_t utf8_fold_ranges_n = sizeof(utf8_fold_ranges) /
\tsizeof(utf8_fold_ranges[0]);""")
