/*
 * app_priv.h - private to app.c and its neighbours: the console's own state.
 *
 *   app.c      the loop, what is due, life
 *   app_key.c  from a key to what is done with it
 *   level.c    panels on top of each other
 *   status.c   the app's own questions: status and pulse
 *   frame.c    all that is drawn around a panel
 *   tell.c     for others: copy, command line, export, help
 *   digest.c   what happened since a time
 *
 * All of it belongs to the main thread.
 */
#ifndef EDCSYNC_UI_APP_PRIV_H
#define EDCSYNC_UI_APP_PRIV_H

#include "ui/app.h"

enum { PANELS = 8, TOASTS = 3, TOAST_BYTES = 400,
       ROWS_MIN = 8, COLS_MIN = 40, BODY_MIN = 4,
       HEAD_ROWS = 2, FOOT_ROWS = 1 };

/* What is due; reflow before ask before paint. */
enum {
	DUE_REFLOW = 1, DUE_ASK = 2, DUE_STATUS = 4, DUE_PAINT = 8,
	DUE_WHOLE = 16			/* a paint of every cell */
};

struct toast {
	char text[TOAST_BYTES];
	enum ui_role role;
	int64_t until_ms;		/* of the app's clock; 0: free */
};

struct app {
	const struct ui_world *world;
	struct term *term;
	struct work *work;
	struct session *session;
	struct grid grid;
	struct panel *root[PANELS];	/* made when first seen */
	size_t at;			/* the root in view */
	struct panel *top;		/* root[at], or a level on it */
	struct dialog **dialog;		/* newest last; owned */
	size_t dialogs;
	struct prompt *prompt;		/* owned; NULL: closed */
	struct app_status status;
	bool store_silent;		/* the last question got no answer */
	struct toast toast[TOASTS];	/* newest last */
	unsigned due;
	bool utc;			/* zone on the screen */
	bool frozen;
	bool ended, gone;
	struct history *history[PROMPT_FIND + 1];

	/* Pulse: has the store changed? A view of its own, opened beside. */
	struct view *pulse;
	int64_t pulse_at_ms;		/* when to look next; steady */
	bool changed;			/* it has, and nobody asked yet */
	int64_t asked_ms;		/* when the panel was asked last */
	int64_t answered_ms;		/* when all its answers were there */
	bool waits;			/* for them */
	int64_t status_ms;		/* when status was asked last */
	int64_t second;			/* that was painted last */
	int64_t verified_ms;		/* the audit trail; 0 never */
	bool intact;
};

int64_t steady_ms(void);
void app_due(struct app *, unsigned due);
void app_effects(struct app *, unsigned fx);
void app_engine_run(struct app *, bool run);	/* of this process, if any */

/* app_key.c */
void app_key(struct app *, const struct key *);
void app_quit(struct app *);		/* asks where something is lost */
/* Narrows what is on top; where that has no list, opens one. */
void app_filter(struct app *, const char *text);
/* What the app itself serves of what is on top. */
uint64_t app_can(const struct app *);

/* level.c */
void levels_free(struct app *);
struct area app_body(struct app *);
bool app_small(const struct app *);

/* status.c */
void status_ask(struct app *);
/* By the configuration, also before the store was asked. */
bool app_production(const struct app *);
void pulse_look(struct app *);		/* sets changed */
void pulse_free(struct app *);

/* frame.c */
void frame_draw(struct app *);		/* all but the body and dialogs */
void frame_small(struct app *);
void toasts_draw(struct app *);
int toasts_rows(const struct app *);	/* that they take */
/* Which panel's word in line 1 is there; -1: none. */
int frame_tab_at(struct app *, int col);

/* prompt.c */
unsigned prompt_key(struct app *, const struct key *);
/* At the bottom, so many rows; 0: it is closed. */
int prompt_rows(const struct app *);
void prompt_draw(struct app *);
void prompt_close(struct app *);
/* Opens `:` again with a line that was not done, and why. */
void prompt_mistake(struct app *, const char *line, const char *words);
void histories_free(struct app *);

/* command.c */
void command_run(struct app *, const char *line);
const struct ui_command *command_find(const char *name, size_t n);

/* digest.c: `:digest` */
bool digest_ask(struct app *, const char *args, struct buf *error);

/* Another thread's answer in words, shown when it comes (tell.c). */
void tell_verify(struct app *);

/* tell.c */
void tell_copy(struct app *);
void tell_command_line(struct app *);
void tell_export(struct app *);
void tell_help(struct app *);

#endif
