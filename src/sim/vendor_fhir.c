/*
 * vendor_fhir.c - plays: fhir-r4.
 *
 *   POST {base}/TYPE   201, Location {base}/TYPE/ID/_history/1, ETag. With
 *        If-None-Exist: identifier=SYSTEM|VALUE it is 200 and the one that is
 *        there, or 412 where there are several
 *   POST {base}        a Bundle: 200 batch-response, entry by entry; later,
 *        where Prefer: respond-async asks for it: 202, Content-Location
 *   GET  {base}/jobs/JOB   202 with X-Progress, then 200 batch-response; or,
 *        where the scenario's `results` says so, as Medplum does it: 200 an
 *        AsyncJob that names a Binary
 *   GET  {base}/Binary/JOB the batch-response then
 *   GET  {base}/TYPE?identifier=SYSTEM|VALUE   Bundle searchset
 *   GET  {base}/metadata
 *
 * Single resources are answered at once, respond-async or not, unless a rule
 * says queue. A resource whose status is "refused" is not taken.
 */
#include <config.h>

#include <string.h>

#include "core/request.h"
#include "sim/intake.h"
#include "sim/vendor.h"

#define FHIR "application/fhir+json"

static void outcome(const char *severity, const char *code, const char *words,
		    struct buf *out)
{
	buf_addf(out, "{\"resourceType\":\"OperationOutcome\",\"issue\":[{"
		 "\"severity\":\"%s\",\"code\":\"%s\",\"diagnostics\":\"%s\""
		 "}]}", severity, code, words);
}

static void fail(struct sim_answer *a, int status, const char *code,
		 const char *words)
{
	a->status = status;
	a->content_type = FHIR;
	buf_clear(&a->body);
	outcome("error", code, words, &a->body);
}

/* What stands behind the bar of identifier=SYSTEM|VALUE, escapes undone. */
static struct span value_of(struct sim *sim, int slot, struct span criterion)
{
	struct buf *b = &sim->text[slot];
	size_t at;

	buf_clear(b);
	url_form_decode(b, criterion);
	for (at = b->len; at && b->p[at - 1] != '|'; at--)
		;
	if (!at)
		return (struct span){NULL, 0};
	return (struct span){b->p + at, b->len - at};
}

static struct span wanted(struct sim *sim, const struct sim_request *q)
{
	return value_of(sim, INTAKE_PAYLOAD, q->q_identifier);
}

static enum sim_kind kind(struct sim *sim, const struct sim_request *q)
{
	struct span last = vendor_last_part(q->path);

	if (!span_is(q->method, "GET") && !span_is(q->method, "HEAD"))
		return SIM_SEND;
	if (span_starts(last, "job-") || span_starts(last, "rec-"))
		return SIM_POLL;
	return wanted(sim, q).n ? SIM_LOOK_UP : SIM_LIST;
}

static uint32_t polled(struct sim *sim, const struct sim_request *q)
{
	uint32_t record = ledger_record_named(&sim->ledger,
					      vendor_last_part(q->path));
	struct span last = vendor_last_part(q->path);
	bool result = vendor_ends((struct span){q->path.p, q->path.n - last.n},
				  "/Binary/");

	sim->facts.result = result;
	if (result && (sim->scenario.results == SIM_RESULTS_JOB || !record ||
		       ledger_record_at(&sim->ledger, record)->state ==
		       SIM_RUNNING))
		return 0;
	return record;
}

static bool is_bundle(const struct sim *sim)
{
	return json_string_is(&sim->doc, json_get(&sim->doc, 0,
						  "resourceType"), "Bundle");
}

static bool refused(const struct json *doc, uint32_t resource)
{
	return json_string_is(doc, json_get(doc, resource, "status"),
			      "refused");
}

static uint32_t first_entry(const struct json *doc)
{
	return json_child(doc, json_get(doc, 0, "entry"));
}

static void count(struct sim *sim)
{
	struct sim_facts *f = &sim->facts;
	uint32_t node;

	if (!is_bundle(sim)) {
		f->items = 1;
		f->refused = refused(&sim->doc, 0);
		return;
	}
	for (node = first_entry(&sim->doc); node != JSON_NONE;
	     node = json_next(&sim->doc, node)) {
		f->items++;
		f->refused += refused(&sim->doc, json_get(&sim->doc, node,
							  "resource"));
	}
}

