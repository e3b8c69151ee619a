/* sqlite_op.c - operations and their payloads. */
#include "store/sqlite.h"

#include <stdlib.h>
#include <string.h>

#include "store/oprow.h"

/* What was seen of operations. */

static uint32_t text_hash(const char *text)
{
	uint32_t h = 2166136261u;

	while (text && *text)
		h = (h ^ (uint8_t)*text++) * 16777619u;
	return h;
}

static struct seen *seen_slot(struct sqlite_store *s, int64_t op)
{
	return &s->seen[(uint64_t)op & (SEEN_SLOTS - 1)];
}

void sqlite_saw(struct sqlite_store *s, const struct op *op)
{
	*seen_slot(s, op->op) = (struct seen){
		.op = op->op, .version = op->version, .epoch = s->epoch,
		.state = op->state, .key_hash = text_hash(op->idem_key),
		.error_hash = text_hash(op->error),
	};
}

/* As it stands in the table when its version is that: from memory, or asked.
 * A new key is written before the version is known to be right: only on what
 * this transaction saw. */
static int as_stored(struct sqlite_store *s, const struct op *op,
		     int64_t version, struct seen *out)
{
	struct seen *slot = seen_slot(s, op->op);
	bool held = slot->op == op->op && slot->version == version &&
		    slot->epoch >= s->trusted;
	struct op stored;
	int rc;

	if (!held || (slot->epoch != s->epoch &&
		      slot->key_hash != text_hash(op->idem_key))) {
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
	q = DB_Q(st->db, "SELECT " OPROW_COLUMNS " FROM " OPROW_FROM
		 " WHERE o.op = ?1");
	query_int(q, 1, op);
	rc = query_one(q);
	if (rc == ST_OK) {
		oprow_read(q, out);
		query_reset(q);
		if (st->tx != TX_IDLE)
			sqlite_saw(sq(st), out);
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
	int rc;

	store_door_read(st);
	assert(endpoint > 0 && idem_key && *idem_key && op);
	q = DB_Q(st->db, "SELECT op FROM operation WHERE endpoint = ?1"
		 " AND idem_key = ?2");
	query_int(q, 1, endpoint);
	query_hex(q, 2, idem_key);
	rc = query_one(q);
	if (rc == ST_OK) {
		*op = query_col_int(q, 0);
		query_reset(q);
	}
	return store_result(st, rc);
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

/* Writing. Parameters 1 to 34 are what op_save may change. */

#define CHANGING_COLUMNS \
	"lane, state, state_before, next, flags, reason, evidence, version," \
	" runnable, ready, rank, blocks, attempts, tries, inconclusive," \
	" paced, cuts, polls, replays, due_at_ms, due_wait_ms," \
	" updated_at_ms, state_since_ms, life_began_ms, first_sent_ms," \
	" last_risk_ms, absent_at_ms, waited_open_ms, group_id, target, vendor_id, error," \
	" assigned, site_oid"
#define CHANGING_VALUES \
	"?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15," \
	" ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28," \
	" ?29, ?30, ?31, ?32, ?33, ?34"

static int bind_life(struct query *q, const struct op *op,
		     enum op_blocks blocks)
{
	int i = 1;

	query_int(q, i++, op->lane);
	query_int(q, i++, op->state);
	query_int(q, i++, op->state_before);
	query_int(q, i++, op->next);
	query_int(q, i++, op->flags);
	query_int(q, i++, op->reason);
	query_int(q, i++, op->evidence);
	query_int(q, i++, op->version);
	query_int(q, i++, op->runnable);
	query_int(q, i++, op->runnable && op_claimable(op->state));
	query_int(q, i++, op->rank);
	query_int(q, i++, blocks);
	query_int(q, i++, op->attempts);
	query_int(q, i++, op->tries);
	query_int(q, i++, op->inconclusive);
	query_int(q, i++, op->paced);
	query_int(q, i++, op->cuts);
	query_int(q, i++, op->polls);
	query_int(q, i++, op->replays);
	return i;
}

static void bind_changing(struct query *q, const struct op *op,
			  enum op_blocks blocks)
{
	int i = bind_life(q, op, blocks);

	query_int(q, i++, op->due_at_ms);
	query_int(q, i++, op->due_wait_ms);
	query_int(q, i++, op->updated_at_ms);
	query_int(q, i++, op->state_since_ms);
	query_int(q, i++, op->life_began_ms);
	query_int(q, i++, op->first_sent_ms);
	query_int(q, i++, op->last_risk_ms);
	query_int(q, i++, op->absent_at_ms);
	query_int(q, i++, op->waited_open_ms);
	query_int(q, i++, op->group_id);
	query_hex(q, i++, op->target);
	query_text(q, i++, op->vendor_id);
	query_text(q, i++, op->error);
	query_text(q, i++, op->assigned);
	query_text(q, i++, op->site_oid);
	assert(i == 35);
}

static int search_put(struct store *st, const struct op *op)
{
	struct query *q;

	q = DB_Q(st->db, "INSERT INTO search_text VALUES(?1, ?2, ?3, ?4, ?5,"
		 " ?6, '')");
	query_int(q, 1, op->op);
	query_text(q, 2, op->error ? op->error : "");
	query_text(q, 3, op->record.subject_key ? op->record.subject_key : "");
	query_text(q, 4, op->record.form_oid ? op->record.form_oid : "");
	query_text(q, 5, op->record.event_oid ? op->record.event_oid : "");
	query_text(q, 6, op->site_oid ? op->site_oid : "");
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

static void bind_identity(struct query *q, const struct op *op, int64_t scope,
			  int64_t batch)
{
	int i = 35;

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
	assert(i == 60);
}

static int insert_row(struct store *st, const struct op *op,
		      enum op_blocks blocks, int64_t scope, int64_t batch)
{
	struct query *q;

	q = DB_Q(st->db, "INSERT INTO operation(" CHANGING_COLUMNS ", place, op,"
		 " endpoint, record, scope, created_at_ms, revision, batch,"
		 " line, supersedes, submission, op_id, idem_key,"
		 " payload_sha256, sent_sha256, canonical_sha256,"
		 " correlation_id, traceparent_id, method, path,"
		 " content_type, source_created_at, source_author,"
		 " source_system, source_record_id) VALUES("
		 CHANGING_VALUES ", ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43,"
		 " ?44, ?45, ?46, ?47, ?48, ?49, ?50, ?51, ?52, ?53, ?54,"
		 " ?55, ?56, ?57, ?58, ?59)");
	bind_changing(q, op, blocks);
	bind_identity(q, op, scope, batch);
	return query_run(q);
}

int sqlite_op_insert(struct store *st, struct op *op, struct span payload,
		     struct span sent)
{
	struct sqlite_store *s = sq(st);
	int64_t scope = 0, batch, handle = 0, place = op->place;
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
	rc = insert_row(st, op, op_blocks(op->state, op->flags, false), scope,
			batch);
	if (rc) {
		op->op = 0;
		op->place = place;
		return store_result(st, rc);
	}
	s->next_op++;
	rc = payload_put(st, handle, payload, sent);
	if (!rc)
		rc = search_put(st, op);
	count_add(&s->counts, op->endpoint, op->state, 1);
	sqlite_saw(s, op);
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

static int save_row(struct store *st, const struct op *op,
		    int64_t version_seen, enum op_blocks blocks)
{
	struct query *q;
	int rc;

	q = DB_Q(st->db, "UPDATE operation SET (" CHANGING_COLUMNS ") = ("
		 CHANGING_VALUES ") WHERE op = ?35 AND version = ?36");
	bind_changing(q, op, blocks);
	query_int(q, 35, op->op);
	query_int(q, 36, version_seen);
	rc = query_run(q);
	if (!rc && !db_changes(st->db))
		rc = ST_CONFLICT;
	return rc;
}

int sqlite_op_save(struct store *st, const struct op *op,
		   int64_t version_seen, enum op_blocks blocks)
{
	struct sqlite_store *s = sq(st);
	struct seen before;
	int rc;

	store_door_write(st);
	assert(op && op->op > 0 && op->version >= version_seen);
	rc = as_stored(s, op, version_seen, &before);
	if (!rc && before.key_hash != text_hash(op->idem_key))
		rc = save_key(st, op);
	if (!rc)
		rc = save_row(st, op, version_seen, blocks);
	if (!rc && before.error_hash != text_hash(op->error))
		rc = save_error(st, op);
	if (rc)
		return store_result(st, rc);
	if (before.state != op->state) {
		count_add(&s->counts, op->endpoint, before.state, -1);
		count_add(&s->counts, op->endpoint, op->state, 1);
	}
	sqlite_saw(s, op);
	return ST_OK;
}
