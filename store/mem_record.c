/* mem_record.c - endpoints, what is said of them, and records. */
#include "store/mem.h"

#include <stdlib.h>
#include <string.h>

/* Endpoints: id = place + 1. */

void mem_free_endpoint(void *row)
{
	struct endpoint_row *e = row;

	free(e->name);
	free(e->profile);
	free(e->environment);
	free(e);
}

static bool is_name(const void *row, const void *key)
{
	return !strcmp(((const struct endpoint_row *)row)->name, key);
}

int mem_endpoint_intern(struct store *st, struct endpoint_row *e)
{
	struct mem_table *t = &ms(st)->endpoints;
	struct endpoint_row *row;
	size_t i;

	store_door_write(st);
	assert(e && e->name && *e->name);
	i = mem_find(t, is_name, e->name);
	e->id = (int64_t)i + 1;
	row = mem_copy(e, sizeof(*e));
	row->name = xstrdup(e->name);
	row->profile = xstrdup(e->profile ? e->profile : "");
	row->environment = xstrdup(e->environment ? e->environment : "");
	mem_put(ms(st), t, i, row);
	return ST_OK;
}

int mem_endpoint_each(struct store *st,
		      int (*each)(void *, const struct endpoint_row *),
		      void *ctx)
{
	struct mem_table *t = &ms(st)->endpoints;
	size_t i, n = t->n;
	int told = 0;

	store_door_read(st);
	for (i = 0; !told && i < n; i++)
		told = each(ctx, t->rows[i]);
	return told < 0 ? told : ST_OK;
}

static bool is_state_of(const void *row, const void *key)
{
	return ((const struct endpoint_state *)row)->endpoint ==
	       *(const int64_t *)key;
}

int mem_state_get(struct store *st, int64_t endpoint, struct endpoint_state *e)
{
	struct mem_table *t = &ms(st)->states;
	size_t i;

	store_door_read(st);
	assert(endpoint > 0 && e);
	i = mem_find(t, is_state_of, &endpoint);
	if (i == t->n)
		return ST_NONE;
	memcpy(e, t->rows[i], sizeof(*e));
	return ST_OK;
}

int mem_state_put(struct store *st, const struct endpoint_state *e)
{
	struct mem_table *t = &ms(st)->states;

	store_door_write(st);
	assert(e && e->endpoint > 0);
	mem_put(ms(st), t, mem_find(t, is_state_of, &e->endpoint),
		mem_copy(e, sizeof(*e)));
	return ST_OK;
}

void mem_free_control(void *row)
{
	struct endpoint_control *c = row;

	free(c->by);
	free(c->reason);
	free(c->resume_by);
	free(c->resume_reason);
	free(c);
}

static void copy_control(struct endpoint_control *dst,
			 const struct endpoint_control *src)
{
	*dst = *src;
	dst->by = xstrdup(src->by);
	dst->reason = xstrdup(src->reason);
	dst->resume_by = xstrdup(src->resume_by);
	dst->resume_reason = xstrdup(src->resume_reason);
}

static bool is_control_of(const void *row, const void *key)
{
	return ((const struct endpoint_control *)row)->endpoint ==
	       *(const int64_t *)key;
}

int mem_control_get(struct store *st, int64_t endpoint,
		    struct endpoint_control *c)
{
	struct mem_table *t = &ms(st)->controls;
	size_t i;

	store_door_read(st);
	assert(endpoint > 0 && c);
	i = mem_find(t, is_control_of, &endpoint);
	if (i == t->n)
		return ST_NONE;
	copy_control(c, t->rows[i]);
	return ST_OK;
}

int mem_control_put(struct store *st, const struct endpoint_control *c)
{
	struct mem_table *t = &ms(st)->controls;
	struct endpoint_control *row;

	store_door_write(st);
	assert(c && c->endpoint > 0);
	row = xmalloc(sizeof(*row));
	copy_control(row, c);
	mem_put(ms(st), t, mem_find(t, is_control_of, &c->endpoint), row);
	return ST_OK;
}

