/*
 * theme.h - floor S: colour roles and the themes that answer for them.
 *
 * Code that draws asks for a role; the theme says what it looks like. No
 * meaning hangs on hue alone: each state has a glyph and a word besides, and
 * `mono` is one theme more. The default is safe for colour-blind readers
 * (blue, orange, never red against green). Tables here, terminal in term.h.
 */
#ifndef EDCSYNC_UI_THEME_H
#define EDCSYNC_UI_THEME_H

#include "core/op.h"

/* X(symbol, name, what it is for). SCREENS.md names them. */
#define UI_ROLES(X) \
	X(TEXT, "text", "ordinary words") \
	X(TITLE, "title", "headings and the frame") \
	X(OK, "ok", "done, well") \
	X(WAIT, "wait", "on its way") \
	X(BAD, "bad", "refused, given up, broken") \
	X(UNKNOWN, "unknown", "may be there") \
	X(INFO, "info", "worth knowing") \
	X(DIM, "dim", "beside the point") \
	X(CURSOR, "cursor", "the row keys act on") \
	X(MARK, "mark", "marked rows") \
	X(WARNBAR, "warnbar", "production, and trouble of the store")

enum ui_role {
#define X(sym, name, what) UI_##sym,
	UI_ROLES(X)
#undef X
	UI_ROLE_COUNT
};

/* Attributes beside the role. */
enum { UI_BOLD = 1, UI_UNDERLINE = 2, UI_REVERSE = 4,
       UI_ON_CURSOR = 8 /* the row under the cursor: its background */ };

/* How a role looks. Colours: -1 the terminal's own, 0-15 of the palette. rgb
 * is used as it is where terminfo says RGB, as the nearest of 256 colours
 * where there are as many; -1 none. */
struct theme_look {
	short fg, bg;
	int32_t fg_rgb, bg_rgb;
	unsigned attrs;			/* UI_BOLD ... */
};

struct theme {
	const char *name;		/* safe dark light mono */
	const char *words;		/* for help and the man page */
	bool colour;
	struct theme_look look[UI_ROLE_COUNT];
};

extern const struct theme themes[];	/* ends with name NULL */
const struct theme *theme_find(const char *name);	/* NULL: none */
/* NO_COLOR (any value but empty) and a terminal without colours: mono;
 * else the first. */
const struct theme *theme_default(bool colours);

/* The role of a state; `unknown` wins over dead and rejected when the outcome
 * is not known. */
enum ui_role theme_state_role(enum op_state, unsigned flags);

#endif
