/* The engine's other rows: endpoints, their states, ends that time brings. */
#include "store/work.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/work_priv.h"

/* Dead letters gone through at once after a circuit closed. */
#define LOOK_SLICE 1000
#define SCAN_ROWS 256

void endpoint_control_release(struct endpoint_control *c)
{
	free(c->by);
	free(c->reason);
	free(c->resume_by);
	free(c->resume_reason);
	c->by = c->reason = c->resume_by = c->resume_reason = NULL;
}

int audit_state(struct store *st, const struct state_change *c,
		int64_t now_ms)
{
	struct audit_event e = {.type = AUDIT_STATE, .at_ms = now_ms,
		.op = c->op, .endpoint = c->config ? c->config->name : NULL,
		.backoff_ms = -1, .old_value = op_state_name(c->old),
		.new_value = op_state_name(c->op->state), .reason = c->why,
		.resolution = c->op->state == OP_DEAD ? "dead_lettered" :
			      NULL};

	return audit_append(st, &e, NULL);
}

int request_done(struct store *st, int64_t id, const char *state,
		 const char *words)
{
	struct request_row row = {.id = id};

	text_set(row.state, sizeof(row.state), span_of(state));
	text_set(row.result, sizeof(row.result), span_of(words));
	return st->ops->request_put(st, &row);
}

int work_request(struct store *st, const char *kind, int64_t endpoint,
		 struct request_row *out)
{
	struct request_row row = {0};
	int rc;

	while ((rc = st->ops->request_next(st, &row)) == ST_OK)
		if (row.endpoint == endpoint && !strcmp(row.kind, kind))
			break;
	if (rc == ST_OK) {
		*out = row;
		rc = request_done(st, row.id, "taken", "");
	}
	return rc;
}

int work_request_done(struct store *st, int64_t id, bool good,
		      const char *words)
{
	return request_done(st, id, good ? "done" : "failed", words);
}

int store_restored(struct store *st, bool *restored)
{
	struct buf value = BUF_INIT;
	int rc = st->ops->meta_get(st, META_RESTORED, &value);

	*restored = rc == ST_OK && value.len > 0;
	buf_release(&value);
	return rc < 0 ? rc : ST_OK;
}

bool store_is_restored(struct store *st)
{
	bool restored;

	return store_restored(st, &restored) == ST_OK && restored;
}

/* Calls change() for every operation in one of the states that wait, oldest
 * handle first, until it returns non-zero. */
struct walk {
	struct store *st;
	const struct endpoint_config *config;
	int64_t endpoint, now_ms;
	int (*change)(struct walk *, struct op *, bool *stop);
	const struct circuit *circuit;
	int changed, limit;
};

static int walk_rows(struct walk *w, const int64_t *ids, int n, bool *stop)
{
	int rc = ST_OK;

	for (int i = 0; i < n && rc >= 0 && !*stop; i++) {
		struct op op;

		op_init(&op);
		rc = w->st->ops->op_get(w->st, ids[i], &op);
		if (rc == ST_OK)
			rc = w->change(w, &op, stop);
		op_release(&op);
		if (w->limit && w->changed >= w->limit)
			*stop = true;
	}
	return rc < 0 ? rc : ST_OK;
}

static int walk_state(struct walk *w, enum op_state state)
{
	int64_t ids[SCAN_ROWS], after = 0;
	bool stop = false;
	int n = SCAN_ROWS, rc = ST_OK;

	while (n == SCAN_ROWS && rc == ST_OK && !stop) {
		n = w->st->ops->op_scan(w->st, state, w->endpoint, after,
					SCAN_ROWS, ids);
		if (n < 0)
			return n;
		rc = walk_rows(w, ids, n, &stop);
		if (n > 0)
			after = ids[n - 1];
	}
	return rc;
}

static int save_changed(struct walk *w, struct op *op, enum op_state old,
			int64_t seen, const char *why)
{
	int rc = work_save(w->st, op, seen, w->config, w->now_ms);

	if (rc == ST_OK)
		rc = audit_state(w->st, &(struct state_change){.op = op,
				 .config = w->config, .old = old, .why = why},
				 w->now_ms);
	w->changed++;
	return rc;
}

static int end_open_wait(struct walk *w, struct op *op, bool *stop)
{
	int64_t seen = op->version;
	enum op_state old = op->state;

	if (!settle_open_wait_over(op, w->circuit, &w->config->circuit)) {
		/* Those queued after it came later. */
		*stop = op->state == OP_QUEUED;
		return ST_OK;
	}
	settle_open_wait(op, w->now_ms);
	return save_changed(w, op, old, seen, op_reason_name(op->reason));
}

