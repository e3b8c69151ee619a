#include "ui/ops_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "ui/app.h"

enum { COUNT_MAX = 20000, TITLE_CELLS = 12, FILTER_CELLS = 30 };

enum { COL_STATE, COL_WHAT = OPS_WHAT_COLUMN, COL_FORM, COL_STUDY, COL_SITE,
       COL_ENDPOINT, COL_TROUBLE, COL_ATTEMPTS, COL_AGE, COL_BACK, COL_WHO,
       COL_NOTES };

const struct list_column ops_columns[] = {
	[COL_STATE] = {.name = "state", .title = "", .width = 1, .order = -1},
	[COL_WHAT] = {.name = "subject", .title = "Subject, form, event",
		      .width = 20, .grow = 2, .order = VIEW_SUBJECT,
		      .slow = true},
	[COL_FORM] = {.name = "form", .title = "Form", .width = 10,
		      .from_cols = 150, .order = VIEW_FORM, .slow = true},
	[COL_STUDY] = {.name = "study", .title = "Study", .width = 8,
		       .from_cols = 120, .order = -1},
	[COL_SITE] = {.name = "site", .title = "Site", .width = 6,
		      .from_cols = 100, .order = VIEW_SITE, .slow = true},
	[COL_ENDPOINT] = {.name = "endpoint", .title = "Endpoint",
			  .width = 13, .from_cols = 60,
			  .order = VIEW_ENDPOINT, .slow = true},
	[COL_TROUBLE] = {.name = "error", .title = "What happened",
			 .width = 18, .grow = 3, .order = VIEW_ERROR,
			 .slow = true},
	[COL_ATTEMPTS] = {.name = "attempts", .title = "Att", .width = 3,
			  .right = true, .order = VIEW_ATTEMPTS,
			  .slow = true},
	[COL_AGE] = {.name = "age", .title = "Age", .width = 6,
		     .right = true, .order = VIEW_SINCE},
	[COL_BACK] = {.name = "back", .title = "Back", .width = 4,
		      .from_cols = 90, .right = true, .order = -1},
	[COL_WHO] = {.name = "who", .title = "Who", .width = 8,
		     .from_cols = 100, .order = -1},
	[COL_NOTES] = {.name = "notes", .title = "", .width = 3,
		       .from_cols = 60, .order = -1},
	{.name = NULL}
};

/* --- texts ------------------------------------------------------------- */

/* An answer in JSON, read as words: without its brackets and quotes. */
static void add_said(struct buf *out, const char *text)
{
	if (*text != '{' && *text != '[') {
		buf_adds(out, text);
		return;
	}
	for (; *text; text++) {
		if (strchr("{}[]\"", *text))
			continue;
		buf_addc(out, *text);
		if ((*text == ':' || *text == ',') &&
		    (text[1] == '"' || text[1] == '{' || text[1] == '['))
			buf_addc(out, ' ');
	}
}

/* What was said when it went wrong; of the others why they stand still. */
void ops_trouble(const struct view_op *row, struct buf *out)
{
	const struct op *op = &row->op;
	bool failed = op->state == OP_DEAD || op->state == OP_REJECTED;
	struct span code = fingerprint_code(op->error);

	if (failed && row->http_status)
		buf_addf(out, "%d ", row->http_status);
	if (failed && code.n)
		buf_addspan(out, code);
	else if (failed && op->error && *op->error)
		add_said(out, op->error);
	else if (failed)
		buf_adds(out, op_reason_words(op->reason));
	else if (row->why && *row->why)
		buf_adds(out, row->why);
	else
		words_state(op, true, out);
}

static void put(struct list_row *to, int column, struct style style,
		const char *text)
{
	list_row_text(to, column, style, "%s", text ? text : "");
}

