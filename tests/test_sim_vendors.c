/*
 * The vendors that edcsim speaks like, without a socket: each with its own
 * oddities. What a table sends goes to one vendor, row after row, so a row
 * may find what an earlier one stored.
 */
#include <config.h>

#include "check.h"

#include <stdlib.h>

#include "core/xml.h"
#include "sim/sim.h"
#include "sim/vendor.h"

#define UTC_MS INT64_C(1796000000250)
#define RWS "/RaveWebServices/webservice.aspx"
#define ODM(type, oid, key) \
	"<?xml version=\"1.0\"?><ODM xmlns=\"http://www.cdisc.org/ns/odm/v1.3\"" \
	" FileOID=\"" oid "\"><ClinicalData StudyOID=\"S\"><SubjectData " \
	"SubjectKey=\"" key "\" TransactionType=\"" type "\"><ItemData/>" \
	"</SubjectData></ClinicalData></ODM>"
#define OBSERVATION(tag, status) \
	"{\"identifier\":[{\"system\":\"urn:edcsync:op-id\",\"value\":\"" \
	tag "\"}],\"resourceType\":\"Observation\",\"status\":\"" status "\"}"
#define BARE {.now_ms = 0}	/* nothing beside the body */
#define NONE_EXISTS(tag) "identifier=urn:edcsync:op-id|" tag

struct world {
	struct sim sim;
	struct sim_answer answer;
	int64_t now_ms;
};

/* One exchange. Texts of the answer have to be there, headers as
 * "Name: value" or "Name:" for whatever value. */
struct row {
	const char *what, *method, *path, *body;
	int status;
	const char *says[3];
	const char *header;
	uint32_t commits;	/* of all, afterwards */
	struct sim_request with;
};

static void begin(struct world *w, const char *profile, const char *more)
{
	struct findings f = {0};
	struct scenario s;
	struct buf text = BUF_INIT;

	*w = (struct world){.now_ms = 1000};
	sim_init(&w->sim);
	buf_addf(&text, "{\"profile\": \"%s\"%s%s}", profile, *more ? "," : "",
		 more);
	if (!scenario_load(&s, buf_span(&text), "test.json", &f))
		fail_msg("line %d: %s", f.v[0].line, f.v[0].text);
	sim_play(&w->sim, &s, w->now_ms);
	scenario_release(&s);
	findings_release(&f);
	buf_release(&text);
}

static void end(struct world *w)
{
	buf_release(&w->answer.body);
	sim_release(&w->sim);
}

static void ask(struct world *w, const struct row *row)
{
	struct sim_request q = row->with;

	q.method = span_of(row->method);
	q.path = span_of(row->path);
	q.body = span_of(row->body);
	q.now_ms = w->now_ms;
	q.utc_ms = UTC_MS + w->now_ms;
	if (!q.host.n)
		q.host = SPAN("edc.test");
	sim_handle(&w->sim, &q, &w->answer);
}

static bool has_header(const struct sim_answer *a, const char *wanted)
{
	struct buf line = BUF_INIT;
	bool found = false;
	size_t i, n = strlen(wanted);

	for (i = 0; i < a->headers && !found; i++) {
		buf_clear(&line);
		buf_addf(&line, "%s: %s", a->header[i].name,
			 a->header[i].value);
		found = wanted[n - 1] == ':' ?
			span_starts(buf_span(&line), wanted) :
			span_is(buf_span(&line), wanted);
	}
	buf_release(&line);
	return found;
}

/* Whatever it says it is, it is that. */
static void well_formed(const struct row *row, const struct sim_answer *a)
{
	struct json doc = {0};
	struct xml *x;

	if (!a->content_type || !a->body.len)
		return;
	if (strstr(a->content_type, "json") &&
	    !json_parse(&doc, a->body.p, a->body.len, 0))
		fail_msg("%s: no JSON: %s", row->what, buf_text(&a->body));
	json_release(&doc);
	if (!strstr(a->content_type, "xml"))
		return;
	x = xml_open(buf_span(&a->body), &(struct xml_names){0}, NULL);
	if (!x)
		fail_msg("%s: no XML: %s", row->what, buf_text(&a->body));
	xml_free(x);
}

