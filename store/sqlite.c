/* sqlite.c - opening, closing, transactions and meta of the SQLite store. */
#define _GNU_SOURCE
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/audit.h"
#include "store/migrate.h"

#define BUSY_MS_DEFAULT 10000

/* Transactions. */

static void forget(struct sqlite_store *s)
{
	s->epoch++;
	s->head.known = false;
	s->next_op = 0;
	s->first_new = s->fresh_record = 0;
	s->wrote = false;
	count_clear(&s->counts);
}

/* Back to IDLE, whatever happened. */
static void leave(struct sqlite_store *s)
{
	forget(s);
	s->base.tx = TX_IDLE;
	s->base.in_savepoint = false;
	turnstile_leave(s->turn);
}

static int begin(struct store *st, enum store_durability durability)
{
	struct sqlite_store *s = sq(st);
	int rc;

	store_door_begin(st);
	buf_clear(&st->error);
	if (s->read_only)
		return store_trouble(st, ST_READONLY, "the store was opened "
				     "for reading only");
	if (!turnstile_enter(s->turn, s->busy_ms, &st->error))
		return ST_BUSY;
	forget(s);
	rc = db_durable(st->db, durability == DURABLE);
	if (!rc)
		rc = query_run(DB_Q(st->db, "BEGIN IMMEDIATE"));
	if (!rc) {
		st->tx = TX_WRITING;
		if (st->audit)
			rc = audit_check_restored(st, s->now_ms);
	}
	if (rc) {
		db_rollback(st->db);
		leave(s);
	}
	return rc;
}

static int flush_count(struct sqlite_store *s, bool dead, int64_t endpoint,
		       size_t which, int64_t by)
{
	struct query *q;

	if (!by)
		return ST_OK;
	q = dead ? DB_Q(s->base.db, "INSERT INTO dead_count VALUES(?1, ?2, ?3)"
			" ON CONFLICT DO UPDATE SET n = n + excluded.n")
		 : DB_Q(s->base.db, "INSERT INTO counter VALUES(?1, ?2, ?3)"
			" ON CONFLICT DO UPDATE SET n = n + excluded.n");
	query_int(q, 1, endpoint);
	query_int(q, 2, (int64_t)which);
	query_int(q, 3, by);
	return query_run(q);
}

static int flush_attempts(struct sqlite_store *s)
{
	int rc = ST_OK;

	for (size_t i = 0; !rc && i < s->counts.attempts_n; i++) {
		const struct attempt_count *c = &s->counts.attempts[i];
		struct query *q = DB_Q(s->base.db, "INSERT INTO attempt_count"
			" VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE"
			" SET n = n + excluded.n, ms = ms + excluded.ms");

		query_int(q, 1, c->endpoint);
		query_int(q, 2, c->kind);
		query_int(q, 3, c->verdict);
		query_int(q, 4, c->took);
		query_int(q, 5, c->n);
		query_int(q, 6, c->ms);
		rc = query_run(q);
	}
	return rc;
}

static int flush_counts(struct sqlite_store *s)
{
	size_t i, k;
	int rc = ST_OK;

	for (i = 0; !rc && i < s->counts.n; i++) {
		const struct count_delta *d = &s->counts.v[i];

		for (k = 0; !rc && k < OP_STATE_COUNT; k++)
			rc = flush_count(s, false, d->endpoint, k, d->n[k]);
		for (k = 0; !rc && k < OP_REASON_COUNT; k++)
			rc = flush_count(s, true, d->endpoint, k, d->dead[k]);
	}
	if (!rc)
		rc = sqlite_flush_groups(s);
	return rc ? rc : flush_attempts(s);
}

static int commit(struct store *st)
{
	int rc;

	store_door_commit(st);
	rc = flush_counts(sq(st));
	if (!rc && sq(st)->first_new)
		rc = sqlite_search_put(st, sq(st)->first_new);
	if (!rc)
		rc = query_run(DB_Q(st->db, "COMMIT"));
	if (rc)
		return store_result(st, rc);
	leave(sq(st));
	return ST_OK;
}

static void rollback(struct store *st)
{
	store_door_rollback(st);
	db_rollback(st->db);
	if (sq(st)->wrote)
		sq(st)->trusted = sq(st)->epoch + 1;
	leave(sq(st));
}

static int savepoint(struct store *st)
{
	struct sqlite_store *s = sq(st);
	int rc;

	store_door_savepoint(st);
	rc = query_run(DB_Q(st->db, "SAVEPOINT one"));
	if (rc)
		return store_result(st, rc);
	s->head_saved = s->head;
	count_copy(&s->counts_saved, &s->counts);
	st->tx = TX_SAVED;
	st->in_savepoint = true;
	return ST_OK;
}

static int release(struct store *st)
{
	int rc;

	store_door_release(st);
	rc = query_run(DB_Q(st->db, "RELEASE one"));
	if (rc)
		return store_result(st, rc);
	st->tx = TX_WRITING;
	st->in_savepoint = false;
	return ST_OK;
}

