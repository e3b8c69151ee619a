#include "ui/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "ui/amount.h"
#include "ui/ops_rows.h"

enum { GROUPS_MAX = 500, BY_BITS = 16 };

int groups_number(enum op_state state, int by)
{
	assert(by >= 0 && by < BY_BITS);
	return (int)state * BY_BITS + by;
}

struct loading {
	struct list_ask *ask;
	const struct work_room *room;
	enum op_state state;
	int64_t given;
};

/* --- cells ------------------------------------------------------------- */

/* Is it at the vendor? One word for all of them, if one is true. */
static const char *there(const struct view_group *g, enum op_state state,
			 enum ui_role *role)
{
	*role = UI_TEXT;
	if (g->maybe == g->n) {
		*role = UI_UNKNOWN;
		return op_there_name(THERE_MAYBE);
	}
	if (g->partly == g->n)
		return op_there_name(THERE_PARTLY);
	if (g->absent == g->n || (state == OP_REJECTED && g->never == g->n))
		return op_there_name(THERE_ABSENT);
	if (g->never == g->n)
		return op_there_name(THERE_NEVER);
	*role = g->maybe ? UI_UNKNOWN : UI_TEXT;
	return "mixed";
}

static void add_part(struct buf *out, int64_t n, const char *words)
{
	if (n <= 0)
		return;
	if (out->len)
		buf_adds(out, ", ");
	amount_count(n, out);
	buf_addf(out, " %s", words);
}

static void add_time(const struct loading *l, struct buf *out,
		     const char *words, int64_t at_ms)
{
	if (!at_ms)
		return;
	buf_addf(out, "%s%s ", out->len ? ", " : "", words);
	words_clock(at_ms, l->room->now_ms, l->ask->utc_offset_min, out);
}

static void detail(const struct loading *l, const struct view_group *g,
		   struct buf *out)
{
	bool refused = l->state == OP_REJECTED;

	add_part(out, g->maybe, "may be there");
	add_part(out, g->partly, "partly taken");
	add_part(out, g->absent, "proven absent");
	add_part(out, g->never, refused ? "refused whole" : "never there");
	add_part(out, g->back, "came back");
	add_time(l, out, "first", g->first_ms);
	add_time(l, out, "last", g->last_ms);
	if (g->ticket && *g->ticket)
		buf_addf(out, ", ticket %s", g->ticket);
}

/* "till 15:00", "acknowledged msmith", with the notes there are. */
static void triage(const struct loading *l, const struct view_group *g,
		   struct buf *out)
{
	if (g->snoozed_until_ms > l->room->now_ms) {
		buf_adds(out, "till ");
		words_clock(g->snoozed_until_ms, l->room->now_ms,
			    l->ask->utc_offset_min, out);
	} else if (g->triage_by && *g->triage_by) {
		buf_adds(out, g->triage_by);
	} else {
		buf_adds(out, g->triage);
	}
	if (g->notes > 0)
		buf_addf(out, " %s%" PRId64, l->ask->ascii ? "n" : "\u270e",
			 g->notes);
}

/* What there is to do, by the reason. */
static const char *next_words(enum op_state state, const struct view_group *g)
{
	static const char *const words[OP_REASON_COUNT] = {
		[REASON_REFUSED] = "Mend it where it comes from: a new version"
			" goes by itself. Replay (r) only when the vendor's"
			" side was changed.",
		[REASON_PARTLY] = "What was taken stays. Enter, then the tab"
			" Answers, names each refused item: mend those where"
			" they come from.",
		[REASON_UNAUTHORISED] = "The account works for others: ask for"
			" its rights at the vendor, then replay (r).",
		[REASON_JOB_FAILED] = "The vendor took it and its job failed:"
			" check (c), mend the cause, replay (r).",
		[REASON_MOVED] = "The address in the configuration is not"
			" where the vendor is: correct it, then replay (r).",
	};

	if (state != OP_REJECTED)
		return NULL;
	if (g->id && words[g->reason])
		return words[g->reason];
	return words[g->partly == g->n ? REASON_PARTLY : REASON_REFUSED];
}

static void set(struct list_row *row, int column, enum ui_role role,
		const char *text)
{
	list_row_text(row, column, (struct style){.role = (uint8_t)role},
		      "%s", text ? text : "");
}

/* The id goes by what opens it; a long one by its digest. */
static void row_id(struct list_row *row, const char *filter)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (const char *p = filter; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
	if (strlen(filter) < sizeof(row->id))
		snprintf(row->id, sizeof(row->id), "%s", filter);
	else
		snprintf(row->id, sizeof(row->id), "#%016" PRIx64, hash);
}

