/*
 * The simulated EDC without a socket: what it decides, commits and tells.
 * It is the truth that "no loss, no duplicate" is measured against, so it
 * is tested as a thing of its own.
 */
#include <config.h>

#include "check.h"

#include <stdlib.h>

#include "core/json.h"
#include "sim/shape.h"
#include "sim/sim.h"

#define UTC_MS INT64_C(1796000000250)

struct world {
	struct sim sim;
	struct sim_answer answer;
	int64_t now_ms, told_ms[2];	/* on two connections */
	int connection;			/* the one asked on */
};

static void play(struct world *w, const char *text)
{
	struct findings f = {0};
	struct scenario s;

	if (!scenario_load(&s, span_of(text), "test.json", &f))
		fail_msg("line %d: %s", f.v[0].line, f.v[0].text);
	sim_play(&w->sim, &s, w->now_ms);
	scenario_release(&s);
	findings_release(&f);
}

static void begin(struct world *w, const char *text)
{
	*w = (struct world){.now_ms = 1000};
	sim_init(&w->sim);
	play(w, text);
}

static void end(struct world *w)
{
	buf_release(&w->answer.body);
	sim_release(&w->sim);
}

static int ask(struct world *w, struct sim_request q)
{
	q.now_ms = w->now_ms;
	q.told_until_ms = &w->told_ms[w->connection];
	q.utc_ms = UTC_MS + w->now_ms;
	sim_handle(&w->sim, &q, &w->answer);
	return w->answer.status;
}

static int put(struct world *w, const char *method, const char *op,
	       const char *key, const char *body)
{
	return ask(w, (struct sim_request){
		.method = span_of(method), .path = SPAN("/api/records"),
		.op_id = span_of(op), .key = span_of(key),
		.body = span_of(body)
	});
}

static int post(struct world *w, const char *op, const char *key,
		const char *body)
{
	return put(w, "POST", op, key, body);
}

static int get(struct world *w, const char *path, const char *op)
{
	return ask(w, (struct sim_request){
		.method = SPAN("GET"), .path = span_of(path),
		.q_op_id = span_of(op)
	});
}

static uint32_t commits(struct world *w, const char *op)
{
	uint32_t n = ledger_find(&w->sim.ledger, span_of(op));

	return n ? ledger_op_at(&w->sim.ledger, n)->commits : 0;
}

static bool says(const struct world *w, const char *text)
{
	return strstr(buf_text(&w->answer.body), text) != NULL;
}

static const char *header(const struct world *w, const char *name)
{

	for (size_t i = 0; i < w->answer.headers; i++)
		if (!strcmp(w->answer.header[i].name, name))
			return w->answer.header[i].value;
	return "";
}

/* --- scenarios --- */

static void mistakes_name_line_and_what_was_expected(void **state)
{
	static const struct {
		const char *text;
		int line;
		const char *words;
	} cases[] = {
		{"{\n\"rules\": [{\"do\": \"explode\"}]}", 2, "expected one of"},
		{"{\"rules\": [\n\n{\"share\": 2, \"do\": \"422\"}]}", 3,
		 "from 0 to 1"},
		{"{\"rules\": [{\"share\": 0.5}]}", 1, "do is required"},
		{"{\"rule\": []}", 1, "unknown field \"rule\""},
		{"{\"rules\": [{\"between_ms\": [9, 3], \"do\": \"outage\"}]}",
		 1, "from_ms below to_ms"},
		{"{\"rules\": [{\"do\": \"outage\"}]}", 1, "between_ms"},
		{"{\"rules\": [{\"do\": \"delay\"}]}", 1, "ms is required"},
		{"{\"rules\": [{\"kind\": \"poll\", \"do\": \"queue\"}]}", 1,
		 "cannot be used"},
		{"{\"rules\": [{\"do\": \"redirect\"}]}", 1, "url is required"},
		{"{\"profile\": \"rave\"}", 1, "generic-rest, metadata-tag"},
		{"{\"seed\": -1}", 1, "whole number"},
		{"{\"oauth2\": {\"uses\": \"many\"}}", 1, "whole number"},
		{"[]", 1, "expected an object"},
		{"{\"rules\": [}", 1, "column"},
		{"", 1, "column"}
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct findings f = {0};
		struct scenario s;

		assert_false(scenario_load(&s, span_of(cases[i].text), "x",
					   &f));
		assert_true(f.errors >= 1);
		if (!strstr(f.v[0].text, cases[i].words))
			fail_msg("%s: %s", cases[i].text, f.v[0].text);
		assert_int_equal(f.v[0].line, cases[i].line);
		assert_null(s.rule);
		findings_release(&f);
	}
}

