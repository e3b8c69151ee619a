#define _GNU_SOURCE
#include "ui/term.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ui/copy.h"
#include "ui/guard.h"
#include "ui/input.h"

#define NCURSES_NOMACROS
#include <curses.h>
#define term terminfo_term	/* it has a struct of that name */
#include <term.h>
#undef term

enum { ROWS_MAX = 1000, COLS_MAX = 2000, SEQUENCE_MS = 25,
       ATTRS = UI_BOLD | UI_UNDERLINE | UI_REVERSE | UI_ON_CURSOR };

static const char modes_on[] = "\033[?2004h";
static const char modes_off[] = "\033[?2004l";
static const char mouse_on[] = "\033[?1000h\033[?1006h";
static const char mouse_off[] = "\033[?1006l\033[?1000l";

struct term {
	SCREEN *screen;
	int rows, cols;
	bool ascii, ansi, colours, direct, own_colours;
	bool mouse_can, mouse;
	bool gone, watched;		/* watched: stdin is in the epoll */
	bool again;			/* next draw is of every cell */
	bool cursor_shown;
	int epoll_fd;
	struct buf cursor_on;
	const struct theme *theme;
	struct input input;
	struct grid shown;		/* what ncurses was given last */
	/* A blank in every style, so that a cell is a copy of it. */
	cchar_t blank[UI_ROLE_COUNT][ATTRS + 1];
	cchar_t *run;			/* a row's worth; owned */
};

