/* sqlite_group.c - error groups, and the attempt that says what is wrong. */
#include "store/sqlite.h"

#include <string.h>

#include "store/oprow.h"

static int find(struct store *st, struct group_row *g)
{
	struct query *q = DB_Q(st->db, "SELECT id FROM error_group"
			       " WHERE endpoint = ?1 AND fingerprint = ?2");

	query_int(q, 1, g->endpoint);
	query_text(q, 2, g->fingerprint);
	return sqlite_int_of(st, q, &g->id);
}

int sqlite_group_intern(struct store *st, struct group_row *g)
{
	struct query *q;
	int rc;

	store_door_write(st);
	assert(g && g->endpoint > 0 && *g->fingerprint && *g->title);
	rc = find(st, g);
	if (rc != ST_NONE)
		return rc;
	q = DB_Q(st->db, "INSERT INTO error_group(endpoint, fingerprint,"
		 " title, state, reason, n, first_ms, last_ms, triage)"
		 " VALUES(?1, ?2, ?3, ?4, ?5, 0, ?6, ?6, 'new')");
	query_int(q, 1, g->endpoint);
	query_text(q, 2, g->fingerprint);
	query_text(q, 3, g->title);
	query_int(q, 4, g->state);
	query_int(q, 5, g->reason);
	query_int(q, 6, g->first_ms);
	rc = query_run(q);
	if (!rc)
		g->id = db_last_id(st->db);
	return store_result(st, rc);
}

int sqlite_flush_groups(struct sqlite_store *s)
{
	int rc = ST_OK;

	for (size_t i = 0; !rc && i < s->counts.groups_n; i++) {
		const struct group_delta *g = &s->counts.groups[i];
		struct query *q = DB_Q(s->base.db, "UPDATE error_group SET"
			" n = n + ?2, maybe = maybe + ?3,"
			" absent = absent + ?4, back = back + ?5,"
			" last_ms = max(last_ms, ?6), partly = partly + ?7"
			" WHERE id = ?1");

		query_int(q, 1, g->id);
		query_int(q, 2, g->n[THERE_MAYBE] + g->n[THERE_NEVER] +
			  g->n[THERE_ABSENT] + g->n[THERE_PARTLY]);
		query_int(q, 3, g->n[THERE_MAYBE]);
		query_int(q, 4, g->n[THERE_ABSENT]);
		query_int(q, 5, g->back);
		query_int(q, 6, g->last_ms);
		query_int(q, 7, g->n[THERE_PARTLY]);
		rc = query_run(q);
	}
	return rc;
}

int sqlite_group_each(struct store *st,
		      int (*each)(void *, const struct group_row *),
		      void *ctx)
{
	struct query *q;
	int rc = ST_OK, told = 0;

	assert(st->tx == TX_IDLE && each);
	q = DB_Q(st->db, "SELECT id, endpoint, state, reason, fingerprint,"
		 " title, first_ms, last_ms, maybe, n - maybe - absent"
		 " - partly, absent, back, partly FROM error_group ORDER BY id");
	while (!told && (rc = query_step(q)) == ST_OK) {
		struct group_row g = {
			.id = query_col_int(q, 0),
			.endpoint = query_col_int(q, 1),
			.state = (enum op_state)query_col_int(q, 2),
			.reason = (enum op_reason)query_col_int(q, 3),
			.first_ms = query_col_int(q, 6),
			.last_ms = query_col_int(q, 7),
			.n = {[THERE_MAYBE] = query_col_int(q, 8),
			      [THERE_NEVER] = query_col_int(q, 9),
			      [THERE_ABSENT] = query_col_int(q, 10),
			      [THERE_PARTLY] = query_col_int(q, 12)},
			.back = query_col_int(q, 11)};

		query_col_copy(q, 4, g.fingerprint, sizeof(g.fingerprint));
		query_col_copy(q, 5, g.title, sizeof(g.title));
		told = each(ctx, &g);
	}
	query_reset(q);
	if (!told && rc < 0)
		return store_result(st, rc);
	return told < 0 ? told : ST_OK;
}

int sqlite_attempt_last(struct store *st, int64_t op, struct attempt *out)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(op > 0 && out);
	q = DB_Q(st->db, "SELECT " ATTEMPT_COLUMNS " FROM attempt a"
		 " WHERE a.op = ?1 ORDER BY a.n DESC, a.id DESC LIMIT 1");
	query_int(q, 1, op);
	rc = query_one(q);
	if (rc == ST_OK) {
		attempt_read(q, 0, out);
		query_reset(q);
	}
	return store_result(st, rc);
}
