/*
 * inspect.h - floor S: all there is to know of one operation, as the
 * inspector's tabs show it. Read in one job; copies throughout. inspect.c
 * reads, inspect_tabs.c and inspect_line.c write it down, inspector.c is the
 * panel.
 */
#ifndef EDCSYNC_UI_INSPECT_H
#define EDCSYNC_UI_INSPECT_H

#include "store/view.h"
#include "ui/app.h"
#include "ui/doc.h"

/* X(symbol, title) */
#define INSPECT_TABS(X) \
	X(WHY, "Why") X(TIMELINE, "Timeline") X(ATTEMPTS, "Attempts") \
	X(PAYLOAD, "Payload") X(ANSWERS, "Answers") X(NOTES, "Notes") \
	X(ACTS, "Acts") X(AUDIT, "Audit")

enum inspect_tab {
#define X(sym, title) INSPECT_##sym,
	INSPECT_TABS(X)
#undef X
	INSPECT_TAB_COUNT
};

struct inspect_note {
	int64_t at_ms;
	char *author, *name, *text;	/* owned; name: printed, or NULL */
};

struct inspect_act {
	int64_t at_ms, signed_ms;
	bool is_signed;
	char *verb, *actor, *name, *code, *reason, *result, *words, *was,
	     *is, *meaning;		/* owned; may be NULL */
};

struct inspect_record {
	int64_t seq, at_ms;
	char type[32];
	char *body;			/* owned; canonical JSON */
};

struct inspect_version {
	char op_id[LIMIT_OP_ID_BYTES + 1];
	enum op_state state;
	unsigned flags;
	int revision;
	int64_t created_ms;
};

struct inspect {
	int result;			/* ST_OK, ST_NONE, or trouble */
	char *error;			/* owned */
	struct view_op row;
	bool has_row;
	struct attempt *attempt;	/* owned, oldest first */
	size_t attempts;
	bool in_flight;
	struct flight flight;
	struct inspect_note *note;
	size_t notes;
	struct inspect_act *act;
	size_t acts;
	struct inspect_record *record;
	size_t records;
	struct inspect_version *version;
	size_t versions;
	struct submission_row from;
	struct buf payload;		/* masked, pretty */
	size_t payload_bytes;
	int64_t read_ms;
};

void inspect_release(struct inspect *);
/* The question; done finds the answer in its job. */
struct inspect_job {
	struct job job;
	char op_id[LIMIT_OP_ID_BYTES + 1];
	struct inspect in;
};
void inspect_ask(struct app *, const void *owner, const char *op_id,
		 void (*done)(struct job *, void *owner));

/* What a tab's text is made from. */
struct inspect_view {
	const struct inspect *in;
	const struct app *app;
	struct doc *doc;
	int width;
};
void inspect_write(struct inspect_view *, enum inspect_tab);
/* inspect_line.c */
void inspect_timeline(struct inspect_view *);
void inspect_waterfall(struct inspect_view *);
/* "13:21:08.120" in the zone on the screen; with the day where that is
 * another one than the operation's last. */
void inspect_clock(const struct inspect_view *, int64_t ms, struct buf *);

#endif
