/* The screen in memory: clipping, width, hostile text, glyphs; the key table
 * and what is made of it. */
#include "check.h"
#include "ui/cell.h"
#include "ui/keys.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static struct grid grid;

static void fresh(int rows, int cols)
{
	grid_release(&grid);
	grid_resize(&grid, rows, cols);
}

static const char *shown(void)
{
	static struct buf text;

	buf_clear(&text);
	grid_text(&grid, &text);
	return buf_text(&text);
}

static void text_is_clipped_to_its_area(void **state)
{
	struct area all, part;

	(void)state;
	fresh(3, 10);
	all = area_whole(&grid);
	part = area_part(&all, 1, 2, 1, 4);
	draw_text(&part, 0, 0, STYLE(TEXT), "abcdefgh");
	draw_text(&part, 1, 0, STYLE(TEXT), "below");
	draw_text(&part, -1, 0, STYLE(TEXT), "above");
	draw_text(&part, 0, -2, STYLE(TEXT), "xyz");
	assert_string_equal(shown(), "\n  zbcd\n\n");
}

static void no_size_is_a_mistake(void **state)
{
	(void)state;
	for (int rows = -1; rows < 4; rows++)
		for (int cols = -1; cols < 8; cols++) {
			struct area all, part;

			fresh(rows, cols);
			all = area_whole(&grid);
			part = area_part(&all, 1, 1, rows - 5, cols);
			draw_box(&all, STYLE(TITLE), "a title");
			draw_box(&part, STYLE(TITLE), "another");
			draw_fit(&part, 0, 0, cols, STYLE(TEXT), "text");
			draw_fit_right(&all, 0, 0, 30, STYLE(TEXT), "text");
			draw_bar(&all, 0, 0, cols, STYLE(OK), 3, 4);
			draw_wrapped(&all, 0, 0, cols, rows, STYLE(TEXT),
				     "some words to wrap");
			draw_style(&all, -3, -3, 99, 99, STYLE(MARK));
		}
}

static void a_wide_character_is_never_halved(void **state)
{
	struct area all;

	(void)state;
	fresh(1, 5);
	all = area_whole(&grid);
	draw_text(&all, 0, 0, STYLE(TEXT), "\u5065\u5eb7\u5065");
	assert_string_equal(shown(), "\u5065\u5eb7\n");
	draw_text(&all, 0, 1, STYLE(TEXT), "x");	/* right half gone */
	assert_string_equal(shown(), " x\u5eb7\n");
	draw_fit(&all, 0, 0, 4, STYLE(TEXT), "a\u5065\u5eb7");
	assert_string_equal(shown(), "a\u5065\u2026\n");
}

static void marks_stay_with_their_letter(void **state)
{
	struct area all;
	struct buf many = { 0 };

	(void)state;
	fresh(1, 40);
	all = area_whole(&grid);
	draw_text(&all, 0, 0, STYLE(TEXT), "e\u0301a");
	assert_string_equal(shown(), "e\u0301a\n");
	assert_int_equal(grid.cell[1].ch[0], 'a');
	buf_addf(&many, "a");
	for (int i = 0; i < 10; i++)
		buf_addf(&many, "\u0301");
	fresh(1, 200);
	all = area_whole(&grid);
	draw_text(&all, 0, 0, STYLE(TEXT), buf_text(&many));
	assert_non_null(strstr(shown(), "a\u0301\u0301\u0301\u0301\\u{301}"));
	buf_release(&many);
}

static void no_byte_of_hostile_text_gets_through(void **state)
{
	static const char hostile[] =
		"\x1b]52;c;ZWNobw==\x07 \x9b" "2J \xc2\x9b \r\n\t\x7f \u202e";
	struct area all;

	(void)state;
	fresh(2, 120);
	all = area_whole(&grid);
	draw_text(&all, 0, 0, STYLE(TEXT), hostile);
	draw_fmt(&all, 1, 0, STYLE(TEXT), "said: %s", hostile);
	for (int i = 0; i < grid.rows * grid.cols; i++)
		for (int k = 0; k < 1 + UTF8_MARKS_MAX; k++) {
			uint32_t ch = grid.cell[i].ch[k];

			assert_true(ch == 0 || (ch >= 0x20 && ch != 0x7f &&
						!(ch >= 0x80 && ch < 0xa0) &&
						ch != 0x202e));
		}
	assert_non_null(strstr(shown(), "\\x1b]52;c;"));
	assert_non_null(strstr(shown(), "said: \\x1b"));
}

static void plain_ascii_has_a_glyph_for_everything(void **state)
{
	struct area all;

	(void)state;
	fresh(4, 60);
	grid.ascii = true;
	all = area_whole(&grid);
	draw_box(&all, STYLE(TITLE), "box");
	for (int g = 0; g < UI_GLYPH_COUNT; g++)
		draw_glyph(&all, 1, 1 + 2 * g, STYLE(TEXT), (enum ui_glyph)g);
	for (int s = 0; s < OP_STATE_COUNT; s++)
		draw_state(&all, 2, 1 + s, STYLE(TEXT), (enum op_state)s, 0);
	for (const char *p = shown(); *p; p++)
		assert_true((unsigned char)*p < 0x7f);
	assert_non_null(strstr(shown(), ".>~/@%+!x-^"));
	assert_null(strstr(shown(), "\\u"));
}

