#include "core/mask.h"
#include "core/utf8.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_BYTES_MAX 66		/* a word of 64, quoted */

/* Walking a document and writing it without its values. */
struct masking {
	const struct profile *profile;
	const struct json *doc;
	struct buf *out;
	struct buf pointer;		/* of the node, RFC 6901 escaped */
	size_t out_max;			/* stop writing beyond this */
	int indent;			/* -1: on one line */
};

/* Into what was reserved; most pieces are a few bytes long. */
static inline void put(struct buf *out, const char *p, size_t n)
{
	if (out->cap - out->len <= n) {
		buf_add(out, p, n);
		return;
	}
	memcpy(out->p + out->len, p, n);
	out->len += n;
	out->p[out->len] = 0;
}

static bool listed(const struct text_list *list, struct span pointer)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *pattern = list->v[i];

		/* Most differ in their first letter. */
		if (pointer.n > 1 && pattern[0] && pattern[1] != '*' &&
		    pattern[1] != pointer.p[1])
			continue;
		if (pointer_matches(pattern, pointer))
			return true;
	}
	return false;
}

/* NULL = may show; else what stands in its place. */
static const char *cover(const struct masking *m, bool scalar)
{
	const struct profile *p = m->profile;
	struct span at = buf_span(&m->pointer);

	if (p && p->blinded.n && listed(&p->blinded, at))
		return "(blinded)";
	if (p && p->secret.n && listed(&p->secret, at))
		return "(secret)";
	if (!scalar || (p && listed(&p->show, at)))
		return NULL;
	return "***";
}

static void newline(struct masking *m, int depth)
{
	if (m->indent < 0)
		return;
	buf_addc(m->out, '\n');
	for (int i = 0; i < depth * m->indent; i++)
		buf_addc(m->out, ' ');
}

static void push(struct masking *m, uint32_t kid, bool member, int index)
{
	size_t from;

	put(&m->pointer, "/", 1);
	if (!member) {
		buf_addi(&m->pointer, index);
		return;
	}
	from = m->pointer.len;
	if (m->doc->node[kid].key_escaped)
		json_key(m->doc, kid, &m->pointer);
	else
		put(&m->pointer, m->doc->text + m->doc->node[kid].key,
		    m->doc->node[kid].key_len);
	if (!memchr(m->pointer.p + from, '~', m->pointer.len - from) &&
	    !memchr(m->pointer.p + from, '/', m->pointer.len - from))
		return;
	for (size_t i = from; i < m->pointer.len; i++) {
		char c = m->pointer.p[i];

		if (c != '~' && c != '/')
			continue;
		buf_addc(&m->pointer, 0);
		memmove(m->pointer.p + i + 2, m->pointer.p + i + 1,
			m->pointer.len - i - 2);
		m->pointer.p[i] = '~';
		m->pointer.p[++i] = c == '~' ? '0' : '1';
	}
}

/* A sentence where a code or a state was expected may name a patient. */
static bool prose(struct span raw)
{
	return raw.n > SHOWN_BYTES_MAX || memchr(raw.p, ' ', raw.n) ||
		memchr(raw.p, '\\', raw.n);
}

static void masked(struct masking *m, uint32_t node, int depth);

static void container(struct masking *m, uint32_t node, int depth)
{
	bool object = json_is(m->doc, node, JSON_OBJECT);
	int index = 0;

	put(m->out, object ? "{" : "[", 1);
	for (uint32_t kid = json_child(m->doc, node);
	     kid != JSON_NONE && m->out->len <= m->out_max;
	     kid = json_next(m->doc, kid), index++) {
		size_t from = m->pointer.len;

		if (index)
			put(m->out, ",", 1);
		newline(m, depth + 1);
		if (object) {
			const struct json_node *n = &m->doc->node[kid];

			put(m->out, "\"", 1);
			put(m->out, m->doc->text + n->key, n->key_len);
			put(m->out, "\": ", m->indent < 0 ? 2 : 3);
		}
		push(m, kid, object, index);
		masked(m, kid, depth + 1);
		m->pointer.len = from;
		m->pointer.p[from] = 0;
	}
	if (index)
		newline(m, depth);
	put(m->out, object ? "}" : "]", 1);
}

static void masked(struct masking *m, uint32_t node, int depth)
{
	bool scalar = !json_is(m->doc, node, JSON_OBJECT) &&
		!json_is(m->doc, node, JSON_ARRAY);
	const char *instead = cover(m, scalar);

	if (m->out->len > m->out_max)
		return;
	if (instead)
		put(m->out, instead, strlen(instead));
	else if (scalar && prose(json_raw(m->doc, node)))
		put(m->out, "***", 3);
	else if (scalar)
		buf_addspan(m->out, json_raw(m->doc, node));
	else
		container(m, node, depth);
}

/* Printable ASCII that no escape could be read into: the common case. */
static bool plain(struct span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < 0x20 || s.p[i] > 0x7e || s.p[i] == '\\')
			return false;
	return true;
}

void mask_excerpt_doc(const struct profile *profile, const struct json *doc,
		      struct span body, char out[LIMIT_EXCERPT_BYTES + 1])
{
	struct buf text = BUF_INIT, shown = BUF_INIT;
	struct masking m = {profile, doc, &text, BUF_INIT,
			    LIMIT_EXCERPT_BYTES, -1};

	if (!doc) {
		/* Prose may name a patient: only its kind and size show. */
		snprintf(out, LIMIT_EXCERPT_BYTES + 1, "%s",
			 body.n ? "" : "(empty)");
		if (body.n)
			snprintf(out, LIMIT_EXCERPT_BYTES + 1,
				 "(%zu bytes, not JSON)", body.n);
		return;
	}
	buf_reserve(&text, LIMIT_EXCERPT_BYTES + 64);
	buf_reserve(&m.pointer, 128);
	masked(&m, 0, 0);
	if (!plain(buf_span(&text)))
		utf8_escape(&shown, buf_span(&text), false);
	if (!text_set(out, LIMIT_EXCERPT_BYTES + 1,
		      buf_span(shown.len ? &shown : &text))) {
		size_t at = strlen(out) - 3;

		while (at && (out[at] & 0xc0) == 0x80)
			at--;
		memcpy(out + at, "...", 4);
	}
	buf_release(&m.pointer);
	buf_release(&text);
	buf_release(&shown);
}

void mask_excerpt(const struct profile *profile, struct span body,
		  char out[LIMIT_EXCERPT_BYTES + 1])
{
	struct json doc = {0};
	bool read = json_parse(&doc, body.p, body.n, JSON_TOLERANT);

	mask_excerpt_doc(profile, read ? &doc : NULL, body, out);
	json_release(&doc);
}

void mask_payload(const struct profile *profile, struct span payload,
		  struct buf *out)
{
	struct buf text = BUF_INIT;
	struct json doc = {0};
	struct masking m = {profile, &doc, &text, BUF_INIT, SIZE_MAX, 2};
	struct span rest;

	if (!json_parse(&doc, payload.p, payload.n, 0)) {
		buf_addf(out, "(%zu bytes, not JSON)", payload.n);
		json_release(&doc);
		return;
	}
	masked(&m, 0, 0);
	/* Line by line: our own line breaks stay, foreign ones are escaped. */
	rest = buf_span(&text);
	while (rest.n) {
		const char *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;

		utf8_escape(out, (struct span){rest.p, n}, false);
		if (end)
			buf_addc(out, '\n');
		rest.p += n + (end ? 1 : 0);
		rest.n -= n + (end ? 1 : 0);
	}
	buf_release(&m.pointer);
	buf_release(&text);
	json_release(&doc);
}
