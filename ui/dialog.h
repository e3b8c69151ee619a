/*
 * dialog.h - floor S: forms on top of the screen. While one is open it gets
 * every key. Keys typed before it opened are thrown away, pasted text goes
 * into the field under the cursor (first line of it) and never presses a
 * button, the default button is the first one, Cancel. Fits into 80x24 and
 * scrolls its words below that; Esc cancels.
 */
#ifndef EDCSYNC_UI_DIALOG_H
#define EDCSYNC_UI_DIALOG_H

#include "ui/panel.h"

enum field_kind { FIELD_TEXT, FIELD_SECRET, FIELD_CHOICE, FIELD_NUMBER,
		  FIELD_CHECK };

/* The row is copied; its texts stay valid while the dialog is open, but for
 * preset. */
struct field_row {
	const char *name;		/* for dialog_value */
	const char *label;
	enum field_kind kind;
	int width;			/* cells of the input */
	size_t bytes_max;
	const char *const *choices;	/* CHOICE; ends with NULL; shown as
					 * they are, the value is the text up
					 * to the first space */
	const char *preset;		/* or NULL */
};

struct dialog;
struct dialog_spec {
	const char *title;		/* copied */
	const struct field_row *fields;	/* ends with name NULL; may be NULL */
	const char *const *buttons;	/* ends with NULL; [0] is Cancel */
	int width;			/* wish; 0: 72 */
	/* Enter in the last field presses this one. 0: it goes to Cancel, as
	 * it must where an act could follow. */
	int enter_button;
	/* Button pressed (0: Cancel or Esc). FX_BACK closes; a refusal shows
	 * dialog_error and stays. ctx is freed by `free_ctx`. */
	unsigned (*chosen)(struct dialog *, int button);
	/* `@` there: the command line that does the same; may be NULL. */
	void (*command_line)(struct dialog *, struct buf *);
	/* `L` on the buttons: the list behind the counts; may be NULL. */
	void (*show_list)(struct dialog *);
	void (*free_ctx)(void *);
	void *ctx;
};

/* Opens on top. The app owns it. Jobs whose owner is the dialog are forgotten
 * when it closes. `chosen` must not close it itself: it returns FX_BACK. */
struct dialog *dialog_open(struct app *, const struct dialog_spec *);
void dialog_close(struct dialog *);
struct app *dialog_app(struct dialog *);
void *dialog_ctx(struct dialog *);
/* The words above the fields: a line each; roles by a row. Replaced as
 * answers come in. */
void dialog_words_clear(struct dialog *);
void dialog_word(struct dialog *, enum ui_role, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* A red line above the buttons; NULL clears. */
void dialog_error(struct dialog *, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "working ..." in place of the buttons; keys other than Esc are ignored. */
void dialog_busy(struct dialog *, bool);
const char *dialog_value(struct dialog *, const char *name);
void dialog_set(struct dialog *, const char *name, const char *value);
/* Shows or hides fields and buttons (a signature that is not needed). */
void dialog_show_field(struct dialog *, const char *name, bool shown);
void dialog_show_button(struct dialog *, int button, bool shown);
void dialog_focus(struct dialog *, const char *name);
/* Enter in the last field goes to this button, not to Cancel, and presses
 * nothing: for what does no harm and is undone by a key. Of several the first
 * that is shown. */
void dialog_enter_goes_to(struct dialog *, int button);
/* Overwrites every SECRET value. Done at close, too. */
void dialog_wipe(struct dialog *);

/* Words to scroll through (help, a command line, a list); copied. Foreign
 * text in it is escaped when it is drawn. */
void pager_open(struct app *, const char *title, const char *text);

/* For the app's loop. */
unsigned dialog_key(struct dialog *, const struct key *);
void dialog_draw(struct dialog *, const struct area *screen);

#endif