static void read_all(const char *name, struct buf *out)
{
	char block[4096];
	size_t n;
	FILE *f = fopen(name, "r");

	assert_non_null(f);
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		buf_add(out, block, n);
	fclose(f);
}

static void every_shipped_scenario_loads(void **state)
{
	static const char *const names[] = {
		"plain", "outage", "gateway", "throttle", "queued", "refuse",
		"tokens", "revoked", "stall", "truncated", "html",
		"forgetful", "lag", "chaos"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct findings f = {0};
		struct buf path = BUF_INIT, text = BUF_INIT;
		struct scenario s;

		buf_addf(&path, "%s/share/scenarios/%s.json", SRCDIR,
			 names[i]);
		read_all(buf_text(&path), &text);
		if (!scenario_load(&s, buf_span(&text), names[i], &f))
			fail_msg("%d: %s", f.v[0].line, f.v[0].text);
		assert_string_equal(s.name, names[i]);
		scenario_release(&s);
		findings_release(&f);
		buf_release(&text);
		buf_release(&path);
	}
}

static void decisions_hang_on_no_order(void **state)
{
	static const char text[] = "{\"seed\": 5, \"rules\": "
		"[{\"share\": 0.3, \"first\": 2, \"do\": \"502_before\"}]}";
	int forward[200], backward[200], i, hit = 0;
	struct world w;
	char op[16];

	(void)state;
	begin(&w, text);
	for (i = 0; i < 200; i++) {
		snprintf(op, sizeof(op), "op%d", i);
		forward[i] = post(&w, op, op, "{}");
		hit += forward[i] == 502;
	}
	end(&w);
	begin(&w, text);
	for (i = 199; i >= 0; i--) {
		snprintf(op, sizeof(op), "op%d", i);
		backward[i] = post(&w, op, op, "{}");
	}
	end(&w);
	assert_memory_equal(forward, backward, sizeof(forward));
	assert_in_range(hit, 35, 85);
}

static void selectors_narrow_a_rule(void **state)
{
	struct world w;

	(void)state;
	begin(&w, "{\"rules\": ["
	      "{\"form\": \"AE\", \"subject\": \"1001-*\", \"do\": \"422\"},"
	      "{\"op\": \"b*\", \"from\": 2, \"first\": 3, \"do\": \"503\"},"
	      "{\"op\": \"c\", \"every\": 2, \"do\": \"409\"},"
	      "{\"op\": \"d\", \"between_ms\": [100, 200], \"do\": \"403\"}]}");
	assert_int_equal(post(&w, "a1", "", "{\"form_oid\":\"AE\","
			      "\"subject_key\":\"1001-007\"}"), 422);
	assert_int_equal(post(&w, "a2", "", "{\"form_oid\":\"AE\","
			      "\"subject_key\":\"1002-007\"}"), 201);
	assert_int_equal(post(&w, "b1", "b", "{}"), 201);
	assert_int_equal(post(&w, "b1", "b", "{}"), 503);
	assert_int_equal(post(&w, "b1", "b", "{}"), 503);
	assert_int_equal(post(&w, "b1", "b", "{}"), 201);
	assert_int_equal(post(&w, "c", "c", "{}"), 201);
	assert_int_equal(post(&w, "c", "c", "{}"), 409);
	assert_int_equal(post(&w, "d", "d", "{}"), 201);
	w.now_ms += 100;
	assert_int_equal(post(&w, "d", "d", "{}"), 403);
	w.now_ms += 100;
	assert_int_equal(post(&w, "d", "d", "{}"), 201);
	end(&w);
}

/* --- what is committed --- */

static void a_key_is_committed_once(void **state)
{
	struct world w;

	(void)state;
	begin(&w, "{\"rules\": [{\"first\": 2, \"do\": \"commit_then_504\"}]}");
	assert_int_equal(post(&w, "o1", "k1", "{\"v\":1}"), 504);
	assert_true(says(&w, "<html>"));
	assert_int_equal(commits(&w, "o1"), 1);
	assert_int_equal(post(&w, "o1", "k1", "{\"v\":1}"), 504);
	assert_int_equal(post(&w, "o1", "\"k1\"", "{\"v\":1}"), 201);
	assert_true(says(&w, "\"id\":\"rec-000001\""));
	assert_string_equal(header(&w, "Idempotency-Replayed"), "true");
	assert_int_equal(commits(&w, "o1"), 1);
	assert_int_equal(w.sim.ledger.duplicates, 0);
	assert_int_equal(post(&w, "o1", "k1", "{\"v\":2}"), 422);
	assert_true(says(&w, "idempotency_key_reused"));
	end(&w);
}

