/* serve.c - plays: from a request to what is done and what is answered. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/utf8.h"
#include "sim/shape.h"
#include "sim/vendor.h"

/* What the rules have to say about one request. */
struct plan {
	const struct sim_rule *rule;	/* NULL: the truth */
	bool dedupe;
	int64_t forget_ms, lag_ms, delay_ms;
};

struct work {
	enum sim_kind kind;
	struct sim_intake in;
	uint32_t op, record;		/* 0: not known */
	char identity[LIMIT_ID_BYTES + 1];
	struct plan plan;
};

void sim_init(struct sim *sim)
{
	*sim = (struct sim){.began_ms = -1};
	scenario_init(&sim->scenario);
	sim->hits = xcalloc(1, sizeof(*sim->hits));
	sim->vendor = &sim_generic;
	ledger_init(&sim->ledger);
}

void sim_release(struct sim *sim)
{
	size_t i;

	scenario_release(&sim->scenario);
	ledger_release(&sim->ledger);
	json_release(&sim->doc);
	for (i = 0; i < ARRAY_SIZE(sim->text); i++)
		buf_release(&sim->text[i]);
	free(sim->hits);
	sim->hits = NULL;
}

static void start_clock(struct sim *sim, int64_t now_ms)
{
	sim->began_ms = sim->scenario.clock_first_request ? -1 : now_ms;
	sim->paused_from_ms = sim->paused_until_ms = 0;
	sim->tokens = (struct sim_tokens){0};
}

void sim_play(struct sim *sim, struct scenario *s, int64_t now_ms)
{
	scenario_release(&sim->scenario);
	sim->scenario = *s;
	scenario_init(s);
	if (sim->seed_given)
		sim->scenario.seed = sim->seed;
	free(sim->hits);
	sim->hits = xcalloc(sim->scenario.rules + 1, sizeof(*sim->hits));
	sim->vendor = sim_vendor_named(sim->scenario.profile);
	start_clock(sim, now_ms);
}

void sim_reset(struct sim *sim, int64_t now_ms)
{
	ledger_reset(&sim->ledger);
	sim->count = (struct sim_counts){0};
	sim->in_flight_max = sim->in_flight;
	memset(sim->hits, 0, (sim->scenario.rules + 1) * sizeof(*sim->hits));
	start_clock(sim, now_ms);
}

int64_t sim_since(const struct sim *sim, int64_t now_ms)
{
	return sim->began_ms < 0 ? 0 : now_ms - sim->began_ms;
}

bool sim_down(struct sim *sim, int64_t now_ms, int64_t *wait_ms)
{
	int64_t since = sim_since(sim, now_ms), until;
	bool down = scenario_down(&sim->scenario, since, &until);

	*wait_ms = SIM_FOR_EVER;
	if (until != SIM_FOR_EVER && sim->began_ms >= 0)
		*wait_ms = until - since;
	return down && sim->began_ms >= 0;
}

void sim_went_down(struct sim *sim, int64_t now_ms)
{
	int64_t since = sim_since(sim, now_ms);
	size_t i;

	for (i = 0; i < sim->scenario.rules; i++) {
		const struct sim_rule *r = &sim->scenario.rule[i];

		if (r->action->special == SIM_OUTAGE && r->refuse &&
		    since >= r->begin_ms && since < r->end_ms)
			sim->hits[i]++;
	}
}

/* --- reading what came --- */

static struct span last_part(struct span path)
{
	size_t n = path.n;

	while (n && path.p[n - 1] != '/')
		n--;
	return (struct span){path.p + n, path.n - n};
}

static struct span body_text(struct sim *sim, int slot,
			     const char *const *pointers)
{
	struct buf *b = &sim->text[slot];
	uint32_t node;

	for (; *pointers; pointers++) {
		buf_clear(b);
		node = json_pointer(&sim->doc, 0, span_of(*pointers));
		if (json_is(&sim->doc, node, JSON_STRING) &&
		    json_string(&sim->doc, node, b) && b->len &&
		    b->len <= LIMIT_ID_BYTES)
			return buf_span(b);
	}
	return (struct span){NULL, 0};
}

