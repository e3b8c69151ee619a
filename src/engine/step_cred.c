#define _GNU_SOURCE			/* memmem */
#include "engine/world.h"

#include <stdlib.h>
#include <string.h>

#include "core/backoff.h"
#include "core/hash.h"
#include "core/session.h"
#include "engine/credential.h"

/*
 * Credentials of one endpoint. One flight at a time; a token that was
 * refused is replaced once, whoever brings the news and however often; what
 * works is kept until something better is there (field reports B040-B045).
 */

#define ONCE_MS 60000			/* lifetime 0: one refresh a minute */
#define MINUTE_MS 60000
#define THROTTLED_MAX 5			/* "too many log-ins", in a row */
#define ASK_MS 20			/* whose turn? doubles ... */
#define ASK_DOUBLES 5			/* ... so often */

struct span cred_header(const struct place *p)
{
	return buf_span(&p->cred.header);
}

struct span cred_in_body(const struct place *p)
{
	return buf_span(&p->cred.in_body);
}

void cred_used(struct engine_world *w, struct place *p)
{
	p->cred.used_ms = w->now.utc_ms;
}

static void drop(struct cred *c)
{
	buf_wipe(&c->header);
	buf_wipe(&c->in_body);
	c->usable = false;
}

void cred_release(struct cred *c)
{
	drop(c);
	buf_wipe(&c->partial);
	free(c->refused);
	memset(c, 0, sizeof(*c));
}

void cred_clock(struct cred *c, int64_t delta_ms)
{
	int64_t *at[] = {&c->got_ms, &c->renew_ms, &c->retry_at_ms,
			 &c->used_ms, &c->asked_ms, &c->ask_at_ms};

	for (size_t i = 0; i < ARRAY_SIZE(at); i++)
		if (*at[i] > 0)
			*at[i] += delta_ms;
	for (size_t i = 0; i < LOG_INS_MAX; i++)
		if (c->log_in_ms[i] > 0)
			c->log_in_ms[i] += delta_ms;
}

void cred_forget(struct place *p)
{
	struct cred *c = &p->cred;

	drop(c);
	c->throttled = 0;
	c->after_refusal = false;
	c->replaces = false;
	c->idle = false;
	c->digest_known = false;
	c->failures = 0;
	c->retry_at_ms = 0;
	c->renew_ms = 0;
}

static void read_secret(struct engine_world *w, struct place *p)
{
	const struct cred_config *k = &p->config->credential;
	struct effect e = {.kind = EFFECT_READ_SECRET,
			   .endpoint = place_index(w, p)};

	e.text = credential_file(k, p->cred.reading);
	w->effect(w->effect_ctx, &e);
}

static void log_in_later(struct engine_world *w, struct place *p,
			 int64_t wait_ms)
{
	p->cred.retry_at_ms = add_ms(w->now.utc_ms, wait_ms);
	world_log(w, p, "log-in: as often as the vendor allows; again in %lld "
		  "ms", (long long)wait_ms);
}

/*
 * Vendors of session_login count log-ins by the minute and refuse or lock
 * beyond that: of any minute, no more than they allow. A token server whose
 * tokens end at once is not asked before every request, either. What is not
 * counted over all processes is so among ours. True: not now.
 */
static bool log_in_waits(struct engine_world *w, struct place *p)
{
	const struct cred *c = &p->cred;
	int64_t oldest = c->log_in_ms[c->log_in];
	int64_t wait = oldest + MINUTE_MS - w->now.utc_ms;

	if (!credential_log_ins(p->config) || !oldest || wait <= 0)
		return false;
	log_in_later(w, p, wait);
	return true;
}

static void log_in_counts(const struct engine_world *w, struct place *p)
{
	struct cred *c = &p->cred;

	c->log_in_ms[c->log_in] = w->now.utc_ms;
	c->log_in = (c->log_in + 1) % credential_log_ins(p->config);
}

/* ---- whose turn --------------------------------------------------------- */

static bool shares(const struct place *p)
{
	const struct cred_config *k = &p->config->credential;

	return credential_is_asked_for(k->kind) && k->share != SHARE_OFF;
}

static bool lost_patience(const struct engine_world *w, const struct place *p)
{
	int64_t since = p->cred.asked_ms;

	return since && w->now.utc_ms - since >=
			credential_patience_ms(p->config);
}

