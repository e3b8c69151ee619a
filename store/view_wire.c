/* view_wire.c - see view.h. Attempts: on the wire, next, finished. */
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>

#define LIVE_MAX 4096			/* slots of all endpoints together */
#define RECENT_MAX 1000
/* Attempts looked at for the failures of one endpoint. */
#define FAILURES_BACK 5000
#define RANKS 3

/* What an attempt is about: columns and texts in the same order. */
#define ABOUT_COLUMNS \
	"e.name, o.op_id, o.method, r.study, o.site_oid, r.subject," \
	" r.event, r.form"
#define ABOUT_FROM(alias) \
	" LEFT JOIN endpoint e ON e.id = " alias ".endpoint" \
	" LEFT JOIN operation o ON o.op = " alias ".op" \
	" LEFT JOIN record r ON r.id = o.scope"
#define ABOUT_N 8

struct about {
	char *text[ABOUT_N];		/* owned */
};

static void read_about(struct query *q, int from, struct about *about)
{
	for (int i = 0; i < ABOUT_N; i++)
		about->text[i] = xstrdup(query_col_text(q, from + i));
}

static struct view_subject names_of(const struct about *about)
{
	char *const *t = about->text;

	return (struct view_subject){t[0], t[1], t[2], t[3],
				     t[4], t[5], t[6], t[7]};
}

static void about_release(struct about *about)
{
	for (int i = 0; i < ABOUT_N; i++)
		free(about->text[i]);
}

/* On the wire */

struct live {
	struct view_live out;
	struct about about;
	char phase[12];
};

static enum attempt_kind kind_of(int64_t kind)
{
	return kind >= 0 && kind < ATTEMPT_KIND_COUNT ?
	       (enum attempt_kind)kind : ATTEMPT_SEND;
}

static void read_live(struct query *q, struct live *to)
{
	memset(to, 0, sizeof(*to));
	to->out.slot = (int)query_col_int(q, 0);
	to->out.op = query_col_int(q, 1);
	to->out.n = (int)query_col_int(q, 2);
	to->out.kind = kind_of(query_col_int(q, 3));
	query_col_copy(q, 4, to->phase, sizeof(to->phase));
	to->out.since_ms = query_col_int(q, 5);
	read_about(q, 6, &to->about);
}

static int64_t timeout_of(const struct config *config, const char *endpoint)
{
	const struct endpoint_config *e = config ?
		config_endpoint(config, span_of(endpoint)) : NULL;

	return e ? e->retry.answer_timeout_ms : 0;
}