static void keys_can_be_off_or_forgotten(void **state)
{
	struct world w;

	(void)state;
	begin(&w, "{\"keys\": false}");
	post(&w, "o1", "k1", "{}");
	post(&w, "o1", "k1", "{}");
	assert_int_equal(commits(&w, "o1"), 2);
	assert_int_equal(w.sim.ledger.duplicates, 1);
	end(&w);

	begin(&w, "{\"forget_keys_ms\": 200}");
	post(&w, "o1", "k1", "{}");
	w.now_ms += 200;
	post(&w, "o1", "k1", "{}");
	assert_int_equal(commits(&w, "o1"), 1);
	w.now_ms += 1;
	post(&w, "o1", "k1", "{}");
	assert_int_equal(commits(&w, "o1"), 2);
	end(&w);
}

static void the_same_put_again_changes_nothing(void **state)
{
	struct world w;

	(void)state;
	begin(&w, "{\"keys\": false}");
	put(&w, "PUT", "o1", "", "{\"v\":1}");
	put(&w, "PUT", "o1", "", "{\"v\":1}");
	assert_int_equal(commits(&w, "o1"), 1);
	put(&w, "PUT", "o1", "", "{\"v\":2}");
	assert_int_equal(commits(&w, "o1"), 2);
	end(&w);
}

static void a_tag_platform_dedupes_nothing_and_lists_both(void **state)
{
	struct world w;

	(void)state;
	begin(&w, "{\"profile\": \"metadata-tag\", \"page_items\": 1}");
	post(&w, "", "k1", "{\"v\":1,\"metadata\":{\"op_id\":\"t1\"}}");
	assert_true(says(&w, "\"metadata\":{\"op_id\":\"t1\"}"));
	post(&w, "", "k1", "{\"v\":1,\"metadata\":{\"op_id\":\"t1\"}}");
	post(&w, "", "k1", "{\"v\":1,\"metadata\":{\"op_id\":\"t2\"}}");
	assert_int_equal(commits(&w, "t1"), 2);
	get(&w, "/api/records", "t1");
	assert_true(says(&w, "rec-000001"));
	assert_false(says(&w, "rec-000002"));
	assert_true(says(&w, "\"next\":\"/api/records?cursor=1&op_id=t1\""));
	ask(&w, (struct sim_request){
		.method = SPAN("GET"), .path = SPAN("/api/records"),
		.q_op_id = SPAN("t1"), .q_cursor = SPAN("1")});
	assert_true(says(&w, "rec-000002"));
	assert_false(says(&w, "next"));
	get(&w, "/api/records", "t9");
	assert_string_equal(buf_text(&w.answer.body), "{\"items\":[]}");
	end(&w);
}

static void lists_show_records_late(void **state)
{
	struct world w;

	(void)state;
	begin(&w, "{\"list_lag_ms\": 500}");
	post(&w, "o1", "k1", "{\"v\":9007199254740993}");
	get(&w, "/api/records", "o1");
	assert_false(says(&w, "o1"));
	w.now_ms += 500;
	get(&w, "/api/records", "o1");
	assert_true(says(&w, "\"payload\":{\"v\":9007199254740993}"));
	get(&w, "/other", "o1");
	assert_false(says(&w, "o1"));
	end(&w);
}

static void nothing_done_commits_nothing(void **state)
{
	static const char *const actions[] = {
		"502_before", "504_before", "reset_before", "close_before",
		"503", "429", "400", "401", "403", "404", "409", "422", "500",
		"500_html", "refused_200"
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		struct buf text = BUF_INIT;
		struct world w;

		buf_addf(&text, "{\"rules\": [{\"do\": \"%s\"}]}", actions[i]);
		begin(&w, buf_text(&text));
		post(&w, "o1", "k1", "{}");
		assert_int_equal(w.sim.ledger.records_n, 0);
		assert_int_equal(w.sim.hits[0], 1);
		end(&w);
		buf_release(&text);
	}
}

