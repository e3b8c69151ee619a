#include "engine/world.h"

#include <stdio.h>
#include <string.h>

#include "core/backoff.h"
#include "engine/credential.h"

#define SESSION_TRIES 10		/* sessions that end under one of us */
#define CIRCUIT_ALERT_MS (15 * 60 * 1000)

/* ---- halts -------------------------------------------------------------- */

void halt_set(struct engine_world *w, struct place *p, enum halt_reason why,
	      int64_t until_ms, int64_t op, const char *words)
{
	struct endpoint_state *s = &p->state;

	assert(why != HALT_NONE);
	if (s->halt != HALT_NONE)
		return;			/* the first one stands */
	s->halt = why;
	s->halted_ms = w->now.utc_ms;
	s->halt_until_ms = until_ms;
	s->halt_op = op;
	text_set(s->halt_why, sizeof(s->halt_why), span_of(words));
	p->others_through = false;
	p->dirty = p->recall = true;
	world_log(w, p, "halted: %s", halt_reason_words(why));
}

/* The operation that caused it is remembered: it goes last. */
static void release(struct engine_world *w, struct place *p)
{
	struct endpoint_state *s = &p->state;

	if (s->halt != HALT_NONE)
		world_log(w, p, "released: %s", halt_reason_name(s->halt));
	s->halt = HALT_NONE;
	s->halted_ms = s->halt_until_ms = 0;
	s->halt_why[0] = '\0';
	p->odd = 0;
	p->unauthorised_n = 0;
	p->others_through = false;
	p->dirty = true;
}

/*
 * A person resumes: what stopped it ends in the order that works, secrets
 * are read again, and the start is slow. Two halts want more than that: a
 * changed target an answer, a restored store a declared gap.
 */
void halt_resume(struct engine_world *w, struct place *p)
{
	struct endpoint_state *s = &p->state;
	bool waited = s->halt == HALT_VENDOR_WAIT;

	s->resume_seen = p->control.resume_seq;
	p->dirty = true;
	if (s->halt == HALT_STORE_RESTORED)
		return;
	if (s->halt == HALT_TARGET_CHANGED) {
		if (p->control.target_answer == 0)
			return;
		p->target_answer = p->control.target_answer;
		config_target(p->config, s->target);
	}
	release(w, p);
	if (waited)
		s->gate.paced_until_ms = 0;
	cred_forget(p);
	circuit_close(&s->circuit, w->now.utc_ms);
}

static void read_health(struct engine_world *w, struct place *p, bool probe)
{
	struct transfer *t = transfer_new(w, p, ATTEMPT_PROBE);
	struct buf error = BUF_INIT;

	world_uuid(w, t->request_id);
	t->probe = probe;
	t->generation = p->state.circuit.generation;
	t->token_version = p->cred.version;
	gate_take(&p->state.gate, 1);
	if (send_build(w, t, NULL, &error))
		transfer_start(w, t);
	else
		answer_cut(w, t, TRANSPORT_REFUSED, false, buf_text(&error));
	buf_release(&error);
}

/* ---- probes ------------------------------------------------------------- */

void halt_probe_answer(struct engine_world *w, struct place *p, bool good,
		       const char *text)
{
	struct effect e = {.kind = EFFECT_REQUEST, .good = good, .text = text,
			   .endpoint = place_index(w, p),
			   .request_id = p->probe_request};

	p->probe_request = 0;
	p->probe_waits = false;
	if (e.request_id)
		w->effect(w->effect_ctx, &e);
}

/* A person's read of health: once one is in. */
static void probe_read(struct engine_world *w, struct place *p)
{
	p->probe_waits = false;
	if (p->state.halt != HALT_NONE)
		halt_probe_answer(w, p, false,
				  halt_reason_words(p->state.halt));
	else if (w->stopping || place_paused(w, p))
		halt_probe_answer(w, p, false, "paused, or the engine stops");
	else if (p->state.gate.paced_until_ms > w->now.utc_ms)
		halt_probe_answer(w, p, false, "the vendor asked to wait");
	else if (cred_usable(w, p))
		read_health(w, p, false);
	else if (cred_waits(w, p))
		halt_probe_answer(w, p, false, "the log-in has to wait: the "
				  "vendor's log-in is in trouble, or allows "
				  "no more of them now");
	else
		p->probe_waits = true;
}

