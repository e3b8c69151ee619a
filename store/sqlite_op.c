/* sqlite_op.c - operations and their payloads. */
#include "store/sqlite.h"

#include <stdlib.h>
#include <string.h>

#include "store/oprow.h"

/*
 * The columns that op_save may change, in four groups: X(column, how it is
 * bound, value); the version comes last in every statement. COMMON is in no
 * index but as a condition or behind one; START is what a claim changes
 * besides, END what an answer changes besides.
 */
#define COLUMNS_COMMON(X) \
	X(state, int, op->state) X(state_before, int, op->state_before) \
	X(next, int, op->next) X(flags, int, op->flags) \
	X(reason, int, op->reason) X(evidence, int, op->evidence) \
	X(runnable, int, op->runnable) \
	X(attempts, int, op->attempts) X(tries, int, op->tries) \
	X(inconclusive, int, op->inconclusive) X(paced, int, op->paced) \
	X(cuts, int, op->cuts) X(polls, int, op->polls) \
	X(due_at_ms, int, op->due_at_ms) \
	X(due_wait_ms, int, op->due_wait_ms) \
	X(updated_at_ms, int, op->updated_at_ms) \
	X(state_since_ms, int, op->state_since_ms) \
	X(first_sent_ms, int, op->first_sent_ms) \
	X(last_risk_ms, int, op->last_risk_ms) \
	X(absent_at_ms, int, op->absent_at_ms)
#define COLUMNS_START(X) \
	X(ready, int, op->runnable && op_claimable(op->state)) \
	X(target, hex, op->target)
#define COLUMNS_END(X) \
	X(blocks, int, blocks) X(vendor_id, text, op->vendor_id) \
	X(error, text, op->error)
#define COLUMNS_REST(X) \
	X(lane, int, op->lane) X(rank, int, op->rank) \
	X(replays, int, op->replays) \
	X(life_began_ms, int, op->life_began_ms) \
	X(waited_open_ms, int, op->waited_open_ms) \
	X(group_id, int, op->group_id) \
	X(rest, int, oprow_rest(op)) X(rest_ms, int, oprow_rest_ms(op)) \
	X(assigned, text, op->assigned) X(site_oid, text, op->site_oid)

/* What was seen of operations. */

