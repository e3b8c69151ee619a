/* The reader: any bytes, any options; first byte = options. */
#include <string.h>

#include "core/json.h"
#include "core/limits.h"
#include "tests/fuzz/fuzz.h"

/* A node lies inside its parent, behind its elder; a scalar's own bytes are
 * a document of the same type. */
static void node_check(const struct json *doc, uint32_t at, uint32_t parent,
		       unsigned options)
{
	const struct json_node *n = &doc->node[at];
	struct span raw = json_raw(doc, at);
	struct json one = {0};

	PROMISE(n->start < n->end && n->end <= doc->len);
	if (parent != JSON_NONE) {
		PROMISE(n->start > doc->node[parent].start);
		PROMISE(n->end < doc->node[parent].end);
	}
	if (n->next)
		PROMISE(doc->node[n->next].start > n->end - 1);
	if (n->type == JSON_ARRAY || n->type == JSON_OBJECT)
		return;
	PROMISE(n->kids == 0);
	PROMISE(json_parse(&one, raw.p, raw.n, options));
	PROMISE(one.n == 1 && one.node[0].type == n->type);
	json_release(&one);
}

static void texts_check(const struct json *doc, uint32_t at)
{
	struct buf text = BUF_INIT, quoted = BUF_INIT, back = BUF_INIT;
	struct json one = {0};
	double d;
	int64_t i;

	if (json_string(doc, at, &text)) {
		json_quote(&quoted, buf_span(&text));
		fuzz_ascii(buf_text(&quoted));
		PROMISE(json_parse(&one, quoted.p, quoted.len, JSON_PYTHON));
		PROMISE(json_string(&one, 0, &back));
		PROMISE(span_eq(buf_span(&text), buf_span(&back)));
	}
	if (json_int(doc, at, &i))
		PROMISE(json_double(doc, at, &d));
	json_release(&one);
	buf_release(&text);
	buf_release(&quoted);
	buf_release(&back);
}

static void members_check(const struct json *doc, uint32_t object,
			  unsigned options)
{
	uint32_t n = doc->node[object].kids;
	uint32_t *sorted = xmalloc((n + 1) * sizeof(*sorted));

	json_sort_members(doc, object, sorted);
	for (uint32_t i = 1; i < n; i++) {
		int order = json_key_cmp(doc, sorted[i - 1], sorted[i]);

		PROMISE(order < 0 || (order == 0 && options & JSON_PYTHON &&
				      sorted[i - 1] < sorted[i]));
	}
	free(sorted);
}

static void kids_check(const struct json *doc, uint32_t at, unsigned options)
{
	uint32_t kids = 0, kid;

	for (kid = json_child(doc, at); kid != JSON_NONE;
	     kid = json_next(doc, kid)) {
		node_check(doc, kid, at, options);
		texts_check(doc, kid);
		kids++;
	}
	PROMISE(kids == doc->node[at].kids);
	if (json_is(doc, at, JSON_OBJECT))
		members_check(doc, at, options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	unsigned options = n ? data[0] & 7u : 0;
	const char *text = (const char *)data + (n ? 1 : 0);
	struct json doc = {0};

	n -= n > 0;
	if (json_parse(&doc, text, n, options)) {
		node_check(&doc, 0, JSON_NONE, options);
		texts_check(&doc, 0);
		for (uint32_t at = 0; at < doc.n; at++)
			kids_check(&doc, at, options);
		json_pointer(&doc, 0, (struct span){text, n});
	} else {
		PROMISE(doc.n == 0 && doc.error.text[0]);
		PROMISE(doc.error.offset <= n && doc.error.line >= 1 &&
			doc.error.column >= 1);
		fuzz_ascii(doc.error.text);
	}
	json_release(&doc);
	return 0;
}
