#include "ui/chosen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct chosen *chosen_new(void)
{
	return xcalloc(1, sizeof(struct chosen));
}

void chosen_free(struct chosen *c)
{
	if (!c)
		return;
	buf_release(&c->arena);
	free(c->v);
	free(c);
}

void chosen_add(struct chosen *c, const char *op_id, int64_t version,
		unsigned mark)
{
	if (c->n == c->cap) {
		c->cap = c->cap ? c->cap + c->cap / 2 : 64;
		c->v = xrealloc(c->v, c->cap * sizeof(*c->v));
	}
	c->v[c->n++] = (struct chosen_one){c->arena.len, version, mark};
	buf_add(&c->arena, op_id, strlen(op_id) + 1);
}

const char *chosen_id(const struct chosen *c, size_t i)
{
	assert(i < c->n);
	return c->arena.p + c->v[i].at;
}

/* Heap sort: in place, and the arena is at hand without a global. */
static bool before(const struct chosen *c, size_t a, size_t b)
{
	return strcmp(chosen_id(c, a), chosen_id(c, b)) < 0;
}

static void swap(struct chosen *c, size_t a, size_t b)
{
	struct chosen_one one = c->v[a];

	c->v[a] = c->v[b];
	c->v[b] = one;
}

static void sift(struct chosen *c, size_t at, size_t n)
{
	for (size_t kid = 2 * at + 1; kid < n; kid = 2 * at + 1) {
		kid += kid + 1 < n && before(c, kid, kid + 1);
		if (!before(c, at, kid))
			return;
		swap(c, at, kid);
		at = kid;
	}
}

void chosen_tidy(struct chosen *c)
{
	size_t kept = 0;

	for (size_t i = c->n / 2; i-- > 0;)
		sift(c, i, c->n);
	for (size_t n = c->n; n > 1; n--) {
		swap(c, 0, n - 1);
		sift(c, 0, n - 1);
	}
	for (size_t i = 0; i < c->n; i++)
		if (!i || before(c, kept - 1, i))
			c->v[kept++] = c->v[i];
	c->n = kept;
}

size_t chosen_count(const struct chosen *c, unsigned marks)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += (c->v[i].mark & marks) != 0;
	return n;
}

size_t chosen_take(const struct chosen *c, size_t *at, unsigned marks,
		   struct act_item *out, size_t *index, size_t max)
{
	size_t n = 0;

	for (; *at < c->n && n < max; ++*at) {
		if (!(c->v[*at].mark & marks))
			continue;
		memset(&out[n], 0, sizeof(out[n]));
		text_set(out[n].op_id, sizeof(out[n].op_id),
			 span_of(chosen_id(c, *at)));
		out[n].version = c->v[*at].version;
		if (index)
			index[n] = *at;
		n++;
	}
	return n;
}

void tally_release(struct tally *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].words);
		free(t->v[i].first);
		buf_release(&t->v[i].names);
	}
	free(t->v);
	memset(t, 0, sizeof(*t));
}

/* Words of the same kind: numbers, times and ids in them do not count, nor
 * what stands in brackets, nor advice after a semicolon. */
static void kind_of(const char *words, struct buf *out)
{
	size_t end = strcspn(words, ";");

	for (size_t i = 0; i < end;) {
		size_t n = words[i] == '(' ? strcspn(words + i, ")") :
			   strcspn(words + i, " ;");
		struct span word = {words + i, n};
		bool digit = false;

		for (size_t k = 0; k < n; k++)
			digit |= words[i + k] >= '0' && words[i + k] <= '9';
		if (words[i] == '(' && i + n < end) {
			i += n + 1;
			i += strspn(words + i, " ");
			continue;
		}
		if (out->len)
			buf_addc(out, ' ');
		if (digit)
			buf_adds(out, n && word.p[n - 1] == ',' ? "..,"
								: "..");
		else
			buf_addspan(out, word);
		i += n;
		i += strspn(words + i, " ");
	}
}

static struct tally_group *group_of(struct tally *t, const char *words,
				    const struct act_item *item)
{
	struct tally_group *g;

	for (size_t i = 0; i < t->n; i++) {
		g = &t->v[i];
		if (g->result == (int)item->result &&
		    g->evidence == item->wants_evidence &&
		    (!strcmp(g->words, words) ||
		     i + 1 == TALLY_GROUPS_MAX))
			return g;
	}
	/* The last one takes whatever is left, of whichever result. */
	if (t->n == TALLY_GROUPS_MAX)
		return &t->v[t->n - 1];
	t->v = xrealloc(t->v, (t->n + 1) * sizeof(*t->v));
	g = &t->v[t->n++];
	*g = (struct tally_group){.result = item->result,
		.evidence = item->wants_evidence,
		.words = xstrdup(t->n == TALLY_GROUPS_MAX ?
				 "for other reasons" : words),
		.first = xstrdup(item->words)};
	return g;
}

struct tally_group *tally_add(struct tally *t, const struct act_item *item)
{
	struct buf words = BUF_INIT;
	struct tally_group *g;

	kind_of(item->words, &words);
	g = group_of(t, buf_text(&words), item);
	buf_release(&words);
	g->n++;
	t->all++;
	t->good += item->result == ACT_DONE || item->result == ACT_REQUESTED;
	return g;
}

void tally_name(struct tally_group *g, const struct act_item *item,
		const char *label)
{
	g->named++;
	buf_addf(&g->names, "  %s%s%s", item->op_id,
		 label && *label ? "  " : "", label ? label : "");
	if (strcmp(item->words, g->words) != 0)
		buf_addf(&g->names, ": %s", item->words);
	buf_addc(&g->names, '\n');
}

void tally_text(const struct tally *t, bool bad, struct buf *out)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct tally_group *g = &t->v[i];
		bool good = g->result == ACT_DONE ||
			    g->result == ACT_REQUESTED;

		if (bad && good)
			continue;
		buf_addf(out, "%" PRId64 "  %s%s\n", g->n,
			 good || bad ? "" : g->evidence ?
			 "only with evidence: " : "left out: ", g->words);
		buf_addspan(out, buf_span(&g->names));
		if (g->named < g->n)
			buf_addf(out, "  and %" PRId64 " more\n",
				 g->n - g->named);
		buf_addc(out, '\n');
	}
}
