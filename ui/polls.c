#include "ui/app.h"
#include "ui/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/timefmt.h"
#include "core/words.h"
#include "ui/ops_rows.h"

enum { COL_STATE, COL_WHAT, COL_ENDPOINT, COL_JOB, COL_WORD, COL_POLLS,
       COL_NEXT, COL_BUDGET, COL_LEFT, COL_AGE };
enum { BAR_CELLS = 6 };

static const char states[] = "state:polling,unwatched";
static const char rule[] = "stopped watching, the vendor may still finish: "
			   "c checks it there";

static const struct list_column columns[] = {
	[COL_STATE] = {.name = "state", .title = "", .width = 1, .order = -1},
	[COL_WHAT] = {.name = "subject", .title = "Subject, form",
		      .width = 17, .grow = 3, .order = VIEW_SUBJECT,
		      .slow = true},
	[COL_ENDPOINT] = {.name = "endpoint", .title = "Endpoint",
			  .width = 9, .grow = 1, .from_cols = 70,
			  .order = VIEW_ENDPOINT, .slow = true},
	[COL_JOB] = {.name = "job", .title = "Job", .width = 8, .grow = 1,
		     .order = -1},
	[COL_WORD] = {.name = "word", .title = "Vendor says", .width = 10,
		      .grow = 1, .order = -1},
	[COL_POLLS] = {.name = "polls", .title = "Polls", .width = 5,
		       .right = true, .order = -1},
	[COL_NEXT] = {.name = "next", .title = "Next", .width = 8,
		      .order = VIEW_DUE},
	[COL_BUDGET] = {.name = "budget", .title = "Budget",
			.width = BAR_CELLS, .from_cols = 60, .order = -1},
	[COL_LEFT] = {.name = "left", .title = "Left", .width = 6,
		      .right = true, .from_cols = 90, .order = -1},
	[COL_AGE] = {.name = "age", .title = "Age", .width = 6,
		     .right = true, .order = VIEW_SINCE},
	{.name = NULL}
};

/* --- rows (in a lane's thread) ----------------------------------------- */

struct filling {
	struct list_ask *ask;
	const struct work_room *room;
};

/* All that may be spent: as configured, else as it looks. */
static int64_t budget_ms(const struct view_poll *poll,
			 const struct work_room *room)
{
	const struct endpoint_config *e = room->config ?
		config_endpoint(room->config,
				span_of(poll->op->endpoint)) : NULL;

	if (e && e->poll.budget_ms > 0)
		return e->poll.budget_ms;
	return poll->began_ms ? room->now_ms - poll->began_ms +
				poll->budget_left_ms : 0;
}

static void put(struct list_row *to, int column, struct style style,
		const char *text)
{
	list_row_text(to, column, style, "%s", text ? text : "");
}

static void put_budget(struct list_row *to, const struct filling *f,
		       const struct view_poll *poll)
{
	const struct grid plain = {.ascii = f->ask->ascii};
	int64_t whole = budget_ms(poll, f->room), left = poll->budget_left_ms;
	struct style s = left * 5 < whole ? STYLE(BAD) : STYLE(WAIT);
	char text[TIME_TEXT];
	struct buf bar = BUF_INIT;
	int full = 0;

	if (!poll->began_ms || whole <= 0)
		return;
	left = left < 0 ? 0 : left > whole ? whole : left;
	full = (int)((double)left / (double)whole * BAR_CELLS + 0.5);
	for (int i = 0; i < BAR_CELLS; i++)
		buf_adds(&bar, glyph_text(&plain, i < full ? GLYPH_FULL :
					  GLYPH_EMPTY));
	put(to, COL_BUDGET, s, buf_text(&bar));
	buf_release(&bar);
	duration_text(left, text);
	put(to, COL_LEFT, s, text);
}

static void put_next(struct list_row *to, const struct filling *f,
		     const struct view_poll *poll)
{
	const struct op *op = &poll->op->op;
	char at[TIME_TEXT];

	if (op->state == OP_UNWATCHED)
		put(to, COL_NEXT, STYLE(DIM), "never");
	else if (poll->last_look)
		put(to, COL_NEXT, STYLE(BAD), "last");
	else if (op->due_at_ms <= f->room->now_ms)
		put(to, COL_NEXT, STYLE(TEXT), "now");
	else {
		time_local(op->due_at_ms, f->ask->utc_offset_min, at);
		at[19] = '\0';
		put(to, COL_NEXT, STYLE(TEXT), at + 11);
	}
}

