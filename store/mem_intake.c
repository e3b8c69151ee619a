/* mem_intake.c - submissions, lines, unclear lines, requests, rule sets. */
#include "store/mem.h"

#include <stdlib.h>
#include <string.h>

static bool is_pair(const void *row, const void *key)
{
	return !strcmp(((const struct mem_pair *)row)->key, key);
}

int mem_ruleset_put(struct store *st, const char *kind, const char *sha256,
		    struct span bytes)
{
	struct mem_table *t = &ms(st)->rulesets;
	struct buf key = BUF_INIT;
	struct mem_pair *p;

	store_door_write(st);
	assert(kind && *kind && sha256 && *sha256);
	buf_addf(&key, "%s:%s", kind, sha256);
	if (mem_find(t, is_pair, buf_text(&key)) < t->n) {
		buf_release(&key);
		return ST_EXISTS;
	}
	p = xcalloc(1, sizeof(*p));
	p->key = buf_detach(&key, NULL);
	buf_addspan(&p->value, bytes);
	mem_add(ms(st), t, p);
	return ST_OK;
}

/* Submissions and lines. */

void mem_free_submission(void *row)
{
	struct submission_row *s = row;

	free(s->batch);
	free(s->file);
	free(s->host);
	free(s->submitter);
	free(s->version);
	free(s);
}

int mem_submission_put(struct store *st, struct submission_row *row)
{
	struct mem_table *t = &ms(st)->submissions;
	struct submission_row *copy;

	store_door_write(st);
	assert(row && row->batch && *row->batch);
	row->id = (int64_t)t->n + 1;
	copy = mem_copy(row, sizeof(*row));
	copy->batch = xstrdup(row->batch);
	copy->file = xstrdup(row->file);
	copy->host = xstrdup(row->host);
	copy->submitter = xstrdup(row->submitter);
	copy->version = xstrdup(row->version);
	mem_add(ms(st), t, copy);
	return ST_OK;
}

void mem_free_line(void *row)
{
	free(((struct mem_line *)row)->batch);
	free(row);
}

static bool is_line(const void *row, const void *key)
{
	const struct mem_line *a = row, *b = key;

	return a->line == b->line && !strcmp(a->batch, b->batch);
}

int mem_line_get(struct store *st, const char *batch, int64_t line,
		 int64_t *op, char content_sha256[65])
{
	struct mem_table *t = &ms(st)->lines;
	struct mem_line key = {.line = line};
	const struct mem_line *found;
	size_t i;

	store_door_read(st);
	assert(batch && *batch && op && content_sha256);
	key.batch = xstrdup(batch);
	i = mem_find(t, is_line, &key);
	free(key.batch);
	if (i == t->n)
		return ST_NONE;
	found = t->rows[i];
	*op = found->op;
	memcpy(content_sha256, found->content_sha256, 65);
	return ST_OK;
}

int mem_line_put(struct store *st, const char *batch, int64_t line,
		 int64_t op, const char *content_sha256)
{
	struct mem_table *t = &ms(st)->lines;
	struct mem_line *l;

	store_door_write(st);
	assert(batch && *batch && content_sha256 && *content_sha256);
	l = xcalloc(1, sizeof(*l));
	l->batch = xstrdup(batch);
	l->line = line;
	l->op = op;
	text_set(l->content_sha256, sizeof(l->content_sha256),
		 span_of(content_sha256));
	if (mem_find(t, is_line, l) < t->n) {
		mem_free_line(l);
		return ST_EXISTS;
	}
	mem_add(ms(st), t, l);
	return ST_OK;
}

/* Unclear lines: once per content. */

void mem_free_unclear(void *row)
{
	struct unclear_row *u = row;

	free(u->batch);
	free(u->line_text);
	free(u->why);
	free(u);
}

static struct unclear_row *copy_unclear(const struct unclear_row *src)
{
	struct unclear_row *u = mem_copy(src, sizeof(*src));

	u->batch = xstrdup(src->batch);
	u->line_text = xstrdup(src->line_text);
	u->why = xstrdup(src->why);
	return u;
}

static bool is_content(const void *row, const void *key)
{
	return !strcmp(((const struct unclear_row *)row)->content_sha256, key);
}

static int unclear_add(struct store *st, struct unclear_row *u)
{
	struct mem_table *t = &ms(st)->unclear;
	struct unclear_row *row;
	size_t i = mem_find(t, is_content, u->content_sha256);

	u->id = (int64_t)i + 1;
	if (i < t->n) {
		row = t->rows[i];
		memcpy(u->state, row->state, sizeof(u->state));
		u->about_op = row->about_op;
		return ST_EXISTS;
	}
	row = copy_unclear(u);
	if (!*row->state)
		text_set(row->state, sizeof(row->state), SPAN("open"));
	mem_add(ms(st), t, row);
	return ST_OK;
}

int mem_unclear_put(struct store *st, struct unclear_row *u)
{
	struct mem_table *t = &ms(st)->unclear;
	struct unclear_row *row;

	store_door_write(st);
	assert(u && u->line_text && u->why && *u->content_sha256);
	if (!u->id)
		return unclear_add(st, u);
	if ((size_t)u->id > t->n)
		return ST_NONE;
	row = copy_unclear(u);
	mem_put(ms(st), t, (size_t)u->id - 1, row);
	return ST_OK;
}

/* Requests to the engine. */

int mem_request_next(struct store *st, struct request_row *r)
{
	struct mem_table *t = &ms(st)->requests;
	size_t i;

	store_door_read(st);
	assert(r);
	for (i = 0; i < t->n; i++) {
		const struct request_row *row = t->rows[i];

		if (row->id <= r->id || strcmp(row->state, "asked"))
			continue;
		*r = *row;
		return ST_OK;
	}
	return ST_NONE;
}

int mem_request_put(struct store *st, struct request_row *r)
{
	struct mem_table *t = &ms(st)->requests;
	struct request_row *row;

	store_door_write(st);
	assert(r && (r->id || *r->kind) && *r->state);
	if (!r->id) {
		r->id = (int64_t)t->n + 1;
		mem_add(ms(st), t, mem_copy(r, sizeof(*r)));
		return ST_OK;
	}
	assert((size_t)r->id <= t->n);
	row = mem_copy(t->rows[r->id - 1], sizeof(*row));
	memcpy(row->state, r->state, sizeof(row->state));
	memcpy(row->result, r->result, sizeof(row->result));
	mem_put(ms(st), t, (size_t)r->id - 1, row);
	return ST_OK;
}
