/*
 * say.h - wires: operations in words, shared by status, list, find and show.
 *
 * Every text is appended raw: the caller's printing escapes it (out_safe,
 * table cells, out_wrap). No payload value passes through here.
 */
#ifndef EDCSYNC_CLI_SAY_H
#define EDCSYNC_CLI_SAY_H

#include "cli/command.h"

/* "✗ given up", "? may be there" where the outcome is unknown and nothing
 * moves by itself any more. */
void say_state(const struct out *, const struct op *, struct buf *);
const char *say_glyph(const struct out *, const struct op *);
enum tone say_tone(const struct op *);
/* "1001-014 VITALS V2[3]"; a record key where one names the record. */
void say_record(const struct op *, struct buf *);
/* "V2[3]", "AE[2]", or "" */
void say_part(const char *oid, const char *repeat, struct buf *);
/* "14:03", "11-28 14:03", "2025-11-28"; "-" for 0. */
void say_clock(int64_t ms, int64_t now_ms, int offset_min, struct buf *);
/* The same, but "now" for the last minute. */
void say_when(int64_t ms, int64_t now_ms, int offset_min, struct buf *);
/* "2h14m" since then; "-" for 0. */
void say_age(int64_t since_ms, int64_t now_ms, struct buf *);
/* "+01:00" */
void say_zone(int offset_min, struct buf *);
/* Plain sentences a person can read out on the phone: where it is, what
 * follows, what the listener need not do. Ends without a newline. */
void say_words(const struct view_op *, int64_t now_ms, int offset_min,
	       struct buf *);
/* Fields of one operation into the object that is open. attempts_array:
 * leaves `attempts` to the caller and writes `attempts_used`. */
void say_op_json(struct out *, const struct view_op *, bool attempts_array);
void say_flags_json(struct out *, unsigned flags);

/* What every reading command needs: configuration, now, zone, me. */
struct view_page say_page(const struct cli *);
/* "reading the store failed: ..." and its exit code. */
int say_trouble(const struct cli *, int64_t rc);

#endif