static void play(struct world *w, const struct row *rows, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		const struct row *row = &rows[i];

		ask(w, row);
		well_formed(row, &w->answer);
		if (w->answer.status != row->status)
			fail_msg("%s: %d, not %d: %s", row->what,
				 w->answer.status, row->status,
				 buf_text(&w->answer.body));
		for (k = 0; k < ARRAY_SIZE(row->says) && row->says[k]; k++)
			if (!strstr(buf_text(&w->answer.body), row->says[k]))
				fail_msg("%s: no %s in %s", row->what,
					 row->says[k],
					 buf_text(&w->answer.body));
		if (row->header && !has_header(&w->answer, row->header))
			fail_msg("%s: no header %s", row->what, row->header);
		if (w->sim.ledger.commits != row->commits)
			fail_msg("%s: %u commits", row->what,
				 w->sim.ledger.commits);
		assert_int_equal(w->sim.ledger.duplicates, 0);
	}
}

#define PLAY(w, rows) play(w, rows, ARRAY_SIZE(rows))

static void rave_wraps_errors_in_two_roots(void **state)
{
	static const struct sim_request odm = {.q_post_odm = true};
	const struct row rows[] = {
		{"update", "POST", RWS, ODM("Update", "f1", "U1"), 200,
		 {"IsTransactionSuccessful = \"1\"",
		  "InboundODMFileOID=\"f1\"", "Fields=1;"}, NULL, 1, odm},
		{"the same", "POST", RWS, ODM("Update", "f1", "U1"), 200,
		 {"IsTransactionSuccessful = \"1\"", "Fields=0;"}, NULL, 1,
		 odm},
		{"insert", "POST", RWS, ODM("Insert", "f2", "U2"), 200,
		 {"Subjects=1;"}, NULL, 2, odm},
		{"insert again", "POST", RWS, ODM("Insert", "f2", "U2"), 400,
		 {"IsTransactionSuccessful = \"0\"", "RWS00024"}, NULL, 2, odm},
		{"no XML", "POST", RWS, "<ODM", 400,
		 {"mdsol:ErrorDescription=", "[RWS"}, NULL, 2, odm},
		{"another query", "POST", RWS, ODM("Update", "f3", "U3"), 405,
		 {"OOPS!"}, NULL, 2, BARE},
		{"a text with marks", "POST", RWS,
		 ODM("Update", "a&quot;&lt;b", "U4"), 200,
		 {"InboundODMFileOID=\"a&quot;&lt;b\""}, NULL, 3, odm},
		{"bulk", "POST", "/bulk", "{\"records\":[]}", 201,
		 {"\"status\":\"success\""}, NULL, 4, BARE},
		{"version", "GET", "/RaveWebServices/version", "", 200,
		 {"1."}, NULL, 4, BARE}
	};
	const struct row guest[] = {
		{"no log-in", "POST", RWS, ODM("Update", "f1", "U1"), 401,
		 {"Authorization Header not provided"}, NULL, 0, odm},
		{"a wrong one", "POST", RWS, ODM("Update", "f1", "U1"), 401,
		 {"[RWS00008]"}, NULL, 0,
		 {.authorization = SPAN("Basic ZGVtbzp4"), .q_post_odm = true}},
		{"version", "GET", "/RaveWebServices/version", "", 200,
		 {"1."}, NULL, 0, BARE},
		{"the right one", "POST", RWS, ODM("Update", "f1", "U1"), 200,
		 {"\"1\""}, NULL, 1,
		 {.authorization = SPAN("Basic ZGVtbzpkZW1vLXNlY3JldA=="),
		  .q_post_odm = true}}
	};
	struct world w;

	(void)state;
	begin(&w, "medidata-rave", "\"auth\":\"basic\"");
	PLAY(&w, guest);
	end(&w);
	begin(&w, "medidata-rave", "");
	PLAY(&w, rows);
	ask(&w, &rows[1]);
	assert_memory_equal(w.answer.body.p, "\xef\xbb\xbf<", 4);
	end(&w);
}

