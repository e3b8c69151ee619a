/*
 * vendor_generic.c - plays: generic-rest (CONTRACT.md "On the wire").
 *
 *   POST {path}                201 {"id", "op_id", "status": "committed"}
 *                              202 {"job_id", "op_id", "status": "queued"}
 *   GET {base}/jobs/{job_id}   {"job_id", "status": "processing" ...}
 *   GET {path}?op_id=, {path}  {"items": [...], "next": "..."}
 */
#include <config.h>

#include "sim/vendor.h"

#include <string.h>

static const char *const item_status[] = {
	[SIM_COMMITTED] = "committed", [SIM_RUNNING] = "processing",
	[SIM_JOB_FAILED] = "rejected", [SIM_JOB_PARTIAL] = "rejected",
	[SIM_REMOVED] = "removed"
};

/* The base is what stands before the last part of the path. */
static void job_url(const struct sim_request *q, uint32_t record,
		    enum sim_location where, struct buf *out)
{
	size_t n = q->path.n;

	while (n && q->path.p[n - 1] != '/')
		n--;
	if (where == SIM_LOC_ABSOLUTE && q->host.n) {
		buf_adds(out, "http://");
		buf_addspan(out, q->host);
	}
	buf_add(out, q->path.p, n);
	buf_adds(out, "jobs/");
	vendor_id(record, true, out);
}

static void accepted(struct sim *sim, const struct sim_request *q,
		     uint32_t record, const struct sim_rule *rule,
		     struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	enum sim_location where = rule ? rule->location : SIM_LOC_YES;
	struct buf url = BUF_INIT;

	a->status = rule && rule->envelope ? rule->envelope : 202;
	buf_adds(&a->body, "{\"job_id\":\"");
	vendor_id(record, true, &a->body);
	buf_adds(&a->body, "\",\"status\":\"queued\",");
	vendor_member(&a->body, "op_id",
		      ledger_op_at(&sim->ledger, r->op)->op_id);
	buf_addc(&a->body, '}');
	if (where == SIM_LOC_NO)
		return;
	job_url(q, record, where, &url);
	sim_answer_header(a, "Location", buf_span(&url));
	buf_release(&url);
}

static void stored(struct sim *sim, const struct sim_request *q,
		   uint32_t record, const struct sim_rule *rule,
		   struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);

	a->content_type = "application/json";
	if (r->job) {
		accepted(sim, q, record, rule, a);
		return;
	}
	a->status = 201;
	buf_adds(&a->body, "{\"id\":\"");
	vendor_id(record, false, &a->body);
	buf_adds(&a->body, "\",\"status\":\"committed\",");
	vendor_member(&a->body, "op_id",
		      ledger_op_at(&sim->ledger, r->op)->op_id);
	buf_addc(&a->body, '}');
}

#define RESULT "/result"

static struct span job_path(const struct sim_request *q)
{
	size_t n = q->path.n;

	if (vendor_ends(q->path, RESULT))
		n -= strlen(RESULT);
	return (struct span){q->path.p, n};
}

static enum sim_kind kind(struct sim *sim, const struct sim_request *q)
{
	struct span last = vendor_last_part(job_path(q));

	(void)sim;
	if (!span_is(q->method, "GET") && !span_is(q->method, "HEAD"))
		return SIM_SEND;
	if (span_starts(last, "rec-") || span_starts(last, "job-"))
		return SIM_POLL;
	return q->q_op_id.n ? SIM_LOOK_UP : SIM_LIST;
}

static uint32_t polled(struct sim *sim, const struct sim_request *q)
{
	struct span id = vendor_last_part(job_path(q));
	uint32_t record = ledger_record_named(&sim->ledger, id);
	bool result = job_path(q).n != q->path.n;

	sim->facts.result = result;
	if (result && (sim->scenario.results == SIM_RESULTS_JOB || !record ||
		       ledger_record_at(&sim->ledger, record)->state ==
		       SIM_RUNNING))
		return 0;
	return record;
}

static bool told_elsewhere(const struct sim *sim)
{
	return sim->scenario.results != SIM_RESULTS_JOB;
}

