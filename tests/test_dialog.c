/* A line being typed, forms and the pager: keys in, text screen out. */
#include "ui_stub.h"

#include "ui/field.h"

static struct field field;

static void type(const char *keys)
{
	for (; *keys; keys++) {
		struct key key = {.kind = KEYK_CHAR, .ch = (uint32_t)*keys};

		field_key(&field, &key);
	}
}

static enum edited control(char ch)
{
	return field_key(&field, &(struct key){.kind = KEYK_CHAR,
		.ch = (uint32_t)ch, .ctrl = true});
}

static enum edited named(enum key_name name)
{
	return field_key(&field, &(struct key){.kind = KEYK_NAMED,
		.name = name});
}

static void what_is_typed_stands_there(void **state)
{
	(void)state;
	field_init(&field, 20, false);
	type("state:dead age");
	assert_int_equal(control('w'), EDIT_CHANGED);
	assert_string_equal(field_text(&field), "state:dead ");
	control('a');
	type("x");
	assert_string_equal(field_text(&field), "xstate:dead ");
	assert_int_equal(named(KEYN_END), EDIT_MOVED);
	named(KEYN_BACKSPACE);
	type("0123456789ABC");
	assert_string_equal(field_text(&field), "xstate:dead012345678");
	control('a');
	assert_int_equal(named(KEYN_LEFT), EDIT_NOTHING);
	named(KEYN_DELETE);
	control('k');
	assert_string_equal(field_text(&field), "");
	assert_int_equal(named(KEYN_ENTER), EDIT_NOT_MINE);
	assert_int_equal(control('x'), EDIT_NOT_MINE);
	field_release(&field);
}

/* e with an acute accent of its own, a wide character, an a. */
static void a_character_is_one_with_its_marks(void **state)
{
	(void)state;
	field_init(&field, 100, false);
	field_set(&field, "e\u0301\u4e2da");
	named(KEYN_LEFT);
	named(KEYN_LEFT);
	assert_int_equal(field.at, 3);
	named(KEYN_LEFT);
	assert_int_equal(field.at, 0);
	named(KEYN_RIGHT);
	assert_int_equal(field.at, 3);
	named(KEYN_BACKSPACE);
	assert_string_equal(field_text(&field), "\u4e2da");
	named(KEYN_DELETE);
	assert_string_equal(field_text(&field), "a");
	field_release(&field);
}

static void a_paste_is_one_line_of_what_prints(void **state)
{
	(void)state;
	field_init(&field, 100, false);
	assert_false(field_insert(&field,
		SPAN("a\x1b[31mb\tc\u202e\xff" "d\nrRdDyq\n")));
	assert_string_equal(field_text(&field), "a[31mbcd");
	assert_true(field_insert(&field, SPAN("!")));
	field_release(&field);
}

static const char *drawn(int width, bool cursor)
{
	static struct buf text;
	struct area a;

	buf_clear(&text);
	stub.grid.ascii = true;
	grid_resize(&stub.grid, 1, 30);
	a = area_whole(&stub.grid);
	field_draw(&field, &a, 0, 2, width, STYLE(TEXT), '_', cursor);
	grid_text(&stub.grid, &text);
	if (text.len)
		text.p[text.len - 1] = '\0';
	return buf_text(&text);
}

static void it_scrolls_under_the_cursor(void **state)
{
	(void)state;
	field_init(&field, 100, false);
	type("abcdef");
	assert_string_equal(drawn(10, true), "  abcdef____");
	assert_int_equal(stub.grid.cursor_col, 8);
	type("ghijkl");
	assert_string_equal(drawn(10, true), "  defghijkl_");
	assert_int_equal(stub.grid.cursor_col, 11);
	control('a');
	assert_string_equal(drawn(10, true), "  abcdefghij");
	assert_int_equal(stub.grid.cursor_col, 2);
	assert_string_equal(drawn(0, true), "");
	field_release(&field);
	field_init(&field, 100, true);
	type("a very long secret");
	assert_string_equal(drawn(12, true), "  ********____");
	field_release(&field);
	grid_release(&stub.grid);
}

static const char *const meanings[] = {"review  read it", "approval",
				       NULL};
