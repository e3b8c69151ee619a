/* Reading one submit line: fields by table, refusals with their column. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/canon.h"
#include "core/timefmt.h"
#include "core/utf8.h"
#include "store/line_priv.h"

enum field_kind { FIELD_TEXT, FIELD_REPEAT, FIELD_TIME, FIELD_OTHER };

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset;			/* of a char * in struct line */
	size_t bytes_max;
};

#define TEXT_OF(member) offsetof(struct line, member)

static const struct field fields[] = {
	{"content_type", FIELD_TEXT, TEXT_OF(op.content_type), 128},
	{"endpoint", FIELD_TEXT, TEXT_OF(endpoint), LIMIT_ID_BYTES},
	{"event_oid", FIELD_TEXT, TEXT_OF(op.record.event_oid), 0},
	{"event_repeat", FIELD_REPEAT, TEXT_OF(op.record.event_repeat), 0},
	{"form_oid", FIELD_TEXT, TEXT_OF(op.record.form_oid), 0},
	{"form_repeat", FIELD_REPEAT, TEXT_OF(op.record.form_repeat), 0},
	{"method", FIELD_TEXT, TEXT_OF(op.method), 16},
	{"op_id", FIELD_OTHER, 0, 0},
	{"path", FIELD_TEXT, TEXT_OF(op.path), LIMIT_URL_BYTES / 2},
	{"payload", FIELD_OTHER, 0, 0},
	{"payload_file", FIELD_OTHER, 0, 0},
	{"payload_text", FIELD_OTHER, 0, 0},
	{"record_key", FIELD_TEXT, TEXT_OF(op.record.record_key), 0},
	{"site_oid", FIELD_TEXT, TEXT_OF(op.site_oid), LIMIT_ID_BYTES},
	{"source_author", FIELD_TEXT, TEXT_OF(op.source_author),
	 LIMIT_ID_BYTES},
	{"source_created_at", FIELD_TIME, TEXT_OF(op.source_created_at), 64},
	{"source_record_id", FIELD_TEXT, TEXT_OF(op.source_record_id),
	 LIMIT_ID_BYTES},
	{"source_system", FIELD_TEXT, TEXT_OF(op.source_system),
	 LIMIT_ID_BYTES},
	{"study_oid", FIELD_TEXT, TEXT_OF(op.record.study_oid), 0},
	{"subject_key", FIELD_TEXT, TEXT_OF(op.record.subject_key), 0},
};

bool line_refuse(struct line_result *r, int column, const char *fmt, ...)
{
	va_list ap;

	r->result = SUBMIT_REFUSED;
	r->error_column = column;
	va_start(ap, fmt);
	vsnprintf(r->error, sizeof(r->error), fmt, ap);
	va_end(ap);
	return false;
}

static char **member(struct line *line, const struct field *f)
{
	return (char **)((char *)line + f->offset);
}

/* Text fields keep no control characters; the scope's own rules come later. */
static const char *text_trouble(const struct field *f, const struct buf *text)
{
	if (f->bytes_max && text->len > f->bytes_max)
		return "is too long";
	for (size_t i = 0; i < text->len; i++)
		if ((unsigned char)text->p[i] < 0x20 || text->p[i] == 0x7f)
			return "has a control character";
	return utf8_valid(buf_span(text)) ? NULL : "is not valid UTF-8";
}

static bool read_value(const struct json *doc, uint32_t node,
		       const struct field *f, struct buf *text,
		       struct line_result *r)
{
	int64_t number, ms;
	const char *trouble;

	if (f->kind == FIELD_REPEAT && json_int(doc, node, &number))
		buf_addi(text, number);
	else if (!json_string(doc, node, text))
		return line_refuse(r, json_column(doc, node), "%s must be a "
				   "text", f->name);
	trouble = text_trouble(f, text);
	if (trouble)
		return line_refuse(r, json_column(doc, node), "%s %s", f->name,
				   trouble);
	if (f->kind == FIELD_TIME && !time_parse(buf_span(text), 0, &ms))
		return line_refuse(r, json_column(doc, node), "%s must be a "
				   "time like 2026-11-29T14:02:31Z (RFC 3339)",
				   f->name);
	return true;
}

/* null counts as absent. */
static bool read_field(struct line *line, const struct json *doc,
		       uint32_t node, const struct field *f,
		       struct line_result *r)
{
	struct buf text = BUF_INIT;
	bool good;

	if (f->kind == FIELD_OTHER || json_is(doc, node, JSON_NULL))
		return true;
	good = read_value(doc, node, f, &text, r);
	if (good) {
		assert(!*member(line, f));
		*member(line, f) = buf_detach(&text, NULL);
		if (!*member(line, f))
			*member(line, f) = xstrdup("");
	}
	buf_release(&text);
	return good;
}

static const struct field *find_field(const struct json *doc, uint32_t node)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (json_key_is(doc, node, fields[i].name))
			return &fields[i];
	return NULL;
}

static bool refuse_unknown(const struct json *doc, uint32_t node,
			   struct line_result *r)
{
	struct buf name = BUF_INIT, shown = BUF_INIT;

	json_key(doc, node, &name);
	utf8_fit(&shown, buf_span(&name), 40, true);
	line_refuse(r, json_column(doc, node), "unknown field \"%s\": see "
		    "edcsync submit --help for the fields of a line",
		    buf_text(&shown));
	buf_release(&name);
	buf_release(&shown);
	return false;
}

