/* ui/term.c on a terminal: what goes out, what comes in, what is left. */
#define _GNU_SOURCE
#include "check.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "ui/input.h"
#include "ui/term.h"
#include "vt.h"

static struct vt vt;

static int teardown(void **state)
{
	(void)state;
	vt_end(&vt);
	return 0;
}

/* --- the child: shows each key it gets, and obeys a few ---------------- */

struct child {
	struct term_options options;
	bool hostile, field;
};

static struct grid grid;
static char said[20][80];
static int lines;

static void say(const char *fmt, ...) PRINTF_LIKE(1, 2);
static void say(const char *fmt, ...)
{
	va_list ap;

	if (lines == (int)ARRAY_SIZE(said)) {
		memmove(said[0], said[1], sizeof(said) - sizeof(said[0]));
		lines--;
	}
	va_start(ap, fmt);
	vsnprintf(said[lines++], sizeof(said[0]), fmt, ap);
	va_end(ap);
}

static bool paint(struct term *t, const struct child *c, bool whole)
{
	struct area all;
	int rows, cols;

	term_size(t, &rows, &cols);
	grid_resize(&grid, rows, cols);
	grid.ascii = term_ascii(t);
	all = area_whole(&grid);
	draw_fmt(&all, 0, 0, STYLE(TITLE), "size %dx%d", cols, rows);
	draw_text(&all, 0, 20, STYLE(TEXT), "\u00e9 \u4e2d e\u0301");
	draw_text(&all, 0, 40, STYLE(UNKNOWN), "maybe");
	for (int i = 0; i < lines; i++)
		draw_text(&all, 1 + i, 0, STYLE(TEXT), said[i]);
	if (lines)
		draw_attrs(&all, lines, 0, 1, cols, UI_ON_CURSOR);
	if (c->hostile)
		draw_text(&all, rows - 2, 0, STYLE(BAD),
			  "\033]52;c;aGk=\a\033[2J\x9b" "2J\u202ex\r\n\x7f");
	draw_text(&all, rows - 1, cols - 1, STYLE(TEXT), "#");
	if (c->field) {
		grid.cursor_row = 0;
		grid.cursor_col = 3;
	}
	return term_draw(t, &grid, whole);
}

static void say_key(const struct key *k)
{
	static const char *const names[] = {
#define X(sym, name) [KEYN_##sym] = name,
		UI_KEYS(X)
#undef X
	};
	struct buf text = BUF_INIT;

	switch (k->kind) {
	case KEYK_CHAR:
		utf8_encode(&text, k->ch);
		say("char <%s>%s%s", buf_text(&text), k->ctrl ? " ctrl" : "",
		    k->alt ? " alt" : "");
		break;
	case KEYK_NAMED:
		say("key <%s>%s%s", names[k->name], k->ctrl ? " ctrl" : "",
		    k->alt ? " alt" : "");
		break;
	case KEYK_MOUSE:
		say("mouse %d,%d button %d%s", k->row, k->col, k->button,
		    k->twice ? " twice" : "");
		break;
	case KEYK_PASTE:
		utf8_escape(&text, k->text, false);
		say("paste %zu <%.40s>", k->text.n, buf_text(&text));
		break;
	case KEYK_RESIZE:
		say("resize");
		break;
	case KEYK_NONE: case KEYK_GONE:
		break;
	}
	buf_release(&text);
}

static void fault(void)
{
	static volatile uintptr_t nowhere = 8;

	*(volatile int *)nowhere = 1;
}

static void obey(struct term *t, uint32_t ch)
{
	switch (ch) {
	case 'A': abort();
	case 'S': fault(); break;
	case 'E': exit(9);
	case 'F': fprintf(stderr, "words of a thread\n"); break;
	case 'C': term_copy(t, SPAN("h\033i\nho\n")); break;
	case 'T': term_set_theme(t, theme_find("mono")); break;
	case 'M': term_set_mouse(t, !term_mouse(t)); break;
	case 'B': term_bell(t); break;
	}
}

