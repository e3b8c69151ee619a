#include "engine/world.h"

#include <stdlib.h>
#include <string.h>

/* Emits an outcome "never started": the claim is undone, nothing is used. */
static void withdraw(struct engine_world *w, struct place *p,
		     struct intent *in)
{
	struct outcome *o = outcome_new(w);
	struct effect e = {.kind = EFFECT_OUTCOME,
			   .endpoint = place_index(w, p), .outcome = o};

	assert(in->op.endpoint == p->state.endpoint);
	o->op = in->op.op;
	o->endpoint = p->state.endpoint;
	o->config = p->config;
	o->version = in->op.version;
	o->kind = in->kind;
	o->withdrawn = true;
	o->probe = in->probe;
	o->engine_started_ms = w->started_ms;
	o->random = world_random(w);
	o->check_request = in->check_request;
	o->attempt.op = in->op.op;
	o->attempt.endpoint = p->state.endpoint;
	o->attempt.n = in->op.tries;
	o->attempt.kind = in->kind;
	o->attempt.started_ms = in->started_ms;
	o->attempt.finished_ms = w->now.utc_ms;
	o->attempt.backoff_ms = -1;
	o->attempt.seq_intent = in->seq_intent;
	text_set(o->attempt.request_id, sizeof(o->attempt.request_id),
		 span_of(in->request_id));
	if (in->probe) {
		circuit_probe_release(&p->state.circuit, w->now.utc_ms);
		p->dirty = true;
	}
	buf_release(&in->payload);
	o->intent = in;
	w->effect(w->effect_ctx, &e);
}

void send_take_back(struct engine_world *w, struct transfer *t)
{
	struct place *p = &w->place[t->endpoint];
	struct intent *in = t->intent;

	assert(in && p->on_wire > 0);
	t->intent = NULL;
	p->on_wire--;
	p->looking -= t->kind == ATTEMPT_LOOK_UP;
	transfer_end(w, t);
	withdraw(w, p, in);
}

static struct intent *ready_pop(struct place *p)
{
	struct intent *in = p->ready;

	assert(in && p->ready_n > 0);
	p->ready = in->next;
	if (!p->ready)
		p->ready_tail = &p->ready;
	in->next = NULL;
	p->ready_n--;
	p->ready_probes -= in->probe;
	return in;
}

static void ready_push(struct place *p, struct intent *in)
{
	in->next = NULL;
	*p->ready_tail = in;
	p->ready_tail = &in->next;
	p->ready_n++;
	p->ready_probes += in->probe;
}

void send_withdraw_all(struct engine_world *w, struct place *p)
{
	while (p->ready)
		withdraw(w, p, ready_pop(p));
	assert(p->ready_n == 0);
}

/* Not before: the vendor's wait, a person, a halt. */
static bool held(const struct engine_world *w, const struct place *p)
{
	return p->state.halt != HALT_NONE || place_paused(w, p) ||
	       p->state.gate.paced_until_ms > w->now.utc_ms;
}

static bool shut(const struct engine_world *w, const struct place *p)
{
	return held(w, p) || p->state.circuit.state == CIRCUIT_OPEN;
}

/* What is durable and unsent goes back rather than waiting in memory. */
static bool barred(const struct engine_world *w, const struct place *p,
		   const struct intent *in)
{
	if (w->stopping || held(w, p))
		return true;
	if (in->probe)
		return p->state.circuit.state != CIRCUIT_PROBING;
	return circuit_allows(&p->state.circuit, p->config->max_in_flight) == 0;
}

static void recall(struct engine_world *w, struct transfer *t)
{
	struct effect e = {.kind = EFFECT_CANCEL, .transfer = t->id,
			   .endpoint = t->endpoint, .unless_left = true};

	w->effect(w->effect_ctx, &e);
	if (!e.left)
		send_held(w, t);
}

void send_held(struct engine_world *w, struct transfer *t)
{
	if (t->page.len)
		look_park(&w->place[t->endpoint], t);
	else if (t->intent)
		send_take_back(w, t);
	else
		answer_cut(w, t, TRANSPORT_CUT, false,
			   "the endpoint was stopped before it left");
}

void send_recall(struct engine_world *w, struct place *p)
{
	bool due = p->recall;

	p->recall = false;
	if (!due || !shut(w, p))
		return;
	for (size_t i = 0; i < w->transfers; i++) {
		struct transfer *t = w->transfer[i];

		if (t && &w->place[t->endpoint] == p && !t->parked &&
		    t->kind != ATTEMPT_CREDENTIAL)
			recall(w, t);
	}
}