static int rollback_to(struct store *st)
{
	struct sqlite_store *s = sq(st);
	int rc;

	store_door_rollback_to(st);
	/* Some trouble rolls everything back; then nothing can be saved. */
	if (!db_in_transaction(st->db))
		return store_trouble(st, ST_ERROR, "the whole transaction "
				     "was rolled back");
	rc = query_run(DB_Q(st->db, "ROLLBACK TO one"));
	if (!rc)
		rc = query_run(DB_Q(st->db, "RELEASE one"));
	if (rc)
		return store_result(st, rc);
	s->trusted = ++s->epoch;
	s->next_op = s->fresh_record = 0;
	s->head = s->head_saved;
	count_copy(&s->counts, &s->counts_saved);
	st->tx = TX_WRITING;
	st->in_savepoint = false;
	return ST_OK;
}

static bool changed(struct store *st)
{
	struct sqlite_store *s = sq(st);
	int64_t now = 0, before = s->data_version;

	assert(st->tx == TX_IDLE);
	if (db_data_version(st->db, &now))
		return true;	/* let the caller look and find out */
	s->data_version = now;
	return now != before;
}

/* Meta. */

static int meta_get(struct store *st, const char *key, struct buf *out)
{
	struct query *q;
	int rc;

	store_door_read(st);
	assert(key && out);
	q = DB_Q(st->db, "SELECT value FROM meta WHERE key = ?1");
	query_text(q, 1, key);
	rc = query_one(q);
	if (rc == ST_OK) {
		buf_addspan(out, query_col_span(q, 0));
		query_reset(q);
	}
	return store_result(st, rc);
}

static int meta_put(struct store *st, const char *key, const char *value)
{
	struct query *q;

	store_door_write(st);
	assert(key && *key && value);
	q = DB_Q(st->db, "INSERT OR REPLACE INTO meta VALUES(?1, ?2)");
	query_text(q, 1, key);
	query_text(q, 2, value);
	return store_result(st, query_run(q));
}

static void sqlite_close(struct store *st)
{
	struct sqlite_store *s = sq(st);

	if (st->audit)
		audit_close(st->audit);
	db_close(st->db);
	turnstile_close(s->turn);
	count_release(&s->counts);
	count_release(&s->counts_saved);
	buf_release(&st->error);
	free(st->reserve_path);
	free(s);
}

static const struct store_ops sqlite_ops = {
	.name = "sqlite",
	.begin = begin,
	.commit = commit,
	.rollback = rollback,
	.savepoint = savepoint,
	.release = release,
	.rollback_to = rollback_to,
	.close = sqlite_close,
	.changed = changed,
	.meta_get = meta_get,
	.meta_put = meta_put,
	.endpoint_intern = sqlite_endpoint_intern,
	.endpoint_each = sqlite_endpoint_each,
	.state_get = sqlite_state_get,
	.state_put = sqlite_state_put,
	.control_get = sqlite_control_get,
	.control_put = sqlite_control_put,
	.ruleset_put = sqlite_ruleset_put,
	.record_intern = sqlite_record_intern,
	.record_newest = sqlite_record_newest,
	.record_same = sqlite_record_same,
	.record_earlier = sqlite_record_earlier,
	.record_waiting = sqlite_record_waiting,
	.record_later = sqlite_record_later,
	.record_risk = sqlite_record_risk,
	.lane_root = sqlite_lane_root,
	.op_insert = sqlite_op_insert,
	.op_get = sqlite_op_get,
	.op_find = sqlite_op_find,
	.key_held = sqlite_key_held,
	.op_save = sqlite_op_save,
	.payload = sqlite_payload,
	.ready = sqlite_ready,
	.next_due = sqlite_next_due,
	.lane = sqlite_lane,
	.waited_for = sqlite_waited_for,
	.op_scan = sqlite_op_scan,
	.shift_due = sqlite_shift_due,
	.count = sqlite_count,
	.dead_count = sqlite_dead_count,
	.group_intern = sqlite_group_intern,
	.group_each = sqlite_group_each,
	.flight_put = sqlite_flight_put,
	.flight_get = sqlite_flight_get,
	.flight_drop = sqlite_flight_drop,
	.flight_each = sqlite_flight_each,
	.attempt_put = sqlite_attempt_put,
	.attempt_counts = sqlite_attempt_counts,
	.attempt_last = sqlite_attempt_last,
	.poll_get = sqlite_poll_get,
	.poll_put = sqlite_poll_put,
	.poll_drop = sqlite_poll_drop,
	.submission_put = sqlite_submission_put,
	.line_get = sqlite_line_get,
	.line_put = sqlite_line_put,
	.unclear_put = sqlite_unclear_put,
	.request_next = sqlite_request_next,
	.request_put = sqlite_request_put,
	.live_put = sqlite_live_put,
	.live_clear = sqlite_live_clear,
	.gauge_add = sqlite_gauge_add,
	.audit_head = sqlite_audit_head,
	.audit_put = sqlite_audit_put,
	.audit_each = sqlite_audit_each,
};

