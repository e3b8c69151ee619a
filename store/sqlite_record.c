/* sqlite_record.c - endpoints, what the engine and persons say of them, and
 * records. */
#include "store/sqlite.h"

#include <stdlib.h>
#include <string.h>

static void read_endpoint(struct query *q, struct endpoint_row *e)
{
	e->id = query_col_int(q, 0);
	e->name = query_col_dup(q, 1);
	e->profile = query_col_dup(q, 2);
	e->environment = query_col_dup(q, 3);
	query_col_hex(q, 4, e->config_sha256);
	query_col_hex(q, 5, e->profile_sha256);
}

int sqlite_endpoint_intern(struct store *st, struct endpoint_row *e)
{
	struct query *q;
	int rc;

	store_door_write(st);
	assert(e && e->name && *e->name);
	q = DB_Q(st->db, "INSERT INTO endpoint(name, profile, environment,"
		 " config_sha256, profile_sha256) VALUES(?1, ?2, ?3, ?4, ?5)"
		 " ON CONFLICT(name) DO UPDATE SET profile = ?2,"
		 " environment = ?3, config_sha256 = ?4, profile_sha256 = ?5"
		 " RETURNING id");
	query_text(q, 1, e->name);
	query_text(q, 2, e->profile ? e->profile : "");
	query_text(q, 3, e->environment ? e->environment : "");
	query_hex(q, 4, e->config_sha256);
	query_hex(q, 5, e->profile_sha256);
	rc = query_one(q);
	if (rc == ST_OK) {
		e->id = query_col_int(q, 0);
		rc = query_run(q);
	}
	return store_result(st, rc);
}

static void free_endpoints(struct endpoint_row *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(v[i].name);
		free(v[i].profile);
		free(v[i].environment);
	}
	free(v);
}

int sqlite_endpoint_each(struct store *st,
			 int (*each)(void *, const struct endpoint_row *),
			 void *ctx)
{
	struct endpoint_row *v = NULL;
	struct query *q;
	size_t n = 0, i;
	int rc, told = 0;

	store_door_read(st);
	q = DB_Q(st->db, "SELECT id, name, profile, environment,"
		 " config_sha256, profile_sha256 FROM endpoint ORDER BY id");
	while ((rc = query_step(q)) == ST_OK) {
		v = xrealloc(v, (n + 1) * sizeof(*v));
		read_endpoint(q, &v[n++]);
	}
	query_reset(q);
	for (i = 0; rc == ST_NONE && !told && i < n; i++)
		told = each(ctx, &v[i]);
	free_endpoints(v, n);
	if (rc < 0)
		return store_result(st, rc);
	return told < 0 ? told : ST_OK;
}

static void read_circuit(struct query *q, struct circuit *c)
{
	c->state = (enum circuit_state)query_col_int(q, 0);
	c->generation = query_col_int(q, 1);
	c->failures = (int)query_col_int(q, 2);
	c->first_op = query_col_int(q, 3);
	c->failed_ops = query_col_int(q, 4);
	c->opened_ms = query_col_int(q, 5);
	c->probe_at_ms = query_col_int(q, 6);
	c->reset_ms = query_col_int(q, 7);
	c->probe_id = (int)query_col_int(q, 8);
	c->slow_limit = (int)query_col_int(q, 9);
	c->slow_good = (int)query_col_int(q, 10);
}

void sqlite_state_read(struct query *q, int64_t endpoint,
		       struct endpoint_state *e)
{
	*e = (struct endpoint_state){.endpoint = endpoint};
	read_circuit(q, &e->circuit);
	e->gate.tokens = query_col_real(q, 11);
	e->gate.per_second = query_col_real(q, 12);
	e->gate.refilled_ms = query_col_int(q, 13);
	e->gate.paced_until_ms = query_col_int(q, 14);
	e->gate.budget = query_col_real(q, 15);
	e->gate.budget_ms = query_col_int(q, 16);
	e->halt = (enum halt_reason)query_col_int(q, 17);
	e->halted_ms = query_col_int(q, 18);
	e->halt_until_ms = query_col_int(q, 19);
	e->halt_op = query_col_int(q, 20);
	query_col_copy(q, 21, e->halt_why, sizeof(e->halt_why));
	e->resume_seen = query_col_int(q, 22);
	e->token_version = query_col_int(q, 23);
	e->token_got_ms = query_col_int(q, 24);
	e->token_renew_ms = query_col_int(q, 25);
	e->control_found = query_col_int(q, 26) != 0;
	query_col_hex(q, 27, e->target);
	e->last_ok_ms = query_col_int(q, 28);
	e->last_ok_op = query_col_int(q, 29);
	e->circuit.waited_ms = query_col_int(q, 30);
	e->circuit.waited_at_ms = query_col_int(q, 31);
}