static void rave_says_no_in_many_ways(void **state)
{
	static const struct {
		const char *action;
		int status;
		const char *says;
	} ways[] = {
		{"401", 401, "Header not provided"}, {"403", 403, "RWS00042"},
		{"404", 404, "mdsol:ErrorDescription"},
		{"422", 400, "RWS00092"},
		{"refused_200", 200, "IsTransactionSuccessful = \"0\""},
		{"429", 500, "500.13"}, {"503", 503, "HTTP 503 Service"},
		{"500", 500, "[RWS00000]"}, {"502_before", 502, "<html>"}
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		struct buf rules = BUF_INIT;
		struct row row = {ways[i].action, "POST", RWS,
			ODM("Update", "f", "U"), ways[i].status,
			{ways[i].says}, NULL, 0, {.q_post_odm = true}};
		struct world w;

		buf_addf(&rules, "\"rules\":[{\"do\":\"%s\"}]",
			 ways[i].action);
		begin(&w, "medidata-rave", buf_text(&rules));
		play(&w, &row, 1);
		end(&w);
		buf_release(&rules);
	}
}

static void veeva_says_everything_with_200(void **state)
{
	static const char set[] = "/api/v25.1/app/cdm/forms/actions/setdata";
	static const char job[] = "/api/v25.1/services/jobs/999999";
	const struct row rows[] = {
		{"a form", "POST", set, "{\"form\":{\"itemgroups\":[{\"items\":"
		 "[{\"value\":\"1\"}]}]}}", 200,
		 {"\"responseStatus\":\"SUCCESS\"", "item1"},
		 "X-VaultAPI-BurstLimitRemaining: 1999", 1, BARE},
		{"the same", "POST", set, "{\"form\":{\"itemgroups\":[{\"items"
		 "\":[{\"value\":\"1\"}]}]}}", 200,
		 {"\"WARNING\"", "NO_DATA_CHANGES"}, NULL, 1, BARE},
		{"one item fails", "POST", set, "{\"form\":{\"itemgroups\":[{"
		 "\"items\":[{\"value\":\"1\"},{\"value\":\"REFUSED\"}]}]}}",
		 200, {"\"FAILURE\"", "\"SUCCESS\"", "INVALID_DATA"}, NULL, 1,
		 BARE},
		{"records", "POST", "/api/v25.1/vobjects/vs__c",
		 "[{\"external_id__v\":\"t1\"},{\"name__v\":\"x\"}]", 200,
		 {"{\"responseStatus\":\"SUCCESS\",\"data\":[", "K001"},
		 "X-VaultAPI-ReferenceId: r1", 2, {.reference = SPAN("r1")}},
		{"a record fails", "POST", "/api/v25.1/vobjects/vs__c",
		 "[{\"name__v\":\"y\"},{\"name__v\":\"REFUSED\"}]", 200,
		 {"{\"responseStatus\":\"SUCCESS\",\"data\":[",
		  "{\"responseStatus\":\"FAILURE\""}, NULL, 2, BARE},
		{"found", "POST", "/api/v25.1/query", "q=SELECT+id+FROM+vs__c+"
		 "WHERE+external_id__v+%3D+%27t1%27", 200,
		 {"\"external_id__v\":\"t1\""}, NULL, 2, BARE},
		{"not found", "POST", "/api/v25.1/query", "q=SELECT+id+FROM+x+"
		 "WHERE+external_id__v+%3D+%27t2%27", 200, {"\"data\":[]"},
		 NULL, 2, BARE},
		{"no such job", "GET", job, "", 200, {"\"FAILURE\""}, NULL, 2,
		 BARE}
	};
	struct world w;

	(void)state;
	begin(&w, "veeva-vault", "");
	PLAY(&w, rows);
	end(&w);
}

