/*
 * utf8.h - floor 0: strict UTF-8, visible escapes, cell width, folding.
 *
 * Untrusted text reaches a screen, a table or a log only through
 * utf8_escape (reference/standards: terminal safety). The escaping is
 * injective: what is shown tells exactly what was there.
 *
 *   \n \t \r          those three
 *   \x1b              any other C0, DEL (below 0x80), and each byte that is
 *                     no UTF-8 (from 0x80)
 *   \u{202e}          characters not to be drawn: C1, bidi controls,
 *                     line separators, all zero width and format characters,
 *                     private use, noncharacters, unassigned; a combining
 *                     mark without a base before it, or more than
 *                     UTF8_MARKS_MAX on one
 *   \\                a backslash that would otherwise be read as one of ours
 *                     (before n t r x u, before a backslash, before an
 *                     escape)
 *
 * Everything else stays as it is. Tables: Unicode 14, utf8_table.py.
 */
#ifndef EDCSYNC_CORE_UTF8_H
#define EDCSYNC_CORE_UTF8_H

#include "core/base.h"

#define UTF8_MARKS_MAX 4

/* Decodes one character at p; returns its length, 0 if invalid there. */
size_t utf8_decode(const char *p, size_t n, uint32_t *cp);
void utf8_encode(struct buf *, uint32_t cp);	/* surrogates as WTF-8 */
bool utf8_valid(struct span);
size_t utf8_count(struct span);			/* characters; a bad byte is
						 * one */
/* -1: not to be drawn (escape it), 0 combining, 1, 2. Our own table. */
int utf8_width(uint32_t cp);
/* Visible form, appended: no C0, C1, DEL, bidi, zero width, invalid byte
 * survives; at most UTF8_MARKS_MAX combining marks a base. ascii_only
 * escapes all non-ASCII. */
void utf8_escape(struct buf *out, struct span, bool ascii_only);
/* The last guard before a terminal, for a sentence whose parts may or may not
 * be escaped already: backslashes stay as they are, so it is not injective,
 * and doing it twice changes nothing. */
void utf8_guard(struct buf *out, struct span, bool ascii_only);
/* Escaped, then cut to at most `cells` wide with an ellipsis (one cell: the
 * character, or '~' where ascii_only); never inside a wide cell or an
 * escape. Cells 0 or less: nothing. */
void utf8_fit(struct buf *out, struct span, int cells, bool ascii_only);
/* Width of a text that is escaped already. */
int utf8_cells(struct span escaped);

/* Case folding, one character to one (Unicode's simple folding of all
 * scripts: Latin, Greek, Cyrillic, ...; no German ss, no Turkish i, accents
 * stay). utf8_fold(utf8_fold(c)) == utf8_fold(c). */
uint32_t utf8_fold(uint32_t cp);
void utf8_fold_text(struct buf *out, struct span);	/* bad bytes stay */
/* Letter or digit of any script; or a mark, which belongs to the letter
 * before it. */
enum utf8_kind { UTF8_OTHER, UTF8_LETTER, UTF8_MARK };
enum utf8_kind utf8_kind(uint32_t cp);

#endif
