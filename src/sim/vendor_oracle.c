/*
 * vendor_oracle.c - plays: oracle-clinical. XML in, XML out; JSON in, JSON
 * out.
 *
 *   POST {path}   200 <Response status="SUCCESS"><request_id>...
 *                 202 with Location: a job, its body the job's state
 *   GET  {base}/jobs/{job}
 *   POST .../integrationdata   200 {"inputId"}: stored, applied later; the
 *        job is asked for by nobody
 *
 * A document without a namespace is refused by the schema; the rule
 * namespaces_lost does so to one that had it. Whatever comes twice is stored
 * twice.
 */
#include <config.h>

#include <string.h>

#include "sim/intake.h"
#include "sim/odm.h"
#include "sim/vendor.h"

static const char no_element[] =
	"cvc-elt.1: Cannot find the declaration of element 'ODM'.";

static bool wants_xml(const struct sim_request *q)
{
	return !vendor_ends(q->content_type, "json") &&
		q->body.n && memchr(q->body.p, '<', q->body.n < 64 ?
				    q->body.n : 64);
}

static void read(struct sim *sim, const struct sim_request *q,
		 struct sim_intake *in)
{
	static const char *const study[] = {"/context/studyName", NULL};
	static const char *const subject[] = {"/context/subjectId", NULL};
	static const char *const form[] = {"/context/formId", NULL};

	intake_record(sim, in);
	if (wants_xml(q) && odm_read(sim, q->body, in)) {
		/* FileOID is the document's business here, no tag of ours. */
		in->op_id = (struct span){NULL, 0};
		return;
	}
	if (!intake_json(sim, q->body, in))
		return;
	in->study = intake_text(sim, INTAKE_STUDY, study);
	in->subject = intake_text(sim, INTAKE_SUBJECT, subject);
	in->form = intake_text(sim, INTAKE_FORM, form);
}

/* Status word, code and message; a number that stands for the request. */
static void tell(const struct sim *sim, const struct sim_request *q,
		 int status, const char *word, const char *code,
		 const char *words, struct sim_answer *a)
{
	struct buf *out = &a->body;

	if (wants_xml(q)) {
		vendor_text(a, status, "application/xml", "<?xml version="
			    "\"1.0\" encoding=\"UTF-8\"?>\n<Response status=\"");
		buf_addf(out, "%s\"><request_id>req-%06u</request_id>", word,
			 sim->ledger.ops_n);
		if (code) {
			buf_addf(out, "<code>%s</code><message>", code);
			vendor_xml_text(out, span_of(words));
			buf_adds(out, "</message>");
		}
		buf_adds(out, "</Response>\n");
		return;
	}
	vendor_json(a, status);
	buf_addf(out, "{\"status\":\"%s\",\"requestId\":\"req-%06u\"", word,
		 sim->ledger.ops_n);
	if (code) {
		buf_addf(out, ",\"errorCode\":\"%s\",", code);
		vendor_member(out, "errorMessage", words);
	}
	buf_addc(out, '}');
}

static enum sim_judge judge(struct sim *sim, const struct sim_request *q,
			    const struct sim_intake *in, uint32_t op,
			    uint32_t *record, struct sim_answer *a)
{
	(void)in;
	(void)op;
	(void)record;
	if (!sim->facts.xml && !json_is(&sim->doc, 0, JSON_OBJECT)) {
		tell(sim, q, 400, "ERROR", "malformed",
		     "The document is not readable", a);
		return SIM_TURNS_DOWN;
	}
	if (sim->facts.xml && !sim->facts.named) {
		tell(sim, q, 400, "ERROR", "schema_validation", no_element,
		     a);
		return SIM_TURNS_DOWN;
	}
	return vendor_ends(q->path, "/integrationdata") ? SIM_QUEUES :
		SIM_TAKES;
}

static void job_url(const struct sim_request *q, uint32_t record,
		    const struct sim_rule *rule, struct buf *url)
{
	if (rule && rule->location == SIM_LOC_ABSOLUTE)
		vendor_origin(q, url);
	buf_addspan(url, vendor_folder(q->path));
	buf_adds(url, "jobs/");
	vendor_id(record, true, url);
}

static void stored(struct sim *sim, const struct sim_request *q,
		   uint32_t record, const struct sim_rule *rule,
		   struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	struct buf url = BUF_INIT;

	if (!r->job) {
		tell(sim, q, 200, "SUCCESS", NULL, NULL, a);
		return;
	}
	if (vendor_ends(q->path, "/integrationdata")) {
		vendor_json(a, 200);
		buf_adds(&a->body, "{\"message\":\"Integration input data "
			 "successfully stored\",\"inputId\":\"");
		vendor_id(record, true, &a->body);
		buf_adds(&a->body, "\"}");
		return;
	}
	tell(sim, q, rule && rule->envelope ? rule->envelope : 202, "ACCEPTED",
	     NULL, NULL, a);
	if (rule && rule->location == SIM_LOC_NO)
		return;
	job_url(q, record, rule, &url);
	sim_answer_header(a, "Location", buf_span(&url));
	buf_release(&url);
}

static const char *word_of(const struct sim_record *r)
{
	static const char *const words[] = {
		[SIM_COMMITTED] = "COMPLETED", [SIM_RUNNING] = "PROCESSING",
		[SIM_JOB_FAILED] = "FAILED", [SIM_JOB_PARTIAL] = "PARTIAL",
		[SIM_REMOVED] = "CANCELLED"
	};

	return r->word && r->state != SIM_RUNNING ? r->word : words[r->state];
}

static void job(struct sim *sim, uint32_t record, struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);

	vendor_json(a, 200);
	buf_addc(&a->body, '{');
	vendor_member(&a->body, "status", word_of(r));
	buf_addf(&a->body, ",\"requestId\":\"req-%06u\"", record);
	if (r->state == SIM_JOB_FAILED)
		buf_adds(&a->body, ",\"errorCode\":\"SUBJECT_LOCKED\"");
	buf_addc(&a->body, '}');
}

static void fault(struct sim *sim, const struct sim_request *q, int status,
		  struct sim_answer *a)
{
	static const struct {
		int status;
		const char *code, *words;
	} known[] = {
		{200, "INVALID_DATA", "A value is out of range"},
		{400, "MALFORMED", "The document is not readable"},
		{401, "UNAUTHORIZED", "The token is not valid"},
		{403, "FORBIDDEN", "This account may not write here"},
		{404, "NOT_FOUND", "There is no such study"},
		{409, "CONFLICT", "The subject is being changed"},
		{422, "INVALID_DATA", "A value is out of range"},
		{429, "TOO_MANY_REQUESTS", "Try again later"},
		{500, "INTERNAL", "The request could not be completed"},
		{503, "UNAVAILABLE", "Try again later"},
		{SIM_FAULT_NAMESPACES, "schema_validation", no_element}
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].status == status)
			tell(sim, q, status < 0 ? 400 : status, "ERROR",
			     known[i].code, known[i].words, a);
}

const struct sim_vendor sim_oracle = {
	.name = "oracle-clinical",
	.read = read,
	.judge = judge,
	.stored = stored,
	.job = job,
	.item = vendor_item_digest,
	.fault = fault
};
