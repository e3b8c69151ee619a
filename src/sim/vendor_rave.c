/*
 * vendor_rave.c - plays: medidata-rave and medidata-rave-views, its two ways
 * in and, by its Clinical Views, one out.
 *
 *   POST ...webservice.aspx?PostODMClinicalData   XML; 200 or an error, as
 *        <Response .../> or as <ODM mdsol:ErrorDescription="..."/>, behind a
 *        byte order mark; never a job
 *   GET  .../RaveWebServices/version              no log-in
 *   POST {path}   JSON bulk: 201 {"status": "success", "items": [...]}, or
 *        202 {"batch_id", "status": "queued"}
 *   GET  {base}/jobs/{batch_id}
 *   GET  .../studies/{study}/subjects/{subject}/datasets/raw   ODM
 *
 * TransactionType Update and Upsert once more change nothing; an Insert of a
 * subject that is there is RWS00024.
 */
#include <config.h>

#include <string.h>

#include "core/utf8.h"
#include "sim/intake.h"
#include "sim/odm.h"
#include "sim/shape.h"
#include "sim/vendor.h"

#define MDSOL "http://www.mdsol.com/ns/odm/metadata"
#define ODM_NS "http://www.cdisc.org/ns/odm/v1.3"

static bool is_rws(const struct sim_request *q)
{
	return vendor_ends(q->path, "/webservice.aspx");
}

/* For the views; the ledger keeps JSON, so as a text of it. */
static void keep_document(struct sim *sim, struct span body,
			  struct sim_intake *in)
{
	struct buf *b = &sim->text[INTAKE_PAYLOAD];

	if (!sim->scenario.keep_payloads || !sim->facts.xml ||
	    !utf8_valid(body))
		return;
	buf_clear(b);
	json_quote(b, body);
	in->payload = buf_span(b);
}

static void read(struct sim *sim, const struct sim_request *q,
		 struct sim_intake *in)
{
	static const char *const subject[] = {
		"/records/0/id", "/records/0/record_id", NULL
	};

	intake_record(sim, in);
	if (is_rws(q)) {
		odm_read(sim, q->body, in);
		keep_document(sim, q->body, in);
		return;
	}
	if (!intake_json(sim, q->body, in))
		return;
	in->subject = intake_text(sim, INTAKE_SUBJECT, subject);
}

static bool queues(struct sim *sim, const struct sim_request *q)
{
	(void)sim;
	return !is_rws(q);
}

static void xml_attribute(struct buf *out, const char *name,
			  struct span value)
{
	buf_addf(out, " %s=\"", name);
	vendor_xml_text(out, value);
	buf_addc(out, '"');
}

static void begin_xml(struct sim_answer *a, int status)
{
	vendor_text(a, status, "text/xml", "\xef\xbb\xbf<?xml version=\"1.0\" "
		    "encoding=\"utf-8\"?>\n");
}

/* The FileOID of the document at hand. */
static struct span file_oid(const struct sim *sim)
{
	struct span oid = buf_span(&sim->text[INTAKE_TAG]);

	return oid.n ? oid : SPAN("Not Supplied");
}

static void begin_response(const struct sim *sim, int status, bool success,
			   uint32_t number, struct sim_answer *a)
{
	begin_xml(a, status);
	buf_addf(&a->body, "<Response ReferenceNumber=\"5b1fa9de-da11-4e52-"
		 "a8ec-%012u\"", number);
	xml_attribute(&a->body, "InboundODMFileOID", file_oid(sim));
	buf_addf(&a->body, " IsTransactionSuccessful = \"%d\"", success);
}

static void touched(const struct sim *sim, bool something, struct buf *out)
{
	buf_addf(out, " SuccessStatistics=\"Rave objects touched: Subjects=%d"
		 "; Folders=%d; Forms=%d; Fields=%u; LogLines=0\"",
		 something && sim->facts.insert, something, something,
		 something ? sim->facts.items : 0);
}

static void refuse(const struct sim *sim, int status, const char *code,
		   const char *words, struct sim_answer *a)
{
	begin_response(sim, status, false, sim->ledger.ops_n, a);
	xml_attribute(&a->body, "ReasonCode", span_of(code));
	xml_attribute(&a->body, "ErrorOriginLocation",
		      SPAN("/ODM/ClinicalData[1]/SubjectData[1]"));
	touched(sim, false, &a->body);
	xml_attribute(&a->body, "ErrorClientResponseMessage", span_of(words));
	buf_adds(&a->body, "/>");
}

