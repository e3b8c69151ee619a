/* Acts on endpoints, on kept lines and on a restored store. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "store/act_priv.h"
#include "store/intake.h"

struct found {
	const char *name;
	int64_t id;
};

static int find_name(void *ctx, const struct endpoint_row *row)
{
	struct found *f = ctx;

	if (!strcmp(row->name, f->name))
		f->id = row->id;
	return f->id != 0;
}

/* Common to all: begin, or say why not (recorded). 1: go on. */
static int start(struct doing *d, struct act_item *result)
{
	struct buf words = BUF_INIT;
	const char *why = act_reason_check(d->act);
	int rc;

	act_say(result, ACT_REFUSED, "%s", "");
	result->request = 0;
	if (!people_db(d->st))
		return ST_ERROR;
	if (!why)
		why = act_right_trouble(d->act, d->st, NULL, 1, 1, &words);
	if (why) {
		act_say(result, ACT_REFUSED, "%s", why);
		rc = act_refused(d->st, d->act, act_verb_name(d->act->verb),
				 why, d->now_ms);
	} else {
		rc = d->st->ops->begin(d->st, DURABLE);
	}
	buf_release(&words);
	return rc ? rc : !why;
}

/* Ends the transaction; what was refused by data is recorded alone. */
static int finish(struct doing *d, struct act_item *result, int rc)
{
	bool good = result->result == ACT_DONE ||
		    result->result == ACT_REQUESTED;

	if (rc == ST_OK && good)
		return people_end(d->st, ST_OK);
	if (rc < 0)
		return people_end(d->st, rc);
	d->st->ops->rollback(d->st);
	return act_refused(d->st, d->act, act_verb_name(d->act->verb),
			   result->words, d->now_ms);
}

static int audit_control(struct doing *d, enum audit_type type,
			 const char *endpoint, const char *old,
			 const char *now)
{
	struct audit_event e = {.type = type, .at_ms = d->now_ms,
		.actor = d->act->actor, .manual = true, .backoff_ms = -1,
		.endpoint = endpoint, .reason_code = act_code(d->act),
		.reason = act_reason(d->act), .old_value = old,
		.new_value = now};

	return audit_append(d->st, &e, NULL);
}

/* Binds at once: every claim reads this row inside its transaction. */
static int pause_it(struct doing *d, const char *name,
		    struct endpoint_control *c, int64_t until_ms,
		    struct act_item *result)
{
	bool was = c->paused;

	c->paused = true;
	c->by = (char *)d->act->actor->id;
	c->reason = (char *)act_reason(d->act);
	c->at_ms = d->now_ms;
	c->until_ms = until_ms;
	act_say(result, ACT_DONE, was ? "was paused already; now by you" :
		"paused: nothing more starts, what is on the wire may finish");
	return audit_control(d, AUDIT_PAUSE, name, was ? "paused" : "running",
			     "paused");
}

static int resume_it(struct doing *d, const char *name,
		     struct endpoint_control *c, int target,
		     struct act_item *result)
{
	struct endpoint_state s = {0};
	int rc = d->st->ops->state_get(d->st, c->endpoint, &s);
	bool was = c->paused;

	if (rc < 0)
		return rc;
	if (s.halt == HALT_TARGET_CHANGED && !target) {
		act_say(result, ACT_REFUSED, "address, account or mode "
			"changed while work is unsettled: say --target same "
			"(unknowns settle at the new address) or other");
		return ST_OK;
	}
	c->paused = false;
	c->at_ms = d->now_ms;
	c->until_ms = 0;
	c->resume_seq++;
	c->resume_by = (char *)d->act->actor->id;
	c->resume_reason = (char *)act_reason(d->act);
	c->target_answer = target;
	act_say(result, ACT_DONE, "resumed%s%s",
		s.halt ? "; it was halted: " : "",
		s.halt ? halt_reason_name(s.halt) : "");
	return audit_control(d, AUDIT_RESUME, name,
			     s.halt ? halt_reason_name(s.halt) :
			     was ? "paused" : "running", "running");
}

static int probe_it(struct doing *d, int64_t endpoint,
		    struct act_item *result)
{
	struct request_row row = {.kind = "probe", .endpoint = endpoint,
		.intervention = d->intervention, .asked_ms = d->now_ms,
		.state = "asked"};
	int rc;

