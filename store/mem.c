/* mem.c - tables, transactions and meta of the store in memory. */
#include "store/mem.h"

#include <stdlib.h>
#include <string.h>

#include "store/audit.h"

/* Tables. */

void mem_put(struct mem_store *s, struct mem_table *t, size_t i, void *row)
{
	struct mem_undo *u;

	assert(s->base.tx == TX_WRITING || s->base.tx == TX_SAVED);
	assert(i <= t->n);
	if (s->undo_n == s->undo_cap) {
		s->undo_cap = s->undo_cap ? 2 * s->undo_cap : 256;
		s->undo = xrealloc(s->undo, s->undo_cap * sizeof(*s->undo));
	}
	if (i == t->n && t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->rows = xrealloc(t->rows, t->cap * sizeof(*t->rows));
	}
	u = &s->undo[s->undo_n++];
	*u = (struct mem_undo){t, i, NULL, i == t->n};
	if (u->added)
		t->n++;
	else
		u->old = t->rows[i];
	t->rows[i] = row;
}

size_t mem_add(struct mem_store *s, struct mem_table *t, void *row)
{
	size_t i = t->n;

	mem_put(s, t, i, row);
	return i;
}

size_t mem_find(const struct mem_table *t, bool (*fits)(const void *,
							const void *),
		const void *key)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->rows[i] && fits(t->rows[i], key))
			break;
	return i;
}

void *mem_copy(const void *p, size_t size)
{
	return memcpy(xmalloc(size), p, size);
}

bool mem_text_eq(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void undo_to(struct mem_store *s, size_t n)
{
	while (s->undo_n > n) {
		struct mem_undo *u = &s->undo[--s->undo_n];

		if (u->table->rows[u->i])
			u->table->free_row(u->table->rows[u->i]);
		u->table->rows[u->i] = u->old;
		if (u->added)
			u->table->n--;
	}
}

static void table_release(struct mem_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->rows[i])
			t->free_row(t->rows[i]);
	free(t->rows);
}

/* Transactions. */

static void leave(struct mem_store *s)
{
	s->base.tx = TX_IDLE;
	s->base.in_savepoint = false;
}

static void mem_rollback(struct store *st)
{
	store_door_rollback(st);
	undo_to(ms(st), 0);
	leave(ms(st));
}

static int mem_begin(struct store *st, enum store_durability durability)
{
	int rc = ST_OK;

	(void)durability;
	store_door_begin(st);
	buf_clear(&st->error);
	st->tx = TX_WRITING;
	if (st->audit)
		rc = audit_check_restored(st, ms(st)->now_ms);
	if (rc)
		mem_rollback(st);
	return rc;
}

static int mem_commit(struct store *st)
{
	struct mem_store *s = ms(st);
	size_t i;

	store_door_commit(st);
	for (i = 0; i < s->undo_n; i++)
		if (s->undo[i].old)
			s->undo[i].table->free_row(s->undo[i].old);
	s->undo_n = 0;
	leave(s);
	return ST_OK;
}

static int mem_savepoint(struct store *st)
{
	store_door_savepoint(st);
	ms(st)->undo_saved = ms(st)->undo_n;
	st->tx = TX_SAVED;
	st->in_savepoint = true;
	return ST_OK;
}

static int mem_release(struct store *st)
{
	store_door_release(st);
	st->tx = TX_WRITING;
	st->in_savepoint = false;
	return ST_OK;
}

static int mem_rollback_to(struct store *st)
{
	store_door_rollback_to(st);
	undo_to(ms(st), ms(st)->undo_saved);
	st->tx = TX_WRITING;
	st->in_savepoint = false;
	return ST_OK;
}

/* Nobody else can be there. */
static bool mem_changed(struct store *st)
{
	assert(st->tx == TX_IDLE);
	return false;
}

/* Meta. */

void mem_free_pair(void *row)
{
	struct mem_pair *p = row;

	free(p->key);
	buf_release(&p->value);
	free(p);
}

static bool is_key(const void *row, const void *key)
{
	return !strcmp(((const struct mem_pair *)row)->key, key);
}

static int mem_meta_get(struct store *st, const char *key, struct buf *out)
{
	struct mem_table *t = &ms(st)->meta;
	size_t i;

	store_door_read(st);
	assert(key && out);
	i = mem_find(t, is_key, key);
	if (i == t->n)
		return ST_NONE;
	buf_addspan(out, buf_span(&((struct mem_pair *)t->rows[i])->value));
	return ST_OK;
}