/* Opening. */

static void on_trouble(void *ctx, int result, const char *words)
{
	struct store *st = ctx;

	buf_clear(&st->error);
	buf_adds(&st->error, words);
	store_result(st, result);
}

static int check_place(const struct store_options *o, struct buf *error)
{
	char kind[32];

	if (path_is_network(o->path, kind)) {
		buf_addf(error, "the store %s is on %s: locks and the log "
			 "need a local disk, put it on one", o->path, kind);
		return ST_NETWORK_FS;
	}
	if (access(o->path, F_OK)) {
		if (errno != ENOENT || !o->create) {
			buf_addf(error, "cannot open the store %s: %s",
				 o->path, strerror(errno));
			return errno == ENOENT ? ST_IO : ST_READONLY;
		}
	} else if (!o->read_only && access(o->path, W_OK)) {
		buf_addf(error, "cannot write the store %s: %s", o->path,
			 strerror(errno));
		return ST_READONLY;
	}
	return ST_OK;
}

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/*
 * Looks at the file's own header before SQLite opens it for writing, because
 * switching the log on is a write, and other people's databases and plain
 * files are not ours to write to. A file of ours whose schema is still in
 * the log says 0 and one page.
 */
static int check_header(const struct store_options *o, struct buf *error)
{
	uint8_t h[DB_HEADER_BYTES];
	int n = db_header(o->path, h);
	uint32_t id;

	if (n <= 0)
		return ST_OK;	/* does not exist yet, or is empty */
	if (n != sizeof(h) || memcmp(h, "SQLite format 3", 16)) {
		buf_addf(error, "the store %s: file is not a database",
			 o->path);
		return ST_CORRUPT;
	}
	id = big_endian(h + 68);
	if (id == STORE_APPLICATION_ID || (!id && big_endian(h + 28) <= 1))
		return ST_OK;
	buf_addf(error, "the store %s: it is an SQLite database of another "
		 "program", o->path);
	return ST_CORRUPT;
}

/* The folder: the database itself may not exist on a full disk. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Whoever may write: one process at a time switches the log on and brings
 * the schema up; the store's identity is one transaction more. */
static int open_writer(struct store *st, const struct store_options *o)
{
	struct sqlite_store *s = sq(st);
	struct db_options d = {.path = o->path, .create = o->create,
			       .busy_ms = s->busy_ms};
	int from = 0, to = 0, rc;

	s->turn = turnstile_open(o->path, &st->error);
	if (!s->turn)
		return ST_READONLY;
	if (!turnstile_enter(s->turn, s->busy_ms, &st->error))
		return ST_BUSY;
	rc = db_open(&d, &st->db, &st->error);
	if (!rc)
		db_on_trouble(st->db, on_trouble, st);
	if (!rc)
		rc = migrate(st->db, o->program, o->now_ms, &from, &to);
	turnstile_leave(s->turn);
	if (!rc)
		rc = begin(st, DURABLE);
	if (rc)
		return rc;
	rc = store_adopt(st, o, from, to);
	if (!rc)
		rc = commit(st);
	if (rc)
		rollback(st);
	return rc;
}

static int open_reader(struct store *st, const struct store_options *o)
{
	struct db_options d = {.path = o->path, .read_only = true,
			       .busy_ms = sq(st)->busy_ms};
	int version = 0, rc;

	rc = db_open(&d, &st->db, &st->error);
	if (rc)
		return rc;
	db_on_trouble(st->db, on_trouble, st);
	rc = migrate_version(st->db, &version);
	if (!rc && version < migrate_newest())
		rc = store_trouble(st, ST_READONLY, "its schema %d is older "
				   "than this program's: open it once for "
				   "writing", version);
	return rc ? rc : store_adopt(st, o, version, version);
}

int store_sqlite_open(const struct store_options *o, struct store **out,
		      struct buf *error)
{
	struct sqlite_store *s;
	int64_t data_version = 0;
	int rc;

	assert(o && o->path && out && error);
	*out = NULL;
	rc = check_place(o, error);
	if (!rc)
		rc = check_header(o, error);
	if (rc)
		return rc;
	s = xcalloc(1, sizeof(*s));
	s->base.ops = &sqlite_ops;
	s->read_only = o->read_only;
	s->busy_ms = o->busy_ms > 0 ? o->busy_ms : BUSY_MS_DEFAULT;
	s->now_ms = o->now_ms;
	s->epoch = 1;
	s->base.reserve_path = folder_of(o->path);
	s->base.reserve_bytes = o->reserve_bytes;
	rc = o->read_only ? open_reader(&s->base, o) :
			    open_writer(&s->base, o);
	if (!rc)
		rc = db_data_version(s->base.db, &data_version);
	if (rc) {
		if (!strstr(buf_text(&s->base.error), o->path))
			buf_addf(error, "the store %s: ", o->path);
		buf_adds(error, buf_text(&s->base.error));
		sqlite_close(&s->base);
		return rc;
	}
	s->data_version = data_version;
	*out = &s->base;
	return ST_OK;
}