static bool read_fields(struct line *line, const struct json *doc,
			struct line_result *r)
{
	for (uint32_t n = json_child(doc, 0); n != JSON_NONE;
	     n = json_next(doc, n)) {
		const struct field *f = find_field(doc, n);

		if (!f)
			return refuse_unknown(doc, n, r);
		if (!read_field(line, doc, n, f, r))
			return false;
	}
	return true;
}

static bool read_op_id(struct line *line, const struct json *doc,
		       struct line_result *r)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"abcdefghijklmnopqrstuvwxyz0123456789_.:-";
	uint32_t node = json_get(doc, 0, "op_id");
	struct buf text = BUF_INIT;
	bool good;

	if (node == JSON_NONE || json_is(doc, node, JSON_NULL))
		return true;
	good = json_string(doc, node, &text) && text.len > 0 &&
	       text.len <= LIMIT_OP_ID_BYTES &&
	       strspn(buf_text(&text), allowed) == text.len;
	if (good) {
		memcpy(line->op.op_id, text.p, text.len + 1);
		line->op_id_given = true;
	}
	buf_release(&text);
	return good || line_refuse(r, json_column(doc, node), "op_id must be 1 "
				   "to 64 letters, digits, or _ . : -");
}

static bool listed(const struct text_list *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->v[i], text))
			return true;
	return false;
}

/* The record, and whether this endpoint takes it. */
static bool check_scope(const struct line *line, const struct json *doc,
			const struct endpoint_config *ec,
			struct line_result *r)
{
	const struct record *rec = &line->op.record;
	struct buf words = BUF_INIT;
	const char *why = canon_scope_check(rec, &words);
	bool good = true;

	if (why)
		good = line_refuse(r, 1, "%s", why);
	else if (ec->studies.n && !listed(&ec->studies, rec->study_oid))
		good = line_refuse(r, json_column(doc, json_get(doc, 0,
				   "study_oid")), "this study is not in the "
				   "list of endpoint %s", ec->name);
	else if (!rec->form_repeat && !rec->record_key &&
		 listed(&ec->repeating_forms, rec->form_oid))
		good = line_refuse(r, json_column(doc, json_get(doc, 0,
				   "form_oid")), "form_repeat is missing: "
				   "this form repeats at endpoint %s",
				   ec->name);
	buf_release(&words);
	return good;
}

static const struct endpoint_config *
find_endpoint(struct line *line, const struct json *doc,
	      const struct intake_in *in, struct line_result *r)
{
	const struct endpoint_config *ec;

	if (!line->endpoint)
		line->endpoint = xstrdup(in->endpoint);
	if (!line->endpoint) {
		line_refuse(r, 1, "endpoint is missing: name one in the line "
			    "or with --endpoint");
		return NULL;
	}
	ec = config_endpoint(in->config, span_of(line->endpoint));
	if (!ec)
		line_refuse(r, json_column(doc, json_get(doc, 0, "endpoint")),
			    "this endpoint is not in the configuration");
	return ec;
}

static bool parse_document(struct line *line, const struct json *doc,
			   const struct intake_in *in, struct line_result *r)
{
	const struct endpoint_config *ec;
	struct buf error = BUF_INIT;
	bool good;

	if (!json_is(doc, 0, JSON_OBJECT))
		return line_refuse(r, 1, "a line must be a JSON object");
	if (!read_fields(line, doc, r) || !read_op_id(line, doc, r))
		return false;
	ec = find_endpoint(line, doc, in, r);
	if (!ec || !check_scope(line, doc, ec, r) ||
	    !line_target(line, ec, r) ||
	    !line_payload(line, doc, json_get(doc, 0, "payload"),
			  json_get(doc, 0, "payload_text"),
			  json_get(doc, 0, "payload_file"), in, r))
		return false;
	good = line_identify(line, ec, 1, &error) ||
	       line_refuse(r, json_column(doc, json_get(doc, 0, "payload")),
			   "%s", buf_text(&error));
	buf_release(&error);
	return good;
}

bool line_parse(struct line *line, struct span text,
		const struct intake_in *in, struct line_result *r)
{
	struct json doc = {0};
	bool good;

	memset(line, 0, sizeof(*line));
	memset(r, 0, sizeof(*r));
	op_init(&line->op);
	line->text = text;
	if (text.n > LIMIT_LINE_BYTES)
		return line_refuse(r, 1, "the line is longer than %u MiB",
				   LIMIT_LINE_BYTES >> 20);
	good = json_parse(&doc, text.p, text.n, 0) ||
	       line_refuse(r, doc.error.column, "%s", doc.error.text);
	if (good)
		good = parse_document(line, &doc, in, r);
	if (good) {
		memcpy(r->op_id, line->op.op_id, sizeof(r->op_id));
		memcpy(r->idem_key, line->op.idem_key, sizeof(r->idem_key));
	}
	json_release(&doc);
	return good;
}

void line_release(struct line *line)
{
	op_release(&line->op);
	free(line->endpoint);
	line->endpoint = NULL;
	buf_release(&line->payload);
	buf_release(&line->sent);
	buf_release(&line->canonical);
}