static uint64_t mix_int(uint64_t h, int64_t v)
{
	h = (h ^ (uint64_t)v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

/* NULL and "" are two. */
static uint64_t mix_text(uint64_t h, const char *text)
{
	size_t left = text ? strlen(text) : 0;
	int64_t word;

	h = mix_int(h, text ? (int64_t)left : -1);
	for (; left >= sizeof(word); left -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		text += sizeof(word);
		h = mix_int(h, word);
	}
	word = 0;
	if (left)
		memcpy(&word, text, left);
	return mix_int(h, word);
}

#define mix_hex mix_text
#define text_hash(text) mix_text(0, text)

static struct seen *seen_slot(struct sqlite_store *s, int64_t op)
{
	return &s->seen[(uint64_t)op & (SEEN_SLOTS - 1)];
}

#define MIX(column, kind, value) h = mix_##kind(h, value);

static uint64_t mark_start(const struct op *op)
{
	uint64_t h = 1;

	COLUMNS_START(MIX)
	return h;
}

static uint64_t mark_end(const struct op *op, enum op_blocks blocks)
{
	uint64_t h = 2;

	COLUMNS_END(MIX)
	return h;
}

static uint64_t mark_rest(const struct op *op)
{
	uint64_t h = 3;

	COLUMNS_REST(MIX)
	return h;
}

static struct seen seen_of(struct sqlite_store *s, const struct op *op,
			   enum op_blocks blocks)
{
	return (struct seen){
		.op = op->op, .version = op->version, .epoch = s->epoch,
		.state = op->state, .reason = op->reason,
		.group = op->group_id, .there = op_there(op),
		.back = op->replays > 0,
		.key_hash = text_hash(op->idem_key),
		.error_hash = text_hash(op->error), .start = mark_start(op),
		.end = mark_end(op, blocks), .rest = mark_rest(op),
	};
}

static void saw(struct sqlite_store *s, const struct op *op,
		enum op_blocks blocks)
{
	*seen_slot(s, op->op) = seen_of(s, op, blocks);
}

/* As it stands in the table when its version is that: from memory, or asked.
 * A new key is written before the version is known to be right: only on what
 * this transaction saw. */
static int as_stored(struct sqlite_store *s, const struct op *op,
		     int64_t version, const struct seen *now,
		     struct seen *out)
{
	struct seen *slot = seen_slot(s, op->op);
	bool held = slot->op == op->op && slot->version == version &&
		    slot->epoch >= s->trusted;
	struct op stored;
	int rc;

	if (!held || (slot->epoch != s->epoch &&
		      slot->key_hash != now->key_hash)) {
		op_init(&stored);
		rc = sqlite_op_get(&s->base, op->op, &stored);
		op_release(&stored);
		if (rc)
			return rc;
	}
	*out = *slot;
	return slot->version == version ? ST_OK : ST_CONFLICT;
}

/* Reading. */

int sqlite_op_get(struct store *st, int64_t op, struct op *out)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(out);
	q = DB_Q(st->db, "SELECT " OPROW_COLUMNS ", o.blocks FROM "
		 OPROW_FROM " WHERE o.op = ?1");
	query_int(q, 1, op);
	rc = query_one(q);
	if (rc == ST_OK) {
		oprow_read(q, out);
		if (st->tx != TX_IDLE)
			saw(sq(st), out, (enum op_blocks)
			    query_col_int(q, OPROW_N));
		query_reset(q);
	}
	return store_result(st, rc);
}

int sqlite_int_of(struct store *st, struct query *q, int64_t *out)
{
	int rc = query_one(q);

	if (rc == ST_OK) {
		*out = query_col_int(q, 0);
		query_reset(q);
	}
	return store_result(st, rc);
}

/* q gives a handle or nothing. */
int sqlite_op_of(struct store *st, struct query *q, struct op *out)
{
	int64_t op;
	int rc = query_one(q);

	if (rc != ST_OK)
		return store_result(st, rc);
	op = query_col_int(q, 0);
	query_reset(q);
	return sqlite_op_get(st, op, out);
}

int sqlite_op_find(struct store *st, const char *op_id, struct op *out)
{
	struct query *q;

	store_door_read(st);
	assert(op_id && out);
	q = DB_Q(st->db, "SELECT op FROM operation WHERE op_id = ?1");
	query_text(q, 1, op_id);
	return sqlite_op_of(st, q, out);
}

int sqlite_key_held(struct store *st, int64_t endpoint, const char *idem_key,
		    int64_t *op)
{
	struct query *q;

	store_door_read(st);
	assert(endpoint > 0 && idem_key && *idem_key && op);
	q = DB_Q(st->db, "SELECT op FROM operation WHERE endpoint = ?1"
		 " AND idem_key = ?2");
	query_int(q, 1, endpoint);
	query_hex(q, 2, idem_key);
	return sqlite_int_of(st, q, op);
}

int sqlite_payload(struct store *st, int64_t op, bool original,
		   struct buf *out)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(op > 0 && out);
	q = original ? DB_Q(st->db, "SELECT bytes FROM payload WHERE op = ?1")
		     : DB_Q(st->db, "SELECT ifnull(sent, bytes) FROM payload"
			    " WHERE op = ?1");
	query_int(q, 1, op);
	rc = query_one(q);
	if (rc == ST_OK) {
		buf_addspan(out, query_col_span(q, 0));
		query_reset(q);
	}
	return store_result(st, rc);
}

/* Writing. */

#define NAME(column, kind, value) #column ", "
#define MARK(column, kind, value) "?, "
#define SET(column, kind, value) #column " = ?, "
#define BIND(column, kind, value) query_##kind(q, i++, value);

#define COLUMNS_ALL(X) \
	COLUMNS_COMMON(X) COLUMNS_START(X) COLUMNS_END(X) COLUMNS_REST(X)

static int bind_common(struct query *q, const struct op *op)
{
	int i = 1;

	COLUMNS_COMMON(BIND)
	return i;
}

static int bind_start(struct query *q, int i, const struct op *op)
{
	COLUMNS_START(BIND)
	return i;
}

static int bind_end(struct query *q, int i, const struct op *op,
		    enum op_blocks blocks)
{
	COLUMNS_END(BIND)
	return i;
}

static int bind_rest(struct query *q, int i, const struct op *op)
{
	COLUMNS_REST(BIND)
	return i;
}

static int bind_all(struct query *q, const struct op *op,
		    enum op_blocks blocks)
{
	int i = bind_common(q, op);

	i = bind_start(q, i, op);
	i = bind_end(q, i, op, blocks);
	return bind_rest(q, i, op);
}

/*
 * New operations become searchable at the end of their transaction, together:
 * SQLite has the word index write down what it holds at every statement that
 * follows, which costs more than all the rest of an insert.
 */
