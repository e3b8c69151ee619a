/* What a line sends: method, path, payload; and what identifies it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/canon.h"
#include "core/hash.h"
#include "core/request.h"
#include "core/utf8.h"
#include "core/xml.h"
#include "store/line_priv.h"

static bool method_allowed(const char *method,
			   const struct endpoint_config *ec)
{
	static const char *const writes[] = {"POST", "PUT", "PATCH"};

	for (size_t i = 0; i < ARRAY_SIZE(writes); i++)
		if (!strcmp(method, writes[i]))
			return true;
	return ec->vendor_delete && !strcmp(method, "DELETE");
}

/* Values of a path template; everything is percent-encoded. */
static const char *path_variable(const struct record *r, const char *site,
				 struct span name)
{
	const struct {
		const char *name, *value;
	} rows[] = {
		{"study", r->study_oid}, {"subject", r->subject_key},
		{"site", site}, {"event", r->event_oid},
		{"event_repeat", r->event_repeat}, {"form", r->form_oid},
		{"form_repeat", r->form_repeat},
		{"record_key", r->record_key},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (span_is(name, rows[i].name))
			return rows[i].value ? rows[i].value : "";
	return NULL;
}

/* Frozen now: what the profile says later changes no operation. */
static char *expand_path(const struct line *line, const char *template)
{
	struct buf out = BUF_INIT;
	const char *p = template;

	while (*p) {
		const char *open = strchr(p, '{');
		const char *close = open ? strchr(open, '}') : NULL;
		const char *value = NULL;

		if (!close) {
			buf_adds(&out, p);
			break;
		}
		buf_add(&out, p, (size_t)(open - p));
		value = path_variable(&line->op.record, line->op.site_oid,
				      (struct span){open + 1,
					(size_t)(close - open) - 1});
		if (value)
			url_encode(&out, span_of(value));
		else
			buf_add(&out, open, (size_t)(close - open) + 1);
		p = close + 1;
	}
	return out.len ? buf_detach(&out, NULL) : xstrdup("");
}

/* "." or "..", their percent-encoded forms, too: servers resolve them. */
static bool is_dots(struct span segment)
{
	size_t dots = 0;

	while (segment.n) {
		size_t n = segment.p[0] == '.' ? 1 :
			   segment.n >= 3 && !strncasecmp(segment.p, "%2e", 3) ?
			   3 : 0;

		if (!n || ++dots > 2)
			return false;
		segment.p += n;
		segment.n -= n;
	}
	return dots > 0;
}

static bool has_dots(const char *path)
{
	const char *end = path + strcspn(path, "?");

	while (path < end) {
		size_t n = strcspn(path + 1, "/?");

		if (is_dots((struct span){path + 1, n}))
			return true;
		path += n + 1;
	}
	return false;
}

static const char *path_trouble(const char *path)
{
	if (path[0] != '/')
		return "must start with /";
	for (const char *p = path; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c <= 0x20 || c >= 0x7f)
			return "must be percent-encoded ASCII";
		if (c == '#' || c == '\\' || c == '{' || c == '}')
			return "has a character that no path may have";
	}
	if (has_dots(path))
		return "has dot segments";
	return NULL;
}

bool line_target(struct line *line, const struct endpoint_config *ec,
		 struct line_result *r)
{
	const struct profile *profile = ec->profile;
	struct op *op = &line->op;
	const char *why;

	if (!op->method)
		op->method = xstrdup(profile && profile->method ?
				     profile->method : "POST");
	if (!method_allowed(op->method, ec))
		return line_refuse(r, 1, "method must be POST, PUT or PATCH%s",
				   ec->vendor_delete ? " or DELETE" : "");
	if (!op->path) {
		if (!profile || !profile->path)
			return line_refuse(r, 1, "path is missing: the "
					   "profile has no default");
		op->path = expand_path(line, profile->path);
	}
	why = path_trouble(op->path);
	return !why || line_refuse(r, 1, "path %s", why);
}

static bool type_is_json(const char *type)
{
	size_t n = strcspn(type, "; \t");
	struct span base = {type, n};

	if (n == 16 && !strncasecmp(type, "application/json", n))
		return true;
	return base.n > 5 && !strncasecmp(type + n - 5, "+json", 5);
}

static bool canonical_xml(struct line *line, int column,
			  struct line_result *r)
{
	struct buf error = BUF_INIT;
	bool good = xml_canonical(buf_span(&line->payload), &line->canonical,
				  &error) ||
		line_refuse(r, column, "the payload is no XML that can be "
			    "identified: %s", buf_text(&error));

	buf_release(&error);
	return good;
}

/* JSON and XML are canonicalised; anything else is its bytes. */
static bool canonical_of(struct line *line, int column,
			 struct line_result *r)
{
	struct json doc = {0};
	bool good = true;

	if (type_is_xml(line->op.content_type))
		return canonical_xml(line, column, r);
	if (!type_is_json(line->op.content_type)) {
		buf_addspan(&line->canonical, buf_span(&line->payload));
		return true;
	}
	good = json_parse(&doc, buf_text(&line->payload), line->payload.len,
			  0);
	if (good)
		canon_json(&doc, 0, &line->canonical);
	else
		line_refuse(r, column, "the payload is no JSON, line %d "
			    "column %d: %s", doc.error.line, doc.error.column,
			    doc.error.text);
	json_release(&doc);
	return good;
}

static bool text_payload(struct line *line, const struct json *doc,
			 uint32_t node, struct line_result *r)
{
	if (!json_string(doc, node, &line->payload))
		return line_refuse(r, json_column(doc, node),
				   "payload_text must be a text");
	return canonical_of(line, json_column(doc, node), r);
}

