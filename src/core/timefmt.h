/*
 * timefmt.h - floor 0: times as text; never the C library's locale or zone.
 * Field reports B001-B008.
 */
#ifndef EDCSYNC_CORE_TIMEFMT_H
#define EDCSYNC_CORE_TIMEFMT_H

#include "core/base.h"

struct answer;

#define TIME_TEXT 32
/* 2026-11-29T14:02:31.120Z */
void time_utc(int64_t ms, char out[TIME_TEXT]);
/* 2026-11-29T15:02:31.120+01:00 */
void time_local(int64_t ms, int offset_min, char out[TIME_TEXT]);
/* RFC 3339 with or without fraction; a time without offset is taken in
 * default_offset_min. False when it is none. */
bool time_parse(struct span, int default_offset_min, int64_t *ms);
/* All three HTTP date forms (RFC 9110 5.6.7). */
bool time_http(struct span, int64_t now_ms, int64_t *ms);
/* Whole seconds, fractions (rounded up), dates (against Date when given).
 * -1: no header. Nonsense, negative, past: 0 with *odd set. Saturates. */
int64_t time_retry_after(const struct answer *, int64_t now_ms, bool *odd);
/* "90s", "15m", "2h", "1d", "250ms", bare seconds. */
bool duration_parse(struct span, int64_t *ms);
/* "42s", "3m05s", "2h14m", "3d04h". */
void duration_text(int64_t ms, char out[TIME_TEXT]);

#endif
