/* mem_op.c - operations, payloads and the queue. Handle = place + 1. */
#include "store/mem.h"

#include <stdlib.h>
#include <string.h>

void mem_free_op(void *row)
{
	struct mem_op *m = row;

	op_release(&m->op);
	free(m);
}

void mem_free_payload(void *row)
{
	struct mem_payload *p = row;

	buf_release(&p->bytes);
	buf_release(&p->sent);
	free(p);
}

static const struct mem_op *row_of(struct store *st, int64_t op)
{
	struct mem_table *t = &ms(st)->ops;

	return op > 0 && (size_t)op <= t->n ? t->rows[op - 1] : NULL;
}

static struct mem_op *copy_op(const struct op *src, enum op_blocks blocks)
{
	struct mem_op *m = xcalloc(1, sizeof(*m));

	op_init(&m->op);
	op_copy(&m->op, src);
	m->blocks = blocks;
	return m;
}

int mem_op_get(struct store *st, int64_t op, struct op *out)
{
	const struct mem_op *m;
	const struct record *r;

	store_door_read(st);
	assert(out);
	m = row_of(st, op);
	if (!m)
		return ST_NONE;
	op_copy(out, &m->op);
	r = ms(st)->records.rows[m->op.record.id - 1];
	out->record.newest_of_many = r->newest_of_many;
	return ST_OK;
}

static bool is_op_id(const void *row, const void *key)
{
	return !strcmp(((const struct mem_op *)row)->op.op_id, key);
}

int mem_op_find(struct store *st, const char *op_id, struct op *out)
{
	size_t i;

	store_door_read(st);
	assert(op_id && out);
	i = mem_find(&ms(st)->ops, is_op_id, op_id);
	return mem_op_get(st, (int64_t)i + 1, out);
}

static bool is_key(const void *row, const void *key)
{
	const struct op *a = &((const struct mem_op *)row)->op, *b = key;

	return a->endpoint == b->endpoint && !strcmp(a->idem_key, b->idem_key);
}

static int64_t holder_of(struct store *st, int64_t endpoint,
			 const char *idem_key)
{
	struct mem_table *t = &ms(st)->ops;
	struct op key = {.endpoint = endpoint};
	size_t i;

	text_set(key.idem_key, sizeof(key.idem_key), span_of(idem_key));
	i = mem_find(t, is_key, &key);
	return i < t->n ? (int64_t)i + 1 : 0;
}

int mem_key_held(struct store *st, int64_t endpoint, const char *idem_key,
		 int64_t *op)
{
	int64_t held;

	store_door_read(st);
	assert(endpoint > 0 && idem_key && *idem_key && op);
	held = holder_of(st, endpoint, idem_key);
	if (held)
		*op = held;
	return held ? ST_OK : ST_NONE;
}

int mem_payload(struct store *st, int64_t op, bool original, struct buf *out)
{
	struct mem_table *t = &ms(st)->payloads;
	const struct mem_payload *p;

	store_door_read(st);
	assert(op > 0 && out);
	if ((size_t)op > t->n)
		return ST_NONE;
	p = t->rows[op - 1];
	buf_addspan(out, buf_span(!original && p->sent.len ? &p->sent :
							     &p->bytes));
	return ST_OK;
}

/* The record has others: they and this one know of each other from now on. */
static void meet_others(struct mem_store *s, const struct op *op)
{
	for (size_t i = 0; i < s->ops.n; i++) {
		const struct op *other =
			&((struct mem_op *)s->ops.rows[i])->op;

		if (other->record.id != op->record.id)
			continue;
		mem_record_many(s, op->record.id, op->place > other->place ?
				op->place : other->place);
	}
}

int mem_op_insert(struct store *st, struct op *op, struct span payload,
		  struct span sent)
{
	struct mem_store *s = ms(st);
	struct mem_payload *p;

	store_door_write(st);
	assert(op->endpoint > 0 && op->record.id > 0 && *op->op_id);
	assert(op->method && op->path && *op->idem_key);
	if (mem_find(&s->ops, is_op_id, op->op_id) < s->ops.n ||
	    holder_of(st, op->endpoint, op->idem_key))
		return ST_EXISTS;
	op->op = (int64_t)s->ops.n + 1;
	if (!op->place)
		op->place = op->op;
	meet_others(s, op);
	mem_add(s, &s->ops, copy_op(op, op_blocks(op->state, op->flags,
						  false)));
	p = xcalloc(1, sizeof(*p));
	buf_addspan(&p->bytes, payload);
	buf_addspan(&p->sent, sent);
	mem_add(s, &s->payloads, p);
	return ST_OK;
}

