/* sqlite_rows.c - flights, attempts, polls, live rows, gauges, the chain. */
#include "store/oprow.h"
#include "store/sqlite.h"

#include <stdlib.h>
#include <string.h>

#define AUDIT_PAGE 1000

/* Durable intents. */

int sqlite_flight_put(struct store *st, const struct flight *f)
{
	struct query *q;

	store_door_write(st);
	assert(f && f->op > 0 && f->endpoint > 0);
	q = DB_Q(st->db, "INSERT INTO flight VALUES(?1, ?2, ?3, ?4, ?5, ?6,"
		 " ?7, ?8)");
	query_int(q, 1, f->op);
	query_int(q, 2, f->endpoint);
	query_int(q, 3, f->n);
	query_int(q, 4, f->kind);
	query_text(q, 5, f->request_id);
	query_int(q, 6, f->started_ms);
	query_int(q, 7, f->seq_intent);
	query_text(q, 8, f->engine);
	return store_result(st, query_run(q));
}

static void read_flight(struct query *q, struct flight *f)
{
	*f = (struct flight){.op = query_col_int(q, 0)};
	f->endpoint = query_col_int(q, 1);
	f->n = (int)query_col_int(q, 2);
	f->kind = (enum attempt_kind)query_col_int(q, 3);
	query_col_copy(q, 4, f->request_id, sizeof(f->request_id));
	f->started_ms = query_col_int(q, 5);
	f->seq_intent = query_col_int(q, 6);
	query_col_copy(q, 7, f->engine, sizeof(f->engine));
}

int sqlite_flight_get(struct store *st, int64_t op, struct flight *f)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(op > 0 && f);
	q = DB_Q(st->db, "SELECT * FROM flight WHERE op = ?1");
	query_int(q, 1, op);
	rc = query_one(q);
	if (rc == ST_OK) {
		read_flight(q, f);
		query_reset(q);
	}
	return store_result(st, rc);
}

static int run_changed(struct store *st, struct query *q)
{
	int rc = query_run(q);

	if (!rc && !db_changes(st->db))
		rc = ST_NONE;
	return store_result(st, rc);
}

int sqlite_flight_drop(struct store *st, int64_t op)
{
	struct query *q;

	store_door_write(st);
	q = DB_Q(st->db, "DELETE FROM flight WHERE op = ?1");
	query_int(q, 1, op);
	return run_changed(st, q);
}

int sqlite_flight_each(struct store *st,
		       int (*each)(void *, const struct flight *), void *ctx)
{
	struct flight *v = NULL;
	struct query *q;
	size_t n = 0, i;
	int rc, told = 0;

	store_door_read(st);
	assert(each);
	q = DB_Q(st->db, "SELECT * FROM flight ORDER BY op");
	while ((rc = query_step(q)) == ST_OK) {
		v = xrealloc(v, (n + 1) * sizeof(*v));
		read_flight(q, &v[n++]);
	}
	query_reset(q);
	for (i = 0; rc == ST_NONE && !told && i < n; i++)
		told = each(ctx, &v[i]);
	free(v);
	if (rc < 0)
		return store_result(st, rc);
	return told < 0 ? told : ST_OK;
}

static void bind_phases(struct query *q, int from, const int us[6])
{
	int i;

	for (i = 0; i < 6; i++)
		query_int(q, from + i, us[i]);
}

int sqlite_attempt_put(struct store *st, const struct attempt *a)
{
	struct query *q;

	store_door_write(st);
	assert(a && a->op >= 0 && a->endpoint > 0);
	q = DB_Q(st->db, "INSERT INTO attempt VALUES(NULL, ?1, ?2, ?3, ?4, ?5,"
		 " ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"
		 " ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)");
	query_int(q, 1, a->op);
	query_int(q, 2, a->endpoint);
	query_int(q, 3, a->n);
	query_int(q, 4, a->kind);
	query_int(q, 5, a->started_ms);
	query_int(q, 6, a->finished_ms);
	query_int(q, 7, a->layer);
	query_int(q, 8, a->status);
	query_int(q, 9, a->transport);
	query_int(q, 10, a->verdict);
	query_text(q, 11, a->rule);
	query_text(q, 12, a->why);
	query_int(q, 13, a->backoff_ms);
	query_text(q, 14, a->request_id);
	query_text(q, 15, *a->vendor_id ? a->vendor_id : NULL);
	bind_phases(q, 16, a->phases_us);
	query_text(q, 22, *a->excerpt ? a->excerpt : NULL);
	query_hex(q, 23, a->config_sha256);
	query_hex(q, 24, a->profile_sha256);
	query_int(q, 25, a->seq_intent);
	query_int(q, 26, a->seq_outcome);
	count_attempt(&sq(st)->counts, a);
	return store_result(st, query_run(q));
}

