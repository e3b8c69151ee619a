#include "core/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/op.h"
#include "core/timefmt.h"
#include "core/utf8.h"

static const char *const field_names[] = {
#define X(sym, name) name,
	FILTER_FIELDS(X)
#undef X
};

const char *filter_field_name(enum filter_field field)
{
	assert(field < FILTER_FIELD_COUNT);
	return field_names[field];
}

struct parser {
	struct span text;		/* the whole filter */
	struct span word;		/* the one being read */
	int64_t now_ms;
	int utc_offset_min;
	struct filter_error *error;
};

static bool mistake(struct parser *p, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The word, escaped and cut, then what is wrong with it. */
static bool mistake(struct parser *p, const char *fmt, ...)
{
	struct span before = {p->text.p, (size_t)(p->word.p - p->text.p)};
	struct buf text = BUF_INIT;
	va_list ap;

	buf_addc(&text, '\'');
	utf8_fit(&text, p->word, 40, false);
	buf_adds(&text, "': ");
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	p->error->position = (int)utf8_count(before) + 1;
	text_set(p->error->text, sizeof(p->error->text), buf_span(&text));
	buf_release(&text);
	return false;
}

static struct filter *node_new(enum filter_kind kind)
{
	struct filter *f = xcalloc(1, sizeof(*f));

	f->kind = kind;
	return f;
}

/* Takes the kid over. */
static void kid_add(struct filter *f, struct filter *kid)
{
	f->kids = xrealloc(f->kids, (f->kids_n + 1) * sizeof(*f->kids));
	f->kids[f->kids_n++] = kid;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->kids_n; i++)
		filter_free(f->kids[i]);
	for (size_t i = 0; i < f->tokens_n; i++)
		free(f->token[i]);
	free(f->kids);
	free(f->token);
	free(f->text);
	free(f);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Behind the quoted part that opens at s.p[at]; s.n + 1: never closed. */
static size_t quoted_end(struct span s, size_t at)
{
	for (at++; at < s.n && s.p[at] != '"'; at++)
		if (s.p[at] == '\\' && at + 1 < s.n)
			at++;
	return at + 1;
}

/* The next word: up to a space outside quotes. */
static bool word_next(struct parser *p, size_t *at, bool *found)
{
	struct span all = p->text;
	size_t start;

	while (*at < all.n && is_space(all.p[*at]))
		++*at;
	start = *at;
	*found = start < all.n;
	while (*at < all.n && !is_space(all.p[*at])) {
		*at = all.p[*at] == '"' ? quoted_end(all, *at) : *at + 1;
		if (*at > all.n) {
			p->word = (struct span){all.p + start, all.n - start};
			return mistake(p, "the quote is not closed");
		}
	}
	p->word = (struct span){all.p + start, *at - start};
	return true;
}

/* One value of a list: text without its quotes, '*' taken off. */
struct value {
	struct buf text;
	bool prefix;
};

static bool value_read(struct parser *p, struct span s, struct value *v)
{
	bool quoted = false, any_quotes = false;

	buf_clear(&v->text);
	v->prefix = false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '"') {
			quoted = !quoted;
			any_quotes = true;
			continue;
		}
		if (quoted && c == '\\' && i + 1 < s.n &&
		    (s.p[i + 1] == '"' || s.p[i + 1] == '\\'))
			c = s.p[++i];
		else if (!quoted && c == '*') {
			v->prefix = i + 1 == s.n;
			if (!v->prefix)
				return mistake(p, "'*' stands for \"starts "
					       "with\" and goes to the end; "
					       "quote it to mean itself");
			continue;
		}
		buf_addc(&v->text, c);
	}
	if (!v->text.len && v->prefix)
		return mistake(p, "nothing stands before '*'");
	if (!v->text.len && !any_quotes)
		return mistake(p, "a value is missing (\"\" means the empty "
			       "one)");
	return true;
}

/* Closed lists: the i-th name, NULL behind the last, or for open fields. */
static const char *closed_name(enum filter_field field, unsigned i,
			       struct buf *scratch)
{
	switch (field) {
	case FILTER_STATE:
		return i < OP_STATE_COUNT ?
			op_state_name((enum op_state)i) : NULL;
	case FILTER_REASON:
		return i < OP_REASON_COUNT ?
			op_reason_name((enum op_reason)i) : NULL;
	case FILTER_EVIDENCE:
		return i < EVIDENCE_COUNT ?
			op_evidence_name((enum op_evidence)i) : NULL;
	case FILTER_FLAG:
		if (1u << i > OP_OVERRIDE_STALE)
			return NULL;
		buf_clear(scratch);
		op_flags_text(1u << i, scratch);
		return buf_text(scratch);
	default:
		return NULL;
	}
}

static bool closed_has(const struct filter *f, struct buf *scratch)
{
	size_t n = strlen(f->text);
	const char *name;

	for (unsigned i = 0;
	     (name = closed_name(f->field, i, scratch)) != NULL; i++)
		if (f->prefix ? !strncmp(name, f->text, n) :
				!strcmp(name, f->text))
			return true;
	return false;
}