/* Nothing can be over before the circuit itself was open that long. */
static int open_wait(struct walk *w)
{
	int64_t wait = w->config->circuit.open_wait_ms;
	int rc;

	if (wait < 0 || w->circuit->state == CIRCUIT_CLOSED ||
	    circuit_waited_ms(w->circuit, 0) < wait)
		return ST_OK;
	w->change = end_open_wait;
	rc = walk_state(w, OP_WAITING);
	if (rc == ST_OK && w->changed < w->limit)
		rc = walk_state(w, OP_QUEUED);
	return rc;
}

static void closed_key(int64_t endpoint, char out[40])
{
	snprintf(out, 40, "circuit_closed.%" PRId64, endpoint);
}

static int ask_check(struct walk *w, struct op *op, bool *stop)
{
	struct request_row row = {.kind = "check", .endpoint = op->endpoint,
		.op = op->op, .by = "edcsync", .asked_ms = w->now_ms,
		.state = "asked"};

	(void)stop;
	if (!(op->flags & OP_OUTCOME_UNKNOWN))
		return ST_OK;
	w->changed++;
	return w->st->ops->request_put(w->st, &row);
}

/* One slice of the dead letters after a handle; where the next one begins
 * stays in the store until none is left. */
static int look_slice(struct walk *w, const char *key, int64_t after)
{
	int64_t ids[LOOK_SLICE];
	struct buf next = BUF_INIT;
	bool stop = false;
	int n = w->st->ops->op_scan(w->st, OP_DEAD, w->endpoint, after,
				    LOOK_SLICE, ids), rc;

	if (n < 0)
		return n;
	w->change = ask_check;
	w->limit = 0;
	rc = walk_rows(w, ids, n, &stop);
	if (n == LOOK_SLICE)
		buf_addf(&next, "after %" PRId64, ids[n - 1]);
	if (rc == ST_OK)
		rc = w->st->ops->meta_put(w->st, key, buf_text(&next));
	buf_release(&next);
	return rc;
}

/* After the circuit closed: every dead letter of unknown outcome is looked
 * up once by itself, where the vendor can be asked. "look" = from the start,
 * "after N" = from there. */
static int look_after_close(struct walk *w)
{
	struct buf value = BUF_INIT;
	struct store *st = w->st;
	const struct profile *profile = w->config->profile;
	char key[40];
	int rc;

	closed_key(w->endpoint, key);
	rc = st->ops->meta_get(st, key, &value);
	if (rc == ST_OK && value.len) {
		const char *at = strchr(buf_text(&value), ' ');

		if (profile && profile->lookup.present)
			rc = look_slice(w, key,
					at ? strtoll(at, NULL, 10) : 0);
		else
			rc = st->ops->meta_put(st, key, "");
	}
	buf_release(&value);
	return rc < 0 ? rc : ST_OK;
}

int work_looks_left(struct store *st, const struct endpoint_state *state,
		    bool *left)
{
	struct buf value = BUF_INIT;
	char key[40];
	int rc;

	closed_key(state->endpoint, key);
	rc = st->ops->meta_get(st, key, &value);
	*left = rc == ST_OK && value.len &&
		state->circuit.state != CIRCUIT_OPEN;
	buf_release(&value);
	return rc < 0 ? rc : ST_OK;
}

int work_ends(struct store *st, const struct credit *credit, int limit,
	      int64_t now_ms)
{
	struct walk w = {.st = st, .config = credit->config, .now_ms = now_ms,
		.endpoint = credit->endpoint, .limit = limit};
	struct endpoint_state state = {0};
	int rc, changed;

	assert(limit > 0 && credit->config);
	rc = st->ops->state_get(st, credit->endpoint, &state);
	if (rc)
		return rc < 0 ? rc : 0;
	w.circuit = &state.circuit;
	rc = open_wait(&w);
	changed = w.changed;
	if (rc == ST_OK && state.circuit.state != CIRCUIT_OPEN)
		rc = look_after_close(&w);
	return rc < 0 ? rc : changed;
}

struct name_of {
	int64_t id;
	char *name;
};

static int is_it(void *ctx, const struct endpoint_row *row)
{
	struct name_of *want = ctx;

	if (row->id != want->id)
		return 0;
	want->name = xstrdup(row->name);
	return 1;
}

int endpoint_name(struct store *st, int64_t endpoint, char **name)
{
	struct name_of want = {endpoint, NULL};
	int rc = st->ops->endpoint_each(st, is_it, &want);

	*name = want.name;
	return rc < 0 ? rc : ST_OK;
}

static int audit_endpoint(struct store *st, enum audit_type type,
			  int64_t endpoint, const char *old, const char *now,
			  const char *why, int64_t now_ms)
{
	char *name = NULL;
	struct audit_event e = {.type = type, .at_ms = now_ms,
		.backoff_ms = -1, .old_value = old, .new_value = now,
		.reason = why};
	int rc = endpoint_name(st, endpoint, &name);

	e.endpoint = name;
	if (rc == ST_OK)
		rc = audit_append(st, &e, NULL);
	free(name);
	return rc;
}

