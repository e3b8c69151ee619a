/* sqlite_queue.c - what is ready, due, first in its lane; counts. */
#include "store/sqlite.h"

/* Handles of column 0 into ops; returns how many or trouble. */
static int collect(struct store *st, struct query *q, int limit, int64_t *ops)
{
	int rc = ST_OK, n = 0;

	while (n < limit && (rc = query_step(q)) == ST_OK)
		ops[n++] = query_col_int(q, 0);
	query_reset(q);
	if (n < limit && rc < 0)
		return store_result(st, rc);
	return n;
}

int sqlite_ready(struct store *st, int64_t endpoint, int rank, int next,
		 int64_t now_ms, int limit, int64_t *ops)
{
	struct query *q;

	store_door_read(st);
	assert(endpoint > 0 && limit >= 0 && (ops || !limit));
	if (next < 0)
		q = DB_Q(st->db, "SELECT op FROM operation WHERE ready = 1"
			 " AND endpoint = ?1 AND rank = ?2"
			 " AND due_at_ms <= ?3 ORDER BY due_at_ms, op"
			 " LIMIT ?4");
	else
		q = DB_Q(st->db, "SELECT op FROM operation WHERE ready = 1"
			 " AND endpoint = ?1 AND rank = ?2"
			 " AND due_at_ms <= ?3 AND next = ?5"
			 " ORDER BY due_at_ms, op LIMIT ?4");
	query_int(q, 1, endpoint);
	query_int(q, 2, rank);
	query_int(q, 3, now_ms);
	query_int(q, 4, limit);
	if (next >= 0)
		query_int(q, 5, next);
	return collect(st, q, limit, ops);
}

int sqlite_next_due(struct store *st, int64_t endpoint, int64_t *due_ms)
{
	struct query *q;
	bool found = false;
	int rc = ST_OK, rank;

	store_door_read(st);
	assert(endpoint > 0 && due_ms);
	for (rank = OP_RANK_CREDIT; rank <= OP_RANK_NORMAL; rank++) {
		q = DB_Q(st->db, "SELECT due_at_ms FROM operation"
			 " WHERE ready = 1 AND endpoint = ?1 AND rank = ?2"
			 " ORDER BY due_at_ms LIMIT 1");
		query_int(q, 1, endpoint);
		query_int(q, 2, rank);
		rc = query_one(q);
		if (rc < 0)
			return store_result(st, rc);
		if (rc != ST_OK)
			continue;
		if (!found || query_col_int(q, 0) < *due_ms)
			*due_ms = query_col_int(q, 0);
		found = true;
		query_reset(q);
	}
	return found ? ST_OK : ST_NONE;
}

int sqlite_lane(struct store *st, int64_t lane, int64_t *first,
		int64_t *active)
{
	struct query *q;
	int rc = ST_OK;

	store_door_read(st);
	assert(first && active);
	*first = *active = 0;
	q = DB_Q(st->db, "SELECT op, state, runnable FROM operation"
		 " WHERE blocks = 2 AND lane = ?1 ORDER BY place, op");
	query_int(q, 1, lane);
	while (!*active && (rc = query_step(q)) == ST_OK) {
		int64_t op = query_col_int(q, 0);

		if (!*first)
			*first = op;
		if (op_moving((enum op_state)query_col_int(q, 1)) ||
		    query_col_int(q, 2))
			*active = op;
	}
	query_reset(q);
	if (!*active && rc < 0)
		return store_result(st, rc);
	return *first ? ST_OK : ST_NONE;
}

/* One statement for two questions: at nearly every end nobody waits. */
int sqlite_waited_for(struct store *st, const struct op *op, bool *in_lane,
		      bool *in_record)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(op && op->op > 0 && op->record.id > 0);
	q = DB_Q(st->db, "SELECT EXISTS (SELECT 1 FROM operation"
		 " WHERE blocks = 2 AND lane = ?1), EXISTS (SELECT 1"
		 " FROM operation WHERE record = ?2 AND place > ?3"
		 " AND (state = ?4 OR state = ?5))");
	query_int(q, 1, op->lane);
	query_int(q, 2, op->record.id);
	query_int(q, 3, op->place);
	query_int(q, 4, OP_QUEUED);
	query_int(q, 5, OP_WAITING);
	rc = query_one(q);
	if (rc)
		return store_result(st, rc);
	*in_lane = query_col_int(q, 0) != 0;
	*in_record = query_col_int(q, 1) != 0;
	query_reset(q);
	return *in_lane || *in_record ? ST_OK : ST_NONE;
}

