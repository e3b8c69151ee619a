/* sql_filter.c - see sql_filter.h. One function a kind of leaf. */
#include "store/sql_filter.h"

#include <stdlib.h>
#include <string.h>

#define STATES_ALL ((1u << OP_STATE_COUNT) - 1)
#define NAMES_MAX 64

struct gen {
	struct sql_filter *out;
	const char *me;
	int64_t now_ms;
};

/* Parameters: the number of the one just added. */

static int add_value(struct gen *g, struct sql_value value)
{
	struct sql_filter *f = g->out;

	f->value = xrealloc(f->value, (f->values + 1) * sizeof(*f->value));
	f->value[f->values] = value;
	return f->first + (int)f->values++;
}

static int add_number(struct gen *g, int64_t number)
{
	return add_value(g, (struct sql_value){.number = true, .i = number});
}

static int add_text(struct gen *g, const char *text)
{
	return add_value(g, (struct sql_value){.text = xstrdup(text),
					       .n = strlen(text)});
}

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

static bool has_letters(const char *text)
{
	for (; *text; text++)
		if ((*text >= 'a' && *text <= 'z') ||
		    (*text >= 'A' && *text <= 'Z'))
			return true;
	return false;
}

/* A leaf that cannot be said: everything, or under a not nothing. */
static void say_superset(struct gen *g, bool positive)
{
	g->out->exact = false;
	buf_adds(&g->out->where, positive ? "1" : "0");
}

/*
 * Two characters outside ASCII fold to an ASCII letter: LONG S and the
 * KELVIN SIGN. SQLite's lower() leaves them.
 */
static void add_folded(struct gen *g, const char *expr, const char *value)
{
	struct buf *where = &g->out->where;
	bool s = strchr(value, 's'), k = strchr(value, 'k');

	if (!has_letters(value)) {
		buf_adds(where, expr);
		return;
	}
	buf_addf(where, "%s%slower(%s)%s%s", s ? "replace(" : "",
		 k ? "replace(" : "", expr, k ? ", '\u212a', 'k')" : "",
		 s ? ", '\u017f', 's')" : "");
}

static void compare_text(struct gen *g, const char *expr,
			 const struct filter *leaf, const char *value,
			 bool positive)
{
	struct buf *where = &g->out->where;
	int n;

	if (!is_ascii(value)) {
		say_superset(g, positive);
		return;
	}
	n = add_text(g, value);
	if (leaf->prefix) {
		buf_adds(where, "substr(");
		add_folded(g, expr, value);
		buf_addf(where, ", 1, length(?%d)) = ?%d", n, n);
	} else {
		add_folded(g, expr, value);
		buf_addf(where, " = ?%d", n);
	}
}

/* Closed lists are decided here: SQL sees the numbers only. */

static bool name_matches(const struct filter *leaf, const char *name)
{
	size_t n = strlen(leaf->text);

	return leaf->prefix ? !strncmp(name, leaf->text, n)
			    : !strcmp(name, leaf->text);
}

static const char *state_name(int i)
{
	return op_state_name((enum op_state)i);
}

static const char *reason_name(int i)
{
	return op_reason_name((enum op_reason)i);
}

static const char *evidence_name(int i)
{
	return op_evidence_name((enum op_evidence)i);
}

/* The set of numbers whose names match, as bits; all lists are short. */
static uint64_t matching(const struct filter *leaf, const char *(*name)(int),
			 int count)
{
	uint64_t set = 0;

	assert(count > 0 && count <= NAMES_MAX);
	for (int i = 0; i < count; i++)
		if (name_matches(leaf, name(i)))
			set |= UINT64_C(1) << i;
	return set;
}

static void say_set(struct gen *g, const char *column, uint64_t set)
{
	struct buf *where = &g->out->where;
	const char *comma = "";

	if (!set) {
		buf_adds(where, "0");
		return;
	}
	/* One value as an equation: an index then gives the order, too. */
	buf_addf(where, set & (set - 1) ? "%s IN (" : "%s = (", column);
	for (int i = 0; i < NAMES_MAX; i++) {
		if (!(set >> i & 1))
			continue;
		buf_addf(where, "%s%d", comma, i);
		comma = ", ";
	}
	buf_addc(where, ')');
}

/* The empty value asks for those without any. */
static void say_flags(struct gen *g, const struct filter *leaf)
{
	bool none = !*leaf->text && !leaf->prefix;
	unsigned mask = 0;

	for (unsigned bit = 1; bit <= OP_WAS_URGENT; bit <<= 1) {
		struct buf name = BUF_INIT;

		op_flags_text(bit, &name);
		if (name.len && (none || name_matches(leaf, buf_text(&name))))
			mask |= bit;
		buf_release(&name);
	}
	buf_addf(&g->out->where, "(o.flags & %u) %s 0", mask,
		 none ? "=" : "<>");
}