/* A person wants to know now. What binds probes binds this one, too. */
void halt_probe_asked(struct engine_world *w, struct place *p, int64_t request)
{
	struct endpoint_state *s = &p->state;

	halt_probe_answer(w, p, false, "asked again");
	p->probe_request = request;
	if (w->stopping || s->halt != HALT_NONE || place_paused(w, p))
		halt_probe_answer(w, p, false,
				  "paused or halted: resume it first");
	else if (s->gate.paced_until_ms > w->now.utc_ms)
		halt_probe_answer(w, p, false, "the vendor asked to wait");
	else if (s->circuit.state == CIRCUIT_OPEN)
		s->circuit.probe_at_ms = w->now.utc_ms;
	else if (s->circuit.state == CIRCUIT_PROBING)
		return;			/* that one answers */
	else if (p->config->profile->health.present)
		probe_read(w, p);
	else
		halt_probe_answer(w, p, true, "the circuit is closed and "
				  "the vendor offers nothing to read");
	p->probe_idle_ms = 0;
}

/* ---- alerts ------------------------------------------------------------- */

static void alert(struct engine_world *w, struct place *p, bool urgent,
		  const struct buf *line)
{
	struct effect e = {.kind = EFFECT_ALERT, .urgent = urgent,
			   .endpoint = place_index(w, p),
			   .text = buf_text(line)};

	w->effect(w->effect_ctx, &e);
}

/* One line a condition: a halt, also one found at start; a circuit that is
 * open for CIRCUIT_ALERT_MS. Its end re-arms it. */
static void tell_alerts(struct engine_world *w, struct place *p)
{
	const struct endpoint_state *s = &p->state;
	const struct circuit *c = &s->circuit;
	const char *name = p->config->name;
	struct buf line = BUF_INIT;

	if (s->halt != p->alerted_halt && s->halt != HALT_NONE) {
		buf_addf(&line, "%s stands still: %s; see 'edcsync status'",
			 name, halt_reason_words(s->halt));
		alert(w, p, s->halt != HALT_VENDOR_WAIT, &line);
		buf_clear(&line);
	}
	p->alerted_halt = s->halt;
	if (c->state != CIRCUIT_CLOSED && c->state != CIRCUIT_SLOW_START &&
	    c->opened_ms != p->alerted_open_ms &&
	    w->now.utc_ms - c->opened_ms >= CIRCUIT_ALERT_MS) {
		p->alerted_open_ms = c->opened_ms;
		buf_addf(&line, "%s is down for more than 15 minutes, work "
			 "waits; see 'edcsync status'", name);
		alert(w, p, false, &line);
	}
	buf_release(&line);
}

void halt_tick(struct engine_world *w, struct place *p)
{
	struct endpoint_state *s = &p->state;
	int64_t now = w->now.utc_ms;

	tell_alerts(w, p);
	if (p->probe_waits)
		probe_read(w, p);
	if (s->halt == HALT_VENDOR_WAIT && s->halt_until_ms <= now)
		release(w, p);
	if (w->stopping || !w->store_ok || s->halt != HALT_NONE ||
	    place_paused(w, p) || s->gate.paced_until_ms > now)
		return;
	if (p->config->profile->health.present &&
	    circuit_probe_due(&s->circuit, now) && !cred_waits(w, p) &&
	    cred_usable(w, p) && circuit_probe_begin(&s->circuit, now)) {
		p->dirty = true;
		read_health(w, p, true);
	}
}

/* ---- one answer, seen by the endpoint ----------------------------------- */

static bool good(enum verdict v)
{
	switch (v) {
	case VERDICT_COMMIT: case VERDICT_POLL: case VERDICT_FOUND:
	case VERDICT_RUNNING: case VERDICT_DIFFERS: case VERDICT_SEVERAL:
	case VERDICT_ABSENT: case VERDICT_STILL: case VERDICT_PARTIAL:
		return true;
	default:
		return false;
	}
}

static void reject_alone(struct verdict_out *v)
{
	v->verdict = VERDICT_REJECT;
	v->halt = HALT_NONE;
	v->reason = REASON_UNAUTHORISED;
	text_set(v->rule, sizeof(v->rule), SPAN("unauthorised-alone"));
	text_set(v->why, sizeof(v->why),
		 SPAN("unauthorised with a fresh token that others use"));
}

