/*
 * vendor_castor.c - plays: castor and castor-reports.
 *
 *   POST .../data-point-collection/study   201 {"total_processed", ...,
 *        "success": [...], "failed": [...]}: what failed is in a 2xx
 *   POST .../record, .../report-instance   201 HAL with _links and id
 *   GET  .../report-instance               {"_embedded": {...}}, by pages; 404
 *        when there is none
 *   GET  .../api/user
 *
 * Values overwrite: the same once more changes nothing. Creations do not.
 * A field_id that begins with NO-SUCH makes the whole request a 500, as a
 * wrong field does; a field_value of REFUSED is one that fails.
 */
#include <config.h>

#include <string.h>

#include "sim/intake.h"
#include "sim/vendor.h"

#define HAL "application/hal+json"

static void problem(struct sim_answer *a, int status, const char *title,
		    const char *detail)
{
	a->status = status;
	a->content_type = "application/problem+json";
	buf_clear(&a->body);
	buf_addf(&a->body, "{\"type\":\"https://www.castoredc.com/problems/"
		 "%d\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}",
		 status, title, status, detail);
}

static bool creates(const struct sim_request *q)
{
	return vendor_ends(q->path, "/record") ||
		vendor_ends(q->path, "/site") ||
		vendor_ends(q->path, "/report-instance");
}

/* The part of the path behind a word: /study/{this}/ */
static struct span behind(struct span path, const char *word)
{
	size_t n = strlen(word), i, end;

	for (i = 0; i + n < path.n; i++) {
		if (memcmp(path.p + i, word, n) != 0)
			continue;
		for (end = i + n; end < path.n && path.p[end] != '/'; end++)
			;
		return (struct span){path.p + i + n, end - i - n};
	}
	return (struct span){NULL, 0};
}

static void read(struct sim *sim, const struct sim_request *q,
		 struct sim_intake *in)
{
	static const char *const tag[] = {"/report_name_custom", NULL};
	static const char *const subject[] = {"/record_id", NULL};

	intake_record(sim, in);
	in->study = behind(q->path, "/study/");
	in->subject = behind(q->path, "/record/");
	in->form = vendor_last_part(q->path);
	if (!intake_json(sim, q->body, in))
		return;
	if (vendor_ends(q->path, "/report-instance"))
		in->op_id = intake_text(sim, INTAKE_TAG, tag);
	else if (creates(q))
		in->subject = intake_text(sim, INTAKE_SUBJECT, subject);
}

static bool queues(struct sim *sim, const struct sim_request *q)
{
	(void)sim;
	(void)q;
	return false;
}

static bool refused(const struct sim *sim, uint32_t point)
{
	return json_string_is(&sim->doc, json_get(&sim->doc, point,
						  "field_value"), "REFUSED");
}

static uint32_t first_point(const struct sim *sim)
{
	return json_child(&sim->doc, json_get(&sim->doc, 0, "data"));
}

/* total, and how many of them fail; false: a field that is none. */
static bool count_points(const struct sim *sim, uint32_t *total,
			 uint32_t *failed)
{
	struct buf id = BUF_INIT;
	uint32_t node;
	bool known = true;

	*total = *failed = 0;
	for (node = first_point(sim); node != JSON_NONE;
	     node = json_next(&sim->doc, node)) {
		(*total)++;
		*failed += refused(sim, node);
		buf_clear(&id);
		json_string(&sim->doc, json_get(&sim->doc, node, "field_id"),
			    &id);
		known = known && !span_starts(buf_span(&id), "NO-SUCH");
	}
	buf_release(&id);
	return known;
}

/* Those that failed or those that did not, with commas. The first `forced`
 * fail whatever they are. */
static void points(const struct sim *sim, bool failed, uint32_t forced,
		   struct buf *out)
{
	uint32_t node, n = 0;
	bool comma = false;