/* Our identifier in a list of them, or in the only one. */
static struct span own_identifier(struct sim *sim)
{
	static const char *const value[] = {"/identifier/value", NULL};
	uint32_t list = json_get(&sim->doc, 0, "identifier"), node;
	struct buf *b = &sim->text[INTAKE_TAG];

	if (!json_is(&sim->doc, list, JSON_ARRAY))
		return intake_text(sim, INTAKE_TAG, value);
	for (node = json_child(&sim->doc, list); node != JSON_NONE;
	     node = json_next(&sim->doc, node)) {
		buf_clear(b);
		if (json_string_is(&sim->doc, json_get(&sim->doc, node,
						       "system"),
				   "urn:edcsync:op-id") &&
		    json_string(&sim->doc, json_get(&sim->doc, node, "value"),
				b))
			return intake_bounded(buf_span(b));
	}
	return (struct span){NULL, 0};
}

static void read(struct sim *sim, const struct sim_request *q,
		 struct sim_intake *in)
{
	static const char *const study[] = {"/study/reference", NULL};
	static const char *const subject[] = {"/subject/reference", NULL};
	static const char *const form[] = {"/resourceType", NULL};

	intake_record(sim, in);
	if (!intake_json(sim, q->body, in))
		return;
	in->op_id = own_identifier(sim);
	if (!in->op_id.n)
		in->op_id = intake_bounded(value_of(sim, INTAKE_TAG,
						    q->if_none_exist));
	in->study = intake_text(sim, INTAKE_STUDY, study);
	in->subject = intake_text(sim, INTAKE_SUBJECT, subject);
	in->form = intake_text(sim, INTAKE_FORM, form);
	count(sim);
}

static bool wants_later(const struct sim_request *q)
{
	size_t i, n = strlen("respond-async");

	for (i = 0; i + n <= q->prefer.n; i++)
		if (!memcmp(q->prefer.p + i, "respond-async", n))
			return true;
	return false;
}

static bool queues(struct sim *sim, const struct sim_request *q)
{
	(void)sim;
	return wants_later(q);
}

/* Resources of this identifier and address; *last is the newest. */
static uint32_t matches(struct sim *sim, const struct sim_request *q,
			struct span tag, uint32_t *last)
{
	const struct ledger *l = &sim->ledger;
	uint32_t op = tag.n ? ledger_find(l, tag) : 0, found = 0, n;

	for (n = op ? ledger_op_at(l, op)->first_record : 0; n;
	     n = ledger_record_at(l, n)->next_of_op) {
		const struct sim_record *r = ledger_record_at(l, n);

		if (r->state != SIM_COMMITTED || !span_is(q->path, r->path))
			continue;
		found++;
		*last = n;
	}
	return found;
}

static enum sim_judge judge(struct sim *sim, const struct sim_request *q,
			    const struct sim_intake *in, uint32_t op,
			    uint32_t *record, struct sim_answer *a)
{
	const struct sim_facts *f = &sim->facts;
	uint32_t n = 0;

	(void)in;
	(void)op;
	if (!json_is(&sim->doc, json_get(&sim->doc, 0, "resourceType"),
		     JSON_STRING)) {
		fail(a, 400, "structure", "This is no FHIR resource");
		return SIM_TURNS_DOWN;
	}
	if (is_bundle(sim)) {
		bool whole = json_string_is(&sim->doc, json_get(
			&sim->doc, 0, "type"), "transaction");

		if (f->refused && (whole || f->refused == f->items)) {
			fail(a, 422, "invariant", "An entry is not valid");
			return SIM_TURNS_DOWN;
		}
		return f->refused ? SIM_TAKES_PARTLY :
			wants_later(q) ? SIM_QUEUES : SIM_TAKES;
	}
	if (f->refused) {
		fail(a, 422, "code-invalid", "The status is not known");
		return SIM_TURNS_DOWN;
	}
	if (q->if_none_exist.n)
		n = matches(sim, q, value_of(sim, INTAKE_PAYLOAD,
					     q->if_none_exist), record);
	if (n < 2)
		return n ? SIM_HAS_IT : SIM_TAKES;
	fail(a, 412, "multiple-matches", "Several resources match");
	return SIM_TURNS_DOWN;
}