	text_set(row.by, sizeof(row.by), span_of(d->act->actor->id));
	rc = d->st->ops->request_put(d->st, &row);
	result->request = row.id;
	act_say(result, ACT_REQUESTED, "asked the engine to probe");
	return rc;
}

static int put_control(struct doing *d, const char *name, int64_t id,
		       int64_t until_ms, int target, struct act_item *result)
{
	struct endpoint_control old = {0}, c;
	int rc = d->st->ops->control_get(d->st, id, &old);

	if (rc < 0)
		return rc;
	c = old;
	c.endpoint = id;
	rc = d->act->verb == ACT_PAUSE ?
	     pause_it(d, name, &c, until_ms, result) :
	     resume_it(d, name, &c, target, result);
	if (rc == ST_OK && result->result == ACT_DONE)
		rc = d->st->ops->control_put(d->st, &c);
	endpoint_control_release(&old);
	return rc;
}

/* The anchor that was lost, out of META_RESTORED. */
struct lost {
	int64_t seq, from_seq;
	char hash[65];
};

static bool read_lost(struct store *st, struct lost *lost)
{
	struct buf text = BUF_INIT, hash = BUF_INIT;
	struct json doc = {0};
	bool good = st->ops->meta_get(st, META_RESTORED, &text) == ST_OK &&
		    text.len > 0 && json_parse(&doc, text.p, text.len, 0) &&
		    json_int(&doc, json_get(&doc, 0, "seq"), &lost->seq) &&
		    json_int(&doc, json_get(&doc, 0, "from_seq"),
			     &lost->from_seq) &&
		    json_string(&doc, json_get(&doc, 0, "hash"), &hash) &&
		    hash.len == 64;

	if (good)
		memcpy(lost->hash, hash.p, 65);
	json_release(&doc);
	buf_release(&text);
	buf_release(&hash);
	return good;
}

/* Every endpoint goes on: persons' rows for a running engine, and the states
 * themselves for one that is not running. */
static int release_one(struct doing *d, const struct endpoint_config *ec,
		       int64_t id)
{
	struct endpoint_control old = {0}, c;
	struct endpoint_state s = {0}, t;
	/* One that is not configured now may be again: it looks, too. */
	int rc = work_restored(d->st, ec, id, d->now_ms);

	if (rc == ST_OK)
		rc = d->st->ops->control_get(d->st, id, &old);
	if (rc < 0)
		return rc;
	c = old;
	c.endpoint = id;
	c.resume_seq++;
	c.resume_by = (char *)d->act->actor->id;
	c.resume_reason = (char *)act_reason(d->act);
	rc = d->st->ops->control_put(d->st, &c);
	endpoint_control_release(&old);
	if (rc == ST_OK)
		rc = d->st->ops->state_get(d->st, id, &s);
	t = s;
	t.halt = HALT_NONE;
	t.halt_why[0] = '\0';
	if (rc == ST_OK && s.halt == HALT_STORE_RESTORED)
		rc = d->st->ops->state_put(d->st, &t);
	return rc < 0 ? rc : ST_OK;
}

struct every {
	struct doing *d;
	int64_t id[256];
	const struct endpoint_config *config[256];
	size_t n;
};

static int gather(void *ctx, const struct endpoint_row *row)
{
	struct every *e = ctx;
	const struct config *config = e->d->act->config;

	if (e->n == ARRAY_SIZE(e->id))
		return ST_ERROR;
	e->config[e->n] = config ? config_endpoint(config,
						   span_of(row->name)) : NULL;
	e->id[e->n++] = row->id;
	return 0;
}

static int audit_gap(struct doing *d, const struct lost *lost)
{
	struct buf detail = BUF_INIT;
	struct audit_event e = {.type = AUDIT_GAP_DECLARED,
		.at_ms = d->now_ms, .actor = d->act->actor, .manual = true,
		.backoff_ms = -1, .reason_code = act_code(d->act),
		.reason = act_reason(d->act)};
	int rc;

	buf_addf(&detail, "{\"from_seq\":%" PRId64 ",\"hash\":\"%s\","
		 "\"to_seq\":%" PRId64 "}", lost->from_seq, lost->hash,
		 lost->seq);
	e.detail = buf_text(&detail);
	rc = audit_append(d->st, &e, NULL);
	buf_release(&detail);
	return rc;
}

