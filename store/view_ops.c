/* view_ops.c - see view.h. Keyset pages of operations; one; its lineage. */
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 256
#define LINEAGE_MAX 1000
/* Of the partial indexes operation_attention and operation_scan. */
#define BUSY_STATES (1u << OP_QUEUED | 1u << OP_SENDING | 1u << OP_COMMITTED)

/* ?1 key of the last row, ?2 its handle, ?3 how many. */
static const struct {
	const char *after, *by;
	int64_t first_key, first_op;
} orders[] = {
	[VIEW_NEWEST] = {"o.op < ?2", "o.op DESC", 0, INT64_MAX},
	[VIEW_OLDEST] = {"o.op > ?2", "o.op", 0, INT64_MIN},
	[VIEW_DUE] = {"(o.due_at_ms, o.op) > (?1, ?2)",
		      "o.due_at_ms, o.op", INT64_MIN, INT64_MIN},
	[VIEW_PLACE] = {"(o.place, o.op) > (?1, ?2)", "o.place, o.op",
			INT64_MIN, INT64_MIN},
};

#define FIRST_FILTER_VALUE 4

struct paging {
	struct view *view;
	const struct view_page *page;
	struct world world;
	struct sql_filter filter;
	struct query *query;
	struct buf sql;			/* lives as long as the query */
	int64_t key, op;		/* of the last row */
	int64_t given, at_most;		/* so many can match; -1 not known */
};

static int64_t key_of(enum view_order order, const struct op *op)
{
	return order == VIEW_DUE ? op->due_at_ms
	     : order == VIEW_PLACE ? op->place : 0;
}

/* Begins behind the row that was seen last. */
static int start_after(struct paging *p)
{
	const char *after = p->page->after;
	struct query *q;
	int rc;

	p->key = orders[p->page->order].first_key;
	p->op = orders[p->page->order].first_op;
	if (!after || !*after)
		return ST_OK;
	q = DB_Q(p->view->db, "SELECT op, due_at_ms, place FROM operation"
		 " WHERE op_id = ?1");
	query_text(q, 1, after);
	rc = query_one(q);
	if (rc == ST_OK) {
		p->op = query_col_int(q, 0);
		p->key = query_col_int(q, p->page->order == VIEW_DUE ? 1 : 2);
	}
	query_reset(q);
	return view_trouble(p->view, rc);
}

static struct query *prepare(struct paging *p)
{
	struct buf *sql = &p->sql;

	sql_filter_make(&p->filter, p->page->filter, FIRST_FILTER_VALUE,
			p->page->me, p->page->now_ms);
	buf_addf(sql, "SELECT " VIEW_COLUMNS VIEW_FROM " WHERE %s AND %s",
		 orders[p->page->order].after, buf_text(&p->filter.where));
	/* SQLite takes a partial index only where its condition is said. */
	if (!(p->filter.states & BUSY_STATES))
		buf_adds(sql, " AND o.state > 1 AND o.state <> 6");
	buf_addf(sql, " ORDER BY %s LIMIT ?3", orders[p->page->order].by);
	return db_query_new(p->view->db, buf_text(sql), DB_HERE);
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
	if (!(p->filter.states & BUSY_STATES) ||
	    p->filter.states & 1u << OP_COMMITTED)
		return ST_OK;
	q = DB_Q(p->view->db, "SELECT coalesce(sum(n), 0) FROM counter"
		 " WHERE (?1 >> state) & 1");
	query_int(q, 1, p->filter.states);
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
	if (p->filter.exact)
		return ST_OK;
	rc = view_filter_row(p->view, row, p->page->me, &seen, &hold);
	if (rc >= 0)
		*matches = filter_match(p->page->filter, &seen,
					p->page->now_ms);
	view_filter_hold_release(&hold);
	return rc;
}

/* Hands out one chunk; *more is false at the end, or when told to stop. */
static int give(struct paging *p, const struct view_rows *rows, int asked,
		int (*each)(void *, const struct view_op *), void *ctx,
		bool *more)
{
	*more = rows->n == (size_t)asked;
	for (size_t i = 0; i < rows->n; i++) {
		const struct view_op *row = &rows->v[i];
		bool matches;
		int rc = really_matches(p, row, &matches);

		if (rc < 0)
			return rc;
		p->op = row->op.op;
		p->key = key_of(p->page->order, &row->op);
		if (!matches)
			continue;
		p->given++;
		if (each(ctx, row) || all_found(p) ||
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

	if (!p->filter.exact)
		return CHUNK;
	if (p->page->limit > 0 && p->page->limit - p->given < left)
		left = p->page->limit - p->given;
	if (p->at_most >= 0 && p->at_most - p->given < left)
		left = p->at_most - p->given;
	return (int)left;
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

		view_rows_clear(&rows);
		query_int(p->query, 1, p->key);
		query_int(p->query, 2, p->op);
		query_int(p->query, 3, asked);
		sql_filter_bind(&p->filter, p->query);
		rc = view_rows_take(p->view, &p->world, p->query, &rows);
		if (rc == ST_OK)
			rc = give(p, &rows, asked, each, ctx, &more);
	}
	view_rows_release(&rows);
	return rc;
}

int64_t view_ops(struct view *view, const struct view_page *page,
		 int (*each)(void *, const struct view_op *), void *ctx)
{
	struct paging p = {.view = view, .page = page};
	int rc;

	assert(view && page && each);
	assert(page->order >= 0 && page->order < ARRAY_SIZE(orders));
	rc = view_world(view, page, &p.world);
	if (rc == ST_OK)
		rc = start_after(&p);
	if (rc == ST_OK) {
		p.query = prepare(&p);
		rc = view_trouble(view, page_through(&p, each, ctx));
		query_free(p.query);
		buf_release(&p.sql);
		sql_filter_release(&p.filter);
	}
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
