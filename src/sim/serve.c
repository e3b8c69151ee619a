/* serve.c - plays: from a request to what is done and what is answered. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "sim/door.h"
#include "sim/intake.h"
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
	if (sim->profile_given)
		text_set(sim->scenario.profile, sizeof(sim->scenario.profile),
			 span_of(sim->profile_given));
	sim->vendor = sim_vendor_named(sim->scenario.profile);
	assert(sim->vendor);
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

static bool is_send(struct span method)
{
	return span_is(method, "POST") || span_is(method, "PUT") ||
		span_is(method, "PATCH");
}

static enum sim_kind read_kind(struct sim *sim, const struct sim_request *q)
{
	struct span last = vendor_last_part(q->path);

	if (sim->vendor->kind)
		return sim->vendor->kind(sim, q);
	if (is_send(q->method))
		return SIM_SEND;
	if (span_starts(last, "rec-") || span_starts(last, "job-"))
		return SIM_POLL;
	return q->q_op_id.n ? SIM_LOOK_UP : SIM_LIST;
}

/* Whose request is this, and its how-manieth? */
static void identify(struct sim *sim, const struct sim_request *q,
		     struct work *w)
{
	struct ledger *l = &sim->ledger;
	struct span tag;

	if (w->kind == SIM_SEND) {
		w->op = ledger_op(l, &w->in);
	} else if (w->kind == SIM_POLL) {
		w->record = sim->vendor->polled ? sim->vendor->polled(sim, q) :
			ledger_record_named(l, vendor_last_part(q->path));
		if (w->record)
			w->op = ledger_record_at(l, w->record)->op;
	} else if (w->kind == SIM_LOOK_UP) {
		tag = intake_bounded(sim->vendor->wanted ?
				     sim->vendor->wanted(sim, q) : q->q_op_id);
		if (tag.n)
			w->op = ledger_op(l, &(struct sim_intake){
					  .op_id = tag});
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
		.number = (int64_t)sim->count.requests[w->kind],
		.looks = w->kind == SIM_LIST && sim->vendor->list_looks,
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

enum stored { STORED, REPLAYED, MISMATCH, TURNED_DOWN };

/* Of a job that the client itself asked for. */
#define QUICK_JOB_MS 150

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

/* What a vendor without jobs decides at once. */
static void end_now(struct sim *sim, struct work *w, enum sim_outcome outcome)
{
	w->record = ledger_accept(&sim->ledger, w->op, &w->in, outcome, NULL,
				  w->in.now_ms);
	ledger_tick(&sim->ledger, w->in.now_ms);
}

static void put_in(struct sim *sim, const struct sim_request *q,
		   struct work *w, enum sim_judge judged)
{
	const struct sim_rule *rule = w->plan.rule;
	struct ledger *l = &sim->ledger;
	bool queue = rule && rule->action->special == SIM_QUEUE;

	if (queue && (!sim->vendor->queues || sim->vendor->queues(sim, q)))
		w->record = ledger_accept(l, w->op, &w->in, rule->outcome,
					  *rule->word ? rule->word : NULL,
					  w->in.now_ms + rule->run_ms);
	else if (judged == SIM_TAKES_PARTLY ||
		 (queue && rule->outcome == SIM_PARTIAL))
		end_now(sim, w, SIM_PARTIAL);
	else if (queue && rule->outcome == SIM_FAILED)
		end_now(sim, w, SIM_FAILED);
	else if (judged == SIM_QUEUES)
		w->record = ledger_accept(l, w->op, &w->in, SIM_DONE, NULL,
					  w->in.now_ms + QUICK_JOB_MS);
	else
		w->record = ledger_commit(l, w->op, &w->in);
}

static enum stored store(struct sim *sim, const struct sim_request *q,
			 struct work *w, struct sim_answer *a)
{
	struct ledger *l = &sim->ledger;
	enum sim_judge judged = SIM_TAKES;
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
		judged = SIM_HAS_IT;
	} else if (sim->vendor->judge) {
		judged = sim->vendor->judge(sim, q, &w->in, w->op, &w->record,
					    a);
	}
	if (judged == SIM_TURNS_DOWN) {
		sim->count.refused++;
		return TURNED_DOWN;
	}
	if (judged == SIM_HAS_IT) {
		sim->facts.again = true;
		sim->count.replayed++;
		return REPLAYED;
	}
	if (sim->vendor->dedupes)
		ledger_remember_key(l, w->op, w->in.now_ms);
	put_in(sim, q, w, judged);
	return STORED;
}

static void answer_send(struct sim *sim, const struct sim_request *q,
			struct work *w, struct sim_answer *a)
{
	const struct sim_rule *rule = w->plan.rule;
	bool queue = rule && rule->action->special == SIM_QUEUE;

