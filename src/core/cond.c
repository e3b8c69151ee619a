#include "core/profile.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct span span_trim(struct span s)
{
	while (s.n && strchr(" \t\r\n", s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]))
		s.n--;
	return s;
}

static bool starts_folded(struct span s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && !strncasecmp(s.p, prefix, n);
}

static bool equal_text(struct span s, const char *text, bool fold)
{
	size_t n = strlen(text);

	if (s.n != n)
		return false;
	return fold ? !n || !strncasecmp(s.p, text, n) : span_is(s, text);
}

bool text_list_has(const struct text_list *list, struct span word, bool fold)
{
	for (size_t i = 0; i < list->n; i++)
		if (equal_text(word, list->v[i], fold))
			return true;
	return false;
}

enum body_kind answer_body_kind(const struct answer *answer,
				const struct json *doc)
{
	struct span s = answer->body;

	if (doc)
		return BODY_JSON;
	if (span_starts(s, "\xef\xbb\xbf"))
		s = (struct span){s.p + 3, s.n - 3};
	s = span_trim(s);
	if (!s.n)
		return BODY_EMPTY;
	if (starts_folded(s, "<!doctype html") || starts_folded(s, "<html") ||
	    starts_folded(s, "<head") || starts_folded(s, "<body") ||
	    starts_folded(answer_header(answer, "Content-Type"), "text/html"))
		return BODY_HTML;
	return BODY_TEXT;
}

/* A scalar without copying where no escape stands in it. */
static bool node_text(const struct json *doc, uint32_t node,
		      struct buf *scratch, struct span *out)
{
	struct span raw;

	if (node == JSON_NONE || json_is(doc, node, JSON_OBJECT) ||
	    json_is(doc, node, JSON_ARRAY))
		return false;
	raw = json_raw(doc, node);
	if (!json_is(doc, node, JSON_STRING)) {
		*out = raw;
		return true;
	}
	assert(raw.n >= 2);
	if (!doc->node[node].escaped) {
		*out = (struct span){raw.p + 1, raw.n - 2};
		return true;
	}
	buf_clear(scratch);
	json_string(doc, node, scratch);
	*out = buf_span(scratch);
	return true;
}

/* regexec wants a C string, and a bounded one: cost grows with the text. */
static bool regex_find(const void *regex, struct span text,
		       regmatch_t match[2])
{
	char copy[PROFILE_SEARCH_BYTES + 1];
	size_t n = text.n < PROFILE_SEARCH_BYTES ? text.n :
		PROFILE_SEARCH_BYTES;

	assert(regex);
	for (size_t i = 0; i < n; i++)
		copy[i] = text.p[i] ? text.p[i] : '\1';
	copy[n] = 0;
	return !regexec(regex, copy, 2, match, 0);
}

static bool value_in(const struct cond *c, struct span text)
{
	for (size_t i = 0; i < c->values_n; i++)
		if (equal_text(text, c->values[i], c->fold))
			return true;
	return false;
}

static bool value_prefix(const struct cond *c, struct span text)
{
	for (size_t i = 0; i < c->values_n; i++)
		if (c->fold ? starts_folded(text, c->values[i]) :
		    span_starts(text, c->values[i]))
			return true;
	return false;
}

static bool text_passes(const struct cond *c, struct span text)
{
	regmatch_t match[2];

	switch (c->test) {
	case TEST_EXISTS:
		return true;
	case TEST_NONEMPTY:
		return span_trim(text).n > 0;
	case TEST_IN:
		return value_in(c, text);
	case TEST_NOT_IN:
		return !value_in(c, text);
	case TEST_PREFIX:
		return value_prefix(c, text);
	case TEST_REGEX:
		return regex_find(c->regex, text, match);
	case TEST_ABSENT:
	case TEST_TYPE:
		break;
	}
	return false;
}

static const char *const type_name[] = {
	[JSON_NULL] = "null", [JSON_FALSE] = "boolean",
	[JSON_TRUE] = "boolean", [JSON_NUMBER] = "number",
	[JSON_STRING] = "string", [JSON_ARRAY] = "array",
	[JSON_OBJECT] = "object",
};

static bool node_passes(const struct cond *c, const struct json *doc,
			uint32_t node)
{
	struct buf scratch = BUF_INIT;
	struct span text;
	bool pass;

	if (c->test == TEST_EXISTS)
		return true;
	if (c->test == TEST_TYPE)
		return value_in(c, span_of(type_name[json_type(doc, node)]));
	if (c->test == TEST_NONEMPTY) {
		if (json_is(doc, node, JSON_NULL) ||
		    json_is(doc, node, JSON_FALSE))
			return false;
		if (json_is(doc, node, JSON_OBJECT) ||
		    json_is(doc, node, JSON_ARRAY))
			return json_child(doc, node) != JSON_NONE;
	}
	if (!node_text(doc, node, &scratch, &text))
		return c->test == TEST_NOT_IN;
	pass = text_passes(c, text);
	buf_release(&scratch);
	return pass;
}

struct tally {
	const struct cond *c;
	const struct json *doc;
	int seen, passed;
};

/* Walks a pointer in which a segment "*" stands for every child. */
static void walk(struct tally *t, uint32_t node, const char *pointer)
{
	const char *star = strstr(pointer, "/*");
	struct span head = {pointer, star ? (size_t)(star - pointer) :
			    strlen(pointer)};

	while (star && star[2] && star[2] != '/') {
		star = strstr(star + 2, "/*");
		head.n = star ? (size_t)(star - pointer) : strlen(pointer);
	}
	node = json_pointer(t->doc, node, head);
	if (node == JSON_NONE)
		return;
	if (!star) {
		t->seen++;
		t->passed += node_passes(t->c, t->doc, node);
		return;
	}
	for (uint32_t kid = json_child(t->doc, node); kid != JSON_NONE;
	     kid = json_next(t->doc, kid))
		walk(t, kid, star + 2);
}

