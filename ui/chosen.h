/*
 * chosen.h - floor S: a frozen list of operations, kept small (about 45 bytes
 * each, so that a million fit), and outcomes counted by their words.
 *
 * No thread of its own: a list goes with the act it is for, from the main
 * thread into a job and back.
 */
#ifndef EDCSYNC_UI_CHOSEN_H
#define EDCSYNC_UI_CHOSEN_H

#include "store/act.h"

/* What a look at it said. */
enum { CHOSEN_OUT = 1, CHOSEN_GO = 2, CHOSEN_EVIDENCE = 4,
       CHOSEN_UNSURE = 8, CHOSEN_ANY = 15 };

struct chosen_one {
	size_t at;			/* its op_id, in the arena */
	int64_t version;		/* as it was seen; 0: as it is */
	unsigned mark;			/* one of the above */
};

struct chosen {
	struct buf arena;		/* ids, each ends with a NUL */
	struct chosen_one *v;		/* owned */
	size_t n, cap;
};

struct chosen *chosen_new(void);
void chosen_free(struct chosen *);	/* NULL is fine */
void chosen_add(struct chosen *, const char *op_id, int64_t version,
		unsigned mark);
const char *chosen_id(const struct chosen *, size_t i);
/* By id, each once: the same set has the same digest under a signature. */
void chosen_tidy(struct chosen *);
size_t chosen_count(const struct chosen *, unsigned marks);
/* The next at most max of those marked so, from *at on, which moves; index
 * (may be NULL) takes where each stands. */
size_t chosen_take(const struct chosen *, size_t *at, unsigned marks,
		   struct act_item *out, size_t *index, size_t max);

/* Outcomes: how many of each kind, with some of each by name. */
enum { TALLY_GROUPS_MAX = 24, TALLY_NAMES_MAX = 200 };

struct tally_group {
	int result;			/* of struct act_item */
	bool evidence;			/* wants it */
	char *words;			/* owned; without what differs */
	char *first;			/* owned; of the first one, in full */
	int64_t n;
	int named;
	struct buf names;		/* lines */
};

struct tally {
	struct tally_group *v;		/* owned */
	size_t n;
	int64_t all, good;		/* good: done or requested */
};

void tally_release(struct tally *);
/* Counts; the group, so that the caller may name the item if there is room
 * (named < TALLY_NAMES_MAX). */
struct tally_group *tally_add(struct tally *, const struct act_item *);
/* A line "op_id  label" of the group, with its words where they differ. */
void tally_name(struct tally_group *, const struct act_item *,
		const char *label);
/* All of it in words, for a pager. bad: only what was not done. */
void tally_text(const struct tally *, bool bad, struct buf *out);

#endif