static void say_assigned(struct gen *g, const struct filter *leaf,
			 bool positive)
{
	if (!leaf->prefix && !strcmp(leaf->text, "none"))
		buf_adds(&g->out->where, "coalesce(o.assigned, '') = ''");
	else if (!leaf->prefix && !strcmp(leaf->text, "me")) {
		int n = add_text(g, g->me ? g->me : "");

		/* One's own id is compared as it is, not folded. */
		buf_addf(&g->out->where, "(?%d <> '' AND"
			 " coalesce(o.assigned, '') = ?%d)", n, n);
	} else {
		compare_text(g, "coalesce(o.assigned, '')", leaf, leaf->text,
			     positive);
	}
}

/* Where the text of a field is; NULL: a case of its own. */
static const char *const columns[FILTER_FIELD_COUNT] = {
	[FILTER_STUDY] = "r.study",
	[FILTER_SITE] = "coalesce(o.site_oid, '')",
	[FILTER_SUBJECT] = "r.subject",
	[FILTER_EVENT] = "r.event",
	[FILTER_FORM] = "r.form",
	[FILTER_ERROR] = "coalesce(o.error, '')",
	[FILTER_STATUS] = "coalesce((SELECT CASE a.status WHEN 0 THEN ''"
		" ELSE CAST(a.status AS TEXT) END FROM attempt a"
		" WHERE a.op = o.op ORDER BY a.n DESC, a.id DESC LIMIT 1), '')",
	[FILTER_GROUP] = "CASE o.group_id WHEN 0 THEN ''"
		" ELSE CAST(o.group_id AS TEXT) END",
	[FILTER_BATCH] = "coalesce((SELECT b.name FROM batch b"
		" WHERE b.id = o.batch), '')",
	[FILTER_SOURCE] = "coalesce(o.source_system, '')",
	[FILTER_OP] = "o.op_id",
	[FILTER_KEY] = "hex(o.idem_key)",
	[FILTER_CORR] = "o.correlation_id",
	[FILTER_VENDOR] = "coalesce(o.vendor_id, '')",
	[FILTER_TICKET] = "coalesce((SELECT g.ticket FROM error_group g"
		" WHERE g.id = o.group_id), '')",
};

/* Fields with several values: true where one of them matches. */
static const struct {
	const char *open, *expr;
} several[FILTER_FIELD_COUNT] = {
	[FILTER_ENDPOINT] = {
		"o.endpoint IN (SELECT e.id FROM endpoint e WHERE ",
		"e.name"},
	[FILTER_ACTOR] = {
		"EXISTS (SELECT 1 FROM intervention_item i"
		" JOIN intervention v ON v.id = i.intervention"
		" WHERE i.op = o.op AND ", "v.actor"},
	[FILTER_RUN] = {
		"EXISTS (SELECT 1 FROM replay_item t WHERE t.op = o.op AND ",
		"CAST(t.run AS TEXT)"},
};

static void say_several(struct gen *g, const struct filter *leaf,
			bool positive)
{
	if (!is_ascii(leaf->text)) {
		say_superset(g, positive);
		return;
	}
	/* The empty value asks for those without any. */
	if (!*leaf->text && !leaf->prefix && leaf->field != FILTER_ENDPOINT) {
		buf_addf(&g->out->where, "NOT %s1)",
			 several[leaf->field].open);
		return;
	}
	buf_adds(&g->out->where, several[leaf->field].open);
	compare_text(g, several[leaf->field].expr, leaf, leaf->text, positive);
	buf_addc(&g->out->where, ')');
}

/* Returns the states that the leaf can be true for. */
static unsigned say_field(struct gen *g, const struct filter *leaf,
			  bool positive)
{
	uint64_t set;

	switch (leaf->field) {
	case FILTER_STATE:
		set = matching(leaf, state_name, OP_STATE_COUNT);
		say_set(g, "o.state", set);
		return positive ? (unsigned)set : STATES_ALL;
	case FILTER_GROUP:
		if (!sql_filter_group(leaf)) {
			compare_text(g, columns[leaf->field], leaf, leaf->text,
				     positive);
			break;
		}
		buf_addf(&g->out->where, "o.group_id = ?%d",
			 add_number(g, sql_filter_group(leaf)));
		break;
	case FILTER_REASON:
		say_set(g, "o.reason", matching(leaf, reason_name,
						OP_REASON_COUNT));
		break;
	case FILTER_EVIDENCE:
		say_set(g, "o.evidence", matching(leaf, evidence_name,
						  EVIDENCE_COUNT));
		break;
	case FILTER_FLAG:
		say_flags(g, leaf);
		break;
	case FILTER_ASSIGNED:
		say_assigned(g, leaf, positive);
		break;
	default:
		assert(leaf->field < FILTER_FIELD_COUNT);
		if (several[leaf->field].open)
			say_several(g, leaf, positive);
		else
			compare_text(g, columns[leaf->field], leaf,
				     leaf->text, positive);
	}
	return STATES_ALL;
}

/* A group's number as text, whole: digits as we would write them. */
static bool as_group(const char *text, int64_t *out)
{
	int64_t n = 0;

	if (!*text || *text == '0' || strlen(text) > 18)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		n = 10 * n + (*text - '0');
	}
	*out = n;
	return true;
}

