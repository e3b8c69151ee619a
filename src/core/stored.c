/* What is stored and sent instead of a payload: our tag in it, a body around
 * it. See request.h. */
#include "core/body.h"
#include "core/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The value at the pointer's end, in all that has to be made around it. */
static void made(struct buf *out, const char *pointer, const char *op_id,
		 bool single)
{
	struct buf end = BUF_INIT;	/* of what was opened, backwards */
	bool list = false;

	while (*pointer) {
		struct span segment = {pointer + 1, strcspn(pointer + 1, "/")};
		struct span name, word;

		pointer += 1 + segment.n;
		if (seek_parts(segment, &name, &word)) {
			buf_adds(out, single ? "{" : "[{");
			json_quote(out, name);
			buf_addc(out, ':');
			json_quote(out, word);
			buf_addc(out, ',');
			if (!single)
				buf_addc(&end, ']');
			buf_addc(&end, '}');
			list = true;
			continue;
		}
		if (!list)
			buf_addc(out, '{');
		if (!list)
			buf_addc(&end, '}');
		json_quote(out, segment);
		buf_addc(out, ':');
		list = false;
	}
	json_quote(out, span_of(op_id));
	while (end.len)
		buf_addc(out, end.p[--end.len]);
	buf_release(&end);
}

/* Goes in right behind the first brace, so that no other byte moves: what
 * was made stands without its own outer brace or bracket. */
static void splice_at(const struct json *doc, uint32_t node,
		      const char *pointer, const char *op_id, bool single,
		      struct buf *out)
{
	struct buf text = BUF_INIT;
	struct span raw = json_raw(doc, node);
	size_t at = (size_t)(raw.p - doc->text) + 1;

	made(&text, pointer, op_id, single);
	assert(text.len > 2);
	if (json_child(doc, node) != JSON_NONE)
		text.p[text.len - 1] = ',';
	else
		text.len--;
	buf_add(out, doc->text, at);
	buf_add(out, text.p + 1, text.len - 1);
	buf_add(out, doc->text + at, doc->len - at);
	buf_release(&text);
}

/* Down as far as the payload has it; the rest is made. */
static bool splice(const struct json *doc, const char *pointer, bool single,
		   const char *op_id, struct buf *out, struct buf *error)
{
	uint32_t node = 0;

	while (json_is(doc, node, JSON_OBJECT) ||
	       (!single && json_is(doc, node, JSON_ARRAY) &&
		pointer[1] == '[')) {
		char *step = xstrndup(pointer, strcspn(pointer + 1, "/") + 1);
		size_t n = strlen(step);
		uint32_t kid = json_seek(doc, node, step);

		free(step);
		if (json_is(doc, node, JSON_OBJECT) && pointer[1] == '[' &&
		    kid == JSON_NONE)
			break;
		if (kid == JSON_NONE) {
			splice_at(doc, node, pointer, op_id, single, out);
			return true;
		}
		if (!pointer[n]) {
			buf_addf(error, "the payload has a value where the "
				 "profile puts its tag already");
			return false;
		}
		node = kid;
		pointer += n;
	}
	buf_adds(error, node ? "the payload has another kind of value on the "
		 "way to the profile's tag" : "the profile puts its tag into a "
		 "JSON object, and the payload is none");
	return false;
}

bool request_splice_tag(const struct profile *p, struct span payload,
			const char *op_id, struct buf *out, struct buf *error)
{
	struct json doc = {0};
	struct answer none = {0};
	struct cond_world w = {.answer = &none, .doc = &doc, .method = "POST"};
	bool ok;

	assert(p->tag_pointer && p->tag_pointer[0] == '/');
	ok = json_parse(&doc, payload.p, payload.n, 0);
	if (!ok)
		buf_addf(error, "the profile puts its tag into a JSON object, "
			 "and the payload is none: %s", doc.error.text);
	else
		ok = splice(&doc, p->tag_pointer, p->tag_single &&
			    cond_holds(p->tag_single, &w), op_id, out, error);
	json_release(&doc);
	return ok;
}

bool type_is_xml(const char *type)
{
	size_t n = type ? strcspn(type, "; \t") : 0;

	return (n == 15 && !strncasecmp(type, "application/xml", n)) ||
		(n == 8 && !strncasecmp(type, "text/xml", n)) ||
		(n > 4 && !strncasecmp(type + n - 4, "+xml", 4));
}

/* A profile that tags XML alone leaves JSON as it is, and the other way
 * round nothing else than JSON can be tagged. */
static bool tagged(const struct profile *p, const struct op *op,
		   const char *type, struct span payload, struct buf *out,
		   struct buf *error)
{
	if (p->tag_attribute && type_is_xml(type))
		return xml_splice_attribute(payload, p->tag_root,
					    p->tag_attribute, op->op_id, out,
					    error);
	if (!p->tag_pointer)
		return true;
	return request_splice_tag(p, payload, op->op_id, out, error);
}

bool request_stored(const struct profile *p, const struct op *op,
		    const char *type, struct span payload, struct buf *out,
		    struct buf *error)
{
	struct buf tag = BUF_INIT;
	bool ok = tagged(p, op, type, payload, &tag, error);

	if (ok && p->body.kind == BUILD_RAW)
		buf_addspan(out, buf_span(&tag));
	else if (ok)
		ok = body_build(&p->body, op, tag.len ? buf_span(&tag) :
				payload, out, error);
	buf_release(&tag);
	return ok;
}
