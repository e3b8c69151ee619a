#include "core/body.h"
#include "engine/world.h"

/*
 * A look-up is one attempt over all its pages. A page may find; only the
 * whole may rule out, so a cut between pages rules nothing out.
 */
static bool next_page(struct engine_world *w, struct transfer *t,
		      const struct verdict_out *v)
{
	struct place *p = &w->place[t->endpoint];
	struct buf error = BUF_INIT;
	bool built;

	if (w->stopping || p->state.halt != HALT_NONE || !p->cred.usable)
		return false;
	built = send_build(w, t, v->next_page, &error);
	if (!built)
		world_log(w, p, "look-up page: %s", buf_text(&error));
	buf_release(&error);
	if (!built)
		return false;
	t->token_version = p->cred.version;
	gate_take(&p->state.gate, 1);
	transfer_start(w, t);
	return true;
}

bool look_answer(struct engine_world *w, struct transfer *t,
		 const struct answer *a, struct verdict_out *v)
{
	struct place *p = &w->place[t->endpoint];
	const struct op *op = &t->intent->op;
	struct buf payload = BUF_INIT, tag = BUF_INIT;
	struct classify_in in;

	assert(t->kind == ATTEMPT_LOOK_UP);
	answer_classify_in(w, p, t, &in);
	in.payload = body_payload(&in.profile->body, op,
				  buf_span(&t->intent->payload), &payload);
	lookup_read(&in, lookup_tag(in.profile, op, &tag), in.payload,
		    op->sent_sha256[0] ? op->sent_sha256 : op->payload_sha256,
		    a, &t->lookup, v);
	buf_release(&payload);
	buf_release(&tag);
	if (v->verdict == VERDICT_MORE_PAGES) {
		if (next_page(w, t, v))
			return true;
		v->verdict = VERDICT_INCONCLUSIVE;
		text_set(v->why, sizeof(v->why),
			 SPAN("the look-up was cut between two pages"));
	}
	/* What it found under our tag shows that this form of request
	 * finds: the control of DESIGN.md section 5. */
	if (v->verdict == VERDICT_FOUND && !p->state.control_found) {
		p->state.control_found = true;
		p->dirty = true;
	}
	return false;
}
