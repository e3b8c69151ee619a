/*
 * view_plan.c - see view_priv.h. A filter and an order as SQL: indexes are
 * named outright, so that no statistics and no later version of SQLite takes
 * another way over a million rows.
 */
#include "store/view_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT(state) (1u << (state))
/* Not in the partial indexes operation_attention and operation_scan. */
#define BUSY_STATES (BIT(OP_QUEUED) | BIT(OP_SENDING) | BIT(OP_COMMITTED))
#define GROUPED_STATES (BIT(OP_DEAD) | BIT(OP_REJECTED))
#define REST_STATES (GROUPED_STATES | BIT(OP_UNWATCHED) | \
		     BIT(OP_DISCARDED) | BIT(OP_SUPERSEDED))
#define ARMS_MAX 16

/* key NULL: the handle alone. */
static const struct {
	const char *key;
	bool is_text, down;
} orders[VIEW_ORDER_COUNT] = {
	[VIEW_NEWEST] = {NULL, false, true},
	[VIEW_OLDEST] = {NULL, false, false},
	[VIEW_DUE] = {"o.due_at_ms", false, false},
	[VIEW_PLACE] = {"o.place", false, false},
	[VIEW_SUBJECT] = {"r.subject", true, false},
	[VIEW_SITE] = {"coalesce(o.site_oid, '')", true, false},
	[VIEW_FORM] = {"r.form", true, false},
	[VIEW_ENDPOINT] = {"(SELECT e.name FROM endpoint e"
			   " WHERE e.id = o.endpoint)", true, false},
	[VIEW_ERROR] = {"coalesce(o.error, '')", true, false},
	[VIEW_ATTEMPTS] = {"o.attempts", false, false},
	[VIEW_SINCE] = {"o.state_since_ms", false, false},
};

/* What is at rest is never due: it comes by its age. */
static enum view_order order_of(const struct plan *p)
{
	if (p->page->order == VIEW_DUE && !(p->filter.states & ~REST_STATES))
		return VIEW_SINCE;
	return p->page->order;
}

/* What the filter says about the row's whereabouts */

/* A kid of the root: one leaf, or several of one field, any of them. */
static bool leaves_of(const struct filter *kid, enum filter_field field)
{
	if (kid->kind == FILTER_FIELD)
		return kid->field == field;
	if (kid->kind != FILTER_OR || !kid->kids_n)
		return false;
	for (size_t i = 0; i < kid->kids_n; i++)
		if (kid->kids[i]->kind != FILTER_FIELD ||
		    kid->kids[i]->field != field)
			return false;
	return true;
}

static const struct filter *only_leaf(const struct filter *kid)
{
	return kid->kind == FILTER_OR && kid->kids_n == 1 ? kid->kids[0] : kid;
}

