#define _GNU_SOURCE			/* memmem */
#include "core/body.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/hash.h"
#include "core/request.h"
#include "core/utf8.h"

/* An op_id may hold what a boundary may not. The same on every attempt. */
static void boundary_add(const struct op *op, struct buf *out)
{
	sha256_hex hex;

	hash_sha256_hex(span_of(op->op_id), hex);
	buf_addf(out, "edcsync-%.32s", hex);
}

static void part_head(const struct body_field *f, const struct op *op,
		      struct buf *out)
{
	buf_adds(out, "--");
	boundary_add(op, out);
	buf_addf(out, "\r\nContent-Disposition: form-data; name=\"%s\"",
		 f->name);
	if (f->filename)
		buf_addf(out, "; filename=\"%s\"", f->filename);
	if (f->content_type)
		buf_addf(out, "\r\nContent-Type: %s", f->content_type);
	buf_adds(out, "\r\n\r\n");
}

/* One field as its kind has it; first: no separator before it. */
static void field_add(enum body_build kind, const struct body_field *f,
		      const struct op *op, struct span value, bool first,
		      struct buf *out)
{
	switch (kind) {
	case BUILD_FORM:
		if (!first)
			buf_addc(out, '&');
		url_form_encode(out, span_of(f->name));
		buf_addc(out, '=');
		url_form_encode(out, value);
		break;
	case BUILD_MULTIPART:
		part_head(f, op, out);
		buf_addspan(out, value);
		buf_adds(out, "\r\n");
		break;
	case BUILD_JSON_STRING:
		buf_adds(out, first ? "" : ",");
		json_quote(out, span_of(f->name));
		buf_addc(out, ':');
		json_quote(out, value);
		break;
	case BUILD_RAW:
		break;
	}
}

static bool payload_fits(enum body_build kind, const struct op *op,
			 struct span payload, struct buf *error)
{
	struct buf mark = BUF_INIT;
	bool fits = true;

	if (kind == BUILD_JSON_STRING &&
	    (!utf8_valid(payload) ||
	     (payload.n && memchr(payload.p, 0, payload.n)))) {
		buf_adds(error, "the profile sends the payload as a JSON "
			 "text, and it is not UTF-8 without NUL");
		return false;
	}
	if (kind == BUILD_MULTIPART && payload.n) {
		boundary_add(op, &mark);
		fits = !memmem(payload.p, payload.n, mark.p, mark.len);
	}
	if (!fits)
		buf_adds(error, "the payload holds the boundary that would "
			 "part it from the rest of the body");
	buf_release(&mark);
	return fits;
}

bool body_build(const struct body_template *b, const struct op *op,
		struct span payload, struct buf *out, struct buf *error)
{
	bool first = true;

	if (b->kind == BUILD_RAW) {
		buf_addspan(out, payload);
		return true;
	}
	if (!payload_fits(b->kind, op, payload, error))
		return false;
	if (b->kind == BUILD_JSON_STRING)
		buf_addc(out, '{');
	for (size_t i = 0; i < b->n; i++) {
		struct buf value = BUF_INIT;
		bool ok;

		if (b->v[i].secret)
			continue;
		ok = request_text(b->v[i].value, op, payload, &value, error);
		if (ok)
			field_add(b->kind, &b->v[i], op, buf_span(&value),
				  first, out);
		buf_release(&value);
		if (!ok)
			return false;
		first = false;
	}
	if (b->kind == BUILD_JSON_STRING)
		buf_addc(out, '}');
	if (b->kind == BUILD_MULTIPART) {
		buf_adds(out, "--");
		boundary_add(op, out);
		buf_adds(out, "--\r\n");
	}
	return true;
}

static const struct body_field *payload_field(const struct body_template *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (!strcmp(b->v[i].value, "{payload}"))
			return &b->v[i];
	return NULL;
}

static struct span form_payload(const struct body_field *f, struct span sent,
				struct buf *own)
{
	struct buf name = BUF_INIT;

	url_form_encode(&name, span_of(f->name));
	buf_addc(&name, '=');
	while (sent.n) {
		const char *end = memchr(sent.p, '&', sent.n);
		struct span field = {sent.p, end ? (size_t)(end - sent.p) :
				     sent.n};

		if (span_starts(field, buf_text(&name))) {
			field.p += name.len;
			field.n -= name.len;
			buf_release(&name);
			buf_reserve(own, field.n + 1);
			url_form_decode(own, field);
			return buf_span(own);
		}
		sent.p += field.n + (end ? 1 : 0);
		sent.n -= field.n + (end ? 1 : 0);
	}
	buf_release(&name);
	return (struct span){NULL, 0};
}

