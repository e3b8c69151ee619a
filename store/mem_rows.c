/* mem_rows.c - flights, attempts, polls, live rows, gauges, the chain. */
#include "store/mem.h"

#include <stdlib.h>
#include <string.h>

/* A place that can be used again, so that short-lived rows do not pile up. */
static size_t free_place(const struct mem_table *t)
{
	size_t i = 0;

	while (i < t->n && t->rows[i])
		i++;
	return i;
}

static int drop(struct store *st, struct mem_table *t, size_t i)
{
	store_door_write(st);
	if (i == t->n)
		return ST_NONE;
	mem_put(ms(st), t, i, NULL);
	return ST_OK;
}

/* Durable intents. */

static bool is_flight_of(const void *row, const void *key)
{
	return ((const struct flight *)row)->op == *(const int64_t *)key;
}

int mem_flight_put(struct store *st, const struct flight *f)
{
	struct mem_table *t = &ms(st)->flights;

	store_door_write(st);
	assert(f && f->op > 0 && f->endpoint > 0);
	if (mem_find(t, is_flight_of, &f->op) < t->n)
		return ST_EXISTS;
	mem_put(ms(st), t, free_place(t), mem_copy(f, sizeof(*f)));
	return ST_OK;
}

int mem_flight_get(struct store *st, int64_t op, struct flight *f)
{
	struct mem_table *t = &ms(st)->flights;
	size_t i;

	store_door_read(st);
	assert(op > 0 && f);
	i = mem_find(t, is_flight_of, &op);
	if (i == t->n)
		return ST_NONE;
	memcpy(f, t->rows[i], sizeof(*f));
	return ST_OK;
}

int mem_flight_drop(struct store *st, int64_t op)
{
	struct mem_table *t = &ms(st)->flights;

	return drop(st, t, mem_find(t, is_flight_of, &op));
}

/* As they stood at the call, in order of op: the callback may drop them. */
int mem_flight_each(struct store *st,
		    int (*each)(void *, const struct flight *), void *ctx)
{
	struct mem_table *t = &ms(st)->flights;
	struct flight f = {.op = 0};
	int told = 0;

	store_door_read(st);
	assert(each);
	while (!told) {
		const struct flight *next = NULL;
		size_t i;

		for (i = 0; i < t->n; i++) {
			const struct flight *row = t->rows[i];

			if (row && row->op > f.op &&
			    (!next || row->op < next->op))
				next = row;
		}
		if (!next)
			break;
		f = *next;
		told = each(ctx, &f);
	}
	return told < 0 ? told : ST_OK;
}

int mem_attempt_put(struct store *st, const struct attempt *a)
{
	store_door_write(st);
	assert(a && a->op >= 0 && a->endpoint > 0);
	mem_add(ms(st), &ms(st)->attempts, mem_copy(a, sizeof(*a)));
	return ST_OK;
}

/* From the rows: they are never removed. */
int mem_attempt_counts(struct store *st,
		       int (*each)(void *, const struct attempt_count *),
		       void *ctx)
{
	struct mem_table *t = &ms(st)->attempts;
	struct count_deltas sum = {.v = NULL};
	int told = 0;
	size_t i;

	assert(st->tx == TX_IDLE && each);
	for (i = 0; i < t->n; i++)
		count_attempt(&sum, t->rows[i]);
	for (i = 0; !told && i < sum.attempts_n; i++)
		told = each(ctx, &sum.attempts[i]);
	count_release(&sum);
	return told < 0 ? told : ST_OK;
}

/* Polls. */

void mem_free_poll(void *row)
{
	poll_row_release(row);
	free(row);
}

static bool is_poll_of(const void *row, const void *key)
{
	return ((const struct poll_row *)row)->op == *(const int64_t *)key;
}

int mem_poll_get(struct store *st, int64_t op, struct poll_row *p)
{
	struct mem_table *t = &ms(st)->polls;
	size_t i;

	store_door_read(st);
	assert(op > 0 && p);
	i = mem_find(t, is_poll_of, &op);
	if (i == t->n)
		return ST_NONE;
	memcpy(p, t->rows[i], sizeof(*p));
	p->url = xstrdup(p->url);
	p->result_url = xstrdup(p->result_url);
	return ST_OK;
}