	switch (store(sim, q, w, a)) {
	case MISMATCH:
		sim->count.key_mismatch++;
		shape_problem(a, 422, "idempotency_key_reused",
			      "This key was used with another payload");
		return;
	case TURNED_DOWN:
		return;
	case REPLAYED:
		if (sim->vendor->dedupes)
			sim_answer_header(a, "Idempotency-Replayed",
					  SPAN("true"));
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

static void poll_it(struct sim *sim, const struct sim_request *q,
		    struct work *w, struct sim_answer *a)
{
	const struct sim_record *r;

	r = w->record ? ledger_record_at(&sim->ledger, w->record) : NULL;
	if (!r || r->state == SIM_REMOVED) {
		sim->count.unknown_job++;
		shape_problem(a, 404, "not_found", "No such job or record");
		if (sim->vendor->fault)
			sim->vendor->fault(sim, q, 404, a);
		return;
	}
	if (w->in.now_ms < r->not_before_ms)
		sim->count.early_polls++;
	sim->vendor->job(sim, w->record, a);
}

/* Retry-After binds everybody after 429 and 503, after 202 only the job. */
static void note_pause(struct sim *sim, const struct sim_request *q,
		       struct work *w, int status, int64_t pause_ms)
{
	if (pause_ms <= 0)
		return;
	if ((status == 429 || status == 503) && w->kind != SIM_TOKEN) {
		if (q->told_until_ms)
			*q->told_until_ms = q->now_ms + pause_ms;
	} else if (w->record && w->kind != SIM_TOKEN) {
		ledger_record_at(&sim->ledger, w->record)->not_before_ms =
			q->now_ms + pause_ms;
	}
}

/* The vendor's own words for what a rule made of the answer. */
static void voice(struct sim *sim, const struct sim_request *q,
		  const struct work *w, struct sim_answer *a)
{
	const struct sim_action *action = w->plan.rule->action;
	int status = action->status;

	if (!sim->vendor->fault ||
	    (w->kind == SIM_TOKEN && !door_is_login(sim, q)))
		return;
	if (action->special == SIM_OUTAGE && a->ending == SIM_END_WHOLE)
		status = SIM_FAULT_OUTAGE;
	else if (action->body == SIM_BODY_NAMESPACES)
		status = SIM_FAULT_NAMESPACES;
	else if (action->body != SIM_BODY_PROBLEM &&
		 action->body != SIM_BODY_ERROR)
		return;
	sim->vendor->fault(sim, q, status, a);
}

static void finish(struct sim *sim, const struct sim_request *q,
		   struct work *w, struct sim_answer *a)
{
	int64_t pause_ms = 0;
	int status;

	if (w->plan.rule && !a->again)
		pause_ms = shape_answer(w->plan.rule, w->kind == SIM_TOKEN,
					q->utc_ms, a);
	status = a->status;
	if (w->plan.rule && !a->again)
		voice(sim, q, w, a);
	if (sim->vendor->headers && !a->again)
		sim->vendor->headers(sim, q, a);
	if (a->hold_ms != SIM_FOR_EVER)
		a->hold_ms += w->plan.delay_ms;
	note_pause(sim, q, w, status, pause_ms);
}

static void serve_token(struct sim *sim, const struct sim_request *q,
			struct sim_answer *a)
{
	struct work w = {.kind = SIM_TOKEN, .identity = "token"};
	int64_t since = sim_since(sim, q->now_ms);
	enum sim_token_refusal refusal;

	sim->count.requests[SIM_TOKEN]++;
	ask_rules(sim, q, &w);
	if (door_is_login(sim, q)) {
		if (!w.plan.rule || w.plan.rule->action->status < 400)
			sim->vendor->login(sim, q, a);
		finish(sim, q, &w, a);
		return;
	}
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
					      vendor_last_part(q->path));

	if (!record) {
		shape_problem(a, 405, "method_not_allowed",
			      "Only one record can be removed at a time");
		return;
	}
	ledger_record_at(&sim->ledger, record)->state = SIM_REMOVED;
	a->status = 204;
}

static void serve_data(struct sim *sim, const struct sim_request *q,
		       struct sim_answer *a)
{
	struct work w = {0};

	intake_forget(sim);
	w.kind = read_kind(sim, q);

	sim->count.requests[w.kind]++;
	if (q->told_until_ms && q->now_ms < *q->told_until_ms)
		sim->count.early++;
	if (!door_open(sim, q, a))
		return;
	w.in.now_ms = q->now_ms;
	if (w.kind == SIM_SEND)
		intake_read(sim, q, &w.in);
	identify(sim, q, &w);
	if (w.kind == SIM_SEND && !w.op) {
		shape_problem(a, 503, "full", "The simulator is full");
		return;
	}
	ask_rules(sim, q, &w);
	if (w.kind == SIM_SEND)
		send_to(sim, q, &w, a);
	else if (w.kind == SIM_POLL)
		poll_it(sim, q, &w, a);
	else if (sim->vendor->look)
		sim->vendor->look(sim, q, w.plan.lag_ms, a);
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
	sim_answer_clear(a);
	if (intake_bounded(q->request_id).n)
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
	if (span_is(q->method, "POST") &&
	    (vendor_ends(q->path, "/oauth/token") || door_is_login(sim, q)))
		serve_token(sim, q, a);
	else if (is_send(q->method) || span_is(q->method, "GET") ||
		 span_is(q->method, "HEAD"))
		serve_data(sim, q, a);
	else if (span_is(q->method, "DELETE") && door_open(sim, q, a))
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
	intake_read(sim, q, &w.in);
	identify(sim, q, &w);
	w.plan = (struct plan){
		.dedupe = sim->scenario.keys && sim->vendor->dedupes,
		.forget_ms = sim->scenario.forget_keys_ms ?
			sim->scenario.forget_keys_ms : -1
	};
	if (w.op)
		answer_send(sim, q, &w, a);
}