/* Which endpoints it names, by the same SQL. */
static int find_endpoints(struct view *view, struct plan *p,
			  const struct filter *kid)
{
	struct sql_filter f;
	struct buf sql = BUF_INIT;
	struct query *q;
	int rc;

	sql_filter_make(&f, kid, 1, NULL, p->page->now_ms);
	if (!f.exact) {
		p->plain = false;
		sql_filter_release(&f);
		return ST_OK;
	}
	buf_addf(&sql, "SELECT o.endpoint FROM (SELECT id AS endpoint"
		 " FROM endpoint) o WHERE %s LIMIT %d", buf_text(&f.where),
		 PLAN_ENDPOINTS + 1);
	q = db_query_new(view->db, buf_text(&sql), DB_HERE);
	sql_filter_bind(&f, q);
	p->some_endpoints = true;
	p->endpoints = 0;
	while ((rc = query_step(q)) == ST_OK) {
		if (p->endpoints == PLAN_ENDPOINTS) {
			p->some_endpoints = p->plain = false;
			break;
		}
		p->endpoint[p->endpoints++] = query_col_int(q, 0);
	}
	query_free(q);
	buf_release(&sql);
	sql_filter_release(&f);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

static void add_token(void *ctx, struct span token)
{
	struct buf *out = ctx;

	if (out->len)
		buf_addc(out, ' ');
	buf_addspan(out, token);
}

/* A subject is found by its words; the comparison itself comes after. */
static void narrow_by_subject(struct plan *p, const struct filter *leaf)
{
	struct buf tokens = BUF_INIT;

	for (const char *c = leaf->text; *c; c++)
		if ((unsigned char)*c >= 0x80)
			return;
	filter_tokens(span_of(leaf->text), add_token, &tokens);
	if (tokens.len && !p->narrow.len) {
		buf_addf(&p->narrow, "subject : \"%s\"%s", buf_text(&tokens),
			 leaf->prefix ? " *" : "");
		p->by_word = true;
	}
	buf_release(&tokens);
}

static int read_kid(struct view *view, struct plan *p,
		    const struct filter *kid)
{
	const struct filter *leaf = only_leaf(kid);

	if (leaves_of(kid, FILTER_STATE))
		return ST_OK;
	if (leaves_of(kid, FILTER_ENDPOINT) && !p->some_endpoints)
		return find_endpoints(view, p, kid);
	if (sql_filter_group(leaf) && !p->group) {
		p->group = sql_filter_group(leaf);
		return ST_OK;
	}
	p->plain = false;
	if (leaf->kind == FILTER_WORD && leaf->tokens_n)
		p->by_word = true;
	else if (leaf->kind == FILTER_FIELD && leaf->field == FILTER_SUBJECT)
		narrow_by_subject(p, leaf);
	return ST_OK;
}

static int read_node(struct view *view, struct plan *p,
		     const struct filter *f)
{
	int rc = ST_OK;

	if (f->kind != FILTER_AND)
		return read_kid(view, p, f);
	for (size_t i = 0; rc == ST_OK && i < f->kids_n; i++)
		rc = read_node(view, p, f->kids[i]);
	return rc;
}

int plan_make(struct view *view, const struct view_page *page, struct plan *p)
{
	int rc = ST_OK;

	memset(p, 0, sizeof(*p));
	p->page = page;
	sql_filter_make(&p->filter, page->filter, PLAN_FILTER_FIRST, page->me,
			page->now_ms);
	p->plain = true;
	if (page->filter)
		rc = read_node(view, p, page->filter);
	p->plain = p->plain && p->filter.exact;
	/* Nobody else has a group. */
	if (p->group)
		p->filter.states &= GROUPED_STATES;
	p->nothing = !p->filter.states ||
		     (p->some_endpoints && !p->endpoints);
	p->whole = p->filter.states & BUSY_STATES;
	p->narrow_at = PLAN_FILTER_FIRST + (int)p->filter.values;
	return rc;
}

void plan_release(struct plan *p)
{
	sql_filter_release(&p->filter);
	buf_release(&p->narrow);
}

void plan_bind(const struct plan *p, struct query *q)
{
	sql_filter_bind(&p->filter, q);
	if (p->narrow.len)
		query_span(q, p->narrow_at, buf_span(&p->narrow));
}

/* Arms */

struct arm {
	const char *index;		/* NULL: SQLite's choice */
	const char *key;		/* NULL: the handle */
	bool keyed;			/* the index has the key, too */
	char where[80];
};

struct arms {
	struct arm v[ARMS_MAX];
	size_t n;
};

static struct arm *add_arm(struct arms *arms)
{
	assert(arms->n < ARMS_MAX);
	return &arms->v[arms->n++];
}

static void arm_of_group(const struct plan *p, bool by_age, struct arms *arms)
{
	struct arm *arm = add_arm(arms);

	arm->index = by_age ? "operation_group_age" : "operation_group";
	snprintf(arm->where, sizeof(arm->where),
		 "o.group_id = %" PRId64 " AND o.group_id <> 0", p->group);
	if (by_age)
		arm->key = "o.rest_ms";
}

static void arm_of_rest(int64_t endpoint, int state, bool by_age,
			struct arms *arms)
{
	struct arm *arm = add_arm(arms);

	arm->index = by_age ? "operation_rest_age" : "operation_rest";
	snprintf(arm->where, sizeof(arm->where),
		 "o.rest = %" PRId64 " AND o.rest <> 0",
		 REST_KEY(endpoint, state));
	if (by_age)
		arm->key = "o.rest_ms";
}

static void arm_of_state(int state, bool by_age, struct arms *arms)
{
	struct arm *arm = add_arm(arms);

	arm->index = by_age ? "operation_attention" : "operation_scan";
	snprintf(arm->where, sizeof(arm->where), "o.state = %d"
		 " AND o.state > 1 AND o.state <> 6", state);
}

static void arms_of_states(const struct plan *p, bool by_age,
			   struct arms *arms)
{
	bool rest = p->some_endpoints &&
		    !(p->filter.states & ~GROUPED_STATES) &&
		    2 * p->endpoints <= ARMS_MAX;

	for (int s = 0; s < OP_STATE_COUNT; s++) {
		if (!(p->filter.states & BIT(s)))
			continue;
		if (!rest)
			arm_of_state(s, by_age, arms);
		for (size_t i = 0; rest && i < p->endpoints; i++)
			arm_of_rest(p->endpoint[i], s, by_age, arms);
	}
}

/* Found by a word, or by walking the table. */
static void arm_of_table(const struct plan *p, struct arms *arms)
{
	struct arm *arm = add_arm(arms);

	snprintf(arm->where, sizeof(arm->where), "%s", p->whole ? "1" :
		 "o.state > 1 AND o.state <> 6");
}

static void make_arms(const struct plan *p, enum view_order order,
		      struct arms *arms)
{
	bool by_age = order == VIEW_SINCE;

	memset(arms, 0, sizeof(*arms));
	if (p->group)
		arm_of_group(p, by_age, arms);
	else if (p->by_word || p->whole)
		arm_of_table(p, arms);
	else
		arms_of_states(p, by_age, arms);
	for (size_t i = 0; i < arms->n; i++) {
		struct arm *arm = &arms->v[i];

		arm->keyed = by_age && arm->index;
		if (!arm->key)
			arm->key = orders[order].key;
	}
}

/* SQL */

static void add_from(const struct plan *p, const struct arm *arm,
		     const char *columns, struct buf *sql)
{
	const char *where = buf_text(&p->filter.where);

	if (arm->index)
		buf_addf(sql, " FROM operation o INDEXED BY %s", arm->index);
	else
		buf_adds(sql, " FROM operation o NOT INDEXED");
	if (strstr(where, "r.") || strstr(columns, "r."))
		buf_adds(sql, " CROSS JOIN record r ON r.id = o.scope");
	buf_addf(sql, " WHERE %s AND %s", arm->where, where);
	if (p->narrow.len)
		buf_addf(sql, " AND o.op IN (SELECT rowid FROM search_fts"
			 " WHERE search_fts MATCH ?%d)", p->narrow_at);
}

static void add_order(const char *key, const char *op, bool down,
		      struct buf *sql)
{
	const char *way = down ? " DESC" : "";

	buf_adds(sql, " ORDER BY ");
	if (key)
		buf_addf(sql, "%s%s, ", key, way);
	buf_addf(sql, "%s%s LIMIT ?3", op, way);
}

/* One walk of one index: where it begins is said by `start`. */
static void add_piece(const struct plan *p, const struct arm *arm,
		      const char *start, bool down, struct buf *sql)
{
	if (sql->len)
		buf_adds(sql, " UNION ALL ");
	buf_addf(sql, "SELECT op, k FROM (SELECT o.op AS op, %s AS k",
		 arm->key ? arm->key : "0");
	add_from(p, arm, arm->key ? arm->key : "", sql);
	if (start)
		buf_addf(sql, " AND %s", start);
	add_order(arm->key, "o.op", down, sql);
	buf_addc(sql, ')');
}

/* Equal keys can be a million (a store that was restored): where the index
 * has the key, they are walked by handle, apart. */
static void add_walks(const struct plan *p, const struct arm *arm,
		      enum plan_start start, bool down, struct buf *sql)
{
	const char *way = down ? "<" : ">";
	const char *same = start == PLAN_FROM ? "=" : "";
	char text[160];

	if (start == PLAN_ALL) {
		add_piece(p, arm, NULL, down, sql);
		return;
	}
	if (!arm->key) {
		snprintf(text, sizeof(text), "o.op %s%s ?2", way, same);
		add_piece(p, arm, text, down, sql);
		return;
	}
	if (!arm->keyed) {
		snprintf(text, sizeof(text), "(%s, o.op) %s%s (?1, ?2)",
			 arm->key, way, same);
		add_piece(p, arm, text, down, sql);
		return;
	}
	snprintf(text, sizeof(text), "%s = ?1 AND o.op %s%s ?2", arm->key, way,
		 same);
	add_piece(p, arm, text, down, sql);
	snprintf(text, sizeof(text), "%s %s ?1", arm->key, way);
	add_piece(p, arm, text, down, sql);
}

static bool goes_down(const struct plan *p, enum view_order order, bool back)
{
	return orders[order].down ^ p->page->descending ^ back;
}

void plan_rows(const struct plan *p, enum plan_start start, bool back,
	       struct buf *sql)
{
	enum view_order order = order_of(p);
	bool down = goes_down(p, order, back);
	struct arms arms;

	assert(!p->nothing);
	make_arms(p, order, &arms);
	assert(arms.n > 0);
	for (size_t i = 0; i < arms.n; i++)
		add_walks(p, &arms.v[i], start, down, sql);
	add_order("k", "op", down, sql);
}

bool plan_sorts(const struct plan *p)
{
	enum view_order order = order_of(p);

	return orders[order].key && !(order == VIEW_SINCE && !p->whole &&
				      !p->by_word);
}

void plan_columns(const struct plan *p, enum plan_start start, bool back,
		  struct buf *sql)
{
	const char *way = goes_down(p, order_of(p), back) ? " DESC" : "";
	struct buf rows = BUF_INIT;

	plan_rows(p, start, back, &rows);
	buf_addf(sql, "SELECT " VIEW_COLUMNS " FROM (%s) q"
		 " CROSS JOIN operation o ON o.op = q.op"
		 " JOIN record r ON r.id = o.scope"
		 " LEFT JOIN batch b ON b.id = o.batch"
		 " ORDER BY q.k%s, q.op%s", buf_text(&rows), way, way);
	buf_release(&rows);
}

void plan_count(const struct plan *p, struct buf *sql)
{
	struct arms arms;

	assert(!p->nothing);
	make_arms(p, VIEW_OLDEST, &arms);
	buf_adds(sql, "SELECT count(*) FROM (");
	for (size_t i = 0; i < arms.n; i++) {
		buf_adds(sql, i ? " UNION ALL SELECT 1" : "SELECT 1");
		add_from(p, &arms.v[i], "", sql);
	}
	buf_adds(sql, " LIMIT ?3)");
}

void plan_select(const struct plan *p, const char *columns, struct buf *sql)
{
	struct arms arms;

	assert(!p->nothing);
	make_arms(p, VIEW_OLDEST, &arms);
	for (size_t i = 0; i < arms.n; i++) {
		buf_addf(sql, "%sSELECT %s", i ? " UNION ALL " : "", columns);
		add_from(p, &arms.v[i], columns, sql);
	}
}

bool plan_names_endpoint(const struct plan *p, int64_t endpoint)
{
	for (size_t i = 0; i < p->endpoints; i++)
		if (p->endpoint[i] == endpoint)
			return true;
	return !p->some_endpoints;
}

/* Keys */

static char *text_key(enum view_order order, const struct view_op *row)
{
	const char *text = order == VIEW_SUBJECT ? row->op.record.subject_key
			 : order == VIEW_SITE ? row->op.site_oid
			 : order == VIEW_FORM ? row->op.record.form_oid
			 : order == VIEW_ENDPOINT ? row->endpoint
			 : row->op.error;

	return xstrdup(text ? text : "");
}

void plan_key_of(const struct plan *p, const struct view_op *row,
		 struct plan_key *key)
{
	enum view_order order = order_of(p);
	const struct op *op = &row->op;

	free(key->text);
	*key = (struct plan_key){.op = op->op,
				 .is_text = orders[order].is_text};
	if (key->is_text)
		key->text = text_key(order, row);
	else
		key->i = order == VIEW_DUE ? op->due_at_ms
		       : order == VIEW_PLACE ? op->place
		       : order == VIEW_ATTEMPTS ? op->attempts
		       : order == VIEW_SINCE ? op->state_since_ms : 0;
}

int plan_key_find(struct view *view, const struct plan *p, const char *op_id,
		  struct plan_key *key)
{
	enum view_order order = order_of(p);
	struct buf sql = BUF_INIT;
	struct query *q;
	int rc;

	buf_addf(&sql, "SELECT o.op, %s FROM operation o JOIN record r"
		 " ON r.id = o.scope WHERE o.op_id = ?1",
		 orders[order].key ? orders[order].key : "0");
	q = db_query_new(view->db, buf_text(&sql), DB_HERE);
	query_text(q, 1, op_id);
	rc = query_step(q);
	if (rc == ST_OK) {
		key->op = query_col_int(q, 0);
		key->is_text = orders[order].is_text;
		if (key->is_text)
			key->text = xstrdup(query_col_text(q, 1));
		else
			key->i = query_col_int(q, 1);
	}
	query_free(q);
	buf_release(&sql);
	return view_trouble(view, rc);
}

void plan_key_bind(const struct plan_key *key, struct query *q)
{
	if (key->is_text)
		query_text(q, 1, key->text);
	else
		query_int(q, 1, key->i);
	query_int(q, 2, key->op);
}
