/*
 * view.h - floor 1: what consoles and lists read. SQL only, SELECT only.
 *
 * A view has its own read-only connection (query_only) and holds no read
 * transaction between calls, so that the log never grows for a reader.
 * Lists are keyset pages: no OFFSET, no scan on the input path. Filters are
 * core's tree turned into SQL (sql_filter.c), tested against filter_match().
 *
 * One view belongs to one thread at a time. What may take long (a sort or a
 * grouping without an index, a rare word) is asked in a thread of its own
 * with a view of its own, and can be ended by view_interrupt. Where a comment
 * says "index", the answer comes from an index or a counter however many
 * rows there are.
 */
#ifndef EDCSYNC_STORE_VIEW_H
#define EDCSYNC_STORE_VIEW_H

#include "core/filter.h"
#include "core/fingerprint.h"
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
/*
 * From another thread, while the view is open: what runs ends with
 * ST_INTERRUPTED (below 0, but no trouble), and the calls after it work
 * again. With nothing running it is the next call that ends so, unless its
 * thread forgets the wish before it begins a new job: view_resume.
 */
void view_interrupt(struct view *);
void view_resume(struct view *);

/* One operation as lists show it. Strings are owned by the row. */
struct view_op {
	struct op op;
	char *endpoint, *environment;
	int http_status;		/* of the last attempt, 0 none */
	char *why;			/* computed line */
	int notes;
	char *poll_word, *job_id;	/* while it is polled or was; NULL */
	enum job_stage job_stage;	/* the same */
};
void view_op_release(struct view_op *);

/*
 * Orders; each ascending as it is named, or exactly the other way round by
 * `descending`. Equal ones stand in the order they were made in. From an
 * index: NEWEST, OLDEST, SINCE and, of what is at rest, DUE, each within one
 * state, one state of one endpoint (dead, rejected) or one group. The others
 * may sort.
 */
enum view_order {
	VIEW_NEWEST, VIEW_OLDEST,	/* as they were made */
	VIEW_DUE,			/* what is at rest is never due: of a
					 * filter that only gives such, SINCE */
	VIEW_PLACE,
	VIEW_SUBJECT, VIEW_SITE, VIEW_FORM, VIEW_ENDPOINT, VIEW_ERROR,
	VIEW_ATTEMPTS,
	VIEW_SINCE,			/* longest in its state first */
	VIEW_ORDER_COUNT
};

/*
 * A page in list order. Where it begins or ends is one of after, before,
 * from, last; none: the first page. A row that is gone (or unknown) gives an
 * empty page; one that only left the filter still says where. before and
 * last need a limit above 0, and give at most that many, the nearest.
 */
struct view_page {
	const struct filter *filter;	/* NULL = all */
	enum view_order order;
	const char *after;		/* op_id of the last row seen */
	int limit;			/* <= 0: all */
	const struct config *config;	/* for why-lines; may be NULL */
	const char *me;
	int64_t now_ms;
	int utc_offset_min;
	bool descending;
	const char *before;		/* op_id of the first row on screen */
	const char *from;		/* op_id of the first row to give */
	bool last;			/* the last page */
};
/* Calls back per row; non-zero stops. Returns rows given or < 0. */
int64_t view_ops(struct view *, const struct view_page *,
		 int (*each)(void *, const struct view_op *), void *);
/* How many rows the filter gives, counted up to cap (<= 0: all); *more: there
 * are more than that. A filter that is nothing, or no more than states,
 * endpoints and one group, is answered from counters, exactly and whole. */
int view_count(struct view *, const struct view_page *, int64_t cap,
	       int64_t *n, bool *more);
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

/*
 * Dead letters or rejected ones, grouped. By error: the groups kept on the
 * write side (core/fingerprint.h), from counters, unless a filter says more
 * than the state. The others aggregate: run them aside, they can be
 * interrupted. Most first; borrowed texts.
 */
enum view_group_by { VIEW_BY_ERROR, VIEW_BY_SITE, VIEW_BY_SUBJECT,
		     VIEW_BY_FORM, VIEW_BY_ENDPOINT, VIEW_BY_COUNT };
struct view_group {
	int64_t id;			/* of an error group, else 0 */
	const char *filter;		/* opens it: "group:12",
					 * "state:dead site:1001" */
	const char *title;		/* plain words, or the value */
	const char *endpoint;		/* NULL: of several */
	enum op_reason reason;		/* error groups */
	int64_t n;			/* = maybe + never + absent + partly */
	int64_t maybe, never, absent, partly;	/* enum op_there */
	int64_t back;			/* replayed before, here again */
	int64_t oldest_ms;		/* since when the oldest is here */
	int64_t first_ms, last_ms;	/* the error: ever, and last; 0 where
					 * it is no error group */
	int64_t notes;			/* on the group */
	const char *triage;		/* new, acknowledged, snoozed, ... */
	const char *triage_by;		/* or NULL */
	int64_t snoozed_until_ms;
	const char *ticket;		/* or NULL */
};
/* page: filter (further terms; may be NULL), me, now_ms; limit of groups. */
int view_groups(struct view *, enum op_state, enum view_group_by,
		const struct view_page *,
		int (*each)(void *, const struct view_group *), void *);
int view_group_notes(struct view *, int64_t group,
	int (*each)(void *, const struct view_note *), void *);

/* How old dead letters (or rejected ones) are, an endpoint each; endpoints
 * without any are left out. An index is walked: run it aside. */