static void put(const char *bytes)
{
	size_t n = strlen(bytes);

	while (n > 0) {
		ssize_t done = write(STDOUT_FILENO, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;		/* gone: the next read says so */
		bytes += done;
		n -= (size_t)done;
	}
}

/* --- colours ----------------------------------------------------------- */

/* The upper eight of the palette where only direct colours exist. */
static const int32_t bright[8] = { 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
				   0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff };

/* The nearest of the 216 colours and 24 greys that terminals with 256 colours
 * agree on; the first sixteen are whatever a person made of them. */
static int nearest(int32_t rgb)
{
	static const int level[6] = { 0, 95, 135, 175, 215, 255 };
	int want[3] = { rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255 };
	int best = 16, least = INT_MAX;

	for (int i = 16; i < 256; i++) {
		int grey = 8 + 10 * (i - 232), off = 0;

		for (int k = 0; k < 3; k++) {
			int step = k == 0 ? (i - 16) / 36 :
				   k == 1 ? (i - 16) / 6 % 6 : (i - 16) % 6;
			int by = want[k] - (i < 232 ? level[step] : grey);

			off += by * by;
		}
		if (off < least) {
			least = off;
			best = i;
		}
	}
	return best;
}

/* A colour as this terminal names it; -1: its own. *attrs: what stands in for
 * brightness where there are eight. */
static int colour(const struct term *t, short palette, int32_t rgb,
		  bool ground, attr_t *attrs)
{
	if (t->direct && palette >= 8 && rgb < 0)
		rgb = bright[palette - 8];
	if (t->direct && rgb >= 0)
		return rgb < 8 ? 0 : rgb;
	if (COLORS >= 256 && rgb >= 0)
		return nearest(rgb);
	if (palette < 0)
		return t->own_colours ? -1 : ground ? COLOR_BLACK :
		       COLOR_WHITE;
	if (palette < 8 || COLORS >= 16)
		return palette;
	if (palette == 8 && !ground) {	/* bright black may be black */
		*attrs |= A_DIM;
		return t->own_colours ? -1 : COLOR_WHITE;
	}
	if (!ground)
		*attrs |= A_BOLD;
	return palette - 8;
}

static attr_t attributes(unsigned attrs)
{
	return (attrs & UI_BOLD ? A_BOLD : 0) |
	       (attrs & UI_UNDERLINE ? A_UNDERLINE : 0) |
	       (attrs & UI_REVERSE ? A_REVERSE : 0);
}

/* One role, on the cursor's row or not: its pair, and what goes with it. */
static attr_t look_make(struct term *t, int role, bool on_cursor, int pair)
{
	const struct theme_look *look = &t->theme->look[role];
	const struct theme_look *cursor = &t->theme->look[UI_CURSOR];
	const struct theme_look *ground = on_cursor ? cursor : look;
	bool own = look->fg < 0 && look->fg_rgb < 0;
	const struct theme_look *ink = on_cursor && own ? cursor : look;
	attr_t attrs = attributes(look->attrs |
				  (on_cursor ? cursor->attrs : 0));
	int fg, bg;

	if (!t->colours)
		return attrs;
	fg = colour(t, ink->fg, ink->fg_rgb, false, &attrs);
	bg = colour(t, ground->bg, ground->bg_rgb, true, &attrs);
	if (fg == bg && fg >= 0 && !t->direct)
		fg = bg == COLOR_WHITE ? COLOR_BLACK : COLOR_WHITE;
	init_extended_pair(pair, fg, bg);
	return attrs;
}

static void looks_make(struct term *t)
{
	for (int role = 0; role < UI_ROLE_COUNT; role++)
		for (unsigned a = 0; a <= ATTRS; a++) {
			bool on_cursor = a & UI_ON_CURSOR;
			int pair = 1 + role * 2 + on_cursor;
			attr_t attrs = look_make(t, role, on_cursor, pair);

			if (!t->colours || !t->theme->colour)
				pair = 0;
			setcchar(&t->blank[role][a], L" ",
				 attrs | attributes(a), (short)pair, NULL);
		}
}

/* Terminfo's word on true colour: direct numbers, eight bits each. */
static bool says_direct(void)
{
	const char *bits = tigetstr("RGB");

	if (COLORS < 1 << 24)
		return false;
	return tigetflag("RGB") == 1 || tigetnum("RGB") == 8 ||
	       (bits && bits != (char *)-1 && strcmp(bits, "8/8/8") == 0);
}

static void colours_start(struct term *t, bool refused)
{
	if (refused || !has_colors() || start_color() == ERR || COLORS < 8 ||
	    COLOR_PAIRS < 1 + UI_ROLE_COUNT * 2)
		return;
	t->colours = true;
	t->own_colours = use_default_colors() == OK;
	t->direct = says_direct();
}

const struct theme *term_theme(const struct term *t)
{
	return t->theme;
}

void term_set_theme(struct term *t, const struct theme *theme)
{
	assert(theme && theme->name);
	if (theme->colour && !t->colours)
		theme = theme_find("mono");
	t->theme = theme;
	looks_make(t);
	t->again = true;
}

/* --- life -------------------------------------------------------------- */

static bool refuse(struct buf *error, const char *name, const char *why)
{
	buf_adds(error, "the console cannot run on the terminal \"");
	utf8_fit(error, span_of(name), 40, true);
	buf_addf(error, "\" (TERM): %s; set TERM to what it is (xterm-256color,"
		 " screen, linux), or use the commands without a console: see"
		 " edcsync help", why);
	return false;
}

/* Is there a terminal, and is it one that can be drawn on? */
static bool usable(struct buf *error)
{
	const char *name = getenv("TERM");
	int found;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		buf_adds(error, "the console needs a terminal on its input and"
			 " output; without one use the commands: see edcsync"
			 " help");
		return false;
	}
	if (!name || !*name) {
		buf_adds(error, "the console needs to know the terminal, and"
			 " TERM is not set; set it (xterm-256color, screen,"
			 " linux), or use the commands: see edcsync help");
		return false;
	}
	if (strcmp(name, "dumb") == 0 || strcmp(name, "unknown") == 0)
		return refuse(error, name, "it cannot move its cursor");
	if (setupterm(name, STDOUT_FILENO, &found) != OK)
		return refuse(error, name, found == 1 ? "it prints on paper" :
			      found == 0 ? "it is not known on this machine" :
			      "there is no terminfo database");
	if (!cursor_address || !clear_screen || tigetflag("gn") == 1) {
		del_curterm(cur_term);
		return refuse(error, name, "it cannot move its cursor");
	}
	return true;
}

static struct buf *tputs_out;

static int tputs_byte(int c)
{
	buf_addc(tputs_out, (char)c);
	return c;
}

static void add_capability(struct buf *out, const char *capability)
{
	tputs_out = out;
	if (capability)
		tputs(capability, 1, tputs_byte);
}

