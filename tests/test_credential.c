/*
 * Credentials in the engine's step, without store or wire: single flight,
 * lifetimes, log-ins by the minute, and where a secret goes (DESIGN.md
 * section 4; field reports B040, B043, B044).
 */
#include "profiles.h"

#include "core/body.h"
#include "engine/step.h"

#define OPS 64
#define MINUTE 60000
#define EPOCH INT64_C(1796000000000)

#define VAULT "{\"profile\": \"vault\", \"version\": 1, " \
	"\"send\": {\"content_type\": \"application/json\", \"path\": " \
	"\"/x\"}, \"code\": {\"json\": \"/errors/0/type\"}, " \
	"\"health\": {\"request\": \"GET {base_url}/me\"}, " \
	"\"correlation\": {\"out\": [\"X-Correlation-ID\"]}, " \
	"\"idempotency\": {\"modes\": [\"key\"], \"default\": \"key\"}, " \
	"\"rules\": [{\"name\": \"session-over\", \"if\": {\"json\": " \
	"\"/errors/*/type\", \"is\": \"INVALID_SESSION_ID\"}, \"verdict\": " \
	"\"refresh\"}], \"login\": {" \
	"\"request\": \"POST {base_url}/auth\", " \
	"\"body\": {\"kind\": \"form\", \"fields\": {" \
	"\"username\": \"{user}\", \"password\": \"{secret}\"}}, " \
	"\"session\": {\"json\": \"/sessionId\"}, " \
	"\"locked\": {\"json\": \"/errors/*/type\", \"is\": " \
	"\"USER_LOCKED_OUT\"}, " \
	"\"throttled\": {\"json\": \"/errors/*/type\", \"is\": " \
	"\"API_LIMIT_EXCEEDED\"}, " \
	"\"lifetime_ms\": 7200000, \"idle_ms\": 1200000, \"per_minute\": 3}}"
#define REDCAP "{\"profile\": \"redcap\", \"version\": 1, " \
	"\"send\": {\"path\": \"/api/\", \"body\": {\"kind\": \"form\", " \
	"\"fields\": {\"token\": \"{secret}\", \"content\": \"record\", " \
	"\"data\": \"{payload}\"}}}, " \
	"\"correlation\": {\"out\": [\"X-Correlation-ID\"]}, " \
	"\"idempotency\": {\"modes\": [\"natural\", \"none\"], " \
	"\"default\": \"none\"}, \"lookup\": {\"request\": " \
	"\"POST {base_url}/api/\", \"body\": {\"kind\": \"form\", " \
	"\"fields\": {\"token\": \"{secret}\", \"filterLogic\": " \
	"\"[tag]='{op_id}'\"}}, \"items\": [\"\"], \"tag\": [\"/tag\"]}}"
#define ENDPOINT(profile, credential) "{\"endpoints\": {\"e\": {" \
	"\"profile\": \"" profile "\", \"base_url\": \"https://v.example\", " \
	"\"max_in_flight\": 64, \"rate\": {\"per_second\": 0, \"burst\": 0}, " \
	"\"credential\": " credential "}}}"
#define SESSION ENDPOINT("vault", "{\"kind\": \"session_login\", " \
	"\"user\": \"u\", \"password_file\": \"f\"}")
#define OAUTH ENDPOINT("vault", "{\"kind\": " \
	"\"oauth2_client_credentials\", \"client_id\": \"c\", " \
	"\"token_url\": \"https://v.example/auth\", " \
	"\"client_secret_file\": \"f\"}")
#define TOKEN ENDPOINT("redcap", "{\"kind\": \"form_token\", " \
	"\"token_file\": \"f\"}")

#define OVER "{\"responseStatus\": \"FAILURE\", \"errors\": [{\"type\": " \
	"\"INVALID_SESSION_ID\"}]}"
#define DONE "{\"id\": \"1\"}"

/* One request that left. */
struct left {
	int transfer;			/* 0: answered */
	bool log_in;
	int64_t op;
	char session[16], body[200];
};

static struct {
	struct config *config;
	struct profile *profile;
	struct engine_world *world;
	struct clock_now now;
	const char *secret;
	bool asked;
	struct left left[4 * OPS];
	int n, log_ins, sends, reads;
	enum verdict verdict[OPS + 1];	/* by op; of its last outcome */
	bool withdrawn[OPS + 1];
	int64_t resume_seq;
	int told;			/* answers to a person's probe */
	bool told_good;
	char told_words[160];
	char log[200];			/* the last line */
} s;

