#include "core/body.h"
#include "engine/world.h"

#include <stdlib.h>
#include <string.h>

void answer_classify_in(struct engine_world *w, struct place *p,
			const struct transfer *t, struct classify_in *in)
{
	const struct op *op = t->intent ? &t->intent->op : NULL;
	const char *method = op ? op->method : "GET";

	memset(in, 0, sizeof(*in));
	in->profile = p->config->profile;
	in->method = method;
	in->mode = config_mode(p->config, method);
	in->outcome_unknown = op && (op->flags & OP_OUTCOME_UNKNOWN);
	in->token_fresh = t->token_fresh ||
			  cred_unproven(p, t->token_version);
	in->retry_after_max_ms = p->config->retry.retry_after_max_ms;
	in->now_ms = w->now.utc_ms;
	in->scratch = &w->scratch;
}

/* Conditions may count what was sent. */
static struct span sent_payload(const struct profile *p,
				const struct intent *in, struct buf *scratch)
{
	return body_payload(&p->body, &in->op, buf_span(&in->payload),
			    scratch);
}

static void classify(struct engine_world *w, struct place *p,
		     const struct transfer *t, const struct answer *a,
		     struct verdict_out *v)
{
	struct buf payload = BUF_INIT;
	struct classify_in in;

	answer_classify_in(w, p, t, &in);
	switch (t->kind) {
	case ATTEMPT_SEND:
		in.payload = sent_payload(in.profile, t->intent, &payload);
		classify_send(&in, a, v);
		break;
	case ATTEMPT_POLL:
		if (poll_fetches(&t->intent->poll, in.profile)) {
			in.payload = sent_payload(in.profile, t->intent,
						  &payload);
			classify_result(&in, a, t->intent->poll.stage,
					w->now.utc_ms -
					t->intent->poll.stage_ms, v);
			break;
		}
		classify_poll(&in, a, t->intent->poll.seen,
			      w->now.utc_ms - t->intent->poll.began_ms, v);
		break;
	case ATTEMPT_PROBE:
		classify_probe(&in, a, v);
		break;
	default:
		abort();
	}
	buf_release(&payload);
}

/* ---- what is remembered ------------------------------------------------- */

static void fill_attempt(struct engine_world *w, const struct transfer *t,
			 const struct answer *a, const struct verdict_out *v,
			 const int *phases_us, struct attempt *at)
{
	const struct place *p = &w->place[t->endpoint];

	at->op = t->intent ? t->intent->op.op : 0;
	at->n = t->intent ? t->intent->op.tries : 0;
	at->endpoint = p->state.endpoint;
	at->kind = t->kind;
	at->started_ms = t->started_ms;
	at->finished_ms = w->now.utc_ms;
	at->layer = v->layer;
	at->status = a->status;
	at->transport = a->transport;
	at->verdict = v->verdict;
	at->backoff_ms = -1;
	at->seq_intent = t->intent ? t->intent->seq_intent : 0;
	text_set(at->rule, sizeof(at->rule), span_of(v->rule));
	text_set(at->why, sizeof(at->why), span_of(v->why));
	text_set(at->request_id, sizeof(at->request_id),
		 span_of(t->request_id));
	text_set(at->vendor_id, sizeof(at->vendor_id), span_of(v->vendor_id));
	text_set(at->excerpt, sizeof(at->excerpt), span_of(v->excerpt));
	memcpy(at->config_sha256, w->config->sha256, sizeof(sha256_hex));
	memcpy(at->profile_sha256, p->config->profile->sha256,
	       sizeof(sha256_hex));
	if (phases_us)
		memcpy(at->phases_us, phases_us, sizeof(at->phases_us));
}

static void gauge(struct engine_world *w, struct place *p,
		  const struct transfer *t, enum verdict v)
{
	int64_t took = w->now.utc_ms - t->started_ms;
	int bucket = 0;

	while (took > 1 && bucket < (int)ARRAY_SIZE(p->gauge.histogram) - 1)
		took >>= 1, bucket++;
	p->gauge.histogram[bucket]++;
	p->gauge.minute = w->now.utc_ms / 60000;
	p->gauge.done += v == VERDICT_COMMIT || v == VERDICT_POLL;
	p->gauge.retried += v == VERDICT_RETRY || v == VERDICT_UNKNOWN ||
			    v == VERDICT_PACE || v == VERDICT_REFRESH;
	p->gauge.failed += v == VERDICT_REJECT || v == VERDICT_HALT ||
			   v == VERDICT_PARTIAL;
	p->gauged = true;
}

/* The intent goes with the outcome; its payload has been sent. */
static void emit(struct engine_world *w, struct place *p,
		 struct transfer *t, const struct answer *a,
		 struct outcome *o, bool others, const int *phases_us)
{
	const struct verdict_out *v = &o->verdict;
	struct effect e = {.kind = EFFECT_OUTCOME, .endpoint = t->endpoint,
			   .outcome = o};

	fill_attempt(w, t, a, v, phases_us, &o->attempt);
	o->op = o->attempt.op;
	o->endpoint = p->state.endpoint;
	o->config = p->config;
	o->version = t->intent ? t->intent->op.version : 0;
	o->kind = t->kind;
	o->may_have_happened = a->first_byte_left;
	o->probe = t->probe;
	o->seen_non_404 = a->status != 0 && a->status != 404;
	o->result = t->kind == ATTEMPT_POLL &&
		    poll_fetches(&t->intent->poll, p->config->profile);
	o->engine_started_ms = w->started_ms;
	o->control_found = p->state.control_found;
	o->others_commit = others;
	o->random = world_random(w);
	o->check_request = t->intent ? t->intent->check_request : 0;
	o->intent = t->intent;
	if (o->intent)
		buf_release(&o->intent->payload);
	t->intent = NULL;
	gauge(w, p, t, v->verdict);
	w->effect(w->effect_ctx, &e);
}

/* ---- answers ------------------------------------------------------------ */

void answer_take(struct engine_world *w, struct transfer *t,
		 const struct answer *a, const int *phases_us)
{
	struct place *p = &w->place[t->endpoint];
	struct verdict_out *v;
	struct outcome *o;
	bool others = p->state.last_ok_ms > p->last_pace_ms &&
		      t->intent && p->state.last_ok_op != t->intent->op.op;
	bool ours;

	if (t->kind == ATTEMPT_CREDENTIAL) {
		cred_answer(w, t, a, phases_us);
		return;
	}
	o = outcome_new(w);
	v = &o->verdict;
	cred_renewed(w, p, t, a);
	if (t->kind == ATTEMPT_LOOK_UP) {
		if (look_answer(w, t, a, v)) {
			engine_outcome_back(w, o);
			return;
		}
	} else {
		classify(w, p, t, a, v);
	}
	if (t->unbuilt) {
		v->layer = LAYER_ENGINE;
		text_set(v->rule, sizeof(v->rule), SPAN("cannot-be-sent"));
		text_set(v->why, sizeof(v->why), span_of(a->error));
	}
	cred_scrub(p, v);
	halt_judge(w, p, t, a, v);
	ours = t->intent != NULL;
	emit(w, p, t, a, o, others, phases_us);
	if (ours) {
		assert(p->on_wire > 0);
		p->on_wire--;
		p->looking -= t->kind == ATTEMPT_LOOK_UP;
	}
	transfer_end(w, t);
}

void answer_cut(struct engine_world *w, struct transfer *t,
		enum transport transport, bool left, const char *error)
{
	struct answer a = {.transport = transport, .first_byte_left = left,
			   .received_ms = w->now.utc_ms, .error = error};

	answer_take(w, t, &a, NULL);
}
