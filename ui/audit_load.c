/*
 * audit_load.c - see audit.h. From a page of the trail to rows of the list.
 *
 * What narrows the trail is decided record by record. A question therefore
 * looks for so long and no longer; where it stopped stands a row whose id is
 * the record it stopped at, and the list goes on from there.
 */
#define _GNU_SOURCE
#include "ui/audit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/hash.h"
#include "core/json.h"
#include "core/timefmt.h"
#include "core/words.h"
#include "ui/amount.h"

enum { SCAN_STEP = 10000, SCAN_FIRST_MS = 300, SCAN_MS = 2000,
       PAGE_USUAL = 100 };
enum { COL_SEQ, COL_AT, COL_WHO, COL_WHAT, COL_CHANGE, COL_ABOUT, COL_WHY,
       COLUMNS };

static const struct list_column columns[] = {
	[COL_SEQ] = {.name = "seq", .title = "seq", .width = 7,
		     .right = true, .order = -1},
	[COL_AT] = {.name = "time", .title = "time", .width = 14,
		    .order = -1},
	[COL_WHO] = {.name = "who", .title = "who", .width = 14, .grow = 2,
		     .order = -1},
	[COL_WHAT] = {.name = "what", .title = "what", .width = 15,
		      .grow = 2, .order = -1},
	[COL_CHANGE] = {.name = "change", .title = "old, new", .width = 17,
			.grow = 1, .order = -1},
	[COL_ABOUT] = {.name = "about", .title = "about", .width = 20,
		       .grow = 1, .from_cols = 110, .order = -1},
	[COL_WHY] = {.name = "why", .title = "why", .width = 7, .grow = 3,
		     .order = -1},
	[COLUMNS] = {.name = NULL},
};

/* Terms */

static bool time_term(struct span value, int64_t now_ms, int offset_min,
		      int64_t *out)
{
	int64_t ago;

	if (duration_parse(value, &ago)) {
		*out = now_ms - ago;
		return true;
	}
	return time_parse_person(value, now_ms, offset_min, out);
}

static bool known_type(const char *name)
{
	for (int i = 0; i < AUDIT_TYPE_COUNT; i++)
		if (!strcmp(audit_type_name((enum audit_type)i), name))
			return true;
	return false;
}

static bool term(struct span word, int64_t now_ms, int offset_min,
		 struct trail_terms *t, struct buf *error)
{
	static const char *const names[] = {"type:", "actor:", "since:",
					    "until:"};
	struct span value;
	size_t i = 0;
	bool good = false;

	while (i < ARRAY_SIZE(names) && !span_starts(word, names[i]))
		i++;
	if (i == ARRAY_SIZE(names)) {
		buf_adds(error, "'");
		utf8_fit(error, word, 30, true);
		buf_adds(error, "': here go type:NAME actor:ID since:TIME "
			 "until:TIME");
		return false;
	}
	value.p = word.p + strlen(names[i]);
	value.n = word.n - strlen(names[i]);
	switch (i) {
	case 0:
		good = text_set(t->type, sizeof(t->type), value) &&
		       known_type(t->type);
		break;
	case 1:
		good = value.n && text_set(t->actor, sizeof(t->actor), value);
		break;
	case 2:
		good = time_term(value, now_ms, offset_min, &t->from_ms);
		break;
	default:
		good = time_term(value, now_ms, offset_min, &t->to_ms);
		break;
	}
	if (!good) {
		buf_addf(error, "%s'", names[i]);
		utf8_fit(error, value, 30, true);
		buf_adds(error, i ? "' is none" : "' is no type of record");
	}
	return good;
}

bool trail_terms_parse(const char *text, int64_t now_ms, int offset_min,
		       struct trail_terms *t, struct buf *error)
{
	memset(t, 0, sizeof(*t));
	while (text && *text) {
		size_t n = strcspn(text, " ");

		if (n && !term((struct span){text, n}, now_ms, offset_min, t,
			       error))
			return false;
		text += n + (text[n] == ' ');
	}
	if (!error->len)
		buf_adds(error, "type:NAME actor:ID since:TIME until:TIME; "
			 "o chooses a preset");
	return true;
}

/* Rows */

struct loading {
	struct list_ask *ask;
	int offset_min;
	int64_t now_ms;
};

static bool member(const struct json *doc, const char *pointer,
		   struct buf *out)
{
	uint32_t node = json_pointer(doc, 0, span_of(pointer));

	return node != JSON_NONE && json_scalar(doc, node, out);
}