static const struct field_row rows[] = {
	{"why", "Why", FIELD_TEXT, 0, 40, NULL, "INC-4711"},
	{"meaning", "Meaning", FIELD_CHOICE, 20, 0, meanings, NULL},
	{"password", "Password", FIELD_SECRET, 20, 64, NULL, NULL},
	{"n", "Number", FIELD_NUMBER, 6, 6, NULL, NULL},
	{"sure", "Sure", FIELD_CHECK, 0, 0, NULL, NULL},
	{NULL, NULL, FIELD_TEXT, 0, 0, NULL, NULL}
};
static const char *const buttons[] = {"Cancel", "Check only", "Replay",
				      NULL};
static int pressed, lists, freed;
static unsigned answer;

static unsigned chosen(struct dialog *d, int button)
{
	assert_ptr_equal(dialog_ctx(d), &pressed);
	pressed = button;
	return button ? answer : FX_BACK;
}

static void list_shown(struct dialog *d)
{
	(void)d;
	lists++;
}

static void command(struct dialog *d, struct buf *out)
{
	buf_addf(out, "edcsync replay --reason='%s'\n",
		 dialog_value(d, "why"));
}

static void free_ctx(void *ctx)
{
	(void)ctx;
	freed++;
}

static struct dialog *open_one(bool fields)
{
	struct dialog_spec spec = {.title = "Replay: 371 chosen",
		.fields = fields ? rows : NULL, .buttons = buttons,
		.chosen = chosen, .show_list = list_shown,
		.command_line = fields ? command : NULL, .ctx = &pressed,
		.free_ctx = free_ctx};
	struct dialog *d = dialog_open(&stub, &spec);

	dialog_word(d, UI_TEXT, "%d looked up first, sent only where proven "
		    "absent, and this line is long enough to be wrapped", 357);
	dialog_word(d, UI_DIM, "3 left out: taken by \x1b]52;c;x\a");
	pressed = -1;
	lists = freed = 0;
	answer = FX_BACK;
	return d;
}

static int teardown(void **state)
{
	(void)state;
	stub_end();
	return 0;
}

static void a_form_fits_a_screen(void **state)
{
	struct dialog *d;

	(void)state;
	d = open_one(true);
	dialog_error(d, "a reason is needed");
	assert_string_equal(stub_screen(24, 80),
"\n\n\n\n\n"
"  +- Replay: 371 chosen -----------------------------------------------------+\n"
"  | 357 looked up first, sent only where proven absent, and this line is     |\n"
"  | long enough to be wrapped                                                |\n"
"  | 3 left out: taken by \\x1b]52;c;x\\x07                                     |\n"
"  |                                                                          |\n"
"  | Why      [INC-4711_____________________________________________________] |\n"
"  | Meaning  [review  read it    v]                                          |\n"
"  | Password [____________________]                                          |\n"
"  | Number   [______]                                                        |\n"
"  | Sure     [ ]                                                             |\n"
"  | a reason is needed                                                       |\n"
"  |                                                                          |\n"
"  |   Cancel     Check only     Replay                L list  @ command line |\n"
"  +--------------------------------------------------------------------------+\n"
"\n\n\n\n\n");
	assert_int_equal(stub.grid.cursor_row, 10);
	assert_int_equal(stub.grid.cursor_col, 22);
}

static void fields_are_filled(void **state)
{
	struct dialog *d;

	(void)state;
	d = open_one(true);
	stub_keys("<C-u>vendor is back<Enter>a<Enter>secret<Tab>3x7<Down> ");
	assert_string_equal(dialog_value(d, "why"), "vendor is back");
	assert_string_equal(dialog_value(d, "meaning"), "approval");
	assert_string_equal(dialog_value(d, "password"), "secret");
	assert_string_equal(dialog_value(d, "n"), "37");
	assert_string_equal(dialog_value(d, "sure"), "yes");
	dialog_wipe(d);
	assert_string_equal(dialog_value(d, "password"), "");
	stub_keys("<S-Tab><S-Tab><S-Tab><Right>");
	assert_string_equal(dialog_value(d, "meaning"), "review");
	assert_int_equal(pressed, -1);
}