int sqlite_state_get(struct store *st, int64_t endpoint,
		     struct endpoint_state *e)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(endpoint > 0 && e);
	q = DB_Q(st->db, "SELECT " STATE_COLUMNS " FROM endpoint_state s"
		 " WHERE s.endpoint = ?1");
	query_int(q, 1, endpoint);
	rc = query_one(q);
	if (rc == ST_OK) {
		sqlite_state_read(q, endpoint, e);
		query_reset(q);
	}
	return store_result(st, rc);
}

static void bind_circuit(struct query *q, const struct circuit *c)
{
	query_int(q, 2, c->state);
	query_int(q, 3, c->generation);
	query_int(q, 4, c->failures);
	query_int(q, 5, c->first_op);
	query_int(q, 6, c->failed_ops);
	query_int(q, 7, c->opened_ms);
	query_int(q, 8, c->probe_at_ms);
	query_int(q, 9, c->reset_ms);
	query_int(q, 10, c->probe_id);
	query_int(q, 11, c->slow_limit);
	query_int(q, 12, c->slow_good);
}

int sqlite_state_put(struct store *st, const struct endpoint_state *e)
{
	struct query *q;

	store_door_write(st);
	assert(e && e->endpoint > 0);
	q = DB_Q(st->db, "INSERT OR REPLACE INTO endpoint_state VALUES(?1, ?2,"
		 " ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,"
		 " ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26,"
		 " ?27, ?28, ?29, ?30, ?31, ?32, ?33)");
	query_int(q, 1, e->endpoint);
	bind_circuit(q, &e->circuit);
	query_real(q, 13, e->gate.tokens);
	query_real(q, 14, e->gate.per_second);
	query_int(q, 15, e->gate.refilled_ms);
	query_int(q, 16, e->gate.paced_until_ms);
	query_real(q, 17, e->gate.budget);
	query_int(q, 18, e->gate.budget_ms);
	query_int(q, 19, e->halt);
	query_int(q, 20, e->halted_ms);
	query_int(q, 21, e->halt_until_ms);
	query_int(q, 22, e->halt_op);
	query_text(q, 23, e->halt_why);
	query_int(q, 24, e->resume_seen);
	query_int(q, 25, e->token_version);
	query_int(q, 26, e->token_got_ms);
	query_int(q, 27, e->token_renew_ms);
	query_int(q, 28, e->control_found);
	query_hex(q, 29, e->target);
	query_int(q, 30, e->last_ok_ms);
	query_int(q, 31, e->last_ok_op);
	query_int(q, 32, e->circuit.waited_ms);
	query_int(q, 33, e->circuit.waited_at_ms);
	return store_result(st, query_run(q));
}

void sqlite_control_read(struct query *q, int64_t endpoint,
			 struct endpoint_control *c)
{
	*c = (struct endpoint_control){.endpoint = endpoint};
	c->paused = query_col_int(q, 0) != 0;
	c->by = query_col_dup(q, 1);
	c->reason = query_col_dup(q, 2);
	c->at_ms = query_col_int(q, 3);
	c->until_ms = query_col_int(q, 4);
	c->resume_seq = query_col_int(q, 5);
	c->resume_by = query_col_dup(q, 6);
	c->resume_reason = query_col_dup(q, 7);
	c->target_answer = (int)query_col_int(q, 8);
}

int sqlite_control_get(struct store *st, int64_t endpoint,
		       struct endpoint_control *c)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(endpoint > 0 && c);
	q = DB_Q(st->db, "SELECT " CONTROL_COLUMNS " FROM endpoint_control c"
		 " WHERE c.endpoint = ?1");
	query_int(q, 1, endpoint);
	rc = query_one(q);
	if (rc == ST_OK) {
		sqlite_control_read(q, endpoint, c);
		query_reset(q);
	}
	return store_result(st, rc);
}

