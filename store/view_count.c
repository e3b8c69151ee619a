/* view_count.c - see view.h. How many there are; how old they are. */
#include "store/view_priv.h"

#include <string.h>

const int64_t view_age_ms[VIEW_AGES - 1] = {
	5 * 60000, 10 * 60000, 20 * 60000, 40 * 60000, 80 * 60000,
	160 * 60000,
};

/* States and endpoints: a few rows of counters, however many there are. */
static int from_counters(struct view *view, const struct plan *p, int64_t *n)
{
	struct query *q = DB_Q(view->db, "SELECT endpoint, n FROM counter"
			       " WHERE (?1 >> state) & 1");
	int rc;

	query_int(q, 1, p->filter.states);
	while ((rc = query_step(q)) == ST_OK)
		if (plan_names_endpoint(p, query_col_int(q, 0)))
			*n += query_col_int(q, 1);
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static int from_group(struct view *view, const struct plan *p, int64_t *n)
{
	struct query *q = DB_Q(view->db, "SELECT endpoint, n FROM error_group"
			       " WHERE id = ?1 AND (?2 >> state) & 1");
	int rc;

	query_int(q, 1, p->group);
	query_int(q, 2, p->filter.states);
	rc = query_one(q);
	if (rc == ST_OK && plan_names_endpoint(p, query_col_int(q, 0)))
		*n = query_col_int(q, 1);
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static int by_walking(struct view *view, const struct plan *p, int64_t cap,
		      int64_t *n)
{
	struct buf sql = BUF_INIT;
	struct query *q;
	int rc;

	plan_count(p, &sql);
	q = db_query_new(view->db, buf_text(&sql), DB_HERE);
	query_int(q, 3, cap);
	plan_bind(p, q);
	rc = query_step(q);
	if (rc == ST_OK)
		*n = query_col_int(q, 0);
	query_free(q);
	buf_release(&sql);
	return rc < 0 ? rc : ST_OK;
}

static int one_more(void *ctx, const struct view_op *row)
{
	int64_t *n = ctx;

	(void)row;
	(*n)++;
	return 0;
}

/* Where SQLite cannot say the filter exactly, the rows are looked at. */
static int by_looking(struct view *view, const struct view_page *page,
		      int64_t cap, int64_t *n)
{
	struct view_page all = {.filter = page->filter, .order = VIEW_OLDEST,
				.me = page->me, .now_ms = page->now_ms};
	int64_t rc;

	all.limit = cap > 0 && cap < INT32_MAX ? (int)cap : 0;
	rc = view_ops(view, &all, one_more, n);
	return rc < 0 ? (int)rc : ST_OK;
}

int view_count(struct view *view, const struct view_page *page, int64_t cap,
	       int64_t *n, bool *more)
{
	int64_t most = cap > 0 ? cap + 1 : -1;
	struct plan p;
	int rc;

	assert(view && page && n && more);
	*n = 0;
	*more = false;
	rc = plan_make(view, page, &p);
	if (rc == ST_OK && !p.nothing) {
		if (p.plain)
			rc = p.group ? from_group(view, &p, n)
				     : from_counters(view, &p, n);
		else if (p.filter.exact)
			rc = by_walking(view, &p, most, n);
		else
			rc = by_looking(view, page, most, n);
		if (!p.plain && cap > 0 && *n > cap) {
			*n = cap;
			*more = true;
		}
	}
	plan_release(&p);
	return view_trouble(view, rc);
}

/*
 * Ages: one walk of an index for each endpoint, over the younger ones alone;
 * all together are in the counters.
 */

static int number_of(struct query *q, int64_t *out)
{
	int rc = query_one(q);

	*out = rc == ST_OK ? query_col_int(q, 0) : 0;
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static int count_between(struct view *view, int64_t rest, int64_t above_ms,
			 int64_t to_ms, int64_t *n)
{
	struct query *q = DB_Q(view->db, "SELECT count(*) FROM operation"
		" INDEXED BY operation_rest_age WHERE rest = ?1 AND rest <> 0"
		" AND rest_ms > ?2 AND rest_ms <= ?3");

	query_int(q, 1, rest);
	query_int(q, 2, above_ms);
	query_int(q, 3, to_ms);
	return number_of(q, n);
}

static int read_ages(struct view *view, int64_t endpoint, enum op_state state,
		     int64_t now_ms, struct view_ages *out)
{
	struct query *q = DB_Q(view->db, "SELECT n FROM counter"
			       " WHERE endpoint = ?1 AND state = ?2");
	int64_t to_ms = INT64_MAX, left;
	int rc;

	query_int(q, 1, endpoint);
	query_int(q, 2, state);
	rc = number_of(q, &left);
	for (int i = 0; rc == ST_OK && i < VIEW_AGES - 1 && left > 0; i++) {
		int64_t above_ms = now_ms - view_age_ms[i];

		rc = count_between(view, REST_KEY(endpoint, state), above_ms,
				   to_ms, &out->n[i]);
		left -= out->n[i];
		to_ms = above_ms;
	}
	out->n[VIEW_AGES - 1] = left > 0 ? left : 0;
	return rc;
}

static bool has_any(const struct view_ages *ages)
{
	for (int i = 0; i < VIEW_AGES; i++)
		if (ages->n[i])
			return true;
	return false;
}

int view_ages(struct view *view, enum op_state state, int64_t now_ms,
	      int (*each)(void *, const struct view_ages *), void *ctx)
{
	struct view_page page = {.now_ms = now_ms};
	struct world world;
	int rc = view_world(view, &page, &world);

	assert(op_grouped(state) && each);
	for (size_t i = 0; rc == ST_OK && i < world.endpoints; i++) {
		struct view_ages out = {.endpoint = world.endpoint[i].name};

		rc = read_ages(view, world.endpoint[i].id, state, now_ms,
			       &out);
		if (rc == ST_OK && has_any(&out) && each(ctx, &out))
			break;
	}
	view_world_release(&world);
	return view_trouble(view, rc);
}