static void lies_commit_first(void **state)
{
	static const struct {
		const char *action;
		int status;
		enum sim_ending ending;
	} cases[] = {
		{"commit_then_504", 504, SIM_END_WHOLE},
		{"commit_then_reset", 201, SIM_END_RESET},
		{"commit_then_close", 201, SIM_END_CLOSE},
		{"truncated", 201, SIM_END_TRUNCATED},
		{"html_200", 200, SIM_END_WHOLE},
		{"empty_200", 200, SIM_END_WHOLE},
		{"stall", 201, SIM_END_WHOLE}
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf text = BUF_INIT;
		struct world w;

		buf_addf(&text, "{\"rules\": [{\"do\": \"%s\"}]}",
			 cases[i].action);
		begin(&w, buf_text(&text));
		assert_int_equal(post(&w, "o1", "k1", "{}"), cases[i].status);
		assert_int_equal(w.answer.ending, cases[i].ending);
		assert_int_equal(commits(&w, "o1"), 1);
		assert_int_equal(w.answer.hold_ms == SIM_FOR_EVER,
				 !strcmp(cases[i].action, "stall"));
		end(&w);
		buf_release(&text);
	}
}

static void a_late_commit_comes_after_its_hold(void **state)
{
	struct world w;
	struct sim_request q = {
		.method = SPAN("POST"), .path = SPAN("/r"), .op_id = SPAN("o"),
		.key = SPAN("k"), .body = SPAN("{}"), .now_ms = 2000
	};

	(void)state;
	begin(&w, "{\"rules\": [{\"first\": 1, \"do\": \"commit_late\","
	      " \"ms\": 50}]}");
	sim_handle(&w.sim, &q, &w.answer);
	assert_true(w.answer.again);
	assert_int_equal(w.answer.hold_ms, 50);
	assert_int_equal(commits(&w, "o"), 0);
	q.now_ms += 50;
	sim_handle_late(&w.sim, &q, &w.answer);
	assert_int_equal(w.answer.status, 201);
	assert_int_equal(commits(&w, "o"), 1);
	end(&w);
}

/* --- jobs --- */

static void jobs_end_as_the_rule_says(void **state)
{
	struct world w;

	(void)state;
	begin(&w, "{\"rules\": ["
	      "{\"op\":\"d\",\"do\":\"queue\",\"run_ms\":100},"
	      "{\"op\":\"f\",\"do\":\"queue\",\"run_ms\":100,"
	      "\"outcome\":\"failed\",\"location\":\"no\"},"
	      "{\"op\":\"p\",\"do\":\"queue\",\"run_ms\":100,"
	      "\"outcome\":\"partial\",\"word\":\"finished\"},"
	      "{\"op\":\"n\",\"do\":\"queue\",\"outcome\":\"never\"}]}");
	assert_int_equal(post(&w, "d", "d", "{}"), 202);
	assert_string_equal(header(&w, "Location"), "/api/jobs/job-000001");
	assert_true(says(&w, "\"job_id\":\"job-000001\""));
	post(&w, "f", "f", "{}");
	assert_string_equal(header(&w, "Location"), "");
	post(&w, "p", "p", "{}");
	post(&w, "n", "n", "{}");
	get(&w, "/api/jobs/job-000001", "");
	assert_true(says(&w, "processing"));
	assert_int_equal(commits(&w, "d"), 0);
	/* The same key again is the same job, never a second one. */
	assert_int_equal(post(&w, "d", "d", "{}"), 202);
	assert_true(says(&w, "job-000001"));
	w.now_ms += 100;
	get(&w, "/api/jobs/job-000001", "");
	assert_true(says(&w, "completed"));
	assert_int_equal(commits(&w, "d"), 1);
	get(&w, "/x/jobs/job-000002", "");
	assert_true(says(&w, "\"failed\"") && says(&w, "visit_locked"));
	get(&w, "/api/jobs/job-000003", "");
	assert_true(says(&w, "finished") && says(&w, "\"failed\":["));
	w.now_ms += 1000000;
	get(&w, "/api/jobs/job-000004", "");
	assert_true(says(&w, "processing"));
	assert_int_equal(get(&w, "/api/jobs/job-000005", ""), 404);
	assert_int_equal(w.sim.ledger.commits, 1);
	end(&w);
}

/* --- waiting and tokens --- */