/* What puts the screen back, whenever it is written. */
static void last_bytes(const struct term *t, struct buf *out)
{
	if (t->ansi) {
		buf_adds(out, mouse_off);
		buf_adds(out, modes_off);
	}
	add_capability(out, exit_attribute_mode);
	add_capability(out, orig_pair);
	add_capability(out, keypad_local);
	if (exit_ca_mode)
		add_capability(out, exit_ca_mode);
	else
		buf_adds(out, "\r\n");
	/* Last: with the screen some bring the cursor's state back. */
	add_capability(out, cursor_normal);
}

static void keys_learn(struct input *in)
{
	static const struct {
		const char *capability;
		enum key_name name;
	} rows[] = {
		{"kcuu1", KEYN_UP}, {"kcud1", KEYN_DOWN},
		{"kcub1", KEYN_LEFT}, {"kcuf1", KEYN_RIGHT},
		{"khome", KEYN_HOME}, {"kend", KEYN_END},
		{"kpp", KEYN_PAGE_UP}, {"knp", KEYN_PAGE_DOWN},
		{"kent", KEYN_ENTER}, {"kcbt", KEYN_BACK_TAB},
		{"kbs", KEYN_BACKSPACE}, {"kdch1", KEYN_DELETE},
		{"kf1", KEYN_F1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *s = tigetstr(rows[i].capability);

		if (s && s != (char *)-1)
			input_name(in, s, rows[i].name);
	}
}

static void size_read(struct term *t)
{
	struct winsize ws = {0};
	int rows = LINES, cols = COLS;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row > 0 &&
	    ws.ws_col > 0) {
		rows = ws.ws_row;
		cols = ws.ws_col;
	}
	rows = rows < 1 ? 1 : rows > ROWS_MAX ? ROWS_MAX : rows;
	cols = cols < 1 ? 1 : cols > COLS_MAX ? COLS_MAX : cols;
	if (rows != LINES || cols != COLS)
		resizeterm(rows, cols);
	if (rows != t->rows || cols != t->cols || !t->run) {
		grid_resize(&t->shown, rows, cols);
		t->run = xrealloc(t->run, (size_t)cols * sizeof(*t->run));
		t->rows = rows;
		t->cols = cols;
	}
	t->again = true;
}

static void modes_set(struct term *t, bool on)
{
	if (!t->ansi)
		return;
	put(on ? modes_on : modes_off);
	if (t->mouse)
		put(on ? mouse_on : mouse_off);
}

static void screen_start(void)
{
	raw();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	typeahead(-1);			/* a key must not cut a redraw */
	scrollok(stdscr, FALSE);
	idlok(stdscr, FALSE);
	idcok(stdscr, FALSE);
	curs_set(0);
	leaveok(stdscr, TRUE);
}

static bool watch(struct term *t, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return fd >= 0 && epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, fd, &e) == 0;
}

static bool watch_start(struct term *t, const struct termios *before)
{
	struct buf bytes = BUF_INIT;
	int fd;

	last_bytes(t, &bytes);
	add_capability(&t->cursor_on, cursor_normal);
	fd = guard_open(STDOUT_FILENO, before, buf_span(&bytes));
	buf_release(&bytes);
	t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	t->watched = true;
	return watch(t, fd) && watch(t, STDIN_FILENO);
}

static const struct theme *theme_wished(const struct term *t,
					const struct term_options *options)
{
	const struct theme *theme = NULL;

	if (options->theme)
		theme = theme_find(options->theme);
	return theme ? theme : theme_default(t->colours);
}

struct term *term_open(const struct term_options *options, struct buf *error)
{
	struct termios before;
	TERMINAL *looked_at;
	struct term *t;

