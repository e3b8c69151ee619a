/* A filter, a line end, then the row's texts, a line each. */
#include <string.h>

#include "core/filter.h"
#include "core/utf8.h"
#include "tests/fuzz/fuzz.h"

#define NOW_MS INT64_C(1795960951120)

static int depth_of(const struct filter *f)
{
	int deepest = 0;

	for (size_t i = 0; i < f->kids_n; i++) {
		int d = depth_of(f->kids[i]);

		deepest = d > deepest ? d : deepest;
	}
	PROMISE(f->kind != FILTER_WORD || f->tokens_n > 0);
	PROMISE(f->kind != FILTER_FIELD || f->text);
	return deepest + 1;
}

static void error_check(const struct filter_error *e, size_t n)
{
	struct span text = span_of(e->text);

	PROMISE(text.n > 0 && utf8_valid(text));
	PROMISE(e->position >= 0 && (size_t)e->position <= n + 1);
	for (size_t i = 0; i < text.n;) {
		uint32_t cp;

		i += utf8_decode(text.p + i, text.n - i, &cp);
		PROMISE(utf8_width(cp) >= 0);
	}
}

static void row_fill(struct filter_row *row, char *rest)
{
	for (size_t i = 0; rest && i < FILTER_FIELD_COUNT; i++) {
		char *end = strchr(rest, '\n');

		row->text[i] = rest;
		if (end)
			*end++ = '\0';
		rest = end;
	}
	row->note = rest;
	row->me = row->text[FILTER_ASSIGNED];
	row->state_since_ms = NOW_MS - 7200000;
	row->updated_at_ms = NOW_MS - 3600000;
	row->attempts = 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *end = n ? memchr(data, '\n', n) : NULL;
	size_t first = end ? (size_t)(end - data) : n;
	char *text = xstrndup((const char *)data, n);
	struct filter_row row = {0};
	struct filter_error error;
	struct filter *f = filter_parse((struct span){text, first}, NOW_MS,
					60, &error);

	if (f) {
		struct filter inverse = {.kind = FILTER_NOT, .kids = &f,
					 .kids_n = 1};

		PROMISE(depth_of(f) <= 4);
		row_fill(&row, end ? text + first + 1 : NULL);
		PROMISE(filter_match(f, &row, NOW_MS) !=
			filter_match(&inverse, &row, NOW_MS));
	} else {
		error_check(&error, first);
	}
	filter_free(f);
	free(text);
	return 0;
}
