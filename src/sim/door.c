/* door.c - plays: who may come in. */
#include <config.h>

#include "sim/door.h"

#include "core/request.h"
#include "sim/shape.h"
#include "sim/vendor.h"

bool door_is_login(const struct sim *sim, const struct sim_request *q)
{
	return sim->vendor->login_path &&
		vendor_ends(q->path, sim->vendor->login_path);
}

bool door_knows(struct sim *sim, const struct sim_request *q,
		struct span user, struct span password)
{
	const struct sim_oauth *o = &sim->scenario.oauth;
	int64_t since = sim_since(sim, q->now_ms);

	if (since >= o->refused_from_ms && since < o->refused_to_ms)
		return false;
	return span_is(user, o->client_id) &&
		span_is(password, o->client_secret);
}

static enum sim_token_state basic(struct sim *sim,
				  const struct sim_request *q)
{
	struct buf user = BUF_INIT, password = BUF_INIT;
	enum sim_token_state state = SIM_TOKEN_MISSING;

	if (sim_token_basic(q->authorization, &user, &password))
		state = door_knows(sim, q, buf_span(&user),
				   buf_span(&password)) ?
			SIM_TOKEN_OK : SIM_TOKEN_UNKNOWN;
	buf_release(&user);
	buf_wipe(&password);
	return state;
}

static enum sim_token_state form_token(struct sim *sim,
				       const struct sim_request *q)
{
	struct buf token = BUF_INIT;
	enum sim_token_state state = SIM_TOKEN_MISSING;

	if (sim_form_field(q->body, "token", &token))
		state = door_knows(sim, q,
				   span_of(sim->scenario.oauth.client_id),
				   buf_span(&token)) ?
			SIM_TOKEN_OK : SIM_TOKEN_UNKNOWN;
	buf_wipe(&token);
	return state;
}

static enum sim_token_state session(struct sim *sim,
				    const struct sim_request *q)
{
	struct span text = q->authorization;

	if (span_starts(text, "Bearer "))
		text = (struct span){text.p + 7, text.n - 7};
	if (!text.n)
		return SIM_TOKEN_MISSING;
	return sim_token_known(&sim->tokens, &sim->scenario,
			       sim->scenario.seed, text,
			       sim_since(sim, q->now_ms));
}

bool door_open(struct sim *sim, const struct sim_request *q,
	       struct sim_answer *a)
{
	enum sim_token_state state = SIM_TOKEN_OK;

	if (sim->vendor->open_path && span_is(q->method, "GET") &&
	    vendor_ends(q->path, sim->vendor->open_path))
		return true;
	switch (sim->scenario.auth) {
	case SIM_AUTH_NONE:
		break;
	case SIM_AUTH_OAUTH2:
		state = sim_token_check(&sim->tokens, &sim->scenario,
					sim->scenario.seed, q->authorization,
					sim_since(sim, q->now_ms));
		break;
	case SIM_AUTH_BASIC:
		state = basic(sim, q);
		break;
	case SIM_AUTH_SESSION:
		state = session(sim, q);
		break;
	case SIM_AUTH_FORM_TOKEN:
		state = form_token(sim, q);
		break;
	}
	if (state == SIM_TOKEN_OK)
		return true;
	sim->count.unauthorised++;
	shape_unauthorised(a, state);
	if (sim->vendor->fault)
		sim->vendor->fault(sim, q, 401, a);
	return false;
}