static void ask_turn(struct engine_world *w, struct place *p)
{
	struct cred *c = &p->cred;
	struct effect e = {.kind = EFFECT_LOG_IN,
			   .endpoint = place_index(w, p), .idle = c->idle,
			   .log_ins = credential_log_ins(p->config)};

	assert(c->busy && !c->turn);
	e.text = credential_file(&p->config->credential, 0);
	e.anyway = lost_patience(w, p);
	if (e.anyway)
		world_log(w, p, "log-in: another process began one as this "
			  "account and does not end; not waiting any longer");
	c->ask_at_ms = 0;
	w->effect(w->effect_ctx, &e);
}

static void waits_no_more(struct cred *c)
{
	c->ask_at_ms = c->asked_ms = 0;
	c->asked = 0;
}

/* Ours, or that of nobody who is known: the flight is over, with a token or
 * without. */
static void land(struct engine_world *w, struct place *p, struct span token,
		 int64_t lifetime_ms)
{
	struct cred *c = &p->cred;
	struct effect e = {.kind = EFFECT_LOG_IN_OVER,
			   .endpoint = place_index(w, p), .token = token,
			   .lifetime_ms = lifetime_ms};

	assert(c->busy);
	c->busy = false;
	waits_no_more(c);
	if (c->turn)
		w->effect(w->effect_ctx, &e);
	c->turn = false;
}

static void land_empty(struct engine_world *w, struct place *p)
{
	land(w, p, (struct span){NULL, 0}, 0);
}

void cred_tick(struct engine_world *w, struct place *p)
{
	struct cred *c = &p->cred;

	if (!c->ask_at_ms || c->ask_at_ms > w->now.utc_ms)
		return;
	if (w->stopping || p->state.halt != HALT_NONE || place_paused(w, p))
		land_empty(w, p);
	else
		ask_turn(w, p);
}

static void begin(struct engine_world *w, struct place *p)
{
	struct cred *c = &p->cred;

	assert(!c->busy);
	c->busy = true;
	c->reading = 0;
	buf_wipe(&c->partial);
	if (shares(p))
		ask_turn(w, p);
	else
		read_secret(w, p);
}

bool cred_waits(const struct engine_world *w, const struct place *p)
{
	const struct cred *c = &p->cred;

	return !c->usable && !c->busy && c->retry_at_ms > w->now.utc_ms;
}

/* A session that nobody used for so long is over, or nearly so: it is not
 * tried. While a request of ours is out it is in use. */
static bool idle_over(const struct engine_world *w, const struct place *p)
{
	int64_t idle = p->config->credential.kind == CRED_SESSION ?
		       p->config->profile->login.idle_ms : 0;

	return idle > 0 && p->on_wire == 0 &&
	       w->now.utc_ms >= token_renew_ms(p->cred.used_ms, idle);
}

bool cred_usable(struct engine_world *w, struct place *p)
{
	struct cred *c = &p->cred;
	int64_t now = w->now.utc_ms;

	if (p->config->credential.kind == CRED_NONE)
		return c->usable = true;
	if (c->usable && idle_over(w, p)) {
		drop(c);
		c->idle = true;
	}
	if (c->usable) {
		if (c->renew_ms && now >= c->renew_ms && !c->busy &&
		    now >= c->retry_at_ms)
			begin(w, p);	/* goes on with the old one */
		return true;
	}
	if (!c->busy && now >= c->retry_at_ms)
		begin(w, p);
	return c->usable;
}

/* ---- what an answer quotes ---------------------------------------------- */

#define QUOTE_BYTES 6			/* a shorter one is anybody's word */

