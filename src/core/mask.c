#include "core/mask.h"
#include "core/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES_MAX 66		/* a word of 64, quoted */

/* What is left of a pattern below the node that its beginning led to; "":
 * this node is the one. */
struct live {
	const char *rest;
	enum { SHOWN, SECRET, BLINDED } what;
};

/* Walking a document and writing it without its values. */
struct masking {
	const struct json *doc;
	struct buf *out;
	size_t out_max;			/* stop writing beyond this */
	int indent;			/* -1: on one line */
	struct live *live;		/* a stack: each node's above those of
					 * the node around it */
	size_t live_n, live_max;
	struct buf segment;		/* scratch */
};

/* Of the patterns that one node has to do with. */
struct frame {
	size_t from, to;
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

/* "key": as it stands in the document, escapes and all. */
static void put_key(struct masking *m, struct span key)
{
	struct buf *out = m->out;
	char *p;

	buf_reserve(out, key.n + 4);
	p = out->p + out->len;
	*p++ = '"';
	for (size_t i = 0; i < key.n; i++)
		*p++ = key.p[i];
	*p++ = '"';
	*p++ = ':';
	if (m->indent >= 0)
		*p++ = ' ';
	*p = 0;
	out->len = (size_t)(p - out->p);
}

static void add_live(struct masking *m, const char *rest, int what)
{
	if (m->live_n == m->live_max) {
		m->live_max = m->live_max ? 2 * m->live_max : 32;
		m->live = xrealloc(m->live, m->live_max * sizeof(*m->live));
	}
	m->live[m->live_n].rest = rest;
	m->live[m->live_n++].what = what;
}

static void add_list(struct masking *m, const struct text_list *list, int what)
{
	for (size_t i = 0; i < list->n; i++)
		add_live(m, list->v[i], what);
}

static struct frame all_patterns(struct masking *m, const struct profile *p)
{
	if (p) {
		add_list(m, &p->show, SHOWN);
		add_list(m, &p->secret, SECRET);
		add_list(m, &p->blinded, BLINDED);
	}
	return (struct frame){0, m->live_n};
}

static void masking_release(struct masking *m)
{
	free(m->live);
	buf_release(&m->segment);
}

/* NULL = may show; else what stands in its place. */
static const char *cover(const struct masking *m, struct frame f, bool scalar)
{
	int what = -1;

	for (size_t i = f.from; i < f.to; i++)
		if (!m->live[i].rest[0] && (int)m->live[i].what > what)
			what = m->live[i].what;
	return what == BLINDED ? "(blinded)" : what == SECRET ? "(secret)" :
		what == SHOWN || !scalar ? NULL : "***";
}

static void newline(struct masking *m, int depth)
{
	if (m->indent < 0)
		return;
	buf_addc(m->out, '\n');
	for (int i = 0; i < depth * m->indent; i++)
		buf_addc(m->out, ' ');
}

/* A key as a pointer has it (RFC 6901). */
static struct span key_segment(struct masking *m, uint32_t kid)
{
	const struct json_node *n = &m->doc->node[kid];
	struct span key = {m->doc->text + n->key, n->key_len};
	struct buf text = BUF_INIT;
	bool plain = !n->key_escaped;

	for (size_t i = 0; i < key.n && plain; i++)
		plain = key.p[i] != '~' && key.p[i] != '/';
	if (plain)
		return key;
	json_key(m->doc, kid, &text);
	buf_clear(&m->segment);
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] == '~' || text.p[i] == '/')
			buf_adds(&m->segment, text.p[i] == '~' ? "~0" : "~1");
		else
			buf_addc(&m->segment, text.p[i]);
	buf_release(&text);
	return buf_span(&m->segment);
}

static struct span index_segment(struct masking *m, int index)
{
	buf_clear(&m->segment);
	buf_addi(&m->segment, index);
	return buf_span(&m->segment);
}

/* The patterns that go on below this element or member; "*" takes any. */
static struct frame step_into(struct masking *m, struct frame f, uint32_t kid,
			      bool member, int index)
{
	struct span segment = {NULL, 0};
	size_t from = m->live_n;

	for (size_t i = f.from; i < f.to; i++) {
		const char *p = m->live[i].rest, *end;

		if (*p++ != '/')
			continue;
		for (end = p; *end && *end != '/'; )
			end++;
		if (end != p + 1 || *p != '*') {
			if (!segment.p)
				segment = member ? key_segment(m, kid) :
					index_segment(m, index);
			if (!span_eq(segment, (struct span){p,
						(size_t)(end - p)}))
				continue;
		}
		add_live(m, end, m->live[i].what);
	}
	return (struct frame){from, m->live_n};
}

/* A sentence where a code or a state was expected may name a patient. */
static bool prose(struct span raw)
{
	return raw.n > SHOWN_BYTES_MAX || memchr(raw.p, ' ', raw.n) ||
		memchr(raw.p, '\\', raw.n);
}

static void masked(struct masking *m, uint32_t node, int depth,
		   struct frame);

static void container(struct masking *m, uint32_t node, int depth,
		      struct frame f)
{
	bool object = json_is(m->doc, node, JSON_OBJECT);
	int index = 0;

	put(m->out, object ? "{" : "[", 1);
	for (uint32_t kid = json_child(m->doc, node);
	     kid != JSON_NONE && m->out->len <= m->out_max;
	     kid = json_next(m->doc, kid), index++) {
		if (index)
			put(m->out, ",", 1);
		newline(m, depth + 1);
		if (object) {
			const struct json_node *n = &m->doc->node[kid];

			put_key(m, (struct span){m->doc->text + n->key,
						 n->key_len});
		}
		masked(m, kid, depth + 1,
		       step_into(m, f, kid, object, index));
		m->live_n = f.to;
	}
	if (index)
		newline(m, depth);
	put(m->out, object ? "}" : "]", 1);
}

static void masked(struct masking *m, uint32_t node, int depth,
		   struct frame f)
{
	bool scalar = !json_is(m->doc, node, JSON_OBJECT) &&
		!json_is(m->doc, node, JSON_ARRAY);
	const char *instead = cover(m, f, scalar);

	if (m->out->len > m->out_max)
		return;
	if (instead)
		put(m->out, instead, strlen(instead));
	else if (scalar && prose(json_raw(m->doc, node)))
		put(m->out, "***", 3);
	else if (scalar)
		buf_addspan(m->out, json_raw(m->doc, node));
	else
		container(m, node, depth, f);
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
	struct masking m = {.doc = doc, .out = &text, .indent = -1,
			    .out_max = LIMIT_EXCERPT_BYTES};

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
	masked(&m, 0, 0, all_patterns(&m, profile));
	if (!plain(buf_span(&text)))
		utf8_escape(&shown, buf_span(&text), false);
	if (!text_set(out, LIMIT_EXCERPT_BYTES + 1,
		      buf_span(shown.len ? &shown : &text))) {
		size_t at = strlen(out) - 3;

		while (at && (out[at] & 0xc0) == 0x80)
			at--;
		memcpy(out + at, "...", 4);
	}
	masking_release(&m);
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
	struct masking m = {.doc = &doc, .out = &text, .indent = 2,
			    .out_max = SIZE_MAX};
	struct span rest;

	if (!json_parse(&doc, payload.p, payload.n, 0)) {
		buf_addf(out, "(%zu bytes, not JSON)", payload.n);
		json_release(&doc);
		return;
	}
	masked(&m, 0, 0, all_patterns(&m, profile));
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
	masking_release(&m);
	buf_release(&text);
	json_release(&doc);
}
