#include "core/csv.h"
#include "core/place.h"

#include <stdlib.h>
#include <string.h>

struct span place_trim(struct span s)
{
	while (s.n && strchr(" \t\r\n", s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]))
		s.n--;
	return s;
}

/* A scalar without copying where no escape stands in it. */
bool place_text(const struct json *doc, uint32_t node, struct buf *scratch,
		struct span *out)
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
bool place_regex(const void *regex, struct span text, regmatch_t match[2])
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

void json_walk(const struct json *doc, uint32_t node, const char *pointer,
	       node_fn *fn, void *ctx)
{
	const char *star;
	struct span head;

	if (!*pointer) {		/* as for each element of a list */
		fn(ctx, doc, node);
		return;
	}
	star = strstr(pointer, "/*");
	head = (struct span){pointer, star ? (size_t)(star - pointer) :
			     strlen(pointer)};
	while (star && star[2] && star[2] != '/') {
		star = strstr(star + 2, "/*");
		head.n = star ? (size_t)(star - pointer) : strlen(pointer);
	}
	node = json_pointer(doc, node, head);
	if (!star || node == JSON_NONE) {
		fn(ctx, doc, node);
		return;
	}
	for (uint32_t kid = json_child(doc, node); kid != JSON_NONE;
	     kid = json_next(doc, kid))
		json_walk(doc, kid, star + 2, fn, ctx);
}

bool seek_parts(struct span s, struct span *name, struct span *word)
{
	const char *is = s.n > 4 ? memchr(s.p, '=', s.n) : NULL;

	if (!is || s.p[0] != '[' || s.p[s.n - 1] != ']' || is == s.p + 1)
		return false;
	*name = (struct span){s.p + 1, (size_t)(is - s.p - 1)};
	*word = (struct span){is + 1, (size_t)(s.p + s.n - 2 - is)};
	return word->n > 0;
}

static bool has_word(const struct json *doc, uint32_t node, struct span name,
		     struct span word)
{
	bool found = false;

	for (uint32_t kid = json_is(doc, node, JSON_OBJECT) ?
	     json_child(doc, node) : JSON_NONE; kid != JSON_NONE && !found;
	     kid = json_next(doc, kid)) {
		struct buf text = BUF_INIT;

		json_key(doc, kid, &text);
		found = span_eq(buf_span(&text), name);
		buf_clear(&text);
		found = found && json_string(doc, kid, &text) &&
			span_eq(buf_span(&text), word);
		buf_release(&text);
	}
	return found;
}

uint32_t json_seek(const struct json *doc, uint32_t node, const char *pointer)
{
	while (*pointer && node != JSON_NONE) {
		struct span segment = {pointer + 1, strcspn(pointer + 1, "/")};
		struct span name, word;

		if (!seek_parts(segment, &name, &word)) {
			node = json_pointer(doc, node, (struct span){pointer,
							segment.n + 1});
		} else if (json_is(doc, node, JSON_ARRAY)) {
			node = json_child(doc, node);
			while (node != JSON_NONE &&
			       !has_word(doc, node, name, word))
				node = json_next(doc, node);
		} else if (!has_word(doc, node, name, word)) {
			node = JSON_NONE;
		}
		pointer += segment.n + 1;
	}
	return node;
}

struct xml *world_xml(const struct cond_world *w)
{
	struct xml_lazy *lazy = w->xml;

	if (!lazy)
		return NULL;
	if (!lazy->tried && !w->doc && xml_looks_like(w->answer->body))
		lazy->xml = xml_open(w->answer->body, lazy->names, NULL);
	lazy->tried = true;
	return lazy->xml;
}

void xml_lazy_release(struct xml_lazy *lazy)
{
	xml_free(lazy->xml);
	*lazy = (struct xml_lazy){0};
}

static bool xpath_value(const struct source *s, const struct cond_world *w,
			struct buf *scratch)
{
	struct xml *xml = world_xml(w);
	struct xml_found found;
	bool any;

	if (!xml)
		return false;
	buf_clear(scratch);
	xml_find(xml, s->path, w->xml_item, &found);
	any = found.n > 0;
	if (any)
		xml_found_text(&found, 0, scratch);
	xml_found_release(&found);
	return any;
}