static int declare(struct doing *d, const struct lost *lost)
{
	struct every every = {.d = d};
	struct buf mark = BUF_INIT;
	int rc = d->st->ops->endpoint_each(d->st, gather, &every);

	for (size_t i = 0; rc == ST_OK && i < every.n; i++)
		rc = release_one(d, every.config[i], every.id[i]);
	buf_addf(&mark, "%" PRId64 ":%s", lost->seq, lost->hash);
	if (rc == ST_OK)
		rc = d->st->ops->meta_put(d->st, META_GAP_DECLARED,
					  buf_text(&mark));
	if (rc == ST_OK)
		rc = d->st->ops->meta_put(d->st, META_RESTORED, "");
	if (rc == ST_OK)
		rc = audit_gap(d, lost);
	buf_release(&mark);
	return rc;
}

int act_declare_gap(struct store *st, const struct act *act, int64_t now_ms,
		    struct act_item *result)
{
	struct doing d = {.st = st, .act = act, .now_ms = now_ms};
	struct lost lost = {0};
	int rc = start(&d, result);

	if (rc != 1)
		return rc;
	rc = ST_OK;
	if (!read_lost(st, &lost)) {
		act_say(result, ACT_REFUSED, "the store is not marked as "
			"restored: there is no gap to declare");
	} else {
		rc = act_begin_intervention(&d, 0, 1);
		if (rc == ST_OK)
			rc = declare(&d, &lost);
		act_say(result, ACT_DONE, "declared: records %" PRId64 " to %"
			PRId64 " are lost; the endpoints go on, looking "
			"before they send", lost.from_seq, lost.seq);
	}
	return finish(&d, result, rc);
}

static int act_it(struct doing *d, const struct found *f, int64_t until_ms,
		  int target, struct act_item *result)
{
	struct lost lost = {0};
	int rc = act_begin_intervention(d, f->id, 1);

	/* A signed resume of a restored store declares its gap. */
	if (rc == ST_OK && d->act->verb == ACT_RESUME &&
	    read_lost(d->st, &lost))
		rc = declare(d, &lost);
	if (rc)
		return rc;
	if (d->act->verb == ACT_PROBE)
		return probe_it(d, f->id, result);
	return put_control(d, f->name, f->id, until_ms, target, result);
}

int act_on_endpoint(struct store *st, const struct act *act,
		    const char *endpoint, int64_t until_ms, int target,
		    int64_t now_ms, struct act_item *result)
{
	struct doing d = {.st = st, .act = act, .now_ms = now_ms};
	struct found f = {endpoint, 0};
	int rc = start(&d, result);

	assert(act->verb == ACT_PAUSE || act->verb == ACT_RESUME ||
	       act->verb == ACT_PROBE);
	if (rc != 1)
		return rc;
	rc = st->ops->endpoint_each(st, find_name, &f);
	if (rc == ST_OK && !f.id)
		act_say(result, ACT_NOT_FOUND, "this store knows no such "
			"endpoint yet");
	else if (rc == ST_OK)
		rc = act_it(&d, &f, until_ms, target, result);
	return finish(&d, result, rc);
}

static int mark_decided(struct doing *d, int64_t id)
{
	struct query *q = DB_Q(store_db(d->st), "UPDATE unclear SET"
			       " decided_by = ?2, reason = ?3 WHERE id = ?1");

	query_int(q, 1, id);
	query_text(q, 2, d->act->actor->id);
	query_text(q, 3, act_reason(d->act));
	return query_run(q);
}

int act_unclear(struct store *st, const struct act *act, int64_t id,
		int64_t now_ms, struct act_item *result)
{
	struct doing d = {.st = st, .act = act, .now_ms = now_ms};
	struct line_result line = {0};
	bool accept = act->verb == ACT_UNCLEAR_ACCEPT;
	int rc = start(&d, result);

	if (rc != 1)
		return rc;
	rc = act_begin_intervention(&d, 0, 1);
	if (rc == ST_OK)
		rc = unclear_decide(st, id, accept, act->config, now_ms,
				    &line);
	if (rc == ST_OK && accept && line.result != SUBMIT_QUEUED) {
		act_say(result, ACT_REFUSED, "%s", line.error);
	} else if (rc == ST_OK) {
		rc = mark_decided(&d, id);
		act_say(result, ACT_DONE, accept ? "queued as %s" :
			"refused%s", line.op_id);
	} else if (rc == ST_NONE) {
		act_say(result, ACT_NOT_FOUND, "no such kept line");
	} else if (rc > 0) {
		act_say(result, ACT_LOST_RACE, "somebody decided it already");
	}
	return finish(&d, result, rc);
}
