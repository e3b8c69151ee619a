#define _GNU_SOURCE			/* memmem */
#include "core/csv.h"
#include "core/items.h"
#include "core/place.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool starts_folded(struct span s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && !strncasecmp(s.p, prefix, n);
}

static bool equal_text(struct span s, const char *text, bool fold)
{
	size_t n;

	if (!s.n)			/* of most items, and of many words */
		return !text[0];
	n = strlen(text);
	if (s.n != n)
		return false;
	return fold ? !strncasecmp(s.p, text, n) : !memcmp(s.p, text, n);
}

bool text_list_has(const struct text_list *list, struct span word, bool fold)
{
	for (size_t i = 0; i < list->n; i++)
		if (equal_text(word, list->v[i], fold))
			return true;
	return false;
}

/* Without a byte order mark and outer blanks. */
static struct span body_text(const struct answer *answer)
{
	struct span s = answer->body;

	if (span_starts(s, "\xef\xbb\xbf"))
		s = (struct span){s.p + 3, s.n - 3};
	return place_trim(s);
}

/* Behind declarations, comments and a DOCTYPE: the root element's tag. */
static struct span root_tag(struct span s, bool *doctype_html)
{
	*doctype_html = false;
	while (s.n > 2 && (s.p[1] == '?' || s.p[1] == '!')) {
		const char *mark = span_starts(s, "<!--") ? "-->" :
			s.p[1] == '?' ? "?>" : ">";
		const char *end = memmem(s.p + 2, s.n - 2, mark,
					 strlen(mark));

		if (starts_folded(s, "<!doctype html"))
			*doctype_html = true;
		if (!end)
			break;
		end += strlen(mark);
		s = place_trim((struct span){end, s.n - (size_t)(end - s.p)});
	}
	return s;
}

/* "<html>", "<h:HTML lang=..>"; no "<header>". What only a page has, or a
 * piece of one: no vendor's root element is called so. */
static bool is_page(struct span s)
{
	static const char *const tags[] = {
		"html", "head", "body", "title", "meta", "style", "script",
		"noscript", "center", "h1", "h2", "div", "iframe", "br", "hr",
		"font", "pre",
	};
	struct span name = {NULL, 0};
	bool html;

	s = root_tag(s, &html);
	if (html)
		return true;
	if (!s.n || s.p[0] != '<')
		return false;
	for (const char *p = name.p = s.p + 1; p < s.p + s.n &&
	     !strchr(" \t\r\n/>", *p); p++) {
		name.n++;
		if (*p == ':')		/* a namespace's prefix */
			name = (struct span){p + 1, 0};
	}
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		if (equal_text(name, tags[i], true))
			return true;
	return false;
}

