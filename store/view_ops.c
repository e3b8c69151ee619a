/* view_ops.c - see view.h. Keyset pages of operations; one; its lineage. */
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 256
#define LINEAGE_MAX 1000

struct paging {
	struct view *view;
	const struct view_page *page;
	struct world world;
	struct plan plan;
	struct plan_key key;		/* of the row to go on from */
	enum plan_start start, prepared;
	bool back;			/* from the end of the page */
	struct query *query;		/* as start is now */
	struct buf sql;			/* lives as long as the query */
	int64_t given, at_most;		/* so many can match; -1 not known */
	struct view_rows kept;		/* going back: the other way round */
};

/* Where the page begins; ST_NONE: at a row that is gone. */
static int find_start(struct paging *p)
{
	const struct view_page *page = p->page;
	const char *at = page->before ? page->before
		       : page->from ? page->from : page->after;

	p->back = page->last || page->before;
	assert(!p->back || page->limit > 0);
	if (page->last || !at || !*at)
		return ST_OK;
	p->start = page->from && !page->before ? PLAN_FROM : PLAN_BEHIND;
	return plan_key_find(p->view, &p->plan, at, &p->key);
}

static void prepare(struct paging *p)
{
	if (p->query && p->prepared == p->start)
		return;
	query_free(p->query);
	buf_clear(&p->sql);
	p->prepared = p->start;
	plan_columns(&p->plan, p->start, p->back, &p->sql);
	p->query = db_query_new(p->view->db, buf_text(&p->sql), DB_HERE);
}

/*
 * Queued ones have no index of their own: among a million committed rows a
 * page of them is found by walking the table. The counters say how many there
 * can be, so that the walk ends with the last one.
 */