static int circuit_changed(struct store *st, const struct endpoint_state *a,
			   const struct endpoint_state *b, int64_t now_ms)
{
	char key[40];
	int rc;

	if (a->circuit.state == b->circuit.state)
		return ST_OK;
	rc = audit_endpoint(st, AUDIT_CIRCUIT, b->endpoint,
			    circuit_state_name(a->circuit.state),
			    circuit_state_name(b->circuit.state), NULL,
			    now_ms);
	closed_key(b->endpoint, key);
	if (rc == ST_OK && b->circuit.state == CIRCUIT_CLOSED)
		rc = st->ops->meta_put(st, key, "look");
	return rc;
}

static int halt_changed(struct store *st, const struct endpoint_state *a,
			const struct endpoint_state *b, int64_t now_ms)
{
	if (a->halt == b->halt)
		return ST_OK;
	if (b->halt == HALT_NONE)
		return audit_endpoint(st, AUDIT_RELEASED, b->endpoint,
				      halt_reason_name(a->halt), NULL, NULL,
				      now_ms);
	return audit_endpoint(st, AUDIT_HALT, b->endpoint,
			      a->halt ? halt_reason_name(a->halt) : NULL,
			      halt_reason_name(b->halt), b->halt_why, now_ms);
}

int work_state(struct store *st, const struct endpoint_state *before,
	       const struct endpoint_state *after, int64_t now_ms)
{
	struct endpoint_state next = *after;
	int rc;

	assert(before->endpoint == after->endpoint && after->endpoint > 0);
	/* A store that was found to be restored halts whatever the engine
	 * believes, until a person declares the gap. */
	if (next.halt == HALT_NONE && before->halt == HALT_STORE_RESTORED &&
	    store_is_restored(st)) {
		next.halt = HALT_STORE_RESTORED;
		next.halted_ms = before->halted_ms;
		memcpy(next.halt_why, before->halt_why, sizeof(next.halt_why));
	}
	rc = circuit_changed(st, before, &next, now_ms);
	if (rc == ST_OK)
		rc = halt_changed(st, before, &next, now_ms);
	return rc ? rc : st->ops->state_put(st, &next);
}

static bool same_profile(const char *old, const char *now)
{
	const char *a = strstr(old, " profile "), *b = strstr(now, " profile ");

	return a && b && !strcmp(a, b);
}

/* Rules in force: an audited event when configuration or profile changed. */
static int rules_changed(struct store *st, const struct config *config,
			 const struct endpoint_config *ec,
			 const struct endpoint_row *row, int64_t now_ms,
			 bool *new_profile)
{
	struct buf old = BUF_INIT, now = BUF_INIT;
	char key[40];
	int rc;

	snprintf(key, sizeof(key), "rules.%" PRId64, row->id);
	buf_addf(&now, "config %s profile %s", config->sha256,
		 ec->profile ? ec->profile->sha256 : "");
	rc = st->ops->meta_get(st, key, &old);
	*new_profile = !same_profile(buf_text(&old), buf_text(&now));
	if (rc >= 0 && strcmp(buf_text(&old), buf_text(&now))) {
		struct audit_event e = {.type = AUDIT_RULES, .at_ms = now_ms,
			.endpoint = ec->name, .backoff_ms = -1,
			.old_value = buf_text(&old),
			.new_value = buf_text(&now),
			.config_sha256 = config->sha256};

		rc = audit_append(st, &e, NULL);
		if (rc == ST_OK)
			rc = st->ops->meta_put(st, key, buf_text(&now));
	}
	buf_release(&old);
	buf_release(&now);
	return rc < 0 ? rc : ST_OK;
}

static int unsettled(struct store *st, int64_t endpoint, int64_t *n)
{
	static const enum op_state states[] = {OP_QUEUED, OP_SENDING,
		OP_WAITING, OP_CHECKING, OP_POLLING, OP_UNWATCHED};
	int rc = ST_OK;

	*n = 0;
	for (size_t i = 0; rc == ST_OK && i < ARRAY_SIZE(states); i++) {
		int64_t some = 0;

		rc = st->ops->count(st, endpoint, states[i], &some);
		*n += some;
	}
	return rc;
}

static int find_unknown(struct walk *w, struct op *op, bool *stop)
{
	w->changed += *stop = op->flags & OP_OUTCOME_UNKNOWN;
	return ST_OK;
}