enum { VIEW_AGES = 7 };
extern const int64_t view_age_ms[VIEW_AGES - 1];	/* 5 min, 10 min, ... */
struct view_ages {
	const char *endpoint;
	int64_t n[VIEW_AGES];		/* younger than age_ms[i]; the rest */
};
int view_ages(struct view *, enum op_state, int64_t now_ms,
	      int (*each)(void *, const struct view_ages *), void *);

/* What an attempt is about; texts are borrowed, "" where there is none. */
struct view_subject {
	const char *endpoint, *op_id, *method, *study, *site, *subject,
		   *event, *form;
};
/* On the wire now, oldest first: as the engine wrote it last (every 200 ms);
 * nothing while none runs.
 * Credential requests and probes of health have no operation. */
struct view_live {
	struct view_subject about;
	int64_t op;			/* 0 none */
	int slot, n;
	enum attempt_kind kind;
	const char *phase;		/* dns tcp tls wait recv, "" */
	int64_t since_ms;		/* when it started */
	int64_t timeout_ms;		/* of the answer; 0 not known */
};
int view_live(struct view *, const struct config *,
	      int (*each)(void *, const struct view_live *), void *);
/* What may go next, soonest first; limit > 0, filter and order are not looked
 * at. Index. */
int view_next(struct view *, const struct view_page *,
	      int (*each)(void *, const struct view_op *), void *);

/* Finished attempts, newest first. */
struct view_attempt {
	int64_t id;			/* grows; of the row */
	struct view_subject about;
	const struct attempt *attempt;	/* verdict, rule, status, layer, ... */
};
/* Only those after `after_id` (0: any), at most limit (> 0). Index. */
int view_recent(struct view *, int64_t after_id, int limit,
		int (*each)(void *, const struct view_attempt *), void *);
/* The same from the oldest on, in pages of at most limit. Index. */
int view_attempts_after(struct view *, int64_t after_id, int limit,
			int (*each)(void *, const struct view_attempt *),
			void *);
/* The last failures (retry, unknown, halt) of an endpoint, of its last few
 * thousand attempts. */
int view_failures(struct view *, int64_t endpoint, int limit,
		  int (*each)(void *, const struct view_attempt *), void *);

/* Minutes with anything in them, from a minute (UTC ms / 60000) on, oldest
 * first; endpoint 0: all, each minute once. Index. */
int view_gauge(struct view *, int64_t endpoint, int64_t from_minute,
	       int (*each)(void *, const struct gauge_row *), void *);
/* The time that so many percent were answered within, out of a histogram of
 * gauge rows (added up as one likes); 0 when it is empty. */
int64_t gauge_percentile_ms(const uint32_t histogram[24], int percent);

/* What polls, or is unwatched: page by any order (DUE: next poll). */
struct view_poll {
	const struct view_op *op;	/* job_id, poll_word, op.polls, due */
	const char *url, *result_url;	/* or NULL */
	int64_t began_ms;		/* 0: no row of its poll */
	int64_t budget_left_ms;		/* when last counted */
	bool last_look;			/* budget over: one look to come */
};
/* unwatched: those, else what polls. page->filter narrows it. Returns rows
 * given or < 0. */
int64_t view_polls(struct view *, const struct view_page *, bool unwatched,
		   int (*each)(void *, const struct view_poll *), void *);

int view_unclear(struct view *,
	int (*each)(void *, const struct unclear_row *, const char *endpoint),
	void *);
/*
 * The trail, newest first, in pages by seq: after (older than), before (newer
 * than), from (that one and older); none: the newest. before gives the
 * nearest, still newest first. Whatever narrows it is decided record by
 * record: a call looks at `scan` of them at most and says where it stopped,
 * so that it can be called again from there while others are shown.
 */
#define TRAIL_PRESETS(X) \
	X(ALL, "all") X(OUT_OF_HOURS, "out-of-hours") \
	X(REPEATED_REPLAYS, "repeated-replays") X(DISCARDS, "discards") \
	X(REFUSALS, "refusals") X(SIGN_INS, "sign-ins")
enum trail_preset {
#define X(sym, name) TRAIL_##sym,
	TRAIL_PRESETS(X)
#undef X
	TRAIL_PRESET_COUNT
};
const char *trail_preset_name(enum trail_preset);
struct view_trail {
	int64_t after, before, from;	/* seq; 0 none */
	int limit;			/* <= 0: 100 */
	int64_t scan;			/* <= 0: 10 000 records */
	const char *type;		/* exactly; NULL any */
	const char *actor;		/* id, exactly; NULL any */
	int64_t from_ms, to_ms;		/* from / before; 0 open */
	enum trail_preset preset;
	/* OUT_OF_HOURS: acts of people by the clock where they were done,
	 * outside of these minutes of the day, or Saturday and Sunday.
	 * Both 0: 07:00 to 19:00. */
	int day_from_min, day_to_min;
};
struct view_trail_end {
	int64_t given, scanned;
	int64_t stopped_at;		/* seq looked at last; go on after it
					 * (or before it); 0: none was */
	bool more;			/* there may be more that way */
};
int view_trail(struct view *, const struct view_trail *,
	       struct view_trail_end *,
	       int (*each)(void *, const struct audit_row *), void *);
/* The records of one operation, oldest first, by what points to them:
 * attempts, acts and notes; how it came, and its last change, by the times of
 * its row. What nothing points to any more (an intent that was withdrawn, an
 * earlier change without an attempt) only view_audit finds, by its scan.
 * ST_NONE: no such operation. Index. */
int view_trail_of(struct view *, int64_t op,
		  int (*each)(void *, const struct audit_row *), void *);
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
