/*
 * line_priv.h - floor 1, private to line*.c and intake.c.
 */
#ifndef EDCSYNC_STORE_LINE_PRIV_H
#define EDCSYNC_STORE_LINE_PRIV_H

#include "store/intake.h"

/* Refuses a line: words and column into the result; returns false. Never
 * given a payload value. */
bool line_refuse(struct line_result *, int column, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* Method, path and payload of a line whose fields are read. */
bool line_target(struct line *, const struct endpoint_config *,
		 struct line_result *);
bool line_payload(struct line *, const struct json *, uint32_t payload,
		  uint32_t text, uint32_t file, const struct intake_in *,
		  struct line_result *);
/* The line with its payload inside, for keeping: a payload_file is read only
 * once. A payload that is no text stays a name. */
void line_keep(const struct line *, struct buf *out);
/* Key, digests and tag for one revision (1 = plain). */
bool line_identify(struct line *, const struct endpoint_config *,
		   int revision, struct buf *error);

#endif
