/* view_ends.c - see view.h. Endpoints with their counts; audit records. */
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>

/* Rows looked at for the oldest of one state: enough to find it, a bound
 * for a store with a million waiting. */
#define OLDEST_ROWS 1000
#define RANKS 3

static int number_of(struct view *view, struct query *q, int64_t *out)
{
	int rc = query_one(q);

	*out = rc == ST_OK ? query_col_int(q, 0) : 0;
	query_reset(q);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

/* From the counters: no scan, however many there are. */
static int read_counts(struct view *view, struct view_endpoint *out,
		       int64_t endpoint)
{
	struct query *q = DB_Q(view->db, "SELECT state, n FROM counter"
			       " WHERE endpoint = ?1");
	int rc;

	query_int(q, 1, endpoint);
	while ((rc = query_step(q)) == ST_OK) {
		int64_t state = query_col_int(q, 0);

		if (state >= 0 && state < OP_STATE_COUNT)
			out->count[state] = query_col_int(q, 1);
	}
	query_reset(q);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

static void take_older(int64_t *oldest, int64_t found)
{
	if (found && (!*oldest || found < *oldest))
		*oldest = found;
}

/* The first due of each claim rank: for what is queued, the oldest. */
static int oldest_ready(struct view *view, int64_t endpoint, int64_t *oldest)
{
	int64_t found = 0;
	int rc = ST_OK;

	for (int rank = 0; rc == ST_OK && rank < RANKS; rank++) {
		struct query *q = DB_Q(view->db, "SELECT created_at_ms"
			" FROM operation WHERE ready = 1 AND endpoint = ?1"
			" AND rank = ?2 ORDER BY due_at_ms, op LIMIT 1");

		query_int(q, 1, endpoint);
		query_int(q, 2, rank);
		rc = number_of(view, q, &found);
		take_older(oldest, found);
	}
	return rc;
}

static int oldest_open(struct view *view, int64_t endpoint,
		       const int64_t count[OP_STATE_COUNT], int64_t *oldest)
{
	static const enum op_state states[] = {OP_WAITING, OP_CHECKING,
					       OP_POLLING};
	struct query *q;
	int64_t found = 0;
	int rc = oldest_ready(view, endpoint, oldest);

	for (size_t i = 0; rc == ST_OK && i < ARRAY_SIZE(states); i++) {
		if (count[states[i]] <= 0)
			continue;
		/* Others of that state may stand before its own. */
		q = DB_Q(view->db, "SELECT min(created_at_ms) FROM"
			" (SELECT endpoint, created_at_ms FROM operation"
			" WHERE state = ?2 AND state > 1 AND state <> 6"
			" ORDER BY state_since_ms LIMIT ?3)"
			" WHERE endpoint = ?1");
		query_int(q, 1, endpoint);
		query_int(q, 2, states[i]);
		query_int(q, 3, OLDEST_ROWS);
		rc = number_of(view, q, &found);
		take_older(oldest, found);
	}
	if (rc == ST_OK) {
		q = DB_Q(view->db, "SELECT min(o.created_at_ms) FROM flight f"
			 " JOIN operation o ON o.op = f.op"
			 " WHERE f.endpoint = ?1");
		query_int(q, 1, endpoint);
		rc = number_of(view, q, &found);
		take_older(oldest, found);
	}
	return rc;
}

static int read_pace(struct view *view, int64_t endpoint, int64_t now_ms,
		     struct view_endpoint *out)
{
	struct query *q = DB_Q(view->db, "SELECT count(*) FROM flight"
			       " WHERE endpoint = ?1");
	int rc;

	query_int(q, 1, endpoint);
	rc = number_of(view, q, &out->in_flight);
	if (rc != ST_OK)
		return rc;
	/* The last whole minute, or this one when it is the better. */
	q = DB_Q(view->db, "SELECT max(done) FROM gauge WHERE endpoint = ?1"
		 " AND minute BETWEEN ?2 - 1 AND ?2");
	query_int(q, 1, endpoint);
	query_int(q, 2, now_ms / 60000);
	return number_of(view, q, &out->ok_per_min);
}

/* The gauges know the minute of the last good answer when the engine had no
 * other reason to write its state. */
static int read_last_ok(struct view *view, int64_t endpoint,
			struct view_endpoint *out)
{
	struct query *q = DB_Q(view->db, "SELECT minute FROM gauge"
			       " WHERE endpoint = ?1 AND done > 0"
			       " ORDER BY minute DESC LIMIT 1");
	int64_t minute;
	int rc;

	query_int(q, 1, endpoint);
	rc = number_of(view, q, &minute);
	if (minute * 60000 > out->state.last_ok_ms)
		out->state.last_ok_ms = minute * 60000;
	return rc;
}

static int one_endpoint(struct view *view, const struct world_endpoint *e,
			int64_t now_ms, struct view_endpoint *out)
{
	int rc;

	memset(out, 0, sizeof(*out));
	out->name = e->name;
	out->environment = e->environment;
	out->state = e->state;
	out->control = e->control;
	rc = read_counts(view, out, e->id);
	if (rc == ST_OK)
		rc = read_pace(view, e->id, now_ms, out);
	if (rc == ST_OK)
		rc = read_last_ok(view, e->id, out);
	if (rc == ST_OK)
		rc = oldest_open(view, e->id, out->count, &out->oldest_ms);
	return rc;
}

int view_endpoints(struct view *view, int64_t now_ms,
		   int (*each)(void *, const struct view_endpoint *),
		   void *ctx)
{
	struct view_page page = {.now_ms = now_ms};
	struct world world;
	int rc = view_world(view, &page, &world);

	for (size_t i = 0; rc == ST_OK && i < world.endpoints; i++) {
		struct view_endpoint out;

		rc = one_endpoint(view, &world.endpoint[i], now_ms, &out);
		if (rc == ST_OK && each(ctx, &out))
			break;
	}
	view_world_release(&world);
	return rc;
}

/* Audit */

static void read_audit(struct query *q, struct audit_row *row,
		       struct buf *body)
{
	memset(row, 0, sizeof(*row));
	row->seq = query_col_int(q, 0);
	row->at_ms = query_col_int(q, 1);
	query_col_copy(q, 2, row->type, sizeof(row->type));
	query_col_copy(q, 3, row->op_id, sizeof(row->op_id));
	buf_clear(body);
	buf_addspan(body, query_col_span(q, 4));
	row->body = buf_span(body);
	query_col_bytes(q, 5, row->body_sha256, sizeof(row->body_sha256));
	query_col_bytes(q, 6, row->prev_hash, sizeof(row->prev_hash));
	query_col_bytes(q, 7, row->hash, sizeof(row->hash));
	query_col_bytes(q, 8, row->mac, sizeof(row->mac));
}

static struct query *audit_query(struct view *view, bool newest)
{
	return newest
		? DB_Q(view->db, "SELECT seq, at_ms, type, op_id, body,"
		       " body_sha256, prev_hash, hash, mac FROM audit"
		       " WHERE seq <= ?1 AND (?2 IS NULL OR op_id = ?2)"
		       " ORDER BY seq DESC LIMIT 1")
		: DB_Q(view->db, "SELECT seq, at_ms, type, op_id, body,"
		       " body_sha256, prev_hash, hash, mac FROM audit"
		       " WHERE seq >= ?1 AND (?2 IS NULL OR op_id = ?2)"
		       " ORDER BY seq LIMIT 1");
}

int view_audit(struct view *view, int64_t from_seq, const char *op_id,
	       int64_t limit, int (*each)(void *, const struct audit_row *),
	       void *ctx)
{
	struct buf body = BUF_INIT;
	bool newest = from_seq <= 0;
	int64_t given = 0, at = newest ? INT64_MAX : from_seq;
	int rc = ST_OK;

	/* Bodies are handed out one by one: the log is not pinned. */
	while (limit <= 0 || given < limit) {
		struct query *q = audit_query(view, newest);
		struct audit_row row;

		query_int(q, 1, at);
		query_text(q, 2, op_id);
		rc = query_one(q);
		if (rc != ST_OK)
			break;
		read_audit(q, &row, &body);
		query_reset(q);
		at = newest ? row.seq - 1 : row.seq + 1;
		given++;
		if (each(ctx, &row))
			break;
	}
	buf_release(&body);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

int view_audit_head(struct view *view, int64_t *seq, int64_t *at_ms)
{
	struct query *q = DB_Q(view->db, "SELECT seq, at_ms FROM audit"
			       " ORDER BY seq DESC LIMIT 1");
	int rc = query_one(q);

	*seq = *at_ms = 0;
	if (rc == ST_OK) {
		*seq = query_col_int(q, 0);
		*at_ms = query_col_int(q, 1);
	}
	query_reset(q);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}