/* Enter through all the fields ends at Cancel. */
static void cancel_is_the_default(void **state)
{
	(void)state;
	open_one(true);
	stub_keys("<Enter><Enter><Enter><Enter><Enter>");
	assert_int_equal(pressed, -1);
	assert_non_null(strstr(stub_screen(24, 80), "[ Cancel ]"));
	stub_keys("<Enter>");
	assert_int_equal(pressed, 0);
	assert_int_equal(stub.dialogs, 0);
	assert_int_equal(freed, 1);
	open_one(false);
	stub_keys("<Enter>");
	assert_int_equal(pressed, 0);
}

static void a_refusal_stays(void **state)
{
	(void)state;
	open_one(false);
	answer = FX_NONE;
	stub_keys("<Left><Right><Right><Right><Right><Enter>");
	assert_int_equal(pressed, 2);
	assert_int_equal(stub.dialogs, 1);
	stub_keys("<Esc>");
	assert_int_equal(pressed, 0);
	assert_int_equal(stub.dialogs, 0);
}

/* Field report B105. */
static void a_paste_presses_nothing(void **state)
{
	struct dialog *d;

	(void)state;
	d = open_one(false);
	stub_keys("<Right><Right>");
	for (int i = 0; i < 100; i++)
		stub_paste("rRdDyq\n\r\n");
	assert_int_equal(pressed, -1);
	dialog_close(d);
	d = open_one(true);
	stub_paste("x\nRest\n");
	assert_string_equal(dialog_value(d, "why"), "INC-4711x");
	stub_keys("<Tab><Tab><Tab>");
	stub_paste("1 2\t3\n");
	assert_string_equal(dialog_value(d, "n"), "123");
	assert_int_equal(pressed, -1);
}

static void while_it_works_keys_are_nothing(void **state)
{
	struct dialog *d;

	(void)state;
	d = open_one(false);
	dialog_busy(d, true);
	stub_keys("<Right><Right><Enter>L@");
	assert_int_equal(pressed, -1);
	assert_non_null(strstr(stub_screen(24, 80), "working ..."));
	dialog_busy(d, false);
	assert_non_null(strstr(stub_screen(24, 80), "[ Cancel ]"));
	stub_keys("L");
	assert_int_equal(lists, 1);
	dialog_busy(d, true);
	stub_keys("<Esc>");
	assert_int_equal(pressed, 0);
}

static void what_is_hidden_is_passed_by(void **state)
{
	struct dialog *d;

	(void)state;
	d = open_one(true);
	dialog_show_field(d, "meaning", false);
	dialog_show_field(d, "password", false);
	dialog_show_button(d, 1, false);
	assert_null(strstr(stub_screen(24, 80), "Password"));
	assert_null(strstr(stub_screen(24, 80), "Check only"));
	stub_keys("<Tab>5<Tab><Tab><Right><Enter>");
	assert_int_equal(pressed, 2);
	d = open_one(true);
	dialog_focus(d, "n");
	stub_keys("9");
	dialog_show_field(d, "n", false);
	assert_non_null(strstr(stub_screen(24, 80), "[ Cancel ]"));
}

static void the_command_line_is_told(void **state)
{
	(void)state;
	open_one(true);
	stub_keys("<Tab>@");
	assert_int_equal(stub.dialogs, 2);
	assert_non_null(strstr(stub_screen(24, 80),
			       "| edcsync replay --reason='INC-4711'"));
	stub_keys("q");
	assert_int_equal(stub.dialogs, 1);
}

/* Enter goes on to a button only where the form says so. */
static void a_harmless_form_ends_by_enter(void **state)
{
	struct dialog_spec spec = {.title = "Sign in", .fields = rows,
		.buttons = buttons, .enter_button = 2, .chosen = chosen,
		.ctx = &pressed};

	(void)state;
	dialog_open(&stub, &spec);
	answer = FX_BACK;
	pressed = -1;
	stub_keys("<Enter><Enter><Enter><Enter>");
	assert_int_equal(pressed, -1);
	stub_keys("<Enter>");
	assert_int_equal(pressed, 2);
}

/* However small the screen: the button in focus is there, no line is wider,
 * and the field in focus is in view. */