static void retry_after_is_told_in_every_way(void **state)
{
	static const struct {
		const char *asked, *value;
		int64_t ms;
	} cases[] = {
		{"2", "2", 2000}, {"0.129", "0.129", 1000},
		{"soon", "soon", 0}, {"-5", "-5", 0},
		{"date+2", "Mon, 30 Nov 2026 00:53:22 GMT", 1750},
		{"date", "Mon, 30 Nov 2026 00:53:22 GMT", 1750},
		{"dates", "dates", 0}
	};
	char value[SIM_HEADER_TEXT];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(shape_retry_after(cases[i].asked, UTC_MS,
						   value), cases[i].ms);
		assert_string_equal(value, cases[i].value);
	}
}

/* The next request on a connection shows that the answer was read. */
static void early_requests_are_counted(void **state)
{
	struct world w;

	(void)state;
	begin(&w, "{\"rules\": [{\"op\": \"a\", \"first\": 1, "
	      "\"do\": \"429\", \"retry_after\": 1}]}");
	post(&w, "a", "a", "{}");
	assert_string_equal(header(&w, "Retry-After"), "1");
	w.now_ms += 900, w.connection = 1;
	post(&w, "b", "b", "{}");
	assert_int_equal(w.sim.count.early, 0);
	w.now_ms += 99, w.connection = 0;
	post(&w, "c", "c", "{}");
	assert_int_equal(w.sim.count.early, 1);
	w.now_ms += 1;
	post(&w, "d", "d", "{}");
	assert_int_equal(w.sim.count.early, 1);
	end(&w);
}

static int token(struct world *w, const char *body, struct buf *bearer)
{
	struct json doc = {0};
	int status;

	status = ask(w, (struct sim_request){
		.method = SPAN("POST"), .path = SPAN("/oauth/token"),
		.body = span_of(body)});
	buf_clear(bearer);
	buf_adds(bearer, "Bearer ");
	assert_true(json_parse(&doc, w->answer.body.p, w->answer.body.len,
			       0));
	json_string(&doc, json_get(&doc, 0, "access_token"), bearer);
	json_release(&doc);
	return status;
}

static int post_as(struct world *w, const struct buf *bearer)
{
	return ask(w, (struct sim_request){
		.method = SPAN("POST"), .path = SPAN("/r"),
		.authorization = buf_span(bearer), .key = SPAN("k"),
		.body = SPAN("{}")});
}

#define CLIENT "grant_type=client_credentials&client_id=demo&" \
	"client_secret=demo-secret"

static void tokens_expire_are_revoked_and_used_up(void **state)
{
	struct buf bearer = BUF_INIT;
	struct world w;

	(void)state;
	begin(&w, "{\"auth\": \"oauth2\", \"oauth2\": {\"expires_in\": 2, "
	      "\"uses\": 2, \"revoke_at_ms\": [5000], "
	      "\"refused_between_ms\": [9000, null]}}");
	assert_int_equal(post_as(&w, &bearer), 401);
	assert_string_equal(header(&w, "WWW-Authenticate"),
			    "Bearer realm=\"edcsim\"");
	assert_int_equal(token(&w, CLIENT "x", &bearer), 401);
	assert_true(says(&w, "invalid_client"));
	assert_int_equal(token(&w, "grant_type=password", &bearer), 400);
	assert_int_equal(token(&w, CLIENT, &bearer), 200);
	assert_true(says(&w, "\"expires_in\":2}"));
	assert_int_equal(post_as(&w, &bearer), 201);
	assert_int_equal(post_as(&w, &bearer), 201);
	assert_int_equal(post_as(&w, &bearer), 401);
	token(&w, CLIENT, &bearer);
	assert_int_equal(post_as(&w, &bearer), 201);
	w.now_ms += 2000;
	assert_int_equal(post_as(&w, &bearer), 401);
	assert_true(strstr(header(&w, "WWW-Authenticate"), "expired"));
	w.now_ms += 2900;
	token(&w, CLIENT, &bearer);
	assert_int_equal(post_as(&w, &bearer), 201);
	w.now_ms += 100;
	assert_int_equal(post_as(&w, &bearer), 401);
	assert_true(strstr(header(&w, "WWW-Authenticate"), "revoked"));
	w.now_ms += 4000;
	assert_int_equal(token(&w, CLIENT, &bearer), 401);
	end(&w);
	buf_release(&bearer);
}

