/*
 * vendor_veeva.c - plays: veeva-vault. 200 for everything; responseStatus and
 * the types of errors tell.
 *
 *   POST {base}/auth                       {"sessionId", "vaultId"}
 *   POST {base}/app/cdm/forms/actions/setdata   one form; the same once more
 *        is a WARNING with NO_DATA_CHANGES
 *   POST, PUT {base}/vobjects/OBJECT       records one by one under SUCCESS
 *   POST {base}/query, q = SELECT ... WHERE external_id__v = 'TAG'
 *   GET  {base}/services/jobs/NUMBER       once in ten seconds
 *
 * A value (setdata) or name__v (vobjects) of REFUSED is one that fails. The
 * burst is 2000 requests in five minutes; beyond it answers are delayed.
 */
#include <config.h>

#include <string.h>

#include "sim/door.h"
#include "sim/intake.h"
#include "sim/vendor.h"

#define BURST_MAX 2000
#define BURST_MS (5 * 60 * 1000)
#define BURST_DELAY_MS 500
#define JOB_NUMBER 100000		/* of no job yet */
#define JOB_FLOOR_MS 10000

static bool is_form(const struct sim_request *q)
{
	return vendor_ends(q->path, "/actions/setdata");
}

static enum sim_kind kind(struct sim *sim, const struct sim_request *q)
{
	(void)sim;
	if (vendor_ends(q->path, "/query"))
		return SIM_LOOK_UP;
	if (!span_is(q->method, "GET") && !span_is(q->method, "HEAD"))
		return SIM_SEND;
	return vendor_ends(vendor_folder(q->path), "/services/jobs/") ?
		SIM_POLL : SIM_LIST;
}

/* How many records or items there are, and how many would be refused. */
static void count_list(struct sim *sim, uint32_t list, const char *member)
{
	uint32_t node;

	for (node = json_child(&sim->doc, list); node != JSON_NONE;
	     node = json_next(&sim->doc, node)) {
		sim->facts.items++;
		sim->facts.refused += json_string_is(
			&sim->doc, json_get(&sim->doc, node, member),
			"REFUSED");
	}
}

static void count(struct sim *sim, const struct sim_request *q)
{
	uint32_t group;

	if (!is_form(q)) {
		if (json_is(&sim->doc, 0, JSON_ARRAY))
			count_list(sim, 0, "name__v");
		else
			sim->facts.items = 1;
		return;
	}
	group = json_child(&sim->doc, json_pointer(&sim->doc, 0,
						   SPAN("/form/itemgroups")));
	for (; group != JSON_NONE; group = json_next(&sim->doc, group))
		count_list(sim, json_get(&sim->doc, group, "items"), "value");
}

static void read(struct sim *sim, const struct sim_request *q,
		 struct sim_intake *in)
{
	static const char *const tag[] = {
		"/0/external_id__v", "/external_id__v", NULL
	};
	static const char *const study[] = {"/study_name", NULL};
	static const char *const subject[] = {"/form/subject", NULL};
	static const char *const form[] = {"/form/form_name", NULL};

	intake_record(sim, in);
	if (!intake_json(sim, q->body, in))
		return;
	in->op_id = intake_text(sim, INTAKE_TAG, tag);
	in->study = intake_text(sim, INTAKE_STUDY, study);
	in->subject = intake_text(sim, INTAKE_SUBJECT, subject);
	in->form = intake_text(sim, INTAKE_FORM, form);
	if (!in->form.n)
		in->form = vendor_last_part(q->path);
	count(sim, q);
}

static void fail(struct sim_answer *a, const char *status, const char *type,
		 const char *words)
{
	vendor_json(a, 200);
	buf_addf(&a->body, "{\"responseStatus\":\"%s\",\"errors\":[{\"type\":"
		 "\"%s\",\"message\":\"%s\"}]}", status, type, words);
}

static void records(struct sim *sim, uint32_t record, uint32_t failed,
		    struct buf *out)
{
	uint32_t i, n = sim->facts.items;

