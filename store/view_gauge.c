/* view_gauge.c - see view.h. Minutes and how long answers took; polls. */
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>

static void read_gauge(struct query *q, struct gauge_row *g)
{
	memset(g, 0, sizeof(*g));
	g->endpoint = query_col_int(q, 0);
	g->minute = query_col_int(q, 1);
	g->done = query_col_int(q, 2);
	g->failed = query_col_int(q, 3);
	g->retried = query_col_int(q, 4);
	query_col_bytes(q, 5, (uint8_t *)g->histogram, sizeof(g->histogram));
}

static void add_up(struct gauge_row *to, const struct gauge_row *from)
{
	to->done += from->done;
	to->failed += from->failed;
	to->retried += from->retried;
	for (size_t i = 0; i < ARRAY_SIZE(to->histogram); i++)
		to->histogram[i] += from->histogram[i];
}

/* Rows of one minute stand together; of all endpoints they become one. */
static int read_minutes(struct view *view, int64_t endpoint,
			int64_t from_minute, struct gauge_row **v, size_t *n)
{
	struct query *q = DB_Q(view->db, "SELECT endpoint, minute, done,"
		" failed, retried, histogram FROM gauge WHERE endpoint IN"
		" (SELECT id FROM endpoint WHERE ?1 = 0 OR id = ?1)"
		" AND minute >= ?2 ORDER BY minute, endpoint");
	int rc;

	query_int(q, 1, endpoint);
	query_int(q, 2, from_minute);
	while ((rc = query_step(q)) == ST_OK) {
		struct gauge_row row;

		read_gauge(q, &row);
		row.endpoint = endpoint;
		if (*n && (*v)[*n - 1].minute == row.minute) {
			add_up(&(*v)[*n - 1], &row);
			continue;
		}
		*v = xrealloc(*v, (*n + 1) * sizeof(**v));
		(*v)[(*n)++] = row;
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

int view_gauge(struct view *view, int64_t endpoint, int64_t from_minute,
	       int (*each)(void *, const struct gauge_row *), void *ctx)
{
	struct gauge_row *v = NULL;
	size_t n = 0;
	int rc;

	assert(view && endpoint >= 0 && each);
	rc = read_minutes(view, endpoint, from_minute, &v, &n);
	for (size_t i = 0; rc == ST_OK && i < n; i++)
		if (each(ctx, &v[i]))
			break;
	free(v);
	return view_trouble(view, rc);
}

/* Class k is of 2^k ms and more, 0 of anything below 2; within a class the
 * answers are taken to be spread evenly. */
int64_t gauge_percentile_ms(const uint32_t histogram[24], int percent)
{
	uint64_t all = 0, want, below = 0;

	assert(percent > 0 && percent <= 100);
	for (int i = 0; i < 24; i++)
		all += histogram[i];
	if (!all)
		return 0;
	want = (all * (uint64_t)percent + 99) / 100;
	for (int i = 0; i < 24; i++) {
		uint64_t low = i ? UINT64_C(1) << i : 0;
		uint64_t wide = (UINT64_C(2) << i) - low;

		if (below + histogram[i] >= want)
			return (int64_t)(low + wide * (want - below) /
					 histogram[i]);
		below += histogram[i];
	}
	return INT64_C(1) << 24;
}

/* Polls */

struct polls {
	struct view *view;
	int (*each)(void *, const struct view_poll *);
	void *ctx;
	int rc;
};

static int give_poll(void *ctx, const struct view_op *row)
{
	struct polls *p = ctx;
	struct query *q = DB_Q(p->view->db, "SELECT url, began_ms,"
		" budget_left_ms, last_look, result_url FROM poll"
		" WHERE op = ?1");
	struct view_poll out = {.op = row};
	char *url = NULL, *result_url = NULL;
	int stop = 1;

	query_int(q, 1, row->op.op);
	p->rc = query_one(q);
	if (p->rc == ST_OK) {
		url = query_col_dup(q, 0);
		out.began_ms = query_col_int(q, 1);
		out.budget_left_ms = query_col_int(q, 2);
		out.last_look = query_col_int(q, 3) != 0;
		result_url = query_col_dup(q, 4);
	}
	query_reset(q);
	out.url = url;
	out.result_url = result_url;
	if (p->rc >= 0)
		stop = p->each(p->ctx, &out);
	free(url);
	free(result_url);
	return stop;
}

int64_t view_polls(struct view *view, const struct view_page *page,
		   bool unwatched,
		   int (*each)(void *, const struct view_poll *), void *ctx)
{
	struct polls p = {.view = view, .each = each, .ctx = ctx};
	struct view_page of_state = *page;
	struct view_both both;
	int64_t given;

	assert(view && each);
	of_state.filter = view_in_state(&both, unwatched ? OP_UNWATCHED :
					OP_POLLING, page->filter);
	given = view_ops(view, &of_state, give_poll, &p);
	return p.rc < 0 ? view_trouble(view, p.rc) : given;
}
