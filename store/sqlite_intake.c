/* sqlite_intake.c - submissions, lines, unclear lines, requests, rule sets. */
#include "store/sqlite.h"

#include <stdlib.h>
#include <string.h>

int sqlite_ruleset_put(struct store *st, const char *kind, const char *sha256,
		       struct span bytes)
{
	struct query *q;

	store_door_write(st);
	assert(kind && *kind && sha256 && *sha256);
	q = DB_Q(st->db, "INSERT INTO ruleset VALUES(?1, ?2, ?3, ?4)");
	query_text(q, 1, kind);
	query_hex(q, 2, sha256);
	query_int(q, 3, sq(st)->now_ms);
	query_blob(q, 4, bytes);
	return store_result(st, query_run(q));
}

int64_t sqlite_batch(struct sqlite_store *s, const char *name, bool add)
{
	struct query *q;
	int64_t id;
	int rc;

	if (!name || !*name)
		return 0;
	q = DB_Q(s->base.db, "SELECT id FROM batch WHERE name = ?1");
	query_text(q, 1, name);
	rc = query_one(q);
	if (rc == ST_OK) {
		id = query_col_int(q, 0);
		query_reset(q);
		return id;
	}
	if (rc < 0 || !add)
		return rc < 0 ? rc : 0;
	q = DB_Q(s->base.db, "INSERT INTO batch(name) VALUES(?1)");
	query_text(q, 1, name);
	rc = query_run(q);
	return rc ? rc : db_last_id(s->base.db);
}

int sqlite_submission_put(struct store *st, struct submission_row *row)
{
	struct query *q;
	int rc;

	store_door_write(st);
	assert(row && row->batch && *row->batch);
	q = DB_Q(st->db, "INSERT INTO submission(batch, file, host, submitter,"
		 " version, at_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6)");
	query_text(q, 1, row->batch);
	query_text(q, 2, row->file);
	query_text(q, 3, row->host);
	query_text(q, 4, row->submitter);
	query_text(q, 5, row->version);
	query_int(q, 6, row->at_ms);
	rc = query_run(q);
	if (!rc)
		row->id = db_last_id(st->db);
	return store_result(st, rc);
}

int sqlite_line_get(struct store *st, const char *batch, int64_t line,
		    int64_t *op, char content_sha256[65])
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(batch && *batch && op && content_sha256);
	q = DB_Q(st->db, "SELECT op, content_sha256 FROM line WHERE batch ="
		 " (SELECT id FROM batch WHERE name = ?1) AND line = ?2");
	query_text(q, 1, batch);
	query_int(q, 2, line);
	rc = query_one(q);
	if (rc == ST_OK) {
		*op = query_col_int(q, 0);
		query_col_hex(q, 1, content_sha256);
		query_reset(q);
	}
	return store_result(st, rc);
}

int sqlite_line_put(struct store *st, const char *batch, int64_t line,
		    int64_t op, const char *content_sha256)
{
	struct query *q;
	int64_t id;

	store_door_write(st);
	assert(batch && *batch && content_sha256 && *content_sha256);
	id = sqlite_batch(sq(st), batch, true);
	if (id < 0)
		return store_result(st, (int)id);
	q = DB_Q(st->db, "INSERT INTO line VALUES(?1, ?2, ?3, ?4)");
	query_int(q, 1, id);
	query_int(q, 2, line);
	query_int(q, 3, op);
	query_hex(q, 4, content_sha256);
	return store_result(st, query_run(q));
}