/* Scope and tag from the payload, where it is JSON. */
static void read_body(struct sim *sim, const struct sim_request *q,
		      struct sim_intake *in)
{
	static const char *const tag[] = {
		"/metadata/op_id", "/op_id", NULL
	};
	static const char *const study[] = {
		"/study_oid", "/metadata/study_oid", "/study", NULL
	};
	static const char *const subject[] = {
		"/subject_key", "/metadata/subject_key", "/subject", NULL
	};
	static const char *const form[] = {
		"/form_oid", "/metadata/form_oid", "/form", NULL
	};
	struct span op_id;

	if (!json_parse(&sim->doc, q->body.p, q->body.n, 0))
		return;
	if (sim->scenario.keep_payloads)
		in->payload = json_raw(&sim->doc, 0);
	op_id = body_text(sim, 0, tag);
	if (!in->op_id.n)
		in->op_id = op_id;
	in->study = body_text(sim, 1, study);
	in->subject = body_text(sim, 2, subject);
	in->form = body_text(sim, 3, form);
}

static struct span bounded(struct span text)
{
	if (text.n > LIMIT_ID_BYTES || !utf8_valid(text) ||
	    (text.n && memchr(text.p, '\0', text.n)))
		return (struct span){NULL, 0};
	return text;
}

/* A key may come as a quoted string (the draft) or bare. */
static struct span bare(struct span key)
{
	if (key.n >= 2 && key.p[0] == '"' && key.p[key.n - 1] == '"')
		return (struct span){key.p + 1, key.n - 2};
	return key;
}

static void read_intake(struct sim *sim, const struct sim_request *q,
			struct sim_intake *in)
{
	*in = (struct sim_intake){
		.op_id = bounded(q->op_id), .key = bounded(bare(q->key)),
		.path = q->path, .method = q->method,
		.now_ms = q->now_ms, .utc_ms = q->utc_ms
	};
	hash_sha256_hex(q->body, in->sha256);
	read_body(sim, q, in);
}

static enum sim_kind read_kind(const struct sim_request *q)
{
	struct span last = last_part(q->path);

	if (span_starts(last, "rec-") || span_starts(last, "job-"))
		return SIM_POLL;
	return q->q_op_id.n ? SIM_LOOK_UP : SIM_LIST;
}

/* Whose request is this, and its how-manieth? */
static void identify(struct sim *sim, const struct sim_request *q,
		     struct work *w)
{
	struct ledger *l = &sim->ledger;

	if (w->kind == SIM_SEND) {
		w->op = ledger_op(l, &w->in);
	} else if (w->kind == SIM_POLL) {
		w->record = ledger_record_named(l, last_part(q->path));
		if (w->record)
			w->op = ledger_record_at(l, w->record)->op;
	} else if (w->kind == SIM_LOOK_UP && bounded(q->q_op_id).n) {
		w->op = ledger_op(l, &(struct sim_intake){
				  .op_id = q->q_op_id});
	}
	text_set(w->identity, sizeof(w->identity), w->op ?
		 span_of(ledger_op_at(l, w->op)->identity) : q->path);
}

/* --- rules --- */

static void modify(struct plan *p, const struct sim_rule *r, double roll)
{
	switch (r->action->special) {
	case SIM_DELAY:
		p->delay_ms += r->ms;
		if (r->ms_max > r->ms)
			p->delay_ms += (int64_t)(roll *
						 (double)(r->ms_max - r->ms));
		break;
	case SIM_FORGET_KEYS:
		p->forget_ms = r->ms;
		break;
	case SIM_KEY_OFF:
		p->dedupe = false;
		break;
	case SIM_LIST_LAG:
		p->lag_ms = r->ms;
		break;
	default:
		assert(!r->action->modifier);
		break;
	}
}

/* forget_ms: -1 never. */
static void make_plan(struct sim *sim, const struct sim_asked *asked,
		      struct plan *p)
{
	const struct scenario *s = &sim->scenario;
	size_t i;

