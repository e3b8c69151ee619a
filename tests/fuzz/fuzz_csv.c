/*
 * A log of rows as any bytes: the first one says what stands between the
 * fields. Every field comes from the text, in its order, and written anew with
 * quotes the log reads the same.
 */
#include <string.h>

#include "core/csv.h"
#include "tests/fuzz/fuzz.h"

static const char between[] = {',', ';', '|', '\t'};

static void write_row(const struct csv_row *row, char separator,
		      struct buf *out)
{
	PROMISE(row->n && row->n <= CSV_FIELDS_MAX);
	for (size_t i = 0; i < row->n; i++) {
		struct span field = csv_field(row, i);

		if (i)
			buf_addc(out, separator);
		buf_addc(out, '"');
		for (size_t j = 0; j < field.n; j++) {
			if (field.p[j] == '"')
				buf_addc(out, '"');
			buf_addc(out, field.p[j]);
		}
		buf_addc(out, '"');
	}
	buf_adds(out, "\r\n");
}

/* All that can be read, quoted; true when it is whole. */
static bool rewrite(struct span text, char separator, struct buf *out)
{
	struct csv c;
	bool whole, any = csv_open(&c, text, separator);

	if (any)
		write_row(&c.head, separator, out);
	while (csv_next(&c)) {
		PROMISE(any);
		write_row(&c.row, separator, out);
		PROMISE(csv_column(&c, "a") == CSV_NONE ||
			csv_column(&c, "a") < c.head.n);
	}
	whole = !c.broken;
	PROMISE(!whole || !c.rest.n);
	PROMISE(!csv_next(&c));
	csv_close(&c);
	return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct buf once = BUF_INIT, twice = BUF_INIT;
	struct span text = {(const char *)data + (n > 0), n - (n > 0)};
	char separator = between[n ? data[0] % sizeof(between) : 0];

	rewrite(text, separator, &once);
	PROMISE(rewrite(buf_span(&once), separator, &twice));
	PROMISE(span_eq(buf_span(&once), buf_span(&twice)));
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