static void small_screens_scroll(void **state)
{
	struct dialog *d;

	(void)state;
	d = open_one(true);
	dialog_focus(d, "n");
	assert_non_null(strstr(stub_screen(8, 40), "Number"));
	stub_keys("<Tab><Tab><Tab><Tab>");
	assert_non_null(strstr(stub_screen(8, 40), "[ Replay ]"));
	stub_keys("<PgUp><PgUp><PgUp>");
	assert_non_null(strstr(stub_screen(8, 40), "357 looked"));
	for (int rows_n = 1; rows_n < 30; rows_n++)
		for (int cols = 1; cols < 90; cols += 3)
			stub_screen(rows_n, cols);
	dialog_close(d);
	pager_open(&stub, "x", "a\n\nb c d e f g");
	for (int rows_n = 1; rows_n < 30; rows_n++)
		for (int cols = 1; cols < 90; cols += 3)
			stub_screen(rows_n, cols);
}

static void a_click_presses_what_is_there(void **state)
{
	struct dialog *d;

	(void)state;
	d = open_one(true);
	stub_screen(24, 80);
	stub_press((struct key){.kind = KEYK_MOUSE, .button = 1, .row = 13,
				.col = 20});
	stub_keys("7");
	assert_string_equal(dialog_value(d, "n"), "7");
	stub_press((struct key){.kind = KEYK_MOUSE, .button = 1, .row = 16,
				.col = 35});
	assert_int_equal(pressed, 2);
}

static void a_pager_scrolls(void **state)
{
	struct buf text = BUF_INIT;

	(void)state;
	for (int i = 1; i <= 100; i++)
		buf_addf(&text, "  line %d\n", i);
	pager_open(&stub, "Help", buf_text(&text));
	buf_release(&text);
	assert_non_null(strstr(stub_screen(24, 80), "1-22 of 100"));
	assert_non_null(strstr(stub_screen(24, 80), "|   line 22 "));
	stub_keys("j<PgDn>");
	assert_non_null(strstr(stub_screen(24, 80), "24-45 of 100"));
	stub_keys("G");
	assert_non_null(strstr(stub_screen(24, 80), "79-100 of 100"));
	stub_keys("k<C-u>");
	assert_non_null(strstr(stub_screen(24, 80), "67-88 of 100"));
	stub_keys("g");
	assert_non_null(strstr(stub_screen(24, 80), "1-22 of 100"));
	stub_keys("<Esc>");
	assert_int_equal(stub.dialogs, 0);
}

static uint32_t dice(uint32_t sides)
{
	static uint32_t seed = 7;

	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % sides;
}

static struct key any_key(void)
{
	static const char chars[] = "aAlLyYqQgGjk@/?0129 \\\"";
	struct key key = {.kind = (enum key_kind)dice(KEYK_GONE + 1)};

	key.ch = dice(8) ? (uint32_t)chars[dice(sizeof(chars) - 1)] :
		 dice(0x20000);
	key.ctrl = !dice(4);
	key.alt = !dice(8);
	key.name = (enum key_name)dice(KEYN_COUNT);
	key.row = (int)dice(40) - 5;
	key.col = (int)dice(120) - 5;
	key.button = (int)dice(6);
	key.text = dice(2) ? SPAN("e\u0301\u4e2d\x1b[2Jx\nq\n") : SPAN("\xff\xfe");
	return key;
}

/* Whatever is pressed, at whatever size: nothing falls over. */
static void any_keys_at_any_size(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		if (stub.dialogs < 2 && !dice(3))
			open_one(dice(2));
		answer = dice(2) ? FX_BACK : FX_NONE;
		if (stub.dialogs > 6)
			dialog_close(stub_top());
		if (stub.dialogs)
			stub_press(any_key());
		if (!dice(4))
			stub_screen(1 + (int)dice(40), 1 + (int)dice(120));
	}
}

#define form(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_typed_stands_there),
		cmocka_unit_test(a_character_is_one_with_its_marks),
		cmocka_unit_test(a_paste_is_one_line_of_what_prints),
		cmocka_unit_test(it_scrolls_under_the_cursor),
		form(a_form_fits_a_screen), form(fields_are_filled),
		form(cancel_is_the_default), form(a_refusal_stays),
		form(a_paste_presses_nothing),
		form(while_it_works_keys_are_nothing),
		form(what_is_hidden_is_passed_by),
		form(the_command_line_is_told),
		form(a_harmless_form_ends_by_enter),
		form(small_screens_scroll),
		form(a_click_presses_what_is_there), form(a_pager_scrolls),
		form(any_keys_at_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
