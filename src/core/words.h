/*
 * words.h - floor 0: operations and times in plain words, for command line
 * and console alike.
 *
 * Every text is appended raw: whoever shows it escapes it. No payload value
 * passes through here.
 */
#ifndef EDCSYNC_CORE_WORDS_H
#define EDCSYNC_CORE_WORDS_H

#include "core/op.h"

/* At rest, and nobody knows whether the vendor has it: shown as "?" and "may
 * be there". */
bool words_maybe_there(enum op_state, unsigned flags);
/* "✗ given up", "? may be there", "⊘ refused in part". */
const char *words_glyph(enum op_state, unsigned flags, bool ascii);
void words_state(const struct op *, bool ascii, struct buf *);

/* "1001-014 VITALS V2[3]"; a record key where one names the record. */
void words_record(const struct op *, struct buf *);
/* "V2[3]", "AE[2]", or "" */
void words_part(const char *oid, const char *repeat, struct buf *);

/* "14:03", "11-28 14:03", "2025-11-28"; "-" for 0. */
void words_clock(int64_t ms, int64_t now_ms, int offset_min, struct buf *);
/* The same, but "now" for the last minute. */
void words_when(int64_t ms, int64_t now_ms, int offset_min, struct buf *);
/* "2h14m" since then; "-" for 0. */
void words_age(int64_t since_ms, int64_t now_ms, struct buf *);
/* "+01:00" */
void words_zone(int offset_min, struct buf *);

/* A word of the shell, quoted where it needs it. */
void words_shell(struct buf *, const char *text);

/* Plain sentences a person can read out on the phone: where it is, what
 * follows, what the listener need not do. check, show: how that is done here
 * ("c", "edcsync check 01JF..."). Ends without a newline. */
struct words_how {
	const char *check, *show;
	int64_t now_ms;
	int offset_min;
};
void words_op(const struct op *, const char *why, const struct words_how *,
	      struct buf *);

#endif
