/*
 * timefmt.h - floor 0: times as text; never the C library's locale or zone.
 * Field reports B001-B008.
 *
 * A time is milliseconds of UTC since 1970, proleptic Gregorian, without
 * leap seconds (a :60 reads as the second that follows). "Now" is always an
 * argument. Texts are for years 0000 to 9999; times outside are clamped to
 * them, so that a broken clock still prints.
 */
#ifndef EDCSYNC_CORE_TIMEFMT_H
#define EDCSYNC_CORE_TIMEFMT_H

#include "core/base.h"

struct answer;

#define TIME_TEXT 32
/* Where waits saturate: far beyond any use, yet now + wait cannot wrap. */
#define TIME_MS_MAX (INT64_MAX / 4)

/* 2026-11-29T14:02:31.120Z */
void time_utc(int64_t ms, char out[TIME_TEXT]);
/* +01:00 */
#define TIME_OFFSET_TEXT 7
void time_offset(int offset_min, char out[TIME_OFFSET_TEXT]);
/* 2026-11-29T15:02:31.120+01:00; offset within a day either way. */
void time_local(int64_t ms, int offset_min, char out[TIME_TEXT]);
/* Sun, 29 Nov 2026 14:02:31 GMT (RFC 9110 5.6.7, the form to send). */
void time_http_text(int64_t ms, char out[TIME_TEXT]);

/* RFC 3339 with or without fraction (cut to milliseconds), 'T' or a space; a
 * time without offset is taken in default_offset_min. False when it is
 * none. */
bool time_parse(struct span, int default_offset_min, int64_t *ms);
/* What a person types: as time_parse, or a date alone (its midnight), or
 * without seconds, or hh:mm[:ss] of the day that now is in that zone. */
bool time_parse_person(struct span, int64_t now_ms, int default_offset_min,
		       int64_t *ms);
/* All three HTTP date forms (RFC 9110 5.6.7), case as the RFC has it. The
 * day's name must be one but need not agree with the date. now_ms decides
 * the century of a two-digit year: the latest that is not more than 50 years
 * ahead. */
bool time_http(struct span, int64_t now_ms, int64_t *ms);
/* Whatever servers write for an instant: an HTTP date, RFC 3339 (without an
 * offset: UTC), or what JavaScript prints. */
bool time_date(struct span, int64_t now_ms, int64_t *ms);
/* When it was there: the answer's own Date if it tells one, else now. */
int64_t time_answered(const struct answer *, int64_t now_ms);

/*
 * The wait an answer asks for, in ms, counted from its receipt: whole
 * seconds, fractions (rounded up to a second, B002), dates (against the
 * answer's own Date when given, so that a wrong clock here or there does
 * not matter, B001). -1: no header. Nonsense, negative, past: 0 with *odd
 * set, and the caller falls back to backoff with its floor. Saturates at
 * TIME_MS_MAX. Of several headers the longest wait counts (never early).
 */
int64_t time_retry_after(const struct answer *, int64_t now_ms, bool *odd);

/* "90s", "15m", "2h", "1d", "1w", "250ms", "1h30m", bare seconds. No sign,
 * no fraction; false as well beyond TIME_MS_MAX. */
bool duration_parse(struct span, int64_t *ms);
/* "42s", "3m05s", "2h14m", "3d04h"; rounded down, the sign in front. */
void duration_text(int64_t ms, char out[TIME_TEXT]);

#endif