	if (!usable(error))
		return NULL;
	looked_at = cur_term;
	if (tcgetattr(STDIN_FILENO, &before) != 0) {
		buf_addf(error, "the console cannot read the terminal's modes:"
			 " %s", strerror(errno));
		return NULL;
	}
	setlocale(LC_CTYPE, "");
	t = xcalloc(1, sizeof(*t));
	t->ascii = options->ascii ||
		   strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	t->ansi = strncmp(clear_screen, "\033[", 2) == 0;
	t->mouse_can = t->ansi && tigetstr("kmous") &&
		       tigetstr("kmous") != (char *)-1;
	t->mouse = t->mouse_can && !options->no_mouse;
	input_init(&t->input);
	grid_init(&t->shown);
	if (!watch_start(t, &before)) {
		buf_addf(error, "the console cannot watch the terminal: %s",
			 strerror(errno));
		term_close(t);
		return NULL;
	}
	t->screen = newterm(NULL, stdout, stdin);
	if (cur_term != looked_at)	/* it read the same again */
		del_curterm(looked_at);
	if (!t->screen) {
		buf_adds(error, "the console cannot start the terminal");
		term_close(t);
		return NULL;
	}
	keys_learn(&t->input);
	screen_start();
	colours_start(t, options->no_colour);
	term_set_theme(t, theme_wished(t, options));
	modes_set(t, true);
	size_read(t);
	return t;
}

static void leave(struct term *t)
{
	modes_set(t, false);
	endwin();
	put(buf_text(&t->cursor_on));	/* as in last_bytes() */
}

void term_close(struct term *t)
{
	if (!t)
		return;
	if (t->screen) {
		leave(t);
		delscreen(t->screen);
	}
	guard_close();
	if (t->epoll_fd >= 0)
		close(t->epoll_fd);
	input_release(&t->input);
	grid_release(&t->shown);
	buf_release(&t->cursor_on);
	free(t->run);
	free(t);
}

void term_size(const struct term *t, int *rows, int *cols)
{
	*rows = t->rows;
	*cols = t->cols;
}

bool term_ascii(const struct term *t)
{
	return t->ascii;
}

bool term_mouse(const struct term *t)
{
	return t->mouse;
}

void term_set_mouse(struct term *t, bool on)
{
	on = on && t->mouse_can;
	if (on != t->mouse)
		put(on ? mouse_on : mouse_off);
	t->mouse = on;
}

/* --- out --------------------------------------------------------------- */

static bool same(const struct cell *a, const struct cell *b)
{
	const size_t n = offsetof(struct cell, style) + sizeof(a->style);

	return memcmp(a, b, n) == 0;
}

/* The last guard: whatever a cell holds, no control goes out. */
static wchar_t harmless(const struct term *t, uint32_t ch)
{
	if (ch >= 0x20 && ch < 0x7f)
		return (wchar_t)ch;
	return ch < 0xa0 || t->ascii ? L'?' : (wchar_t)ch;
}

static void to_curses(const struct term *t, const struct cell *c,
		      cchar_t *out)
{
	wchar_t text[1 + ARRAY_SIZE(c->ch)] = {0};
	attr_t attrs;
	short pair;
	wchar_t none[CCHARW_MAX + 1];

	assert(c->style.role < UI_ROLE_COUNT && c->style.attrs <= ATTRS);
	*out = t->blank[c->style.role][c->style.attrs];
	if (!c->ch[1]) {
		out->chars[0] = c->ch[0] ? harmless(t, c->ch[0]) : L' ';
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(c->ch) && c->ch[i]; i++)
		text[i] = harmless(t, c->ch[i]);
	getcchar(out, none, &attrs, &pair, NULL);
	setcchar(out, text, attrs, pair, NULL);
}

/* The cells of a row that differ, a run at a time. */
static void draw_row(struct term *t, const struct grid *g, int row, int cols)
{
	const struct cell *now = &g->cell[(size_t)row * (size_t)g->cols];
	struct cell *old = &t->shown.cell[(size_t)row * (size_t)t->cols];
	int col = 0;

	while (col < cols) {
		int n = 0, from;

		while (col < cols && !t->again && same(&now[col], &old[col]))
			col++;
		if (col == cols)
			break;
		while (col > 0 && now[col].width == 0)
			col--;
		for (from = col; col < cols; col++) {
			if (now[col].width > 0 && !t->again &&
			    same(&now[col], &old[col]))
				break;
			if (now[col].width > 0)
				to_curses(t, &now[col], &t->run[n++]);
			old[col] = now[col];
		}
		/* Does not move, so that the last corner is a cell as any. */
		mvadd_wchnstr(row, from, t->run, n);
	}
}

