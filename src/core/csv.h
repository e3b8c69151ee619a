/*
 * csv.h - floor 0: comma-separated values (RFC 4180), read once and bounded.
 *
 * Some vendors tell what became of the items of a job in a log of this kind.
 * The first line names the columns; every later one is a row. Read from
 * memory, line by line; nothing is kept of a row when the next one is read.
 *
 * Tolerated: a byte order mark, LF as well as CRLF, a last line without an
 * end, empty lines, blanks around the names of columns, a quote inside a
 * field that does not begin with one. Refused, and then everything from there
 * on is not understood (`broken`): a quoted field that does not end, text
 * behind its closing quote, a NUL, more than CSV_FIELDS_MAX fields. A row of
 * more or fewer fields than the header is a row that says nothing
 * (csv_whole). Fields stay as they are, outer blanks too.
 */
#ifndef EDCSYNC_CORE_CSV_H
#define EDCSYNC_CORE_CSV_H

#include "core/base.h"

#define CSV_FIELDS_MAX 1024		/* of a row */
#define CSV_NONE SIZE_MAX

/* The fields of one line, quotes taken off. */
struct csv_row {
	struct buf text;
	size_t *end;			/* of field i in text */
	size_t n, cap;
};

struct csv {
	struct span rest;		/* borrowed; not read yet */
	char separator;
	bool broken;			/* no further line can be read */
	struct csv_row head, row;
};

/* Is it a character that may stand between fields? , ; | or a tab. */
bool csv_separator(char);
/* Reads the header. False when there is none; csv_close in any case. */
bool csv_open(struct csv *, struct span text, char separator);
/* The next row is in csv->row; false at the end, or where it is broken. */
bool csv_next(struct csv *);
void csv_close(struct csv *);

/* As many fields as the header? */
bool csv_whole(const struct csv *);
/* CSV_NONE: no column, or more than one, has this name. */
size_t csv_column(const struct csv *, const char *name);
struct span csv_field(const struct csv_row *, size_t i);

#endif