enum body_kind answer_body_kind(const struct answer *answer,
				const struct json *doc)
{
	bool declared;
	struct span s;

	if (doc)
		return BODY_JSON;
	s = body_text(answer);
	if (!s.n)
		return BODY_EMPTY;
	declared = span_starts(s, "<?xml");
	if (is_page(s))
		return BODY_HTML;
	/* A word called a page is still a word (a version, "ok"). */
	if (!declared && memchr(s.p, '<', s.n) &&
	    starts_folded(answer_header(answer, "Content-Type"), "text/html"))
		return BODY_HTML;
	return xml_looks_like(s) ? BODY_XML : BODY_TEXT;
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

static bool contains(struct span text, const char *part, bool fold)
{
	size_t n = strlen(part);

	if (!fold || !n)
		return n <= text.n && memmem(text.p, text.n, part, n);
	for (size_t i = 0; i + n <= text.n; i++)
		if (!((text.p[i] ^ part[0]) & ~0x20) &&
		    !strncasecmp(text.p + i, part, n))
			return true;
	return false;
}

static bool value_contains(const struct cond *c, struct span text)
{
	for (size_t i = 0; i < c->values_n; i++)
		if (contains(text, c->values[i], c->fold))
			return true;
	return false;
}

/* Digits, perhaps a sign, a fraction, an exponent; nothing else around. */
static bool text_number(struct span s, double *out)
{
	size_t i = 0, digits = 0;

	s = place_trim(s);
	if (!s.n || s.n > 40)
		return false;
	if (s.p[0] == '+')
		s = (struct span){s.p + 1, s.n - 1};
	if (s.n && s.p[0] == '-')
		i++;
	for (bool point = false; i < s.n; i++) {
		if (s.p[i] >= '0' && s.p[i] <= '9')
			digits++;
		else if (s.p[i] == '.' && digits && !point)
			point = true;
		else
			break;
	}
	if (i != s.n || !digits)
		return false;
	*out = json_number(s);
	return true;
}

static bool text_passes(const struct cond *c, struct span text)
{
	double number;

	regmatch_t match[2];

	switch (c->test) {
	case TEST_EXISTS:
		return true;
	case TEST_NONEMPTY:
		return place_trim(text).n > 0;
	case TEST_IN:
		return value_in(c, text);
	case TEST_NOT_IN:
		return !value_in(c, text);
	case TEST_PREFIX:
		return value_prefix(c, text);
	case TEST_REGEX:
		return place_regex(c->regex, text, match);
	case TEST_CONTAINS:
		return value_contains(c, text);
	case TEST_ABOVE:
		return text_number(text, &number) && number > c->number;
	case TEST_BELOW:
		return text_number(text, &number) && number < c->number;
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
	if (!place_text(doc, node, &scratch, &text))
		return c->test == TEST_NOT_IN;
	pass = text_passes(c, text);
	buf_release(&scratch);
	return pass;
}

struct tally {
	const struct cond *c;
	int seen, passed;
};

/* "every" is not met by an element that lacks what is asked for. */
static void tally_node(void *ctx, const struct json *doc, uint32_t node)
{
	struct tally *t = ctx;

	if (node == JSON_NONE) {
		t->seen += t->c->every && t->c->test != TEST_ABSENT;
		return;
	}
	t->seen++;
	t->passed += node_passes(t->c, doc, node);
}

static bool json_holds(const struct cond *c, const struct cond_world *w)
{
	struct tally t = {c, 0, 0};

	if (w->doc)
		json_walk(w->doc, w->item, c->at, tally_node, &t);
	if (c->test == TEST_ABSENT)
		return w->doc && !t.seen;
	return c->every ? t.seen && t.passed == t.seen : t.passed > 0;
}

static bool xpath_holds(const struct cond *c, const struct cond_world *w)
{
	struct xml *xml = world_xml(w);
	struct buf text = BUF_INIT;
	struct xml_found found;
	size_t passed = 0, seen;

	if (!xml)
		return false;
	xml_find(xml, c->path, w->xml_item, &found);
	seen = found.n;
	for (size_t i = 0; i < seen && c->test != TEST_ABSENT; i++) {
		buf_clear(&text);
		xml_found_text(&found, i, &text);
		passed += text_passes(c, buf_span(&text));
		if (passed && !c->every)
			break;
	}
	xml_found_release(&found);
	buf_release(&text);
	if (c->test == TEST_ABSENT)
		return !seen && !xml_spoiled(xml);
	return c->every ? seen && passed == seen : passed > 0;
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

static bool column_holds(const struct cond *c, const struct cond_world *w)
{
	size_t i = w->csv ? csv_column(w->csv, c->at) : CSV_NONE;

	return i != CSV_NONE && text_passes(c, csv_field(&w->csv->row, i));
}

/* By the separator under which the head has that column. */
static bool csv_with(struct csv *csv, struct span text, const char *column)
{
	for (const char *separator = ",;\t|"; *separator; separator++) {
		if (csv_open(csv, text, *separator) &&
		    csv_column(csv, column) != CSV_NONE)
			return true;
		csv_close(csv);
	}
	return false;
}

/* Any whole row; with "every" each of them, of a log that is whole itself. */
static bool csv_holds(const struct cond *c, const struct cond_world *w)
{
	size_t seen = 0, passed = 0, at;
	struct csv csv;
	bool sound;

	if (answer_body_kind(w->answer, w->doc) != BODY_TEXT)
		return false;
	if (!csv_with(&csv, w->answer->body, c->at))
		return c->test == TEST_ABSENT;
	at = csv_column(&csv, c->at);
	for (sound = true; csv_next(&csv); seen++) {
		sound = sound && csv_whole(&csv);
		passed += csv_whole(&csv) &&
			text_passes(c, csv_field(&csv.row, at));
	}
	sound = sound && !csv.broken;
	csv_close(&csv);
	return c->every ? sound && seen && passed == seen : passed > 0;
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
	[BODY_TEXT] = "text", [BODY_XML] = "xml",
};

/* How often a separator stands in the first line of s, which is taken off. */
static size_t separators(struct span *s, char c)
{
	const char *end = s->n ? memchr(s->p, '\n', s->n) : NULL;
	size_t length = end ? (size_t)(end - s->p) : s->n, n = 0;

	for (size_t i = 0; i < length; i++)
		n += s->p[i] == c;
	s->p += length + (end ? 1 : 0);
	s->n -= length + (end ? 1 : 0);
	return n;
}

/* By its Content-Type, or by two lines of as many fields. */
static bool is_csv(const struct answer *answer)
{
	struct span type = answer_header(answer, "Content-Type");

	if (starts_folded(type, "text/csv") ||
	    starts_folded(type, "application/csv"))
		return true;
	for (const char *c = ",;\t"; *c; c++) {
		struct span s = body_text(answer);
		size_t first = separators(&s, *c);

		if (first && s.n && separators(&s, *c) == first)
			return true;
	}
	return false;
}

static bool body_holds(const struct cond *c, const struct cond_world *w)
{
	enum body_kind kind = answer_body_kind(w->answer, w->doc);

	/* What only begins like XML is text. */
	if (kind == BODY_XML && !world_xml(w))
		kind = BODY_TEXT;
	if (value_in(c, span_of(body_name[kind])))
		return true;
	if (kind == BODY_TEXT)
		return value_in(c, SPAN("csv")) && is_csv(w->answer);
	return w->doc && value_in(c, span_of(type_name[json_type(w->doc, 0)]));
}

/* "text/xml", "text/" + "*", "+json": without parameters, whatever case. */
static bool type_is(struct span type, const char *want)
{
	size_t n = strlen(want);

	if (want[0] == '+')
		return type.n > n && !strncasecmp(type.p + type.n - n, want, n);
	if (n > 2 && !strcmp(want + n - 2, "/*"))
		return type.n > n - 1 && !strncasecmp(type.p, want, n - 1);
	return type.n == n && !strncasecmp(type.p, want, n);
}

static bool content_type_holds(const struct cond *c,
			       const struct answer *answer)
{
	struct span type = answer_header(answer, "Content-Type");
	const char *semicolon = type.n ? memchr(type.p, ';', type.n) : NULL;

	if (semicolon)
		type.n = (size_t)(semicolon - type.p);
	type = place_trim(type);
	for (size_t i = 0; i < c->values_n; i++)
		if (type_is(type, c->values[i]))
			return true;
	return false;
}

static void count_node(void *ctx, const struct json *doc, uint32_t node)
{
	int64_t *n = ctx;

	if (node == JSON_NONE)
		return;
	*n += json_is(doc, node, JSON_ARRAY) ? doc->node[node].kids : 1;
}

static const struct json *payload_json(const struct cond_world *w)
{
	struct payload_lazy *sent = w->sent;

	if (sent->json_tried)
		return sent->json;
	sent->json_tried = true;
	sent->json = xcalloc(1, sizeof(*sent->json));
	if (json_parse(sent->json, w->payload.p, w->payload.n, 0))
		return sent->json;
	json_release(sent->json);
	free(sent->json);
	return sent->json = NULL;
}

static struct xml *payload_xml(const struct cond_world *w)
{
	struct payload_lazy *sent = w->sent;

	if (!sent->xml_tried)
		sent->xml = xml_open(w->payload, w->xml ? w->xml->names : NULL,
				     NULL);
	sent->xml_tried = true;
	return sent->xml;
}

void payload_lazy_release(struct payload_lazy *sent)
{
	if (sent->json)
		json_release(sent->json);
	free(sent->json);
	xml_free(sent->xml);
	*sent = (struct payload_lazy){0};
}

/* Items of the payload; -1: it is not known or not readable. */
static int64_t count_sent(const struct count_of *of,
			  const struct cond_world *w)
{
	const struct json *doc;
	struct xml_found found;
	struct xml *xml;
	int64_t n = 0;

	if (!w->payload.p || !w->sent)
		return -1;
	if (of->sent) {
		doc = payload_json(w);
		if (doc)
			json_walk(doc, 0, of->sent, count_node, &n);
		return doc ? n : -1;
	}
	xml = payload_xml(w);
	if (!xml)
		return -1;
	xml_find(xml, of->sent_path, NULL, &found);
	n = xml_spoiled(xml) ? -1 : (int64_t)found.n;
	xml_found_release(&found);
	return n;
}

/* A number, or the elements of a list (ids of what was taken). */
static bool count_answered(const struct sources *answer,
			   const struct cond_world *w, double *out)
{
	struct buf text = BUF_INIT;
	bool ok = sources_find(answer, w, &text) &&
		text_number(buf_span(&text), out);

	buf_release(&text);
	for (size_t i = 0; i < answer->n && !ok && w->doc; i++) {
		uint32_t list = answer->v[i].kind == SOURCE_JSON ?
			json_pointer(w->doc, w->item,
				     span_of(answer->v[i].at)) : JSON_NONE;

		ok = json_is(w->doc, list, JSON_ARRAY);
		if (ok)
			*out = w->doc->node[list].kids;
	}
	return ok;
}

static bool count_holds(const struct cond *c, const struct cond_world *w)
{
	int64_t sent = count_sent(c->count, w);
	const char *word = "unknown";
	double answered;

	if (sent >= 0 && count_answered(&c->count->answer, w, &answered))
		word = answered < (double)sent ? "less" :
			answered > (double)sent ? "more" : "equal";
	return value_in(c, span_of(word));
}

static bool items_hold(const struct cond *c, const struct cond_world *w)
{
	if (!w->levels || !w->items)
		return false;
	items_find(w->levels, w, w->items);
	return value_in(c, span_of(items_word(w->items)));
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
		return json_holds(c, w);
	case COND_XPATH:
		return xpath_holds(c, w);
	case COND_HEADER:
		return header_holds(c, w->answer);
	case COND_COLUMN:
		return column_holds(c, w);
	case COND_CSV:
		return csv_holds(c, w);
	case COND_TEXT:
		return text_passes(c, body_text(w->answer));
	case COND_METHOD:
		return value_in(c, span_of(w->method));
	case COND_BODY:
		return body_holds(c, w);
	case COND_MODE:
		return value_in(c, span_of(idem_mode_name(w->mode)));
	case COND_CONTENT_TYPE:
		return content_type_holds(c, w->answer);
	case COND_COUNT:
		return count_holds(c, w);
	case COND_ITEMS:
		return items_hold(c, w);
	}
	return false;
}

bool cond_asks(const struct cond *c)
{
	switch (c->kind) {
	case COND_STATUS:
	case COND_METHOD:
	case COND_MODE:
	case COND_BODY:
		return false;
	case COND_ALL:
	case COND_ANY:
	case COND_NOT:
		for (size_t i = 0; i < c->kids_n; i++)
			if (cond_asks(&c->kids[i]))
				return true;
		return false;
	default:
		return true;
	}
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
	regex_release(c->regex);
	xml_path_free(c->path);
	if (c->count) {
		free(c->count->sent);
		xml_path_free(c->count->sent_path);
		sources_release(&c->count->answer);
		free(c->count);
	}
	*c = (struct cond){0};
}

void text_list_release(struct text_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i]);
	free(list->v);
	*list = (struct text_list){0};
}