static void veeva_s_sessions_and_jobs(void **state)
{
	static const char path[] = "/api/v25.1/vobjects/vs__c";
	struct row log_in = {"log-in", "POST", "/api/v25.1/auth",
		"username=demo&password=demo-secret", 200,
		{"\"sessionId\":\"sim-1-", "\"vaultId\":2000"}, NULL, 0, BARE};
	struct row wrong = {"wrong", "POST", "/api/v25.1/auth",
		"username=demo&password=x", 200,
		{"AUTHENTICATION_FAILED"}, NULL, 0, BARE};
	struct row send = {"outside", "POST", path, "[{}]", 200,
		{"INVALID_SESSION_ID"}, NULL, 0, BARE};
	struct row poll = {"poll", "GET", "/api/v25.1/services/jobs/100001",
		"", 200, {"\"status\":\"RUNNING\""}, NULL, 0, BARE};
	struct buf id = BUF_INIT;
	const char *at;
	struct world w;

	(void)state;
	begin(&w, "veeva-vault", "\"auth\":\"session\",\"rules\":[{\"do\":"
	      "\"queue\",\"run_ms\":15000}]");
	play(&w, &send, 1);
	play(&w, &wrong, 1);
	play(&w, &log_in, 1);
	at = strstr(buf_text(&w.answer.body), "sim-1-");
	assert_non_null(at);
	buf_add(&id, at, strcspn(at, "\""));
	send.what = "inside";
	send.with.authorization = poll.with.authorization = buf_span(&id);
	send.says[0] = "\"job_id\":100001";
	play(&w, &send, 1);
	play(&w, &poll, 1);
	w.now_ms += 5000;
	poll.what = "too early";
	poll.says[0] = "API_LIMIT_EXCEEDED";
	play(&w, &poll, 1);
	assert_int_equal(w.sim.count.early_polls, 1);
	w.now_ms += 11000;
	poll.what = "done";
	poll.says[0] = "\"status\":\"SUCCESS\"";
	poll.commits = 1;
	play(&w, &poll, 1);
	buf_release(&id);
	end(&w);
}

static void redcap_counts(void **state)
{
	const struct row rows[] = {
		{"two", "POST", "/", "token=t&content=record&data=%5B%7B%22"
		 "record_id%22%3A%221%22%2C%22edcsync_op_id%22%3A%22t1%22%7D%2C"
		 "%7B%7D%5D&returnFormat=json", 200, {"{\"count\": 2}"}, NULL,
		 1, BARE},
		{"overwritten by itself", "POST", "/", "token=u&content=record"
		 "&data=%5B%7B%22record_id%22%3A%221%22%2C%22edcsync_op_id%22"
		 "%3A%22t1%22%7D%2C%7B%7D%5D&returnFormat=json", 200,
		 {"{\"count\": 2}"}, NULL, 1, BARE},
		{"no list", "POST", "/", "content=record&data=%7B%7D"
		 "&returnFormat=json", 200, {"{\"count\": 0}"}, NULL, 1, BARE},
		{"XML where nothing was asked for", "POST", "/",
		 "content=record&data=x", 400,
		 {"<?xml", "<hash><error>"}, NULL, 1, BARE},
		{"as text", "POST", "/", "content=record&data=x&"
		 "returnFormat=csv", 400, {"ERROR: "}, NULL, 1, BARE},
		{"found", "POST", "/", "content=record&action=export&"
		 "filterLogic=%5Bedcsync_op_id%5D+%3D+%27t1%27", 200,
		 {"[{\"record_id\":\"1\"", "\"edcsync_op_id\":\"t1\""}, NULL,
		 1, BARE},
		{"not found", "POST", "/", "content=record&action=export&"
		 "filterLogic=%5Bedcsync_op_id%5D+%3D+%27t2%27", 200, {"[]"},
		 NULL, 1, BARE},
		{"version", "POST", "/", "content=version", 200, {"14."}, NULL,
		 1, BARE}
	};
	const struct row guest = {"no token", "POST", "/",
		"content=record&data=%5B%5D&returnFormat=json", 403,
		{"{\"error\":\""}, NULL, 0, BARE};
	const struct row down = {"down", "POST", "/", "content=record&"
		"data=%5B%7B%7D%5D", 200, {"<html>", "browser tabs"}, NULL, 0,
		BARE};
	struct world w;

	(void)state;
	begin(&w, "redcap", "");
	PLAY(&w, rows);
	end(&w);
	begin(&w, "redcap", "\"auth\":\"form_token\"");
	play(&w, &guest, 1);
	end(&w);
	begin(&w, "redcap", "\"rules\":[{\"do\":\"outage\",\"how\":\"503\","
	      "\"between_ms\":[0,9]}]");
	play(&w, &down, 1);
	end(&w);
}

