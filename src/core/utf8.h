/*
 * utf8.h - floor 0: strict UTF-8, visible escapes, cell width.
 *
 * Untrusted text reaches a screen, a table or a log only through
 * utf8_escape (reference/standards: terminal safety). The escaping is
 * injective: a backslash that could be read as one of ours is doubled.
 */
#ifndef EDCSYNC_CORE_UTF8_H
#define EDCSYNC_CORE_UTF8_H

#include "core/base.h"

/* Decodes one character at p; returns its length, 0 if invalid there. */
size_t utf8_decode(const char *p, size_t n, uint32_t *cp);
void utf8_encode(struct buf *, uint32_t cp);	/* surrogates as WTF-8 */
bool utf8_valid(struct span);
size_t utf8_count(struct span);			/* characters */
/* -1: not to be drawn (escape it), 0 combining, 1, 2. Our own table. */
int utf8_width(uint32_t cp);
/* Visible form: no C0, C1, DEL, bidi, zero width, invalid byte survives; at
 * most 4 combining marks a base. ascii_only escapes all non-ASCII. */
void utf8_escape(struct buf *out, struct span, bool ascii_only);
/* Escaped, then cut to at most `cells` wide with an ellipsis. */
void utf8_fit(struct buf *out, struct span, int cells, bool ascii_only);
int utf8_cells(struct span escaped);

#endif
