/*
 * app.h - floor S: the console: its loop, its frame, its levels.
 *
 * One loop: wait for keys, finished jobs, the store's pulse, the clock, or a
 * signal; collect effects; then reflow, ask, paint, each at most once. An
 * idle console paints once a second and only the cells that differ.
 *
 * Layout: line 0 who and where, line 1 the panels, then the body, one footer
 * line (which is the prompt while one is open). Below 40x8 it says so in
 * words and recovers; q quits there, too.
 */
#ifndef EDCSYNC_UI_APP_H
#define EDCSYNC_UI_APP_H

#include "ui/dialog.h"
#include "ui/panel.h"
#include "ui/session.h"
#include "ui/term.h"
#include "ui/work.h"

/* What cli wires. All of it stays valid while app_run runs. */
struct ui_world {
	const char *store_path;
	const struct config *config;	/* NULL: none */
	void *ctx;			/* for the functions below */
	int64_t (*now_ms)(void *ctx);
	int (*utc_offset_min)(void *ctx, int64_t at_ms);
	/* Any thread; each caller has its own. NULL with a sentence. */
	struct store *(*store_open)(void *ctx, struct buf *error);
	void (*store_close)(void *ctx, struct store *);
	/* The store changed or wants the engine: wakes an engine of this
	 * process (may be NULL; others see it by themselves). */
	void (*nudge)(void *ctx);
	/* Requests in flight of an engine in this process; NULL: none here. */
	int (*in_flight)(void *ctx);
	/* Who the engine is, for the frame ("service 811"); false: none
	 * runs. Any thread; looks at a lock, waits for nothing. */
	bool (*engine)(void *ctx, char words[64], bool *trouble);
	/* Starts an engine in this process, or ends it; words for a toast, or
	 * none, and engine_here says what became of it. Main thread. NULL:
	 * never here. Where it is wanted it runs from after the first paint
	 * to the end, and rests while we are stopped (Ctrl-Z). */
	void (*engine_run)(void *ctx, bool run, struct buf *words);
	bool engine_wanted, engine_here;
	/* Checks the whole audit trail, in words; false: it is not intact,
	 * or not to be read. In a thread beside the screen; ends soon once
	 * stopped(room) is true. May be NULL. */
	bool (*verify)(void *ctx, bool (*stopped)(struct work_room *),
		       struct work_room *, struct buf *words);
	/* A signal to end came (SIGTERM, SIGINT, SIGHUP): readable. -1 none. */
	int stop_fd;
	const struct actor *claims;	/* what the system says of us */
	bool readonly;
	const char *anchor_file;	/* of the audit trail; NULL: none */
	const char *program;		/* "edcsync", with -c FILE or -s FILE
					 * as needed, for `@` */
	const char *version;		/* "edcsync 0.1.0" */
	const char *panel, *filter, *op;	/* where to begin, or NULL */
	const char *greeting;		/* a toast at the start, or NULL */
	const char *export_dir;		/* Ctrl-S writes here; NULL: "." */
	bool demo;			/* says so in the frame */
};

/* What the frame shows, read beside the screen: the app's own question. */
struct app_status {
	bool known;
	bool engine, engine_trouble, store_restored;
	char engine_words[64];		/* "engine service 811" */
	bool production;
	int64_t count[OP_STATE_COUNT];
	int circuits_bad;
	int64_t needs;			/* lines of needs-a-person */
	int64_t polls, audit_seq;
};

/* Runs until quit. 0, or an exit code (2: no terminal) with a sentence in
 * error for stderr, after the terminal is put back. */
int app_run(const struct ui_world *, const struct term_options *,
	    struct buf *error);

/* For panels, dialogs and acts; main thread. */
const struct ui_world *app_world(const struct app *);
const struct app_status *app_status(const struct app *);
struct work *app_work(struct app *);
struct session *app_session(struct app *);
struct term *app_term(struct app *);
int64_t app_now_ms(const struct app *);
/* Zone on the screen (0 where Z chose UTC). */
int app_utc_offset_min(const struct app *, int64_t at_ms);
bool app_ascii(const struct app *);
/* Time as it stands on the screen, in the zone on the screen: "14:02:31", or
 * with the day when it is not today. */
void app_time(const struct app *, int64_t at_ms, struct buf *out);
/* A line above the footer for some seconds. Foreign arguments are escaped. */
void app_toast(struct app *, enum ui_role, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
void app_push(struct app *, struct panel *);	/* takes it */
void app_pop(struct app *);
void app_switch(struct app *, size_t panel);	/* 0-7; closes levels */
struct panel *app_panel(const struct app *);	/* on top */
/* When `:verify` last ended in this console, and whether the trail was intact
 * then; 0: it never ran. */
int64_t app_verified(const struct app *, bool *intact);
void app_paint_soon(struct app *);
/* An act was done: nothing stays chosen in the panel on top. */
void app_unmark(struct app *);
void app_ask_soon(struct app *);	/* what is on top, and the frame */
/* Dialogs: the newest on top; dialog.c only. */
void app_add_dialog(struct app *, struct dialog *);
void app_remove_dialog(struct app *, struct dialog *);

/* prompt.c: `/` `:` and `F` on the last line, with history and completion. */
struct prompt;
enum prompt_kind { PROMPT_FILTER, PROMPT_COMMAND, PROMPT_FIND };
void prompt_open(struct app *, enum prompt_kind, const char *preset);
/* X of the `:` commands are rows in command.c (ui); for help and manual. */
struct ui_command {
	const char *name, *usage, *words;
	/* Sentence in error (then it was not done), or done. */
	bool (*run)(struct app *, const char *args, struct buf *error);
	/* The i-th completion of the argument; NULL: no more. May be NULL. */
	const char *(*complete)(struct app *, size_t i);
};
extern const struct ui_command ui_commands[];	/* ends with name NULL */

#endif
