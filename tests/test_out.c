/* test_out.c - output: JSON lines, tables of a given width, wrapping. */
#define _GNU_SOURCE
#include "check.h"

#include <stdlib.h>

#include "cli/out.h"
#include "core/json.h"
#include "core/utf8.h"

struct page {
	struct out out;
	struct buf text;
};

static void start(struct page *p, int width, bool ascii)
{
	memset(p, 0, sizeof(*p));
	p->out.sink = &p->text;
	p->out.width = width;
	p->out.fit = width > 0;
	p->out.ascii = ascii;
	if (!width)
		p->out.width = 80;
}

static void end(struct page *p)
{
	out_release(&p->out);
	buf_release(&p->text);
}

static void prints(struct page *p, const char *want)
{
	if (strcmp(buf_text(&p->text), want))
		print_error("want\n%s\ngot\n%s\n", want, buf_text(&p->text));
	assert_string_equal(buf_text(&p->text), want);
	buf_clear(&p->text);
}

static void test_json_is_one_object_a_line(void **state)
{
	struct page p;

	(void)state;
	start(&p, 80, false);
	out_open(&p.out, NULL, '{');
	out_text(&p.out, "a", "x\n\"\033[2J\u00e9");
	out_text(&p.out, "none", NULL);
	out_open(&p.out, "list", '[');
	out_int(&p.out, NULL, INT64_MIN);
	out_bool(&p.out, NULL, true);
	out_open(&p.out, NULL, '{');
	out_close(&p.out, '}');
	out_close(&p.out, ']');
	out_time(&p.out, "at", 0);
	out_time(&p.out, "then", INT64_C(1796000000123));
	out_raw(&p.out, "raw", SPAN("{\"n\":1.00}"));
	out_close(&p.out, '}');
	prints(&p, "{\"a\":\"x\\n\\\"\\u001b[2J\\u00e9\",\"none\":null,"
	       "\"list\":[-9223372036854775808,true,{}],\"at\":null,"
	       "\"then\":\"2026-11-30T00:53:20.123Z\","
	       "\"raw\":{\"n\":1.00}}\n");
	out_open(&p.out, NULL, '{');
	out_close(&p.out, '}');
	prints(&p, "{}\n");
	end(&p);
}

static const char *const titles[] = {"State", "N", "Why"};
static const bool right[] = {false, true, false};

static struct table *example(const char *why)
{
	struct table *table = table_new(titles, 3, right);

	table_cell(table, "dead");
	table_cell(table, "12");
	table_cell(table, why);
	table_cell(table, "committed");
	table_cell(table, "3");
	table_cell(table, NULL);
	return table;
}

static void test_table_widths(void **state)
{
	struct page p;

	(void)state;
	start(&p, 40, false);
	table_print(example("short"), &p.out);
	prints(&p, "State       N  Why\n"
	       "dead       12  short\n"
	       "committed   3\n");
	table_print(example("a line that is longer than what is left"),
		    &p.out);
	prints(&p, "State       N  Why\n"
	       "dead       12  a line that is longer th\u2026\n"
	       "committed   3\n");
	end(&p);
}

static void test_pipes_are_not_cut(void **state)
{
	struct page p;

	(void)state;
	start(&p, 0, false);
	table_print(example("a line that is longer than what is left, and "
			    "longer than any terminal is wide: it is whole"),
		    &p.out);
	assert_non_null(strstr(buf_text(&p.text), "it is whole\n"));
	end(&p);
}

static void test_last_column_below(void **state)
{
	struct table *table = example("a why-line that wants room");
	struct page p;

	(void)state;
	start(&p, 30, false);
	table_last_below(table, 20);
	table_print(table, &p.out);
	prints(&p, "State       N\n"
	       "dead       12\n"
	       "    a why-line that wants room\n"
	       "committed   3\n");
	end(&p);
}

/* Field reports B098, B099: no byte of the data drives the terminal, no
 * character moves a border. */