	buf_adds(out, "{\"responseStatus\":\"SUCCESS\",\"data\":[");
	for (i = 0; i < n; i++) {
		if (i)
			buf_addc(out, ',');
		if (i < n - failed)
			buf_addf(out, "{\"responseStatus\":\"SUCCESS\",\"data"
				 "\":{\"id\":\"V%011uK%03u\",\"event\":"
				 "\"created__sys\"}}", record, i);
		else
			buf_adds(out, "{\"responseStatus\":\"FAILURE\","
				 "\"errors\":[{\"type\":\"INVALID_DATA\","
				 "\"message\":\"The value is not valid\"}]}");
	}
	buf_adds(out, "]}");
}

/* The first items are taken, the last ones are those that fail. */
static void form(struct sim *sim, uint32_t failed, struct buf *out)
{
	uint32_t i, n = sim->facts.items;
	const char *word = failed ? "FAILURE" : "SUCCESS";

	buf_addf(out, "{\"responseStatus\":\"%s\",\"form\":{\"responseStatus"
		 "\":\"%s\",\"itemgroups\":[{\"itemgroup_name\":\"group\","
		 "\"responseStatus\":\"%s\",\"items\":[", word, word, word);
	for (i = 0; i < n; i++) {
		bool bad = i >= n - failed;

		buf_addf(out, "%s{\"item_name\":\"item%u\",\"responseStatus\""
			 ":\"%s\"%s}", i ? "," : "", i + 1,
			 bad ? "FAILURE" : "SUCCESS", bad ? ",\"errorType\":"
			 "\"INVALID_DATA\",\"errorMessage\":\"The value is not"
			 " valid\"" : "");
	}
	buf_adds(out, "]}]}}");
}

static enum sim_judge judge(struct sim *sim, const struct sim_request *q,
			    const struct sim_intake *in, uint32_t op,
			    uint32_t *record, struct sim_answer *a)
{
	uint32_t last = vendor_committed(sim, op);
	const struct sim_facts *f = &sim->facts;

	if (!json_is(&sim->doc, 0, JSON_OBJECT) &&
	    !json_is(&sim->doc, 0, JSON_ARRAY)) {
		fail(a, "FAILURE", "PARAMETER_REQUIRED",
		     "The body is not JSON");
		return SIM_TURNS_DOWN;
	}
	if (f->items && f->refused == f->items) {
		vendor_json(a, 200);
		if (is_form(q))
			form(sim, f->refused, &a->body);
		else
			records(sim, 0, f->refused, &a->body);
		return SIM_TURNS_DOWN;
	}
	if (f->refused)
		return SIM_TAKES_PARTLY;
	*record = last;
	return last && is_form(q) &&
		!strcmp(ledger_record_at(&sim->ledger, last)->sha256,
			in->sha256) ? SIM_HAS_IT : SIM_TAKES;
}

static void stored(struct sim *sim, const struct sim_request *q,
		   uint32_t record, const struct sim_rule *rule,
		   struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);
	uint32_t failed = sim->facts.refused;

	(void)rule;
	vendor_json(a, 200);
	if (sim->facts.again) {
		buf_adds(&a->body, "{\"responseStatus\":\"WARNING\",\"warnings"
			 "\":[{\"warning_type\":\"NO_DATA_CHANGES\",\"message"
			 "\":\"No changes in values\"}]}");
		return;
	}
	if (r->job && r->state != SIM_JOB_PARTIAL) {
		buf_addf(&a->body, "{\"responseStatus\":\"SUCCESS\",\"job_id\""
			 ":%u,\"url\":\"/services/jobs/%u\"}",
			 JOB_NUMBER + record, JOB_NUMBER + record);
		return;
	}
	if (r->state == SIM_JOB_PARTIAL && !failed && sim->facts.items)
		failed = 1;
	if (is_form(q))
		form(sim, failed, &a->body);
	else
		records(sim, record, failed, &a->body);
}