	for (node = first_point(sim); node != JSON_NONE;
	     node = json_next(&sim->doc, node)) {
		uint32_t id = json_get(&sim->doc, node, "field_id");

		if ((n++ < forced || refused(sim, node)) != failed)
			continue;
		buf_adds(out, comma ? ",{\"field_id\":" : "{\"field_id\":");
		if (json_is(&sim->doc, id, JSON_STRING))
			buf_addspan(out, json_raw(&sim->doc, id));
		else
			buf_adds(out, "null");
		if (failed)
			buf_adds(out, ",\"code\":\"BAD_REQUEST\",\"message\":"
				 "\"The value is not valid for this field\"");
		buf_addc(out, '}');
		comma = true;
	}
}

static void tell_points(const struct sim *sim, uint32_t forced,
			struct sim_answer *a)
{
	uint32_t total, failed;

	count_points(sim, &total, &failed);
	if (forced)
		failed = forced < total ? forced : total;
	a->status = 201;
	a->content_type = HAL;
	buf_addf(&a->body, "{\"total_processed\":%u,\"total_success\":%u,"
		 "\"total_failed\":%u,\"success\":[", total, total - failed,
		 failed);
	points(sim, false, forced, &a->body);
	buf_adds(&a->body, "],\"failed\":[");
	points(sim, true, forced, &a->body);
	buf_adds(&a->body, "]}");
}

static bool subject_there(const struct sim *sim, uint32_t op,
			  const struct sim_intake *in)
{
	const struct ledger *l = &sim->ledger;
	uint32_t i;

	for (i = 1; i <= l->ops_n; i++) {
		const struct sim_op *o = ledger_op_at(l, i);

		if (o->commits && (i == op || (o->subject && in->subject.n &&
					       span_is(in->subject,
						       o->subject))) &&
		    o->form && span_is(in->form, o->form))
			return true;
	}
	return false;
}

static enum sim_judge judge(struct sim *sim, const struct sim_request *q,
			    const struct sim_intake *in, uint32_t op,
			    uint32_t *record, struct sim_answer *a)
{
	uint32_t total, failed, last = vendor_committed(sim, op);

	if (!json_is(&sim->doc, 0, JSON_OBJECT)) {
		problem(a, 400, "Bad Request", "The body is not valid JSON");
		return SIM_TURNS_DOWN;
	}
	if (vendor_ends(q->path, "/record") && subject_there(sim, op, in)) {
		problem(a, 422, "Failed Validation", "Record already exists");
		return SIM_TURNS_DOWN;
	}
	if (creates(q))
		return SIM_TAKES;
	if (!count_points(sim, &total, &failed)) {
		problem(a, 500, "Internal Server Error",
			"The field was not found in this study");
		return SIM_TURNS_DOWN;
	}
	if (total && failed == total) {
		tell_points(sim, UINT32_MAX, a);
		return SIM_TURNS_DOWN;
	}
	if (failed)
		return SIM_TAKES_PARTLY;
	*record = last;
	return last && !strcmp(ledger_record_at(&sim->ledger, last)->sha256,
			       in->sha256) ? SIM_HAS_IT : SIM_TAKES;
}

static void link_self(const struct sim_request *q, uint32_t record,
		      struct buf *out)
{
	struct buf url = BUF_INIT;

	vendor_origin(q, &url);
	buf_addspan(&url, q->path);
	buf_addc(&url, '/');
	vendor_id(record, false, &url);
	buf_adds(out, "\"_links\":{\"self\":{\"href\":");
	json_quote(out, buf_span(&url));
	buf_adds(out, "}}");
	buf_release(&url);
}

static void stored(struct sim *sim, const struct sim_request *q,
		   uint32_t record, const struct sim_rule *rule,
		   struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	uint32_t total, failed;

	(void)rule;
	if (!creates(q)) {
		count_points(sim, &total, &failed);
		tell_points(sim, r->state == SIM_JOB_FAILED ? UINT32_MAX :
			    r->state == SIM_JOB_PARTIAL && !failed, a);
		return;
	}
	if (r->state != SIM_COMMITTED) {
		problem(a, 422, "Failed Validation",
			"A value did not pass validation");
		return;
	}
	a->status = 201;
	a->content_type = HAL;
	sim->vendor->item(sim, record, false, &a->body);
	a->body.len--;		/* its bracket */
	buf_addc(&a->body, ',');
	link_self(q, record, &a->body);
	buf_addc(&a->body, '}');
}

