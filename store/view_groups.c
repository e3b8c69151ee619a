/*
 * view_groups.c - see view.h. Dead letters and rejected ones in groups.
 *
 * Three ways to the same groups: the counters of the write side; the few
 * columns that are counted, of all rows that a filter gives; and where SQLite
 * cannot say the filter, the rows themselves.
 */
#include "store/view_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

#define GROUPS_MAX 1000

/*
 * A group while it is being read; `key` is what it is grouped by, `folded`
 * that without case: what a filter cannot tell apart is one group.
 */
struct group {
	struct view_group out;
	char *key, *folded;
	int64_t endpoint;		/* -1: several */
	char *title, *triage, *by, *ticket;
	struct buf filter;
};

struct groups {
	struct view *view;
	const struct view_page *page;
	enum op_state state;
	enum view_group_by by;
	struct world world;
	struct plan plan;
	struct group *v;
	size_t n, cap;
	size_t *slot;			/* of keys, when added up here */
	size_t slots;
};

static const struct {
	const char *key;		/* SQL over o and r; as text */
	enum filter_field field;
} ways[VIEW_BY_COUNT] = {
	[VIEW_BY_ERROR] = {"CAST(o.group_id AS TEXT)", FILTER_GROUP},
	[VIEW_BY_SITE] = {"coalesce(o.site_oid, '')", FILTER_SITE},
	[VIEW_BY_SUBJECT] = {"r.subject", FILTER_SUBJECT},
	[VIEW_BY_FORM] = {"r.form", FILTER_FORM},
	[VIEW_BY_ENDPOINT] = {"CAST(o.endpoint AS TEXT)", FILTER_ENDPOINT},
};

static struct group *add(struct groups *g)
{
	if (g->n == g->cap) {
		g->cap = g->cap ? 2 * g->cap : 16;
		g->v = xrealloc(g->v, g->cap * sizeof(*g->v));
	}
	memset(&g->v[g->n], 0, sizeof(*g->v));
	return &g->v[g->n++];
}

static void release(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++) {
		free(g->v[i].key);
		free(g->v[i].folded);
		free(g->v[i].title);
		free(g->v[i].triage);
		free(g->v[i].by);
		free(g->v[i].ticket);
		buf_release(&g->v[i].filter);
	}
	free(g->v);
	free(g->slot);
	plan_release(&g->plan);
	view_world_release(&g->world);
}

static int limit_of(const struct groups *g)
{
	return g->page->limit > 0 && g->page->limit < GROUPS_MAX ?
	       g->page->limit : GROUPS_MAX;
}

/* From the counters */