static uint32_t polled(struct sim *sim, const struct sim_request *q)
{
	struct span number = vendor_last_part(q->path);
	struct sim_record *r;
	uint64_t n = 0;
	size_t i;

	sim->facts.early = false;
	for (i = 0; i < number.n && i < 10; i++) {
		if (number.p[i] < '0' || number.p[i] > '9')
			return 0;
		n = n * 10 + (uint64_t)(number.p[i] - '0');
	}
	if (n <= JOB_NUMBER || n - JOB_NUMBER > sim->ledger.records_n)
		return 0;
	r = ledger_record_at(&sim->ledger, (uint32_t)(n - JOB_NUMBER));
	sim->facts.early = q->now_ms < r->not_before_ms;
	if (!sim->facts.early)
		r->not_before_ms = 0;
	return (uint32_t)(n - JOB_NUMBER);
}

static const char *job_word(const struct sim_record *r)
{
	static const char *const words[] = {
		[SIM_COMMITTED] = "SUCCESS", [SIM_RUNNING] = "RUNNING",
		[SIM_JOB_FAILED] = "FAILED_TO_RUN",
		[SIM_JOB_PARTIAL] = "ERRORS_ENCOUNTERED",
		[SIM_REMOVED] = "CANCELLED"
	};

	return r->word && r->state != SIM_RUNNING ? r->word : words[r->state];
}

static void job(struct sim *sim, uint32_t record, struct sim_answer *a)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);

	if (sim->facts.early) {
		fail(a, "FAILURE", "API_LIMIT_EXCEEDED",
		     "Job status may be asked once in ten seconds");
		return;
	}
	vendor_json(a, 200);
	buf_addf(&a->body, "{\"responseStatus\":\"SUCCESS\",\"data\":{\"id\":"
		 "%u,\"status\":\"%s\",\"method\":\"POST\",\"links\":[]}}",
		 JOB_NUMBER + record, job_word(r));
}

static void item(const struct sim *sim, uint32_t record, bool payload,
		 struct buf *out)
{
	const struct sim_record *r = ledger_record_at(&sim->ledger, record);

	(void)payload;
	buf_addf(out, "{\"id\":\"V%011uK000\",", record);
	vendor_member(out, "external_id__v",
		      ledger_op_at(&sim->ledger, r->op)->op_id);
	buf_addc(out, '}');
}

/* What stands between the last two quotes of the query. */
static struct span wanted(struct sim *sim, const struct sim_request *q)
{
	struct buf *b = &sim->text[INTAKE_TAG];
	size_t end, begin;

	buf_clear(b);
	if (!sim_form_field(q->body, "q", b))
		return (struct span){NULL, 0};
	for (end = b->len; end && b->p[end - 1] != '\''; end--)
		;
	for (begin = end ? end - 1 : 0; begin && b->p[begin - 1] != '\'';
	     begin--)
		;
	if (!begin || end <= begin)
		return (struct span){NULL, 0};
	return (struct span){b->p + begin, end - 1 - begin};
}

static void look(struct sim *sim, const struct sim_request *q,
		 int64_t lag_ms, struct sim_answer *a)
{
	struct sim_page page = {wanted(sim, q), {NULL, 0}, lag_ms, true};
	struct buf list = BUF_INIT;

	vendor_json(a, 200);
	if (!vendor_ends(q->path, "/query")) {
		buf_adds(&a->body, "{\"responseStatus\":\"SUCCESS\"}");
		return;
	}
	vendor_page(sim, q, &page, &list);
	buf_addf(&a->body, "{\"responseStatus\":\"SUCCESS\",\"responseDetails"
		 "\":{\"pagesize\":1000,\"pageoffset\":0},\"data\":[%s]}",
		 buf_text(&list));
	buf_release(&list);
}

static void fault(struct sim *sim, const struct sim_request *q, int status,
		  struct sim_answer *a)
{
	static const struct {
		int status;
		const char *type, *words;
	} known[] = {
		{200, "INVALID_DATA", "The value is not valid"},
		{400, "PARAMETER_REQUIRED", "A parameter is missing"},
		{401, "INVALID_SESSION_ID", "Invalid or expired session ID"},
		{403, "INSUFFICIENT_ACCESS", "The user may not do this"},
		{404, "INVALID_DATA", "There is no such resource"},
		{409, "OPERATION_IN_PROGRESS", "Another change is under way"},
		{422, "INVALID_DATA", "The value is not valid"},
		{429, "API_LIMIT_EXCEEDED", "The limit is exceeded"}
	};
	size_t i;

