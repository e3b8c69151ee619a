#include <config.h>

#include "engine/engine_priv.h"

#include <stdlib.h>

/*
 * Secrets that the step asks for, and log-ins, which are one for all
 * processes (login_share.h). All of it on the engine's thread: files of a
 * few bytes, locks that are tried, keys of the kernel.
 */

static struct login_share *share_of(struct engine *e, size_t endpoint)
{
	assert(endpoint < e->places);
	if (!e->share[endpoint])
		e->share[endpoint] =
			login_share_new(&e->setup.config->endpoint[endpoint],
					e->setup.share_folder,
					&login_ring_kernel);
	return e->share[endpoint];
}

static void tell_trouble(struct engine *e, size_t endpoint,
			 struct login_share *s)
{
	const char *why = login_share_trouble(s);
	struct buf line = BUF_INIT;

	if (!why)
		return;
	buf_addf(&line, "%s: %s", e->setup.config->endpoint[endpoint].name,
		 why);
	engine_log(e, buf_text(&line));
	buf_release(&line);
}

void engine_ask(struct engine *e, const struct effect *f)
{
	struct secret_read *r;

	e->reads = xrealloc(e->reads, (e->reads_n + 1) * sizeof(*e->reads));
	r = &e->reads[e->reads_n++];
	*r = (struct secret_read){.endpoint = f->endpoint,
		.name = xstrdup(f->text), .log_in = f->kind == EFFECT_LOG_IN,
		.idle = f->idle, .anyway = f->anyway, .log_ins = f->log_ins};
}

static void read_secret(struct engine *e, const struct secret_read *r,
			struct buf *secret, struct buf *error,
			struct event *event)
{
	event->ok = r->name && e->setup.read_secret &&
		    e->setup.read_secret(r->name, secret, error);
	event->secret = buf_span(secret);
	event->error = error->len ? buf_text(error)
				  : "no secret file is configured";
}

/* It is our turn: is there a token, or may one be had? */
static void find(const struct secret_read *r, struct login_share *s,
		 struct buf *secret, struct event *event)
{
	struct login_find f = {.secret = buf_span(secret),
			       .allowed = r->log_ins, .idle = r->idle,
			       .now_ms = login_share_now_ms()};
	enum login_found found = login_share_find(s, &f);

	event->counted = f.counted;
	if (found == LOGIN_OURS)
		return;
	event->kind = EVENT_LOG_IN;
	event->turn = found == LOGIN_TOKEN ? LOG_IN_SHARED : LOG_IN_LATER;
	event->wait_ms = f.wait_ms;
	event->age_ms = f.age_ms;
	event->lifetime_ms = f.lifetime_ms;
	buf_wipe(secret);
	*secret = f.token;
	event->secret = buf_span(secret);
}

struct event engine_answer(struct engine *e, struct secret_read *r,
			   struct buf *secret, struct buf *error)
{
	struct event event = {.kind = EVENT_SECRET, .endpoint = r->endpoint};
	struct login_share *s = r->log_in ? share_of(e, r->endpoint) : NULL;

	if (s && !login_share_turn(s, r->anyway)) {
		event.kind = EVENT_LOG_IN;
		event.turn = LOG_IN_BUSY;
	} else {
		read_secret(e, r, secret, error, &event);
		if (s && event.ok)
			find(r, s, secret, &event);
	}
	if (s)
		tell_trouble(e, r->endpoint, s);
	free(r->name);
	r->name = NULL;
	return event;
}

void engine_log_in_over(struct engine *e, const struct effect *f)
{
	struct login_share *s = share_of(e, f->endpoint);

	if (f->token.n)
		login_share_granted(s, f->token, f->lifetime_ms,
				    login_share_now_ms());
	else
		login_share_over(s);
	tell_trouble(e, f->endpoint, s);
}

void engine_token_refused(struct engine *e, const struct effect *f)
{
	if (e->share[f->endpoint])
		login_share_refused(e->share[f->endpoint]);
}

void engine_shares_free(struct engine *e)
{
	for (size_t i = 0; i < e->places; i++)
		login_share_free(e->share[i]);
	free(e->share);
}
