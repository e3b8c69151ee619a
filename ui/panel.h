/*
 * panel.h - floor S: a panel is one file that ends in its ops table.
 *
 * The private struct of a panel begins with `struct panel`. A key handler
 * returns effects as bits and never paints; the app's loop alone decides
 * what is done. Reflow (size changed), ask (data changed) and paint are
 * separate passes. Panels hold copies of what they show: the store is read
 * in jobs (work.h), whose `done` puts the answer into the panel and calls
 * panel_dirty().
 */
#ifndef EDCSYNC_UI_PANEL_H
#define EDCSYNC_UI_PANEL_H

#include "store/act.h"
#include "ui/cell.h"
#include "ui/keys.h"

enum {
	FX_NONE = 0,
	FX_PAINT = 1,			/* draw again */
	FX_ASK = 2,			/* ask the store again */
	FX_REFLOW = 4,			/* sizes inside changed */
	FX_BACK = 8,			/* leave this level */
	FX_UNHANDLED = 16,		/* not mine: the app's */
	FX_OPENED = 32			/* another level is on top now */
};

struct app;
struct panel;

/* What acts apply to. Owned by whoever holds it. */
struct target {
	enum target_kind { TARGET_NONE, TARGET_OPS, TARGET_FILTER,
			   TARGET_ENDPOINT } kind;
	struct act_item *item;		/* OPS: ids and versions seen */
	size_t n;
	char *filter;			/* FILTER: complete, states included */
	int64_t count;			/* FILTER: as shown; -1: not known */
	char *endpoint;			/* for P and b; may be NULL */
	char *words;			/* "1001-014 VITALS V2", "368 x 504 ..." */
};
void target_release(struct target *);

struct panel_ops {
	const char *name;		/* for --panel and `:` ("dead") */
	const char *title;		/* "Dead letters" */
	const char *tab;		/* in the second line: "Dead" */
	size_t size;			/* of the private struct */
	uint64_t can;			/* actions it serves */
	void (*init)(struct panel *);
	void (*release)(struct panel *);
	/* Asks the store; also when it comes into view and when the store
	 * changed (at most five times a second). */
	void (*ask)(struct panel *);
	/* Does it show times that run? Then it is painted once a second. */
	bool running;
	void (*reflow)(struct panel *);	/* rows, cols are new; may be NULL */
	void (*draw)(struct panel *, const struct area *);
	/* FX_UNHANDLED: the app's. Keys without action come as DO_NOTHING. */
	unsigned (*key)(struct panel *, enum action, const struct key *);
	/* What acts go by; false: nothing under the cursor. May be NULL. */
	bool (*target)(struct panel *, struct target *);
	/* The command that shows the same; for `@`. May be NULL. */
	void (*command_line)(struct panel *, struct buf *);
	/* What `y` copies: plain words. May be NULL. */
	void (*copy)(struct panel *, struct buf *);
	/* Ctrl-S; NULL: what is on the screen. */
	void (*export)(struct panel *, struct buf *);
	/* A person's filter; NULL text clears it. May be NULL: no filter. */
	void (*filter)(struct panel *, const char *text);
	/* Where it is not the language of lists: is the text one? False with
	 * a sentence; true with a hint or none. May be NULL. */
	bool (*filter_check)(struct panel *, const char *text,
			     struct buf *error);
	/* The filter in force, for the prompt; NULL none. */
	const char *(*filter_text)(struct panel *);
	/* `:sort WORD` (DO_SORT) and `:group WORD` (DO_GROUP); false with a
	 * sentence that names what there is. May be NULL. */
	bool (*by)(struct panel *, enum action, const char *word,
		   struct buf *error);
};

struct panel {
	const struct panel_ops *ops;
	struct app *app;
	int rows, cols;			/* of its body */
	struct panel *below;		/* of the app: level underneath */
};

/* Allocates ops->size, runs init. */
struct panel *panel_new(const struct panel_ops *, struct app *);
void panel_free(struct panel *);	/* cancels its jobs, too */
/* Its data changed: paint soon. Main thread. */
void panel_dirty(struct panel *);

/* The eight, in the order of their keys; ends with NULL. */
extern const struct panel_ops *const panels[];
extern const struct panel_ops panel_overview, panel_attempts, panel_circuits,
	panel_polls, panel_reconcile, panel_dead, panel_rejected, panel_audit;

/* Levels opened from anywhere. */
struct panel *inspector_new(struct app *, const char *op_id);
struct panel *sheet_new(struct app *, const char *text);
/* A flat list of the operations that match (an opened group, a need). */
struct panel *ops_list_new(struct app *, const char *title,
			   const char *filter);

#endif