	(void)sim;
	if (status == 401 && vendor_ends(q->path, "/auth")) {
		fail(a, "FAILURE", "USERNAME_OR_PASSWORD_INCORRECT",
		     "Authentication failed");
		return;
	}
	if (status == 500)
		fail(a, "EXCEPTION", "UNEXPECTED_ERROR",
		     "An unexpected error occurred");
	if (status == SIM_FAULT_OUTAGE)
		sim_answer_header(a,
				  "X-VaultAPI-DowntimeExpectedDurationMinutes",
				  SPAN("1"));
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].status == status)
			fail(a, "FAILURE", known[i].type, known[i].words);
}

static void add_number(struct sim_answer *a, const char *name, uint64_t n)
{
	struct buf text = BUF_INIT;

	buf_addi(&text, (int64_t)n);
	sim_answer_header(a, name, buf_span(&text));
	buf_release(&text);
}

static void headers(struct sim *sim, const struct sim_request *q,
		    struct sim_answer *a)
{
	uint32_t record;

	if (q->now_ms - sim->burst_from_ms >= BURST_MS) {
		sim->burst_from_ms = q->now_ms;
		sim->burst = 0;
	}
	sim->burst++;
	add_number(a, "X-VaultAPI-BurstLimit", BURST_MAX);
	add_number(a, "X-VaultAPI-BurstLimitRemaining",
		   sim->burst < BURST_MAX ? BURST_MAX - sim->burst : 0);
	if (sim->burst > BURST_MAX) {
		add_number(a, "X-VaultAPI-ResponseDelay", BURST_DELAY_MS);
		if (a->hold_ms < BURST_DELAY_MS)
			a->hold_ms = BURST_DELAY_MS;
	}
	add_number(a, "X-VaultAPI-ExecutionId", sim->ledger.records_n +
		   sim->count.requests[SIM_SEND]);
	if (q->reference.n)
		sim_answer_header(a, "X-VaultAPI-ReferenceId", q->reference);
	if (kind(sim, q) != SIM_POLL || sim->facts.early)
		return;
	record = polled(sim, q);
	if (record)
		ledger_record_at(&sim->ledger, record)->not_before_ms =
			q->now_ms + JOB_FLOOR_MS;
}

static void login(struct sim *sim, const struct sim_request *q,
		  struct sim_answer *a)
{
	struct buf user = BUF_INIT, password = BUF_INIT;

	sim_form_field(q->body, "username", &user);
	sim_form_field(q->body, "password", &password);
	if (!door_knows(sim, q, buf_span(&user), buf_span(&password))) {
		sim->count.token_refused++;
		vendor_json(a, 200);
		buf_adds(&a->body, "{\"responseStatus\":\"FAILURE\","
			 "\"errorType\":\"AUTHENTICATION_FAILED\",\"errors\":"
			 "[{\"type\":\"USERNAME_OR_PASSWORD_INCORRECT\","
			 "\"message\":\"Authentication failed\"}]}");
	} else {
		sim->count.tokens++;
		vendor_json(a, 200);
		buf_adds(&a->body, "{\"responseStatus\":\"SUCCESS\","
			 "\"sessionId\":\"");
		sim_token_new(&sim->tokens, &sim->scenario,
			      sim->scenario.seed, sim_since(sim, q->now_ms),
			      &a->body);
		buf_adds(&a->body, "\",\"userId\":12021,\"vaultIds\":[{\"id\":"
			 "2000,\"name\":\"edcsim\"}],\"vaultId\":2000}");
	}
	buf_release(&user);
	buf_wipe(&password);
}

const struct sim_vendor sim_veeva = {
	.name = "veeva-vault",
	.kind = kind,
	.read = read,
	.wanted = wanted,
	.polled = polled,
	.judge = judge,
	.stored = stored,
	.job = job,
	.item = item,
	.look = look,
	.fault = fault,
	.headers = headers,
	.login_path = "/auth",
	.login = login
};
