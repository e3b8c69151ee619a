/*
 * tsv.h - tests: one golden file under tests/vectors, row by row.
 *
 * Columns are separated by tabs; lines that start with '#' are comments.
 * A text column is one JSON string literal (tsv_text undoes it).
 */
#ifndef EDCSYNC_TESTS_TSV_H
#define EDCSYNC_TESTS_TSV_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

#define TSV_COLUMNS 16

struct tsv {
	FILE *file;
	char *line;
	size_t cap;
	int number;			/* of the line, for messages */
	struct span column[TSV_COLUMNS];
	int columns;
};

static inline struct tsv tsv_open(const char *name)
{
	struct tsv t = {0};
	char path[1024];

	snprintf(path, sizeof(path), "%s/tests/vectors/%s", SRCDIR, name);
	t.file = fopen(path, "r");
	if (!t.file) {
		perror(path);
		abort();
	}
	return t;
}

static inline bool tsv_next(struct tsv *t)
{
	ssize_t n;
	char *p;

	do {
		n = getline(&t->line, &t->cap, t->file);
		t->number++;
	} while (n > 0 && t->line[0] == '#');
	if (n <= 0) {
		fclose(t->file);
		free(t->line);
		return false;
	}
	if (t->line[n - 1] == '\n')
		n--;
	t->columns = 0;
	p = t->line;
	for (char *q = p, *end = p + n; q <= end; q++)
		if (q == end || *q == '\t') {
			t->column[t->columns++] =
				(struct span){p, (size_t)(q - p)};
			p = q + 1;
		}
	return true;
}

static inline void tsv_text(const struct tsv *t, int column, struct buf *out)
{
	struct json doc = {0};
	struct span s = t->column[column];

	buf_clear(out);
	if (!json_parse(&doc, s.p, s.n, JSON_PYTHON) ||
	    !json_string(&doc, 0, out)) {
		fprintf(stderr, "line %d, column %d is no text\n", t->number,
			column + 1);
		abort();
	}
	json_release(&doc);
}

#endif