/* The vendor's word, and that what it means for the items is yet to come. */
static void put_word(struct list_row *to, struct style style,
		     const struct view_op *row)
{
	const char *word = row->poll_word ? row->poll_word : "";

	if (row->job_stage == JOB_WATCHED)
		put(to, COL_WORD, style, word);
	else
		list_row_text(to, COL_WORD, style, "%s%s%s",
			      row->op.state == OP_UNWATCHED ? "no result" :
			      "result due", *word ? ": " : "", word);
}

static int give(void *ctx, const struct view_poll *poll)
{
	const struct filling *f = ctx;
	const struct view_op *row = poll->op;
	const struct op *op = &row->op;
	struct style state = {.role = (uint8_t)theme_state_role(op->state,
								op->flags)};
	struct list_row *to = list_ask_row(f->ask);
	struct buf text = BUF_INIT;

	snprintf(to->id, sizeof(to->id), "%s", op->op_id);
	to->version = op->version;
	to->number = op->state;
	to->more = xstrdup(row->endpoint);
	put(to, COL_STATE, state, words_glyph(op->state, op->flags,
					      f->ask->ascii));
	words_record(op, &text);
	put(to, COL_WHAT, STYLE(TEXT), buf_text(&text));
	buf_release(&text);
	put(to, COL_ENDPOINT, STYLE(TEXT), row->endpoint);
	put(to, COL_JOB, STYLE(TEXT), row->job_id);
	put_word(to, state, row);
	list_row_text(to, COL_POLLS, STYLE(DIM), "%d", op->polls);
	put_next(to, f, poll);
	put_budget(to, f, poll);
	list_row_age(to, COL_AGE, STYLE(TEXT), op->state_since_ms);
	return 0;
}

static void put_rule(struct list_ask *ask)
{
	struct list_row *row = list_ask_row(ask);
	const struct grid plain = {.ascii = ask->ascii};
	const char *line = glyph_text(&plain, GLYPH_HDASH);

	row->head = true;
	snprintf(row->id, sizeof(row->id), "unwatched");
	list_row_text(row, 0, STYLE(UNKNOWN), "%s%s %s %s%s", line, line,
		      rule, line, line);
}

/* --- two sections, one list -------------------------------------------- */

/* Rows of one section as an answer of its own; at most limit. */
static bool section(struct list_ask *part, const struct list_ask *of,
		    struct work_room *room, bool unwatched, int limit)
{
	struct filling f = {.ask = part, .room = room};
	struct ops_page p;
	int64_t rc;

	part->filter = of->filter;
	part->context = of->context;
	part->order = of->order < 0 ? VIEW_DUE : of->order;
	part->descending = of->order >= 0 && of->descending;
	part->ascii = of->ascii;
	part->utc_offset_min = of->utc_offset_min;
	part->limit = limit;
	if (limit <= 0)
		return true;
	if (ops_page_begin(&p, part, room)) {
		rc = view_polls(room->view, &p.page, unwatched, give, &f);
		ops_page_end(&p, part, rc, room);
	}
	return !part->error;
}

/* Moves the rows of a part to the end of the answer. */
static void join(struct list_ask *to, struct list_ask *part)
{
	for (size_t i = 0; i < part->rows; i++)
		*list_ask_row(to) = part->row[i];
	free(part->row);
	part->row = NULL;
	part->rows = 0;
	if (part->error && !to->error) {
		to->error = part->error;
		to->result = part->result;
	} else {
		free(part->error);
	}
	part->error = NULL;
}

/* Is that row below the rule? */
static bool is_unwatched(const char *id, const struct work_room *room)
{
	const struct view_page page = {.now_ms = room->now_ms};
	struct view_op row;
	bool unwatched = false;

	if (*id && view_op(room->view, id, &page, &row) == ST_OK) {
		unwatched = row.op.state == OP_UNWATCHED;
		view_op_release(&row);
	}
	return unwatched;
}

static void load_on(struct list_ask *ask, struct work_room *room)
{
	struct list_ask above = {.limit = 0}, below = {.limit = 0};
	const char *id = *ask->after ? ask->after : ask->from;
	bool only_below = is_unwatched(id, room);
	struct list_ask *first = only_below ? &below : &above;

	snprintf(first->after, sizeof(first->after), "%s", ask->after);
	snprintf(first->from, sizeof(first->from), "%s", ask->from);
	if (!section(first, ask, room, only_below, ask->limit) ||
	    only_below || above.more) {
		ask->more = first->more;
	} else {
		int left = ask->limit - (int)above.rows;

		/* With no room left, one row still says whether to go on. */
		section(&below, ask, room, true, left > 0 ? left : 1);
		ask->more = below.more;
	}
	join(ask, &above);
	if (!only_below && below.rows > 0)
		put_rule(ask);
	join(ask, &below);
}