static const char *job_word(const struct sim *sim, const struct sim_record *r)
{
	if (r->state == SIM_RUNNING)
		return "processing";
	if (r->word)
		return r->word;
	return r->state == SIM_JOB_FAILED && !told_elsewhere(sim) ?
		"failed" : "completed";
}

/* What became of three items: the second alone is refused in part. */
static void result(struct sim *sim, uint32_t record, struct sim_answer *a)
{
	static const char *const items[] = {"SYSBP", "DIABP", "PULSE"};
	enum sim_state state = ledger_record_at(&sim->ledger, record)->state;
	bool csv = sim->scenario.results == SIM_RESULTS_CSV;

	a->status = 200;
	a->content_type = csv ? "text/csv; charset=utf-8" : "application/json";
	buf_adds(&a->body, csv ? "\xef\xbb\xbfItem,Outcome,Code,Message\r\n" :
		 "{\"results\":[");
	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		bool bad = state == SIM_JOB_FAILED ||
			(state == SIM_JOB_PARTIAL && i == 1);

		buf_addf(&a->body, csv ? "%s%s,%s,%s,\"%s\"\r\n" :
			 "%s{\"item\":\"%s\",\"outcome\":\"%s\","
			 "\"code\":\"%s\",\"message\":\"%s\"}",
			 csv || !i ? "" : ",", items[i],
			 bad ? "Failed" : "Inserted", bad ? "range" : "",
			 bad ? "The value is out of range, or so" : "");
	}
	buf_adds(&a->body, csv ? "\r\n" : "]}");
}

/* The end of a job that tells no more. */
static void through(uint32_t record, struct buf *out)
{
	buf_adds(out, ",\"result_url\":\"");
	vendor_id(record, true, out);
	buf_adds(out, RESULT "\"");
}

static void job(struct sim *sim, uint32_t record, struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);

	if (sim->facts.result) {
		result(sim, record, a);
		return;
	}
	a->status = 200;
	a->content_type = "application/json";
	buf_adds(&a->body, "{\"job_id\":\"");
	vendor_id(record, true, &a->body);
	buf_adds(&a->body, "\",");
	vendor_member(&a->body, "status", job_word(sim, r));
	if (told_elsewhere(sim)) {
		if (r->state != SIM_RUNNING)
			through(record, &a->body);
	} else if (r->state == SIM_COMMITTED) {
		buf_adds(&a->body, ",\"id\":\"");
		vendor_id(record, false, &a->body);
		buf_addc(&a->body, '"');
	} else if (r->state == SIM_JOB_FAILED) {
		buf_adds(&a->body, ",\"error\":{\"code\":\"visit_locked\","
			 "\"message\":\"The visit is locked\"}");
	} else if (r->state == SIM_JOB_PARTIAL) {
		buf_adds(&a->body, ",\"failed\":[{\"index\":1,"
			 "\"code\":\"range\",\"message\":\"The value is out "
			 "of range\"}]");
	}
	buf_addc(&a->body, '}');
}

static void item(const struct sim *sim, uint32_t record, bool payload,
		 struct buf *out)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	const struct sim_op *o = ledger_op_at(&sim->ledger, r->op);

	buf_adds(out, "{\"id\":\"");
	vendor_id(record, false, out);
	buf_adds(out, "\",");
	vendor_member(out, "op_id", o->op_id);
	buf_addc(out, ',');
	vendor_member(out, "idempotency_key", o->key);
	buf_addc(out, ',');
	vendor_member(out, "status", item_status[r->state]);
	if (r->job) {
		buf_adds(out, ",\"job_id\":\"");
		vendor_id(record, true, out);
		buf_addc(out, '"');
	}
	buf_addc(out, ',');
	vendor_member(out, "payload_sha256", r->sha256);
	if (payload && r->payload) {
		buf_adds(out, ",\"payload\":");
		buf_add(out, r->payload, r->payload_n);
	}
	buf_addc(out, '}');
}

const struct sim_vendor sim_generic = {
	.name = "generic-rest",
	.dedupes = true,
	.kind = kind,
	.polled = polled,
	.stored = stored,
	.job = job,
	.item = item
};
