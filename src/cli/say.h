/*
 * say.h - wires: operations in words, shared by status, list, find and show.
 *
 * Every text is appended raw: the caller's printing escapes it (out_safe,
 * table cells, out_wrap). No payload value passes through here.
 */
#ifndef EDCSYNC_CLI_SAY_H
#define EDCSYNC_CLI_SAY_H

#include "cli/command.h"
#include "core/words.h"

const char *say_glyph(const struct out *, const struct op *);
enum tone say_tone(const struct op *);
/* words_op (core/words.h) with the commands that go on. */
void say_words(const struct op *, const char *why, int64_t now_ms,
	       int offset_min, struct buf *);
/* Fields of one operation into the object that is open. attempts_array:
 * leaves `attempts` to the caller and writes `attempts_used`. */
void say_op_json(struct out *, const struct view_op *, bool attempts_array);
void say_flags_json(struct out *, unsigned flags);

/* What every reading command needs: configuration, now, zone, me. */
struct view_page say_page(const struct cli *);
/* "reading the store failed: ..." and its exit code. */
int say_trouble(const struct cli *, int64_t rc);

#endif