static void castor_takes_a_part(void **state)
{
	static const char points[] =
		"/api/study/A/record/1/data-point-collection/study";
	static const char reports[] = "/api/study/A/record/1/report-instance";
	const struct row rows[] = {
		{"both", "POST", points, "{\"data\":[{\"field_id\":\"F1\"},"
		 "{\"field_id\":\"F2\"}]}", 201,
		 {"\"total_success\":2", "\"failed\":[]"}, NULL, 1, BARE},
		{"overwritten by itself", "POST", points, "{\"data\":[{"
		 "\"field_id\":\"F1\"},{\"field_id\":\"F2\"}]}", 201,
		 {"\"total_success\":2"}, NULL, 1, BARE},
		{"one", "POST", points, "{\"data\":[{\"field_id\":\"F1\"},{"
		 "\"field_id\":\"F2\",\"field_value\":\"REFUSED\"}]}", 201,
		 {"\"total_success\":1,\"total_failed\":1",
		  "\"failed\":[{\"field_id\":\"F2\""}, NULL, 1, BARE},
		{"none", "POST", points, "{\"data\":[{\"field_id\":\"F2\","
		 "\"field_value\":\"REFUSED\"}]}", 201,
		 {"\"total_success\":0,\"total_failed\":1"}, NULL, 1, BARE},
		{"no such field", "POST", points, "{\"data\":[{\"field_id\":"
		 "\"NO-SUCH-1\"}]}", 500, {"\"detail\":\"The field was not"},
		 NULL, 1, BARE},
		{"no report yet", "GET", reports, "", 404,
		 {"There are no report instances."}, NULL, 1, BARE},
		{"a report", "POST", reports, "{\"report_name_custom\":"
		 "\"AE-1\"}", 201, {"\"name\":\"AE-1\"", "/rec-"}, NULL, 2,
		 BARE},
		{"the reports", "GET", reports, "", 200,
		 {"{\"_embedded\":{\"reportInstances\":[{", "AE-1",
		  "\"archived\":false"}, NULL, 2, BARE},
		{"a record", "POST", "/api/study/A/record", "{\"record_id\":"
		 "\"7\"}", 201, {"\"_links\""}, NULL, 3, BARE},
		{"it exists", "POST", "/api/study/A/record", "{\"record_id\":"
		 "\"7\",\"again\":1}", 422, {"already exists"}, NULL, 3, BARE}
	};
	struct world w;

	(void)state;
	begin(&w, "castor", "");
	PLAY(&w, rows);
	end(&w);
}

static void oracle_reads_xml_and_json(void **state)
{
	const struct row rows[] = {
		{"XML", "POST", "/odm/in", ODM("Update", "f", "U"), 200,
		 {"<Response status=\"SUCCESS\">", "<request_id>"}, NULL, 1,
		 BARE},
		{"no namespace", "POST", "/odm/in", "<ODM/>", 400,
		 {"cvc-elt.1"}, NULL, 1, BARE},
		{"JSON", "POST", "/d", "{\"context\":{}}", 200,
		 {"\"status\":\"SUCCESS\""}, NULL, 2,
		 {.content_type = SPAN("application/json")}},
		{"stored", "POST", "/ib/integrationdata", "{\"inputData\":"
		 "\"<a/>\"}", 200, {"\"inputId\":\"job-"}, NULL, 2,
		 {.content_type = SPAN("application/json")}}
	};
	const struct row later[] = {
		{"queued", "POST", "/odm/in", ODM("Update", "f", "U"), 202,
		 {"ACCEPTED"}, "Location: /odm/jobs/job-000001", 0, BARE},
		{"running", "GET", "/odm/jobs/job-000001", "", 200,
		 {"PROCESSING"}, NULL, 0, BARE}
	};
	const struct row lost = {"lost", "POST", "/odm/in",
		ODM("Update", "f", "U"), 400, {"<code>schema_validation",
		"cvc-elt.1"}, NULL, 0, BARE};
	struct world w;

	(void)state;
	begin(&w, "oracle-clinical", "");
	PLAY(&w, rows);
	end(&w);
	begin(&w, "oracle-clinical", "\"rules\":[{\"do\":\"queue\"}]");
	PLAY(&w, later);
	end(&w);
	begin(&w, "oracle-clinical", "\"rules\":[{\"do\":\"namespaces_lost\"}]");
	play(&w, &lost, 1);
	end(&w);
}