static void scrub_all(struct span secret, struct verdict_out *v)
{
	static const char instead[] = "(quotes the credential)";
	const struct {
		char *text;
		size_t size;
		bool id;
	} row[] = {
		{v->why, sizeof(v->why), false},
		{v->word, sizeof(v->word), false},
		{v->code, sizeof(v->code), false},
		{v->excerpt, sizeof(v->excerpt), false},
		{v->items, sizeof(v->items), true},
		{v->vendor_id, sizeof(v->vendor_id), true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (secret.n >= QUOTE_BYTES && row[i].text[0] &&
		    memmem(row[i].text, strlen(row[i].text), secret.p,
			   secret.n))
			text_set(row[i].text, row[i].size,
				 span_of(row[i].id ? "" : instead));
}

/* Of a header line the last word of its value: "Bearer TOKEN". */
void cred_scrub(const struct place *p, struct verdict_out *v)
{
	struct span rest = cred_header(p);

	scrub_all(cred_in_body(p), v);
	while (rest.n) {
		const char *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n, from = n;

		while (from && rest.p[from - 1] != ' ')
			from--;
		scrub_all((struct span){rest.p + from, n - from}, v);
		rest.p += n + (end ? 1 : 0);
		rest.n -= n + (end ? 1 : 0);
	}
}

/* ---- what came back ----------------------------------------------------- */

/* A new one is there: under a new version, for everybody. */
static void ready(struct engine_world *w, struct place *p, struct buf *made)
{
	struct cred *c = &p->cred;

	drop(c);
	if (p->config->credential.kind == CRED_FORM_TOKEN)
		c->in_body = *made;
	else
		c->header = *made;
	*made = BUF_INIT;
	c->usable = true;
	c->replaces = c->after_refusal;
	c->after_refusal = c->taken = c->idle = false;
	c->failures = 0;
	c->retry_at_ms = 0;
	c->version++;
	c->got_ms = c->used_ms = w->now.utc_ms;
	c->renew_ms = 0;
	c->once = false;
	p->state.token_version = c->version;
	p->state.token_got_ms = c->got_ms;
	p->state.token_renew_ms = 0;
	p->dirty = true;
}

static void static_ready(struct engine_world *w, struct place *p)
{
	struct cred *c = &p->cred;
	uint8_t digest[32];
	bool same;

	hash_sha256(buf_span(&c->partial), digest);
	same = c->digest_known && memcmp(digest, c->digest, 32) == 0;
	memcpy(c->digest, digest, 32);
	c->digest_known = true;
	c->busy = false;
	if (same && c->after_refusal) {
		buf_wipe(&c->partial);
		halt_set(w, p, HALT_CREDENTIALS, 0, c->refused_op,
			 "refused, and the secret file holds the same as before");
		return;
	}
	ready(w, p, &c->partial);
}

/* Asks for a token, or logs in. */
static void fetch(struct engine_world *w, struct place *p, struct span secret)
{
	const struct cred_config *k = &p->config->credential;
	struct transfer *t = transfer_new(w, p, ATTEMPT_CREDENTIAL);
	struct request_ids ids = {0};
	struct buf error = BUF_INIT;
	bool built = true;

	log_in_counts(w, p);
	world_uuid(w, t->request_id);
	text_set(ids.request_id, sizeof(ids.request_id),
		 span_of(t->request_id));
	if (k->kind == CRED_SESSION)
		built = request_log_in(&t->request, p->config, secret, &ids,
				       &t->body, &error);
	else
		credential_token_request(k, secret, &t->request, &t->body);
	if (built) {
		transfer_start(w, t);
	} else {
		land_empty(w, p);
		transfer_end(w, t);
		halt_set(w, p, HALT_CREDENTIALS, 0, 0, buf_text(&error));
	}
	buf_release(&error);
}

void cred_secret(struct engine_world *w, struct place *p,
		 const struct event *e)
{
	struct span secret = e->secret;
	const struct cred_config *k = &p->config->credential;
	struct cred *c = &p->cred;

	assert(c->busy && !c->turn);
	c->turn = shares(p);
	if (w->stopping) {
		land_empty(w, p);
		return;
	}
	if (!e->ok || memchr(secret.p ? secret.p : "", '\n', secret.n)) {
		land_empty(w, p);
		halt_set(w, p, HALT_SECRET, 0, 0,
			 e->ok ? "the secret has more than one line"
			       : e->error);
		return;
	}
	if (credential_is_asked_for(k->kind)) {
		if (e->counted || !log_in_waits(w, p))
			fetch(w, p, secret);
		else
			land_empty(w, p);
		return;
	}
	if (k->kind == CRED_FORM_TOKEN)
		buf_addspan(&c->partial, secret);
	else
		credential_line(k, c->reading, secret, &c->partial);
	if (credential_file(k, ++c->reading))
		read_secret(w, p);
	else
		static_ready(w, p);
}

static void trouble(struct engine_world *w, struct place *p,
		    const struct token_answer *ta)
{
	struct cred *c = &p->cred;
	int64_t wait = backoff_after_ms(&p->config->retry, ++c->failures,
					ta->retry_after_ms, world_random(w));

	if (wait < 1000)
		wait = 1000;
	land_empty(w, p);
	c->throttled = ta->throttled ? c->throttled + 1 : 0;
	if (p->config->credential.kind == CRED_SESSION &&
	    c->throttled >= THROTTLED_MAX) {
		c->throttled = 0;
		halt_set(w, p, HALT_LOG_INS, 0, 0, ta->why);
		return;
	}
	c->retry_at_ms = add_ms(w->now.utc_ms, wait);
	world_log(w, p, "%s: %s; again in %lld ms",
		  credential_asks(&p->config->credential), ta->why,
		  (long long)wait);
}

/* Records the attempt; operations are not concerned. */
static void record(struct engine_world *w, struct transfer *t,
		   const struct answer *a, const struct token_answer *ta,
		   const int *phases_us)
{
	static const enum verdict of[] = {VERDICT_COMMIT, VERDICT_RETRY,
					  VERDICT_HALT};
	struct place *p = &w->place[t->endpoint];
	struct outcome *o = outcome_new(w);
	struct effect e = {.kind = EFFECT_OUTCOME, .endpoint = t->endpoint,
			   .outcome = o};
	struct attempt *at = &o->attempt;
	struct span rule = span_of(ta->rule);

	assert(ta->rule);
	o->endpoint = at->endpoint = p->state.endpoint;
	o->config = p->config;
	o->kind = at->kind = ATTEMPT_CREDENTIAL;
	at->started_ms = t->started_ms;
	at->finished_ms = w->now.utc_ms;
	at->status = a->status;
	at->transport = a->transport;
	at->verdict = o->verdict.verdict = of[ta->result];
	o->verdict.retry_after_ms = ta->retry_after_ms;
	o->verdict.halt = ta->halt;
	at->layer = o->verdict.layer = classify_layer(a);
	at->backoff_ms = -1;
	text_set(at->rule, sizeof(at->rule), rule);
	text_set(at->why, sizeof(at->why), span_of(ta->why));
	text_set(o->verdict.rule, sizeof(o->verdict.rule), rule);
	text_set(o->verdict.why, sizeof(o->verdict.why), span_of(ta->why));
	text_set(at->request_id, sizeof(at->request_id),
		 span_of(t->request_id));
	if (phases_us)
		memcpy(at->phases_us, phases_us, sizeof(at->phases_us));
	o->engine_started_ms = w->started_ms;
	w->effect(w->effect_ctx, &e);
}

/*
 * A vendor that gives a new session with every answer takes the old one no
 * more: the next request carries the new one. It is the same log-in, under
 * the same version. One that was lost with its answer shows by a refusal.
 */
void cred_renewed(struct engine_world *w, struct place *p,
		  const struct transfer *t, const struct answer *a)
{
	int64_t lifetime_ms = p->config->profile->login.lifetime_ms;
	struct buf session = BUF_INIT, header = BUF_INIT;
	struct cred *c = &p->cred;

	if (!session_renews(p->config) || !c->usable ||
	    t->token_version != c->version)
		return;
	if (session_renewed(p->config, a, &session)) {
		credential_granted(p->config, buf_span(&session), &header);
		buf_wipe(&c->header);
		c->header = header;
		c->got_ms = w->now.utc_ms;
		if (lifetime_ms > 0)
			c->renew_ms = token_renew_ms(c->got_ms, lifetime_ms);
	}
	buf_wipe(&session);
}

/* One that was got so long ago. */
static void token_ready(struct engine_world *w, struct place *p,
			struct span token, int64_t age_ms, int64_t lifetime_ms)
{
	struct cred *c = &p->cred;
	struct buf header = BUF_INIT;

	credential_granted(p->config, token, &header);
	ready(w, p, &header);
	c->got_ms -= age_ms;
	c->once = lifetime_ms == 0;
	if (lifetime_ms > 0)
		c->renew_ms = token_renew_ms(c->got_ms, lifetime_ms);
	p->state.token_got_ms = c->got_ms;
	p->state.token_renew_ms = c->renew_ms;
}

void cred_answer(struct engine_world *w, struct transfer *t,
		 const struct answer *a, const int *phases_us)
{
	struct place *p = &w->place[t->endpoint];
	struct token_answer ta = {0};

	assert(t->kind == ATTEMPT_CREDENTIAL);
	credential_read(p->config, a, w->now.utc_ms, &ta);
	record(w, t, a, &ta, phases_us);
	transfer_end(w, t);
	switch (ta.result) {
	case TOKEN_OK:
		land(w, p, buf_span(&ta.token), ta.lifetime_ms);
		token_ready(w, p, buf_span(&ta.token), 0, ta.lifetime_ms);
		p->cred.throttled = 0;
		if (ta.odd_lifetime)
			world_log(w, p, "%s: %s",
				  credential_asks(&p->config->credential),
				  ta.why);
		break;
	case TOKEN_TROUBLE:
		trouble(w, p, &ta);
		break;
	case TOKEN_REFUSED:
		land_empty(w, p);
		halt_set(w, p, ta.halt == HALT_NONE ? HALT_CREDENTIALS
						    : ta.halt, 0, 0, ta.why);
		break;
	}
	buf_wipe(&ta.token);
}

/* ---- what other processes did ------------------------------------------- */

/* Not all of those who wait ask at the same time. */
static int64_t ask_after_ms(struct engine_world *w, struct cred *c)
{
	int64_t wait = ASK_MS << (c->asked < ASK_DOUBLES ? c->asked
							 : ASK_DOUBLES);

	c->asked++;
	return wait + (int64_t)(world_random(w) % (uint64_t)wait);
}

void cred_log_in(struct engine_world *w, struct place *p,
		 const struct event *e)
{
	struct cred *c = &p->cred;

	assert(c->busy && !c->turn && shares(p));
	switch (e->turn) {
	case LOG_IN_BUSY:
		if (!c->asked_ms)
			c->asked_ms = w->now.utc_ms;
		c->ask_at_ms = add_ms(w->now.utc_ms, ask_after_ms(w, c));
		return;
	case LOG_IN_LATER:
		land_empty(w, p);
		log_in_later(w, p, e->wait_ms);
		return;
	case LOG_IN_SHARED:
		land_empty(w, p);
		token_ready(w, p, e->secret, e->age_ms, e->lifetime_ms);
		/* Issued at any time: that it is refused says nothing yet. */
		c->taken = true;
		c->replaces = false;
		world_log(w, p, "log-in: another process is in as this "
			  "account, its token serves here, too");
		return;
	}
}

/* ---- refusals by the vendor --------------------------------------------- */

bool cred_fresh(const struct place *p, int64_t op)
{
	if (p->cred.taken)
		return false;
	for (size_t i = 0; i < p->cred.refused_n; i++)
		if (p->cred.refused[i].op == op)
			return p->cred.refused[i].version < p->cred.version;
	return false;
}

bool cred_unproven(const struct place *p, int64_t version)
{
	const struct cred *c = &p->cred;

	assert(version <= c->version);
	return c->replaces && version == c->version &&
	       c->good_version < version;
}

int cred_times(const struct place *p, int64_t op)
{
	for (size_t i = 0; i < p->cred.refused_n; i++)
		if (p->cred.refused[i].op == op)
			return p->cred.refused[i].times;
	return 0;
}

int64_t cred_refused_under(const struct place *p, int64_t op)
{
	for (size_t i = 0; i < p->cred.refused_n; i++)
		if (p->cred.refused[i].op == op)
			return p->cred.refused[i].version;
	return -1;
}

void cred_settled(struct place *p, int64_t op)
{
	struct cred *c = &p->cred;

	for (size_t i = 0; i < c->refused_n; i++)
		if (c->refused[i].op == op) {
			c->refused[i] = c->refused[--c->refused_n];
			return;
		}
}

static void remember(struct cred *c, int64_t op, int64_t version)
{
	/* It counts for no blame under a token of another process. */
	int counts = !(c->taken && version == c->version);

	for (size_t i = 0; i < c->refused_n; i++)
		if (c->refused[i].op == op) {
			c->refused[i].version = version;
			c->refused[i].times += counts;
			return;
		}
	c->refused = xrealloc(c->refused,
			      (c->refused_n + 1) * sizeof(*c->refused));
	c->refused[c->refused_n++] = (struct refused){op, version, counts};
}

void cred_refused(struct engine_world *w, struct place *p,
		  const struct transfer *t)
{
	struct cred *c = &p->cred;
	struct effect refused = {.kind = EFFECT_TOKEN_REFUSED,
				 .endpoint = place_index(w, p)};

	if (t->intent)
		remember(c, t->intent->op.op, t->token_version);
	if (t->token_version < c->version || !c->usable)
		return;			/* late news: a newer one is there */
	if (p->config->credential.kind == CRED_NONE) {
		halt_set(w, p, HALT_CREDENTIALS, 0,
			 t->intent ? t->intent->op.op : 0,
			 "the vendor wants credentials and none are configured");
		return;
	}
	drop(c);
	c->after_refusal = true;
	c->refused_op = t->intent ? t->intent->op.op : 0;
	w->effect(w->effect_ctx, &refused);
	if (c->once)
		c->retry_at_ms = add_ms(c->got_ms, ONCE_MS);
}
