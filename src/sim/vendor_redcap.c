/*
 * vendor_redcap.c - plays: redcap. One address, POST, form fields.
 *
 *   content=record, action=import (or without), data=[{...}]
 *       200 {"count": N}, <?xml ...><hash><count>, N as text, by
 *       returnFormat; what was imported before is overwritten by itself
 *   content=record, action=export, filterLogic="[edcsync_op_id] = 'TAG'"
 *       200 [{"record_id": ..., "edcsync_op_id": TAG}]
 *   content=version   200 14.9.1
 *
 * A payload that is one object and no list counts 0 and stores nothing, as
 * REDCap does. In an outage that speaks (how: 503) it is 200 with HTML.
 */
#include <config.h>

#include <string.h>

#include "core/hash.h"
#include "sim/intake.h"
#include "sim/vendor.h"

static bool field_is(const struct sim_request *q, const char *name,
		     const char *value)
{
	struct buf text = BUF_INIT;
	bool is;

	is = sim_form_field(q->body, name, &text) &&
		span_is(buf_span(&text), value);
	buf_release(&text);
	return is;
}

static enum sim_kind kind(struct sim *sim, const struct sim_request *q)
{
	(void)sim;
	if (field_is(q, "content", "record"))
		return field_is(q, "action", "export") ? SIM_LOOK_UP :
			SIM_SEND;
	return SIM_LIST;
}

/* What is stored and sent again, without the token in front of it. */
static struct span without_token(struct span body)
{
	const char *end;

	if (!span_starts(body, "token="))
		return body;
	end = memchr(body.p, '&', body.n);
	if (!end)
		return body;
	return (struct span){end + 1, body.n - (size_t)(end + 1 - body.p)};
}

static void read(struct sim *sim, const struct sim_request *q,
		 struct sim_intake *in)
{
	static const char *const tag[] = {"/0/edcsync_op_id", NULL};
	static const char *const subject[] = {
		"/0/record_id", "/0/study_id", NULL
	};
	static const char *const form[] = {
		"/0/redcap_repeat_instrument", "/0/redcap_event_name", NULL
	};
	struct buf *data = &sim->text[INTAKE_PAYLOAD];

	hash_sha256_hex(without_token(q->body), in->sha256);
	intake_record(sim, in);
	buf_clear(data);
	if (!sim_form_field(q->body, "data", data) ||
	    !intake_json(sim, buf_span(data), in))
		return;
	if (json_is(&sim->doc, 0, JSON_ARRAY))
		sim->facts.items = sim->doc.node[0].kids;
	in->op_id = intake_text(sim, INTAKE_TAG, tag);
	in->subject = intake_text(sim, INTAKE_SUBJECT, subject);
	in->form = intake_text(sim, INTAKE_FORM, form);
}

static bool queues(struct sim *sim, const struct sim_request *q)
{
	(void)sim;
	(void)q;
	return false;
}

/* An answer in the format that was asked for; XML where none was. */
static void tell(const struct sim_request *q, int status, const char *name,
		 const char *text, struct sim_answer *a)
{
	if (field_is(q, "returnFormat", "json")) {
		bool number = !strcmp(name, "count");

		vendor_json(a, status);
		if (number)
			buf_addf(&a->body, "{\"%s\": %s}", name, text);
		else
			buf_addf(&a->body, "{\"%s\":\"%s\"}", name, text);
	} else if (field_is(q, "returnFormat", "csv")) {
		vendor_text(a, status, "text/csv; charset=utf-8",
			    strcmp(name, "error") ? "" : "ERROR: ");
		buf_adds(&a->body, text);
	} else {
		vendor_text(a, status, "text/xml; charset=utf-8",
			    "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>"
			    "<hash>");
		buf_addf(&a->body, "<%s>%s</%s></hash>", name, text, name);
	}
}

static enum sim_judge judge(struct sim *sim, const struct sim_request *q,
			    const struct sim_intake *in, uint32_t op,
			    uint32_t *record, struct sim_answer *a)
{
	uint32_t last = vendor_committed(sim, op);

	if (!json_is(&sim->doc, 0, JSON_ARRAY) || !in->sha256[0]) {
		bool object = json_is(&sim->doc, 0, JSON_OBJECT);

		tell(q, object ? 200 : 400, object ? "count" : "error",
		     object ? "0" : "The data being imported is not formatted "
		     "correctly.", a);
		return SIM_TURNS_DOWN;
	}
	if (!last || field_is(q, "forceAutoNumber", "true") ||
	    strcmp(ledger_record_at(&sim->ledger, last)->sha256, in->sha256))
		return SIM_TAKES;
	*record = last;
	return SIM_HAS_IT;
}

