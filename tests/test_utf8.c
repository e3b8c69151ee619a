#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/utf8.h"

static uint64_t random_next(uint64_t *s)
{
	uint64_t z = *s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static bool in(uint32_t cp, uint32_t first, uint32_t last)
{
	return cp >= first && cp <= last;
}

/* What must never reach a terminal (reference/standards section 5). */
static bool forbidden(uint32_t cp)
{
	return cp < 0x20 || in(cp, 0x7f, 0x9f) || cp == 0xad || cp == 0x34f ||
	       cp == 0x61c || cp == 0x115f || cp == 0x1160 || cp == 0x180e ||
	       in(cp, 0x200b, 0x200f) || in(cp, 0x2028, 0x202e) ||
	       in(cp, 0x2060, 0x206f) || cp == 0x3164 ||
	       in(cp, 0xd800, 0xf8ff) || in(cp, 0xfe00, 0xfe0f) ||
	       cp == 0xfeff || cp == 0xffa0 || in(cp, 0xfff9, 0xfffb) ||
	       (cp & 0xfffe) == 0xfffe || in(cp, 0xfdd0, 0xfdef) ||
	       in(cp, 0x1bca0, 0x1bca3) || in(cp, 0x1d173, 0x1d17a) ||
	       cp >= 0xe0000;
}

static void expect_safe(struct span s, bool ascii_only)
{
	int marks = UTF8_MARKS_MAX;

	for (size_t i = 0; i < s.n;) {
		uint32_t cp;
		size_t n = utf8_decode(s.p + i, s.n - i, &cp);
		int width;

		if (!n || forbidden(cp) || (ascii_only && cp >= 0x80))
			fail_msg("U+%04X or byte 0x%02x at %zu survived",
				 n ? cp : 0, (unsigned char)s.p[i], i);
		width = utf8_width(cp);
		assert_true(width >= 0);
		marks = width ? 0 : marks + 1;
		assert_in_range(marks, 0, UTF8_MARKS_MAX);
		i += n;
	}
}

/* The reader of our escapes, written from the header alone. */
static void unescape(struct buf *out, struct span s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i], next = i + 1 < s.n ? s.p[i + 1] : 0;
		char *end;

		if (c != '\\' || !next || !strchr("\\ntrxu", next)) {
			buf_addc(out, c);
			continue;
		}
		i++;
		if (next == 'x') {
			char hex[3] = {s.p[i + 1], s.p[i + 2], 0};

			buf_addc(out, (char)strtoul(hex, NULL, 16));
			i += 2;
		} else if (next == 'u') {
			assert_int_equal(s.p[i + 1], '{');
			utf8_encode(out, (uint32_t)strtoul(s.p + i + 2, &end,
							   16));
			assert_int_equal(*end, '}');
			i = (size_t)(end - s.p);
		} else {
			buf_addc(out, next == 'n' ? '\n' : next == 't' ? '\t' :
				 next == 'r' ? '\r' : '\\');
		}
	}
}

/* Safe, undone exactly (so two texts never look alike), as wide as told. */
static void expect_escape(struct span s, bool ascii_only)
{
	struct buf shown = BUF_INIT, back = BUF_INIT;

	utf8_escape(&shown, s, ascii_only);
	expect_safe(buf_span(&shown), ascii_only);
	unescape(&back, buf_span(&shown));
	if (!span_eq(buf_span(&back), s))
		fail_msg("not undone: %s", buf_text(&shown));
	buf_release(&shown);
	buf_release(&back);
}

static void decoding_is_strict(void **state)
{
	static const char *const wrong[] = {
		"\x80", "\xbf", "\xc0\xaf", "\xc1\x81", "\xe0\x80\x80",
		"\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80", "\xff", "\xfe", "\xe2\x82", "\xe2\x28\xa1",
		"\xf0\x9f\x98", "\xc3", "\xc3\xc3", "\xf8\x88\x80\x80\x80",
	};
	uint32_t cp;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(utf8_decode(wrong[i], strlen(wrong[i]), &cp),
				 0);
		assert_false(utf8_valid(span_of(wrong[i])));
	}
	assert_int_equal(utf8_decode("", 0, &cp), 0);
	assert_int_equal(utf8_decode("\0", 1, &cp), 1);
	assert_true(utf8_valid(SPAN("a\0b\xf0\x9f\x98\x80")));
	assert_int_equal(utf8_count(SPAN("a\xc3\xa9\xff\xf0\x9f\x98\x80")), 4);
}