static int child(void *ctx)
{
	const struct child *c = ctx;
	struct buf error = BUF_INIT;
	struct key key = {.kind = KEYK_NONE};
	bool whole = false, on = true;
	struct term *t;

#ifndef __SANITIZE_ADDRESS__
	signal(SIGSEGV, SIG_DFL);	/* not as the test program has it */
#endif
	t = term_open(&c->options, &error);
	if (!t) {
		fprintf(stderr, "%s\n", buf_text(&error));
		buf_release(&error);
		return 2;
	}
	while (on && paint(t, c, whole)) {
		struct pollfd p = {.fd = term_fd(t), .events = POLLIN};

		poll(&p, 1, -1);
		whole = false;
		while (term_next(t, &key), key.kind != KEYK_NONE && on) {
			say_key(&key);
			on = key.kind != KEYK_GONE &&
			     !(key.kind == KEYK_CHAR && key.ch == 'q');
			whole |= key.kind == KEYK_CHAR && key.ctrl &&
				 key.ch == 'l';
			if (key.kind == KEYK_CHAR && key.ctrl && key.ch == 'z')
				term_suspend(t);
			else if (key.kind == KEYK_CHAR && !key.ctrl)
				obey(t, key.ch);
		}
	}
	term_close(t);
	grid_release(&grid);
	return key.kind == KEYK_GONE ? 5 : 0;
}

static struct child plain;

static void start(struct vt_start s, struct child *c)
{
	s.run = child;
	s.ctx = c;
	vt_start(&vt, &s);
}

static void begin(void)
{
	start((struct vt_start){.cols = 0}, &plain);
	assert_int_equal(vt_wait(&vt, "size 80x24"), 0);
}

static void is_clean(void)
{
	struct buf words = BUF_INIT, tail = BUF_INIT;
	bool clean = vt_clean(&vt, &words);

	vt_tail(&vt, 200, &tail);
	check_row(clean, "%s: %s", buf_text(&words), buf_text(&tail));
	buf_release(&words);
	buf_release(&tail);
}

static void ends_with(int status)
{
	struct buf tail = BUF_INIT;

	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	vt_tail(&vt, 2000, &tail);
	check_row(WIFEXITED(vt.status) && WEXITSTATUS(vt.status) == status,
		  "%x: %s", vt.status, buf_text(&tail));
	buf_release(&tail);
}

static bool raw_has(const char *bytes)
{
	return memmem(vt.raw.p, vt.raw.len, bytes, strlen(bytes)) != NULL;
}

static void row_is(int row, const char *text)
{
	struct buf got = BUF_INIT;

	vt_row(&vt, row, &got);
	assert_string_equal(buf_text(&got), text);
	buf_release(&got);
}

/* --- what goes out ----------------------------------------------------- */

static void it_opens_draws_and_leaves_no_trace(void **state)
{
	struct buf last = BUF_INIT;

	(void)state;
	begin();
	row_is(0, "size 80x24          \u00e9 \u4e2d e\u0301"
	       "              maybe");
	assert_true(vt.alternate && vt.cursor_hidden);
	vt_row(&vt, 23, &last);		/* the corner ncurses fears */
	assert_int_equal(last.len, 80);
	assert_int_equal(last.p[79], '#');
	buf_release(&last);
	assert_true(vt_colours(&vt));
	vt_type(&vt, "q");
	ends_with(0);
	is_clean();
}

static void only_what_differs_goes_out(void **state)
{
	size_t before;

	(void)state;
	begin();
	before = vt.raw.len;
	vt_type(&vt, "x");
	assert_int_equal(vt_wait(&vt, "char <x>"), 1);
	assert_true(vt.raw.len - before < 120);
	before = vt.raw.len;
	assert_true(vt_key(&vt, "Ctrl-l"));
	assert_int_equal(vt_wait(&vt, "char <l> ctrl"), 2);
	assert_true(memmem(vt.raw.p + before, vt.raw.len - before, "size 80x24",
			   10) != NULL);
}