static void fhir_creates_on_condition(void **state)
{
	const struct row rows[] = {
		{"created", "POST", "/Observation", OBSERVATION("t1", "final"),
		 201, {"\"id\":\"rec-000001\""}, "Location: http://edc.test/"
		 "Observation/rec-000001/_history/1", 1,
		 {.if_none_exist = SPAN(NONE_EXISTS("t1"))}},
		{"there", "POST", "/Observation", OBSERVATION("t1", "final"),
		 200, {"\"id\":\"rec-000001\""},
		 "Location: http://edc.test/Observation/rec-000001", 1,
		 {.if_none_exist = SPAN(NONE_EXISTS("t1"))}},
		{"refused", "POST", "/Observation", OBSERVATION("t2",
		 "refused"), 422, {"OperationOutcome", "code-invalid"}, NULL,
		 1, BARE},
		{"found", "GET", "/Observation", "", 200,
		 {"\"searchset\"", "\"entry\":[{\"resource\":{\"id\":\"rec-"},
		 NULL, 1, {.q_identifier = SPAN("urn:edcsync:op-id|t1")}},
		{"not found", "GET", "/Observation", "", 200,
		 {"\"searchset\",\"total\":0}"}, NULL, 1,
		 {.q_identifier = SPAN("urn:edcsync:op-id|t3")}},
		{"a batch", "POST", "/", "{\"resourceType\":\"Bundle\",\"type"
		 "\":\"batch\",\"entry\":[{\"resource\":{}},{\"resource\":{"
		 "\"status\":\"refused\"}}]}", 200,
		 {"\"batch-response\"", "201 Created", "422 Unprocessable"},
		 NULL, 1, BARE},
		{"a transaction", "POST", "/", "{\"resourceType\":\"Bundle\","
		 "\"type\":\"transaction\",\"entry\":[{\"resource\":{}},{"
		 "\"resource\":{\"status\":\"refused\"}}]}", 422,
		 {"OperationOutcome"}, NULL, 1, BARE},
		{"later", "POST", "/", "{\"resourceType\":\"Bundle\",\"type\":"
		 "\"batch\",\"entry\":[{\"resource\":{}}]}", 202, {NULL},
		 "Content-Location: http://edc.test/jobs/job-000003", 1,
		 {.prefer = SPAN("respond-async, return=minimal")}},
		{"running", "GET", "/jobs/job-000003", "", 202, {NULL},
		 "X-Progress:", 1, BARE}
	};
	struct row done = {"done", "GET", "/jobs/job-000003", "", 200,
		{"\"batch-response\"", "201 Created"}, NULL, 2, BARE};
	struct world w;

	(void)state;
	begin(&w, "fhir-r4", "");
	PLAY(&w, rows);
	w.now_ms += 1000;
	play(&w, &done, 1);
	end(&w);
}

/* Two of one identifier: made by two that raced, or by one without the
 * condition. From then on it is 412. */
static void fhir_several_are_for_a_person(void **state)
{
	const struct row again = {"several", "POST", "/Observation",
		OBSERVATION("t1", "final"), 412,
		{"OperationOutcome", "multiple-matches"}, NULL, 2,
		{.if_none_exist = SPAN(NONE_EXISTS("t1"))}};
	struct row bare = again;
	struct world w;

	(void)state;
	bare.with = (struct sim_request)BARE;
	begin(&w, "fhir-r4", "");
	ask(&w, &bare);
	ask(&w, &bare);
	assert_int_equal(w.sim.ledger.duplicates, 1);
	ask(&w, &again);
	assert_int_equal(w.answer.status, 412);
	assert_int_equal(w.sim.ledger.commits, 2);
	end(&w);
}

/* A job says the same whatever became of it; its outcomes are elsewhere, and
 * not before it has ended. */