static void fill(struct list_ask *ask, const struct view_op *row)
{
	const struct op *op = &row->op;
	struct style state = {.role = (uint8_t)theme_state_role(op->state,
								op->flags)};
	struct list_row *to = list_ask_row(ask);
	struct buf text = BUF_INIT;

	snprintf(to->id, sizeof(to->id), "%s", op->op_id);
	to->version = op->version;
	to->number = op->state;
	to->more = xstrdup(row->endpoint);
	put(to, COL_STATE, state, words_glyph(op->state, op->flags,
					      ask->ascii));
	words_record(op, &text);
	put(to, COL_WHAT, STYLE(TEXT), buf_text(&text));
	buf_clear(&text);
	ops_trouble(row, &text);
	put(to, COL_TROUBLE, state, buf_text(&text));
	buf_release(&text);
	put(to, COL_FORM, STYLE(TEXT), op->record.form_oid);
	put(to, COL_STUDY, STYLE(DIM), op->record.study_oid);
	put(to, COL_SITE, STYLE(DIM), op->site_oid);
	put(to, COL_ENDPOINT, STYLE(TEXT), row->endpoint);
	list_row_text(to, COL_ATTEMPTS, STYLE(DIM), "%d", op->attempts);
	list_row_age(to, COL_AGE, STYLE(TEXT), op->state_since_ms);
	list_row_text(to, COL_BACK, STYLE(DIM), "%d", op->replays);
	put(to, COL_WHO, STYLE(INFO), op->assigned);
	if (row->notes)
		list_row_text(to, COL_NOTES, STYLE(INFO), "%s%d",
			      ask->ascii ? "n" : "\u270e", row->notes);
}

/* --- pages ------------------------------------------------------------- */

/* Of one state? Then who came into it last comes first; of several that is
 * no index, and the newest come first. */
static bool one_state(const char *filter)
{
	size_t word = strcspn(filter, " ");

	return strncmp(filter, "state:", 6) == 0 &&
	       !memchr(filter, ',', word);
}

bool ops_page_begin(struct ops_page *p, struct list_ask *ask,
		    const struct work_room *room)
{
	const char *text = ask->filter ? ask->filter : "";
	struct filter_error error;

	assert(ask->limit > 0);
	memset(p, 0, sizeof(*p));
	p->filter = filter_parse(span_of(text), room->now_ms,
				 room->utc_offset_min, &error);
	if (!p->filter) {
		struct buf why = BUF_INIT;

		buf_addf(&why, "the filter is not understood: %s", error.text);
		ask->error = buf_detach(&why, NULL);
		return false;
	}
	p->page = (struct view_page){
		.filter = p->filter,
		.order = ask->order >= 0 ? (enum view_order)ask->order :
			 one_state(text) ? VIEW_SINCE : VIEW_NEWEST,
		.descending = ask->order < 0 ? one_state(text) :
			      ask->descending,
		.limit = ask->limit + 1, .last = ask->last,
		.after = *ask->after ? ask->after : NULL,
		.before = *ask->before ? ask->before : NULL,
		.from = *ask->from ? ask->from : NULL,
		.config = room->config, .me = ask->context,
		.now_ms = room->now_ms,
		.utc_offset_min = ask->utc_offset_min};
	return true;
}

static void row_drop(struct list_ask *ask, size_t at)
{
	struct list_row *row = &ask->row[at];

	for (int i = 0; i < LIST_COLUMNS_MAX; i++)
		free(row->text[i]);
	free(row->more);
	ask->rows--;
	memmove(row, row + 1, (ask->rows - at) * sizeof(*row));
}

void ops_page_end(struct ops_page *p, struct list_ask *ask, int64_t result,
		  const struct work_room *room)
{
	bool back = ask->last || *ask->before;

	filter_free(p->filter);
	ask->result = result < 0 ? (int)result : ST_OK;
	if (result < 0) {
		struct buf why = BUF_INIT;

		buf_addf(&why, "reading the store failed: %s",
			 view_error(room->view));
		ask->error = buf_detach(&why, NULL);
		return;
	}
	ask->more = ask->rows > (size_t)ask->limit;
	if (ask->more)
		row_drop(ask, back ? 0 : ask->rows - 1);
}

static int give(void *ctx, const struct view_op *row)
{
	fill(ctx, row);
	return 0;
}

void ops_load(struct list_ask *ask, struct work_room *room)
{
	struct ops_page p;

	if (ops_page_begin(&p, ask, room))
		ops_page_end(&p, ask, view_ops(room->view, &p.page, give, ask),
			     room);
}