static int count_candidates(struct paging *p)
{
	struct query *q;
	int rc;

	p->at_most = -1;
	if (!p->plan.whole || p->plan.filter.states & 1u << OP_COMMITTED)
		return ST_OK;
	q = DB_Q(p->view->db, "SELECT coalesce(sum(n), 0) FROM counter"
		 " WHERE (?1 >> state) & 1");
	query_int(q, 1, p->plan.filter.states);
	rc = query_one(q);
	if (rc == ST_OK)
		p->at_most = query_col_int(q, 0);
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static bool all_found(const struct paging *p)
{
	return p->at_most >= 0 && p->given >= p->at_most;
}

/* What SQLite could not decide exactly is decided by the meaning itself. */
static int really_matches(struct paging *p, const struct view_op *row,
			  bool *matches)
{
	struct view_filter_hold hold = {.flags = BUF_INIT};
	struct filter_row seen;
	int rc;

	*matches = true;
	if (p->plan.filter.exact)
		return ST_OK;
	rc = view_filter_row(p->view, row, p->page->me, &seen, &hold);
	if (rc >= 0)
		*matches = filter_match(p->page->filter, &seen,
					p->page->now_ms);
	view_filter_hold_release(&hold);
	return rc;
}

/* Given, or kept until all are there; non-zero: enough. */
static int take(struct paging *p, struct view_op *row,
		int (*each)(void *, const struct view_op *), void *ctx)
{
	p->given++;
	if (!p->back)
		return each(ctx, row);
	view_rows_move(&p->kept, row);
	return 0;
}

/* Hands out one chunk; *more is false at the end, or when told to stop. */
static int give(struct paging *p, struct view_rows *rows, int asked,
		int (*each)(void *, const struct view_op *), void *ctx,
		bool *more)
{
	*more = rows->n == (size_t)asked;
	if (rows->n) {
		plan_key_of(&p->plan, &rows->v[rows->n - 1], &p->key);
		p->start = PLAN_BEHIND;
	}
	for (size_t i = 0; i < rows->n; i++) {
		struct view_op *row = &rows->v[i];
		bool matches;
		int rc = really_matches(p, row, &matches);

		if (rc < 0)
			return rc;
		if (!matches)
			continue;
		if (take(p, row, each, ctx) || all_found(p) ||
		    (p->page->limit > 0 && p->given >= p->page->limit)) {
			*more = false;
			return ST_OK;
		}
	}
	return ST_OK;
}

static int chunk_size(const struct paging *p)
{
	int64_t left = CHUNK;

	if (!p->plan.filter.exact)
		return CHUNK;
	if (p->page->limit > 0 && p->page->limit - p->given < left)
		left = p->page->limit - p->given;
	if (p->at_most >= 0 && p->at_most - p->given < left)
		left = p->at_most - p->given;
	return (int)left;
}

static void give_kept(struct paging *p,
		      int (*each)(void *, const struct view_op *), void *ctx)
{
	for (size_t i = p->kept.n; i > 0; i--)
		if (each(ctx, &p->kept.v[i - 1])) {
			p->given -= (int64_t)i - 1;
			return;
		}
}

static int page_through(struct paging *p,
			int (*each)(void *, const struct view_op *), void *ctx)
{
	struct view_rows rows = {0};
	bool more = true;
	int rc = count_candidates(p);

	if (rc == ST_OK && all_found(p))
		return ST_OK;
	while (more && rc == ST_OK) {
		int asked = chunk_size(p);

		prepare(p);
		if (p->start != PLAN_ALL)
			plan_key_bind(&p->key, p->query);
		query_int(p->query, 3, asked);
		plan_bind(&p->plan, p->query);
		view_rows_clear(&rows);
		rc = view_rows_take(p->view, &p->world, p->query, &rows);
		if (rc == ST_OK)
			rc = give(p, &rows, asked, each, ctx, &more);
	}
	view_rows_release(&rows);
	if (rc == ST_OK)
		give_kept(p, each, ctx);
	return rc;
}

/*
 * All of them, in an order that has to be sorted: once, as handles, and then
 * one after the other. (Chunk by chunk would sort what is left for each.)
 */
static int handles_of(struct paging *p, int64_t **ops, size_t *n)
{
	struct query *q;
	size_t cap = 0;
	int rc;

	plan_rows(&p->plan, p->start, false, &p->sql);
	q = p->query = db_query_new(p->view->db, buf_text(&p->sql), DB_HERE);
	if (p->start != PLAN_ALL)
		plan_key_bind(&p->key, q);
	query_int(q, 3, -1);
	plan_bind(&p->plan, q);
	while ((rc = query_step(q)) == ST_OK) {
		if (*n == cap) {
			cap = cap ? 2 * cap : 1024;
			*ops = xrealloc(*ops, cap * sizeof(**ops));
		}
		(*ops)[(*n)++] = query_col_int(q, 0);
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static int sorted_through(struct paging *p,
			  int (*each)(void *, const struct view_op *),
			  void *ctx)
{
	struct view_rows rows = {0};
	int64_t *ops = NULL;
	size_t n = 0;
	bool more = true;
	int rc = handles_of(p, &ops, &n);

	for (size_t i = 0; rc == ST_OK && more && i < n; i++) {
		struct query *q = DB_Q(p->view->db, "SELECT " VIEW_COLUMNS
				       VIEW_FROM " WHERE o.op = ?1");

		query_int(q, 1, ops[i]);
		view_rows_clear(&rows);
		rc = view_rows_take(p->view, &p->world, q, &rows);
		/* Nothing is ever removed; what changed is given as it is. */
		if (rc == ST_OK)
			rc = give(p, &rows, 1, each, ctx, &more);
	}
	view_rows_release(&rows);
	free(ops);
	return rc;
}

static int give_page(struct paging *p,
		     int (*each)(void *, const struct view_op *), void *ctx)
{
	bool many = p->page->limit <= 0 || p->page->limit > CHUNK;

	p->at_most = -1;
	return many && !p->back && plan_sorts(&p->plan) ?
	       sorted_through(p, each, ctx) : page_through(p, each, ctx);
}

int64_t view_ops(struct view *view, const struct view_page *page,
		 int (*each)(void *, const struct view_op *), void *ctx)
{
	struct paging p = {.view = view, .page = page};
	int rc;

	assert(view && page && each);
	assert(page->order >= 0 && page->order < VIEW_ORDER_COUNT);
	rc = view_world(view, page, &p.world);
	if (rc == ST_OK)
		rc = plan_make(view, page, &p.plan);
	if (rc == ST_OK && !p.plan.nothing)
		rc = find_start(&p);
	if (rc == ST_OK && !p.plan.nothing)
		rc = view_trouble(view, give_page(&p, each, ctx));
	query_free(p.query);
	buf_release(&p.sql);
	free(p.key.text);
	plan_release(&p.plan);
	view_rows_release(&p.kept);
	view_world_release(&p.world);
	/* A row to begin behind that is gone is an empty page. */
	return rc < 0 ? rc : p.given;
}

static int read_single(struct view *view, struct query *q,
		       const struct view_page *page, struct view_op *out)
{
	struct world world;
	int rc = view_world(view, page, &world);

	if (rc == ST_OK)
		rc = query_one(q);
	if (rc == ST_OK)
		view_read_op(q, out);
	query_reset(q);
	if (rc == ST_OK) {
		rc = view_complete(view, &world, out);
		if (rc < 0)
			view_op_release(out);
	}
	view_world_release(&world);
	return view_trouble(view, rc);
}

int view_op(struct view *view, const char *op_id, const struct view_page *page,
	    struct view_op *out)
{
	struct query *q = DB_Q(view->db, "SELECT " VIEW_COLUMNS VIEW_FROM
			       " WHERE o.op_id = ?1");

	memset(out, 0, sizeof(*out));
	query_text(q, 1, op_id);
	return read_single(view, q, page, out);
}

int view_op_handle(struct view *view, int64_t op, const struct view_page *page,
		   struct view_op *out)
{
	struct query *q = DB_Q(view->db, "SELECT " VIEW_COLUMNS VIEW_FROM
			       " WHERE o.op = ?1");

	memset(out, 0, sizeof(*out));
	query_int(q, 1, op);
	return read_single(view, q, page, out);
}

/* One step along the chain of supersedes; ST_NONE at its end. */
static int neighbour(struct view *view, int64_t op, bool older, int64_t *out)
{
	struct query *q = older
		? DB_Q(view->db, "SELECT supersedes FROM operation"
		       " WHERE op = ?1 AND supersedes <> 0")
		: DB_Q(view->db, "SELECT op FROM operation"
		       " WHERE supersedes = ?1 AND supersedes <> 0"
		       " ORDER BY op LIMIT 1");
	int rc;

	query_int(q, 1, op);
	rc = query_one(q);
	if (rc == ST_OK)
		*out = query_col_int(q, 0);
	query_reset(q);
	return view_trouble(view, rc);
}

int view_lineage(struct view *view, int64_t op, const struct view_page *page,
		 int (*each)(void *, const struct view_op *), void *ctx)
{
	int64_t at = op;
	int steps = 0, rc = ST_OK;

	/* Bounded: a chain that bites its tail is somebody's tampering. */
	while (steps++ < LINEAGE_MAX &&
	       (rc = neighbour(view, at, true, &at)) == ST_OK)
		;
	steps = 0;
	while (rc >= 0 && steps++ < LINEAGE_MAX) {
		struct view_op row;
		int stop;

		rc = view_op_handle(view, at, page, &row);
		if (rc != ST_OK)
			break;
		stop = each(ctx, &row);
		view_op_release(&row);
		if (stop)
			break;
		rc = neighbour(view, at, false, &at);
		if (rc != ST_OK)
			break;
	}
	return rc < 0 ? rc : ST_OK;
}