/* A value of a closed list must be on it; the mistake names the list. */
static bool closed_check(struct parser *p, const struct filter *f)
{
	struct buf scratch = BUF_INIT, list = BUF_INIT;
	const char *name;
	bool fine = !closed_name(f->field, 0, &scratch) ||
		    closed_has(f, &scratch) ||
		    (!*f->text && !f->prefix);

	for (unsigned i = 0; !fine &&
	     (name = closed_name(f->field, i, &scratch)) != NULL; i++)
		if (*name)
			buf_addf(&list, "%s%s", list.len ? ", " : "", name);
	if (!fine)
		mistake(p, "no such %s; one of %s", field_names[f->field],
			buf_text(&list));
	buf_release(&scratch);
	buf_release(&list);
	return fine;
}

static bool field_value(struct parser *p, struct filter *f,
			const struct value *v)
{
	struct buf folded = BUF_INIT;

	utf8_fold_text(&folded, buf_span(&v->text));
	f->kind = FILTER_FIELD;
	f->prefix = v->prefix;
	f->text = buf_detach(&folded, NULL);
	return closed_check(p, f);
}

static void token_add(void *ctx, struct span folded)
{
	struct filter *f = ctx;

	f->token = xrealloc(f->token, (f->tokens_n + 1) * sizeof(*f->token));
	f->token[f->tokens_n++] = xstrndup(folded.p, folded.n);
}

static bool word_value(struct parser *p, struct filter *f,
		       const struct value *v)
{
	struct buf joined = BUF_INIT;

	f->kind = FILTER_WORD;
	f->prefix = true;
	filter_tokens(buf_span(&v->text), token_add, f);
	if (!f->tokens_n)
		return mistake(p, "a word without a letter or digit finds "
			       "nothing");
	for (size_t i = 0; i < f->tokens_n; i++)
		buf_addf(&joined, "%s%s", i ? " " : "", f->token[i]);
	f->text = buf_detach(&joined, NULL);
	return true;
}

/* Up to the next comma outside quotes. */
static struct span piece_next(struct span *rest)
{
	struct span piece = *rest;
	size_t i = 0;

	while (i < rest->n && rest->p[i] != ',')
		i = rest->p[i] == '"' ? quoted_end(*rest, i) : i + 1;
	piece.n = i;
	rest->p += i;
	rest->n -= i;
	return piece;
}

typedef bool leaf_read(struct parser *, struct filter *, const struct value *);

/* value{,value}: a leaf, or an OR of leaves. field is set on each. */
static struct filter *list_read(struct parser *p, struct span rest,
				enum filter_field field, leaf_read *read)
{
	struct filter *list = node_new(FILTER_OR), *one;
	struct value v = {BUF_INIT, false};
	bool fine = true, more = true;

	while (fine && more) {
		struct span piece = piece_next(&rest);

		kid_add(list, node_new(FILTER_WORD));
		one = list->kids[list->kids_n - 1];
		one->field = field;
		fine = value_read(p, piece, &v) && read(p, one, &v);
		more = rest.n > 0;
		rest.p += more;
		rest.n -= more;
	}
	buf_release(&v.text);
	if (fine && list->kids_n > 1)
		return list;
	one = fine ? list->kids[0] : NULL;
	if (fine)
		list->kids_n = 0;
	filter_free(list);
	return one;
}

static struct filter *time_read(struct parser *p, enum filter_kind kind,
				struct span rest)
{
	struct value v = {BUF_INIT, false};
	struct filter *f = NULL;
	struct span s;
	int64_t ms;
	bool fine;

	if (!value_read(p, rest, &v)) {
		buf_release(&v.text);
		return NULL;
	}
	s = buf_span(&v.text);
	fine = !v.prefix && time_parse_person(s, p->now_ms,
					      p->utc_offset_min, &ms);
	if (!fine && !v.prefix && s.n && (s.p[s.n - 1] > '9') &&
	    duration_parse(s, &ms)) {
		ms = p->now_ms - ms;
		fine = true;
	}
	if (fine) {
		f = node_new(kind);
		f->number = ms;
	} else {
		mistake(p, "no time; write 2026-11-29, 2026-11-29T14:02, "
			"14:02 or 2h for two hours ago");
	}
	buf_release(&v.text);
	return f;
}

static enum filter_cmp cmp_read(struct span *rest)
{
	static const struct { const char *sign; enum filter_cmp cmp; } row[] = {
		{">=", CMP_GE}, {"<=", CMP_LE}, {">", CMP_GT}, {"<", CMP_LT},
		{"=", CMP_EQ},
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (span_starts(*rest, row[i].sign)) {
			rest->p += strlen(row[i].sign);
			rest->n -= strlen(row[i].sign);
			return row[i].cmp;
		}
	abort();		/* called only where a sign stands */
}

static bool count_parse(struct span s, int64_t *out)
{
	int64_t value = 0;

	if (!s.n || s.n > 9)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		value = value * 10 + (s.p[i] - '0');
	}
	*out = value;
	return true;
}

static struct filter *number_read(struct parser *p, enum filter_kind kind,
				  struct span rest)
{
	bool age = kind == FILTER_AGE;
	enum filter_cmp cmp = cmp_read(&rest);
	struct filter *f;
	int64_t number;