static void load_back(struct list_ask *ask, struct work_room *room)
{
	struct list_ask above = {.limit = 0}, below = {.limit = 0};
	bool from_below = ask->last || is_unwatched(ask->before, room);
	bool crossed = false;

	if (from_below) {
		below.last = ask->last;
		snprintf(below.before, sizeof(below.before), "%s",
			 ask->before);
		crossed = section(&below, ask, room, true, ask->limit) &&
			  !below.more;
	}
	ask->more = below.more;
	if (!from_below || crossed) {
		int left = ask->limit - (int)below.rows;

		above.last = from_below;
		if (!from_below)
			snprintf(above.before, sizeof(above.before), "%s",
				 ask->before);
		section(&above, ask, room, false, left > 0 ? left : 1);
		ask->more = above.more;
	}
	join(ask, &above);
	if (crossed && (below.rows > 0 || !ask->last))
		put_rule(ask);
	join(ask, &below);
}

static void load(struct list_ask *ask, struct work_room *room)
{
	if (ask->last || *ask->before)
		load_back(ask, room);
	else
		load_on(ask, room);
}

static const struct list_ops polls_rows = {
	.columns = columns, .load = load, .count = ops_count,
	.empty = "Nothing is polled. What a vendor accepts but has not done "
		 "yet is watched here.",
};

/* --- the panel --------------------------------------------------------- */

struct polls {
	struct panel panel;
	struct list list;
	bool opened;
};

static void init(struct panel *p)
{
	list_init(&((struct polls *)p)->list, p, 0, &polls_rows);
}

static void release(struct panel *p)
{
	list_release(&((struct polls *)p)->list);
}

static void ask(struct panel *p)
{
	struct polls *polls = (struct polls *)p;
	struct session *session = app_session(p->app);

	if (polls->opened) {
		list_reload(&polls->list);
		return;
	}
	polls->opened = true;
	list_open(&polls->list, states,
		  session ? session_id(session) : NULL, 0);
}

static void draw(struct panel *p, const struct area *a)
{
	struct list *l = &((struct polls *)p)->list;
	struct area rest = area_part(a, 1, 0, a->rows - 1, a->cols);

	ops_title(l, a, p->ops->title, NULL);
	list_draw(l, &rest);
}

static void set_filter(struct panel *p, const char *text)
{
	struct list *l = &((struct polls *)p)->list;

	l->slow = text && *text;
	list_set_filter(l, text);
}

static unsigned key(struct panel *p, enum action action, const struct key *k)
{
	struct list *l = &((struct polls *)p)->list;
	const struct list_row *row;

	action = list_action(l, action, k);
	if (!ops_takes(p, action))
		return FX_UNHANDLED;
	if (action == DO_BACK) {
		bool had = list_back(l);

		l->slow = l->person_filter;
		return had ? FX_PAINT : FX_UNHANDLED;
	}
	if (action != DO_OPEN)
		return list_key(l, action, k);
	row = list_cursor(l);
	if (!row)
		return FX_NONE;
	app_push(p->app, inspector_new(p->app, row->id));
	return FX_OPENED;
}

static bool target(struct panel *p, struct target *t)
{
	return ops_rows_target(&((struct polls *)p)->list, COL_WHAT, t);
}

static void command_line(struct panel *p, struct buf *out)
{
	struct buf filter = BUF_INIT;

	list_filter(&((struct polls *)p)->list, &filter);
	buf_addf(out, "%s list ", app_world(p->app)->program);
	words_shell(out, buf_text(&filter));
	buf_release(&filter);
}

static void copy(struct panel *p, struct buf *out)
{
	ops_rows_copy(&((struct polls *)p)->list, out);
}

static void export(struct panel *p, struct buf *out)
{
	list_export(&((struct polls *)p)->list, out);
}

static const char *filter_text(struct panel *p)
{
	return ((struct polls *)p)->list.person_filter;
}

static bool by(struct panel *p, enum action action, const char *word,
	       struct buf *error)
{
	return action == DO_SORT &&
	       ops_rows_sort(&((struct polls *)p)->list, word, error);
}

const struct panel_ops panel_polls = {
	.name = "polls", .title = "Polls", .tab = "Poll",
	.size = sizeof(struct polls),
	.can = LIST_CAN | CAN(OPEN) | CAN(BACK) | CAN(FREEZE) | CAN(CHECK) |
	       CAN(NOTE) | CAN(DISCARD) | CAN(PAUSE) | CAN(PROBE) |
	       CAN(COPY) | CAN(COMMAND_LINE),
	.init = init, .release = release, .ask = ask, .running = true,
	.draw = draw, .key = key, .target = target,
	.command_line = command_line, .copy = copy, .export = export,
	.filter = set_filter, .filter_text = filter_text, .by = by,
};