static void draw_cursor(struct term *t, const struct grid *g)
{
	bool shown = g->cursor_row >= 0 && g->cursor_row < t->rows &&
		     g->cursor_col >= 0 && g->cursor_col < t->cols;

	if (shown != t->cursor_shown) {
		leaveok(stdscr, !shown);
		curs_set(shown);
		t->cursor_shown = shown;
	}
	if (shown)
		move(g->cursor_row, g->cursor_col);
}

static bool hung_up(struct term *t)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	if (!t->gone && poll(&p, 1, 0) > 0 &&
	    (p.revents & (POLLHUP | POLLERR | POLLNVAL)))
		t->gone = true;
	return t->gone;
}

bool term_draw(struct term *t, const struct grid *g, bool whole)
{
	int rows = g->rows < t->rows ? g->rows : t->rows;
	int cols = g->cols < t->cols ? g->cols : t->cols;

	if (hung_up(t))
		return false;
	t->again |= whole;
	if (t->again) {
		erase();
		clearok(curscr, TRUE);
	}
	for (int row = 0; row < rows; row++)
		draw_row(t, g, row, cols);
	draw_cursor(t, g);
	t->again = false;
	return refresh() == OK || !hung_up(t);
}

bool term_copy(struct term *t, struct span text)
{
	struct buf out = BUF_INIT;
	bool fits = t->ansi && copy_sequence(text, &out);

	if (fits)
		put(buf_text(&out));
	buf_release(&out);
	return fits;
}

void term_bell(struct term *t)
{
	(void)t;
	beep();
}

/* --- in ---------------------------------------------------------------- */

int term_fd(const struct term *t)
{
	return t->epoll_fd;
}

static int64_t steady_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void set_gone(struct term *t)
{
	t->gone = true;
	if (t->watched)			/* it would be readable for ever */
		epoll_ctl(t->epoll_fd, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
	t->watched = false;
}

/* Bytes that are there within the time. False: none, or gone. */
static bool fill(struct term *t, int wait_ms)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned char *room;
	size_t size;
	ssize_t n;

	if (poll(&p, 1, wait_ms) <= 0)
		return false;
	room = input_room(&t->input, &size);
	assert(room);
	n = read(STDIN_FILENO, room, size);
	if (n > 0) {
		input_added(&t->input, (size_t)n);
		return true;
	}
	if (n == 0 || (errno != EINTR && errno != EAGAIN))
		set_gone(t);
	return false;
}

static bool from_signals(struct term *t, struct key *key)
{
	unsigned flags = guard_flags();

	if (flags & GUARD_CONTINUED) {	/* who stopped us changed the modes */
		reset_prog_mode();
		keypad(stdscr, TRUE);
		modes_set(t, true);
	}
	if (flags & (GUARD_RESIZED | GUARD_CONTINUED)) {
		size_read(t);
		*key = (struct key){.kind = KEYK_RESIZE};
		return true;
	}
	if (flags & GUARD_SUSPEND) {
		*key = (struct key){.kind = KEYK_CHAR, .ch = 'z',
				    .ctrl = true};
		return true;
	}
	return false;
}

void term_next(struct term *t, struct key *key)
{
	enum input_result got;
	bool last = false;

	if (!t->gone && from_signals(t, key))
		return;
	for (;;) {
		got = input_next(&t->input, last, steady_ms(), key);
		last = false;
		if (got == INPUT_KEY)
			return;
		if (got == INPUT_DROPPED)
			continue;
		if (t->gone || !fill(t, got == INPUT_MORE ? SEQUENCE_MS : 0)) {
			if (got == INPUT_EMPTY || t->gone)
				break;
			last = true;
		}
	}
	*key = (struct key){.kind = t->gone ? KEYK_GONE : KEYK_NONE};
}

void term_flush_keys(struct term *t)
{
	bool resized = false;
	struct key key;

	do {
		term_next(t, &key);
		resized |= key.kind == KEYK_RESIZE;
	} while (key.kind != KEYK_NONE && key.kind != KEYK_GONE);
	if (resized)
		raise(SIGWINCH);	/* not a key: it is told again */
}

void term_suspend(struct term *t)
{
	leave(t);
	guard_arm(false);
	guard_stop();
	guard_arm(true);
	reset_prog_mode();
	refresh();			/* the screen first, then its modes */
	curs_set(t->cursor_shown);
	modes_set(t, true);
	size_read(t);
}
