#include "core/body.h"
#include "core/session.h"
#include "engine/world.h"

/*
 * A look-up is one attempt over all its pages. A page may find; only the
 * whole may rule out, so a cut between pages rules nothing out. Each page is
 * a request like any other and waits for the vendor's pause and the pace: so
 * long at most, then the look-up ends inconclusive, which is counted; a list
 * that can never be read to its end comes to a person.
 */
#define PAGE_WAIT_MAX_MS 60000

void look_park(struct place *p, struct transfer *t)
{
	assert(!t->parked && t->page.len);
	t->parked = true;
	p->parked++;
}

/* To be asked for when its turn comes; false: it cannot be. */
static bool park(struct engine_world *w, struct transfer *t,
		 const struct verdict_out *v)
{
	struct place *p = &w->place[t->endpoint];
	struct buf error = BUF_INIT;
	bool built = !p->cred.usable ||
		     send_build(w, t, v->next_page, &error);

	assert(!t->parked);
	if (!built)
		world_log(w, p, "look-up page: %s", buf_text(&error));
	buf_release(&error);
	if (!built)
		return false;
	t->token_version = p->cred.version;
	buf_clear(&t->page);
	buf_adds(&t->page, v->next_page);
	look_park(p, t);
	halt_pace(w, p, v);
	return true;
}

static void unpark(struct place *p, struct transfer *t)
{
	assert(t->parked && p->parked > 0);
	t->parked = false;
	p->parked--;
}

static bool never(const struct engine_world *w, const struct place *p,
		  struct transfer *t)
{
	int64_t now = w->now.utc_ms;

	t->late = gate_opens_ms(&p->state.gate, now) - now > PAGE_WAIT_MAX_MS;
	return t->late || w->stopping || p->state.halt != HALT_NONE ||
	       !p->cred.usable;
}

/* Under the credential there is now. */
static void ask(struct engine_world *w, struct place *p, struct transfer *t)
{
	struct buf error = BUF_INIT;
	bool built = (t->token_version == p->cred.version &&
		      !session_renews(p->config)) ||
		     send_build(w, t, buf_text(&t->page), &error);

	unpark(p, t);
	t->token_version = p->cred.version;
	gate_take(&p->state.gate, 1);
	if (built)
		transfer_start(w, t);
	else
		answer_cut(w, t, TRANSPORT_CUT, true, buf_text(&error));
	buf_release(&error);
}

void look_pump(struct engine_world *w, struct place *p)
{
	for (size_t i = 0; p->parked && i < w->transfers; i++) {
		struct transfer *t = w->transfer[i];

		if (!t || !t->parked || &w->place[t->endpoint] != p)
			continue;
		if (never(w, p, t)) {
			unpark(p, t);
			answer_cut(w, t, TRANSPORT_CUT, true,
				   "the look-up was cut between two pages");
		} else if (gate_allows(&p->state.gate, p->config,
				       w->now.utc_ms) > 0) {
			ask(w, p, t);
		}
	}
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
	if (!in.payload.p)		/* known, and not equal to anything */
		in.payload = SPAN("");
	lookup_read(&in, lookup_tag(in.profile, op, &tag), in.payload,
		    op->sent_sha256[0] ? op->sent_sha256 : op->payload_sha256,
		    a, &t->lookup, v);
	buf_release(&payload);
	buf_release(&tag);
	if (v->verdict == VERDICT_MORE_PAGES) {
		if (park(w, t, v))
			return true;
		v->verdict = VERDICT_INCONCLUSIVE;
		text_set(v->why, sizeof(v->why),
			 SPAN("the address of the next page is none"));
	}
	if (t->late) {
		v->verdict = VERDICT_INCONCLUSIVE;
		text_set(v->rule, sizeof(v->rule), SPAN("look-up-page-late"));
		text_set(v->why, sizeof(v->why), SPAN("the vendor wants too "
			 "long a wait before the next page"));
	}
	/* What it found under our tag shows that this form of request
	 * finds: the control of DESIGN.md section 5. */
	if (v->verdict == VERDICT_FOUND && !p->state.control_found) {
		p->state.control_found = true;
		p->dirty = true;
	}
	return false;
}