static bool member_is(const struct json *doc, const char *pointer,
		      const char *text)
{
	uint32_t node = json_pointer(doc, 0, span_of(pointer));

	return node != JSON_NONE && json_string_is(doc, node, text);
}

static void put(struct list_row *row, int column, enum ui_role role,
		struct buf *text)
{
	list_row_text(row, column, (struct style){.role = (uint8_t)role},
		      "%s", buf_text(text));
	buf_clear(text);
}

/* Today's to the millisecond, others with their day. */
static void at_text(const struct loading *l, int64_t at_ms, struct buf *out)
{
	char then[TIME_TEXT], today[TIME_TEXT];

	time_local(at_ms, l->offset_min, then);
	time_local(l->now_ms, l->offset_min, today);
	if (!memcmp(then, today, 10))
		buf_add(out, then + 11, 12);
	else if (!memcmp(then, today, 4))
		buf_addf(out, "%.5s %.8s", then + 5, then + 11);
	else
		buf_addf(out, "%.10s", then);
}

static void who_text(const struct json *doc, struct buf *out)
{
	bool person = member_is(doc, "/actor/kind", "person");
	size_t before;

	if (!person) {
		if (!member(doc, "/actor/program", out))
			member(doc, "/actor/id", out);
		return;
	}
	if (!member(doc, "/actor/printed_name", out))
		member(doc, "/actor/id", out);
	before = out->len;
	buf_addc(out, ' ');
	if (!member(doc, "/actor/role", out))
		out->p[out->len = before] = '\0';
	if (member_is(doc, "/actor/auth", "signature"))
		buf_adds(out, ", signed");
}

static void type_words(const char *type, struct buf *out)
{
	for (const char *p = type; *p; p++)
		buf_addc(out, *p == '_' ? ' ' : *p);
	buf_addc(out, ' ');
}

/* "send 2: commit", "replay 357", "refused: discard", "circuit changed" */
static void what_text(const struct audit_row *row, const struct json *doc,
		      struct buf *out)
{
	static const struct {
		const char *type, *after;
	} sends[] = {
		{"attempt_intent", " begins"}, {"attempt_outcome", ": "},
		{"attempt_withdrawn", " not sent"},
	};
	size_t i = 0;

	while (i < ARRAY_SIZE(sends) && strcmp(sends[i].type, row->type))
		i++;
	if (i < ARRAY_SIZE(sends) && member(doc, "/kind", out)) {
		buf_adds(out, " ");
		member(doc, "/attempt", out);
		buf_adds(out, sends[i].after);
		if (i == 1 && !member(doc, "/verdict", out))
			buf_adds(out, "ended");
		return;
	}
	if (!strcmp(row->type, "act_refused"))
		buf_adds(out, "refused: ");
	else if (strcmp(row->type, "act"))
		type_words(row->type, out);
	if (!member_is(doc, "/kind", row->type) && !member(doc, "/kind", out))
		member(doc, "/detail/what", out);
	if (json_pointer(doc, 0, SPAN("/detail/items")) != JSON_NONE) {
		buf_addc(out, ' ');
		member(doc, "/detail/items", out);
	}
}

static void change_text(const struct json *doc, bool ascii, struct buf *out)
{
	bool old = member(doc, "/old_value", out);
	size_t before = out->len;

	if (old)
		buf_adds(out, ascii ? "->" : "\u2192");
	if (!member(doc, "/new_value", out) && out->p)
		out->p[out->len = before] = '\0';
	/* A digest says little in a column. */
	if (!old && out->len == 64)
		out->p[out->len = 12] = '\0';
}

static void about_text(const struct audit_row *row, const struct json *doc,
		       struct buf *out)
{
	static const char *const parts[] = {
		"/record/subject_key", "/record/form_oid",
		"/record/event_oid", "/detail/operator",
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t before = out->len;

		if (before)
			buf_addc(out, ' ');
		if (!member(doc, parts[i], out) && out->p)
			out->p[out->len = before] = '\0';
	}
	if (!out->len && !member(doc, "/endpoint", out))
		buf_adds(out, row->op_id);
}

static void why_text(const struct json *doc, struct buf *out)
{
	static const char *const parts[] = {"/reason_code", "/status",
					    "/rule", "/reason",
					    "/detail/file"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t before = out->len;

		if (before)
			buf_addc(out, ' ');
		if (!member(doc, parts[i], out) && out->p)
			out->p[out->len = before] = '\0';
		/* The rule's name often is the reason, too. */
		if (i == 2 && out->len > before && out->len)
			return;
	}
}

