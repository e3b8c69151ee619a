#include "engine/step.h"

#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "core/backoff.h"
#include "engine/world.h"

#define STORED_MAX 256			/* two batches of the default window */

/* ---- small things everybody needs --------------------------------------- */

/* splitmix64: a seed, and every run can be repeated. */
uint64_t world_random(struct engine_world *w)
{
	uint64_t z = (w->random += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void world_uuid(struct engine_world *w, char out[37])
{
	uint64_t a = world_random(w), b = world_random(w);

	snprintf(out, 37, "%08" PRIx32 "-%04x-4%03x-%04x-%012" PRIx64,
		 (uint32_t)(a >> 32), (unsigned)(a >> 16) & 0xffff,
		 (unsigned)a & 0xfff, 0x8000u | ((unsigned)(b >> 50) & 0x3fff),
		 b & 0xffffffffffffu);
}

void world_log(struct engine_world *w, struct place *p, const char *fmt, ...)
{
	struct buf line = BUF_INIT;
	struct effect e = {.kind = EFFECT_LOG, .endpoint = place_index(w, p)};
	va_list ap;

	buf_addf(&line, "%s: ", p->config->name);
	va_start(ap, fmt);
	buf_addv(&line, fmt, ap);
	va_end(ap);
	e.text = buf_text(&line);
	w->effect(w->effect_ctx, &e);
	buf_release(&line);
}

size_t place_index(const struct engine_world *w, const struct place *p)
{
	assert(p >= w->place && p < w->place + w->places);
	return (size_t)(p - w->place);
}

bool place_paused(const struct engine_world *w, const struct place *p)
{
	return p->control.paused && (p->control.until_ms == 0 ||
				     p->control.until_ms > w->now.utc_ms);
}

struct transfer *transfer_new(struct engine_world *w, struct place *p,
			      enum attempt_kind kind)
{
	struct transfer *t = w->spare;
	size_t slot = 0;

	if (t)
		w->spare = t->next;
	else
		t = xcalloc(1, sizeof(*t));
	t->next = NULL;

	while (slot < w->transfers && w->transfer[slot])
		slot++;
	if (slot == w->transfers) {
		w->transfer = xrealloc(w->transfer, (w->transfers + 1) *
				       sizeof(*w->transfer));
		w->transfers++;
	}
	w->transfer[slot] = t;
	w->transfers_n++;
	t->id = (int)slot + 1;
	t->endpoint = place_index(w, p);
	t->kind = kind;
	t->started_ms = w->now.utc_ms;
	return t;
}

/* As new, but for the room in its buffers. */
static void transfer_clear(struct transfer *t)
{
	struct request keep;

	request_clear(&t->request);
	keep = t->request;
	buf_wipe(&t->body);
	buf_release(&t->page);
	intent_free(t->intent);
	memset(t, 0, sizeof(*t));
	t->request = keep;
}

static void transfer_free(struct transfer *t)
{
	transfer_clear(t);
	request_release(&t->request);
	free(t);
}

void transfer_end(struct engine_world *w, struct transfer *t)
{
	assert(w->transfer[t->id - 1] == t && w->transfers_n > 0);
	w->transfer[t->id - 1] = NULL;
	w->transfers_n--;
	transfer_clear(t);
	t->next = w->spare;
	w->spare = t;
}

struct outcome *outcome_new(struct engine_world *w)
{
	const size_t verdict = offsetof(struct outcome, verdict);
	const size_t rest = verdict + sizeof(struct verdict_out);
	struct outcome *o = w->stored;

	if (o) {
		w->stored = o->next;
		w->stored_n--;
	} else {
		o = xmalloc(sizeof(*o));
	}
	memset(o, 0, verdict);
	memset((char *)o + rest, 0, sizeof(*o) - rest);
	verdict_init(&o->verdict);
	return o;
}

void engine_outcome_back(struct engine_world *w, struct outcome *o)
{
	assert(o && o->op >= 0);
	if (w->stored_n >= STORED_MAX) {
		outcome_free(o);
		return;
	}
	intent_free(o->intent);
	o->intent = NULL;
	o->next = w->stored;
	w->stored = o;
	w->stored_n++;
}

void transfer_start(struct engine_world *w, struct transfer *t)
{
	const struct retry_policy *r = &w->place[t->endpoint].config->retry;
	struct effect e = {
		.kind = EFFECT_START, .transfer = t->id,
		.endpoint = t->endpoint, .request = &t->request,
		.connect_timeout_ms = r->connect_timeout_ms,
		.answer_timeout_ms = r->answer_timeout_ms,
	};

	assert(!w->stopping);
	w->effect(w->effect_ctx, &e);
}

/* ---- life cycle --------------------------------------------------------- */

static void control_copy(struct endpoint_control *to,
			 const struct endpoint_control *from)
{
	*to = *from;
	to->by = to->reason = NULL;
	to->resume_by = to->resume_reason = NULL;
}

struct engine_world *engine_world_new(const struct engine_options *o)
{
	struct engine_world *w = xcalloc(1, sizeof(*w));

	w->config = o->config;
	w->places = o->config->endpoints;
	w->place = xcalloc(w->places ? w->places : 1, sizeof(*w->place));
	w->now = o->now;
	w->started_ms = o->now.utc_ms;
	w->random = o->seed;
	w->store_ok = true;
	for (size_t i = 0; i < w->places; i++) {
		struct place *p = &w->place[i];

		p->config = &o->config->endpoint[i];
		assert(p->config->profile);
		p->stored = p->state = o->states[i];
		p->state.endpoint = p->stored.endpoint = o->endpoint_ids[i];
		control_copy(&p->control, &o->controls[i]);
		p->cred.version = p->state.token_version;
		p->gauge.endpoint = o->endpoint_ids[i];
		p->ready_tail = &p->ready;
		circuit_restart(&p->state.circuit, &p->config->circuit,
				o->now.utc_ms);
		p->dirty = true;
	}
	return w;
}

void engine_world_free(struct engine_world *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->transfers; i++)
		if (w->transfer[i])
			transfer_free(w->transfer[i]);
	free(w->transfer);
	while (w->spare) {
		struct transfer *t = w->spare;

		w->spare = t->next;
		transfer_free(t);
	}
	while (w->stored) {
		struct outcome *o = w->stored;

		w->stored = o->next;
		outcome_free(o);
	}
	for (size_t i = 0; i < w->places; i++) {
		struct place *p = &w->place[i];

		while (p->ready) {
			struct intent *in = p->ready;

			p->ready = in->next;
			intent_free(in);
		}
		cred_release(&p->cred);
	}
	json_release(&w->scratch);
	free(w->place);
	free(w);
}

/* ---- events ------------------------------------------------------------- */

static void on_claimed(struct engine_world *w)
{
	for (size_t i = 0; i < w->places; i++) {
		struct place *p = &w->place[i];

		/* Lent and not used: nobody's. */
		if (p->lent_retries > p->used_retries)
			p->state.gate.budget += p->lent_retries -
						p->used_retries;
		p->lent = p->lent_retries = p->used_retries = 0;
		if (p->probe_lent && !p->probe_seen) {
			circuit_probe_release(&p->state.circuit,
					      w->now.utc_ms);
			p->probe_idle_ms = w->now.utc_ms + 1000;
			p->dirty = true;
			halt_probe_answer(w, p, false,
					  "nothing is there to probe with");
		}
		p->probe_lent = p->probe_seen = false;
	}
}

static void on_answer(struct engine_world *w, const struct event *e)
{
	struct transfer *t;

	assert(e->transfer > 0 && (size_t)e->transfer <= w->transfers);
	t = w->transfer[e->transfer - 1];
	assert(t && e->answer);
	if (e->answer->transport == TRANSPORT_CUT &&
	    !e->answer->first_byte_left)
		send_held(w, t);
	else
		answer_take(w, t, e->answer, e->phases_us);
}

static void on_control(struct engine_world *w, struct place *p,
		       const struct endpoint_control *c)
{
	control_copy(&p->control, c);
	p->recall = place_paused(w, p);
	if (c->resume_seq > p->state.resume_seen)
		halt_resume(w, p);
}

static void shift(int64_t *at, int64_t delta)
{
	if (*at > 0)
		*at += delta;
}

/* What is durable or on the wire keeps its age. */
static void intents_stepped(struct engine_world *w, int64_t delta)
{
	for (size_t i = 0; i < w->transfers; i++) {
		struct transfer *t = w->transfer[i];

		if (t && t->intent)
			op_clock_stepped(&t->intent->op, delta);
		if (t)
			shift(&t->started_ms, delta);
	}
	for (size_t i = 0; i < w->places; i++)
		for (struct intent *in = w->place[i].ready; in; in = in->next)
			op_clock_stepped(&in->op, delta);
}

/* Waits go on as long as they had to; what is past stays past. */
static void on_clock(struct engine_world *w, int64_t delta)
{
	intents_stepped(w, delta);
	for (size_t i = 0; i < w->places; i++) {
		struct place *p = &w->place[i];

		shift(&p->state.circuit.probe_at_ms, delta);
		shift(&p->state.circuit.opened_ms, delta);
		shift(&p->state.gate.refilled_ms, delta);
		shift(&p->state.gate.paced_until_ms, delta);
		shift(&p->state.gate.budget_ms, delta);
		shift(&p->state.halt_until_ms, delta);
		cred_clock(&p->cred, delta);
		shift(&p->probe_idle_ms, delta);
		p->dirty = true;
	}
}

/* What serves nobody any more: health probes, token requests. */
static void on_stop(struct engine_world *w, bool cut)
{
	w->stopping = true;
	for (size_t i = 0; i < w->transfers; i++) {
		struct transfer *t = w->transfer[i];
		struct effect e = {.kind = EFFECT_CANCEL};

		if (!t || (!cut && t->intent) || t->parked)
			continue;
		e.transfer = t->id;
		e.endpoint = t->endpoint;
		w->effect(w->effect_ctx, &e);
		if (t->intent && !e.left)
			send_take_back(w, t);
		else
			answer_cut(w, t, TRANSPORT_CUT, e.left,
				   "the engine stopped");
	}
}

static void take(struct engine_world *w, struct event *e)
{
	struct place *p = e->endpoint < w->places ? &w->place[e->endpoint]
						  : NULL;

	switch (e->kind) {
	case EVENT_TICK:
		break;
	case EVENT_INTENT:
		send_take(w, e->intent);
		break;
	case EVENT_CLAIMED:
		on_claimed(w);
		break;
	case EVENT_ANSWER:
		on_answer(w, e);
		break;
	case EVENT_CONTROL:
		assert(p && e->control);
		on_control(w, p, e->control);
		break;
	case EVENT_PROBE:
		assert(p);
		halt_probe_asked(w, p, e->request_id);
		break;
	case EVENT_SECRET:
		assert(p);
		cred_secret(w, p, e);
		break;
	case EVENT_LOG_IN:
		assert(p);
		cred_log_in(w, p, e);
		break;
	case EVENT_STORE:
		w->store_ok = e->ok;
		break;
	case EVENT_CLOCK:
		on_clock(w, e->delta_ms);
		break;
	case EVENT_RELEASED:
		assert(p);
		if (p->state.halt == HALT_STORE_RESTORED) {
			p->state.halt = HALT_NONE;
			p->dirty = true;
		}
		break;
	case EVENT_STOP:
		on_stop(w, false);
		break;
	case EVENT_CUT:
		on_stop(w, true);
		break;
	}
}

void engine_step(struct engine_world *w, struct clock_now now,
		 struct event *e, size_t n,
		 void (*effect)(void *, struct effect *), void *ctx)
{
	assert(effect);
	w->now = now;
	w->effect = effect;
	w->effect_ctx = ctx;
	for (size_t i = 0; i < n; i++)
		take(w, &e[i]);
	for (size_t i = 0; i < w->places; i++)
		send_recall(w, &w->place[i]);
	for (size_t i = 0; i < w->places; i++) {
		struct place *p = &w->place[i];

		circuit_count(&p->state.circuit, place_paused(w, p) ||
			      p->state.halt != HALT_NONE, now.utc_ms);
		cred_tick(w, p);
		halt_tick(w, p);
		look_pump(w, p);
		send_pump(w, p);
		if (p->state.halt != HALT_NONE || w->stopping)
			send_withdraw_all(w, p);
	}
	w->effect = NULL;
}

/* ---- credits ------------------------------------------------------------ */

/*
 * How far intents may be ahead of the wire. Ahead means: durable, so that the
 * wire stays full while a batch commits; after a crash each counts as of
 * unknown outcome. Where that costs a look or a resend the window is wide;
 * where it costs a person (mode none) it is not.
 */
static int window(const struct endpoint_config *c)
{
	return c->max_in_flight * (c->idempotency == MODE_NONE ? 2 : 4);
}

/* How many more the gate lets start than wait already. Without a pace it
 * answers with the wire's width: one width durable ahead of what is on the
 * wire. Three widths ahead halved the commits and cost a quarter of the
 * throughput (longer transactions, colder caches). */
static int pace_left(struct engine_world *w, struct place *p)
{
	return gate_allows(&p->state.gate, p->config, w->now.utc_ms) -
	       p->ready_n - p->looking;
}

/* How many more intents the endpoint may hold. */
static int credit_total(struct engine_world *w, struct place *p)
{
	int max = p->config->max_in_flight;
	int allows = circuit_allows(&p->state.circuit, max);
	int held = p->on_wire + p->ready_n;
	int tokens, total, first;

	if (allows == 0)
		return 0;
	/* A slow start claims little ahead; room for one more lets the one
	 * that brought a halt go last. */
	total = (allows < max ? allows + 1 : window(p->config)) - held;
	/* One, to want a token for; another where one has to go last. */
	first = p->state.halt_op && !p->others_through ? 2 : 1;
	if (!p->cred.usable && p->config->credential.kind != CRED_NONE &&
	    total > first - held)
		total = first - held;
	tokens = pace_left(w, p);
	p->wants_tokens = total > 0 && tokens <= 0;
	/* Durable ahead of the wire is not sent: where the wire takes one at a
	 * time, too, somebody has to be there to go before the last. */
	if (tokens > 0)
		tokens += first - 1;
	if (total > tokens)
		total = tokens;
	return total > 0 ? total : 0;
}

static bool probe_credit(struct engine_world *w, struct place *p)
{
	struct circuit *c = &p->state.circuit;

	if (p->config->profile->health.present ||
	    p->probe_idle_ms > w->now.utc_ms ||
	    !circuit_probe_due(c, w->now.utc_ms) ||
	    !circuit_probe_begin(c, w->now.utc_ms))
		return false;
	p->probe_lent = true;
	p->dirty = true;
	return true;
}

/*
 * Reads are the probe: they do no harm. But one about a job that gets no answer
 * any more, at a vendor that is up, would keep the endpoint shut: when the
 * first probe has failed, one in four is a send.
 */
static bool probe_sends(struct engine_world *w, const struct place *p)
{
	int64_t wait_ms = 2 * p->config->circuit.reset_ms;

	return w->now.utc_ms >= add_ms(p->state.circuit.opened_ms, wait_ms) &&
	       world_random(w) % 4 == 0;
}

static void credit_fill(struct engine_world *w, struct place *p, bool claim,
			struct credit *c)
{
	memset(c, 0, sizeof(*c));
	c->endpoint = p->state.endpoint;
	c->config = p->config;
	c->config_sha256 = w->config->sha256;
	c->profile_sha256 = p->config->profile->sha256;
	assert(p->lent == 0 && !p->probe_lent);
	p->wants_tokens = false;
	if (!claim || w->stopping || !w->store_ok ||
	    p->state.halt != HALT_NONE || place_paused(w, p) ||
	    p->state.gate.paced_until_ms > w->now.utc_ms || cred_waits(w, p))
		return;
	if (probe_credit(w, p)) {
		c->probe = true;
		c->probe_sends = probe_sends(w, p);
		c->total = c->retries = 1;
		p->lent = 1;
		return;
	}
	c->total = credit_total(w, p);
	if (c->total == 0)
		return;
	c->retries = gate_retries(&p->state.gate, p->config, c->total,
				  w->now.utc_ms);
	p->lent = c->total;
	p->lent_retries = c->retries;
}

bool engine_batch(struct engine_world *w, struct clock_now now, bool claim,
		  struct credit *credits, struct place_change *changes)
{
	bool any = false;

	w->now = now;
	for (size_t i = 0; i < w->places; i++) {
		struct place *p = &w->place[i];

		credit_fill(w, p, claim, &credits[i]);
		any |= credits[i].total > 0;
		changes[i].changed = p->dirty;
		changes[i].target = p->target_answer;
		p->target_answer = 0;
		if (!p->dirty)
			continue;
		changes[i].before = p->stored;
		changes[i].after = p->stored = p->state;
		p->dirty = false;
		any = true;
	}
	return any;
}

/* ---- what others want to know ------------------------------------------- */

static void earlier(int64_t *at, int64_t other)
{
	if (other > 0 && other < *at)
		*at = other;
}

/* One wait stands behind another: what a halt, a pause or the vendor's wait
 * holds back is not due before that ends. Tokens are renewed by whoever
 * wants to send. */
static void place_wake(const struct engine_world *w, const struct place *p,
		       int64_t *at)
{
	const struct endpoint_state *s = &p->state;
	int64_t now = w->now.utc_ms;

	if (p->parked)
		earlier(at, gate_opens_ms(&s->gate, now));
	if (s->halt != HALT_NONE || place_paused(w, p)) {
		if (s->halt != HALT_NONE)
			earlier(at, s->halt_until_ms);
		if (place_paused(w, p))
			earlier(at, p->control.until_ms);
		return;
	}
	if (s->gate.paced_until_ms > now) {
		earlier(at, s->gate.paced_until_ms);
		return;
	}
	earlier(at, p->cred.ask_at_ms);
	if (cred_waits(w, p)) {
		earlier(at, p->cred.retry_at_ms);
		return;
	}
	if (s->circuit.state == CIRCUIT_OPEN)
		earlier(at, s->circuit.probe_at_ms > p->probe_idle_ms
			? s->circuit.probe_at_ms : p->probe_idle_ms);
	if (s->gate.per_second > 0 && (p->wants_tokens ||
	    (p->ready_n && p->on_wire < circuit_allows(&s->circuit,
					p->config->max_in_flight))))
		earlier(at, gate_opens_ms(&s->gate, now));
}

int64_t engine_wake_ms(const struct engine_world *w)
{
	int64_t at = INT64_MAX;

	for (size_t i = 0; i < w->places; i++)
		place_wake(w, &w->place[i], &at);
	return at;
}

int engine_in_flight(const struct engine_world *w)
{
	int n = w->transfers_n;

	for (size_t i = 0; i < w->places; i++)
		n += w->place[i].ready_n;
	return n;
}

bool engine_fed(const struct engine_world *w)
{
	bool any = false;

	for (size_t i = 0; i < w->places; i++) {
		const struct place *p = &w->place[i];
		int max = p->config->max_in_flight;

		if (p->on_wire == 0 && p->ready_n == 0)
			continue;
		if (p->on_wire < max || p->ready_n < max)
			return false;
		any = true;
	}
	return any;
}

int engine_on_wire(const struct engine_world *w)
{
	return w->transfers_n;
}

const struct endpoint_state *engine_state(const struct engine_world *w,
					  size_t endpoint)
{
	assert(endpoint < w->places);
	return &w->place[endpoint].state;
}

size_t engine_live(const struct engine_world *w, struct live_row *out,
		   size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < w->transfers && n < max; i++) {
		const struct transfer *t = w->transfer[i];
		struct live_row *r = &out[n];

		if (!t)
			continue;
		memset(r, 0, sizeof(*r));
		r->slot = t->id;
		r->op = t->intent ? t->intent->op.op : 0;
		r->n = t->intent ? t->intent->op.tries : 0;
		r->endpoint = w->place[t->endpoint].state.endpoint;
		r->kind = t->kind;
		r->since_ms = t->started_ms;
		n++;
	}
	return n;
}

bool engine_gauges(struct engine_world *w, struct gauge_row *out)
{
	bool any = false;

	for (size_t i = 0; i < w->places; i++) {
		struct place *p = &w->place[i];

		out[i] = p->gauge;
		any |= p->gauged;
		/* Shown, not needed by anybody: as often as gauges are. */
		if (p->state.gate.budget - p->stored.gate.budget >= 1 ||
		    p->stored.gate.budget - p->state.gate.budget >= 1)
			p->dirty = true;
		memset(&p->gauge, 0, sizeof(p->gauge));
		p->gauge.endpoint = p->state.endpoint;
		p->gauged = false;
	}
	return any;
}