static bool json_holds(const struct cond *c, const struct json *doc)
{
	struct tally t = {c, doc, 0, 0};

	if (doc)
		walk(&t, 0, c->at);
	if (c->test == TEST_ABSENT)
		return doc && !t.seen;
	return c->every ? t.seen && t.passed == t.seen : t.passed > 0;
}

static bool header_holds(const struct cond *c, const struct answer *answer)
{
	size_t seen = 0, passed = 0;

	for (size_t i = 0; i < answer->headers_n; i++) {
		const struct header *h = &answer->headers[i];

		if (!equal_text(h->name, c->at, true))
			continue;
		seen++;
		passed += text_passes(c, h->value);
	}
	if (c->test == TEST_ABSENT)
		return !seen;
	return c->every ? seen && passed == seen : passed > 0;
}

static bool in_ranges(const struct cond *c, int number)
{
	for (size_t i = 0; i < c->ranges_n; i++)
		if (number >= c->ranges[i][0] && number <= c->ranges[i][1])
			return true;
	return false;
}

static const char *const body_name[] = {
	[BODY_EMPTY] = "empty", [BODY_JSON] = "json", [BODY_HTML] = "html",
	[BODY_TEXT] = "text",
};

static bool body_holds(const struct cond *c, const struct cond_world *w)
{
	enum body_kind kind = answer_body_kind(w->answer, w->doc);

	if (value_in(c, span_of(body_name[kind])))
		return true;
	return w->doc && value_in(c, span_of(type_name[json_type(w->doc, 0)]));
}

bool cond_holds(const struct cond *c, const struct cond_world *w)
{
	assert(w->answer);
	switch (c->kind) {
	case COND_ALL:
		for (size_t i = 0; i < c->kids_n; i++)
			if (!cond_holds(&c->kids[i], w))
				return false;
		return true;
	case COND_ANY:
	case COND_NOT:
		for (size_t i = 0; i < c->kids_n; i++)
			if (cond_holds(&c->kids[i], w))
				return c->kind == COND_ANY;
		return c->kind == COND_NOT;
	case COND_STATUS:
		return in_ranges(c, w->answer->status);
	case COND_JSON:
		return json_holds(c, w->doc);
	case COND_HEADER:
		return header_holds(c, w->answer);
	case COND_TEXT:
		return text_passes(c, span_trim(w->answer->body));
	case COND_METHOD:
		return value_in(c, span_of(w->method));
	case COND_BODY:
		return body_holds(c, w);
	case COND_MODE:
		return value_in(c, span_of(idem_mode_name(w->mode)));
	}
	return false;
}

static bool source_value(const struct source *s, const struct answer *answer,
			 const struct json *doc, struct buf *scratch,
			 struct span *value)
{
	switch (s->kind) {
	case SOURCE_JSON:
		return doc && node_text(doc, json_pointer(doc, 0,
				span_of(s->at)), scratch, value) &&
			!(value->n == 4 && !memcmp(value->p, "null", 4) &&
			  json_is(doc, json_pointer(doc, 0, span_of(s->at)),
				  JSON_NULL));
	case SOURCE_HEADER:
		*value = answer_header(answer, s->at);
		return value->n > 0;
	case SOURCE_REGEX:
		*value = answer->body;
		return true;
	}
	return false;
}

bool sources_take(const struct sources *sources, const struct answer *answer,
		  const struct json *doc, struct buf *out)
{
	struct buf scratch = BUF_INIT;
	bool taken = false;

	for (size_t i = 0; i < sources->n && !taken; i++) {
		const struct source *s = &sources->v[i];
		regmatch_t match[2];
		struct span value;

		if (!source_value(s, answer, doc, &scratch, &value))
			continue;
		if (s->regex) {
			if (!regex_find(s->regex, value, match) ||
			    match[1].rm_so < 0)
				continue;
			value.p += match[1].rm_so;
			value.n = (size_t)(match[1].rm_eo - match[1].rm_so);
		}
		if (!value.n)
			continue;
		buf_addspan(out, value);
		taken = true;
	}
	buf_release(&scratch);
	return taken;
}

bool pointer_matches(const char *pattern, struct span pointer)
{
	size_t i = 0;

	while (*pattern) {
		if (pattern[0] == '/' && pattern[1] == '*' &&
		    (!pattern[2] || pattern[2] == '/')) {
			if (i >= pointer.n || pointer.p[i] != '/')
				return false;
			for (i++; i < pointer.n && pointer.p[i] != '/'; )
				i++;
			pattern += 2;
			continue;
		}
		if (i >= pointer.n || pointer.p[i] != *pattern)
			return false;
		pattern++;
		i++;
	}
	return i == pointer.n;
}

static void regex_free(void *regex)
{
	if (!regex)
		return;
	regfree(regex);
	free(regex);
}

void cond_release(struct cond *c)
{
	for (size_t i = 0; i < c->kids_n; i++)
		cond_release(&c->kids[i]);
	for (size_t i = 0; i < c->values_n; i++)
		free(c->values[i]);
	free(c->kids);
	free(c->values);
	free(c->ranges);
	free(c->at);
	regex_free(c->regex);
	*c = (struct cond){0};
}

void sources_release(struct sources *sources)
{
	for (size_t i = 0; i < sources->n; i++) {
		free(sources->v[i].at);
		regex_free(sources->v[i].regex);
	}
	free(sources->v);
	*sources = (struct sources){0};
}

void text_list_release(struct text_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i]);
	free(list->v);
	*list = (struct text_list){0};
}