/* The other root. */
static void describe(int status, const char *words, struct sim_answer *a)
{
	begin_xml(a, status);
	buf_adds(&a->body, "<ODM xmlns:mdsol=\"" MDSOL "\" FileType="
		 "\"Snapshot\" FileOID=\"b1fa9ded\" CreationDateTime="
		 "\"2026-11-29T12:00:00.000-00:00\" ODMVersion=\"1.3\"");
	xml_attribute(&a->body, "mdsol:ErrorDescription", span_of(words));
	buf_adds(&a->body, " xmlns=\"" ODM_NS "\" />");
}

/* Is there a subject of this name, by whatever document? */
static bool subject_there(const struct sim *sim, const struct sim_intake *in)
{
	const struct ledger *l = &sim->ledger;
	uint32_t i;

	for (i = 1; in->subject.n && i <= l->ops_n; i++) {
		const struct sim_op *o = ledger_op_at(l, i);

		if (o->commits && o->subject &&
		    span_is(in->subject, o->subject) &&
		    (!o->study || span_is(in->study, o->study)))
			return true;
	}
	return false;
}

static enum sim_judge judge(struct sim *sim, const struct sim_request *q,
			    const struct sim_intake *in, uint32_t op,
			    uint32_t *record, struct sim_answer *a)
{
	uint32_t last = vendor_committed(sim, op);

	if (!is_rws(q)) {
		if (json_is(&sim->doc, 0, JSON_OBJECT) ||
		    json_is(&sim->doc, 0, JSON_ARRAY))
			return SIM_TAKES;
		shape_problem(a, 400, "malformed", "The body is not JSON");
		return SIM_TURNS_DOWN;
	}
	if (!q->q_post_odm) {
		vendor_text(a, 405, "text/html", "<html><head><title>OOPS! "
			    "Error Occurred</title></head></html>");
		return SIM_TURNS_DOWN;
	}
	if (!sim->facts.xml) {
		describe(400, "Document is not well-formed XML. [RWS00001]",
			 a);
		return SIM_TURNS_DOWN;
	}
	if (sim->facts.insert && subject_there(sim, in)) {
		refuse(sim, 400, "RWS00024", "Subject already exists.", a);
		return SIM_TURNS_DOWN;
	}
	*record = last;
	return last && sim->facts.update &&
		!strcmp(ledger_record_at(&sim->ledger, last)->sha256,
			in->sha256) ? SIM_HAS_IT : SIM_TAKES;
}

static const char *word_of(const struct sim_record *r)
{
	if (r->state == SIM_RUNNING)
		return "processing";
	if (r->word)
		return r->word;
	return r->state == SIM_JOB_FAILED ? "failed" : "completed";
}

/* {"batch_id", "status", "items"} as far as it is. */
static void batch(struct sim *sim, uint32_t record, const char *word,
		  struct buf *out)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);

	buf_addc(out, '{');
	if (r->job) {
		buf_adds(out, "\"batch_id\":\"");
		vendor_id(record, true, out);
		buf_adds(out, "\",");
	}
	vendor_member(out, "status", word);
	if (r->state == SIM_JOB_FAILED)
		buf_adds(out, ",\"error\":{\"code\":\"RWS00092\"}");
	if (r->state == SIM_COMMITTED || r->state == SIM_JOB_PARTIAL) {
		buf_adds(out, ",\"items\":[{\"id\":\"");
		vendor_id(record, false, out);
		buf_adds(out, "\",\"status\":\"success\"}");
		if (r->state == SIM_JOB_PARTIAL)
			buf_adds(out, ",{\"id\":\"2\",\"status\":\"failed\","
				 "\"code\":\"RWS00042\"}");
		buf_addc(out, ']');
	}
	buf_addc(out, '}');
}

static void bulk_stored(struct sim *sim, const struct sim_request *q,
			uint32_t record, const struct sim_rule *rule,
			struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	struct buf url = BUF_INIT;

	if (!r->job) {
		vendor_json(a, 201);
		batch(sim, record, "success", &a->body);
		return;
	}
	vendor_json(a, rule && rule->envelope ? rule->envelope : 202);
	batch(sim, record, r->state == SIM_RUNNING ? "queued" : word_of(r),
	      &a->body);
	if (rule && rule->location == SIM_LOC_NO)
		return;
	if (rule && rule->location == SIM_LOC_ABSOLUTE)
		vendor_origin(q, &url);
	buf_addspan(&url, vendor_folder(q->path));
	buf_adds(&url, "jobs/");
	vendor_id(record, true, &url);
	sim_answer_header(a, "Location", buf_span(&url));
	buf_release(&url);
}

