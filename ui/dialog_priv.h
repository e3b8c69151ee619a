/*
 * dialog_priv.h - floor S: what dialog.c, dialog_draw.c and pager.c share.
 *
 * A dialog is a form (words, fields, buttons) or a pager (lines to scroll
 * through); the app sees no difference. Focus is one number: the fields
 * first, then the buttons. What is hidden is passed by.
 */
#ifndef EDCSYNC_UI_DIALOG_PRIV_H
#define EDCSYNC_UI_DIALOG_PRIV_H

#include "ui/app.h"
#include "ui/field.h"

enum { DIALOG_WIDTH = 72, DIALOG_BUTTONS_MAX = 8 };

struct dialog_entry {
	struct field_row row;		/* texts borrowed from the spec */
	struct field field;		/* TEXT, SECRET, NUMBER */
	int choice;			/* CHOICE */
	bool on;			/* CHECK */
	bool shown;
	struct buf value;		/* what dialog_value gave last */
};

struct dialog_word {
	enum ui_role role;
	char *text;			/* owned */
};

struct dialog {
	struct app *app;
	struct dialog_spec spec;
	char *title;			/* owned */
	struct dialog_entry *entry;	/* owned */
	int entries;
	const char *button[DIALOG_BUTTONS_MAX];
	bool button_shown[DIALOG_BUTTONS_MAX];
	int buttons;
	unsigned enter_to;		/* bits: buttons that Enter goes to */
	struct dialog_word *word;	/* owned */
	size_t words;
	char *error;			/* owned; NULL none */
	bool busy;
	int focus;			/* entry, or entries + button */
	int top;			/* first row of the contents shown */
	bool reveal;			/* the focus is to be brought in view */
	/* As drawn last, for the mouse and for paging. */
	struct area box;
	int screen_rows, view_rows, content_rows, fields_at, buttons_row;
	int button_col[DIALOG_BUTTONS_MAX], button_end[DIALOG_BUTTONS_MAX];
	struct pager *pager;		/* owned; NULL: a form */
};

/* A dialog on top without contents yet. */
struct dialog *dialog_open_bare(struct app *, const char *title);
bool dialog_on_button(const struct dialog *);
bool dialog_is_text(const struct dialog_entry *);
const char *dialog_choice(const struct dialog_entry *);	/* whole, or "" */

struct pager;
void pager_free(struct pager *);
unsigned pager_key(struct dialog *, const struct key *);
void pager_draw(struct dialog *, const struct area *screen);

#endif