/* Records: id = place + 1. */

void mem_free_record(void *row)
{
	struct record *r = row;

	free(r->study_oid);
	free(r->subject_key);
	free(r->form_oid);
	free(r->event_oid);
	free(r->event_repeat);
	free(r->form_repeat);
	free(r->record_key);
	free(r);
}

static struct record *copy_record(const struct record *src)
{
	struct record *r = mem_copy(src, sizeof(*src));

	r->study_oid = xstrdup(src->study_oid);
	r->subject_key = xstrdup(src->subject_key);
	r->form_oid = xstrdup(src->form_oid);
	r->event_oid = xstrdup(src->event_oid);
	r->event_repeat = xstrdup(src->event_repeat);
	r->form_repeat = xstrdup(src->form_repeat);
	r->record_key = xstrdup(src->record_key);
	return r;
}

/* A record_key names the record outright; else the whole scope does. */
static bool is_record(const void *row, const void *key)
{
	const struct record *a = row, *b = key;

	if (a->endpoint != b->endpoint ||
	    !mem_text_eq(a->record_key, b->record_key))
		return false;
	if (b->record_key)
		return true;
	return mem_text_eq(a->study_oid, b->study_oid) &&
	       mem_text_eq(a->subject_key, b->subject_key) &&
	       mem_text_eq(a->form_oid, b->form_oid) &&
	       mem_text_eq(a->event_oid, b->event_oid) &&
	       mem_text_eq(a->event_repeat, b->event_repeat) &&
	       mem_text_eq(a->form_repeat, b->form_repeat);
}

int mem_record_intern(struct store *st, struct record *r)
{
	struct mem_table *t = &ms(st)->records;
	size_t i;

	store_door_write(st);
	assert(r && r->endpoint > 0);
	i = mem_find(t, is_record, r);
	r->id = (int64_t)i + 1;
	r->newest_of_many = 0;
	if (i == t->n)
		mem_add(ms(st), t, copy_record(r));
	else
		r->newest_of_many =
			((struct record *)t->rows[i])->newest_of_many;
	return ST_OK;
}

void mem_record_many(struct mem_store *s, int64_t record, int64_t place)
{
	struct mem_table *t = &s->records;
	struct record *r;

	assert(record > 0 && (size_t)record <= t->n && place > 0);
	r = copy_record(t->rows[record - 1]);
	if (place > r->newest_of_many)
		r->newest_of_many = place;
	mem_put(s, t, (size_t)record - 1, r);
}

/* Is a newer than b in the order of places? */
static bool newer(const struct op *a, const struct op *b)
{
	return !b || a->place > b->place ||
	       (a->place == b->place && a->op > b->op);
}

static int give(struct store *st, const struct op *op, struct op *out)
{
	return op ? mem_op_get(st, op->op, out) : ST_NONE;
}

/* What the slots below look for among the operations of one record. */
struct sought {
	int64_t record, place;
	bool first;	/* by place; else the newest */
	const char *method, *path, *canonical_sha256;
};
typedef bool holds_fn(const struct mem_op *, const struct sought *);

static const struct op *one_where(struct store *st, holds_fn *holds,
				  const struct sought *sought)
{
	struct mem_table *t = &ms(st)->ops;
	const struct op *found = NULL;

	store_door_read(st);
	assert(sought->record > 0);
	for (size_t i = 0; i < t->n; i++) {
		const struct mem_op *row = t->rows[i];
		const struct op *op = &row->op;

		if (op->record.id == sought->record && holds(row, sought) &&
		    (!found || newer(op, found) != sought->first))
			found = op;
	}
	return found;
}

static bool counts(const struct mem_op *row, const struct sought *sought)
{
	bool gone = row->op.state == OP_SUPERSEDED ||
		    row->op.state == OP_DISCARDED;

	(void)sought;
	return !gone || row->op.flags & OP_OUTCOME_UNKNOWN;
}

