/*
 * cred_scene.h - tests: the engine's step with one endpoint, without store or
 * wire. What leaves is counted; answers, secrets, time, and what other
 * processes are about, are the test's.
 */
#ifndef EDCSYNC_TESTS_CRED_SCENE_H
#define EDCSYNC_TESTS_CRED_SCENE_H

#include "profiles.h"

#include "core/body.h"
#include "engine/step.h"

/* Not every test uses every helper. */
#define SCENE static __attribute__((unused))
#define OPS 64
#define MINUTE 60000
#define EPOCH INT64_C(1796000000000)

#define VAULT VAULT_WITH("")
#define VAULT_WITH(more) "{\"profile\": \"vault\", \"version\": 1, " \
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
	"\"lifetime_ms\": 7200000, \"idle_ms\": 1200000, \"per_minute\": 3" more "}}"
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
	bool asked, log_in;
	/* What the other processes are about, when a log-in is wanted. */
	enum { NOBODY, BUSY, LATER, SHARED } others;
	const char *token;		/* SHARED */
	int64_t token_ms, token_age_ms;
	int wanted, turns, overs, refusals;
	bool anyway, idle;		/* of the last one wanted */
	char put[80];			/* the last token that was shared */
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

SCENE void left(const struct effect *e)
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

SCENE void on_effect(void *ctx, struct effect *e)
{
	(void)ctx;
	if (e->kind == EFFECT_START) {
		left(e);
	} else if (e->kind == EFFECT_READ_SECRET ||
		   e->kind == EFFECT_LOG_IN) {
		s.asked = true;
		s.log_in = e->kind == EFFECT_LOG_IN;
		s.wanted += s.log_in;
		s.anyway = e->anyway;
		s.idle = e->idle;
		s.reads++;
	} else if (e->kind == EFFECT_CANCEL) {
		e->left = true;		/* whatever was started has left */
	} else if (e->kind == EFFECT_LOG_IN_OVER) {
		s.overs++;
		assert_true(s.overs <= s.turns);
		text_set(s.put, sizeof(s.put), e->token);
	} else if (e->kind == EFFECT_TOKEN_REFUSED) {
		s.refusals++;
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

SCENE void answer_for_others(struct event *e)
{
	*e = (struct event){.kind = EVENT_LOG_IN, .wait_ms = 5 * MINUTE,
		.turn = s.others == BUSY ? LOG_IN_BUSY : s.others == LATER ?
			LOG_IN_LATER : LOG_IN_SHARED,
		.secret = span_of(s.token), .age_ms = s.token_age_ms,
		.lifetime_ms = s.token_ms};
}

SCENE void event(struct event e)
{
	engine_step(s.world, s.now, &e, 1, on_effect, NULL);
	while (s.asked) {
		struct event secret = {.kind = EVENT_SECRET, .ok = true,
				       .secret = span_of(s.secret)};

		if (s.log_in && s.others != NOBODY && !s.anyway)
			answer_for_others(&secret);
		else
			s.turns += s.log_in;
		s.asked = false;
		engine_step(s.world, s.now, &secret, 1, on_effect, NULL);
	}
}

SCENE void pass(int64_t ms)
{
	s.now.utc_ms += ms;
	s.now.boot_ms += ms;
	event((struct event){.kind = EVENT_TICK});
}

SCENE void open_scene(const char *profile, const char *config)
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

SCENE void close_scene(void)
{
	engine_world_free(s.world);
	config_free(s.config);
	profile_free(s.profile);
}

/* A durable intent, as the committer hands it over. */
SCENE void intend(int64_t op, enum attempt_kind kind)
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

SCENE void send(int64_t op)
{
	intend(op, ATTEMPT_SEND);
}

SCENE void answer(int i, int status, const char *body)
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
SCENE int last(bool log_in)
{
	int i = s.n - 1;

	while (i >= 0 && (!s.left[i].transfer || s.left[i].log_in != log_in))
		i--;
	check_row(i >= 0, "no %s waits", log_in ? "log-in" : "send");
	return i;
}

SCENE void let_in(const char *session)
{
	char body[80];

	snprintf(body, sizeof(body), "{\"sessionId\": \"%s\"}", session);
	answer(last(true), 200, body);
}

SCENE void sent_under(const char *session)
{
	assert_string_equal(s.left[last(false)].session, session);
}

SCENE void refuse(const char *type)
{
	char body[80];

	snprintf(body, sizeof(body), "{\"errors\": [{\"type\": \"%s\"}]}",
		 type);
	answer(last(true), 200, body);
}

SCENE enum halt_reason halted(void)
{
	return engine_state(s.world, 0)->halt;
}

SCENE void resume(void)
{
	struct endpoint_control c = {.endpoint = 1,
				     .resume_seq = ++s.resume_seq};

	event((struct event){.kind = EVENT_CONTROL, .control = &c});
}

#endif
