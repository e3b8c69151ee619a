/* view_metrics.c - see view.h. What a scrape is made of. */
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>

#include "store/lock.h"

/* Index entries looked at for the oldest of one state: for the first one
 * of an endpoint, those of others may stand before it. */
#define OLDEST_ROWS 2000
#define RANKS 3

static struct view_metrics_endpoint *find(struct view_metrics *m, int64_t id)
{
	for (size_t i = 0; i < m->endpoints; i++)
		if (m->endpoint[i].id == id)
			return &m->endpoint[i];
	return NULL;
}

static int end(struct view *view, struct query *q, int rc)
{
	query_reset(q);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

static int read_endpoints(struct view *view, struct view_metrics *m)
{
	struct query *q = DB_Q(view->db, "SELECT e.id, e.name, s.circuit,"
		" s.budget, s.budget_ms, s.per_second FROM endpoint e"
		" LEFT JOIN endpoint_state s ON s.endpoint = e.id"
		" ORDER BY e.name");
	int rc;

	while ((rc = query_step(q)) == ST_OK) {
		int64_t circuit = query_col_int(q, 2);

		m->endpoint = xrealloc(m->endpoint, (m->endpoints + 1) *
				       sizeof(*m->endpoint));
		m->endpoint[m->endpoints++] = (struct view_metrics_endpoint){
			.id = query_col_int(q, 0),
			.name = xstrdup(query_col_text(q, 1)),
			.circuit = circuit >= 0 && circuit <
				   CIRCUIT_STATE_COUNT ?
				   (enum circuit_state)circuit :
				   CIRCUIT_CLOSED,
			.gate = {.budget = query_col_real(q, 3),
				 .budget_ms = query_col_int(q, 4),
				 .per_second = query_col_real(q, 5)}};
	}
	return end(view, q, rc);
}

static int read_counts(struct view *view, struct view_metrics *m)
{
	struct query *q = DB_Q(view->db, "SELECT endpoint, state, n"
			       " FROM counter");
	struct view_metrics_endpoint *e;
	int64_t i;
	int rc;

	while ((rc = query_step(q)) == ST_OK) {
		e = find(m, query_col_int(q, 0));
		i = query_col_int(q, 1);
		if (e && i >= 0 && i < OP_STATE_COUNT)
			e->count[i] = query_col_int(q, 2);
	}
	rc = end(view, q, rc);
	if (rc != ST_OK)
		return rc;
	q = DB_Q(view->db, "SELECT endpoint, reason, n FROM dead_count");
	while ((rc = query_step(q)) == ST_OK) {
		e = find(m, query_col_int(q, 0));
		i = query_col_int(q, 1);
		if (e && i >= 0 && i < OP_REASON_COUNT)
			e->dead[i] = query_col_int(q, 2);
	}
	return end(view, q, rc);
}

static int read_attempts(struct view *view, struct view_metrics *m)
{
	struct query *q = DB_Q(view->db, "SELECT endpoint, kind, verdict,"
			       " took, n, ms FROM attempt_count");
	int rc;

	while ((rc = query_step(q)) == ST_OK) {
		struct view_metrics_endpoint *e =
			find(m, query_col_int(q, 0));
		int64_t kind = query_col_int(q, 1);
		int64_t verdict = query_col_int(q, 2);
		int64_t took = query_col_int(q, 3), n = query_col_int(q, 4);

		if (e && kind >= 0 && kind < ATTEMPT_KIND_COUNT &&
		    verdict >= 0 && verdict < VERDICT_COUNT)
			e->attempts[kind][verdict] += n;
		if (took >= 0 && took < TOOK_UNSEEN) {
			m->took[took] += n;
			m->took_ms += query_col_int(q, 5);
		}
	}
	return end(view, q, rc);
}

/* The first entries of one state; as far as one of each endpoint is seen. */
static int oldest_of(struct view *view, struct view_metrics *m,
		     enum op_state state)
{
	struct query *q;
	size_t left = 0;
	int rc = ST_NONE;

	for (size_t i = 0; i < m->endpoints; i++)
		if (m->endpoint[i].count[state] > 0) {
			m->endpoint[i].oldest_ms[state] = VIEW_OLDEST_UNSEEN;
			left++;
		}
	q = DB_Q(view->db, "SELECT endpoint, state_since_ms FROM operation"
		 " WHERE state = ?1 AND state > 1 AND state <> 6"
		 " ORDER BY state_since_ms LIMIT ?2");
	query_int(q, 1, state);
	query_int(q, 2, OLDEST_ROWS);
	while (left && (rc = query_step(q)) == ST_OK) {
		struct view_metrics_endpoint *e =
			find(m, query_col_int(q, 0));

		if (!e || e->oldest_ms[state] != VIEW_OLDEST_UNSEEN)
			continue;
		e->oldest_ms[state] = query_col_int(q, 1);
		left--;
	}
	return end(view, q, rc);
}

/* Queued ones stand in no index of their own: those that may go do. */
static int oldest_queued(struct view *view, struct view_metrics_endpoint *e)
{
	int64_t *oldest = &e->oldest_ms[OP_QUEUED], found;
	int rc = ST_OK;

	if (e->count[OP_QUEUED] <= 0)
		return ST_OK;
	*oldest = VIEW_OLDEST_UNSEEN;
	for (int rank = 0; rc == ST_OK && rank < RANKS; rank++) {
		struct query *q = DB_Q(view->db, "SELECT ifnull("
			"min(state_since_ms), 0) FROM (SELECT state,"
			" state_since_ms FROM operation WHERE ready = 1"
			" AND endpoint = ?1 AND rank = ?2"
			" ORDER BY due_at_ms, op LIMIT ?3) WHERE state = 0");

		query_int(q, 1, e->id);
		query_int(q, 2, rank);
		query_int(q, 3, OLDEST_ROWS);
		rc = query_one(q);
		found = rc == ST_OK ? query_col_int(q, 0) : 0;
		if (found && (*oldest < 0 || found < *oldest))
			*oldest = found;
		rc = end(view, q, rc);
	}
	return rc;
}

/* As many as are on the wire. CROSS: the few rows of flight come first. */
static int oldest_sending(struct view *view, struct view_metrics *m)
{
	struct query *q = DB_Q(view->db, "SELECT f.endpoint,"
		" min(o.state_since_ms) FROM flight f CROSS JOIN operation o"
		" ON o.op = f.op WHERE o.state = 1 GROUP BY f.endpoint");
	int rc;

	while ((rc = query_step(q)) == ST_OK) {
		struct view_metrics_endpoint *e =
			find(m, query_col_int(q, 0));

		if (e)
			e->oldest_ms[OP_SENDING] = query_col_int(q, 1);
	}
	return end(view, q, rc);
}

static int read_oldest(struct view *view, struct view_metrics *m)
{
	static const enum op_state states[] = {
		OP_WAITING, OP_CHECKING, OP_POLLING, OP_UNWATCHED,
		OP_REJECTED, OP_DEAD};
	int rc = oldest_sending(view, m);

	for (size_t i = 0; rc == ST_OK && i < m->endpoints; i++)
		rc = oldest_queued(view, &m->endpoint[i]);
	for (size_t i = 0; rc == ST_OK && i < ARRAY_SIZE(states); i++)
		rc = oldest_of(view, m, states[i]);
	return rc;
}

static int read_all(struct view *view, struct view_metrics *m)
{
	int64_t at_ms;
	int rc = read_endpoints(view, m);

	if (rc == ST_OK)
		rc = read_counts(view, m);
	if (rc == ST_OK)
		rc = read_attempts(view, m);
	if (rc == ST_OK)
		rc = read_oldest(view, m);
	if (rc == ST_OK)
		rc = view_audit_head(view, &m->audit_last_seq, &at_ms);
	return rc;
}

int view_metrics(struct view *view, struct view_metrics *out)
{
	char host[64], state[16];
	int64_t pid;
	int rc;

	assert(view && out);
	memset(out, 0, sizeof(*out));
	out->engine = engine_lock_held(view->path, &pid, host, state);
	out->engine_trouble = out->engine && !strcmp(state, ENGINE_TROUBLE);
	rc = view_trouble(view, db_exec(view->db, "BEGIN", DB_HERE));
	if (rc != ST_OK)
		return rc;
	rc = read_all(view, out);
	db_rollback(view->db);
	if (rc != ST_OK)
		view_metrics_release(out);
	return rc;
}

void view_metrics_release(struct view_metrics *m)
{
	for (size_t i = 0; i < m->endpoints; i++)
		free(m->endpoint[i].name);
	free(m->endpoint);
	memset(m, 0, sizeof(*m));
}