static bool same(const struct mem_op *row, const struct sought *sought)
{
	return !strcmp(row->op.canonical_sha256, sought->canonical_sha256) &&
	       !strcmp(row->op.method, sought->method) &&
	       !strcmp(row->op.path, sought->path);
}

static bool blocks_after(const struct mem_op *row, const struct sought *sought)
{
	return row->op.place < sought->place && row->blocks != BLOCKS_NOTHING;
}

static bool waits_behind(const struct mem_op *row, const struct sought *sought)
{
	return row->op.place > sought->place &&
	       (row->op.state == OP_QUEUED || row->op.state == OP_WAITING);
}

static bool makes_stale(const struct mem_op *row, const struct sought *sought)
{
	return row->op.place > sought->place &&
	       op_makes_stale(row->op.state, row->op.flags);
}

int mem_record_newest(struct store *st, int64_t record, struct op *out)
{
	assert(out);
	return give(st, one_where(st, counts,
				  &(struct sought){.record = record}), out);
}

int mem_record_same(struct store *st, int64_t record, const char *method,
		    const char *path, const char *canonical_sha256,
		    struct op *out)
{
	const struct sought sought = {
		.record = record, .method = method, .path = path,
		.canonical_sha256 = canonical_sha256,
	};

	assert(method && path && canonical_sha256 && out);
	return give(st, one_where(st, same, &sought), out);
}

static int id_where(struct store *st, holds_fn *holds,
		    const struct sought *sought, int64_t *out)
{
	const struct op *found = one_where(st, holds, sought);

	assert(out);
	if (found)
		*out = found->op;
	return found ? ST_OK : ST_NONE;
}

int mem_record_earlier(struct store *st, int64_t record, int64_t place,
		       int64_t *out)
{
	return id_where(st, blocks_after, &(struct sought){
		.record = record, .place = place, .first = true}, out);
}

int mem_record_waiting(struct store *st, int64_t record, int64_t place,
		       int64_t *out)
{
	return id_where(st, waits_behind, &(struct sought){
		.record = record, .place = place, .first = true}, out);
}

int mem_record_later(struct store *st, int64_t record, int64_t place,
		     int64_t *out)
{
	return id_where(st, makes_stale, &(struct sought){
		.record = record, .place = place}, out);
}

/* The last send of unknown outcome of one operation; moved along with a clock
 * that was stepped ahead, as its own last risk was. 0: none. */
static int64_t risk_of(const struct mem_store *m, const struct op *op)
{
	int64_t last = 0, unknown = 0;

	for (size_t i = 0; i < m->attempts.n; i++) {
		const struct attempt *a = m->attempts.rows[i];

		if (a->op != op->op || a->kind != ATTEMPT_SEND)
			continue;
		if (a->finished_ms > last)
			last = a->finished_ms;
		if (a->verdict == VERDICT_UNKNOWN && a->finished_ms > unknown)
			unknown = a->finished_ms;
	}
	return unknown && op->last_risk_ms > last
		? unknown + op->last_risk_ms - last : unknown;
}

int mem_record_risk(struct store *st, int64_t record, int64_t op,
		    int64_t *ended_ms)
{
	const struct mem_table *t = &ms(st)->ops;
	int64_t last = 0;

	store_door_read(st);
	assert(record > 0 && ended_ms);
	for (size_t i = 0; i < t->n; i++) {
		const struct op *o = &((struct mem_op *)t->rows[i])->op;
		int64_t risk = 0;

		if (o->record.id == record && o->op != op)
			risk = risk_of(ms(st), o);
		if (risk > last)
			last = risk;
	}
	if (last)
		*ended_ms = last;
	return last ? ST_OK : ST_NONE;
}

/* A record with a key has one row here, whatever subjects its operations
 * name. */
int mem_lane_root(struct store *st, const struct record *r, int64_t *first)
{
	store_door_write(st);
	assert(r && r->id > 0 && first);
	return ST_NONE;
}