static void set_text(char **dst, const char *src)
{
	free(*dst);
	*dst = xstrdup(src);
}

/* What op_save may change; the rest is as it was submitted. */
static void take_changes(struct op *to, const struct op *from)
{
	struct op kept = *to;

	*to = *from;
	to->record = kept.record;
	to->endpoint = kept.endpoint;
	memcpy(to->op_id, kept.op_id, sizeof(to->op_id));
	to->place = kept.place;
	to->created_at_ms = kept.created_at_ms;
	to->line = kept.line;
	to->supersedes = kept.supersedes;
	to->submission = kept.submission;
	memcpy(to->payload_sha256, kept.payload_sha256, 65);
	memcpy(to->sent_sha256, kept.sent_sha256, 65);
	memcpy(to->canonical_sha256, kept.canonical_sha256, 65);
	memcpy(to->correlation_id, kept.correlation_id, 37);
	memcpy(to->traceparent_id, kept.traceparent_id, 33);
	to->method = kept.method;
	to->path = kept.path;
	to->content_type = kept.content_type;
	to->batch = kept.batch;
	to->source_created_at = kept.source_created_at;
	to->source_author = kept.source_author;
	to->source_system = kept.source_system;
	to->source_record_id = kept.source_record_id;
	to->vendor_id = kept.vendor_id;
	to->site_oid = kept.site_oid;
	to->error = kept.error;
	to->assigned = kept.assigned;
	set_text(&to->vendor_id, from->vendor_id);
	set_text(&to->site_oid, from->site_oid);
	set_text(&to->error, from->error);
	set_text(&to->assigned, from->assigned);
}

int mem_op_save(struct store *st, const struct op *op, int64_t version_seen,
		enum op_blocks blocks)
{
	const struct mem_op *was;
	struct mem_op *m;

	store_door_write(st);
	assert(op && op->op > 0 && op->version >= version_seen);
	was = row_of(st, op->op);
	if (!was)
		return ST_NONE;
	if (was->op.version != version_seen)
		return ST_CONFLICT;
	if (strcmp(was->op.idem_key, op->idem_key) &&
	    holder_of(st, was->op.endpoint, op->idem_key))
		return ST_EXISTS;
	m = copy_op(&was->op, blocks);
	take_changes(&m->op, op);
	mem_put(ms(st), &ms(st)->ops, (size_t)op->op - 1, m);
	return ST_OK;
}

/* The queue. */

static bool is_ready(const struct op *op, int64_t endpoint)
{
	return op->runnable && op_claimable(op->state) &&
	       op->endpoint == endpoint;
}

static bool due_before(const struct op *a, const struct op *b)
{
	return a->due_at_ms < b->due_at_ms ||
	       (a->due_at_ms == b->due_at_ms && a->op < b->op);
}

int mem_ready(struct store *st, int64_t endpoint, int rank, int next,
	      int64_t now_ms, int limit, int64_t *ops)
{
	struct mem_table *t = &ms(st)->ops;
	const struct op *last = NULL;
	int n;

	store_door_read(st);
	assert(endpoint > 0 && limit >= 0 && (ops || !limit));
	for (n = 0; n < limit; n++) {
		const struct op *best = NULL;
		size_t i;

		for (i = 0; i < t->n; i++) {
			const struct op *op = &((struct mem_op *)
						t->rows[i])->op;

			if (is_ready(op, endpoint) && op->rank == rank &&
			    op->due_at_ms <= now_ms &&
			    (next < 0 || (int)op->next == next) &&
			    (!last || due_before(last, op)) &&
			    (!best || due_before(op, best)))
				best = op;
		}
		if (!best)
			break;
		ops[n] = best->op;
		last = best;
	}
	return n;
}