static void a_basic_client_is_a_client(void **state)
{
	struct world w;

	(void)state;
	begin(&w, "{\"auth\": \"oauth2\"}");
	assert_int_equal(ask(&w, (struct sim_request){
		.method = SPAN("POST"), .path = SPAN("/x/oauth/token"),
		.authorization = SPAN("Basic ZGVtbzpkZW1vLXNlY3JldA=="),
		.body = SPAN("grant_type=client_credentials")}), 200);
	assert_int_equal(ask(&w, (struct sim_request){
		.method = SPAN("POST"), .path = SPAN("/x/oauth/token"),
		.authorization = SPAN("Basic ZGVtbzp3cm9uZw=="),
		.body = SPAN("grant_type=client_credentials")}), 401);
	end(&w);
}

/* --- the ledger's file --- */

static char *temp_name(void)
{
	static char name[64];
	int fd;

	snprintf(name, sizeof(name), "test_sim_XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	close(fd);
	return name;
}

static void open_file(struct world *w, const char *file)
{
	struct findings f = {0};

	if (!ledger_open(&w->sim.ledger, file, w->now_ms,
			 UTC_MS + w->now_ms, &f))
		fail_msg("%s:%d: %s", file, f.v[0].line, f.v[0].text);
	findings_release(&f);
}

static void a_killed_simulator_keeps_its_truth(void **state)
{
	static const char text[] = "{\"rules\": [{\"op\": \"j\", "
		"\"do\": \"queue\", \"run_ms\": 500}]}";
	const char *file = temp_name();
	struct world w;
	FILE *f;

	(void)state;
	begin(&w, text);
	open_file(&w, file);
	post(&w, "o1", "k1", "{\"study_oid\":\"S\",\n\"v\":1}");
	post(&w, "j", "kj", "{}");
	end(&w);
	f = fopen(file, "a");
	assert_non_null(f);
	fputs("{\"record\":3,\"state\":\"comm", f);	/* cut by the kill */
	fclose(f);

	begin(&w, text);
	open_file(&w, file);
	assert_int_equal(commits(&w, "o1"), 1);
	assert_int_equal(commits(&w, "j"), 0);
	assert_int_equal(post(&w, "o1", "k1",
			      "{\"study_oid\":\"S\",\n\"v\":1}"), 201);
	assert_int_equal(commits(&w, "o1"), 1);
	assert_int_equal(post(&w, "j", "kj", "{}"), 202);
	w.now_ms += 500;
	get(&w, "/jobs/job-000002", "");
	assert_true(says(&w, "completed"));
	end(&w);

	begin(&w, text);
	open_file(&w, file);
	assert_int_equal(commits(&w, "j"), 1);
	assert_int_equal(w.sim.ledger.records_n, 2);
	ask(&w, (struct sim_request){.method = SPAN("POST"),
	    .path = SPAN("/_sim/reset")});
	end(&w);
	begin(&w, text);
	open_file(&w, file);
	assert_int_equal(w.sim.ledger.records_n, 0);
	end(&w);
	unlink(file);
}

static void a_spoilt_ledger_stops_the_start(void **state)
{
	static const char *const lines[] = {
		"nonsense\n", "{}\n",
		"{\"record\":2,\"state\":\"committed\"}\n",
		"{\"ended\":1,\"state\":\"committed\"}\n",
		"{\"record\":1,\"state\":\"committed\",\"at_ms\":1}\n"
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		const char *file = temp_name();
		struct findings f = {0};
		struct ledger l;
		FILE *out = fopen(file, "w");

		assert_non_null(out);
		fputs(lines[i], out);
		fclose(out);
		ledger_init(&l);
		assert_false(ledger_open(&l, file, 0, UTC_MS, &f));
		assert_int_equal(f.errors, 1);
		assert_int_equal(f.v[0].line, 1);
		ledger_release(&l);
		findings_release(&f);
		unlink(file);
	}
}

/* --- doors and bad input --- */

static void the_doors_tell_json(void **state)
{
	struct json doc = {0};
	struct world w;

	(void)state;
	begin(&w, "{\"rules\": [{\"name\": \"odd \\\"name\\\"\", "
	      "\"do\": \"commit_then_504\"}]}");
	post(&w, "o\"1", "k1", "{\"form_oid\":\"V\\u0041\"}");
	get(&w, "/_sim/summary", "");
	assert_true(json_parse(&doc, w.answer.body.p, w.answer.body.len, 0));
	get(&w, "/_sim/ledger", "");
	assert_true(says(&w, "\"form_oid\":\"VA\""));
	assert_true(json_parse(&doc, w.answer.body.p, w.answer.body.len, 0));
	get(&w, "/_sim/requests", "");
	assert_true(says(&w, "\"send\":1"));
	assert_int_equal(get(&w, "/_sim/nothing", ""), 404);
	assert_int_equal(get(&w, "/_sim/reset", ""), 405);
	assert_int_equal(ask(&w, (struct sim_request){
		.method = SPAN("POST"), .path = SPAN("/_sim/scenario"),
		.body = SPAN("{\"rules\": [{}]}")}), 422);
	assert_true(says(&w, "do is required"));
	assert_int_equal(w.sim.scenario.rules, 1);
	assert_int_equal(ask(&w, (struct sim_request){
		.method = SPAN("POST"), .path = SPAN("/_sim/scenario"),
		.body = SPAN("{\"name\": \"new\"}"),
		.q_seed = SPAN("99")}), 200);
	assert_int_equal(w.sim.scenario.seed, 99);
	json_release(&doc);
	end(&w);
}

static void hostile_requests_are_only_answered(void **state)
{
	struct world w;
	char deep[2000];

	(void)state;
	memset(deep, '[', sizeof(deep));
	begin(&w, "{}");
	assert_int_equal(get(&w, "/\x01", ""), 400);
	assert_int_equal(get(&w, "", ""), 400);
	assert_int_equal(get(&w, "/\xff", ""), 400);
	assert_int_equal(ask(&w, (struct sim_request){
		.method = SPAN("BREW"), .path = SPAN("/r")}), 405);
	assert_int_equal(ask(&w, (struct sim_request){
		.method = SPAN("POST"), .path = SPAN("/r"),
		.op_id = SPAN("\xff\xfe"), .key = {deep, sizeof(deep)},
		.body = {deep, sizeof(deep)}}), 201);
	assert_int_equal(get(&w, "/jobs/job-999999999999999999999", ""), 404);
	assert_int_equal(get(&w, "/jobs/job-", ""), 404);
	assert_int_equal(ask(&w, (struct sim_request){
		.method = SPAN("GET"), .path = SPAN("/r"),
		.q_cursor = SPAN("99999999999")}), 200);
	end(&w);
}

static void an_outage_is_known_before_it_comes(void **state)
{
	struct world w;
	int64_t wait_ms;

	(void)state;
	begin(&w, "{\"rules\": [{\"between_ms\": [300, 900], "
	      "\"do\": \"outage\"}]}");
	assert_false(sim_down(&w.sim, 1000, &wait_ms));
	assert_int_equal(wait_ms, 300);
	assert_true(sim_down(&w.sim, 1300, &wait_ms));
	assert_int_equal(wait_ms, 600);
	assert_false(sim_down(&w.sim, 1900, &wait_ms));
	assert_true(wait_ms == SIM_FOR_EVER);
	end(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_name_line_and_what_was_expected),
		cmocka_unit_test(every_shipped_scenario_loads),
		cmocka_unit_test(decisions_hang_on_no_order),
		cmocka_unit_test(selectors_narrow_a_rule),
		cmocka_unit_test(a_key_is_committed_once),
		cmocka_unit_test(keys_can_be_off_or_forgotten),
		cmocka_unit_test(the_same_put_again_changes_nothing),
		cmocka_unit_test(a_tag_platform_dedupes_nothing_and_lists_both),
		cmocka_unit_test(lists_show_records_late),
		cmocka_unit_test(nothing_done_commits_nothing),
		cmocka_unit_test(lies_commit_first),
		cmocka_unit_test(a_late_commit_comes_after_its_hold),
		cmocka_unit_test(jobs_end_as_the_rule_says),
		cmocka_unit_test(retry_after_is_told_in_every_way),
		cmocka_unit_test(early_requests_are_counted),
		cmocka_unit_test(tokens_expire_are_revoked_and_used_up),
		cmocka_unit_test(a_basic_client_is_a_client),
		cmocka_unit_test(a_killed_simulator_keeps_its_truth),
		cmocka_unit_test(a_spoilt_ledger_stops_the_start),
		cmocka_unit_test(the_doors_tell_json),
		cmocka_unit_test(hostile_requests_are_only_answered),
		cmocka_unit_test(an_outage_is_known_before_it_comes)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