	*p = (struct plan){
		.dedupe = s->keys && sim->vendor->dedupes,
		.forget_ms = s->forget_keys_ms ? s->forget_keys_ms : -1,
		.lag_ms = s->list_lag_ms, .delay_ms = s->delay_ms
	};
	for (i = 0; i < s->rules && !p->rule; i++) {
		const struct sim_rule *r = &s->rule[i];

		if (r->action->special == SIM_OUTAGE && r->refuse)
			continue;	/* the listener's business */
		if (!scenario_matches(s, i, asked))
			continue;
		sim->hits[i]++;
		if (r->action->modifier)
			modify(p, r, scenario_roll(s->seed, asked->identity,
						   i + 1 + SIM_RULES_MAX,
						   (uint64_t)asked->arrival));
		else
			p->rule = r;
	}
}

static void ask_rules(struct sim *sim, const struct sim_request *q,
		      struct work *w)
{
	struct sim_op *o = w->op ? ledger_op_at(&sim->ledger, w->op) : NULL;
	char path[SIM_TEXT * 2], method[16];
	struct sim_asked asked = {
		.kind = w->kind, .since_ms = sim_since(sim, q->now_ms),
		.identity = w->identity, .path = path, .method = method,
		.form = o && o->form ? o->form : "",
		.subject = o && o->subject ? o->subject : "",
		.arrival = (int64_t)sim->count.requests[w->kind]
	};

	text_set(path, sizeof(path), q->path);
	text_set(method, sizeof(method), q->method);
	if (o)
		asked.arrival = ++o->seen[w->kind];
	make_plan(sim, &asked, &w->plan);
	if (o && w->plan.rule)
		o->faults++;
}

/* --- doing it --- */

enum stored { STORED, REPLAYED, MISMATCH };

static bool key_known(const struct sim *sim, const struct work *w,
		      uint32_t *op)
{
	const struct sim_op *o;

	if (!w->plan.dedupe || !w->in.key.n)
		return false;
	*op = ledger_find_key(&sim->ledger, w->in.key);
	if (!*op)
		return false;
	o = ledger_op_at(&sim->ledger, *op);
	if (o->key_at_ms < 0 || !o->last_record)
		return false;
	return w->plan.forget_ms < 0 ||
		w->in.now_ms - o->key_at_ms <= w->plan.forget_ms;
}

/* The same PUT again changes nothing. */
static bool put_again(const struct sim *sim, const struct work *w)
{
	const struct sim_op *o = ledger_op_at(&sim->ledger, w->op);
	const struct sim_record *r;

	if (!span_is(w->in.method, "PUT") || !o->last_record)
		return false;
	r = ledger_record_at(&sim->ledger, o->last_record);
	return r->state == SIM_COMMITTED && !strcmp(r->sha256, w->in.sha256);
}

static enum stored store(struct sim *sim, struct work *w)
{
	struct ledger *l = &sim->ledger;
	const struct sim_rule *rule = w->plan.rule;
	uint32_t holder;

	if (key_known(sim, w, &holder)) {
		w->record = ledger_op_at(l, holder)->last_record;
		if (strcmp(ledger_record_at(l, w->record)->sha256,
			   w->in.sha256) != 0)
			return MISMATCH;
		sim->count.replayed++;
		return REPLAYED;
	}
	if (put_again(sim, w)) {
		w->record = ledger_op_at(l, w->op)->last_record;
		sim->count.replayed++;
		return REPLAYED;
	}
	if (sim->vendor->dedupes)
		ledger_remember_key(l, w->op, w->in.now_ms);
	if (rule && rule->action->special == SIM_QUEUE)
		w->record = ledger_accept(l, w->op, &w->in, rule->outcome,
					  *rule->word ? rule->word : NULL,
					  w->in.now_ms + rule->run_ms);
	else
		w->record = ledger_commit(l, w->op, &w->in);
	return STORED;
}

static void answer_send(struct sim *sim, const struct sim_request *q,
			struct work *w, struct sim_answer *a)
{
	const struct sim_rule *rule = w->plan.rule;
	bool queue = rule && rule->action->special == SIM_QUEUE;

	switch (store(sim, w)) {
	case MISMATCH:
		sim->count.key_mismatch++;
		shape_problem(a, 422, "idempotency_key_reused",
			      "This key was used with another payload");
		return;
	case REPLAYED:
		sim_answer_header(a, "Idempotency-Replayed", SPAN("true"));
		break;
	case STORED:
		break;
	}
	sim->vendor->stored(sim, q, w->record, queue ? rule : NULL, a);
}