/* Given up, but the vendor may have it: unsettled, too. */
static int unknown_at_rest(struct store *st, int64_t endpoint, int64_t *n)
{
	struct walk w = {.st = st, .endpoint = endpoint,
			 .change = find_unknown};
	int rc = walk_state(&w, OP_DEAD);

	if (rc == ST_OK && !w.changed)
		rc = walk_state(&w, OP_REJECTED);
	*n = w.changed;
	return rc;
}

static void set_halt(struct endpoint_state *s, enum halt_reason why,
		     int64_t now_ms)
{
	s->halt = why;
	s->halted_ms = now_ms;
	s->halt_until_ms = 0;
	text_set(s->halt_why, sizeof(s->halt_why),
		 span_of(halt_reason_words(why)));
}

static int check_target(struct store *st, struct endpoint_state *s,
			const char *target, int64_t now_ms)
{
	int64_t n = 0;
	int rc = unsettled(st, s->endpoint, &n);

	if (rc == ST_OK && !n)
		rc = unknown_at_rest(st, s->endpoint, &n);
	if (rc)
		return rc;
	/* Nothing is known to be found by its look-ups. */
	s->control_found = false;
	if (n > 0)
		set_halt(s, HALT_TARGET_CHANGED, now_ms);
	else
		memcpy(s->target, target, sizeof(s->target));
	return ST_OK;
}

/* State of an endpoint as an engine finds it, or makes it. */
static int know_state(struct store *st, const struct endpoint_config *ec,
		      int64_t id, bool new_profile, int64_t now_ms)
{
	struct endpoint_state old = {.endpoint = id}, s;
	sha256_hex target;
	int rc = st->ops->state_get(st, id, &old);

	if (rc < 0)
		return rc;
	config_target(ec, target);
	if (rc == ST_NONE) {
		circuit_init(&old.circuit, &ec->circuit);
		gate_init(&old.gate, ec, now_ms);
		memcpy(old.target, target, sizeof(target));
	}
	s = old;
	/* Another form of request has to find something first. */
	if (new_profile)
		s.control_found = false;
	if (strcmp(s.target, target) && s.halt != HALT_TARGET_CHANGED) {
		rc = check_target(st, &s, target, now_ms);
		if (rc < 0)
			return rc;
	}
	if (s.halt != HALT_STORE_RESTORED && store_is_restored(st))
		set_halt(&s, HALT_STORE_RESTORED, now_ms);
	return work_state(st, &old, &s, now_ms);
}

static int restore_one(struct walk *w, struct op *op, bool *stop)
{
	int64_t seen = op->version;
	enum op_state old = op->state;

	(void)stop;
	if (op->flags & OP_OUTCOME_UNKNOWN && op->next == NEXT_LOOK_UP)
		return ST_OK;
	settle_restored(op, w->config, w->now_ms);
	return save_changed(w, op, old, seen, "store_restored");
}

int work_restored(struct store *st, const struct endpoint_config *config,
		  int64_t endpoint, int64_t now_ms)
{
	struct walk w = {.st = st, .config = config, .endpoint = endpoint,
		.now_ms = now_ms, .change = restore_one};
	struct buf mark = BUF_INIT, done = BUF_INIT;
	char key[40];
	int rc;

	snprintf(key, sizeof(key), "restored_done.%" PRId64, endpoint);
	rc = st->ops->meta_get(st, META_RESTORED, &mark);
	if (rc == ST_OK && mark.len)
		rc = st->ops->meta_get(st, key, &done);
	if (rc >= 0 && mark.len && strcmp(buf_text(&mark), buf_text(&done))) {
		rc = walk_state(&w, OP_QUEUED);
		if (rc == ST_OK)
			rc = walk_state(&w, OP_WAITING);
		if (rc == ST_OK)
			rc = st->ops->meta_put(st, key, buf_text(&mark));
	}
	buf_release(&mark);
	buf_release(&done);
	return rc < 0 ? rc : ST_OK;
}

int work_endpoint(struct store *st, const struct config *config,
		  const struct endpoint_config *ec, struct endpoint_row *row,
		  int64_t now_ms)
{
	bool new_profile = false;
	int rc;

	assert(ec->name && st->tx == TX_WRITING);
	row->name = xstrdup(ec->name);
	row->profile = xstrdup(ec->profile_name);
	row->environment = xstrdup(environment_name(ec->environment));
	memcpy(row->config_sha256, config->sha256, sizeof(config->sha256));
	if (ec->profile)
		memcpy(row->profile_sha256, ec->profile->sha256,
		       sizeof(row->profile_sha256));
	rc = st->ops->endpoint_intern(st, row);
	if (rc == ST_OK)
		rc = rules_changed(st, config, ec, row, now_ms,
				   &new_profile);
	if (rc == ST_OK)
		rc = know_state(st, ec, row->id, new_profile, now_ms);
	if (rc == ST_OK)
		rc = work_restored(st, ec, row->id, now_ms);
	return rc;
}
