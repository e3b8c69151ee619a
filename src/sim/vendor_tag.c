/*
 * vendor_tag.c - plays: metadata-tag, a platform without idempotency keys.
 *
 *   POST {path}          201 {"id", "status": "done", "metadata": {...}}
 *                        202 {"id", "status": "running", ...}
 *   GET {path}/{id}      the same object, as far as it is
 *   GET {path}?op_id=    {"items": [...], "next": "..."}, and GET {path}
 *
 * Each POST that is let through makes another object: nothing is deduped.
 */
#include <config.h>

#include "sim/vendor.h"

static const char *const status_word[] = {
	[SIM_COMMITTED] = "done", [SIM_RUNNING] = "running",
	[SIM_JOB_FAILED] = "error", [SIM_JOB_PARTIAL] = "error",
	[SIM_REMOVED] = "removed"
};

static void item(const struct sim *sim, uint32_t record, bool payload,
		 struct buf *out)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	const struct sim_op *o = ledger_op_at(&sim->ledger, r->op);
	const char *word = status_word[r->state];

	if (r->word && r->state != SIM_RUNNING)
		word = r->word;
	buf_adds(out, "{\"id\":\"");
	vendor_id(record, r->job, out);
	buf_adds(out, "\",");
	vendor_member(out, "status", word);
	buf_adds(out, ",\"metadata\":{");
	vendor_member(out, "op_id", o->op_id);
	buf_adds(out, "},");
	vendor_member(out, "payload_sha256", r->sha256);
	if (r->state == SIM_JOB_FAILED)
		buf_adds(out, ",\"error\":{\"code\":\"visit_locked\","
			 "\"message\":\"The visit is locked\"}");
	if (r->state == SIM_JOB_PARTIAL)
		buf_adds(out, ",\"failed\":[{\"index\":1,\"code\":\"range\","
			 "\"message\":\"The value is out of range\"}]");
	if (payload && r->payload) {
		buf_adds(out, ",\"payload\":");
		buf_add(out, r->payload, r->payload_n);
	}
	buf_addc(out, '}');
}

static void stored(struct sim *sim, const struct sim_request *q,
		   uint32_t record, const struct sim_rule *rule,
		   struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	struct buf url = BUF_INIT;

	a->content_type = "application/json";
	a->status = !r->job ? 201 :
		rule && rule->envelope ? rule->envelope : 202;
	item(sim, record, false, &a->body);
	if (!r->job || (rule && rule->location == SIM_LOC_NO))
		return;
	if (rule && rule->location == SIM_LOC_ABSOLUTE && q->host.n) {
		buf_adds(&url, "http://");
		buf_addspan(&url, q->host);
	}
	buf_addspan(&url, q->path);
	buf_addc(&url, '/');
	vendor_id(record, true, &url);
	sim_answer_header(a, "Location", buf_span(&url));
	buf_release(&url);
}

static void job(struct sim *sim, uint32_t record, struct sim_answer *a)
{
	a->status = 200;
	a->content_type = "application/json";
	item(sim, record, true, &a->body);
}

const struct sim_vendor sim_tag = {
	.name = "metadata-tag",
	.dedupes = false,
	.stored = stored,
	.job = job,
	.item = item
};