/* A style without a colour has the terminal's own. */
static void plain_text_is_not_coloured(void **state)
{
	VTermScreenCell text;

	(void)state;
	begin();
	text = vt_cell(&vt, 0, 20);
	assert_true(VTERM_COLOR_IS_DEFAULT_FG(&text.fg));
	assert_true(VTERM_COLOR_IS_DEFAULT_BG(&text.bg));
}

static void a_field_has_a_cursor(void **state)
{
	struct child c = {.field = true};

	(void)state;
	start((struct vt_start){.cols = 0}, &c);
	assert_int_equal(vt_wait(&vt, "size"), 0);
	assert_false(vt.cursor_hidden);
	assert_int_equal(vt.cursor_row, 0);
	assert_int_equal(vt.cursor_col, 3);
}

static void nothing_hostile_goes_out(void **state)
{
	struct child c = {.hostile = true};

	(void)state;
	start((struct vt_start){.cols = 0}, &c);
	assert_int_equal(vt_wait(&vt, "\\x1b]52"), 22);
	assert_false(raw_has("\033]52"));
	assert_false(raw_has("\x9b"));
	assert_false(raw_has("\u202e"));
	assert_false(raw_has("\x7f"));
}

static void no_colour_where_none_is_wanted(void **state)
{
	static const char *const no_color[] = {"NO_COLOR=1", NULL};
	struct vt_start starts[] = {
		{.env = no_color}, {.cols = 80}, {.term = "vt100"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		struct child c = {.options.no_colour = i == 1};

		start(starts[i], &c);
		assert_int_equal(vt_wait(&vt, "size"), 0);
		vt_type(&vt, "x");
		assert_int_equal(vt_wait(&vt, "char <x>"), 1);
		check_row(!vt_colours(&vt), "%zu", i);
		/* The meaning is there all the same. */
		check_row(vt_cell(&vt, 0, 40).attrs.bold, "%zu", i);
		check_row(vt_cell(&vt, 1, 70).attrs.reverse, "%zu", i);
		vt_type(&vt, "q");
		ends_with(0);
		is_clean();
		vt_end(&vt);
	}
}

/* The cube and the greys above sixteen are the same everywhere; the first
 * sixteen are whatever somebody made of them, so a look says what it means. */
static void of_256_colours_the_nearest(void **state)
{
	VTermScreenCell c;

	(void)state;
	start((struct vt_start){.term = "xterm-256color"}, &plain);
	assert_int_equal(vt_wait(&vt, "size"), 0);
	vt_type(&vt, "x");
	assert_int_equal(vt_wait(&vt, "char <x>"), 1);
	c = vt_cell(&vt, 1, 60);
	assert_true(VTERM_COLOR_IS_INDEXED(&c.bg));
	assert_true(c.bg.indexed.idx >= 16);
}

static void every_terminal_of_some_colours(void **state)
{
	static const char *const terms[] = {"xterm-256color", "xterm-color",
		"screen", "tmux-256color", "linux", "ansi"};
	VTermScreenCell left, right;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		start((struct vt_start){.term = terms[i]}, &plain);
		check_row(vt_wait(&vt, "size") == 0, "%s", terms[i]);
		vt_type(&vt, "x");
		check_row(vt_wait(&vt, "char <x>") == 1, "%s", terms[i]);
		check_row(vt_colours(&vt), "%s", terms[i]);
		/* The cursor's row has its ground behind everything. */
		left = vt_cell(&vt, 1, 0);
		right = vt_cell(&vt, 1, 60);
		check_row(vterm_color_is_equal(&left.bg, &right.bg), "%s",
			  terms[i]);
		vt_type(&vt, "q");
		ends_with(0);
		is_clean();
		vt_end(&vt);
	}
}