/* A record was turned down, as against: not now, or not this token. */
static bool refuses(const struct sim_action *a)
{
	switch (a->status) {
	case 401: case 409: case 429:
		return false;
	default:
		return (a->status >= 400 && a->status < 500) ||
			a->body == SIM_BODY_ERROR;
	}
}

static void send_to(struct sim *sim, const struct sim_request *q,
		    struct work *w, struct sim_answer *a)
{
	const struct sim_rule *rule = w->plan.rule;
	bool commit = !rule || (rule->commit < 0 ? rule->action->commit :
				rule->commit);

	if (rule && rule->action->special == SIM_LATE) {
		a->hold_ms = rule->ms;
		a->again = true;
		return;
	}
	if (commit)
		answer_send(sim, q, w, a);
	else
		shape_problem(a, 503, "not_done", "Nothing was done");
	if (rule && !commit && refuses(rule->action))
		sim->count.refused++;
}

static void poll_it(struct sim *sim, struct work *w, struct sim_answer *a)
{
	const struct sim_record *r;

	r = w->record ? ledger_record_at(&sim->ledger, w->record) : NULL;
	if (!r || r->state == SIM_REMOVED) {
		sim->count.unknown_job++;
		shape_problem(a, 404, "not_found", "No such job or record");
		return;
	}
	if (w->in.now_ms < r->not_before_ms)
		sim->count.early_polls++;
	sim->vendor->job(sim, w->record, a);
}

/* Retry-After binds everybody after 429 and 503, after 202 only the job. */
static void note_pause(struct sim *sim, const struct sim_request *q,
		       struct work *w, const struct sim_answer *a,
		       int64_t pause_ms)
{
	if (pause_ms <= 0)
		return;
	if ((a->status == 429 || a->status == 503) && w->kind != SIM_TOKEN) {
		if (q->now_ms + pause_ms <= sim->paused_until_ms)
			return;
		if (q->now_ms >= sim->paused_until_ms)
			sim->paused_from_ms = q->now_ms +
				sim->scenario.early_grace_ms;
		sim->paused_until_ms = q->now_ms + pause_ms;
	} else if (w->record && w->kind != SIM_TOKEN) {
		ledger_record_at(&sim->ledger, w->record)->not_before_ms =
			q->now_ms + pause_ms;
	}
}

static void finish(struct sim *sim, const struct sim_request *q,
		   struct work *w, struct sim_answer *a)
{
	int64_t pause_ms = 0;

	if (w->plan.rule && !a->again)
		pause_ms = shape_answer(w->plan.rule, w->kind == SIM_TOKEN,
					q->utc_ms, a);
	if (a->hold_ms != SIM_FOR_EVER)
		a->hold_ms += w->plan.delay_ms;
	note_pause(sim, q, w, a, pause_ms);
}

static bool authorised(struct sim *sim, const struct sim_request *q,
		       struct sim_answer *a)
{
	enum sim_token_state state;

	if (!sim->scenario.auth)
		return true;
	state = sim_token_check(&sim->tokens, &sim->scenario,
				sim->scenario.seed, q->authorization,
				sim_since(sim, q->now_ms));
	if (state == SIM_TOKEN_OK)
		return true;
	sim->count.unauthorised++;
	shape_unauthorised(a, state);
	return false;
}

static void serve_token(struct sim *sim, const struct sim_request *q,
			struct sim_answer *a)
{
	struct work w = {.kind = SIM_TOKEN, .identity = "token"};
	int64_t since = sim_since(sim, q->now_ms);
	enum sim_token_refusal refusal;

	sim->count.requests[SIM_TOKEN]++;
	ask_rules(sim, q, &w);
	refusal = sim_token_client(&sim->scenario, q->authorization, q->body,
				   since);
	if (w.plan.rule && w.plan.rule->action->status >= 400) {
		refusal = SIM_CLIENT_OK;	/* the rule has the word */
	} else if (refusal == SIM_CLIENT_OK) {
		a->status = 200;
		a->content_type = "application/json";
		sim_answer_header(a, "Cache-Control", SPAN("no-store"));
		sim_token_issue(&sim->tokens, &sim->scenario,
				sim->scenario.seed, since, &a->body);
		sim->count.tokens++;
	} else {
		sim->count.token_refused++;
		shape_token_refusal(a, refusal);
	}
	finish(sim, q, &w, a);
}