static void every_code_point(void **state)
{
	struct buf text = BUF_INIT;

	(void)state;
	for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
		bool surrogate = in(cp, 0xd800, 0xdfff);
		uint32_t back;

		buf_clear(&text);
		utf8_encode(&text, cp);
		assert_int_equal(utf8_decode(text.p, text.len, &back),
				 surrogate ? 0 : text.len);
		if (!surrogate)
			assert_int_equal(back, cp);
		if (forbidden(cp))
			assert_int_equal(utf8_width(cp), -1);
		expect_escape(buf_span(&text), false);
		expect_escape(buf_span(&text), true);
		/* behind a base, and behind a backslash */
		buf_clear(&text);
		buf_adds(&text, "a\\");
		utf8_encode(&text, cp);
		expect_escape(buf_span(&text), false);
	}
	assert_int_equal(utf8_width(0x110000), -1);
	assert_int_equal(utf8_width(UINT32_MAX), -1);
	buf_release(&text);
}

static void every_byte_and_pair_of_bytes(void **state)
{
	(void)state;
	for (int a = 0; a < 256; a++)
		for (int b = 0; b < 256; b++) {
			char text[3] = {(char)a, (char)b, 'x'};

			expect_escape((struct span){text, 1}, false);
			expect_escape((struct span){text, 3}, false);
			expect_escape((struct span){text, 3}, true);
		}
}

static void random_texts(void **state)
{
	static const char *const piece[] = {
		"\\", "\\\\", "n", "x", "u{1b}", "\x1b", "\xff", "\xcc\x81",
		"e", "\xe2\x80\xae", "\xf0\x9f\x98\x80", "\n", "\xc2\x9b",
		"\xe4\xbd\x93", "\xed\xa0\x80", " ", "\xe2\x80\x8d",
	};
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct buf text = BUF_INIT, fit = BUF_INIT;
		int n = (int)(random_next(&seed) % 12);
		int cells = (int)(random_next(&seed) % 12);

		while (n--)
			buf_adds(&text, piece[random_next(&seed) %
					      ARRAY_SIZE(piece)]);
		expect_escape(buf_span(&text), i & 1);
		utf8_fit(&fit, buf_span(&text), cells, i & 1);
		expect_safe(buf_span(&fit), i & 1);
		assert_in_range(utf8_cells(buf_span(&fit)), 0, cells);
		buf_release(&text);
		buf_release(&fit);
	}
}