void ops_count(struct list_ask *ask, struct work_room *room)
{
	struct ops_page p;
	int64_t n = 0;
	bool more = false;

	if (!ops_page_begin(&p, ask, room))
		return;			/* load says why */
	if (view_count(room->view, &p.page, COUNT_MAX, &n, &more) >= 0) {
		ask->count = n;
		ask->count_more = more;
	}
	filter_free(p.filter);
}

const struct list_ops ops_rows = {
	.columns = ops_columns, .load = ops_load, .count = ops_count,
	.empty = "No operation matches.",
};

/* --- for panels -------------------------------------------------------- */

/* Can it be answered from an index? */
static bool quick(const char *filter)
{
	const char *blank = strchr(filter, ' ');

	if (!one_state(filter) || strchr(filter, ','))
		return false;
	return !blank || (strncmp(blank, " group:", 7) == 0 &&
			  !strchr(blank + 1, ' '));
}

void ops_rows_open(struct list *l, const char *filter)
{
	struct session *session = app_session(l->app);

	l->slow = !quick(filter) || l->person_filter;
	list_open(l, filter, session ? session_id(session) : NULL, 0);
}

void ops_rows_filter(struct list *l, const char *person_filter)
{
	l->slow = !quick(l->filter) || (person_filter && *person_filter);
	list_set_filter(l, person_filter);
}

bool ops_rows_back(struct list *l)
{
	if (l->marks || l->all || !l->person_filter)
		return list_back(l);
	ops_rows_filter(l, NULL);
	return true;
}

bool ops_rows_target(const struct list *l, int what_column, struct target *t)
{
	const struct list_row *row = list_cursor(l);

	if (!list_target(l, t))
		return false;
	if (row && row->more)
		t->endpoint = xstrdup(row->more);
	if (row && t->kind == TARGET_OPS && !l->marks) {
		free(t->words);
		t->words = xstrdup(row->text[what_column]);
	}
	return true;
}

void ops_rows_copy(const struct list *l, struct buf *out)
{
	const struct list_row *row = list_cursor(l);

	if (!row)
		return;
	buf_adds(out, row->id);
	for (int i = 0; l->ops->columns[i].name; i++)
		if (row->text[i] && *row->text[i])
			buf_addf(out, " %s", row->text[i]);
}

bool ops_takes(const struct panel *p, enum action action)
{
	return action != DO_FREEZE &&
	       (action >= ACTION_COUNT || (p->ops->can >> action & 1));
}

bool ops_rows_sort(struct list *l, const char *column, struct buf *error)
{
	bool same = l->order >= 0 && column &&
		    strcmp(l->ops->columns[l->order].name, column) == 0;
	const char *comma = "";

	if (list_sort(l, column, same && !l->descending))
		return true;
	buf_adds(error, "sorts by ");
	for (int i = 0; l->ops->columns[i].name; i++)
		if (l->ops->columns[i].order >= 0) {
			buf_addf(error, "%s%s", comma,
				 l->ops->columns[i].name);
			comma = ", ";
		}
	return false;
}

void ops_title(const struct list *l, const struct area *a, const char *title,
	       const char *by)
{
	struct buf text = BUF_INIT, name = BUF_INIT;
	int col, room;

	list_where(l, &text);
	/* Foreign words must not push ours away. */
	room = a->cols - (int)text.len - 4 - (by ? (int)strlen(by) + 3 : 0) -
	       (l->person_filter ? FILTER_CELLS : 0);
	utf8_fit(&name, span_of(title), room > TITLE_CELLS ? room :
		 TITLE_CELLS, a->grid->ascii);
	col = draw_fmt(a, 0, 0, STYLE(TITLE), "%s", buf_text(&name));
	buf_release(&name);
	col = draw_text(a, 0, col + 2, STYLE(DIM), buf_text(&text));
	if (by)
		col = draw_text(a, 0, col + 3, STYLE(DIM), by);
	if (l->person_filter) {
		col = draw_text(a, 0, col + 3, STYLE(INFO), "filter: ");
		draw_fit(a, 0, col, a->cols - col, STYLE(INFO),
			 l->person_filter);
	}
	buf_release(&text);
}
