/*
 * sheet.h - floor 0: a subject sheet, visit x form over all states. Built
 * from operations as they come sorted (study, subject, event, form, place);
 * the newest one of a record that counts speaks for it.
 */
#ifndef EDCSYNC_CORE_SHEET_H
#define EDCSYNC_CORE_SHEET_H

#include "core/op.h"

/* One record: the operation that speaks for it, and whether an older one may
 * still be there. Everything is owned. */
struct sheet_cell {
	struct op op;
	char *endpoint, *environment, *why;
	bool older_unknown;
};

struct sheet {
	struct sheet_cell *cell;
	size_t n, cap;
};

void sheet_init(struct sheet *);
void sheet_clear(struct sheet *);
void sheet_release(struct sheet *);
/* Copies. False when the operation belongs to another sheet (subject, study
 * or endpoint) than the cells that are there: nothing was added. */
bool sheet_add(struct sheet *, const struct op *, const char *endpoint,
	       const char *environment, const char *why);
/* Superseded and discarded ones. */
bool sheet_gone(const struct op *);
bool sheet_same_visit(const struct sheet_cell *, const struct sheet_cell *);
const char *sheet_form(const struct sheet_cell *);	/* never NULL */
/* The forms in the order they came, at most max; returns how many there are
 * (more than max: not all are named). Borrowed. */
size_t sheet_forms(const struct sheet *, const char **form, size_t max);

#endif