/* The payload with an id in front, as far as it was kept. */
static void resource(const struct sim *sim, uint32_t record, struct buf *out)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	const struct sim_op *o = ledger_op_at(&sim->ledger, r->op);

	buf_adds(out, "{\"id\":\"");
	vendor_id(record, false, out);
	buf_addc(out, '"');
	if (r->payload && r->payload_n > 2 && r->payload[0] == '{') {
		buf_addc(out, ',');
		buf_add(out, r->payload + 1, r->payload_n - 1);
		return;
	}
	buf_addc(out, ',');
	vendor_member(out, "resourceType", o->form ? o->form : "Basic");
	buf_adds(out, ",\"identifier\":[{\"system\":\"urn:edcsync:op-id\",");
	vendor_member(out, "value", o->op_id);
	buf_adds(out, "}]}");
}

static void entry(bool taken, uint32_t record, uint32_t i, struct buf *out)
{
	if (i)
		buf_addc(out, ',');
	if (taken) {
		buf_addf(out, "{\"response\":{\"status\":\"201 Created\","
			 "\"location\":\"Basic/rec-%06u-%u/_history/1\","
			 "\"etag\":\"W/\\\"1\\\"\"}}", record, i);
		return;
	}
	buf_adds(out, "{\"response\":{\"status\":\"422 Unprocessable Entity\""
		 ",\"outcome\":");
	outcome("error", "invariant", "The entry is not valid", out);
	buf_adds(out, "}}");
}

/* batch-response to what was stored: a Bundle, or one resource. */
static void batch(const struct sim *sim, uint32_t record, struct buf *out)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	struct json doc = {0};
	uint32_t node = JSON_NONE, i = 0;
	bool refusals = false;

	buf_adds(out, "{\"resourceType\":\"Bundle\",\"type\":\"batch-response\""
		 ",\"entry\":[");
	if (r->payload && json_parse(&doc, r->payload, r->payload_n, 0))
		node = first_entry(&doc);
	for (; node != JSON_NONE; node = json_next(&doc, node), i++) {
		bool bad = refused(&doc, json_get(&doc, node, "resource"));

		refusals = refusals || bad;
		entry(!bad && r->state != SIM_JOB_FAILED, record, i, out);
	}
	if (!i)
		entry(r->state != SIM_JOB_FAILED, record, i++, out);
	if (r->state == SIM_JOB_PARTIAL && !refusals)
		entry(false, record, i, out);
	buf_adds(out, "]}");
	json_release(&doc);
}

static void add_location(const struct sim_request *q, const char *name,
			 uint32_t record, const char *version,
			 struct sim_answer *a)
{
	struct buf url = BUF_INIT;

	vendor_origin(q, &url);
	if (version) {
		buf_addspan(&url, q->path);
		buf_addc(&url, '/');
		vendor_id(record, false, &url);
		buf_adds(&url, version);
	} else {
		buf_addspan(&url, vendor_folder(q->path));
		buf_adds(&url, "jobs/");
		vendor_id(record, true, &url);
	}
	sim_answer_header(a, name, buf_span(&url));
	buf_release(&url);
}

static void stored(struct sim *sim, const struct sim_request *q,
		   uint32_t record, const struct sim_rule *rule,
		   struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);

	a->content_type = FHIR;
	if (r->job && r->state == SIM_RUNNING) {
		a->status = 202;
		outcome("information", "informational", "It is worked on",
			&a->body);
		if (!rule || rule->location != SIM_LOC_NO)
			add_location(q, "Content-Location", record, NULL, a);
		return;
	}
	if (is_bundle(sim)) {
		a->status = 200;
		batch(sim, record, &a->body);
		return;
	}
	if (r->state != SIM_COMMITTED) {
		fail(a, 422, "invariant", "The resource is not valid");
		return;
	}
	a->status = sim->facts.again ? 200 : 201;
	add_location(q, "Location", record,
		     sim->facts.again ? "" : "/_history/1", a);
	sim_answer_header(a, "ETag", SPAN("W/\"1\""));
	resource(sim, record, &a->body);
}

