/*
 * field.h - floor S: one line of text being typed; dialogs and the prompt
 * share it.
 *
 * The text is UTF-8; the cursor stands between characters, and a character
 * with its combining marks is one. What cannot be drawn (controls, bidi,
 * zero width) never gets in by key or paste; of a paste only the first line
 * is taken. A text longer than its place scrolls.
 *
 * A secret is shown as dots, never more than FIELD_DOTS_MAX, and its bytes
 * are overwritten when they go (never copied by growing: its room is taken
 * at once).
 */
#ifndef EDCSYNC_UI_FIELD_H
#define EDCSYNC_UI_FIELD_H

#include "ui/cell.h"
#include "ui/term.h"

enum { FIELD_DOTS_MAX = 8 };

struct field {
	struct buf text;
	size_t at;			/* cursor, in bytes */
	size_t first;			/* first byte shown */
	size_t bytes_max;
	bool secret;
};

void field_init(struct field *, size_t bytes_max, bool secret);
void field_release(struct field *);	/* overwrites first */
/* Empty again; overwritten first. */
void field_wipe(struct field *);
/* Our own or a remembered text, as it is, cut at the limit; the cursor at its
 * end. NULL: empty. */
void field_set(struct field *, const char *text);
const char *field_text(const struct field *);
/* Typed or pasted: first line, what can be drawn, up to the limit. False:
 * something did not get in. */
bool field_insert(struct field *, struct span text);

/*
 * Characters, PASTE, Left Right Home End Backspace Del, C-a C-e C-b C-f C-w
 * C-u C-k C-d C-h, and with Alt b f d for words. Everything else is NOT_MINE
 * (Enter, Esc, Tab, up and down), so that the caller goes by it.
 */
enum edited { EDIT_NOT_MINE, EDIT_NOTHING, EDIT_MOVED, EDIT_CHANGED };
enum edited field_key(struct field *, const struct key *);

/* `width` cells from (row, col): the text, then `fill` to its end. cursor:
 * the keys go here, so the grid's cursor does, too. */
void field_draw(struct field *, const struct area *, int row, int col,
		int width, struct style, char fill, bool cursor);

#endif