static void plain_ascii_in_the_c_locale(void **state)
{
	(void)state;
	start((struct vt_start){.locale = "C"}, &plain);
	assert_int_equal(vt_wait(&vt, "size"), 0);
	for (size_t i = 0; i < vt.raw.len; i++)
		assert_true((unsigned char)vt.raw.p[i] < 0x80);
	assert_int_equal(vt_find(&vt, "\\u{e9}"), 0);
}

static void the_theme_changes_at_once(void **state)
{
	(void)state;
	begin();
	assert_true(vt_colours(&vt));
	vt_type(&vt, "T");
	assert_int_equal(vt_wait(&vt, "char <T>"), 1);
	assert_false(vt_colours(&vt));
}

static void a_copy_is_escaped_and_bounded(void **state)
{
	(void)state;
	begin();
	vt_type(&vt, "C");
	assert_true(vt_wait(&vt, "char <C>") > 0);
	/* h\x1bi, a newline between, none at the end */
	assert_true(raw_has("\033]52;c;aFx4MWJpCmhv\a"));
}

/* --- what comes in ----------------------------------------------------- */

static void keys_have_names(void **state)
{
	static const struct {
		const char *key, *said;
	} keys[] = {
		{"a", "char <a>"}, {"\u00e9", "char <\u00e9>"},
		{"Space", "char < >"}, {"Up", "key <Up>"},
		{"Down", "key <Down>"}, {"Left", "key <Left>"},
		{"Right", "key <Right>"}, {"Home", "key <Home>"},
		{"End", "key <End>"}, {"PgUp", "key <PgUp>"},
		{"PgDn", "key <PgDn>"}, {"Enter", "key <Enter>"},
		{"Esc", "key <Esc>"}, {"Tab", "key <Tab>"},
		{"S-Tab", "key <S-Tab>"}, {"Backspace", "key <Backspace>"},
		{"Del", "key <Del>"}, {"F1", "key <F1>"},
		{"Ctrl-d", "char <d> ctrl"}, {"Ctrl-c", "char <c> ctrl"},
		{"Ctrl-s", "char <s> ctrl"}, {"Alt-x", "char <x> alt"},
	};

	(void)state;
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		assert_true(vt_key(&vt, keys[i].key));
		assert_true(vt_settle_for(&vt, 60));
		check_row(vt_wait(&vt, keys[i].said) > 0, "%s", keys[i].key);
	}
}

static void what_has_no_meaning_is_no_key(void **state)
{
	static const char *const odd[] = {
		"\033[?1;2c", "\033[99~", "\033]11;rgb:0/0/0\a",
		"\033P1$r0m\033\\", "\033[I", "\xff", "\xc3(", "\033[<35;3;4M",
		"\033[[B", "\033[200~\033[201~"};

	(void)state;
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		vt_bytes(&vt, odd[i], strlen(odd[i]));
		assert_true(vt_settle_for(&vt, 60));
	}
	vt_type(&vt, "x");
	assert_true(vt_wait(&vt, "char <x>") > 0);
	row_is(1, "char <(>");		/* the one that was a character */
	row_is(2, "paste 0 <>");
	row_is(3, "char <x>");
}

static void pasted_text_is_no_key(void **state)
{
	struct buf much = BUF_INIT;

	(void)state;
	begin();
	vt_paste(&vt, "rRdDyq\nE");
	assert_true(vt_wait(&vt, "paste 8 <rRdDyq\\\\nE>") > 0);
	for (int i = 0; i < 100000; i++)
		buf_addc(&much, 'q');
	vt_bytes(&vt, "\033[200~", 6);
	vt_bytes(&vt, much.p, much.len);
	vt_bytes(&vt, "\033[20", 4);	/* the end, cut in two */
	assert_true(vt_settle_for(&vt, 60));
	vt_bytes(&vt, "1~", 2);
	assert_true(vt_wait(&vt, "paste 65536 <qqq") > 0);
	vt_type(&vt, "x");
	assert_true(vt_wait(&vt, "char <x>") > 0);
	buf_release(&much);
}

