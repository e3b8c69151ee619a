/*
 * view.h - floor 1: what consoles and lists read. SQL only, SELECT only.
 *
 * A view has its own read-only connection (query_only) and holds no read
 * transaction between calls, so that the log never grows for a reader.
 * Lists are keyset pages: no OFFSET, no scan on the input path. Filters are
 * core's tree turned into SQL (sql_filter.c), tested against filter_match().
 */
#ifndef EDCSYNC_STORE_VIEW_H
#define EDCSYNC_STORE_VIEW_H

#include "core/filter.h"
#include "core/why.h"
#include "store/operator.h"
#include "store/store.h"

struct view;
/* An unwritable folder without -wal/-shm opens as immutable when no writer
 * exists. NULL with one clear sentence. */
struct view *view_open(const char *path, struct buf *error, int *result);
void view_close(struct view *);
const char *view_error(const struct view *);
/* Did anything commit since the last call? (data_version) */
bool view_changed(struct view *);

/* One operation as lists show it. Strings are owned by the row. */
struct view_op {
	struct op op;
	char *endpoint, *environment;
	int http_status;		/* of the last attempt, 0 none */
	char *why;			/* computed line */
	int notes;
	char *poll_word, *job_id;	/* while it is polled or was; NULL */
};
void view_op_release(struct view_op *);

enum view_order { VIEW_NEWEST, VIEW_OLDEST, VIEW_DUE, VIEW_PLACE };

struct view_page {
	const struct filter *filter;	/* NULL = all */
	enum view_order order;
	const char *after;		/* op_id of the last row seen */
	int limit;			/* <= 0: all */
	const struct config *config;	/* for why-lines; may be NULL */
	const char *me;
	int64_t now_ms;
	int utc_offset_min;
};
/* Calls back per row; non-zero stops. Returns rows given or < 0. */
int64_t view_ops(struct view *, const struct view_page *,
		 int (*each)(void *, const struct view_op *), void *);
/* ST_NONE: no such operation; else *out is filled, and released by the
 * caller. By name, or by handle. */
int view_op(struct view *, const char *op_id, const struct view_page *,
	    struct view_op *out);
int view_op_handle(struct view *, int64_t op, const struct view_page *,
		   struct view_op *out);

int view_attempts(struct view *, int64_t op,
	int (*each)(void *, const struct attempt *), void *);

/* The durable intent of an operation whose attempt is on the wire now. */
int view_flight(struct view *, int64_t op, struct flight *);

struct view_note {
	int64_t at_ms;
	const char *author, *text;
	const char *printed_name;	/* or NULL */
};
int view_notes(struct view *, int64_t op,
	int (*each)(void *, const struct view_note *), void *);

struct view_intervention {
	int64_t at_ms;
	const char *verb, *actor, *printed_name, *reason_code, *reason,
		   *result, *old_value, *new_value;
	const char *words;		/* the outcome in words, or NULL */
	bool is_signed;
	const char *meaning;		/* of the signature, or NULL */
	int64_t signed_ms;
};
int view_interventions(struct view *, int64_t op,
	int (*each)(void *, const struct view_intervention *), void *);
/* The chain of supersedes, oldest first. */
int view_lineage(struct view *, int64_t op, const struct view_page *,
	int (*each)(void *, const struct view_op *), void *);
/* Where it came from: file, host, submitter. Released by the caller. */
int view_submission(struct view *, int64_t id, struct submission_row *);
void view_submission_release(struct submission_row *);
int view_payload(struct view *, int64_t op, bool original, struct buf *);

struct view_endpoint {
	const char *name, *environment;	/* borrowed, as is all of it */
	struct endpoint_state state;
	struct endpoint_control control;
	int64_t count[OP_STATE_COUNT];
	int64_t in_flight, oldest_ms;	/* oldest not at rest: since when */
	int64_t ok_per_min;
};
int view_endpoints(struct view *, int64_t now_ms,
	int (*each)(void *, const struct view_endpoint *), void *);

/* What needs a person: closed list of kinds, oldest first within a kind. */
struct view_need {
	const char *kind;		/* dead, unknown, rejected, unwatched,
					 * unclear, halted, paused, circuit,
					 * vendor_wait, store_restored,
					 * store_trouble, urgent,
					 * not_configured */
	int64_t count, oldest_ms;	/* oldest: 0 not known */
	const char *endpoint;		/* NULL: the store itself */
	const char *words;		/* what it is */
	const char *next;		/* the command to go on with */
};
int view_needs(struct view *, const struct config *, int64_t now_ms,
	int (*each)(void *, const struct view_need *), void *);

/*
 * find: a text is tried as, in this order, op_id, idempotency key,
 * correlation id, id of the vendor (record, correlation, job), subject key,
 * the beginning of words of a subject key, id of a request or an answer. The
 * first kind that finds anything ends the search. Cells of a sheet come
 * sorted by study, subject, event (in the order the events first came) and
 * form. ST_NONE: nothing is called that.
 */
struct view_hit {
	const char *kind;		/* subject | operation */
	const char *by;			/* what the text was: op_id, key,
					 * correlation, vendor, subject,
					 * request */
	const struct view_op *op;	/* operation, or one cell of a sheet */
};
int view_find(struct view *, struct span text, const char *study,
	      const struct view_page *,
	      int (*each)(void *, const struct view_hit *), void *);

int view_unclear(struct view *,
	int (*each)(void *, const struct unclear_row *, const char *endpoint),
	void *);
/* From a record on, oldest first; from_seq 0: newest first. op_id NULL: of
 * all; one operation's records are found by a scan. limit 0: no limit. */
int view_audit(struct view *, int64_t from_seq, const char *op_id,
	       int64_t limit,
	       int (*each)(void *, const struct audit_row *), void *);
/* The last record; seq 0 when there is none. */
int view_audit_head(struct view *, int64_t *seq, int64_t *at_ms);

/*
 * What a scrape is made of, all of one moment: one short read transaction,
 * and nothing that is walked for its length (counters, states, the ends of
 * indexes).
 */
enum { VIEW_OLDEST_UNSEEN = -1 };
struct view_metrics_endpoint {
	int64_t id;
	char *name;			/* owned */
	enum circuit_state circuit;
	struct gate gate;		/* as last written by the engine */
	int64_t count[OP_STATE_COUNT];
	int64_t dead[OP_REASON_COUNT];
	/* Since when the oldest of a state is in it; 0: there is none.
	 * Only of states that are not settled. Queued: of those whose turn
	 * it is. UNSEEN: so many of other endpoints are older that we did
	 * not look further. */
	int64_t oldest_ms[OP_STATE_COUNT];
	int64_t attempts[ATTEMPT_KIND_COUNT][VERDICT_COUNT];
};
struct view_metrics {
	struct view_metrics_endpoint *endpoint;
	size_t endpoints;
	int64_t took[TOOK_UNSEEN];	/* attempts by class of length */
	int64_t took_ms;
	int64_t audit_last_seq;
	bool engine, engine_trouble;	/* runs; cannot commit */
};
int view_metrics(struct view *, struct view_metrics *out);
void view_metrics_release(struct view_metrics *);

int view_request(struct view *, int64_t id, struct request_row *);
int view_meta(struct view *, const char *key, struct buf *);

#endif