static void left(const struct effect *e)
{
	const struct request *r = e->request;
	const char *at = strstr(buf_text(&r->headers), "Authorization: ");
	struct left *l = &s.left[s.n++];

	assert_true(s.n <= (int)ARRAY_SIZE(s.left));
	*l = (struct left){.transfer = e->transfer};
	l->log_in = strstr(r->url, "/auth") != NULL;
	if (at)
		text_set(l->session, sizeof(l->session),
			 (struct span){at + 15, strcspn(at + 15, "\n")});
	text_set(l->body, sizeof(l->body), r->body);
	at = strstr(buf_text(&r->headers), "X-Correlation-ID: c");
	if (at)
		l->op = strtol(at + 19, NULL, 10);
	s.log_ins += l->log_in;
	s.sends += !l->log_in;
}

static void on_effect(void *ctx, struct effect *e)
{
	(void)ctx;
	if (e->kind == EFFECT_START) {
		left(e);
	} else if (e->kind == EFFECT_READ_SECRET ||
		   e->kind == EFFECT_LOG_IN) {
		s.asked = true;
		s.reads++;
	} else if (e->kind == EFFECT_REQUEST) {
		s.told++;
		s.told_good = e->good;
		text_set(s.told_words, sizeof(s.told_words), span_of(e->text));
	} else if (e->kind == EFFECT_LOG) {
		text_set(s.log, sizeof(s.log), span_of(e->text));
	} else if (e->kind == EFFECT_OUTCOME) {
		assert_true(e->outcome->op >= 0 && e->outcome->op <= OPS);
		s.verdict[e->outcome->op] = e->outcome->verdict.verdict;
		s.withdrawn[e->outcome->op] = e->outcome->withdrawn;
		outcome_free(e->outcome);
	}
}

static void event(struct event e)
{
	engine_step(s.world, s.now, &e, 1, on_effect, NULL);
	while (s.asked) {
		struct event secret = {.kind = EVENT_SECRET, .ok = true,
				       .secret = span_of(s.secret)};

		s.asked = false;
		engine_step(s.world, s.now, &secret, 1, on_effect, NULL);
	}
}

static void pass(int64_t ms)
{
	s.now.utc_ms += ms;
	s.now.boot_ms += ms;
	event((struct event){.kind = EVENT_TICK});
}

static void open_scene(const char *profile, const char *config)
{
	static const int64_t id = 1;
	struct endpoint_state state = {.endpoint = 1};
	struct endpoint_control control = {.endpoint = 1};
	struct findings f = {0};
	struct engine_options o = {.endpoint_ids = &id, .states = &state,
		.controls = &control, .seed = 7};

	memset(&s, 0, sizeof(s));
	s.secret = "hush";
	s.now = (struct clock_now){EPOCH, 5000000};
	s.profile = loaded(span_of(profile), "p");
	s.config = config_parse(span_of(config), "c", &f);
	check_row(s.config && config_bind(s.config, 0, s.profile, &f), "%s",
		  f.n ? f.v[0].text : "?");
	findings_release(&f);
	gate_init(&state.gate, &s.config->endpoint[0], s.now.utc_ms);
	o.config = s.config;
	o.now = s.now;
	s.world = engine_world_new(&o);
}

static void close_scene(void)
{
	engine_world_free(s.world);
	config_free(s.config);
	profile_free(s.profile);
}

/* A durable intent, as the committer hands it over. */
static void intend(int64_t op, enum attempt_kind kind)
{
	struct intent *in = xcalloc(1, sizeof(*in));
	struct buf error = BUF_INIT;

	op_init(&in->op);
	in->op.op = op;
	in->op.endpoint = 1;
	snprintf(in->op.op_id, sizeof(in->op.op_id), "OP%d", (int)op);
	snprintf(in->op.correlation_id, sizeof(in->op.correlation_id), "c%d",
		 (int)op);
	in->op.record.study_oid = xstrdup("S");
	in->op.record.subject_key = xstrdup("U");
	in->op.record.form_oid = xstrdup("F");
	in->op.method = xstrdup("POST");
	in->op.path = xstrdup("/x");
	in->kind = kind;
	in->started_ms = s.now.utc_ms;
	assert_true(body_build(&s.profile->body, &in->op, SPAN("{}"),
			       &in->payload, &error));
	event((struct event){.kind = EVENT_INTENT, .intent = in});
}

static void send(int64_t op)
{
	intend(op, ATTEMPT_SEND);
}