int sqlite_control_put(struct store *st, const struct endpoint_control *c)
{
	struct query *q;

	store_door_write(st);
	assert(c && c->endpoint > 0);
	q = DB_Q(st->db, "INSERT OR REPLACE INTO endpoint_control"
		 " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
	query_int(q, 1, c->endpoint);
	query_int(q, 2, c->paused);
	query_text(q, 3, c->by);
	query_text(q, 4, c->reason);
	query_int(q, 5, c->at_ms);
	query_int(q, 6, c->until_ms);
	query_int(q, 7, c->resume_seq);
	query_text(q, 8, c->resume_by);
	query_text(q, 9, c->resume_reason);
	query_int(q, 10, c->target_answer);
	return store_result(st, query_run(q));
}

/* Records. Parameters 1 to 8 are the scope everywhere. */

static void bind_scope(struct query *q, const struct record *r)
{
	const char *parts[] = {r->study_oid, r->subject_key, r->event_oid,
			       r->event_repeat, r->form_oid, r->form_repeat,
			       r->record_key};
	size_t i;

	query_int(q, 1, r->endpoint);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		query_text(q, (int)i + 2, parts[i] ? parts[i] : "");
}

static int find_record(struct store *st, struct record *r)
{
	struct query *q;
	int rc;

	if (r->record_key)
		q = DB_Q(st->db, "SELECT id, newest_of_many FROM record"
			 " WHERE endpoint = ?1 AND record_key = ?8"
			 " AND record_key <> '' AND head = 1");
	else
		q = DB_Q(st->db, "SELECT id, newest_of_many FROM record"
			 " WHERE study = ?2 AND subject = ?3 AND form = ?6"
			 " AND event = ?4 AND event_repeat = ?5"
			 " AND form_repeat = ?7 AND endpoint = ?1"
			 " AND record_key = ?8");
	bind_scope(q, r);
	rc = query_one(q);
	if (rc == ST_OK) {
		r->id = query_col_int(q, 0);
		r->newest_of_many = query_col_int(q, 1);
		query_reset(q);
	}
	return rc;
}

static int add_record(struct store *st, const struct record *r, bool head,
		      int64_t *id)
{
	struct query *q;
	int rc;

	q = DB_Q(st->db, "INSERT INTO record(endpoint, study, subject, event,"
		 " event_repeat, form, form_repeat, record_key, head,"
		 " newest_of_many) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
		 " 0)");
	bind_scope(q, r);
	query_int(q, 9, head);
	rc = query_run(q);
	if (!rc)
		*id = db_last_id(st->db);
	return rc;
}

int sqlite_record_intern(struct store *st, struct record *r)
{
	int rc;

	store_door_write(st);
	assert(r && r->endpoint > 0);
	sq(st)->fresh_record = 0;
	rc = find_record(st, r);
	if (rc == ST_NONE) {
		rc = add_record(st, r, true, &r->id);
		r->newest_of_many = 0;
		if (!rc)
			sq(st)->fresh_record = r->id;
	}
	return store_result(st, rc);
}

int sqlite_scope_of(struct store *st, const struct record *r, int64_t *scope)
{
	struct query *q;
	int rc;

	*scope = r->id;
	if (!r->record_key)
		return ST_OK;
	q = DB_Q(st->db, "SELECT id FROM record WHERE study = ?2"
		 " AND subject = ?3 AND form = ?6 AND event = ?4"
		 " AND event_repeat = ?5 AND form_repeat = ?7"
		 " AND endpoint = ?1 AND record_key = ?8");
	bind_scope(q, r);
	rc = query_one(q);
	if (rc == ST_NONE)
		return add_record(st, r, false, scope);
	if (rc == ST_OK) {
		*scope = query_col_int(q, 0);
		query_reset(q);
	}
	return rc;
}

/* The record just added holds nothing else: nobody need be asked. */
int sqlite_record_many(struct store *st, const struct op *op)
{
	struct query *q;

	if (op->record.id == sq(st)->fresh_record) {
		sq(st)->fresh_record = 0;
		return ST_OK;
	}
	q = DB_Q(st->db, "UPDATE record SET newest_of_many ="
		 " (SELECT max(o.place) FROM operation o WHERE o.record = ?1)"
		 " WHERE id = ?1 AND EXISTS (SELECT 1 FROM operation o"
		 " WHERE o.record = ?1 AND o.op <> ?2)");
	query_int(q, 1, op->record.id);
	query_int(q, 2, op->op);
	return query_run(q);
}

int sqlite_record_newest(struct store *st, int64_t record, struct op *op)
{
	struct query *q;

	store_door_read(st);
	assert(record > 0 && op);
	q = DB_Q(st->db, "SELECT op FROM operation WHERE record = ?1"
		 " AND (state NOT IN (9, 10) OR flags & 1)"
		 " ORDER BY place DESC, op DESC LIMIT 1");
	query_int(q, 1, record);
	return sqlite_op_of(st, q, op);
}

int sqlite_record_same(struct store *st, int64_t record, const char *method,
		       const char *path, const char *canonical_sha256,
		       struct op *op)
{
	struct query *q;

	store_door_read(st);
	assert(record > 0 && method && path && canonical_sha256 && op);
	q = DB_Q(st->db, "SELECT op FROM operation WHERE record = ?1"
		 " AND canonical_sha256 = ?2 AND method = ?3 AND path = ?4"
		 " ORDER BY place DESC, op DESC LIMIT 1");
	query_int(q, 1, record);
	query_hex(q, 2, canonical_sha256);
	query_text(q, 3, method);
	query_text(q, 4, path);
	return sqlite_op_of(st, q, op);
}

int sqlite_record_earlier(struct store *st, int64_t record, int64_t place,
			  int64_t *op)
{
	struct query *q;

	store_door_read(st);
	assert(record > 0 && op);
	q = DB_Q(st->db, "SELECT op FROM operation WHERE record = ?1"
		 " AND place < ?2 AND blocks <> 0"
		 " ORDER BY place, op LIMIT 1");
	query_int(q, 1, record);
	query_int(q, 2, place);
	return sqlite_int_of(st, q, op);
}

int sqlite_record_waiting(struct store *st, int64_t record, int64_t place,
			  int64_t *op)
{
	struct query *q;

	store_door_read(st);
	assert(record > 0 && op);
	q = DB_Q(st->db, "SELECT op FROM operation WHERE record = ?1"
		 " AND place > ?2 AND (state = ?3 OR state = ?4)"
		 " ORDER BY place, op LIMIT 1");
	query_int(q, 1, record);
	query_int(q, 2, place);
	query_int(q, 3, OP_QUEUED);
	query_int(q, 4, OP_WAITING);
	return sqlite_int_of(st, q, op);
}

/* The rule is core's: rows are asked one by one, newest first. */
int sqlite_record_later(struct store *st, int64_t record, int64_t place,
			int64_t *op)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(record > 0 && op);
	q = DB_Q(st->db, "SELECT op, state, flags FROM operation"
		 " WHERE record = ?1 AND place > ?2"
		 " ORDER BY place DESC, op DESC");
	query_int(q, 1, record);
	query_int(q, 2, place);
	while ((rc = query_step(q)) == ST_OK) {
		*op = query_col_int(q, 0);
		if (op_makes_stale((enum op_state)query_col_int(q, 1),
				   (unsigned)query_col_int(q, 2)))
			break;
	}
	query_reset(q);
	return store_result(st, rc);
}