int sqlite_attempt_counts(struct store *st,
			  int (*each)(void *, const struct attempt_count *),
			  void *ctx)
{
	struct query *q;
	int rc = ST_OK, told = 0;

	assert(st->tx == TX_IDLE && each);
	q = DB_Q(st->db, "SELECT endpoint, kind, verdict, took, n, ms"
		 " FROM attempt_count");
	while (!told && (rc = query_step(q)) == ST_OK) {
		struct attempt_count c = {
			.endpoint = query_col_int(q, 0),
			.kind = (enum attempt_kind)query_col_int(q, 1),
			.verdict = (enum verdict)query_col_int(q, 2),
			.took = (int)query_col_int(q, 3),
			.n = query_col_int(q, 4), .ms = query_col_int(q, 5)};

		told = each(ctx, &c);
	}
	query_reset(q);
	if (!told && rc < 0)
		return store_result(st, rc);
	return told < 0 ? told : ST_OK;
}

/* Polls. */

int sqlite_poll_get(struct store *st, int64_t op, struct poll_row *p)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(op > 0 && p);
	q = DB_Q(st->db, "SELECT job_id, url, word, polls, seen, began_ms,"
		 " budget_left_ms, counted_ms, last_look, stage, stage_ms,"
		 " result_url FROM poll WHERE op = ?1");
	query_int(q, 1, op);
	rc = query_one(q);
	if (rc != ST_OK)
		return store_result(st, rc);
	*p = (struct poll_row){.op = op};
	query_col_copy(q, 0, p->job_id, sizeof(p->job_id));
	p->url = query_col_dup(q, 1);
	query_col_copy(q, 2, p->word, sizeof(p->word));
	p->polls = (int)query_col_int(q, 3);
	p->seen = query_col_int(q, 4) != 0;
	p->began_ms = query_col_int(q, 5);
	p->budget_left_ms = query_col_int(q, 6);
	p->counted_ms = query_col_int(q, 7);
	p->last_look = query_col_int(q, 8) != 0;
	p->stage = oprow_job_stage(query_col_int(q, 9));
	p->stage_ms = query_col_int(q, 10);
	p->result_url = query_col_dup(q, 11);
	query_reset(q);
	return ST_OK;
}

int sqlite_poll_put(struct store *st, const struct poll_row *p)
{
	struct query *q;

	store_door_write(st);
	assert(p && p->op > 0);
	q = DB_Q(st->db, "INSERT OR REPLACE INTO poll VALUES(?1, ?2, ?3, ?4,"
		 " ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)");
	query_int(q, 1, p->op);
	query_text(q, 2, p->job_id);
	query_text(q, 3, p->url);
	query_text(q, 4, p->word);
	query_int(q, 5, p->polls);
	query_int(q, 6, p->seen);
	query_int(q, 7, p->began_ms);
	query_int(q, 8, p->budget_left_ms);
	query_int(q, 9, p->counted_ms);
	query_int(q, 10, p->last_look);
	query_int(q, 11, (int64_t)p->stage);
	query_int(q, 12, p->stage_ms);
	query_text(q, 13, p->result_url);
	return store_result(st, query_run(q));
}

int sqlite_poll_drop(struct store *st, int64_t op)
{
	struct query *q;

	store_door_write(st);
	q = DB_Q(st->db, "DELETE FROM poll WHERE op = ?1");
	query_int(q, 1, op);
	return run_changed(st, q);
}

/* What is on the wire now; gauges. */

int sqlite_live_put(struct store *st, const struct live_row *l)
{
	struct query *q;

	store_door_write(st);
	assert(l && l->slot >= 0);
	q = DB_Q(st->db, "INSERT OR REPLACE INTO live VALUES(?1, ?2, ?3, ?4,"
		 " ?5, ?6, ?7)");
	query_int(q, 1, l->slot);
	query_int(q, 2, l->op);
	query_int(q, 3, l->endpoint);
	query_int(q, 4, l->n);
	query_int(q, 5, l->kind);
	query_text(q, 6, l->phase);
	query_int(q, 7, l->since_ms);
	return store_result(st, query_run(q));
}

int sqlite_live_clear(struct store *st, int slot)
{
	struct query *q;

	store_door_write(st);
	q = DB_Q(st->db, "DELETE FROM live WHERE ?1 < 0 OR slot = ?1");
	query_int(q, 1, slot);
	return store_result(st, query_run(q));
}

int sqlite_gauge_add(struct store *st, const struct gauge_row *g)
{
	uint32_t sum[ARRAY_SIZE(g->histogram)] = {0};
	struct query *q;
	size_t i;
	int rc;

	store_door_write(st);
	assert(g && g->endpoint > 0);
	q = DB_Q(st->db, "SELECT histogram FROM gauge WHERE endpoint = ?1"
		 " AND minute = ?2");
	query_int(q, 1, g->endpoint);
	query_int(q, 2, g->minute);
	rc = query_one(q);
	if (rc < 0)
		return store_result(st, rc);
	if (rc == ST_OK)
		query_col_bytes(q, 0, (uint8_t *)sum, sizeof(sum));
	query_reset(q);
	for (i = 0; i < ARRAY_SIZE(sum); i++)
		sum[i] += g->histogram[i];
	q = DB_Q(st->db, "INSERT INTO gauge VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
		 " ON CONFLICT DO UPDATE SET done = done + ?3,"
		 " failed = failed + ?4, retried = retried + ?5,"
		 " histogram = ?6");
	query_int(q, 1, g->endpoint);
	query_int(q, 2, g->minute);
	query_int(q, 3, g->done);
	query_int(q, 4, g->failed);
	query_int(q, 5, g->retried);
	query_blob(q, 6, (struct span){(const char *)sum, sizeof(sum)});
	return store_result(st, query_run(q));
}