int mem_next_due(struct store *st, int64_t endpoint, int64_t *due_ms)
{
	struct mem_table *t = &ms(st)->ops;
	bool found = false;
	size_t i;

	store_door_read(st);
	assert(endpoint > 0 && due_ms);
	for (i = 0; i < t->n; i++) {
		const struct op *op = &((struct mem_op *)t->rows[i])->op;

		if (!is_ready(op, endpoint))
			continue;
		if (!found || op->due_at_ms < *due_ms)
			*due_ms = op->due_at_ms;
		found = true;
	}
	return found ? ST_OK : ST_NONE;
}

static bool placed_before(const struct op *a, const struct op *b)
{
	return !b || a->place < b->place ||
	       (a->place == b->place && a->op < b->op);
}

int mem_lane(struct store *st, int64_t lane, int64_t *first, int64_t *active)
{
	struct mem_table *t = &ms(st)->ops;
	const struct op *f = NULL, *a = NULL;
	size_t i;

	store_door_read(st);
	assert(first && active);
	for (i = 0; i < t->n; i++) {
		const struct mem_op *m = t->rows[i];

		if (m->blocks != BLOCKS_LANE || m->op.lane != lane)
			continue;
		if (placed_before(&m->op, f))
			f = &m->op;
		if ((m->op.runnable || op_moving(m->op.state)) &&
		    placed_before(&m->op, a))
			a = &m->op;
	}
	*first = f ? f->op : 0;
	*active = a ? a->op : 0;
	return f ? ST_OK : ST_NONE;
}

int mem_waited_for(struct store *st, const struct op *op, bool *in_lane,
		   bool *in_record)
{
	int64_t first, active;

	*in_lane = mem_lane(st, op->lane, &first, &active) == ST_OK;
	*in_record = mem_record_waiting(st, op->record.id, op->place,
					&first) == ST_OK;
	return *in_lane || *in_record ? ST_OK : ST_NONE;
}

int mem_op_scan(struct store *st, enum op_state state, int64_t endpoint,
		int64_t after_op, int limit, int64_t *ops)
{
	struct mem_table *t = &ms(st)->ops;
	size_t i;
	int n = 0;

	store_door_read(st);
	assert(state < OP_STATE_COUNT && limit >= 0 && (ops || !limit));
	for (i = after_op > 0 ? (size_t)after_op : 0; i < t->n && n < limit;
	     i++) {
		const struct op *op = &((struct mem_op *)t->rows[i])->op;

		if (op->state == state &&
		    (!endpoint || op->endpoint == endpoint))
			ops[n++] = op->op;
	}
	return n;
}

int mem_shift_due(struct store *st, int64_t now_ms, int64_t delta_ms)
{
	struct mem_table *t = &ms(st)->ops;
	size_t i;

	store_door_write(st);
	for (i = 0; i < t->n; i++) {
		const struct mem_op *m = t->rows[i];
		struct mem_op *to;

		if (m->op.state == OP_COMMITTED ||
		    m->op.state == OP_SUPERSEDED)
			continue;
		to = copy_op(&m->op, m->blocks);
		op_clock_stepped(&to->op, delta_ms);
		if (m->blocks == BLOCKS_LANE && op_claimable(m->op.state) &&
		    m->op.due_at_ms > now_ms)
			to->op.due_at_ms += delta_ms;
		mem_put(ms(st), t, i, to);
	}
	return ST_OK;
}

int mem_count(struct store *st, int64_t endpoint, enum op_state state,
	      int64_t *n)
{
	struct mem_table *t = &ms(st)->ops;
	size_t i;

	store_door_read(st);
	assert(state < OP_STATE_COUNT && n);
	*n = 0;
	for (i = 0; i < t->n; i++) {
		const struct op *op = &((struct mem_op *)t->rows[i])->op;

		*n += op->state == state &&
		      (!endpoint || op->endpoint == endpoint);
	}
	return ST_OK;
}

int mem_dead_count(struct store *st, int64_t endpoint, enum op_reason reason,
		   int64_t *n)
{
	struct mem_table *t = &ms(st)->ops;
	size_t i;

	store_door_read(st);
	assert(reason < OP_REASON_COUNT && n);
	*n = 0;
	for (i = 0; i < t->n; i++) {
		const struct op *op = &((struct mem_op *)t->rows[i])->op;

		*n += op->state == OP_DEAD && op->reason == reason &&
		      (!endpoint || op->endpoint == endpoint);
	}
	return ST_OK;
}