static int mem_meta_put(struct store *st, const char *key, const char *value)
{
	struct mem_table *t = &ms(st)->meta;
	struct mem_pair *p = xcalloc(1, sizeof(*p));

	store_door_write(st);
	assert(key && *key && value);
	p->key = xstrdup(key);
	buf_adds(&p->value, value);
	mem_put(ms(st), t, mem_find(t, is_key, key), p);
	return ST_OK;
}

/* name, how a row is freed */
#define MEM_TABLES(X) \
	X(meta, mem_free_pair) X(rulesets, mem_free_pair) \
	X(endpoints, mem_free_endpoint) X(states, free) \
	X(controls, mem_free_control) X(records, mem_free_record) \
	X(ops, mem_free_op) X(payloads, mem_free_payload) \
	X(flights, free) X(attempts, free) X(polls, mem_free_poll) \
	X(submissions, mem_free_submission) X(lines, mem_free_line) \
	X(unclear, mem_free_unclear) X(requests, free) X(live, free) \
	X(gauges, free) X(audit, mem_free_audit) X(groups, free)

static void mem_close(struct store *st)
{
	struct mem_store *s = ms(st);

	if (st->audit)
		audit_close(st->audit);
#define X(name, free_row) table_release(&s->name);
	MEM_TABLES(X)
#undef X
	free(s->undo);
	buf_release(&st->error);
	free(s);
}

static const struct store_ops mem_ops = {
	.name = "mem",
	.begin = mem_begin,
	.commit = mem_commit,
	.rollback = mem_rollback,
	.savepoint = mem_savepoint,
	.release = mem_release,
	.rollback_to = mem_rollback_to,
	.close = mem_close,
	.changed = mem_changed,
	.meta_get = mem_meta_get,
	.meta_put = mem_meta_put,
	.endpoint_intern = mem_endpoint_intern,
	.endpoint_each = mem_endpoint_each,
	.state_get = mem_state_get,
	.state_put = mem_state_put,
	.control_get = mem_control_get,
	.control_put = mem_control_put,
	.ruleset_put = mem_ruleset_put,
	.record_intern = mem_record_intern,
	.record_newest = mem_record_newest,
	.record_same = mem_record_same,
	.record_earlier = mem_record_earlier,
	.record_waiting = mem_record_waiting,
	.record_later = mem_record_later,
	.record_risk = mem_record_risk,
	.lane_root = mem_lane_root,
	.op_insert = mem_op_insert,
	.op_get = mem_op_get,
	.op_find = mem_op_find,
	.key_held = mem_key_held,
	.op_save = mem_op_save,
	.payload = mem_payload,
	.ready = mem_ready,
	.next_due = mem_next_due,
	.lane = mem_lane,
	.waited_for = mem_waited_for,
	.op_scan = mem_op_scan,
	.shift_due = mem_shift_due,
	.count = mem_count,
	.dead_count = mem_dead_count,
	.group_intern = mem_group_intern,
	.group_each = mem_group_each,
	.flight_put = mem_flight_put,
	.flight_get = mem_flight_get,
	.flight_drop = mem_flight_drop,
	.flight_each = mem_flight_each,
	.attempt_put = mem_attempt_put,
	.attempt_counts = mem_attempt_counts,
	.attempt_last = mem_attempt_last,
	.poll_get = mem_poll_get,
	.poll_put = mem_poll_put,
	.poll_drop = mem_poll_drop,
	.submission_put = mem_submission_put,
	.line_get = mem_line_get,
	.line_put = mem_line_put,
	.unclear_put = mem_unclear_put,
	.request_next = mem_request_next,
	.request_put = mem_request_put,
	.live_put = mem_live_put,
	.live_clear = mem_live_clear,
	.gauge_add = mem_gauge_add,
	.audit_head = mem_audit_head,
	.audit_put = mem_audit_put,
	.audit_each = mem_audit_each,
};

int store_mem_open(const struct store_options *o, struct store **out,
		   struct buf *error)
{
	struct mem_store *s = xcalloc(1, sizeof(*s));
	int rc;

	assert(o && out && error);
	*out = NULL;
	s->base.ops = &mem_ops;
	s->now_ms = o->now_ms;
#define X(name, how) s->name.free_row = how;
	MEM_TABLES(X)
#undef X
	rc = mem_begin(&s->base, DURABLE);
	assert(rc == ST_OK);
	rc = store_adopt(&s->base, o, 0, 0);
	if (rc) {
		buf_adds(error, store_error(&s->base));
		mem_rollback(&s->base);
		mem_close(&s->base);
		return rc;
	}
	*out = &s->base;
	return mem_commit(&s->base);
}