int64_t sql_filter_group(const struct filter *leaf)
{
	int64_t group;

	return leaf->kind == FILTER_FIELD && leaf->field == FILTER_GROUP &&
	       !leaf->prefix && as_group(leaf->text, &group) ? group : 0;
}

/* Words: a phrase of the full-text index, its last token as a prefix. */
static void say_word(struct gen *g, const struct filter *leaf, bool positive)
{
	struct buf match = BUF_INIT;
	int n;

	for (size_t i = 0; i < leaf->tokens_n; i++) {
		if (!is_ascii(leaf->token[i])) {
			buf_release(&match);
			say_superset(g, positive);
			return;
		}
		buf_addf(&match, "%s%s", i ? " " : "\"", leaf->token[i]);
	}
	if (!leaf->tokens_n) {
		buf_adds(&g->out->where, "1");
		return;
	}
	buf_adds(&match, "\" *");
	n = add_text(g, buf_text(&match));
	buf_addf(&g->out->where, "o.op IN (SELECT rowid FROM search_fts"
		 " WHERE search_fts MATCH ?%d)", n);
	buf_release(&match);
}

static void say_number(struct gen *g, const char *expr, enum filter_cmp cmp,
		       int64_t number)
{
	static const char *const signs[] = {
		[CMP_EQ] = "=", [CMP_LT] = "<", [CMP_LE] = "<=",
		[CMP_GT] = ">", [CMP_GE] = ">=",
	};

	assert(cmp >= 0 && cmp < ARRAY_SIZE(signs));
	buf_addf(&g->out->where, "%s %s ?%d", expr, signs[cmp],
		 add_number(g, number));
}

static void say_age(struct gen *g, const struct filter *leaf)
{
	char expr[64];
	struct buf text = BUF_INIT;

	buf_addf(&text, "?%d - o.state_since_ms", add_number(g, g->now_ms));
	text_set(expr, sizeof(expr), buf_span(&text));
	buf_release(&text);
	say_number(g, expr, leaf->cmp, leaf->number);
}

static unsigned say(struct gen *g, const struct filter *node, bool positive);

/* Halves, not a chain: SQLite bounds the depth of an expression. */
static unsigned say_kids(struct gen *g, const struct filter *node,
			 size_t from, size_t to, bool positive)
{
	bool all = node->kind == FILTER_AND;
	size_t middle = from + (to - from) / 2;
	unsigned left, right;

	assert(from < to);
	if (to - from == 1)
		return say(g, node->kids[from], positive);
	buf_addc(&g->out->where, '(');
	left = say_kids(g, node, from, middle, positive);
	buf_adds(&g->out->where, all ? " AND " : " OR ");
	right = say_kids(g, node, middle, to, positive);
	buf_addc(&g->out->where, ')');
	return all ? left & right : left | right;
}

static unsigned say_not(struct gen *g, const struct filter *node,
			bool positive)
{
	assert(node->kids_n == 1);
	buf_adds(&g->out->where, "NOT (");
	say(g, node->kids[0], !positive);
	buf_addc(&g->out->where, ')');
	return STATES_ALL;
}

static unsigned say(struct gen *g, const struct filter *node, bool positive)
{
	switch (node->kind) {
	case FILTER_AND:
	case FILTER_OR:
		if (node->kids_n)
			return say_kids(g, node, 0, node->kids_n, positive);
		buf_adds(&g->out->where, node->kind == FILTER_AND ? "1" : "0");
		break;
	case FILTER_NOT:
		return say_not(g, node, positive);
	case FILTER_WORD:
		say_word(g, node, positive);
		break;
	case FILTER_FIELD:
		return say_field(g, node, positive);
	case FILTER_AGE:
		say_age(g, node);
		break;
	case FILTER_ATTEMPTS:
		say_number(g, "o.attempts", node->cmp, node->number);
		break;
	case FILTER_SINCE:
		say_number(g, "o.updated_at_ms", CMP_GE, node->number);
		break;
	case FILTER_UNTIL:
		say_number(g, "o.updated_at_ms", CMP_LT, node->number);
		break;
	}
	return STATES_ALL;
}

void sql_filter_make(struct sql_filter *out, const struct filter *filter,
		     int first, const char *me, int64_t now_ms)
{
	struct gen g = {.out = out, .me = me, .now_ms = now_ms};

	assert(out && first > 0);
	memset(out, 0, sizeof(*out));
	out->first = first;
	out->exact = true;
	out->states = STATES_ALL;
	if (!filter) {
		buf_adds(&out->where, "1");
		return;
	}
	buf_addc(&out->where, '(');
	out->states = say(&g, filter, true);
	buf_addc(&out->where, ')');
}

void sql_filter_bind(const struct sql_filter *f, struct query *q)
{
	for (size_t i = 0; i < f->values; i++) {
		int n = f->first + (int)i;

		if (f->value[i].number)
			query_int(q, n, f->value[i].i);
		else
			query_span(q, n, (struct span){f->value[i].text,
						       f->value[i].n});
	}
}

void sql_filter_release(struct sql_filter *f)
{
	for (size_t i = 0; i < f->values; i++)
		free(f->value[i].text);
	free(f->value);
	buf_release(&f->where);
	memset(f, 0, sizeof(*f));
}