static void job(struct sim *sim, uint32_t record, struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);

	a->content_type = FHIR;
	if (!r->job) {
		a->status = 200;
		resource(sim, record, &a->body);
		return;
	}
	if (r->state == SIM_RUNNING) {
		a->status = 202;
		a->content_type = NULL;
		sim_answer_header(a, "X-Progress", SPAN("in-progress"));
		return;
	}
	a->status = 200;
	if (sim->facts.result || sim->scenario.results == SIM_RESULTS_JOB) {
		batch(sim, record, &a->body);
		return;
	}
	buf_adds(&a->body, "{\"resourceType\":\"AsyncJob\",\"status\":"
		 "\"completed\",\"output\":{\"resourceType\":\"Parameters\","
		 "\"parameter\":[{\"name\":\"results\",\"valueReference\":{"
		 "\"reference\":\"Binary/");
	vendor_id(record, true, &a->body);
	buf_adds(&a->body, "\"}}]}}");
}

static void item(const struct sim *sim, uint32_t record, bool payload,
		 struct buf *out)
{
	(void)payload;
	buf_adds(out, "{\"resource\":");
	resource(sim, record, out);
	buf_addc(out, '}');
}

static void search(struct sim *sim, const struct sim_request *q,
		   int64_t lag_ms, struct sim_answer *a)
{
	struct sim_page page = {wanted(sim, q), q->path, lag_ms, true};
	struct buf list = BUF_INIT, url = BUF_INIT;
	uint32_t more = vendor_page(sim, q, &page, &list);

	a->status = 200;
	a->content_type = FHIR;
	buf_adds(&a->body, "{\"resourceType\":\"Bundle\",\"type\":"
		 "\"searchset\"");
	if (!list.len)
		buf_adds(&a->body, ",\"total\":0");
	if (more) {
		vendor_origin(q, &url);
		vendor_next(q, "identifier", q->q_identifier, more, &url);
		buf_adds(&a->body, ",\"link\":[{\"relation\":\"next\",\"url\""
			 ":");
		json_quote(&a->body, buf_span(&url));
		buf_adds(&a->body, "}]");
	}
	if (list.len) {
		buf_adds(&a->body, ",\"entry\":[");
		buf_addspan(&a->body, buf_span(&list));
		buf_addc(&a->body, ']');
	}
	buf_addc(&a->body, '}');
	buf_release(&list);
	buf_release(&url);
}

static void look(struct sim *sim, const struct sim_request *q,
		 int64_t lag_ms, struct sim_answer *a)
{
	if (vendor_ends(q->path, "/metadata"))
		vendor_text(a, 200, FHIR, "{\"resourceType\":"
			    "\"CapabilityStatement\",\"status\":\"active\","
			    "\"kind\":\"instance\",\"fhirVersion\":\"4.0.1\"}");
	else
		search(sim, q, lag_ms, a);
}

static void fault(struct sim *sim, const struct sim_request *q, int status,
		  struct sim_answer *a)
{
	static const struct {
		int status;
		const char *code, *words;
	} known[] = {
		{200, "invariant", "The resource is not valid"},
		{400, "structure", "The body is not readable"},
		{401, "login", "The token is not valid"},
		{403, "forbidden", "This account may not write here"},
		{404, "not-found", "There is no such resource"},
		{409, "conflict", "The resource is being changed"},
		{422, "invariant", "A value is out of range"},
		{429, "throttled", "Too many requests"},
		{500, "exception", "Something failed"},
		{503, "transient", "Try again later"}
	};
	size_t i;

	(void)sim;
	(void)q;
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].status == status)
			fail(a, status, known[i].code, known[i].words);
}

const struct sim_vendor sim_fhir = {
	.name = "fhir-r4",
	.kind = kind,
	.read = read,
	.wanted = wanted,
	.polled = polled,
	.queues = queues,
	.judge = judge,
	.stored = stored,
	.job = job,
	.item = item,
	.look = look,
	.fault = fault,
	.open_path = "/metadata"
};
