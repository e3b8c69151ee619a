/*
 * lines.h - wires: lines of a file or standard input, bounded. An input that
 * cannot be read twice is spooled to an unnamed file beside the store, so
 * that its digest is known before its first line is taken.
 */
#ifndef EDCSYNC_CLI_LINES_H
#define EDCSYNC_CLI_LINES_H

#include "core/base.h"
#include "core/op.h"

struct lines {
	int fd;
	int64_t number;			/* of the line last given, from 1 */
	char *block;			/* owned */
	size_t at, filled;
	struct buf line;
	bool too_long, ended;
	int error;			/* errno of a failed read, 0 none */
};

/* name "-" is standard input. False with errno set. */
bool lines_open(struct lines *, const char *name, const char *spool_dir,
		sha256_hex digest);
void lines_close(struct lines *);
/* The next line without its end, valid until the next call; too_long is set
 * and the text empty when it is over LIMIT_LINE_BYTES. False at the end. */
bool lines_next(struct lines *, struct span *out);

#endif