/* Once per content: ST_EXISTS gives the id of the one that is kept. */
static int unclear_add(struct store *st, struct unclear_row *u)
{
	struct query *q;
	int rc;

	q = DB_Q(st->db, "INSERT INTO unclear(endpoint, record, batch, line,"
		 " line_text, why, about_op, content_sha256, state, at_ms)"
		 " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
	query_int(q, 1, u->endpoint);
	query_int(q, 2, u->record);
	query_text(q, 3, u->batch);
	query_int(q, 4, u->line);
	query_blob(q, 5, span_of(u->line_text));
	query_text(q, 6, u->why);
	query_int(q, 7, u->about_op);
	query_hex(q, 8, u->content_sha256);
	query_text(q, 9, *u->state ? u->state : "open");
	query_int(q, 10, u->at_ms);
	rc = query_run(q);
	if (!rc)
		u->id = db_last_id(st->db);
	if (rc != ST_EXISTS)
		return rc;
	q = DB_Q(st->db, "SELECT id, state, about_op FROM unclear"
		 " WHERE content_sha256 = ?1");
	query_hex(q, 1, u->content_sha256);
	if (query_one(q) == ST_OK) {
		u->id = query_col_int(q, 0);
		query_col_copy(q, 1, u->state, sizeof(u->state));
		u->about_op = query_col_int(q, 2);
		query_reset(q);
	}
	return rc;
}

int sqlite_unclear_put(struct store *st, struct unclear_row *u)
{
	struct query *q;
	int rc;

	store_door_write(st);
	assert(u && u->line_text && u->why && *u->content_sha256);
	if (!u->id)
		return store_result(st, unclear_add(st, u));
	q = DB_Q(st->db, "UPDATE unclear SET state = ?2, why = ?3,"
		 " about_op = ?4, batch = ?5, line = ?6, line_text = ?7,"
		 " at_ms = ?8, decided_by = NULL, decided_ms = NULL,"
		 " reason = NULL, op = NULL WHERE id = ?1");
	query_int(q, 1, u->id);
	query_text(q, 2, u->state);
	query_text(q, 3, u->why);
	query_int(q, 4, u->about_op);
	query_text(q, 5, u->batch);
	query_int(q, 6, u->line);
	query_blob(q, 7, span_of(u->line_text));
	query_int(q, 8, u->at_ms);
	rc = query_run(q);
	if (!rc && !db_changes(st->db))
		rc = ST_NONE;
	return store_result(st, rc);
}

int sqlite_request_next(struct store *st, struct request_row *r)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(r);
	q = DB_Q(st->db, "SELECT id, kind, endpoint, op, intervention, by,"
		 " asked_ms, state, result FROM request"
		 " WHERE state = 'asked' AND id > ?1 ORDER BY id LIMIT 1");
	query_int(q, 1, r->id);
	rc = query_one(q);
	if (rc != ST_OK)
		return store_result(st, rc);
	*r = (struct request_row){.id = query_col_int(q, 0)};
	query_col_copy(q, 1, r->kind, sizeof(r->kind));
	r->endpoint = query_col_int(q, 2);
	r->op = query_col_int(q, 3);
	r->intervention = query_col_int(q, 4);
	query_col_copy(q, 5, r->by, sizeof(r->by));
	r->asked_ms = query_col_int(q, 6);
	query_col_copy(q, 7, r->state, sizeof(r->state));
	query_col_copy(q, 8, r->result, sizeof(r->result));
	query_reset(q);
	return ST_OK;
}

int sqlite_request_put(struct store *st, struct request_row *r)
{
	struct query *q;
	int rc;

	store_door_write(st);
	assert(r && (r->id || *r->kind) && *r->state);
	q = DB_Q(st->db, "INSERT INTO request(id, kind, endpoint, op,"
		 " intervention, by, asked_ms, state, result)"
		 " VALUES(nullif(?1, 0), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
		 " ON CONFLICT(id) DO UPDATE SET state = ?8, result = ?9");
	query_int(q, 1, r->id);
	query_text(q, 2, r->kind);
	query_int(q, 3, r->endpoint);
	query_int(q, 4, r->op);
	query_int(q, 5, r->intervention);
	query_text(q, 6, r->by);
	query_int(q, 7, r->asked_ms);
	query_text(q, 8, r->state);
	query_text(q, 9, r->result);
	rc = query_run(q);
	if (!rc && !r->id)
		r->id = db_last_id(st->db);
	return store_result(st, rc);
}