static void remove_record(struct sim *sim, const struct sim_request *q,
			  struct sim_answer *a)
{
	uint32_t record = ledger_record_named(&sim->ledger,
					      last_part(q->path));

	if (!record) {
		shape_problem(a, 405, "method_not_allowed",
			      "Only one record can be removed at a time");
		return;
	}
	ledger_record_at(&sim->ledger, record)->state = SIM_REMOVED;
	a->status = 204;
}

static bool is_send(struct span method)
{
	return span_is(method, "POST") || span_is(method, "PUT") ||
		span_is(method, "PATCH");
}

static void serve_data(struct sim *sim, const struct sim_request *q,
		       struct sim_answer *a)
{
	struct work w = {.kind = is_send(q->method) ? SIM_SEND :
			 read_kind(q)};

	sim->count.requests[w.kind]++;
	if (q->now_ms >= sim->paused_from_ms &&
	    q->now_ms < sim->paused_until_ms)
		sim->count.early++;
	if (!authorised(sim, q, a))
		return;
	w.in.now_ms = q->now_ms;
	if (w.kind == SIM_SEND)
		read_intake(sim, q, &w.in);
	identify(sim, q, &w);
	if (w.kind == SIM_SEND && !w.op) {
		shape_problem(a, 503, "full", "The simulator is full");
		return;
	}
	ask_rules(sim, q, &w);
	if (w.kind == SIM_SEND)
		send_to(sim, q, &w, a);
	else if (w.kind == SIM_POLL)
		poll_it(sim, &w, a);
	else
		vendor_items(sim, q, w.plan.lag_ms, a);
	finish(sim, q, &w, a);
}

static bool path_ok(struct span path)
{
	size_t i;

	if (!path.n || path.p[0] != '/' || path.n > LIMIT_URL_BYTES ||
	    !utf8_valid(path))
		return false;
	for (i = 0; i < path.n; i++)
		if ((unsigned char)path.p[i] < 0x20 || path.p[i] == 0x7f)
			return false;
	return true;
}

void sim_handle(struct sim *sim, const struct sim_request *q,
		struct sim_answer *a)
{
	static const struct span token = {"/oauth/token", 12};

	sim_answer_clear(a);
	if (bounded(q->request_id).n)
		sim_answer_header(a, "X-Request-ID", q->request_id);
	if (!path_ok(q->path)) {
		sim->count.bad++;
		shape_problem(a, 400, "bad_path", "The path is not readable");
		return;
	}
	ledger_tick(&sim->ledger, q->now_ms);
	if (span_starts(q->path, "/_sim/")) {
		sim->count.control++;
		sim_control(sim, q, a);
		return;
	}
	if (sim->began_ms < 0)
		sim->began_ms = q->now_ms;
	if (q->path.n >= token.n && span_is(q->method, "POST") &&
	    span_eq(token, (struct span){q->path.p + q->path.n - token.n,
		    token.n}))
		serve_token(sim, q, a);
	else if (is_send(q->method) || span_is(q->method, "GET") ||
		 span_is(q->method, "HEAD"))
		serve_data(sim, q, a);
	else if (span_is(q->method, "DELETE") && authorised(sim, q, a))
		remove_record(sim, q, a);
	else if (!a->status)
		shape_problem(a, 405, "method_not_allowed",
			      "Use GET, POST, PUT, PATCH or DELETE");
}

void sim_handle_late(struct sim *sim, const struct sim_request *q,
		     struct sim_answer *a)
{
	struct work w = {.kind = SIM_SEND};

	assert(a->again);
	sim_answer_clear(a);
	ledger_tick(&sim->ledger, q->now_ms);
	read_intake(sim, q, &w.in);
	identify(sim, q, &w);
	w.plan = (struct plan){
		.dedupe = sim->scenario.keys && sim->vendor->dedupes,
		.forget_ms = sim->scenario.forget_keys_ms ?
			sim->scenario.forget_keys_ms : -1
	};
	if (w.op)
		answer_send(sim, q, &w, a);
}