static void answer(int i, int status, const char *body)
{
	struct answer a = {.status = status, .first_byte_left = true,
			   .body = span_of(body),
			   .received_ms = s.now.utc_ms};
	int transfer = s.left[i].transfer;

	assert_true(i < s.n && transfer);
	s.left[i].transfer = 0;
	event((struct event){.kind = EVENT_ANSWER, .transfer = transfer,
			     .answer = &a});
}

/* The last that left and waits for an answer. */
static int last(bool log_in)
{
	int i = s.n - 1;

	while (i >= 0 && (!s.left[i].transfer || s.left[i].log_in != log_in))
		i--;
	check_row(i >= 0, "no %s waits", log_in ? "log-in" : "send");
	return i;
}

static void let_in(const char *session)
{
	char body[80];

	snprintf(body, sizeof(body), "{\"sessionId\": \"%s\"}", session);
	answer(last(true), 200, body);
}

static void sent_under(const char *session)
{
	assert_string_equal(s.left[last(false)].session, session);
}

static void refuse(const char *type)
{
	char body[80];

	snprintf(body, sizeof(body), "{\"errors\": [{\"type\": \"%s\"}]}",
		 type);
	answer(last(true), 200, body);
}

static enum halt_reason halted(void)
{
	return engine_state(s.world, 0)->halt;
}

static void resume(void)
{
	struct endpoint_control c = {.endpoint = 1,
				     .resume_seq = ++s.resume_seq};

	event((struct event){.kind = EVENT_CONTROL, .control = &c});
}

/* ---- sessions ----------------------------------------------------------- */

/* B040, and a 200 that says that the session is over. */
static void sixty_four_expired_sessions_are_one_log_in(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= OPS; i++)
		send(i);
	assert_int_equal(s.log_ins, 1);
	assert_string_equal(s.left[0].body, "username=u&password=hush");
	assert_int_equal(s.sends, 0);
	let_in("A");
	assert_int_equal(s.sends, OPS);
	for (int i = 1; i <= OPS; i++) {
		assert_string_equal(s.left[i].session, "A");
		answer(i, 200, OVER);
		assert_int_equal(s.verdict[s.left[i].op], VERDICT_REFRESH);
	}
	for (int i = 1; i <= OPS; i++)
		send(i);
	assert_int_equal(s.log_ins, 2);
	let_in("B");
	assert_int_equal(s.sends, 2 * OPS);
	for (int i = OPS + 2; i < s.n; i++) {
		assert_string_equal(s.left[i].session, "B");
		answer(i, 200, DONE);
		assert_int_equal(s.verdict[s.left[i].op], VERDICT_COMMIT);
	}
	assert_int_equal(s.log_ins, 2);
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

/* News of an old session leave the new one alone. */
static void a_late_refusal_spoils_nothing(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	let_in("A");
	send(2);
	answer(1, 200, OVER);
	send(3);
	let_in("B");
	answer(2, 200, OVER);		/* op 2, still under A */
	send(4);
	assert_int_equal(s.log_ins, 2);
	sent_under("B");
	close_scene();
}

/* B043: one halt, and no operation more than twice. */
static void a_fresh_session_refused_halts(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= OPS; i++)
		send(i);
	let_in("A");
	for (int i = 1; i <= OPS; i++)
		answer(i, 401, "{}");
	for (int i = 1; i <= OPS; i++)
		send(i);
	let_in("B");
	for (int i = OPS + 2; i < 2 * OPS + 2; i++)
		answer(i, 401, "{}");
	assert_int_equal(halted(), HALT_FRESH_TOKEN);
	assert_int_equal(s.sends, 2 * OPS);
	assert_int_equal(s.log_ins, 2);
	for (int i = 1; i <= OPS; i++)
		assert_int_equal(s.verdict[i], VERDICT_HALT);
	send(1);
	assert_true(s.withdrawn[1]);
	close_scene();
}

/* Two of us under one name, and the vendor keeps one session: it ends before
 * all had their turn. That blames none of them. */
static void a_session_that_ends_early_rejects_nobody(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= 4; i++)
		send(i);
	for (int done = 0; done < 4; done++) {
		let_in("A");
		for (int i = done; i < 4; i++)
			answer(last(false), 200, i == done ? DONE : OVER);
		pass(MINUTE);
		for (int i = 1; i <= 4; i++) {
			if (s.verdict[i] != VERDICT_REFRESH)
				continue;
			s.verdict[i] = VERDICT_COUNT;
			send(i);
		}
	}
	for (int i = 1; i <= 4; i++)
		assert_int_equal(s.verdict[i], VERDICT_COMMIT);
	assert_int_equal(s.log_ins, 4);
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

