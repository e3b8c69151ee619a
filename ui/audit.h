/*
 * audit.h - floor S: private to audit.c (the panel), audit_load.c (rows, in a
 * lane's thread) and audit_head.c (the line above).
 */
#ifndef EDCSYNC_UI_AUDIT_H
#define EDCSYNC_UI_AUDIT_H

#include "ui/app.h"
#include "ui/list.h"

/* The words of its own filter: type:NAME actor:ID since:TIME until:TIME. */
struct trail_terms {
	char type[32];			/* "" any */
	char actor[LIMIT_ID_BYTES + 1];	/* "" any */
	int64_t from_ms, to_ms;		/* 0 open */
};
/* False with a sentence in error. NULL or "" is no term at all. */
bool trail_terms_parse(const char *text, int64_t now_ms, int offset_min,
		       struct trail_terms *, struct buf *error);

/* list.number: the preset. */
extern const struct list_ops trail_list;

/* What stands above the list. */
struct trail_head {
	bool known;
	int64_t seq, at_ms;		/* the last record */
	int64_t anchored_seq, anchored_ms;	/* 0: not known */
	int64_t clock_ms;		/* stepped last; 0 never */
	int64_t gap_seq;		/* declared last; 0 none */
	char anchor_trouble[160];	/* "" none */
	bool restored;
	int64_t read_ms;
	char *error;			/* owned; NULL none */
};
/* Asks for it, once in a while; the answer goes to `done`. */
struct head_job {
	struct job job;
	char *anchor_file;		/* owned; NULL: none */
	struct trail_head head;
	bool interrupted;
};
void trail_head_ask(struct app *, const void *owner, int topic,
		    void (*done)(struct job *, void *owner));
/* "Audit ● to 481 202 at 14:02 ..." */
void trail_head_draw(const struct app *, const struct trail_head *,
		     const struct area *, int row);

#endif