int sqlite_search_put(struct store *st, int64_t from_op)
{
	struct query *q;

	q = DB_Q(st->db, "INSERT INTO search_text SELECT o.op,"
		 " ifnull(o.error, ''), r.subject, r.form, r.event,"
		 " ifnull(o.site_oid, ''), ifnull((SELECT"
		 " group_concat(char(10) || text, '') FROM note"
		 " WHERE op = o.op AND op <> 0), '')"
		 " FROM operation o JOIN record r ON r.id = o.scope"
		 " WHERE o.op >= ?1 ORDER BY o.op");
	query_int(q, 1, from_op);
	return query_run(q);
}

static int payload_put(struct store *st, int64_t op, struct span payload,
		       struct span sent)
{
	struct query *q;

	q = DB_Q(st->db, "INSERT INTO payload VALUES(?1, ?2, ?3)");
	query_int(q, 1, op);
	query_blob(q, 2, payload);
	if (sent.n)
		query_blob(q, 3, sent);
	return query_run(q);
}

/* Handles are never given twice: rows of operation are never deleted. */
static int next_handle(struct sqlite_store *s, int64_t *op)
{
	struct query *q;
	int rc;

	if (!s->next_op) {
		q = DB_Q(s->base.db, "SELECT ifnull(max(op), 0) + 1"
			 " FROM operation");
		rc = query_one(q);
		if (rc)
			return rc;
		s->next_op = query_col_int(q, 0);
		query_reset(q);
	}
	*op = s->next_op;
	return ST_OK;
}

static void bind_identity(struct query *q, int i, const struct op *op,
			  int64_t scope, int64_t batch)
{
	query_int(q, i++, op->version);
	query_int(q, i++, op->place);
	query_int(q, i++, op->op);
	query_int(q, i++, op->endpoint);
	query_int(q, i++, op->record.id);
	query_int(q, i++, scope);
	query_int(q, i++, op->created_at_ms);
	query_int(q, i++, op->revision);
	query_int(q, i++, batch);
	query_int(q, i++, op->line);
	query_int(q, i++, op->supersedes);
	query_int(q, i++, op->submission);
	query_text(q, i++, op->op_id);
	query_hex(q, i++, op->idem_key);
	query_hex(q, i++, op->payload_sha256);
	query_hex(q, i++, op->sent_sha256);
	query_hex(q, i++, op->canonical_sha256);
	query_text(q, i++, op->correlation_id);
	query_text(q, i++, op->traceparent_id);
	query_text(q, i++, op->method);
	query_text(q, i++, op->path);
	query_text(q, i++, op->content_type);
	query_text(q, i++, op->source_created_at);
	query_text(q, i++, op->source_author);
	query_text(q, i++, op->source_system);
	query_text(q, i++, op->source_record_id);
}

static int insert_row(struct store *st, const struct op *op,
		      enum op_blocks blocks, int64_t scope, int64_t batch)
{
	struct query *q;

	q = DB_Q(st->db, "INSERT INTO operation(" COLUMNS_ALL(NAME) "version,"
		 " place, op, endpoint, record, scope, created_at_ms, revision, batch,"
		 " line, supersedes, submission, op_id, idem_key,"
		 " payload_sha256, sent_sha256, canonical_sha256,"
		 " correlation_id, traceparent_id, method, path,"
		 " content_type, source_created_at, source_author,"
		 " source_system, source_record_id) VALUES("
		 COLUMNS_ALL(MARK) "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		 " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	bind_identity(q, bind_all(q, op, blocks), op, scope, batch);
	return query_run(q);
}

static void enter_group(struct sqlite_store *s, const struct op *op)
{
	if (op->group_id)
		count_group(&s->counts, op->group_id, op_there(op),
			    op->replays > 0, 1, op->state_since_ms);
}

int sqlite_op_insert(struct store *st, struct op *op, struct span payload,
		     struct span sent)
{
	struct sqlite_store *s = sq(st);
	int64_t scope = 0, batch, handle = 0, place = op->place;
	enum op_blocks blocks;
	int rc;