static void jobs_tell_their_results_elsewhere(void **state)
{
	static const char partial[] = "\"rules\":[{\"do\":\"queue\","
		"\"outcome\":\"partial\",\"run_ms\":50}],\"results\":\"%s\"";
	const struct row running[] = {
		{"queued", "POST", "/api/records", "{\"a\":1}", 202,
		 {"\"job-000001\"", "queued"}, NULL, 0, BARE},
		{"running", "GET", "/api/jobs/job-000001", "", 200,
		 {"processing"}, NULL, 0, BARE},
		{"no result yet", "GET", "/api/jobs/job-000001/result", "",
		 404, {NULL}, NULL, 0, BARE},
	};
	const struct row json[] = {
		{"through", "GET", "/api/jobs/job-000001", "", 200,
		 {"\"completed\"", "\"result_url\":\"job-000001/result\""},
		 NULL, 0, BARE},
		{"its result", "GET", "/api/jobs/job-000001/result", "", 200,
		 {"{\"item\":\"SYSBP\",\"outcome\":\"Inserted\"",
		  "{\"item\":\"DIABP\",\"outcome\":\"Failed\""}, NULL, 0,
		 BARE},
	};
	const struct row csv = {"its log", "GET",
		"/api/jobs/job-000001/result", "", 200,
		{"Item,Outcome,Code,Message\r\n", "SYSBP,Inserted,",
		 "DIABP,Failed,range"}, NULL, 0, BARE};
	const struct row none = {"nothing of the kind", "GET",
		"/api/jobs/job-000001/result", "", 404, {NULL}, NULL, 0, BARE};
	static const char *const results[] = {"json", "csv", "job"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		struct buf more = BUF_INIT;
		struct world w;

		buf_addf(&more, partial, results[i]);
		begin(&w, "generic-rest", buf_text(&more));
		play(&w, running, ARRAY_SIZE(running));
		w.now_ms += 100;
		if (i == 0)
			play(&w, json, ARRAY_SIZE(json));
		else
			play(&w, i == 1 ? &csv : &none, 1);
		end(&w);
		buf_release(&more);
	}
}

/* Each action on each vendor: an answer, well-formed, and the ledger knows
 * whether it was committed. */
static void every_action_with_every_vendor(void **state)
{
	const struct sim_action *a;
	size_t i;

	(void)state;
	for (i = 0; sim_vendor_name(i); i++) {
		for (a = scenario_actions; a->name; a++) {
			struct row row = {a->name, "POST", "/api/x/record",
				"{\"resourceType\":\"Basic\"}", 0, {NULL},
				NULL, 0, {.q_post_odm = true}};
			struct buf rules = BUF_INIT;
			struct world w;

			buf_addf(&rules, "\"rules\":[{\"do\":\"%s\",\"ms\":5,"
				 "\"url\":\"/y\",\"between_ms\":[0,9]}]",
				 a->name);
			begin(&w, sim_vendor_name(i), buf_text(&rules));
			ask(&w, &row);
			well_formed(&row, &w.answer);
			assert_true(w.answer.status || w.answer.again ||
				    w.answer.ending != SIM_END_WHOLE);
			if (!a->commit && !a->modifier &&
			    a->special != SIM_OUTAGE)
				assert_int_equal(w.sim.ledger.commits, 0);
			end(&w);
			buf_release(&rules);
		}
	}
}

/* What the file keeps is what an operation is known by. */
static void a_ledger_read_again_knows_them(void **state)
{
	char file[] = "/tmp/edcsim-XXXXXX";
	const struct row row = {"stored", "POST",
		"/api/study/A/record/1/data-point-collection/study",
		"{\"data\":[{\"field_id\":\"F1\"}]}", 201, {NULL}, NULL, 1,
		BARE};
	struct findings f = {0};
	struct world w;
	int fd = mkstemp(file), i;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (i = 0; i < 2; i++) {
		begin(&w, "castor", "");
		assert_true(ledger_open(&w.sim.ledger, file, w.now_ms,
					UTC_MS + w.now_ms, &f));
		play(&w, &row, 1);
		assert_int_equal(w.sim.ledger.ops_n, 1);
		end(&w);
	}
	unlink(file);
	findings_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rave_wraps_errors_in_two_roots),
		cmocka_unit_test(rave_says_no_in_many_ways),
		cmocka_unit_test(veeva_says_everything_with_200),
		cmocka_unit_test(veeva_s_sessions_and_jobs),
		cmocka_unit_test(redcap_counts),
		cmocka_unit_test(castor_takes_a_part),
		cmocka_unit_test(oracle_reads_xml_and_json),
		cmocka_unit_test(fhir_creates_on_condition),
		cmocka_unit_test(fhir_several_are_for_a_person),
		cmocka_unit_test(jobs_tell_their_results_elsewhere),
		cmocka_unit_test(every_action_with_every_vendor),
		cmocka_unit_test(a_ledger_read_again_knows_them)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