/* The chain. */

int sqlite_audit_head(struct store *st, int64_t *seq, uint8_t hash[32])
{
	struct sqlite_store *s = sq(st);
	struct query *q;
	int rc;

	store_door_read(st);
	assert(seq && hash);
	if (st->tx == TX_IDLE || !s->head.known) {
		memset(&s->head, 0, sizeof(s->head));
		q = DB_Q(st->db, "SELECT seq, hash FROM audit"
			 " ORDER BY seq DESC LIMIT 1");
		rc = query_one(q);
		if (rc < 0)
			return store_result(st, rc);
		if (rc == ST_OK) {
			s->head.seq = query_col_int(q, 0);
			query_col_bytes(q, 1, s->head.hash, 32);
			query_reset(q);
		}
		s->head.known = st->tx != TX_IDLE;
	}
	*seq = s->head.seq;
	memcpy(hash, s->head.hash, 32);
	return ST_OK;
}

static struct span bytes32(const uint8_t *p)
{
	return (struct span){(const char *)p, 32};
}

/* Continues it the head, as this transaction read it? Nobody else can have
 * moved it since: the transaction holds the only write lock. */
static int continues(struct store *st, const struct audit_row *row)
{
	uint8_t hash[32];
	int64_t seq;
	int rc = sqlite_audit_head(st, &seq, hash);

	if (rc)
		return rc;
	if (row->seq <= seq)
		return ST_EXISTS;
	if (row->seq == seq + 1 && !memcmp(row->prev_hash, hash, 32))
		return ST_OK;
	return store_trouble(st, ST_ERROR, "an audit record must continue "
			     "the chain");
}

int sqlite_audit_put(struct store *st, const struct audit_row *row)
{
	struct sqlite_store *s = sq(st);
	struct query *q;
	int rc;

	store_door_write(st);
	assert(row && row->seq > 0 && *row->type && row->body.n);
	rc = continues(st, row);
	if (rc)
		return rc;
	q = DB_Q(st->db, "INSERT INTO audit VALUES(?1, ?2, ?3, ?4, ?5, ?6,"
		 " ?7, ?8, ?9)");
	query_int(q, 1, row->seq);
	query_int(q, 2, row->at_ms);
	query_text(q, 3, row->type);
	query_text(q, 4, *row->op_id ? row->op_id : NULL);
	query_blob(q, 5, row->body);
	query_blob(q, 6, bytes32(row->body_sha256));
	query_blob(q, 7, bytes32(row->prev_hash));
	query_blob(q, 8, bytes32(row->hash));
	query_blob(q, 9, bytes32(row->mac));
	rc = query_run(q);
	if (!rc) {
		s->head.known = true;
		s->head.seq = row->seq;
		memcpy(s->head.hash, row->hash, 32);
	}
	return store_result(st, rc);
}

static void read_audit(struct query *q, struct audit_row *row)
{
	row->seq = query_col_int(q, 0);
	row->at_ms = query_col_int(q, 1);
	query_col_copy(q, 2, row->type, sizeof(row->type));
	query_col_copy(q, 3, row->op_id, sizeof(row->op_id));
	row->body = query_col_span(q, 4);
	query_col_bytes(q, 5, row->body_sha256, 32);
	query_col_bytes(q, 6, row->prev_hash, 32);
	query_col_bytes(q, 7, row->hash, 32);
	query_col_bytes(q, 8, row->mac, 32);
}

/* In pages, so that verifying a long chain does not pin the log. */
int sqlite_audit_each(struct store *st, int64_t from_seq,
		      int (*each)(void *, const struct audit_row *), void *ctx)
{
	struct audit_row row;
	struct query *q;
	int rc, told = 0, n;

	store_door_read(st);
	assert(each);
	do {
		q = DB_Q(st->db, "SELECT * FROM audit WHERE seq >= ?1"
			 " ORDER BY seq LIMIT ?2");
		query_int(q, 1, from_seq);
		query_int(q, 2, AUDIT_PAGE);
		for (n = 0; !told && (rc = query_step(q)) == ST_OK; n++) {
			read_audit(q, &row);
			from_seq = row.seq + 1;
			told = each(ctx, &row);
		}
		query_reset(q);
	} while (!told && rc == ST_NONE && n == AUDIT_PAGE);
	if (!told && rc < 0)
		return store_result(st, rc);
	return told < 0 ? told : ST_OK;
}