static void stored(struct sim *sim, const struct sim_request *q,
		   uint32_t record, const struct sim_rule *rule,
		   struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	uint32_t n = sim->facts.items;
	char text[16];
	struct buf number = BUF_INIT;

	(void)rule;
	if (r->state == SIM_JOB_FAILED) {
		tell(q, 400, "error", "The value is out of range", a);
		return;
	}
	if (r->state == SIM_JOB_PARTIAL && n)
		n--;
	buf_addi(&number, n);
	text_set(text, sizeof(text), buf_span(&number));
	buf_release(&number);
	tell(q, 200, "count", text, a);
}

static void job(struct sim *sim, uint32_t record, struct sim_answer *a)
{
	vendor_json(a, 200);
	sim->vendor->item(sim, record, true, &a->body);
}

static void item(const struct sim *sim, uint32_t record, bool payload,
		 struct buf *out)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	const struct sim_op *o = ledger_op_at(&sim->ledger, r->op);

	(void)payload;
	buf_addc(out, '{');
	vendor_member(out, "record_id", o->subject ? o->subject : "");
	buf_addc(out, ',');
	vendor_member(out, "edcsync_op_id", o->op_id ? o->op_id : "");
	buf_addc(out, '}');
}

/* The text between quotes of [edcsync_op_id] = '...'. */
static struct span wanted(struct sim *sim, const struct sim_request *q)
{
	struct buf *b = &sim->text[INTAKE_TAG];
	const char *from, *to;

	buf_clear(b);
	if (!sim_form_field(q->body, "filterLogic", b) || !b->len ||
	    !(from = memchr(b->p, '\'', b->len)))
		return (struct span){NULL, 0};
	from++;
	to = memchr(from, '\'', b->len - (size_t)(from - b->p));
	if (!to)
		return (struct span){NULL, 0};
	return (struct span){from, (size_t)(to - from)};
}

static void look(struct sim *sim, const struct sim_request *q,
		 int64_t lag_ms, struct sim_answer *a)
{
	struct sim_page page = {wanted(sim, q), q->path, lag_ms, true};
	struct sim_request whole = *q;

	if (field_is(q, "content", "version")) {
		vendor_text(a, 200, "text/csv; charset=utf-8", "14.9.1");
		return;
	}
	if (!field_is(q, "content", "record")) {
		tell(q, 400, "error", "The value of the parameter \\\"content"
		     "\\\" is not valid", a);
		return;
	}
	whole.q_cursor = (struct span){NULL, 0};	/* no pages here */
	vendor_json(a, 200);
	buf_addc(&a->body, '[');
	vendor_page(sim, &whole, &page, &a->body);
	buf_addc(&a->body, ']');
}

static void fault(struct sim *sim, const struct sim_request *q, int status,
		  struct sim_answer *a)
{
	static const struct {
		int status, answered;
		const char *text;
	} words[] = {
		{401, 403, "You do not have permissions to use the API"},
		{403, 403, "You do not have API Import privileges"},
		{404, 404, "The requested resource does not exist"},
		{422, 400, "The value is out of range"},
		{200, 200, "The value is out of range"},
		{400, 400, "The data being imported is not formatted "
			"correctly."},
		{406, 406, "The data being imported is not formatted "
			"correctly."}
	};
	size_t i;

	(void)sim;
	if (status == 500) {
		vendor_text(a, 500, "text/html; charset=utf-8",
			    "ERROR: REDCap ran out of memory!");
		return;
	}
	if (status == 503 || status == SIM_FAULT_OUTAGE) {
		vendor_text(a, 200, "text/html; charset=utf-8",
			    "<!DOCTYPE html>\n<html><body><h3>REDCap</h3>"
			    "<p>An unknown error occurred. You may have "
			    "opened multiple browser tabs.</p></body></html>"
			    "\n");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].status == status)
			tell(q, words[i].answered, "error", words[i].text, a);
}

const struct sim_vendor sim_redcap = {
	.name = "redcap",
	.kind = kind,
	.read = read,
	.wanted = wanted,
	.queues = queues,
	.judge = judge,
	.stored = stored,
	.job = job,
	.item = item,
	.look = look,
	.fault = fault
};
