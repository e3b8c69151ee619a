#include "core/filter.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

void filter_tokens(struct span text,
		   void (*token)(void *ctx, struct span folded), void *ctx)
{
	struct buf run = BUF_INIT;

	for (size_t i = 0; i < text.n;) {
		uint32_t cp = 0;
		size_t n = utf8_decode(text.p + i, text.n - i, &cp);
		enum utf8_kind kind = n ? utf8_kind(cp) : UTF8_OTHER;

		i += n ? n : 1;
		if (kind == UTF8_LETTER || (kind == UTF8_MARK && run.len)) {
			utf8_encode(&run, utf8_fold(cp));
			continue;
		}
		if (run.len)
			token(ctx, buf_span(&run));
		buf_clear(&run);
	}
	if (run.len)
		token(ctx, buf_span(&run));
	buf_release(&run);
}

/* Does text, folded, equal the folded value (or start with it)? */
static bool value_is(struct span text, const char *value, bool prefix)
{
	const char *want = value, *want_end = value + strlen(value);
	size_t i = 0;

	while (i < text.n && want < want_end) {
		uint32_t cp, other;
		size_t n = utf8_decode(text.p + i, text.n - i, &cp);
		size_t m = utf8_decode(want, (size_t)(want_end - want),
				       &other);

		if (!n || !m || utf8_fold(cp) != other)
			return false;
		i += n;
		want += m;
	}
	return want == want_end && (prefix || i == text.n);
}

static bool one_of(struct span text, const struct filter *f)
{
	for (;;) {
		const char *comma = text.n ? memchr(text.p, ',', text.n) :
					     NULL;
		size_t n = comma ? (size_t)(comma - text.p) : text.n;

		if (value_is((struct span){text.p, n}, f->text, f->prefix))
			return true;
		if (!comma)
			return false;
		text.p += n + 1;
		text.n -= n + 1;
	}
}

static bool field_match(const struct filter *f, const struct filter_row *row)
{
	struct span text;

	assert(f->field < FILTER_FIELD_COUNT);
	text = span_of(row->text[f->field]);
	switch (f->field) {
	case FILTER_FLAG:
	case FILTER_ACTOR:
	case FILTER_RUN:
		return one_of(text, f);
	case FILTER_ASSIGNED:
		if (!f->prefix && !strcmp(f->text, "none"))
			return !text.n;
		if (!f->prefix && !strcmp(f->text, "me"))
			return text.n && row->me && span_is(text, row->me);
		break;
	default:
		break;
	}
	return value_is(text, f->text, f->prefix);
}

static void token_join(void *ctx, struct span folded)
{
	struct buf *joined = ctx;

	buf_addc(joined, ' ');
	buf_addspan(joined, folded);
}

/* " one two three" holds " one tw": whole tokens, the last as a prefix. */
static bool holds(struct span text, struct span part)
{
	for (size_t i = 0; i + part.n <= text.n; i++)
		if (!memcmp(text.p + i, part.p, part.n))
			return true;
	return false;
}

static bool word_match(const struct filter *f, const struct filter_row *row)
{
	const char *const where[] = {
		row->text[FILTER_ERROR], row->text[FILTER_SUBJECT],
		row->text[FILTER_FORM], row->text[FILTER_EVENT],
		row->text[FILTER_SITE], row->note,
	};
	struct buf joined = BUF_INIT, part = BUF_INIT;
	bool found = false;

	assert(f->tokens_n > 0);
	buf_addf(&part, " %s", f->text);
	for (size_t i = 0; i < ARRAY_SIZE(where) && !found; i++) {
		buf_clear(&joined);
		filter_tokens(span_of(where[i]), token_join, &joined);
		found = holds(buf_span(&joined), buf_span(&part));
	}
	buf_release(&joined);
	buf_release(&part);
	return found;
}

static bool compare(int64_t value, enum filter_cmp cmp, int64_t number)
{
	switch (cmp) {
	case CMP_EQ: return value == number;
	case CMP_LT: return value < number;
	case CMP_LE: return value <= number;
	case CMP_GT: return value > number;
	case CMP_GE: return value >= number;
	}
	abort();
}

static bool any_match(const struct filter *f, const struct filter_row *row,
		      int64_t now_ms, bool want)
{
	for (size_t i = 0; i < f->kids_n; i++)
		if (filter_match(f->kids[i], row, now_ms) == want)
			return true;
	return false;
}

bool filter_match(const struct filter *f, const struct filter_row *row,
		  int64_t now_ms)
{
	switch (f->kind) {
	case FILTER_AND:
		return !any_match(f, row, now_ms, false);
	case FILTER_OR:
		return any_match(f, row, now_ms, true);
	case FILTER_NOT:
		assert(f->kids_n == 1);
		return !filter_match(f->kids[0], row, now_ms);
	case FILTER_WORD:
		return word_match(f, row);
	case FILTER_FIELD:
		return field_match(f, row);
	case FILTER_AGE:
		return compare(now_ms - row->state_since_ms, f->cmp,
			       f->number);
	case FILTER_ATTEMPTS:
		return compare(row->attempts, f->cmp, f->number);
	case FILTER_SINCE:
		return row->updated_at_ms >= f->number;
	case FILTER_UNTIL:
		return row->updated_at_ms < f->number;
	}
	abort();
}