static void test_foreign_text_keeps_its_cells(void **state)
{
	static const char *const cells[] = {
		"\033]52;c;AAAA\007", "\u4e2d\u6587\u5b57", "e\u0301e\u0301",
		"\r\n\t", "\u202eabc", "\xff\x9b", "plain", "a\\b",
	};
	/* A title may be the name of a form. */
	static const char *const heads[] = {"T\033[2J\u202e\x9b", "|"};
	struct table *table = table_new(heads, 2, NULL);
	struct page p;
	const char *line;
	int border = -1;

	(void)state;
	start(&p, 80, false);
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		table_cell(table, cells[i]);
		table_cell(table, "|");
	}
	table_print(table, &p.out);
	for (line = buf_text(&p.text); *line; line = strchr(line, '\n') + 1) {
		const char *eol = strchr(line, '\n');
		int at;

		assert_non_null(eol);
		assert_int_equal(eol[-1], '|');
		at = utf8_cells((struct span){line, (size_t)(eol - line)});
		assert_true(border < 0 || border == at);
		border = at;
		for (const char *c = line; c < eol; c++)
			assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
	}
	end(&p);
}

static void test_ascii_only(void **state)
{
	struct page p;

	(void)state;
	start(&p, 24, true);
	table_print(example("caf\u00e9 and a longer text"), &p.out);
	for (const char *c = buf_text(&p.text); *c; c++)
		assert_true((unsigned char)*c < 0x80);
	end(&p);
}

static void test_colour_is_never_the_only_sign(void **state)
{
	struct page plain, colour;
	struct buf stripped = BUF_INIT;
	const char *c;

	(void)state;
	start(&plain, 40, false);
	start(&colour, 40, false);
	colour.out.colour = true;
	for (int i = 0; i < 2; i++) {
		struct table *table = table_new(titles, 3, right);

		table_cell_tone(table, TONE_BAD, "dead");
		table_cell(table, "1");
		table_cell_tone(table, TONE_DIM, "why");
		table_print(table, i ? &colour.out : &plain.out);
	}
	for (c = buf_text(&colour.text); *c; c++) {
		if (*c == '\033')
			c = strchr(c, 'm');
		else
			buf_addc(&stripped, *c);
	}
	assert_string_equal(buf_text(&stripped), buf_text(&plain.text));
	assert_true(colour.text.len > plain.text.len);
	buf_release(&stripped);
	end(&plain);
	end(&colour);
}

static void test_wrap(void **state)
{
	struct page p;

	(void)state;
	start(&p, 30, false);
	out_wrap(&p.out, 0, 2, "It may or may not be at the vendor. Next: "
		 "check.");
	prints(&p, "  It may or may not be at the\n"
	       "  vendor. Next: check.\n");
	out_printf(&p.out, "  name    ");
	out_wrap(&p.out, 10, 10, "a value that goes on and on");
	prints(&p, "  name    a value that goes on\n"
	       "          and on\n");
	out_wrap(&p.out, 0, 2, "");
	prints(&p, "\n");
	end(&p);
}

static void test_safe_copies_live_for_eight_calls(void **state)
{
	struct page p;
	const char *first;

	(void)state;
	start(&p, 80, false);
	first = out_safe(&p.out, "one\033");
	for (int i = 0; i < 7; i++)
		out_safe(&p.out, "other");
	assert_non_null(strstr(first, "one"));
	assert_null(strchr(first, '\033'));
	end(&p);
}

/* A closed pipe ends the program as it ends any filter; a full disk is said
 * and is exit 74. */
static int child_writes_to(int fd)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		struct out out;

		dup2(fd, STDOUT_FILENO);
		/* A test harness may ignore it, as the program does. */
		if (!freopen("/dev/null", "w", stderr))
			_exit(99);
		out_init(&out, true, COLOUR_NEVER);
		for (int i = 0; i < 20000; i++)
			out_printf(&out, "%d\n", i);
		out_flush(&out);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void test_write_errors(void **state)
{
	int fds[2], status;
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	fflush(NULL);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	status = child_writes_to(fds[1]);
	assert_true(WIFSIGNALED(status));
	close(fds[1]);
	if (full) {
		status = child_writes_to(fileno(full));
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 74);
		fclose(full);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_is_one_object_a_line),
		cmocka_unit_test(test_table_widths),
		cmocka_unit_test(test_pipes_are_not_cut),
		cmocka_unit_test(test_last_column_below),
		cmocka_unit_test(test_foreign_text_keeps_its_cells),
		cmocka_unit_test(test_ascii_only),
		cmocka_unit_test(test_colour_is_never_the_only_sign),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_safe_copies_live_for_eight_calls),
		cmocka_unit_test(test_write_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
