#include "tests/check.h"

#include "core/csv.h"

/* What a log of rows looks like, as text: "|" between fields, "/" behind a
 * row, "!" where a row has not as many fields as the header, "#" where it is
 * broken. */
static void flat(const struct csv *c, const struct csv_row *row,
		 struct buf *out)
{
	for (size_t i = 0; i < row->n; i++) {
		if (i)
			buf_addc(out, '|');
		buf_addspan(out, csv_field(row, i));
	}
	if (row == &c->row && !csv_whole(c))
		buf_addc(out, '!');
	buf_addc(out, '/');
}

static void read_all(struct span text, char separator, struct buf *out)
{
	struct csv c;

	if (csv_open(&c, text, separator))
		flat(&c, &c.head, out);
	while (csv_next(&c))
		flat(&c, &c.row, out);
	if (c.broken)
		buf_addc(out, '#');
	csv_close(&c);
}

static void test_rows(void **state)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{"", ""},
		{"\n\r\n", ""},
		{"a,b", "a|b/"},
		{"a,b\r\n1,2\r\n", "a|b/1|2/"},
		{"a,b\n1,2\n3,4", "a|b/1|2/3|4/"},
		{"\xef\xbb\xbf" "a,b\n1,2\n", "a|b/1|2/"},
		{"a,b\n\n1,2\n\n\n", "a|b/1|2/"},
		{"a,b\n1,\n,2\n,\n", "a|b/1|/|2/|/"},
		{"a,b\n1\n1,2,3\n", "a|b/1!/1|2|3!/"},
		{"a,b\n 1 ,2\n", "a|b/ 1 |2/"},
		{"a,b\n\"1\",\"\"\n", "a|b/1|/"},
		{"a,b\n\"1,\"\"x\"\"\r\n2\",3\n", "a|b/1,\"x\"\r\n2|3/"},
		{"a,b\n5\" tall,x\n", "a|b/5\" tall|x/"},
		{"a,b\n1,2\r", "a|b/1|2/"},
		{"a,b\n1\r2,3\n", "a|b/1\r2|3/"},
		{"\"a\",\"b\"\n1,2\n", "a|b/1|2/"},
		{"a,b\n1,\"2", "a|b/#"},
		{"a,b\n1,\"2\" x\n3,4\n", "a|b/#"},
		{"a,b\n1,2\n3,\"4\"\"", "a|b/1|2/#"},
		{"\"a", "#"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct buf out = BUF_INIT;

		read_all(span_of(row[i].text), ',', &out);
		check_row(!strcmp(buf_text(&out), row[i].want), "%s: %s",
			  row[i].text, buf_text(&out));
		buf_release(&out);
	}
}

static void test_other_separators(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	read_all(SPAN("a;b\n1,5;2\n"), ';', &out);
	read_all(SPAN("a\tb\n1\t2\n"), '\t', &out);
	assert_string_equal(buf_text(&out), "a|b/1,5|2/a|b/1|2/");
	buf_release(&out);
	assert_true(csv_separator('|'));
	assert_false(csv_separator(' '));
	assert_false(csv_separator('\0'));
}

/* No text of ours would hold one, and nothing is understood by guessing. */
static void test_a_nul_breaks_it(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	read_all(SPAN("a,b\n1,\0002\n"), ',', &out);
	assert_string_equal(buf_text(&out), "#");
	buf_release(&out);
}

static void test_columns_by_name(void **state)
{
	struct csv c;

	(void)state;
	assert_true(csv_open(&c, SPAN("a, b ,c,c\n"), ','));
	assert_int_equal(csv_column(&c, "a"), 0);
	assert_int_equal(csv_column(&c, "b"), 1);
	assert_int_equal(csv_column(&c, "B"), CSV_NONE);
	assert_int_equal(csv_column(&c, "c"), CSV_NONE);
	assert_int_equal(csv_column(&c, ""), CSV_NONE);
	csv_close(&c);
}

static void test_too_many_fields(void **state)
{
	struct buf text = BUF_INIT, out = BUF_INIT;

	(void)state;
	for (int i = 1; i < CSV_FIELDS_MAX; i++)
		buf_addc(&text, ',');
	read_all(buf_span(&text), ',', &out);
	assert_int_equal(out.len, CSV_FIELDS_MAX);
	buf_addc(&text, ',');
	buf_clear(&out);
	read_all(buf_span(&text), ',', &out);
	assert_string_equal(buf_text(&out), "#");
	buf_release(&text);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_other_separators),
		cmocka_unit_test(test_a_nul_breaks_it),
		cmocka_unit_test(test_columns_by_name),
		cmocka_unit_test(test_too_many_fields),
	};

	return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