	store_door_write(st);
	assert(op->endpoint > 0 && op->record.id > 0 && *op->op_id);
	assert(op->method && op->path && *op->idem_key);
	batch = sqlite_batch(s, op->batch, true);
	if (batch < 0)
		return store_result(st, (int)batch);
	rc = sqlite_scope_of(st, &op->record, &scope);
	if (!rc)
		rc = next_handle(s, &handle);
	if (rc)
		return store_result(st, rc);
	op->op = handle;
	op->place = place ? place : handle;
	blocks = op_blocks(op->state, op->flags, false);
	rc = insert_row(st, op, blocks, scope, batch);
	if (rc) {
		op->op = 0;
		op->place = place;
		return store_result(st, rc);
	}
	s->next_op++;
	rc = payload_put(st, handle, payload, sent);
	if (!rc)
		rc = sqlite_record_many(st, op);
	if (!s->first_new)
		s->first_new = handle;
	count_add(&s->counts, op->endpoint, op->state, 1);
	if (op->state == OP_DEAD)
		count_dead(&s->counts, op->endpoint, op->reason, 1);
	enter_group(s, op);
	saw(s, op, blocks);
	s->wrote = true;
	return store_result(st, rc);
}

/* A replay may go out under the key of the next revision. */
static int save_key(struct store *st, const struct op *op)
{
	struct query *q;

	q = DB_Q(st->db, "UPDATE operation SET idem_key = ?2, revision = ?3"
		 " WHERE op = ?1");
	query_int(q, 1, op->op);
	query_hex(q, 2, op->idem_key);
	query_int(q, 3, op->revision);
	return query_run(q);
}

static int save_error(struct store *st, const struct op *op)
{
	struct query *q;

	q = DB_Q(st->db, "UPDATE search_text SET error = ?2 WHERE op = ?1");
	query_int(q, 1, op->op);
	query_text(q, 2, op->error ? op->error : "");
	return query_run(q);
}

/*
 * Only what may have changed: SQLite touches every index of a column that is
 * named, whatever its value. Starting and ending are what happens a thousand
 * times a second; everything else names all columns.
 */
static struct query *save_query(struct store *st, const struct op *op,
				const struct seen *before,
				const struct seen *now,
				enum op_blocks blocks, int *i)
{
	struct query *q;

	if (before->rest == now->rest && before->start == now->start) {
		q = DB_Q(st->db, "UPDATE operation SET " COLUMNS_COMMON(SET)
			 COLUMNS_END(SET) "version = ? WHERE op = ?"
			 " AND version = ?");
		*i = bind_end(q, bind_common(q, op), op, blocks);
	} else if (before->rest == now->rest && before->end == now->end) {
		q = DB_Q(st->db, "UPDATE operation SET " COLUMNS_COMMON(SET)
			 COLUMNS_START(SET) "version = ? WHERE op = ?"
			 " AND version = ?");
		*i = bind_start(q, bind_common(q, op), op);
	} else {
		q = DB_Q(st->db, "UPDATE operation SET " COLUMNS_ALL(SET)
			 "version = ? WHERE op = ? AND version = ?");
		*i = bind_all(q, op, blocks);
	}
	return q;
}

static int save_row(struct store *st, const struct op *op,
		    int64_t version_seen, const struct seen *before,
		    const struct seen *now, enum op_blocks blocks)
{
	int i, rc;
	struct query *q = save_query(st, op, before, now, blocks, &i);

	query_int(q, i++, op->version);
	query_int(q, i++, op->op);
	query_int(q, i, version_seen);
	rc = query_run(q);
	if (!rc && !db_changes(st->db))
		rc = ST_CONFLICT;
	return rc;
}

int sqlite_op_save(struct store *st, const struct op *op,
		   int64_t version_seen, enum op_blocks blocks)
{
	struct sqlite_store *s = sq(st);
	struct seen before, now;
	int rc;

	store_door_write(st);
	assert(op && op->op > 0 && op->version >= version_seen);
	now = seen_of(s, op, blocks);
	rc = as_stored(s, op, version_seen, &now, &before);
	if (!rc && before.key_hash != now.key_hash)
		rc = save_key(st, op);
	if (!rc)
		rc = save_row(st, op, version_seen, &before, &now, blocks);
	if (!rc && before.error_hash != now.error_hash)
		rc = save_error(st, op);
	if (rc)
		return store_result(st, rc);
	if (before.state != op->state) {
		count_add(&s->counts, op->endpoint, before.state, -1);
		count_add(&s->counts, op->endpoint, op->state, 1);
	}
	if (before.state == OP_DEAD)
		count_dead(&s->counts, op->endpoint, before.reason, -1);
	if (op->state == OP_DEAD)
		count_dead(&s->counts, op->endpoint, op->reason, 1);
	if (before.group)
		count_group(&s->counts, before.group, before.there,
			    before.back, -1, 0);
	enter_group(s, op);
	*seen_slot(s, op->op) = now;
	s->wrote = true;
	return ST_OK;
}
