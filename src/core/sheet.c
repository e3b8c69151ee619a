#include "core/sheet.h"

#include <stdlib.h>
#include <string.h>

void sheet_init(struct sheet *s)
{
	*s = (struct sheet){ 0 };
}

static void cell_release(struct sheet_cell *c)
{
	op_release(&c->op);
	free(c->endpoint);
	free(c->environment);
	free(c->why);
}

void sheet_clear(struct sheet *s)
{
	for (size_t i = 0; i < s->n; i++)
		cell_release(&s->cell[i]);
	s->n = 0;
}

void sheet_release(struct sheet *s)
{
	sheet_clear(s);
	free(s->cell);
	sheet_init(s);
}

bool sheet_gone(const struct op *op)
{
	return op->state == OP_SUPERSEDED || op->state == OP_DISCARDED;
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool same_sheet(const struct op *a, const struct op *b)
{
	return a->endpoint == b->endpoint &&
	       same_text(a->record.study_oid, b->record.study_oid) &&
	       same_text(a->record.subject_key, b->record.subject_key);
}

bool sheet_same_visit(const struct sheet_cell *a, const struct sheet_cell *b)
{
	const struct record *x = &a->op.record, *y = &b->op.record;

	return same_text(x->event_oid, y->event_oid) &&
	       same_text(x->event_repeat, y->event_repeat);
}

static bool same_record(const struct record *x, const struct record *y)
{
	return same_text(x->event_oid, y->event_oid) &&
	       same_text(x->event_repeat, y->event_repeat) &&
	       same_text(x->form_oid, y->form_oid) &&
	       same_text(x->form_repeat, y->form_repeat) &&
	       same_text(x->record_key, y->record_key);
}

bool sheet_add(struct sheet *s, const struct op *op, const char *endpoint,
	       const char *environment, const char *why)
{
	struct sheet_cell *last = s->n ? &s->cell[s->n - 1] : NULL;
	bool unknown = false;

	if (last && !same_sheet(&s->cell[0].op, op))
		return false;
	if (last && same_record(&last->op.record, &op->record)) {
		unknown = last->older_unknown ||
			  (last->op.flags & OP_OUTCOME_UNKNOWN);
		if (sheet_gone(op) && !sheet_gone(&last->op))
			return true;
		cell_release(last);
		s->n--;
	}
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 32;
		s->cell = xrealloc(s->cell, s->cap * sizeof(*s->cell));
	}
	last = &s->cell[s->n++];
	*last = (struct sheet_cell){
		.endpoint = xstrdup(endpoint),
		.environment = xstrdup(environment), .why = xstrdup(why),
		.older_unknown = unknown,
	};
	op_init(&last->op);
	op_copy(&last->op, op);
	return true;
}

const char *sheet_form(const struct sheet_cell *c)
{
	return c->op.record.form_oid ? c->op.record.form_oid : "?";
}

size_t sheet_forms(const struct sheet *s, const char **form, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const char *name = sheet_form(&s->cell[i]);
		size_t k = 0;

		while (k < n && k < max && strcmp(form[k], name))
			k++;
		if (k < n && k < max)
			continue;
		if (n < max)
			form[n] = name;
		n++;
	}
	return n;
}