static int count_all(struct groups *g)
{
	struct query *q = DB_Q(g->view->db, "SELECT id, endpoint, n, maybe,"
		" absent, partly, back FROM error_group"
		" WHERE state = ?1 AND n > 0");
	int rc;

	query_int(q, 1, g->state);
	while ((rc = query_step(q)) == ST_OK) {
		int64_t id = query_col_int(q, 0);
		struct group *to;

		if (!plan_names_endpoint(&g->plan, query_col_int(q, 1)) ||
		    (g->plan.group && g->plan.group != id))
			continue;
		to = add(g);
		to->endpoint = query_col_int(q, 1);
		to->out.id = id;
		to->out.n = query_col_int(q, 2);
		to->out.maybe = query_col_int(q, 3);
		to->out.absent = query_col_int(q, 4);
		to->out.partly = query_col_int(q, 5);
		to->out.back = query_col_int(q, 6);
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static void add_up(struct view_group *to, const struct view_group *from)
{
	to->n += from->n;
	to->maybe += from->maybe;
	to->absent += from->absent;
	to->partly += from->partly;
	to->back += from->back;
}

/* Groups of errors into one each endpoint. */
static int count_endpoints(struct groups *g)
{
	int rc = count_all(g);
	size_t kept = 0;

	for (size_t i = 0; rc == ST_OK && i < g->n; i++) {
		struct group *from = &g->v[i];
		size_t k = 0;

		while (k < kept && g->v[k].endpoint != from->endpoint)
			k++;
		if (k == kept)
			g->v[kept++] = *from;
		else
			add_up(&g->v[k].out, &from->out);
		g->v[k].out.id = 0;
	}
	g->n = kept;
	return rc;
}

static int oldest_of(struct groups *g, struct group *to)
{
	struct query *q = to->out.id ?
		DB_Q(g->view->db, "SELECT rest_ms FROM operation"
		     " INDEXED BY operation_group_age WHERE group_id = ?1"
		     " AND group_id <> 0 ORDER BY rest_ms LIMIT 1") :
		DB_Q(g->view->db, "SELECT rest_ms FROM operation"
		     " INDEXED BY operation_rest_age WHERE rest = ?1"
		     " AND rest <> 0 ORDER BY rest_ms LIMIT 1");
	int rc;

	query_int(q, 1, to->out.id ? to->out.id :
		  REST_KEY(to->endpoint, g->state));
	rc = query_one(q);
	if (rc == ST_OK)
		to->out.oldest_ms = query_col_int(q, 0);
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

/* Keys */

static size_t slot_of(const struct groups *g, const char *folded)
{
	uint64_t hash = 14695981039346656037u;
	size_t i;

	for (const char *c = folded; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211u;
	i = (size_t)hash & (g->slots - 1);
	while (g->slot[i] && strcmp(g->v[g->slot[i] - 1].folded, folded))
		i = (i + 1) & (g->slots - 1);
	return i;
}

static void grow_slots(struct groups *g)
{
	if (2 * (g->n + 1) < g->slots)
		return;
	free(g->slot);
	g->slots = g->slots ? 2 * g->slots : 256;
	g->slot = xcalloc(g->slots, sizeof(*g->slot));
	for (size_t i = 0; i < g->n; i++)
		g->slot[slot_of(g, g->v[i].folded)] = i + 1;
}

/* The group of a key, which is taken over; new ones count nobody yet. */
static struct group *group_of(struct groups *g, char *key, int64_t endpoint)
{
	struct buf folded = BUF_INIT;
	struct group *to;
	size_t i;

	utf8_fold_text(&folded, span_of(key));
	grow_slots(g);
	i = slot_of(g, buf_text(&folded));
	if (g->slot[i]) {
		to = &g->v[g->slot[i] - 1];
		free(key);
		buf_release(&folded);
	} else {
		to = add(g);
		to->key = key;
		to->folded = buf_detach(&folded, NULL);
		to->endpoint = endpoint;
		g->slot[i] = g->n;
	}
	if (to->endpoint != endpoint)
		to->endpoint = -1;
	return to;
}

static void take_older(struct view_group *to, int64_t since_ms)
{
	if (!to->oldest_ms || since_ms < to->oldest_ms)
		to->oldest_ms = since_ms;
}

/* From columns */

static void add_some(struct groups *g, char *key, int64_t endpoint,
		     const struct view_group *some, int64_t since_ms)
{
	struct group *to = group_of(g, key, endpoint);

	to->out.n++;
	to->out.maybe += some->maybe;
	to->out.absent += some->absent;
	to->out.partly += some->partly;
	to->out.back += some->back;
	take_older(&to->out, since_ms);
}

/* Added up here: SQLite would sort a million rows for it. */
static int aggregate(struct groups *g)
{
	struct buf sql = BUF_INIT, columns = BUF_INIT;
	struct query *q;
	int rc;

	buf_addf(&columns, "%s, o.endpoint, o.flags & 1, o.flags & 3 = 0"
		 " AND o.absent_at_ms > 0, o.flags & 3 = 2, o.replays > 0,"
		 " o.rest_ms", ways[g->by].key);
	plan_select(&g->plan, buf_text(&columns), &sql);
	q = db_query_new(g->view->db, buf_text(&sql), DB_HERE);
	plan_bind(&g->plan, q);
	while ((rc = query_step(q)) == ST_OK) {
		struct view_group one = {
			.maybe = query_col_int(q, 2),
			.absent = query_col_int(q, 3),
			.partly = query_col_int(q, 4),
			.back = query_col_int(q, 5)};

		add_some(g, xstrdup(query_col_text(q, 0)),
			 query_col_int(q, 1), &one, query_col_int(q, 6));
	}
	query_free(q);
	buf_release(&sql);
	buf_release(&columns);
	return rc < 0 ? rc : ST_OK;
}

/* From rows */

static char *key_of(const struct groups *g, const struct op *op)
{
	const char *text = g->by == VIEW_BY_SITE ? op->site_oid
			 : g->by == VIEW_BY_SUBJECT ? op->record.subject_key
			 : op->record.form_oid;
	struct buf number = BUF_INIT;

	if (g->by != VIEW_BY_ERROR && g->by != VIEW_BY_ENDPOINT)
		return xstrdup(text ? text : "");
	buf_addi(&number, g->by == VIEW_BY_ERROR ? op->group_id
						 : op->endpoint);
	return buf_detach(&number, NULL);
}

static int look_at(void *ctx, const struct view_op *row)
{
	struct groups *g = ctx;
	const struct op *op = &row->op;
	struct view_group one = {
		.maybe = op_there(op) == THERE_MAYBE,
		.absent = op_there(op) == THERE_ABSENT,
		.partly = op_there(op) == THERE_PARTLY,
		.back = op->replays > 0};

	add_some(g, key_of(g, op), op->endpoint, &one, op->state_since_ms);
	return 0;
}

static int look_at_all(struct groups *g, const struct filter *filter)
{
	struct view_page page = {.filter = filter, .order = VIEW_OLDEST,
				 .me = g->page->me, .now_ms = g->page->now_ms};
	int64_t rc = view_ops(g->view, &page, look_at, g);

	return rc < 0 ? (int)rc : ST_OK;
}

/* What is said of them */

static int describe_error(struct groups *g, struct group *to)
{
	struct query *q = DB_Q(g->view->db, "SELECT title, reason, first_ms,"
		" last_ms, triage, by, snoozed_until_ms, ticket,"
		" (SELECT count(*) FROM note WHERE group_id = g.id"
		" AND group_id <> 0) FROM error_group g WHERE id = ?1");
	int rc;

	query_int(q, 1, to->out.id);
	rc = query_one(q);
	if (rc == ST_OK) {
		int64_t reason = query_col_int(q, 1);

		to->title = query_col_dup(q, 0);
		if (reason >= 0 && reason < OP_REASON_COUNT)
			to->out.reason = (enum op_reason)reason;
		to->out.first_ms = query_col_int(q, 2);
		to->out.last_ms = query_col_int(q, 3);
		to->triage = query_col_dup(q, 4);
		to->by = query_col_dup(q, 5);
		to->out.snoozed_until_ms = query_col_int(q, 6);
		to->ticket = query_col_dup(q, 7);
		to->out.notes = query_col_int(q, 8);
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static int describe(struct groups *g, struct group *to)
{
	const struct world_endpoint *e;
	int rc = ST_OK;

	if (g->by == VIEW_BY_ERROR && to->key)
		to->out.id = strtoll(to->key, NULL, 10);
	if (g->by == VIEW_BY_ENDPOINT && to->key)
		to->endpoint = strtoll(to->key, NULL, 10);
	e = view_world_find(&g->world, to->endpoint);
	if (!to->out.oldest_ms)
		rc = oldest_of(g, to);
	if (rc == ST_OK && to->out.id)
		rc = describe_error(g, to);
	to->out.endpoint = e ? e->name : NULL;
	if (g->by == VIEW_BY_ERROR) {
		buf_addf(&to->filter, "group:%" PRId64, to->out.id);
	} else {
		buf_addf(&to->filter, "state:%s ", op_state_name(g->state));
		if (g->by == VIEW_BY_ENDPOINT)
			to->title = xstrdup(e ? e->name : "?");
		else
			to->title = xstrdup(to->key);
		view_filter_term(&to->filter, ways[g->by].field, to->title);
	}
	return rc;
}

static int most_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->out.n != y->out.n)
		return x->out.n > y->out.n ? -1 : 1;
	if (x->key && y->key)
		return strcmp(x->key, y->key);
	return x->out.id != y->out.id ? (x->out.id > y->out.id ? 1 : -1) :
	       (x->endpoint > y->endpoint) - (x->endpoint < y->endpoint);
}

static int give(struct groups *g,
		int (*each)(void *, const struct view_group *), void *ctx)
{
	int rc = ST_OK;

	if (g->n)
		qsort(g->v, g->n, sizeof(*g->v), most_first);
	for (size_t i = 0; rc == ST_OK && i < g->n &&
	     i < (size_t)limit_of(g); i++) {
		struct group *to = &g->v[i];
		struct view_group *out = &to->out;

		rc = describe(g, to);
		if (rc != ST_OK)
			break;
		out->never = out->n - out->maybe - out->absent - out->partly;
		out->filter = buf_text(&to->filter);
		out->title = to->title ? to->title : "";
		out->triage = to->triage ? to->triage : "";
		out->triage_by = to->by;
		out->ticket = to->ticket;
		if (each(ctx, out))
			break;
	}
	return rc;
}

static int find_groups(struct groups *g, const struct filter *filter)
{
	if (g->plan.nothing)
		return ST_OK;
	if (g->plan.plain && g->by == VIEW_BY_ERROR)
		return count_all(g);
	if (g->plan.plain && g->by == VIEW_BY_ENDPOINT && !g->plan.group)
		return count_endpoints(g);
	return g->plan.filter.exact ? aggregate(g) : look_at_all(g, filter);
}

int view_groups(struct view *view, enum op_state state, enum view_group_by by,
		const struct view_page *page,
		int (*each)(void *, const struct view_group *), void *ctx)
{
	struct groups g = {.view = view, .page = page, .state = state,
			   .by = by};
	struct view_both both;
	struct view_page of_state = *page;
	int rc;

	assert(op_grouped(state) && by >= 0 && by < VIEW_BY_COUNT && each);
	of_state.filter = view_in_state(&both, state, page->filter);
	rc = view_world(view, page, &g.world);
	if (rc == ST_OK)
		rc = plan_make(view, &of_state, &g.plan);
	if (rc == ST_OK)
		rc = find_groups(&g, of_state.filter);
	if (rc == ST_OK)
		rc = give(&g, each, ctx);
	release(&g);
	return view_trouble(view, rc);
}