static void idle_sessions_are_not_tried(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	let_in("A");
	answer(1, 200, DONE);
	pass(15 * MINUTE);
	send(2);			/* 15 of 20 minutes: still good */
	sent_under("A");
	answer(last(false), 200, DONE);
	pass(19 * MINUTE);		/* over, as near as makes no odds */
	send(3);
	assert_int_equal(s.log_ins, 2);
	assert_int_equal(s.sends, 2);
	let_in("B");
	sent_under("B");
	close_scene();
}

/* Ahead of its end, and work goes on meanwhile; trouble changes nothing. */
static void sessions_are_renewed_ahead(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	let_in("A");
	answer(1, 200, DONE);
	for (int i = 0; i < 7; i++) {	/* two hours less a tenth */
		pass(15 * MINUTE);
		send(2);
		assert_int_equal(s.log_ins, 1);
		answer(last(false), 200, DONE);
	}
	pass(4 * MINUTE);
	send(3);
	assert_int_equal(s.log_ins, 2);
	sent_under("A");
	answer(last(true), 503, "<html>");	/* B044 */
	send(4);
	sent_under("A");
	pass(5 * MINUTE);
	send(5);
	sent_under("A");
	assert_int_equal(s.log_ins, 3);
	let_in("B");
	send(6);
	sent_under("B");
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

/* It served once, then somebody ended it. */
static void good_then_over(const char *session, int64_t op)
{
	let_in(session);
	answer(last(false), 200, DONE);
	send(op + 10);
	answer(last(false), 200, OVER);
}

/* Of any minute no more than the profile says; nothing is lost by it. */
static void log_ins_are_counted_by_the_minute(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= 3; i++) {
		send(i);
		assert_int_equal(s.log_ins, i);
		good_then_over("A", i);
		pass(10000);
	}
	send(4);
	pass(0);
	assert_int_equal(s.log_ins, 3);
	assert_true(s.withdrawn[4]);
	assert_int_equal(engine_wake_ms(s.world), EPOCH + MINUTE);
	event((struct event){.kind = EVENT_CLOCK, .delta_ms = -3600000});
	s.now.utc_ms -= 3600000;
	pass(29999);
	send(4);
	assert_int_equal(s.log_ins, 3);
	pass(1);
	send(4);
	assert_int_equal(s.log_ins, 4);
	good_then_over("B", 4);
	send(5);			/* the second minute began with one */
	assert_int_equal(s.log_ins, 4);
	pass(10000);
	send(5);
	assert_int_equal(s.log_ins, 5);
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

/* B045: what is no lifetime is taken for a short one, and said. */
static void a_lifetime_that_is_none_is_told(void **state)
{
	(void)state;
	open_scene(VAULT, OAUTH);
	send(1);
	answer(last(true), 200, "{\"access_token\": \"A\", \"token_type\": "
	       "\"Bearer\", \"expires_in\": \"3600abc\"}");
	assert_non_null(strstr(s.log, "no number of seconds"));
	sent_under("Bearer A");
	answer(last(false), 200, DONE);
	pass(290000);
	send(2);			/* renewed ahead of five minutes */
	assert_int_equal(s.log_ins, 2);
	close_scene();
}

/* Tokens that serve one request each: thirty of them in any minute. */
static void tokens_are_counted_by_the_minute(void **state)
{
	(void)state;
	open_scene(VAULT, OAUTH);
	for (int i = 1; i <= 30; i++) {
		send(i);
		assert_int_equal(s.log_ins, i);
		answer(last(true), 200, "{\"access_token\": \"A\", "
		       "\"token_type\": \"Bearer\"}");
		answer(last(false), 200, DONE);
		send(30 + i);
		answer(last(false), 401, "{}");
		assert_int_equal(s.verdict[30 + i], VERDICT_REFRESH);
	}
	send(2);
	pass(0);
	assert_int_equal(s.log_ins, 30);
	assert_true(s.withdrawn[2]);
	assert_int_equal(engine_wake_ms(s.world), EPOCH + MINUTE);
	pass(MINUTE - 1);
	send(2);
	assert_int_equal(s.log_ins, 30);
	pass(1);
	send(2);
	assert_int_equal(s.log_ins, 31);
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

static void too_many_log_ins_wait_and_then_halt(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= 5; i++) {
		send(1);
		assert_int_equal(s.log_ins, i);
		refuse("API_LIMIT_EXCEEDED");
		assert_int_equal(halted(), i < 5 ? HALT_NONE : HALT_LOG_INS);
		pass(59999);
		send(1);
		assert_int_equal(s.log_ins, i);
		pass(10 * MINUTE);
	}
	resume();
	send(1);
	let_in("A");
	assert_int_equal(s.sends, 1);
	close_scene();
}

static void ask_probe(void)
{
	event((struct event){.kind = EVENT_PROBE, .request_id = 9});
}

/* A person's probe waits for the log-in, and hears what came of it. */
static void a_probe_waits_for_the_log_in(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	ask_probe();
	pass(100);
	assert_int_equal(s.told, 0);
	let_in("A");
	sent_under("A");
	answer(last(false), 200, DONE);
	assert_true(s.told == 1 && s.told_good);
	close_scene();

	open_scene(VAULT, SESSION);
	ask_probe();
	answer(last(true), 503, "");
	assert_true(s.told == 1 && !s.told_good);
	assert_non_null(strstr(s.told_words, "log-in"));
	close_scene();

	open_scene(VAULT, SESSION);
	ask_probe();
	refuse("USER_LOCKED_OUT");
	assert_true(s.told == 1 && !s.told_good);
	assert_string_equal(s.told_words, halt_reason_words(HALT_LOCKED));
	close_scene();
}

/* One try with a wrong password, not one more: they lock. */
static void a_locked_account_is_not_tried_again(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	refuse("USER_LOCKED_OUT");
	assert_int_equal(halted(), HALT_LOCKED);
	assert_non_null(strstr(engine_state(s.world, 0)->halt_why,
			       "USER_LOCKED_OUT"));
	assert_true(s.withdrawn[1]);
	for (int i = 0; i < 100; i++) {
		pass(MINUTE);
		send(2);
	}
	assert_int_equal(s.log_ins, 1);
	s.secret = "new";
	resume();
	send(1);
	assert_string_equal(s.left[s.n - 1].body, "username=u&password=new");
	let_in("A");
	assert_int_equal(s.sends, 1);
	close_scene();
}

/* ---- a token in bodies -------------------------------------------------- */

static void the_token_goes_in_front_of_what_is_stored(void **state)
{
	(void)state;
	open_scene(REDCAP, TOKEN);
	send(1);
	assert_string_equal(s.left[0].body,
			    "token=hush&content=record&data=%7B%7D");
	assert_string_equal(s.left[0].session, "");
	intend(2, ATTEMPT_LOOK_UP);
	assert_string_equal(s.left[1].body, "token=hush&filterLogic="
			    "%5Btag%5D%3D%27OP2%27");
	assert_int_equal(s.reads, 1);
	close_scene();
}

/* Read again once; the same means that a person has to look. */
static void a_refused_token_is_read_again_once(void **state)
{
	(void)state;
	open_scene(REDCAP, TOKEN);
	send(1);
	send(2);
	answer(0, 401, "{}");
	answer(1, 401, "{}");
	s.secret = "new";
	send(1);
	assert_string_equal(s.left[2].body,
			    "token=new&content=record&data=%7B%7D");
	assert_int_equal(s.reads, 2);
	answer(2, 200, DONE);
	send(2);
	answer(3, 200, DONE);
	send(3);
	answer(4, 401, "{}");
	send(3);
	assert_int_equal(s.reads, 3);
	assert_int_equal(halted(), HALT_CREDENTIALS);
	assert_int_equal(s.sends, 5);
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sixty_four_expired_sessions_are_one_log_in),
		cmocka_unit_test(a_late_refusal_spoils_nothing),
		cmocka_unit_test(a_fresh_session_refused_halts),
		cmocka_unit_test(a_session_that_ends_early_rejects_nobody),
		cmocka_unit_test(idle_sessions_are_not_tried),
		cmocka_unit_test(sessions_are_renewed_ahead),
		cmocka_unit_test(log_ins_are_counted_by_the_minute),
		cmocka_unit_test(a_lifetime_that_is_none_is_told),
		cmocka_unit_test(tokens_are_counted_by_the_minute),
		cmocka_unit_test(too_many_log_ins_wait_and_then_halt),
		cmocka_unit_test(a_locked_account_is_not_tried_again),
		cmocka_unit_test(a_probe_waits_for_the_log_in),
		cmocka_unit_test(the_token_goes_in_front_of_what_is_stored),
		cmocka_unit_test(a_refused_token_is_read_again_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