static void unknown_outcome_is_a_question_mark(void **state)
{
	(void)state;
	fresh(1, 1);
	assert_string_equal(state_glyph(&grid, OP_DEAD, OP_OUTCOME_UNKNOWN),
			    "?");
	assert_string_equal(state_glyph(&grid, OP_DEAD, 0), "\u2717");
	assert_string_equal(state_glyph(&grid, OP_COMMITTED, 0), "\u2713");
}

static void words_wrap_at_spaces(void **state)
{
	struct area all;
	int used;

	(void)state;
	fresh(4, 12);
	all = area_whole(&grid);
	used = draw_wrapped(&all, 0, 0, 10, 4, STYLE(TEXT),
			    "it may or may not be there");
	assert_int_equal(used, 3);
	assert_string_equal(shown(), "it may or\nmay not be\nthere\n\n");
	assert_int_equal(draw_wrapped(&all, 0, 0, 3, 9, STYLE(TEXT),
				      "unbroken"), 3);
}

/* Keys. */

static struct key char_key(uint32_t ch, bool ctrl)
{
	return (struct key){ .kind = KEYK_CHAR, .ch = ch, .ctrl = ctrl };
}

static void every_key_has_one_meaning(void **state)
{
	char seen[128][8];
	size_t n = 0;

	(void)state;
	for (int a = 0; a < ACTION_COUNT; a++) {
		char row[64], *save = NULL;

		text_set(row, sizeof(row), span_of(action_rows[a].keys));
		for (char *w = strtok_r(row, " ", &save); w;
		     w = strtok_r(NULL, " ", &save)) {
			for (size_t i = 0; i < n; i++)
				if (strcmp(seen[i], w) == 0)
					fail_msg("%s has two meanings", w);
			text_set(seen[n++], sizeof(seen[0]), span_of(w));
		}
	}
	assert_true(n > 60);
}

static void keys_find_their_action(void **state)
{
	struct key k = char_key('j', false);

	(void)state;
	assert_int_equal(action_of_key(&k), DO_DOWN);
	k = char_key('d', true);
	assert_int_equal(action_of_key(&k), DO_HALF_DOWN);
	k = char_key('d', false);
	assert_int_equal(action_of_key(&k), DO_DISCARD);
	k = char_key(' ', false);
	assert_int_equal(action_of_key(&k), DO_MARK);
	k = char_key('7', false);
	assert_int_equal(action_of_key(&k), DO_PANEL);
	k = char_key(0x436, false);
	assert_int_equal(action_of_key(&k), DO_NOTHING);
	k = (struct key){ .kind = KEYK_NAMED, .name = KEYN_F1 };
	assert_int_equal(action_of_key(&k), DO_HELP);
	k = (struct key){ .kind = KEYK_PASTE, .text = SPAN("d") };
	assert_int_equal(action_of_key(&k), DO_NOTHING);
	assert_string_equal(action_key(DO_EXPORT), "^S");
	assert_string_equal(action_key(DO_OPEN), "Enter");
}

static void the_footer_fits(void **state)
{
	(void)state;
	for (int width = 0; width < 200; width++) {
		struct buf text = { 0 };

		keys_footer(~UINT64_C(0), width, &text);
		assert_true((int)text.len <= (width < 8 ? 8 : width));
		if (width >= 20)
			assert_non_null(strstr(buf_text(&text), "? help"));
		if (width >= 8)
			assert_non_null(strstr(buf_text(&text), "q quit"));
		buf_release(&text);
	}
}

static void the_help_names_what_there_is(void **state)
{
	struct buf text = { 0 };

	(void)state;
	keys_help(CAN(CHECK) | CAN(PANEL) | CAN(HELP), &text);
	assert_string_equal(buf_text(&text),
		"Moving\n  1 - 8        the panel of that number\n"
		"\nActing\n  c            look at the vendor; writes nothing\n"
		"\nThis program\n  ? F1         this help\n");
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_clipped_to_its_area),
		cmocka_unit_test(no_size_is_a_mistake),
		cmocka_unit_test(a_wide_character_is_never_halved),
		cmocka_unit_test(marks_stay_with_their_letter),
		cmocka_unit_test(no_byte_of_hostile_text_gets_through),
		cmocka_unit_test(plain_ascii_has_a_glyph_for_everything),
		cmocka_unit_test(unknown_outcome_is_a_question_mark),
		cmocka_unit_test(words_wrap_at_spaces),
		cmocka_unit_test(every_key_has_one_meaning),
		cmocka_unit_test(keys_find_their_action),
		cmocka_unit_test(the_footer_fits),
		cmocka_unit_test(the_help_names_what_there_is),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