/* Attempts keep the time as the clock had it; a step ahead since then is seen
 * by the operation's own last risk, which is moved along. */
int sqlite_record_risk(struct store *st, int64_t record, int64_t op,
		       int64_t *ended_ms)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(record > 0 && ended_ms);
	q = DB_Q(st->db, "SELECT max(unknown + max(risk - last, 0)) FROM"
		 " (SELECT o.last_risk_ms AS risk, max(a.finished_ms) AS last,"
		 " max(iif(a.verdict = ?4, a.finished_ms, 0)) AS unknown"
		 " FROM operation o JOIN attempt a ON a.op = o.op"
		 " WHERE o.record = ?1 AND o.op <> ?2 AND a.kind = ?3"
		 " GROUP BY o.op) WHERE unknown > 0");
	query_int(q, 1, record);
	query_int(q, 2, op);
	query_int(q, 3, ATTEMPT_SEND);
	query_int(q, 4, VERDICT_UNKNOWN);
	rc = query_one(q);
	if (rc == ST_OK) {
		*ended_ms = query_col_int(q, 0);
		query_reset(q);
		rc = *ended_ms ? ST_OK : ST_NONE;
	}
	return store_result(st, rc);
}

/* Lanes. */

static int lanes_kind(struct sqlite_store *s)
{
	int64_t numbered = 0;
	struct query *q;
	int rc;

	if (s->lanes != LANES_UNASKED)
		return ST_OK;
	q = DB_Q(s->base.db, "SELECT count(*) FROM meta WHERE key = 'lanes'"
		 " AND value = 'numbered'");
	rc = query_one(q);
	if (rc)
		return rc;
	numbered = query_col_int(q, 0);
	query_reset(q);
	s->lanes = numbered ? LANES_NUMBERED : LANES_HASHED;
	return ST_OK;
}

/* Rows of record are never deleted, and a new one has the highest id: the
 * first of a subject stays the first. */
int sqlite_lane_root(struct store *st, const struct record *r, int64_t *first)
{
	struct sqlite_store *s = sq(st);
	struct query *q;
	int rc;

	store_door_write(st);
	assert(r && r->id > 0 && first);
	rc = lanes_kind(s);
	if (rc || s->lanes == LANES_HASHED)
		return rc ? store_result(st, rc) : ST_NONE;
	rc = sqlite_scope_of(st, r, first);
	if (rc)
		return store_result(st, rc);
	q = DB_Q(st->db, "SELECT id FROM record WHERE subject = ?1"
		 " AND study = ?2 ORDER BY id LIMIT 1");
	query_text(q, 1, r->subject_key ? r->subject_key : "");
	query_text(q, 2, r->study_oid ? r->study_oid : "");
	return sqlite_int_of(st, q, first);
}