/* Room on the wire and in the rate, now? */
static bool room(struct engine_world *w, struct place *p,
		 const struct intent *in)
{
	int allows = circuit_allows(&p->state.circuit,
				    p->config->max_in_flight);
	int tokens;

	if (in->probe)
		return p->on_wire < p->config->max_in_flight;
	if (p->on_wire >= allows)
		return false;
	/* The one that brought the halt goes last. */
	if (p->state.halt_op && in->op.op == p->state.halt_op &&
	    !p->others_through && (p->ready_n > 0 || p->on_wire > 0))
		return false;
	tokens = gate_allows(&p->state.gate, p->config, w->now.utc_ms);
	return tokens > 0;
}

/* The end of the request id, which is kept: so the traceparent of every
 * attempt can be told later. */
static void span_of_attempt(const char *request_id, char out[17])
{
	size_t n = strlen(request_id), at = 16;

	out[at] = '\0';
	while (at && n--)
		if (request_id[n] != '-')
			out[--at] = request_id[n];
	if (at)
		out[0] = '\0';		/* none */
}

bool send_build(struct engine_world *w, struct transfer *t,
		const char *next_page, struct buf *error)
{
	struct place *p = &w->place[t->endpoint];
	const struct intent *in = t->intent;
	struct span token = cred_header(p);
	struct request_ids ids;

	text_set(ids.request_id, sizeof(ids.request_id),
		 span_of(t->request_id));
	span_of_attempt(t->request_id, ids.span_id);
	ids.secret = cred_in_body(p);
	cred_used(w, p);
	request_clear(&t->request);
	switch (t->kind) {
	case ATTEMPT_SEND:
		return request_send(&t->request, p->config, &in->op,
				    buf_span(&in->payload), token, &ids,
				    error);
	case ATTEMPT_LOOK_UP:
		return request_look_up(&t->request, p->config, &in->op,
				       next_page, token, &ids, error);
	case ATTEMPT_POLL:
		if (poll_fetches(&in->poll, p->config->profile))
			return request_result(&t->request, p->config, &in->op,
					      in->poll.job_id, in->poll.url,
					      in->poll.result_url, token,
					      &ids, error);
		return request_poll(&t->request, p->config, &in->op,
				    in->poll.job_id, in->poll.url, token,
				    &ids, error);
	case ATTEMPT_PROBE:
		return request_health(&t->request, p->config, token, &ids,
				      error);
	default:
		abort();
	}
}

static void start(struct engine_world *w, struct place *p, struct intent *in)
{
	struct transfer *t = transfer_new(w, p, in->kind);
	struct buf error = BUF_INIT;

	t->intent = in;
	t->probe = in->probe;
	t->generation = in->circuit_generation;
	text_set(t->request_id, sizeof(t->request_id),
		 span_of(in->request_id));
	t->token_version = p->cred.version;
	t->token_fresh = cred_fresh(p, in->op.op);
	p->on_wire++;
	p->looking += in->kind == ATTEMPT_LOOK_UP;
	gate_take(&p->state.gate, 1);
	if (in->kind == ATTEMPT_SEND && in->op.attempts == 0)
		gate_earn(&p->state.gate, p->config);
	if (send_build(w, t, NULL, &error)) {
		transfer_start(w, t);
	} else {
		t->unbuilt = true;
		answer_cut(w, t, TRANSPORT_REFUSED, false, buf_text(&error));
	}
	buf_release(&error);
}

/* The wire is full and nothing bars what waits: looking at each of them
 * would find the same. */
static bool full(const struct engine_world *w, const struct place *p)
{
	return p->on_wire >= p->config->max_in_flight &&
	       p->state.circuit.state == CIRCUIT_CLOSED &&
	       !p->ready_probes && !barred(w, p, p->ready) &&
	       !cred_waits(w, p);
}

void send_pump(struct engine_world *w, struct place *p)
{
	int look = p->ready_n;		/* each once a step: bounded */

	if (!w->store_ok && !w->stopping)
		return;			/* nothing new while it cannot be
					 * remembered */
	if (look && full(w, p))
		return;
	while (look-- > 0) {
		struct intent *in = ready_pop(p);

		if (barred(w, p, in) || cred_waits(w, p))
			withdraw(w, p, in);
		else if (room(w, p, in) && cred_usable(w, p))
			start(w, p, in);
		else
			ready_push(p, in);
	}
}

void send_take(struct engine_world *w, struct intent *in)
{
	struct place *p = NULL;

	for (size_t i = 0; i < w->places; i++)
		if (w->place[i].state.endpoint == in->op.endpoint)
			p = &w->place[i];
	assert(p);
	in->next = NULL;
	if (in->probe)
		p->probe_seen = true;
	if (in->kind == ATTEMPT_SEND && in->op.attempts > 0)
		p->used_retries++;
	ready_push(p, in);
}
