/*
 * tries.h - floor S: attempts as panels show them: copies of what is on the
 * wire, what goes next and what is done, and the words for them.
 */
#ifndef EDCSYNC_UI_TRIES_H
#define EDCSYNC_UI_TRIES_H

#include "ui/app.h"

/* On the wire, or done. */
struct try_row {
	int64_t id;			/* done: of the row */
	char *endpoint;			/* owned, as is `what` */
	char *what;			/* "1001-014 VITALS V2", raw */
	char op_id[LIMIT_OP_ID_BYTES + 1];	/* "" none */
	char method[12];
	int n;
	enum attempt_kind kind;
	int64_t started_ms;
	/* done */
	int64_t finished_ms;
	enum layer layer;
	enum verdict verdict;
	int status;
	char rule[64], why[160];
	/* on the wire */
	int slot;
	char phase[12];
	int64_t timeout_ms;
};

struct tries {
	struct try_row *v;		/* owned */
	size_t n;
};

/* In a lane's thread; *out was init'ed with {0}. filter: NULL or an AND; what
 * it narrows is matched here. limit: of rows given; scan: looked at, newest
 * first, none older than *newest (0: any), which becomes the newest seen.
 * False in *whole: there were more between the two. */
int tries_recent(struct view *, const struct filter *, int limit, int scan,
		 int64_t now_ms, int64_t *newest, bool *whole,
		 struct tries *out);
/* Puts newer ones before those that are there, at most limit in all. */
void tries_add(struct tries *into, struct tries *newer, size_t limit);
int tries_live(struct view *, const struct config *, const struct filter *,
	       int64_t now_ms, struct tries *out);
void tries_release(struct tries *);

/* How a verdict is shown: as the state it leads to. */
struct verdict_look {
	enum op_state state;		/* for the glyph */
	unsigned flags;
	enum ui_role role;
	const char *words;		/* at most 10 cells */
};
const struct verdict_look *verdict_look(enum verdict);
/* "send", "poll", "look-up", "probe", "log-in" */
const char *kind_words(enum attempt_kind);
/* "at vendor: created", "504 a gateway waited for the vendor in vain"; raw. */
void try_words(const struct try_row *, struct buf *);

#endif