static void escapes_are_these(void **state)
{
	static const struct {
		const char *text, *shown, *ascii;
	} row[] = {
		{"plain text 1001-014", "plain text 1001-014",
		 "plain text 1001-014"},
		{"a\nb\tc\rd", "a\\nb\\tc\\rd", "a\\nb\\tc\\rd"},
		{"\x1b]52;c;AAAA\x07", "\\x1b]52;c;AAAA\\x07",
		 "\\x1b]52;c;AAAA\\x07"},
		{"\x1b[2J\x7f", "\\x1b[2J\\x7f", "\\x1b[2J\\x7f"},
		{"\xc2\x9b" "2J", "\\u{9b}2J", "\\u{9b}2J"},	/* C1 */
		{"\x9b" "2J", "\\x9b2J", "\\x9b2J"},		/* a byte */
		{"\xe2\x80\xae" "abc", "\\u{202e}abc", "\\u{202e}abc"},
		{"a\xe2\x80\x8d" "b", "a\\u{200d}b", "a\\u{200d}b"},
		{"\xf3\xa0\x81\x81", "\\u{e0041}", "\\u{e0041}"},
		{"\xf4\x8f\xbf\xbf", "\\u{10ffff}", "\\u{10ffff}"},
		{"Gr\xc3\xb6\xc3\x9f" "e", "Gr\xc3\xb6\xc3\x9f" "e",
		 "Gr\\u{f6}\\u{df}e"},
		{"\xe4\xbd\x93\xe6\xb8\xa9", "\xe4\xbd\x93\xe6\xb8\xa9",
		 "\\u{4f53}\\u{6e29}"},
		/* a backslash is doubled only where it would mislead */
		{"C:\\Users", "C:\\Users", "C:\\Users"},
		{"C:\\new", "C:\\\\new", "C:\\\\new"},
		{"a\\\\b", "a\\\\\\b", "a\\\\\\b"},
		{"a\\", "a\\", "a\\"},
		{"\\\x1b", "\\\\\\x1b", "\\\\\\x1b"},
		{"\\\xc3\xa9", "\\\xc3\xa9", "\\\\\\u{e9}"},
		/* a mark needs a base of its own line of sight */
		{"e\xcc\x81", "e\xcc\x81", "e\\u{301}"},
		{"\xcc\x81" "e", "\\u{301}e", "\\u{301}e"},
		{"\n\xcc\x81", "\\n\\u{301}", "\\n\\u{301}"},
		{"e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
		 "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\\u{301}\\u{301}",
		 "e\\u{301}\\u{301}\\u{301}\\u{301}\\u{301}\\u{301}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct buf shown = BUF_INIT, ascii = BUF_INIT;

		utf8_escape(&shown, span_of(row[i].text), false);
		utf8_escape(&ascii, span_of(row[i].text), true);
		assert_string_equal(buf_text(&shown), row[i].shown);
		assert_string_equal(buf_text(&ascii), row[i].ascii);
		buf_release(&shown);
		buf_release(&ascii);
	}
}

static void a_guard_holds_and_twice_changes_nothing(void **state)
{
	static const struct {
		const char *raw, *shown;
	} rows[] = {
		{"\033]52;c;aGk=\a", "\\x1b]52;c;aGk=\\x07"},
		{"a\\x1b[2J", "a\\x1b[2J"},
		{"a\\\\n\\\033", "a\\\\n\\\\x1b"},
		{"\xc2\x9b\xe2\x80\xae\x9b\r\n",
		 "\\u{9b}\\u{202e}\\x9b\\r\\n"},
		{"\\", "\\"}, {"", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buf once = BUF_INIT, twice = BUF_INIT;

		utf8_guard(&once, span_of(rows[i].raw), false);
		assert_string_equal(buf_text(&once), rows[i].shown);
		utf8_guard(&twice, buf_span(&once), false);
		assert_string_equal(buf_text(&twice), rows[i].shown);
		buf_release(&once);
		buf_release(&twice);
	}
}

static void widths_are_these(void **state)
{
	static const struct { uint32_t cp; int width; } row[] = {
		{' ', 1}, {'~', 1}, {0x7f, -1}, {0xa0, 1}, {0xe9, 1},
		{0x301, 0}, {0x483, 0}, {0x20dd, 0}, {0x4f53, 2},
		{0xac00, 2}, {0x1100, 2}, {0x1161, 0}, {0x3000, 2},
		{0xff21, 2}, {0xff61, 1}, {0x1f600, 2}, {0x2713, 1},
		{0x25cc, 1}, {0x25f7, 1}, {0x2315, 1}, {0x2026, 1},
		{0xe000, -1}, {0x378, -1}, {0xfffd, 1}, {0x600, 1},
		{0x20000, 2}, {0x1f1e9, 1}, {0x2028, -1}, {0x200d, -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (utf8_width(row[i].cp) != row[i].width)
			fail_msg("U+%04X: %d", row[i].cp,
				 utf8_width(row[i].cp));
}

static void fit_cuts_between_characters(void **state)
{
	static const struct {
		const char *text;
		int cells;
		bool ascii_only;
		const char *want;
	} row[] = {
		{"VITALS", 6, false, "VITALS"},
		{"VITALS", 7, false, "VITALS"},
		{"VITALS", 5, false, "VITA\xe2\x80\xa6"},
		{"VITALS", 5, true, "VITA~"},
		{"VITALS", 1, false, "\xe2\x80\xa6"},
		{"VITALS", 0, false, ""},
		{"VITALS", -3, false, ""},
		{"V", 1, false, "V"},
		{"", 3, false, ""},
		/* wide: two cells or none */
		{"\xe4\xbd\x93\xe6\xb8\xa9", 4, false,
		 "\xe4\xbd\x93\xe6\xb8\xa9"},
		{"\xe4\xbd\x93\xe6\xb8\xa9", 3, false,
		 "\xe4\xbd\x93\xe2\x80\xa6"},
		{"\xe4\xbd\x93\xe6\xb8\xa9", 2, false, "\xe2\x80\xa6"},
		{"a\xf0\x9f\x98\x80" "b", 3, false, "a\xe2\x80\xa6"},
		{"a\xf0\x9f\x98\x80" "b", 4, false, "a\xf0\x9f\x98\x80" "b"},
		/* marks stay with their base and take no cell */
		{"e\xcc\x81" "a", 2, false, "e\xcc\x81" "a"},
		{"e\xcc\x81" "ab", 2, false, "e\xcc\x81\xe2\x80\xa6"},
		{"ae\xcc\x81" "b", 2, false, "a\xe2\x80\xa6"},
		/* an escape is never cut */
		{"a\x1b" "b", 6, false, "a\\x1bb"},
		{"a\x1b" "b", 5, false, "a\xe2\x80\xa6"},
		{"a\x1b" "bc", 6, false, "a\\x1b\xe2\x80\xa6"},
		{"a\\new", 4, false, "a\\\\\xe2\x80\xa6"},
		{"a\\new", 3, false, "a\xe2\x80\xa6"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct buf out = BUF_INIT;

		buf_adds(&out, "|");
		utf8_fit(&out, span_of(row[i].text), row[i].cells,
			 row[i].ascii_only);
		assert_string_equal(buf_text(&out) + 1, row[i].want);
		buf_release(&out);
	}
}

static void folding_is_simple_and_stable(void **state)
{
	static const struct { uint32_t cp, folded; } row[] = {
		{'A', 'a'}, {'z', 'z'}, {'0', '0'}, {0xc9, 0xe9},
		{0xd7, 0xd7}, {0xdf, 0xdf}, {0x1e9e, 0xdf}, {0x100, 0x101},
		{0x178, 0xff}, {0x391, 0x3b1}, {0x3c2, 0x3c3}, {0x416, 0x436},
		{0x130, 0x130}, {0x212a, 'k'}, {0x10400, 0x10428},
	};
	struct buf out = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		assert_int_equal(utf8_fold(row[i].cp), row[i].folded);
	for (uint32_t cp = 0; cp <= 0x10ffff; cp++)
		assert_int_equal(utf8_fold(utf8_fold(cp)), utf8_fold(cp));
	utf8_fold_text(&out, SPAN("STRA\xc3\x9f" "E \xd0\x96\xff"));
	assert_string_equal(buf_text(&out), "stra\xc3\x9f" "e \xd0\xb6\xff");
	buf_release(&out);
	assert_int_equal(utf8_kind('a'), UTF8_LETTER);
	assert_int_equal(utf8_kind('7'), UTF8_LETTER);
	assert_int_equal(utf8_kind(0x4f53), UTF8_LETTER);
	assert_int_equal(utf8_kind(0x301), UTF8_MARK);
	assert_int_equal(utf8_kind('-'), UTF8_OTHER);
	assert_int_equal(utf8_kind('_'), UTF8_OTHER);
	assert_int_equal(utf8_kind(0x202e), UTF8_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoding_is_strict),
		cmocka_unit_test(every_code_point),
		cmocka_unit_test(every_byte_and_pair_of_bytes),
		cmocka_unit_test(random_texts),
		cmocka_unit_test(escapes_are_these),
		cmocka_unit_test(a_guard_holds_and_twice_changes_nothing),
		cmocka_unit_test(widths_are_these),
		cmocka_unit_test(fit_cuts_between_characters),
		cmocka_unit_test(folding_is_simple_and_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
