/*
 * groups.h - floor S: what panels 6 and 7 have in common: groups first, a
 * group opens into its list, `o` groups by something else or not at all.
 *
 *   groups.c       the panel: keys, targets, what is asked
 *   groups_load.c  groups as rows of a list (in a lane's thread)
 *   groups_foot.c  below the groups: the one under the cursor in detail, and
 *                  how old everything is
 *   dead.c, rejected.c   their words
 */
#ifndef EDCSYNC_UI_GROUPS_H
#define EDCSYNC_UI_GROUPS_H

#include "ui/app.h"
#include "ui/list.h"

/* What one of the two panels says. */
struct groups_kind {
	enum op_state state;
	const char *title;		/* "Dead letters" */
	const struct list_ops *groups, *flat;
};

/* By what, the last one: not at all. */
enum { GROUPS_FLAT = VIEW_BY_COUNT };

enum { FOOT_AGES_MAX = 24, FOOT_ENDPOINT_BYTES = 80 };
struct foot {
	char group[LIST_ID_BYTES];	/* what `parts` is about */
	char *parts;			/* owned: "Sites 1001 209, ..." */
	int64_t parts_ms, ages_ms;	/* when asked */
	struct foot_age {
		char endpoint[FOOT_ENDPOINT_BYTES];
		int64_t n[VIEW_AGES];
	} age[FOOT_AGES_MAX];
	int ages, ages_left_out;
	bool ages_known;
	bool stale;			/* the store changed since */
};

struct groups {
	struct panel panel;
	const struct groups_kind *kind;
	int by;				/* enum view_group_by, or FLAT */
	struct list list;		/* groups */
	struct list flat;
	bool opened[2];			/* the list was: groups, flat */
	struct foot foot;
};

/* groups_load.c. The list's number tells the loader state and grouping. A
 * row's `more` is the filter that opens the group, its `number` how many. */
enum { GROUPS_COUNT, GROUPS_THERE, GROUPS_TITLE, GROUPS_ENDPOINT,
       GROUPS_OLDEST, GROUPS_BACK, GROUPS_TRIAGE, GROUPS_LAST, GROUPS_FIRST,
       GROUPS_DETAIL, GROUPS_NEXT };
int groups_number(enum op_state, int by);
void groups_load(struct list_ask *, struct work_room *);
/* Orders of columns. */
enum { GROUPS_BY_COUNT = 1, GROUPS_BY_THERE, GROUPS_BY_TITLE,
       GROUPS_BY_ENDPOINT, GROUPS_BY_OLDEST, GROUPS_BY_BACK,
       GROUPS_BY_TRIAGE };

/* Columns of both; the detail is never shown as one: the foot has it, and
 * the export. */
enum { GROUPS_NEVER = 100000 };
#define GROUPS_COLUMNS(error_title_, triage_from_) \
	[GROUPS_COUNT] = {.name = "count", .title = "Count", .width = 7, \
			  .right = true, .order = GROUPS_BY_COUNT}, \
	[GROUPS_THERE] = {.name = "there", .title = "There?", .width = 6, \
			  .order = GROUPS_BY_THERE}, \
	[GROUPS_TITLE] = {.name = "error", .title = (error_title_), \
			  .width = 20, .grow = 1, .order = GROUPS_BY_TITLE}, \
	[GROUPS_ENDPOINT] = {.name = "endpoint", .title = "Endpoint", \
			     .width = 13, .from_cols = 50, \
			     .order = GROUPS_BY_ENDPOINT}, \
	[GROUPS_OLDEST] = {.name = "oldest", .title = "Oldest", .width = 6, \
			   .right = true, .order = GROUPS_BY_OLDEST}, \
	[GROUPS_BACK] = {.name = "back", .title = "Back", .width = 4, \
			 .right = true, .from_cols = 60, \
			 .order = GROUPS_BY_BACK}, \
	[GROUPS_TRIAGE] = {.name = "triage", .title = "Triage", .width = 11, \
			   .from_cols = (triage_from_), \
			   .order = GROUPS_BY_TRIAGE}, \
	[GROUPS_LAST] = {.name = "last", .title = "Last", .width = 6, \
			 .right = true, .from_cols = 100, .order = -1}, \
	[GROUPS_FIRST] = {.name = "first", .title = "First", .width = 6, \
			  .right = true, .from_cols = 100, .order = -1}, \
	[GROUPS_DETAIL] = {.name = "detail", .title = "Detail", \
			   .from_cols = GROUPS_NEVER, .order = -1}, \
	[GROUPS_NEXT] = {.name = "next", .title = "What to do", \
			 .from_cols = GROUPS_NEVER, .order = -1}, \
	{.name = NULL}

/* groups_foot.c. Topics 8 and 9 of the panel. again: the store changed. */
void foot_ask(struct groups *, bool again);
/* Something else is wanted sooner. */
void foot_cancel(struct groups *);
/* Another filter: the group is made of less, or more. */
void foot_forget(struct groups *);
void foot_release(struct foot *);
/* Not asked for a while, though the store changed: to be asked again. */
bool foot_due(struct groups *);
/* Rows it would like; draws in as many as it is given. */
int foot_rows(const struct groups *);
void foot_draw(const struct groups *, const struct area *);

/* The ops of both, as functions; init sets the kind before. */
void groups_init(struct groups *, const struct groups_kind *);
void groups_release(struct panel *);
void groups_ask(struct panel *);
void groups_draw(struct panel *, const struct area *);
unsigned groups_key(struct panel *, enum action, const struct key *);
bool groups_target(struct panel *, struct target *);
void groups_command_line(struct panel *, struct buf *);
void groups_copy(struct panel *, struct buf *);
void groups_export(struct panel *, struct buf *);
void groups_filter(struct panel *, const char *text);
const char *groups_filter_text(struct panel *);
bool groups_by(struct panel *, enum action, const char *word, struct buf *);
/* The list's `loaded`: the foot follows the cursor. */
void groups_loaded(struct list *);

#define GROUPS_OPS \
	.size = sizeof(struct groups), \
	.can = LIST_CAN | CAN(OPEN) | CAN(BACK) | CAN(GROUP) | \
	       CAN(FREEZE) | CAN(CHECK) | CAN(REPLAY) | CAN(NOTE) | \
	       CAN(DISCARD) | CAN(PAUSE) | CAN(PROBE) | CAN(COPY) | \
	       CAN(COMMAND_LINE), \
	.release = groups_release, .ask = groups_ask, .running = true, \
	.draw = groups_draw, .key = groups_key, .target = groups_target, \
	.command_line = groups_command_line, .copy = groups_copy, \
	.export = groups_export, .filter = groups_filter, \
	.filter_text = groups_filter_text, .by = groups_by

#endif
