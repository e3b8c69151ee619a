#include "core/csv.h"

#include <stdlib.h>
#include <string.h>

#include "core/place.h"

bool csv_separator(char c)
{
	return c == ',' || c == ';' || c == '|' || c == '\t';
}

static bool take(struct csv *c, char what)
{
	if (!c->rest.n || c->rest.p[0] != what)
		return false;
	c->rest.p++;
	c->rest.n--;
	return true;
}

static bool line_ends(struct csv *c)
{
	if (c->rest.n && c->rest.p[0] == '\r' &&
	    (c->rest.n == 1 || c->rest.p[1] == '\n'))
		take(c, '\r');
	return !c->rest.n || take(c, '\n');
}

static bool at_end_of_field(const struct csv *c, size_t at)
{
	const char *p = c->rest.p + at;
	size_t left = c->rest.n - at;

	return !left || *p == c->separator || *p == '\n' ||
	       (*p == '\r' && (left == 1 || p[1] == '\n'));
}

static bool plain_field(struct csv *c, struct csv_row *row)
{
	size_t n = 0;

	while (!at_end_of_field(c, n))
		n++;
	buf_add(&row->text, c->rest.p, n);
	c->rest.p += n;
	c->rest.n -= n;
	return true;
}

static bool quoted_field(struct csv *c, struct csv_row *row)
{
	for (;;) {
		const char *quote = c->rest.n ?
			memchr(c->rest.p, '"', c->rest.n) : NULL;
		size_t n = quote ? (size_t)(quote - c->rest.p) : 0;

		if (!quote)
			return false;
		buf_add(&row->text, c->rest.p, n);
		c->rest.p += n + 1;
		c->rest.n -= n + 1;
		if (!take(c, '"'))
			return at_end_of_field(c, 0);
		buf_addc(&row->text, '"');
	}
}

static void field_ends(struct csv_row *row)
{
	if (row->n == row->cap) {
		row->cap = row->cap ? 2 * row->cap : 16;
		row->end = xrealloc(row->end, row->cap * sizeof(*row->end));
	}
	row->end[row->n++] = row->text.len;
}

/* A line that is not empty; false at the end of the text, or broken. */
static bool read_line(struct csv *c, struct csv_row *row)
{
	buf_clear(&row->text);
	row->n = 0;
	while (c->rest.n && line_ends(c))
		;
	if (!c->rest.n || c->broken)
		return false;
	do {
		bool ok = row->n < CSV_FIELDS_MAX &&
			(take(c, '"') ? quoted_field(c, row) :
			 plain_field(c, row));

		if (!ok) {
			c->broken = true;
			return false;
		}
		field_ends(row);
	} while (take(c, c->separator));
	/* Behind a field is a separator or the end of its line. */
	line_ends(c);
	return true;
}

bool csv_open(struct csv *c, struct span text, char separator)
{
	assert(csv_separator(separator));
	*c = (struct csv){.rest = text, .separator = separator};
	if (span_starts(c->rest, "\xef\xbb\xbf"))
		c->rest = (struct span){text.p + 3, text.n - 3};
	c->broken = text.n && memchr(text.p, 0, text.n);
	return read_line(c, &c->head);
}

bool csv_next(struct csv *c)
{
	return read_line(c, &c->row);
}

static void row_release(struct csv_row *row)
{
	buf_release(&row->text);
	free(row->end);
	*row = (struct csv_row){0};
}

void csv_close(struct csv *c)
{
	row_release(&c->head);
	row_release(&c->row);
}

bool csv_whole(const struct csv *c)
{
	return c->row.n == c->head.n;
}

struct span csv_field(const struct csv_row *row, size_t i)
{
	size_t from = i ? row->end[i - 1] : 0;

	assert(i < row->n);
	return (struct span){buf_text(&row->text) + from, row->end[i] - from};
}

size_t csv_column(const struct csv *c, const char *name)
{
	size_t found = CSV_NONE;

	for (size_t i = 0; i < c->head.n; i++) {
		if (!span_is(place_trim(csv_field(&c->head, i)), name))
			continue;
		if (found != CSV_NONE)
			return CSV_NONE;
		found = i;
	}
	return found;
}
