/*
 * term.h - floor S: the terminal. The one door to ncurses; main thread only.
 *
 * Life: term_open, then any number of term_draw and term_next, term_close.
 * Whatever ends the program (exit, SIGTERM, abort, a failed assertion) the
 * terminal is put back: echo, cursor, screen, mouse and paste modes. A
 * terminal that is gone (ssh dropped; read gives end or EIO) is told as
 * KEYK_GONE, from then on for ever; nobody spins on it.
 *
 * Only the cells that differ from what is shown are given to ncurses.
 */
#ifndef EDCSYNC_UI_TERM_H
#define EDCSYNC_UI_TERM_H

#include "ui/cell.h"

struct term;

struct term_options {
	const char *theme;		/* NULL: by NO_COLOR and terminal */
	bool no_colour;			/* --color=never */
	bool ascii;			/* plain ASCII asked for; also set by a
					 * locale that is not UTF-8 */
	bool no_mouse;
};

/* NULL with one sentence: no terminal on stdin or stdout, TERM unset, dumb or
 * unknown. The caller exits 2. */
struct term *term_open(const struct term_options *, struct buf *error);
/* Puts the terminal back. NULL is fine. */
void term_close(struct term *);
void term_size(const struct term *, int *rows, int *cols);
bool term_ascii(const struct term *);
const struct theme *term_theme(const struct term *);
void term_set_theme(struct term *, const struct theme *);	/* repaints */
void term_set_mouse(struct term *, bool on);
bool term_mouse(const struct term *);

/* Shows the grid (must have the size of the terminal); `whole` repaints
 * everything (Ctrl-L, back from suspension). False: the terminal is gone. */
bool term_draw(struct term *, const struct grid *, bool whole);

/* X(symbol, name as in help and tests) */
#define UI_KEYS(X) \
	X(UP, "Up") X(DOWN, "Down") X(LEFT, "Left") X(RIGHT, "Right") \
	X(HOME, "Home") X(END, "End") X(PAGE_UP, "PgUp") \
	X(PAGE_DOWN, "PgDn") X(ENTER, "Enter") X(ESC, "Esc") X(TAB, "Tab") \
	X(BACK_TAB, "S-Tab") X(BACKSPACE, "Backspace") X(DELETE, "Del") \
	X(F1, "F1")

enum key_name {
	KEY_NONE_,
#define X(sym, name) KEYN_##sym,
	UI_KEYS(X)
#undef X
	KEYN_COUNT
};

enum key_kind {
	KEYK_NONE,			/* nothing there now */
	KEYK_CHAR,			/* ch: a character; ctrl: Ctrl too */
	KEYK_NAMED,			/* name */
	KEYK_MOUSE,			/* row, col, button 1-3, 4 5 wheel up,
					 * down; twice: double click */
	KEYK_PASTE,			/* text: what was pasted, whole, at
					 * most 64 KiB, never taken as keys */
	KEYK_RESIZE,			/* the size changed; term_size is new */
	KEYK_GONE			/* no terminal any more */
};

struct key {
	enum key_kind kind;
	uint32_t ch;
	bool ctrl, alt;
	enum key_name name;
	int row, col, button;
	bool twice;
	struct span text;		/* PASTE: good until the next call */
};

/* The descriptor to wait on: readable when there are keys, when the size
 * changed, when we were continued, when somebody else asks us to stop (told
 * as Ctrl-Z). After it term_next until KEYK_NONE. */
int term_fd(const struct term *);
/* The next key there is, never waiting (an escape sequence cut in two is
 * waited for 25 ms at most). */
void term_next(struct term *, struct key *);
/* Keys typed before a dialog opened must not answer it. */
void term_flush_keys(struct term *);

/* OSC 52, bounded, of escaped text; newlines inside stay. False: too long, or
 * no such terminal: nothing was copied. */
enum { TERM_COPY_BYTES_MAX = 74994 };
bool term_copy(struct term *, struct span text);
/* Ctrl-Z: puts the terminal back, stops, returns when continued. */
void term_suspend(struct term *);
void term_bell(struct term *);

#endif