static struct span part_payload(const struct body_field *f,
				const struct op *op, struct span sent)
{
	struct buf head = BUF_INIT, mark = BUF_INIT;
	const char *from, *end, *to = NULL;

	part_head(f, op, &head);
	from = memmem(sent.p, sent.n, head.p, head.len);
	if (from) {
		from += head.len;
		buf_adds(&mark, "\r\n--");
		boundary_add(op, &mark);
		end = sent.p + sent.n;
		to = memmem(from, (size_t)(end - from), mark.p, mark.len);
	}
	buf_release(&head);
	buf_release(&mark);
	return to ? (struct span){from, (size_t)(to - from)} :
		(struct span){NULL, 0};
}

static struct span member_payload(const struct body_field *f,
				  struct span sent, struct buf *own)
{
	struct json doc = {0};
	bool ok = json_parse(&doc, sent.p, sent.n, 0);

	buf_reserve(own, 1);
	ok = ok && json_string(&doc, json_get(&doc, 0, f->name), own);
	json_release(&doc);
	return ok ? buf_span(own) : (struct span){NULL, 0};
}

struct span body_payload(const struct body_template *b, const struct op *op,
			 struct span sent, struct buf *own)
{
	const struct body_field *f = payload_field(b);

	if (b->kind == BUILD_RAW)
		return sent;
	if (!f)
		return (struct span){NULL, 0};
	if (b->kind == BUILD_FORM)
		return form_payload(f, sent, own);
	if (b->kind == BUILD_MULTIPART)
		return part_payload(f, op, sent);
	return member_payload(f, sent, own);
}

const char *body_raw_type(const struct profile *p, const struct op *op,
			  struct span payload)
{
	const char *own = op->content_type, *theirs = p->content_type;
	size_t n = own ? strlen(own) : 0;

	if (!own)
		return type_is_xml(theirs) ? "application/json" : theirs;
	if (theirs && !strncasecmp(own, theirs, n) && theirs[n] == ';' &&
	    utf8_valid(payload))
		return theirs;
	return own;
}

bool body_content_type(const struct body_template *b, const struct op *op,
		       struct buf *out)
{
	switch (b->kind) {
	case BUILD_RAW:
		return false;
	case BUILD_FORM:
		buf_adds(out, "application/x-www-form-urlencoded");
		break;
	case BUILD_MULTIPART:
		buf_adds(out, "multipart/form-data; boundary=");
		boundary_add(op, out);
		break;
	case BUILD_JSON_STRING:
		buf_adds(out, "application/json");
		break;
	}
	return true;
}

bool body_has_secret(const struct body_template *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].secret)
			return true;
	return false;
}

void body_secret(const struct body_template *b, const struct op *op,
		 struct span stored, struct span secret, struct buf *out)
{
	bool first = true, object = b->kind == BUILD_JSON_STRING;

	assert(!object || (stored.n > 1 && stored.p[0] == '{'));
	/* All at once: a buffer that grows leaves copies behind. */
	buf_reserve(out, stored.n + 6 * secret.n * b->n + 512 * b->n + 64);
	if (object)
		buf_addc(out, '{');
	for (size_t i = 0; i < b->n; i++) {
		if (!b->v[i].secret)
			continue;
		field_add(b->kind, &b->v[i], op, secret, first, out);
		first = false;
	}
	if (object && !first && stored.n > 2)
		buf_addc(out, ',');
	if (b->kind == BUILD_FORM && !first && stored.n)
		buf_addc(out, '&');
	buf_add(out, stored.p + object, stored.n - object);
}

static void login_text(const char *template, const char *user,
		       struct span secret, struct buf *out)
{
	for (const char *p = template; *p; ) {
		if (!strncmp(p, "{user}", 6)) {
			buf_adds(out, user);
			p += 6;
		} else if (!strncmp(p, "{secret}", 8)) {
			buf_addspan(out, secret);
			p += 8;
		} else {
			buf_addc(out, *p++);
		}
	}
}

static const struct op nobody = {.op_id = "login"};

bool body_login_type(const struct body_template *b, struct buf *out)
{
	return body_content_type(b, &nobody, out);
}

void body_login(const struct body_template *b, const char *user,
		struct span secret, struct buf *out)
{
	struct buf value = BUF_INIT;

	buf_reserve(out, 6 * secret.n * (b->n + 1) + 512 * (b->n + 1));
	buf_reserve(&value, secret.n + 512);
	if (b->kind == BUILD_JSON_STRING)
		buf_addc(out, '{');
	for (size_t i = 0; i < b->n; i++) {
		buf_clear(&value);
		login_text(b->v[i].value, user ? user : "", secret, &value);
		field_add(b->kind, &b->v[i], &nobody, buf_span(&value), !i,
			  out);
	}
	if (b->kind == BUILD_JSON_STRING)
		buf_addc(out, '}');
	if (b->kind == BUILD_MULTIPART) {
		buf_adds(out, "--");
		boundary_add(&nobody, out);
		buf_adds(out, "--\r\n");
	}
	buf_wipe(&value);
}