	if (age ? !duration_parse(rest, &number) :
		  !count_parse(rest, &number)) {
		mistake(p, age ? "no duration; write age>2h, age<30m or "
				 "age>=1d" :
			"no number; write attempts>=3");
		return NULL;
	}
	f = node_new(kind);
	f->cmp = cmp;
	f->number = number;
	return f;
}

/* Names in front of ':' or a sign; other than the fields of the rows. */
static const struct { const char *name; enum filter_kind kind; } special[] = {
	{"age", FILTER_AGE}, {"attempts", FILTER_ATTEMPTS},
	{"since", FILTER_SINCE}, {"until", FILTER_UNTIL},
};

static bool name_is(struct span name, const char *want)
{
	struct buf folded = BUF_INIT;
	bool same;

	utf8_fold_text(&folded, name);
	same = span_is(buf_span(&folded), want);
	buf_release(&folded);
	return same;
}

static int special_find(struct span name)
{
	for (size_t i = 0; i < ARRAY_SIZE(special); i++)
		if (name_is(name, special[i].name))
			return (int)special[i].kind;
	return -1;
}

static int field_find(struct span name)
{
	for (size_t i = 0; i < FILTER_FIELD_COUNT; i++)
		if (name_is(name, field_names[i]))
			return (int)i;
	return -1;
}

/* name:rest */
static struct filter *colon_read(struct parser *p, struct span name,
				 struct span rest)
{
	int kind = special_find(name), field = field_find(name);

	if (kind == FILTER_SINCE || kind == FILTER_UNTIL)
		return time_read(p, (enum filter_kind)kind, rest);
	if (kind >= 0)
		mistake(p, "%s takes =, <, <=, > or >=, not ':'",
			kind == FILTER_AGE ? "age" : "attempts");
	else if (field < 0)
		mistake(p, "no such field; quote the word to search for it "
			"as text");
	else
		return list_read(p, rest, (enum filter_field)field,
				 field_value);
	return NULL;
}

/* name and a sign; NULL without a mistake: just a word. */
static struct filter *sign_read(struct parser *p, struct span name,
				struct span rest, bool *word)
{
	int kind = special_find(name);

	if (kind == FILTER_AGE || kind == FILTER_ATTEMPTS)
		return number_read(p, (enum filter_kind)kind, rest);
	*word = kind < 0 && field_find(name) < 0;
	if (!*word)
		mistake(p, "this field takes ':', not '%c'", *rest.p);
	return NULL;
}

static struct filter *term_read(struct parser *p, struct span s)
{
	struct span name = {s.p, 0}, rest = s;
	struct filter *f;
	bool word = false;

	while (name.n < s.n && ((s.p[name.n] >= 'a' && s.p[name.n] <= 'z') ||
				(s.p[name.n] >= 'A' && s.p[name.n] <= 'Z') ||
				s.p[name.n] == '_'))
		name.n++;
	rest.p += name.n;
	rest.n -= name.n;
	if (name.n && rest.n && *rest.p == ':')
		return colon_read(p, name,
				  (struct span){rest.p + 1, rest.n - 1});
	if (name.n && rest.n && strchr("<>=", *rest.p)) {
		f = sign_read(p, name, rest, &word);
		if (!word)
			return f;
	}
	return list_read(p, s, FILTER_FIELD_COUNT, word_value);
}

/* One word of the filter, with its '-'. */
static bool word_read(struct parser *p, struct filter *all)
{
	struct span s = p->word;
	bool negative = *s.p == '-';
	struct filter *term, *inverse;

	s.p += negative;
	s.n -= negative;
	if (negative && (!s.n || *s.p == '-'))
		return mistake(p, "'-' in front means not; what?");
	term = term_read(p, s);
	if (!term)
		return false;
	if (negative) {
		inverse = node_new(FILTER_NOT);
		kid_add(inverse, term);
		term = inverse;
	}
	kid_add(all, term);
	return true;
}

static bool whole_check(struct parser *p)
{
	const char *why = NULL;

	if (p->text.n > FILTER_TEXT_MAX)
		why = "the filter is too long";
	else if (!utf8_valid(p->text))
		why = "the filter is not valid UTF-8";
	else if (p->text.n && memchr(p->text.p, 0, p->text.n))
		why = "the filter contains U+0000";
	if (why)
		text_set(p->error->text, sizeof(p->error->text), span_of(why));
	return !why;
}

struct filter *filter_parse(struct span text, int64_t now_ms,
			    int utc_offset_min, struct filter_error *error)
{
	struct parser p = {.text = text, .now_ms = now_ms, .error = error,
			   .utc_offset_min = utc_offset_min};
	struct filter *all = node_new(FILTER_AND);
	bool fine, found = true;
	size_t at = 0;

	*error = (struct filter_error){0};
	fine = whole_check(&p);
	while (fine && found) {
		fine = word_next(&p, &at, &found);
		if (fine && found)
			fine = word_read(&p, all);
	}
	if (fine)
		return all;
	filter_free(all);
	return NULL;
}
