/*
 * sql_filter.h - floor 1, private to the views: core's filter tree as SQL.
 *
 * The meaning of a filter is filter_match(); this is the same thing said to
 * SQLite, over `operation o JOIN record r ON r.id = o.scope`. Every value is
 * a bound parameter; nothing of a person's text is ever part of the SQL.
 *
 * SQLite folds case for ASCII only. A leaf whose value holds anything else
 * cannot be said exactly: then `exact` is false and the SQL gives a superset
 * (such a leaf is true, under a not false), and the view asks filter_match()
 * about each row. So the answer is always filter_match()'s.
 */
#ifndef EDCSYNC_STORE_SQL_FILTER_H
#define EDCSYNC_STORE_SQL_FILTER_H

#include "core/filter.h"
#include "store/db.h"

struct sql_value {
	bool number;
	int64_t i;
	char *text;			/* owned */
	size_t n;
};

struct sql_filter {
	struct buf where;		/* an expression; "1" for all */
	struct sql_value *value;	/* ?first ... in order */
	size_t values;
	int first;			/* number of the first parameter */
	bool exact;
	unsigned states;		/* bits of the states it can match */
};

/* first: number of the first parameter that is free. me may be NULL. */
void sql_filter_make(struct sql_filter *, const struct filter *, int first,
		     const char *me, int64_t now_ms);
/* The number of the only group that this leaf can match; 0: it is none. */
int64_t sql_filter_group(const struct filter *leaf);
void sql_filter_bind(const struct sql_filter *, struct query *);
void sql_filter_release(struct sql_filter *);

#endif
