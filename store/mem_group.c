/* mem_group.c - error groups: counted by walking whenever they are asked. */
#include "store/mem.h"

#include <string.h>

static bool is_group(const void *row, const void *key)
{
	const struct group_row *a = row, *b = key;

	return a->endpoint == b->endpoint &&
	       !strcmp(a->fingerprint, b->fingerprint);
}

int mem_group_intern(struct store *st, struct group_row *g)
{
	struct mem_table *t = &ms(st)->groups;
	struct group_row *row;
	size_t i;

	store_door_write(st);
	assert(g && g->endpoint > 0 && *g->fingerprint && *g->title);
	i = mem_find(t, is_group, g);
	g->id = (int64_t)i + 1;
	row = mem_copy(i < t->n ? t->rows[i] : (const void *)g, sizeof(*row));
	if (i == t->n || g->first_ms > row->last_ms)
		row->last_ms = g->first_ms;
	mem_put(ms(st), t, i, row);
	return ST_OK;
}

static void count_in(struct mem_store *s, struct group_row *g)
{
	memset(g->n, 0, sizeof(g->n));
	g->back = 0;
	for (size_t i = 0; i < s->ops.n; i++) {
		const struct op *op = &((struct mem_op *)s->ops.rows[i])->op;

		if (op->group_id != g->id)
			continue;
		g->n[op_there(op)]++;
		g->back += op->replays > 0;
	}
}

int mem_group_each(struct store *st,
		   int (*each)(void *, const struct group_row *), void *ctx)
{
	struct mem_table *t = &ms(st)->groups;
	int told = 0;

	assert(st->tx == TX_IDLE && each);
	for (size_t i = 0; !told && i < t->n; i++) {
		struct group_row g = *(struct group_row *)t->rows[i];

		count_in(ms(st), &g);
		told = each(ctx, &g);
	}
	return told < 0 ? told : ST_OK;
}

int mem_attempt_last(struct store *st, int64_t op, struct attempt *out)
{
	struct mem_table *t = &ms(st)->attempts;
	const struct attempt *last = NULL;

	store_door_read(st);
	assert(op > 0 && out);
	for (size_t i = 0; i < t->n; i++) {
		const struct attempt *a = t->rows[i];

		if (a->op == op && (!last || a->n >= last->n))
			last = a;
	}
	if (last)
		*out = *last;
	return last ? ST_OK : ST_NONE;
}