int mem_poll_put(struct store *st, const struct poll_row *p)
{
	struct mem_table *t = &ms(st)->polls;
	struct poll_row *row;
	size_t i;

	store_door_write(st);
	assert(p && p->op > 0);
	row = mem_copy(p, sizeof(*p));
	row->url = xstrdup(p->url);
	row->result_url = xstrdup(p->result_url);
	i = mem_find(t, is_poll_of, &p->op);
	mem_put(ms(st), t, i < t->n ? i : free_place(t), row);
	return ST_OK;
}

int mem_poll_drop(struct store *st, int64_t op)
{
	struct mem_table *t = &ms(st)->polls;

	return drop(st, t, mem_find(t, is_poll_of, &op));
}

/* What is on the wire now; gauges. */

static bool is_slot(const void *row, const void *key)
{
	return ((const struct live_row *)row)->slot == *(const int *)key;
}

int mem_live_put(struct store *st, const struct live_row *l)
{
	struct mem_table *t = &ms(st)->live;
	size_t i;

	store_door_write(st);
	assert(l && l->slot >= 0);
	i = mem_find(t, is_slot, &l->slot);
	mem_put(ms(st), t, i < t->n ? i : free_place(t),
		mem_copy(l, sizeof(*l)));
	return ST_OK;
}

int mem_live_clear(struct store *st, int slot)
{
	struct mem_table *t = &ms(st)->live;
	size_t i;

	store_door_write(st);
	for (i = 0; i < t->n; i++) {
		const struct live_row *l = t->rows[i];

		if (l && (slot < 0 || l->slot == slot))
			mem_put(ms(st), t, i, NULL);
	}
	return ST_OK;
}

static bool is_gauge(const void *row, const void *key)
{
	const struct gauge_row *a = row, *b = key;

	return a->endpoint == b->endpoint && a->minute == b->minute;
}

int mem_gauge_add(struct store *st, const struct gauge_row *g)
{
	struct mem_table *t = &ms(st)->gauges;
	struct gauge_row *row;
	size_t i, k;

	store_door_write(st);
	assert(g && g->endpoint > 0);
	row = mem_copy(g, sizeof(*g));
	i = mem_find(t, is_gauge, g);
	if (i < t->n) {
		const struct gauge_row *was = t->rows[i];

		row->done += was->done;
		row->failed += was->failed;
		row->retried += was->retried;
		for (k = 0; k < ARRAY_SIZE(row->histogram); k++)
			row->histogram[k] += was->histogram[k];
	}
	mem_put(ms(st), t, i, row);
	return ST_OK;
}

/* The chain: seq = place + 1. */

void mem_free_audit(void *row)
{
	free((char *)((struct audit_row *)row)->body.p);
	free(row);
}

int mem_audit_head(struct store *st, int64_t *seq, uint8_t hash[32])
{
	struct mem_table *t = &ms(st)->audit;

	store_door_read(st);
	assert(seq && hash);
	*seq = (int64_t)t->n;
	memset(hash, 0, 32);
	if (t->n)
		memcpy(hash, ((struct audit_row *)t->rows[t->n - 1])->hash,
		       32);
	return ST_OK;
}

static bool continues(struct store *st, const struct audit_row *row)
{
	static const uint8_t zero[32];
	struct mem_table *t = &ms(st)->audit;
	const uint8_t *want = zero;

	if (row->seq > 1) {
		if ((size_t)row->seq - 1 > t->n)
			return false;
		want = ((struct audit_row *)t->rows[row->seq - 2])->hash;
	}
	return !memcmp(row->prev_hash, want, 32);
}

int mem_audit_put(struct store *st, const struct audit_row *row)
{
	struct mem_table *t = &ms(st)->audit;
	struct audit_row *copy;

	store_door_write(st);
	assert(row && row->seq > 0 && *row->type && row->body.n);
	if (!continues(st, row))
		return store_trouble(st, ST_ERROR, "an audit record must "
				     "continue the chain");
	if ((size_t)row->seq <= t->n)
		return ST_EXISTS;
	copy = mem_copy(row, sizeof(*row));
	copy->body.p = xstrndup(row->body.p, row->body.n);
	mem_add(ms(st), t, copy);
	return ST_OK;
}

int mem_audit_each(struct store *st, int64_t from_seq,
		   int (*each)(void *, const struct audit_row *), void *ctx)
{
	struct mem_table *t = &ms(st)->audit;
	size_t i;
	int told = 0;

	store_door_read(st);
	assert(each);
	for (i = from_seq > 1 ? (size_t)from_seq - 1 : 0; !told && i < t->n;
	     i++)
		told = each(ctx, t->rows[i]);
	return told < 0 ? told : ST_OK;
}