static int all_live(struct view *view, struct live **v, size_t *n)
{
	struct query *q = DB_Q(view->db, "SELECT l.slot, l.op, l.n, l.kind,"
		" l.phase, l.since_ms, " ABOUT_COLUMNS " FROM live l"
		ABOUT_FROM("l") " ORDER BY l.since_ms, l.slot LIMIT ?1");
	int rc;

	query_int(q, 1, LIVE_MAX);
	while ((rc = query_step(q)) == ST_OK) {
		*v = xrealloc(*v, (*n + 1) * sizeof(**v));
		read_live(q, &(*v)[(*n)++]);
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

int view_live(struct view *view, const struct config *config,
	      int (*each)(void *, const struct view_live *), void *ctx)
{
	struct live *v = NULL;
	size_t n = 0;
	int stop = 0, rc = ST_OK;

	assert(view && each);
	/* What an engine that died left behind is on no wire. */
	if (view_engine_runs(view))
		rc = all_live(view, &v, &n);
	for (size_t i = 0; i < n; i++) {
		v[i].out.phase = v[i].phase;
		v[i].out.about = names_of(&v[i].about);
		v[i].out.timeout_ms = timeout_of(config,
						 v[i].out.about.endpoint);
		if (rc == ST_OK && !stop)
			stop = each(ctx, &v[i].out);
		about_release(&v[i].about);
	}
	free(v);
	return view_trouble(view, rc);
}

/* What may go next: the ends of one index, by endpoint and rank. */

struct due {
	int64_t at_ms, op;
};

static int soonest_first(const void *a, const void *b)
{
	const struct due *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static int add_due(struct view *view, int64_t endpoint, int rank, int limit,
		   struct due **v, size_t *n)
{
	struct query *q = DB_Q(view->db, "SELECT due_at_ms, op FROM operation"
		" INDEXED BY operation_ready WHERE ready = 1 AND endpoint = ?1"
		" AND rank = ?2 ORDER BY due_at_ms, op LIMIT ?3");
	int rc;

	query_int(q, 1, endpoint);
	query_int(q, 2, rank);
	query_int(q, 3, limit);
	while ((rc = query_step(q)) == ST_OK) {
		*v = xrealloc(*v, (*n + 1) * sizeof(**v));
		(*v)[(*n)++] = (struct due){query_col_int(q, 0),
					    query_col_int(q, 1)};
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static int read_next(struct view *view, const struct world *world,
		     const struct due *v, size_t n, struct view_rows *rows)
{
	int rc = ST_OK;

	for (size_t i = 0; rc == ST_OK && i < n; i++) {
		struct query *q = DB_Q(view->db, "SELECT " VIEW_COLUMNS
				       VIEW_FROM " WHERE o.op = ?1");

		query_int(q, 1, v[i].op);
		rc = view_rows_take(view, world, q, rows);
	}
	return rc;
}

int view_next(struct view *view, const struct view_page *page,
	      int (*each)(void *, const struct view_op *), void *ctx)
{
	struct view_rows rows = {0};
	struct world world;
	struct due *v = NULL;
	size_t n = 0;
	int rc;

	assert(view && page && page->limit > 0 && each);
	rc = view_world(view, page, &world);
	for (size_t i = 0; rc == ST_OK && i < world.endpoints; i++)
		for (int rank = 0; rc == ST_OK && rank < RANKS; rank++)
			rc = add_due(view, world.endpoint[i].id, rank,
				     page->limit, &v, &n);
	if (n)
		qsort(v, n, sizeof(*v), soonest_first);
	if (n > (size_t)page->limit)
		n = (size_t)page->limit;
	if (rc == ST_OK)
		rc = read_next(view, &world, v, n, &rows);
	for (size_t i = 0; rc == ST_OK && i < rows.n; i++)
		if (each(ctx, &rows.v[i]))
			break;
	view_rows_release(&rows);
	free(v);
	view_world_release(&world);
	return view_trouble(view, rc);
}

/* Finished */

struct done {
	int64_t id;
	struct attempt attempt;
	struct about about;
};

static int give_done(struct view *view, struct query *q,
		     int (*each)(void *, const struct view_attempt *),
		     void *ctx)
{
	struct done *v = NULL;
	size_t n = 0;
	int stop = 0, rc;

	while ((rc = query_step(q)) == ST_OK) {
		v = xrealloc(v, (n + 1) * sizeof(*v));
		v[n].id = query_col_int(q, 0);
		attempt_read(q, 1, &v[n].attempt);
		read_about(q, 1 + ATTEMPT_N, &v[n++].about);
	}
	query_reset(q);
	for (size_t i = 0; i < n; i++) {
		struct view_attempt out = {
			.id = v[i].id, .about = names_of(&v[i].about),
			.attempt = &v[i].attempt};

		if (rc == ST_NONE && !stop)
			stop = each(ctx, &out);
		about_release(&v[i].about);
	}
	free(v);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

int view_recent(struct view *view, int64_t after_id, int limit,
		int (*each)(void *, const struct view_attempt *), void *ctx)
{
	struct query *q = DB_Q(view->db, "SELECT a.id, " ATTEMPT_COLUMNS ", "
		ABOUT_COLUMNS " FROM attempt a" ABOUT_FROM("a")
		" WHERE a.id > ?1 ORDER BY a.id DESC LIMIT ?2");

	assert(limit > 0 && each);
	query_int(q, 1, after_id);
	query_int(q, 2, limit < RECENT_MAX ? limit : RECENT_MAX);
	return give_done(view, q, each, ctx);
}

int view_attempts_after(struct view *view, int64_t after_id, int limit,
			int (*each)(void *, const struct view_attempt *),
			void *ctx)
{
	struct query *q = DB_Q(view->db, "SELECT a.id, " ATTEMPT_COLUMNS ", "
		ABOUT_COLUMNS " FROM attempt a" ABOUT_FROM("a")
		" WHERE a.id > ?1 ORDER BY a.id LIMIT ?2");

	assert(limit > 0 && each);
	query_int(q, 1, after_id);
	query_int(q, 2, limit < RECENT_MAX ? limit : RECENT_MAX);
	return give_done(view, q, each, ctx);
}

int view_failures(struct view *view, int64_t endpoint, int limit,
		  int (*each)(void *, const struct view_attempt *), void *ctx)
{
	struct query *q = DB_Q(view->db, "SELECT a.id, " ATTEMPT_COLUMNS ", "
		ABOUT_COLUMNS " FROM attempt a" ABOUT_FROM("a")
		" WHERE a.id > (SELECT max(id) FROM attempt) - ?3"
		" AND a.endpoint = ?1 AND a.verdict IN (?4, ?5, ?6)"
		" ORDER BY a.id DESC LIMIT ?2");

	assert(limit > 0 && each);
	query_int(q, 1, endpoint);
	query_int(q, 2, limit < RECENT_MAX ? limit : RECENT_MAX);
	query_int(q, 3, FAILURES_BACK);
	query_int(q, 4, VERDICT_RETRY);
	query_int(q, 5, VERDICT_UNKNOWN);
	query_int(q, 6, VERDICT_HALT);
	return give_done(view, q, each, ctx);
}