static enum ui_role type_role(const char *type)
{
	static const struct {
		const char *type;
		enum ui_role role;
	} roles[] = {
		{"act", UI_INFO}, {"note", UI_INFO}, {"signature", UI_INFO},
		{"act_refused", UI_BAD}, {"sign_in_failed", UI_BAD},
		{"endpoint_halted", UI_BAD}, {"store_restored", UI_BAD},
		{"gap_declared", UI_BAD}, {"clock_step", UI_WAIT},
		{"circuit_changed", UI_WAIT}, {"endpoint_paused", UI_WAIT},
		{"operator", UI_INFO}, {"sign_in", UI_INFO},
	};

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (!strcmp(roles[i].type, type))
			return roles[i].role;
	return UI_TEXT;
}

/* A value a line, as it stands in the record: escapes and all. */
static void pretty(const struct json *doc, uint32_t node, int depth,
		   struct buf *out)
{
	for (uint32_t kid = json_child(doc, node); kid != JSON_NONE;
	     kid = json_next(doc, kid)) {
		enum json_type type = json_type(doc, kid);
		bool inner = type == JSON_OBJECT || type == JSON_ARRAY;

		buf_addf(out, "%*s", 2 * depth, "");
		if (json_type(doc, node) == JSON_OBJECT)
			json_key(doc, kid, out);
		else
			buf_addc(out, '-');
		buf_adds(out, inner ? ":\n" : ": ");
		if (inner) {
			pretty(doc, kid, depth + 1, out);
			continue;
		}
		buf_addspan(out, json_raw(doc, kid));
		buf_addc(out, '\n');
	}
}

static void hex_line(struct buf *out, const char *name, const uint8_t *p)
{
	char hex[65];

	hash_hex(p, 32, hex);
	buf_addf(out, "%s: %s\n", name, hex);
}

/* The whole record, for the pager. */
static char *whole_text(const struct audit_row *row, const struct json *doc,
			bool good)
{
	struct buf out = BUF_INIT;
	char at[TIME_TEXT];

	time_utc(row->at_ms, at);
	buf_addf(&out, "record %lld, %s, %s\n\n", (long long)row->seq,
		 row->type, at);
	if (good && json_is(doc, 0, JSON_OBJECT))
		pretty(doc, 0, 0, &out);
	else
		buf_adds(&out, "This body is no JSON: the record was changed. "
			 "Run :verify.\n");
	if (!good)
		buf_addspan(&out, row->body);
	buf_addc(&out, '\n');
	hex_line(&out, "body_sha256", row->body_sha256);
	hex_line(&out, "prev_hash", row->prev_hash);
	hex_line(&out, "hash", row->hash);
	return buf_detach(&out, NULL);
}

static int take_record(void *ctx, const struct audit_row *r)
{
	struct loading *l = ctx;
	struct list_row *row = list_ask_row(l->ask);
	struct json doc = {0};
	struct buf text = BUF_INIT;
	enum ui_role role = type_role(r->type);
	bool good = r->body.n &&
		    json_parse(&doc, r->body.p, r->body.n, 0);

	buf_addi(&text, r->seq);
	text_set(row->id, sizeof(row->id), buf_span(&text));
	put(row, COL_SEQ, UI_DIM, &text);
	at_text(l, r->at_ms, &text);
	put(row, COL_AT, UI_TEXT, &text);
	row->more = whole_text(r, &doc, good);
	if (good) {
		who_text(&doc, &text);
		put(row, COL_WHO, member_is(&doc, "/actor/kind", "person")
		    ? UI_INFO : UI_DIM, &text);
		what_text(r, &doc, &text);
		put(row, COL_WHAT, role, &text);
		change_text(&doc, l->ask->ascii, &text);
		put(row, COL_CHANGE, UI_TEXT, &text);
		about_text(r, &doc, &text);
		put(row, COL_ABOUT, UI_TEXT, &text);
		why_text(&doc, &text);
		put(row, COL_WHY, UI_TEXT, &text);
	} else {
		buf_adds(&text, "changed record: run :verify");
		put(row, COL_WHAT, UI_BAD, &text);
	}
	json_release(&doc);
	buf_release(&text);
	return 0;
}

/* Pages */