static void the_mouse_points(void **state)
{
	(void)state;
	begin();
	vt_click(&vt, 4, 9, 1);
	assert_true(vt_wait(&vt, "mouse 4,9 button 1") > 0);
	vt_click(&vt, 4, 9, 4);
	assert_true(vt_wait(&vt, "mouse 4,9 button 4") > 0);
	vt_click(&vt, 4, 9, 5);
	assert_true(vt_wait(&vt, "mouse 4,9 button 5") > 0);
	vt_bytes(&vt, "\033[M *%", 6);	/* a terminal that is older */
	assert_true(vt_wait(&vt, "mouse 4,9 button 1") > 0);
	vt_bytes(&vt, "\033[<0;2;3M\033[<0;2;3m\033[<0;2;3M", 27);
	assert_true(vt_wait(&vt, "mouse 2,1 button 1 twice") > 0);
	assert_int_equal(vt.mouse, VTERM_PROP_MOUSE_CLICK);
	vt_type(&vt, "M");
	assert_true(vt_wait(&vt, "char <M>") > 0);
	assert_int_equal(vt.mouse, VTERM_PROP_MOUSE_NONE);
}

/* Whatever bytes come, in whatever pieces: it comes to an end, and what is
 * given is a key. */
static void any_bytes_are_read(void **state)
{
	static const char *const parts[] = {"\033", "[", "<", "200~", "201~",
		"1;5", "A", "M", "m", "~", ";", "O", "]", "\a", "\\", "\xc3",
		"\x84", "\xf0\x9f", "q", "\r", "\0", "99999999999", "[[", "P"};
	uint32_t random = 12345;
	struct input in;
	struct key key;

	(void)state;
	input_init(&in);
	input_name(&in, "\033OA", KEYN_UP);
	for (int i = 0; i < 200000; i++) {
		const char *part;
		unsigned char *room;
		size_t n, size;

		random = random * 1664525u + 1013904223u;
		part = parts[(random >> 16) % ARRAY_SIZE(parts)];
		n = *part ? strlen(part) : 1;
		room = input_room(&in, &size);
		assert_true(room && size >= n);
		memcpy(room, part, n);
		input_added(&in, n);
		for (int turns = 0;; turns++) {
			bool last = random >> 31;
			enum input_result got =
				input_next(&in, last, i, &key);

			assert_true(turns < 5000);
			if (got == INPUT_EMPTY || (got == INPUT_MORE && !last))
				break;
			assert_true(got != INPUT_MORE);
			assert_true(got != INPUT_KEY ||
				    key.kind != KEYK_NONE);
			assert_true(key.kind != KEYK_CHAR || key.ch >= 0x20);
		}
	}
	input_release(&in);
}

/* --- what happens to it ------------------------------------------------ */

static void any_size_is_a_size(void **state)
{
	static const int sizes[][2] = {{1, 1}, {300, 100}, {2, 1}, {1, 60},
				       {20, 3}, {132, 43}};

	(void)state;
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		vt_resize(&vt, sizes[i][0], sizes[i][1]);
		assert_true(vt_settle(&vt));
	}
	assert_int_equal(vt_wait(&vt, "size 132x43"), 0);
	vt_type(&vt, "q");
	ends_with(0);
	is_clean();
}

static void it_stops_and_comes_back(void **state)
{
	(void)state;
	begin();
	assert_true(vt_key(&vt, "Ctrl-z"));
	assert_true(vt_wait_stop(&vt, VT_LONG_MS));
	is_clean();
	vt_continue(&vt);
	assert_int_equal(vt_wait(&vt, "size 80x24"), 0);
	assert_true(vt.alternate && vt.cursor_hidden);
	vt_click(&vt, 4, 9, 1);
	assert_true(vt_wait(&vt, "mouse 4,9") > 0);
	/* And so it does when somebody else asks for it. */
	vt_signal(&vt, SIGTSTP);
	assert_true(vt_wait_stop(&vt, VT_LONG_MS));
	is_clean();
	vt_continue(&vt);
	assert_int_equal(vt_wait(&vt, "size 80x24"), 0);
}

