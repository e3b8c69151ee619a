/*
 * input.h - floor S: from the terminal's bytes to keys. No terminal here, no
 * clock: bytes are added, keys are taken; term.c is its one user.
 *
 * What a sequence means is known three ways: what terminfo says (input_name),
 * the shapes that all terminals of today share (CSI, SS3, SGR mouse, bracketed
 * paste), UTF-8. A sequence without a meaning is dropped whole, so that its
 * rest is never taken for keys. What is pasted is never taken for keys,
 * however long the terminal takes to bring it.
 */
#ifndef EDCSYNC_UI_INPUT_H
#define EDCSYNC_UI_INPUT_H

#include "ui/term.h"

enum { INPUT_BYTES_MAX = 4096, INPUT_PASTE_MAX = 64 << 10,
       INPUT_NAMES_MAX = 32, INPUT_NAME_BYTES = 12,
       INPUT_TWICE_MS = 400 };

struct input {
	unsigned char byte[INPUT_BYTES_MAX];
	size_t len;
	struct {
		unsigned char byte[INPUT_NAME_BYTES];
		size_t n;
		enum key_name name;
	} name[INPUT_NAMES_MAX];
	size_t names;
	bool pasting, paste_given;
	struct buf paste;
	/* The click before, for the double one. */
	int64_t click_ms;
	int click_row, click_col, click_button;
};

enum input_result {
	INPUT_EMPTY,			/* nothing more until bytes come */
	INPUT_MORE,			/* the beginning of something: wait a
					 * little, then ask with `last` */
	INPUT_DROPPED,			/* something without a meaning */
	INPUT_KEY
};

void input_init(struct input *);
void input_release(struct input *);
/* The terminal sends this for that key; one byte or none is ignored. */
void input_name(struct input *, const char *sequence, enum key_name);
/* Room for more bytes (not NULL while input_next gives EMPTY or MORE). */
unsigned char *input_room(struct input *, size_t *n);
void input_added(struct input *, size_t n);
/* last: nothing followed in time, what is there is all. The text of a paste
 * is good until the next call. */
enum input_result input_next(struct input *, bool last, int64_t now_ms,
			     struct key *);

#endif