/*
 * The one that brought the halt, refused again, and since the release others
 * got through with this token, or with the one that it was refused under just
 * now. A secret that cannot be renewed is the same for all: it need not be
 * read once more. Nothing of it is remembered but who it was: also after a
 * restart it brings no second halt.
 */
static bool alone(const struct place *p, const struct transfer *t,
		  const struct verdict_out *v)
{
	int64_t op = t->intent ? t->intent->op.op : 0;
	int64_t good = p->cred.good_version;
	bool halts = v->verdict == VERDICT_HALT &&
		(v->halt == HALT_FRESH_TOKEN || v->halt == HALT_SCOPE ||
		 v->halt == HALT_CREDENTIALS);
	bool fixed = v->verdict == VERDICT_REFRESH &&
		!credential_is_asked_for(p->config->credential.kind);

	return op && op == p->state.halt_op && p->others_through &&
		(halts || fixed) && (good >= t->token_version ||
				     good == cred_refused_under(p, op));
}

/*
 * 401 under a token newer than the one it was refused for. Nobody got through
 * with it: the halt stands. Others did: the fault is this operation's alone
 * when it had brought a halt, when another was begun later and got through,
 * or the third time; else the token may have been revoked in between, and is
 * replaced once more. A vendor that says in so many words that the session is
 * over blames no operation: somebody else logs in under the same name, and it
 * is gone again before all had their turn.
 */
static void judge_token(struct place *p, const struct transfer *t,
			const struct answer *a, struct verdict_out *v)
{
	const struct cred *c = &p->cred;
	int64_t op = t->intent ? t->intent->op.op : 0;
	bool over = p->config->credential.kind == CRED_SESSION &&
		    a->status != 401;

	if (alone(p, t, v)) {
		reject_alone(v);
		return;
	}
	if (v->verdict != VERDICT_HALT || v->halt != HALT_FRESH_TOKEN ||
	    !op || c->good_version < t->token_version)
		return;
	v->halt = HALT_NONE;
	if (op != p->state.halt_op &&
	    (over ? cred_times(p, op) < SESSION_TRIES :
	     cred_times(p, op) < 2 && c->good_version == t->token_version &&
	     c->good_started_ms < t->started_ms)) {
		v->verdict = VERDICT_REFRESH;
		text_set(v->rule, sizeof(v->rule), SPAN("token-revoked"));
		return;
	}
	reject_alone(v);
}

/* Twenty different operations in a row answered 401 or 403. */
static void judge_run(struct place *p, const struct transfer *t,
		      const struct answer *a, struct verdict_out *v)
{
	int64_t op = t->intent ? t->intent->op.op : 0;

	if (a->status == 0 || !op)
		return;
	if (a->status != 401 && a->status != 403) {
		p->unauthorised_n = 0;
		return;
	}
	if (v->verdict != VERDICT_REJECT)
		return;
	for (int i = 0; i < p->unauthorised_n; i++)
		if (p->unauthorised[i] == op)
			return;
	p->unauthorised[p->unauthorised_n++] = op;
	if (p->unauthorised_n < CAP_UNAUTHORISED_OPS)
		return;
	p->unauthorised_n = 0;
	v->verdict = VERDICT_HALT;
	v->halt = HALT_UNAUTHORISED_RUN;
	v->not_done = true;
	text_set(v->rule, sizeof(v->rule), SPAN("unauthorised-run"));
	text_set(v->why, sizeof(v->why),
		 span_of(halt_reason_words(HALT_UNAUTHORISED_RUN)));
}

/* Well-formed answers that match no rule: each is unknown, five in a row
 * say that we do not understand this vendor. */
static void judge_odd(struct engine_world *w, struct place *p,
		      const struct transfer *t, const struct answer *a,
		      const struct verdict_out *v)
{
	if (a->status == 0 || a->transport != TRANSPORT_OK)
		return;
	if (v->verdict != VERDICT_UNKNOWN || v->matched) {
		p->odd = 0;
		return;
	}
	if (++p->odd >= CAP_ODD_ANSWERS) {
		p->odd = 0;
		halt_set(w, p, HALT_ODD_ANSWERS, 0,
			 t->intent ? t->intent->op.op : 0, v->why);
	}
}