/* Rows from `at` on go before all others. */
static void rows_rotate(struct list_ask *ask, size_t at)
{
	size_t n = ask->rows - at;
	struct list_row *kept;

	if (!n || !at)
		return;
	kept = xcalloc(n, sizeof(*kept));
	memcpy(kept, ask->row + at, n * sizeof(*kept));
	memmove(ask->row + n, ask->row, at * sizeof(*kept));
	memcpy(ask->row, kept, n * sizeof(*kept));
	free(kept);
}

static void searched_row(struct list_ask *ask, int64_t seq, bool before)
{
	struct list_row *row = list_ask_row(ask);
	struct buf text = BUF_INIT;

	buf_addi(&text, seq);
	text_set(row->id, sizeof(row->id), buf_span(&text));
	put(row, COL_SEQ, UI_DIM, &text);
	buf_adds(&text, "searched to here");
	put(row, COL_WHAT, UI_DIM, &text);
	if (before)
		rows_rotate(ask, ask->rows - 1);
}

static int64_t steady_now_ms(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

static int load_page(struct loading *l, struct view *view,
		     struct view_trail *t)
{
	struct list_ask *ask = l->ask;
	bool back = t->before != 0;
	int64_t until = steady_now_ms() +
			(t->after || back ? SCAN_MS : SCAN_FIRST_MS);
	int rc;

	for (;;) {
		struct view_trail_end end = {0};
		size_t had = ask->rows;

		t->limit = ask->limit - (int)had;
		rc = view_trail(view, t, &end, take_record, l);
		if (rc < 0)
			return rc;
		if (back)
			rows_rotate(ask, had);
		ask->more = end.more;
		if (!end.more || (int)ask->rows >= ask->limit ||
		    !end.stopped_at || !end.scanned)
			return ST_OK;
		if (steady_now_ms() >= until) {
			searched_row(ask, end.stopped_at, back);
			return ST_OK;
		}
		t->from = 0;
		t->after = back ? 0 : end.stopped_at;
		t->before = back ? end.stopped_at : 0;
	}
}

/* The oldest page: record 1 has nothing before it to be asked after. */
static int load_last(struct loading *l, struct view *view,
		     struct view_trail *t)
{
	struct list_ask *ask = l->ask;
	struct view_trail first = *t;
	int limit = ask->limit, rc;

	ask->limit = limit > 1 ? limit - 1 : 1;
	t->before = 1;
	rc = load_page(l, view, t);
	ask->limit = limit;
	if (rc < 0)
		return rc;
	first.from = 1;
	first.limit = 1;
	rc = view_trail(view, &first, &(struct view_trail_end){0},
			take_record, l);
	return rc;
}

static int64_t seq_of(const char *id)
{
	return *id ? strtoll(id, NULL, 10) : 0;
}

/* Every record has its number: there are as many as the last one says. */
static void count(struct list_ask *ask, struct work_room *room)
{
	int64_t seq, at_ms;

	if (ask->number == TRAIL_ALL &&
	    (!ask->filter || !*ask->filter) &&
	    view_audit_head(room->view, &seq, &at_ms) == ST_OK)
		ask->count = seq;
}

static void load(struct list_ask *ask, struct work_room *room)
{
	struct loading l = {
		.ask = ask, .offset_min = ask->utc_offset_min,
		.now_ms = room->now_ms,
	};
	struct view_trail t = {
		.after = seq_of(ask->after), .before = seq_of(ask->before),
		.from = seq_of(ask->from), .scan = SCAN_STEP,
		.preset = (enum trail_preset)ask->number,
	};
	struct trail_terms terms;
	struct buf error = BUF_INIT;

	if (ask->limit <= 0)
		ask->limit = PAGE_USUAL;
	if (!trail_terms_parse(ask->filter, l.now_ms, l.offset_min, &terms,
			       &error)) {
		ask->error = xstrdup(buf_text(&error));
	} else if (!room->view) {
		ask->error = xstrdup(room->error);
	} else {
		t.type = *terms.type ? terms.type : NULL;
		t.actor = *terms.actor ? terms.actor : NULL;
		t.from_ms = terms.from_ms;
		t.to_ms = terms.to_ms;
		ask->result = ask->last ? load_last(&l, room->view, &t)
					: load_page(&l, room->view, &t);
		if (ask->result < 0 && ask->result != ST_INTERRUPTED)
			ask->error = xstrdup(view_error(room->view));
		else if (ask->result >= 0)	/* rows and number agree */
			count(ask, room);
	}
	buf_release(&error);
}

const struct list_ops trail_list = {
	.columns = columns, .load = load, .count = count,
	.empty = "No record is like that.",
};