/* A short text, looked at for each item of a list: in one pass. */
static uint32_t json_place(const struct cond_world *w, const char *at)
{
	struct span pointer = {at, 0};
	bool seek = false, member = at[0] == '/' && at[1] != '*';

	for (; at[pointer.n]; pointer.n++) {
		seek |= at[pointer.n] == '[';
		member &= at[pointer.n] != '~' &&
			(at[pointer.n] != '/' || !pointer.n);
	}
	if (member && !seek && json_is(w->doc, w->item, JSON_OBJECT))
		return json_get(w->doc, w->item, at + 1);
	return seek ? json_seek(w->doc, w->item, at) :
		json_pointer(w->doc, w->item, pointer);
}

static bool source_value(const struct source *s, const struct cond_world *w,
			 struct buf *scratch, struct span *value)
{
	uint32_t node;
	size_t column;

	switch (s->kind) {
	case SOURCE_JSON:
		node = w->doc ? json_place(w, s->at) : JSON_NONE;
		return node != JSON_NONE && !json_is(w->doc, node, JSON_NULL) &&
			place_text(w->doc, node, scratch, value);
	case SOURCE_HEADER:
		*value = answer_header(w->answer, s->at);
		return value->n > 0;
	case SOURCE_REGEX:
		*value = w->answer->body;
		return true;
	case SOURCE_XPATH:
		if (!xpath_value(s, w, scratch))
			return false;
		*value = place_trim(buf_span(scratch));
		return true;
	case SOURCE_COLUMN:
		column = w->csv ? csv_column(w->csv, s->at) : CSV_NONE;
		if (column == CSV_NONE)
			return false;
		*value = csv_field(&w->csv->row, column);
		return true;
	}
	return false;
}

/* What the source's patterns leave of a value, appended. */
static bool source_cut(const struct source *s, struct span value,
		       struct buf *out)
{
	regmatch_t match[2];
	size_t from, to;

	if (s->regex) {
		if (!place_regex(s->regex, value, match) || match[1].rm_so < 0)
			return false;
		value.p += match[1].rm_so;
		value.n = (size_t)(match[1].rm_eo - match[1].rm_so);
	}
	from = to = value.n;
	if (s->strip && place_regex(s->strip, value, match)) {
		from = (size_t)match[0].rm_so;
		to = (size_t)match[0].rm_eo;
	}
	if (!value.n || from + (value.n - to) == 0)
		return false;
	buf_add(out, value.p, from);
	buf_add(out, value.p + to, value.n - to);
	return true;
}

bool sources_find(const struct sources *sources, const struct cond_world *w,
		  struct buf *out)
{
	struct buf scratch = BUF_INIT;
	bool taken = false;

	for (size_t i = 0; i < sources->n && !taken; i++) {
		const struct source *s = &sources->v[i];
		struct span value;

		taken = source_value(s, w, &scratch, &value) &&
			source_cut(s, value, out);
	}
	buf_wipe(&scratch);		/* it may be a session */
	return taken;
}

struct span sources_see(const struct sources *sources,
			const struct cond_world *w, struct buf *scratch)
{
	const struct source *s = sources->v;
	struct span value;

	if (sources->n == 1 && s->kind == SOURCE_JSON && !s->regex &&
	    !s->strip)
		return source_value(s, w, scratch, &value) ? value :
			(struct span){NULL, 0};
	buf_clear(scratch);
	sources_find(sources, w, scratch);
	return buf_span(scratch);
}

bool sources_take(const struct sources *sources, const struct answer *answer,
		  const struct json *doc, struct buf *out)
{
	struct cond_world w = {.answer = answer, .doc = doc};

	return sources_find(sources, &w, out);
}

void regex_release(void *regex)
{
	if (!regex)
		return;
	regfree(regex);
	free(regex);
}

void sources_release(struct sources *sources)
{
	for (size_t i = 0; i < sources->n; i++) {
		free(sources->v[i].at);
		xml_path_free(sources->v[i].path);
		regex_release(sources->v[i].regex);
		regex_release(sources->v[i].strip);
	}
	free(sources->v);
	*sources = (struct sources){0};
}