static void stored(struct sim *sim, const struct sim_request *q,
		   uint32_t record, const struct sim_rule *rule,
		   struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);

	if (!is_rws(q)) {
		bulk_stored(sim, q, record, rule, a);
		return;
	}
	if (r->state == SIM_JOB_FAILED) {
		refuse(sim, 400, "RWS00092", "CRF version not found.", a);
		return;
	}
	begin_response(sim, r->state == SIM_JOB_PARTIAL ? 400 : 200,
		       r->state != SIM_JOB_PARTIAL, record, a);
	touched(sim, !sim->facts.again, &a->body);
	if (r->state == SIM_JOB_PARTIAL)
		buf_adds(&a->body, " ReasonCode=\"RWS00042\" "
			 "ErrorClientResponseMessage=\"A field is not "
			 "authorised.\"");
	buf_adds(&a->body, " NewRecords=\"\" SubjectNumberInStudy=\"1\" "
		 "SubjectNumberInStudySite=\"1\"/>");
}

static void job(struct sim *sim, uint32_t record, struct sim_answer *a)
{
	vendor_json(a, 200);
	batch(sim, record, word_of(ledger_record_at(&sim->ledger, record)),
	      &a->body);
}

static void view_record(const struct sim_record *r, struct buf *out)
{
	struct json doc = {0};
	struct buf text = BUF_INIT;

	if (json_parse(&doc, r->payload, r->payload_n, 0) &&
	    json_string(&doc, 0, &text))
		odm_view(buf_span(&text), out);
	json_release(&doc);
	buf_release(&text);
}

/* What the subject's documents say, the newest of each operation. */
static void view(struct sim *sim, struct span subject, int64_t lag_ms,
		 int64_t now_ms, struct sim_answer *a)
{
	const struct ledger *l = &sim->ledger;

	begin_xml(a, 200);
	buf_adds(&a->body, "<ODM FileType=\"Snapshot\" FileOID=\"6b967555\" "
		 "CreationDateTime=\"2026-11-29T12:00:00.000-00:00\" "
		 "ODMVersion=\"1.3\" xmlns:mdsol=\"" MDSOL "\" xmlns=\""
		 ODM_NS "\">");
	for (uint32_t i = 1; i <= l->ops_n; i++) {
		uint32_t last = vendor_committed(sim, i);
		const struct sim_record *r = last ? ledger_record_at(l, last) :
			NULL;
		const char *of = ledger_op_at(l, i)->subject;

		if (r && r->payload && of && span_is(subject, of) &&
		    r->at_ms + lag_ms <= now_ms)
			view_record(r, &a->body);
	}
	buf_adds(&a->body, "</ODM>");
}

static void look(struct sim *sim, const struct sim_request *q,
		 int64_t lag_ms, struct sim_answer *a)
{
	static const char tail[] = "/datasets/raw";
	struct span subject = q->path;

	if (vendor_ends(q->path, tail)) {
		subject.n -= sizeof(tail) - 1;
		view(sim, vendor_last_part(subject), lag_ms, q->now_ms, a);
	} else if (vendor_ends(q->path, "/RaveWebServices/version")) {
		vendor_text(a, 200, "text/plain", "1.8.0");
	} else {
		vendor_items(sim, q, lag_ms, a);
	}
}

static void fault(struct sim *sim, const struct sim_request *q, int status,
		  struct sim_answer *a)
{
	if (!is_rws(q))
		return;
	switch (status) {
	case 401:
		if (q->authorization.n)
			describe(401, "Incorrect login and password "
				 "combination. [RWS00008]", a);
		else
			vendor_text(a, 401, "text/html", "Authorization "
				    "Header not provided");
		break;
	case 403:
		refuse(sim, 403, "RWS00042", "A field is not authorised.", a);
		break;
	case 404:
		describe(404, "There is no study with this name. [RWS00013]",
			 a);
		break;
	case 429:
		vendor_text(a, 500, "text/html", "HTTP 500.13 Web server is "
			    "too busy.");
		break;
	case 500:
		describe(500, "An unexpected error occurred. [RWS00000]", a);
		break;
	case 503:
	case SIM_FAULT_OUTAGE:
		vendor_text(a, 503, "text/html", "HTTP 503 Service "
			    "Temporarily Unavailable");
		break;
	case 200:
	case 400:
	case 422:
		refuse(sim, status == 200 ? 200 : 400, "RWS00092",
		       "CRF version not found.", a);
		break;
	case SIM_FAULT_NAMESPACES:
		refuse(sim, 400, "RWS00001", "The document has no element "
		       "that is known.", a);
		break;
	default:
		break;
	}
}

#define RAVE \
	.read = read, .queues = queues, .judge = judge, .stored = stored, \
	.job = job, .item = vendor_item_digest, .look = look, .fault = fault, \
	.open_path = "/RaveWebServices/version"

const struct sim_vendor sim_rave = {.name = "medidata-rave", RAVE};
const struct sim_vendor sim_rave_views = {
	.name = "medidata-rave-views", .list_looks = true, RAVE
};
