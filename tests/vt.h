/*
 * vt.h - tests: a terminal without a window.
 *
 * A pseudo terminal with libvterm behind it. The child (a program or a
 * function of the test) runs below a small keeper that does what a shell
 * does: it gives it the terminal, sees it stop and end, passes a hang-up on,
 * and keeps the terminal open after the end, so that what the child left
 * behind can be looked at.
 *
 * Nothing here depends on how fast the machine is. vt_settle() does not wait
 * for silence: it waits until no key is left unread, nothing is left to be
 * shown and every thread of the child sleeps without having run between two
 * looks. Only a child that hangs meets a deadline (VT_LONG_MS).
 *
 * Every byte that the child ever wrote is kept in `raw`.
 */
#ifndef EDCSYNC_TESTS_VT_H
#define EDCSYNC_TESTS_VT_H

#include <sys/types.h>
#include <termios.h>
#include <vterm.h>

#include "core/base.h"

enum { VT_LONG_MS = 120000 };

struct vt_start {
	int cols, rows;			/* 0: 80 x 24 */
	const char *term;		/* NULL: xterm-256color; "": unset */
	const char *locale;		/* NULL: C.UTF-8 */
	const char *home;		/* NULL: "/nonexistent" */
	const char *zone;		/* TZ; NULL: UTC */
	const char *const *env;		/* more NAME=VALUE; NULL at its end */
	char *const *argv;		/* a program, or */
	int (*run)(void *ctx);		/* a function; its result is the exit
					 * status */
	void *ctx;
	bool ignore_hangup;		/* as below nohup */
	bool abandoned;			/* nobody passes the hang-up on: the
					 * child only sees its input end */
};

struct vt {
	int master;			/* -1: hung up */
	int up, down;			/* to the keeper */
	pid_t keeper, pid;		/* pid: of the child */
	VTerm *vterm;
	VTermScreen *screen;
	int rows, cols;
	bool alternate, cursor_hidden, stopped, ended;
	int mouse;			/* VTERM_PROP_MOUSE_*, 0 off */
	int cursor_row, cursor_col;
	int status;			/* as waitpid gives it, when ended */
	struct termios before;		/* as the child found it */
	struct buf raw;
};

void vt_start(struct vt *, const struct vt_start *);
/* Kills what still runs, gives everything back. */
void vt_end(struct vt *);

/* Takes what there is to be shown, waiting for it at most so long. False:
 * nothing came. */
bool vt_pump(struct vt *, int wait_ms);
/* Until the child has nothing left to do (see above). False: it ended, or
 * never came to rest. */
bool vt_settle(struct vt *);
/* The same, and asleep for so long: longer than a timer that is to end. */
bool vt_settle_for(struct vt *, int asleep_ms);
/* Until the text stands somewhere on the screen, and then settled: its row.
 * -1: it ended or the time was over. */
int vt_wait(struct vt *, const char *text);
int vt_wait_for(struct vt *, const char *text, int ms);
int vt_find(const struct vt *, const char *text);	/* now; -1 no */
/* Until it ended. False: it did not within so long. */
bool vt_wait_end(struct vt *, int ms);
bool vt_wait_stop(struct vt *, int ms);
void vt_continue(struct vt *);		/* as `fg` does */

/*
 * One key, by name or as the character itself: Up Down Left Right Home End
 * PgUp PgDn Ins Del Enter Tab S-Tab Esc Space Backspace F1 .. F12, Ctrl-x,
 * Alt-x. False: no such key. Nothing is waited for.
 */
bool vt_key(struct vt *, const char *name);
void vt_type(struct vt *, const char *text);	/* UTF-8, as it is */
void vt_bytes(struct vt *, const void *, size_t);
void vt_paste(struct vt *, const char *text);	/* bracketed where asked */
/* button 1-3; 4, 5: wheel. Nothing where the child did not ask for it. */
void vt_click(struct vt *, int row, int col, int button);
void vt_resize(struct vt *, int cols, int rows);
void vt_signal(struct vt *, int sig);
void vt_hang_up(struct vt *);

/* A row as text, trailing blanks dropped; the whole screen, a line a row. */
void vt_row(const struct vt *, int row, struct buf *out);
void vt_text(const struct vt *, struct buf *out);
/*
 * How the cells of a row look, a character each, trailing blanks dropped:
 * blank plain, b bold, u underlined, r reversed, R reversed and bold, U
 * underlined and bold; where colour is set a letter more is not given, see
 * vt_colours.
 */
void vt_looks(const struct vt *, int row, struct buf *out);
/* Does any cell have a colour of its own? */
bool vt_colours(const struct vt *);
VTermScreenCell vt_cell(const struct vt *, int row, int col);

/* Is the terminal as the child found it: modes, screen, cursor, mouse,
 * paste? Else what is not. */
bool vt_clean(struct vt *, struct buf *words);
/* Is all that was ever written text and harmless sequences? Else what is not.
 * ascii: nothing beyond it; copies: OSC 52 is expected. */
bool vt_lint(const struct vt *, bool ascii, bool copies, struct buf *words);
/* The end of what was written, escaped, to look at when a test failed. */
void vt_tail(const struct vt *, size_t bytes, struct buf *out);

#endif