static void item(const struct sim *sim, uint32_t record, bool payload,
		 struct buf *out)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	const struct sim_op *o = ledger_op_at(&sim->ledger, r->op);

	(void)payload;
	buf_adds(out, "{\"id\":\"");
	vendor_id(record, false, out);
	buf_adds(out, "\",");
	vendor_member(out, "name", o->op_id);
	buf_adds(out, ",\"archived\":");
	buf_adds(out, r->state == SIM_REMOVED ? "true}" : "false}");
}

static void job(struct sim *sim, uint32_t record, struct sim_answer *a)
{
	a->status = 200;
	a->content_type = HAL;
	item(sim, record, true, &a->body);
}

static void reports(struct sim *sim, const struct sim_request *q,
		    int64_t lag_ms, struct sim_answer *a)
{
	struct sim_page page = {{NULL, 0}, q->path, lag_ms, true};
	struct buf list = BUF_INIT, url = BUF_INIT;
	uint32_t more = vendor_page(sim, q, &page, &list);

	if (!list.len) {
		problem(a, 404, "Not Found", "There are no report instances.");
	} else {
		a->status = 200;
		a->content_type = HAL;
		buf_adds(&a->body, "{\"_embedded\":{\"reportInstances\":[");
		buf_addspan(&a->body, buf_span(&list));
		buf_adds(&a->body, "]},\"_links\":{\"self\":{\"href\":");
		vendor_next(q, "op_id", page.tag, 0, &url);
		json_quote(&a->body, buf_span(&url));
		if (more) {
			buf_clear(&url);
			vendor_next(q, "op_id", page.tag, more, &url);
			buf_adds(&a->body, "},\"next\":{\"href\":");
			json_quote(&a->body, buf_span(&url));
		}
		buf_adds(&a->body, "}}}");
	}
	buf_release(&list);
	buf_release(&url);
}

static void look(struct sim *sim, const struct sim_request *q,
		 int64_t lag_ms, struct sim_answer *a)
{
	if (vendor_ends(q->path, "/report-instance")) {
		reports(sim, q, lag_ms, a);
	} else if (vendor_ends(q->path, "/user")) {
		vendor_text(a, 200, HAL, "{\"_embedded\":{\"user\":[{\"id\":"
			    "\"DEMO\"}]}}");
	} else {
		struct sim_page page = {{NULL, 0}, q->path, lag_ms, true};

		vendor_text(a, 200, HAL, "{\"_embedded\":{\"items\":[");
		vendor_page(sim, q, &page, &a->body);
		buf_adds(&a->body, "]}}");
	}
}

static void fault(struct sim *sim, const struct sim_request *q, int status,
		  struct sim_answer *a)
{
	static const struct {
		int status;
		const char *title, *detail;
	} words[] = {
		{200, "Failed Validation", "A value did not pass validation"},
		{400, "Bad Request", "The body is not valid JSON"},
		{401, "invalid_token", "The access token is not valid"},
		{403, "Forbidden", "You do not have access to this study"},
		{404, "Not Found", "Entity not found."},
		{409, "Conflict", "The record is being changed"},
		{422, "Failed Validation", "A value did not pass validation"},
		{429, "Too Many Requests", "600 calls in 10 minutes"},
		{500, "Internal Server Error",
			"The field was not found in this study"},
		{503, "Service Unavailable", "Castor is being maintained"}
	};
	size_t i;

	(void)sim;
	(void)q;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].status == status)
			problem(a, status, words[i].title, words[i].detail);
}

#define CASTOR \
	.list_looks = true, .read = read, .queues = queues, .judge = judge, \
	.stored = stored, .job = job, .item = item, .look = look, \
	.fault = fault

const struct sim_vendor sim_castor = {.name = "castor", CASTOR};
const struct sim_vendor sim_castor_reports = {
	.name = "castor-reports", CASTOR
};