static void row_filter(struct list_row *row, enum op_state state,
		       const char *filter)
{
	struct buf text = BUF_INIT;

	if (strncmp(filter, "state:", 6) != 0)
		buf_addf(&text, "state:%s ", op_state_name(state));
	buf_adds(&text, filter);
	row->more = buf_detach(&text, NULL);
}

static int give(void *ctx, const struct view_group *g)
{
	struct loading *l = ctx;
	struct list_row *row = list_ask_row(l->ask);
	struct buf text = BUF_INIT;
	enum ui_role role;
	const char *word = there(g, l->state, &role);

	l->given++;
	row_id(row, g->filter);
	row_filter(row, l->state, g->filter);
	row->number = g->n;
	amount_count(g->n, &text);
	set(row, GROUPS_COUNT, UI_TEXT, buf_text(&text));
	set(row, GROUPS_THERE, role, word);
	set(row, GROUPS_TITLE, l->state == OP_DEAD ? role : UI_TEXT,
	    *g->title ? g->title : "(none)");
	set(row, GROUPS_ENDPOINT, UI_TEXT, g->endpoint ? g->endpoint :
	    "several");
	list_row_age(row, GROUPS_OLDEST, STYLE(TEXT), g->oldest_ms);
	list_row_text(row, GROUPS_BACK, g->back ? STYLE(BAD) : STYLE(DIM),
		      "%" PRId64, g->back);
	buf_clear(&text);
	triage(l, g, &text);
	set(row, GROUPS_TRIAGE, UI_INFO, buf_text(&text));
	list_row_age(row, GROUPS_LAST, STYLE(DIM), g->last_ms);
	list_row_age(row, GROUPS_FIRST, STYLE(DIM), g->first_ms);
	buf_clear(&text);
	detail(l, g, &text);
	set(row, GROUPS_DETAIL, UI_TEXT, buf_text(&text));
	set(row, GROUPS_NEXT, UI_TEXT, next_words(l->state, g));
	buf_release(&text);
	return 0;
}

/* --- order ------------------------------------------------------------- */

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_text(const struct list_row *a, const struct list_row *b,
		   int column)
{
	return strcmp(a->text[column], b->text[column]);
}

#define ORDER(name, expression) \
	static int name(const void *x, const void *y) \
	{ \
		const struct list_row *a = x, *b = y; \
		int way = (expression); \
		return way ? way : strcmp(a->id, b->id); \
	}
ORDER(count_order, by_number(a->number, b->number))
ORDER(there_order, by_text(a, b, GROUPS_THERE))
ORDER(title_order, by_text(a, b, GROUPS_TITLE))
ORDER(endpoint_order, by_text(a, b, GROUPS_ENDPOINT))
ORDER(oldest_order, by_number(a->since_ms[GROUPS_OLDEST],
			      b->since_ms[GROUPS_OLDEST]))
ORDER(back_order, by_number(strtoll(a->text[GROUPS_BACK], NULL, 10),
			    strtoll(b->text[GROUPS_BACK], NULL, 10)))
ORDER(triage_order, by_text(a, b, GROUPS_TRIAGE))

static void sort(struct list_ask *ask)
{
	static int (*const orders[])(const void *, const void *) = {
		[GROUPS_BY_COUNT] = count_order,
		[GROUPS_BY_THERE] = there_order,
		[GROUPS_BY_TITLE] = title_order,
		[GROUPS_BY_ENDPOINT] = endpoint_order,
		[GROUPS_BY_OLDEST] = oldest_order,
		[GROUPS_BY_BACK] = back_order,
		[GROUPS_BY_TRIAGE] = triage_order,
	};
	size_t n = ask->rows;

	if (n < 2 || ask->order < GROUPS_BY_COUNT ||
	    ask->order >= (int)ARRAY_SIZE(orders))
		return;
	qsort(ask->row, n, sizeof(*ask->row), orders[ask->order]);
	for (size_t i = 0; ask->descending && i < n / 2; i++) {
		struct list_row kept = ask->row[i];

		ask->row[i] = ask->row[n - 1 - i];
		ask->row[n - 1 - i] = kept;
	}
}

void groups_load(struct list_ask *ask, struct work_room *room)
{
	struct loading l = {.ask = ask, .room = room,
			    .state = (enum op_state)(ask->number / BY_BITS)};
	int order = ask->order;
	struct ops_page p;
	int rc;

	ask->limit = GROUPS_MAX;	/* all of them */
	ask->order = -1;		/* which is no order of operations */
	if (!ops_page_begin(&p, ask, room))
		return;
	ask->order = order;
	if (!ask->filter)
		p.page.filter = NULL;
	rc = view_groups(room->view, l.state,
			 (enum view_group_by)(ask->number % BY_BITS), &p.page,
			 give, &l);
	ops_page_end(&p, ask, rc, room);
	if (ask->more)
		ask->note = xstrdup("only the 500 greatest are shown");
	ask->more = false;
	sort(ask);
}