static bool file_payload(struct line *line, const struct json *doc,
			 uint32_t node, const struct intake_in *in,
			 struct line_result *r)
{
	struct buf name = BUF_INIT, error = BUF_INIT;
	int column = json_column(doc, node);
	bool good;

	if (!json_string(doc, node, &name) || !name.len)
		good = line_refuse(r, column, "payload_file must be the name "
				   "of a file");
	else if (!in->read_file)
		good = line_refuse(r, column, "payload_file cannot be read "
				   "from here");
	else
		good = in->read_file(in->ctx, buf_text(&name), &line->payload,
				     &error) ||
		       line_refuse(r, column, "payload_file: %s",
				   buf_text(&error));
	if (good && line->payload.len > LIMIT_LINE_BYTES)
		good = line_refuse(r, column, "payload_file is longer than %u "
				   "MiB", LIMIT_LINE_BYTES >> 20);
	buf_release(&name);
	buf_release(&error);
	return good && canonical_of(line, column, r);
}

bool line_payload(struct line *line, const struct json *doc, uint32_t payload,
		  uint32_t text, uint32_t file, const struct intake_in *in,
		  struct line_result *r)
{
	int given = (payload != JSON_NONE) + (text != JSON_NONE) +
		    (file != JSON_NONE);
	uint32_t type = json_get(doc, 0, "content_type");

	if (given != 1)
		return line_refuse(r, 1, "give exactly one of payload, "
				   "payload_text, payload_file");
	if (payload != JSON_NONE) {
		if (line->op.content_type)
			return line_refuse(r, json_column(doc, type),
					   "content_type goes with "
					   "payload_text or payload_file");
		buf_addspan(&line->payload, json_raw(doc, payload));
		canon_json(doc, payload, &line->canonical);
		return true;
	}
	if (!line->op.content_type || !*line->op.content_type)
		return line_refuse(r, json_column(doc, text != JSON_NONE ?
				   text : file), "content_type is missing");
	return text != JSON_NONE ? text_payload(line, doc, text, r) :
	       file_payload(line, doc, file, in, r);
}

static bool is_text(struct span bytes)
{
	return utf8_valid(bytes) && !memchr(bytes.n ? bytes.p : "", 0, bytes.n);
}

void line_keep(const struct line *line, struct buf *out)
{
	struct json doc = {0};
	bool from_file = json_parse(&doc, line->text.p, line->text.n, 0) &&
			 json_get(&doc, 0, "payload_file") != JSON_NONE &&
			 is_text(buf_span(&line->payload));

	if (!from_file) {
		buf_addspan(out, line->text);
		json_release(&doc);
		return;
	}
	buf_adds(out, "{\"payload_text\":");
	json_quote(out, buf_span(&line->payload));
	for (uint32_t n = json_child(&doc, 0); n != JSON_NONE;
	     n = json_next(&doc, n)) {
		struct buf name = BUF_INIT;

		if (json_key_is(&doc, n, "payload_file"))
			continue;
		json_key(&doc, n, &name);
		buf_addc(out, ',');
		json_quote(out, buf_span(&name));
		buf_addc(out, ':');
		buf_addspan(out, json_raw(&doc, n));
		buf_release(&name);
	}
	buf_addc(out, '}');
	json_release(&doc);
}

/* "Same content": endpoint, method, path, record, canonical. None of them
 * holds a newline. */
static void digest_content(struct line *line, struct span form)
{
	const struct op *op = &line->op;
	struct buf text = BUF_INIT;

	buf_addf(&text, "%s\n%s\n%s\n%s\n%s\n", line->endpoint, op->method,
		 op->path, op->record.study_oid, op->record.subject_key);
	buf_addspan(&text, form);
	buf_addf(&text, "\n%s\n%s", op->record.record_key ?
		 op->record.record_key : "", op->canonical_sha256);
	hash_sha256_hex(buf_span(&text), line->content_sha256);
	buf_release(&text);
}

/* What the wire gets, where that is not the payload. */
static bool build_sent(struct line *line, const struct endpoint_config *ec,
		       struct buf *error)
{
	struct op *op = &line->op;

	buf_clear(&line->sent);
	memcpy(op->sent_sha256, op->payload_sha256, sizeof(op->sent_sha256));
	if (!ec->profile)
		return true;
	if (!request_stored(ec->profile, op, op->content_type,
			    buf_span(&line->payload), &line->sent, error))
		return false;
	if (line->sent.len)
		hash_sha256_hex(buf_span(&line->sent), op->sent_sha256);
	return true;
}

bool line_identify(struct line *line, const struct endpoint_config *ec,
		   int revision, struct buf *error)
{
	struct op *op = &line->op;
	const struct record *rec = &op->record;
	struct buf form = BUF_INIT;

	assert(revision >= 1 && line->endpoint);
	canon_form(rec->event_oid, rec->event_repeat, rec->form_oid,
		   rec->form_repeat, &form);
	canon_key(rec->study_oid, rec->subject_key, buf_span(&form),
		  buf_span(&line->canonical), revision, op->idem_key);
	op->revision = revision;
	if (!line->op_id_given)
		canon_op_id(line->endpoint, op->idem_key, op->op_id);
	if (revision == 1) {
		hash_sha256_hex(buf_span(&line->payload), op->payload_sha256);
		hash_sha256_hex(buf_span(&line->canonical),
				op->canonical_sha256);
		digest_content(line, buf_span(&form));
	}
	buf_release(&form);
	return build_sent(line, ec, error);
}