void halt_pace(struct engine_world *w, struct place *p,
	       const struct verdict_out *v)
{
	int64_t now = w->now.utc_ms, wait = v->retry_after_ms;

	if (v->verdict != VERDICT_PACE && !v->paces_endpoint)
		return;
	/* Not told, or nonsense (told as 0): our own backoff. */
	if (wait <= 0) {
		if (v->verdict != VERDICT_PACE)
			return;
		wait = backoff_ms(&p->config->retry, ++p->paces,
				  world_random(w));
	}
	if (wait < 1000 && v->verdict == VERDICT_PACE)
		wait = 1000;
	if (wait > p->config->retry.retry_after_max_ms)
		halt_set(w, p, HALT_VENDOR_WAIT, add_ms(now, wait), 0, v->why);
	gate_pace(&p->state.gate, p->config, add_ms(now, wait), now);
	p->last_pace_ms = now;
	p->dirty = p->recall = true;
}

static void judge_good(struct engine_world *w, struct place *p,
		       const struct transfer *t, const struct verdict_out *v)
{
	int64_t op = t->intent ? t->intent->op.op : 0;

	if (!good(v->verdict))
		return;
	gate_good(&p->state.gate, p->config, w->now.utc_ms);
	p->paces = 0;
	if (t->token_version > p->cred.good_version) {
		p->cred.good_version = t->token_version;
		p->cred.good_started_ms = 0;
	}
	if (t->token_version == p->cred.good_version &&
	    t->started_ms > p->cred.good_started_ms)
		p->cred.good_started_ms = t->started_ms;
	if (op && op != p->state.halt_op)
		p->others_through = true;
	if (v->verdict == VERDICT_COMMIT && op) {
		p->state.last_ok_ms = w->now.utc_ms;
		p->state.last_ok_op = op;
		/* Shown by status: kept fresh within a second. */
		if (p->state.last_ok_ms - p->stored.last_ok_ms >= 1000)
			p->dirty = true;
	}
}

void halt_judge(struct engine_world *w, struct place *p, struct transfer *t,
		const struct answer *a, struct verdict_out *v)
{
	int64_t op = t->intent ? t->intent->op.op : 0;
	bool fresh = v->verdict == VERDICT_HALT && v->halt == HALT_FRESH_TOKEN;

	judge_token(p, t, a, v);
	judge_run(p, t, a, v);
	judge_odd(w, p, t, a, v);
	halt_pace(w, p, v);
	judge_good(w, p, t, v);
	if (v->verdict == VERDICT_REFRESH ||
	    (fresh && v->verdict == VERDICT_HALT))
		cred_refused(w, p, t);
	if (op && v->verdict != VERDICT_REFRESH &&
	    v->verdict != VERDICT_HALT) {
		cred_settled(p, op);
		if (op == p->state.halt_op && p->state.halt == HALT_NONE) {
			p->state.halt_op = 0;
			p->dirty = true;
		}
	}
	if (v->verdict == VERDICT_HALT)
		halt_set(w, p, v->halt, v->halt == HALT_VENDOR_WAIT ?
			 add_ms(w->now.utc_ms, v->retry_after_ms) : 0,
			 op, v->why);
	/* Cut or not built by ourselves: that says nothing about the vendor. */
	if (a->transport != TRANSPORT_CUT && !t->unbuilt)
		halt_circuit(w, p, t, v->heard ? VERDICT_STILL : v->verdict);
	else if (t->probe)
		circuit_probe_release(&p->state.circuit, w->now.utc_ms);
}

/* ---- circuit ------------------------------------------------------------ */

void halt_circuit(struct engine_world *w, struct place *p,
		  const struct transfer *t, enum verdict v)
{
	struct circuit *c = &p->state.circuit;
	char words[80];

	if (circuit_outcome(c, &p->config->circuit, t->generation,
			    t->intent ? t->intent->op.op : 0, t->probe, v,
			    w->now.utc_ms)) {
		p->dirty = p->recall = true;
		world_log(w, p, "circuit %s", circuit_state_name(c->state));
	}
	if (!t->probe && t->kind != ATTEMPT_PROBE)
		return;
	snprintf(words, sizeof(words), "%s: the circuit is %s",
		 verdict_name(v), circuit_state_name(c->state));
	halt_probe_answer(w, p, good(v), words);
}