int sqlite_op_scan(struct store *st, enum op_state state, int64_t endpoint,
		   int64_t after_op, int limit, int64_t *ops)
{
	struct query *q;

	store_door_read(st);
	assert(state < OP_STATE_COUNT && limit >= 0 && (ops || !limit));
	/* The literal list is what lets SQLite use the partial index. */
	if (state == OP_QUEUED || state == OP_SENDING || state == OP_COMMITTED)
		q = DB_Q(st->db, "SELECT op FROM operation WHERE op > ?3"
			 " AND +state = ?1 AND (?2 = 0 OR +endpoint = ?2)"
			 " ORDER BY op LIMIT ?4");
	else
		q = DB_Q(st->db, "SELECT op FROM operation"
			 " INDEXED BY operation_scan"
			 " WHERE state > 1 AND state <> 6 AND state = ?1"
			 " AND op > ?3 AND (?2 = 0 OR endpoint = ?2)"
			 " ORDER BY op LIMIT ?4");
	query_int(q, 1, state);
	query_int(q, 2, endpoint);
	query_int(q, 3, after_op);
	query_int(q, 4, limit);
	return collect(st, q, limit, ops);
}

/* Walks the table: clocks are seldom stepped. */
static int shift_proofs(struct store *st, int64_t delta_ms)
{
	struct query *q = DB_Q(st->db, "UPDATE operation SET"
		" first_sent_ms = iif(first_sent_ms > 0,"
		" max(first_sent_ms + ?1, 1), 0),"
		" last_risk_ms = iif(last_risk_ms > 0,"
		" max(last_risk_ms + ?1, 1), 0),"
		" absent_at_ms = iif(absent_at_ms > 0,"
		" max(absent_at_ms + ?1, 1), 0)"
		" WHERE state NOT IN (6, 10)"
		" AND (first_sent_ms > 0 OR last_risk_ms > 0)");

	query_int(q, 1, delta_ms);
	return store_result(st, query_run(q));
}

int sqlite_shift_due(struct store *st, int64_t now_ms, int64_t delta_ms)
{
	struct query *q;
	int rc;

	store_door_write(st);
	rc = shift_proofs(st, delta_ms);
	if (rc < 0)
		return rc;
	q = DB_Q(st->db, "UPDATE operation SET due_at_ms = due_at_ms + ?2"
		 " WHERE blocks = 2 AND state IN (0, 2, 4)"
		 " AND due_at_ms > ?1");
	query_int(q, 1, now_ms);
	query_int(q, 2, delta_ms);
	return store_result(st, query_run(q));
}

int sqlite_count(struct store *st, int64_t endpoint, enum op_state state,
		 int64_t *n)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(state < OP_STATE_COUNT && n);
	q = DB_Q(st->db, "SELECT ifnull(sum(n), 0) FROM counter"
		 " WHERE state = ?1 AND (?2 = 0 OR endpoint = ?2)");
	query_int(q, 1, state);
	query_int(q, 2, endpoint);
	rc = query_one(q);
	if (rc == ST_OK) {
		*n = query_col_int(q, 0);
		query_reset(q);
		if (st->tx != TX_IDLE)
			*n += count_of(&sq(st)->counts, endpoint, state);
	}
	return store_result(st, rc);
}

int sqlite_dead_count(struct store *st, int64_t endpoint,
		      enum op_reason reason, int64_t *n)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(reason < OP_REASON_COUNT && n);
	q = DB_Q(st->db, "SELECT ifnull(sum(n), 0) FROM dead_count"
		 " WHERE reason = ?1 AND (?2 = 0 OR endpoint = ?2)");
	query_int(q, 1, reason);
	query_int(q, 2, endpoint);
	rc = query_one(q);
	if (rc == ST_OK) {
		*n = query_col_int(q, 0);
		query_reset(q);
		if (st->tx != TX_IDLE)
			*n += count_dead_of(&sq(st)->counts, endpoint, reason);
	}
	return store_result(st, rc);
}