static void whatever_ends_it_puts_the_terminal_back(void **state)
{
	static const struct {
		const char *key;
		int sig;
	} rows[] = {{NULL, SIGTERM}, {NULL, SIGINT}, {NULL, SIGHUP},
		    {NULL, SIGQUIT}, {"A", SIGABRT}, {"S", SIGSEGV},
		    {NULL, SIGSEGV}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		if (rows[i].key)
			vt_type(&vt, rows[i].key);
		else
			vt_signal(&vt, rows[i].sig);
		assert_true(vt_wait_end(&vt, VT_LONG_MS));
#ifndef __SANITIZE_ADDRESS__
		check_row(WIFSIGNALED(vt.status) &&
			  WTERMSIG(vt.status) == rows[i].sig, "%zu: %x", i,
			  vt.status);
#endif
		is_clean();
		vt_end(&vt);
	}
	begin();
	vt_type(&vt, "E");
	ends_with(9);
	is_clean();
}

static void stderr_is_read_afterwards(void **state)
{
	(void)state;
	begin();
	vt_type(&vt, "Fx");
	assert_true(vt_wait(&vt, "char <x>") > 0);
	assert_false(raw_has("words of a thread"));
	vt_type(&vt, "q");
	ends_with(0);
	assert_true(vt_find(&vt, "words of a thread") >= 0);
	is_clean();
}

static void a_terminal_that_is_gone_ends_it(void **state)
{
	(void)state;
	for (int how = 0; how < 2; how++) {
		start((struct vt_start){.ignore_hangup = how == 0,
					.abandoned = how == 1}, &plain);
		assert_int_equal(vt_wait(&vt, "size"), 0);
		vt_hang_up(&vt);
		ends_with(5);
		vt_end(&vt);
	}
}

static void no_terminal_no_console(void **state)
{
	static const struct {
		const char *term, *words;
	} rows[] = {{"", "TERM is not set"}, {"dumb", "\"dumb\""},
		    {"unknown", "\"unknown\""}, {"no-such", "\"no-such\""},
		    {"no\ttab", "\"no\\ttab\""}};
	struct term_options options = {.theme = NULL};
	struct buf error = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		start((struct vt_start){.term = rows[i].term, .cols = 200},
		      &plain);
		ends_with(2);
		check_row(vt_find(&vt, rows[i].words) >= 0, "%s",
			  rows[i].term);
		is_clean();
		vt_end(&vt);
	}
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		assert_null(term_open(&options, &error));
		assert_non_null(strstr(buf_text(&error), "needs a terminal"));
	}
	buf_release(&error);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
		T(it_opens_draws_and_leaves_no_trace),
		T(only_what_differs_goes_out),
		T(plain_text_is_not_coloured),
		T(a_field_has_a_cursor),
		T(nothing_hostile_goes_out),
		T(no_colour_where_none_is_wanted),
		T(of_256_colours_the_nearest),
		T(every_terminal_of_some_colours),
		T(plain_ascii_in_the_c_locale),
		T(the_theme_changes_at_once),
		T(a_copy_is_escaped_and_bounded),
		T(keys_have_names),
		T(what_has_no_meaning_is_no_key),
		T(pasted_text_is_no_key),
		T(the_mouse_points),
		T(any_bytes_are_read),
		T(any_size_is_a_size),
		T(it_stops_and_comes_back),
		T(whatever_ends_it_puts_the_terminal_back),
		T(stderr_is_read_afterwards),
		T(a_terminal_that_is_gone_ends_it),
		T(no_terminal_no_console),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
