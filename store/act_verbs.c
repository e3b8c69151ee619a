/* What each verb does to one operation, and when it must not. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "store/act_priv.h"

static bool refuse(struct target *t, const char *why)
{
	act_say(t->item, ACT_REFUSED, "%s", why);
	return false;
}

/* A check of it is on the wire: its outcome must find what it left. */
static bool in_flight(struct doing *d, struct target *t, int *rc)
{
	struct flight f;
	int found = d->st->ops->flight_get(d->st, t->op.op, &f);

	if (found < 0)
		*rc = found;
	if (found == ST_OK)
		refuse(t, "an attempt of it is under way: try again in a "
		       "moment");
	return found <= ST_OK;
}

static bool at_rest(enum op_state state)
{
	return !op_moving(state) && state != OP_QUEUED && state != OP_WAITING;
}

static bool do_check(struct doing *d, struct target *t, int *rc)
{
	struct request_row row = {.kind = "check", .endpoint = t->op.endpoint,
		.op = t->op.op, .intervention = d->intervention,
		.asked_ms = d->now_ms, .state = "asked"};

	if (!t->config)
		return refuse(t, "its endpoint is not configured");
	if (!t->config->profile || !t->config->profile->lookup.present)
		return refuse(t, "this vendor offers no look-up");
	if (!at_rest(t->op.state))
		return refuse(t, "it is not at rest: the engine looks by "
			      "itself where it has to");
	if (d->act->dry_run) {
		act_say(t->item, ACT_REQUESTED, "would be looked up");
		return false;
	}
	text_set(row.by, sizeof(row.by), span_of(d->act->actor->id));
	*rc = d->st->ops->request_put(d->st, &row);
	t->item->request = row.id;
	act_say(t->item, ACT_REQUESTED, "asked the engine to look");
	return false;
}

static bool is_newer_named(const struct act *act, const struct op *newer)
{
	return act->override_stale &&
	       !strcmp(act->override_stale, newer->op_id) &&
	       (!act->override_version ||
		act->override_version == newer->version);
}

/* An older version must not overwrite a newer one unseen. True: may go. */
static bool check_stale(struct doing *d, struct target *t, int *rc)
{
	struct op newer;
	int64_t later = 0;
	bool good = true;

	*rc = d->st->ops->record_later(d->st, t->op.record.id, t->op.place,
				       &later);
	t->op.flags &= ~OP_OVERRIDE_STALE;
	if (*rc != ST_OK) {
		good = *rc == ST_NONE;
		*rc = good ? ST_OK : *rc;
		return good;
	}
	op_init(&newer);
	*rc = d->st->ops->op_get(d->st, later, &newer);
	if (*rc == ST_OK && is_newer_named(d->act, &newer)) {
		t->op.flags |= OP_OVERRIDE_STALE;
	} else if (*rc == ST_OK) {
		act_say(t->item, ACT_REFUSED, "stale: a newer one of the same "
			"record (%s, version %" PRId64 ") is %s; to send the "
			"older one all the same: --override-stale %s",
			newer.op_id, newer.version,
			op_state_words(newer.state), newer.op_id);
		good = false;
	}
	op_release(&newer);
	return good && *rc == ST_OK;
}

/* What may be at a target that was left cannot be seen at the present one. */
static bool check_target(struct doing *d, struct target *t, int *rc)
{
	bool left = false;

	if (t->config && (t->op.flags & OP_OUTCOME_UNKNOWN ||
			  t->op.state == OP_UNWATCHED))
		*rc = work_target_left(d->st, &t->op, t->config, &left);
	if (left)
		refuse(t, "it was sent to another target, which was left: "
		       "evidence of absence there is needed "
		       "(--verified-absent)");
	return !left && *rc == ST_OK;
}

static bool may_replay(const struct act *act, const struct op *op)
{
	return right_held(act->roles, RIGHT_REPLAY) ||
	       (!op->first_sent_ms && !(op->flags & OP_OUTCOME_UNKNOWN) &&
		op->state != OP_UNWATCHED);
}

static bool do_replay(struct doing *d, struct target *t, int *rc)
{
	bool absent = d->act->verified_absent && *d->act->verified_absent;
	const char *why;
	bool unsure;

	if (t->op.state == OP_QUEUED) {
		/* Two at the same item: the second is told of the first. */
		if (t->op.replays)
			act_tell_winner(d, t);
		else
			refuse(t, "it is queued already");
		return false;
	}
	if (!may_replay(d->act, &t->op))
		return refuse(t, "it was sent before: only a data manager may "
			      "replay it");
	if (in_flight(d, t, rc) || !check_stale(d, t, rc))
		return false;
	if (!absent && !check_target(d, t, rc)) {
		t->item->wants_evidence = *rc == ST_OK &&
			!settle_replay(&t->op, t->config, true, d->now_ms);
		return false;
	}
	unsure = t->op.flags & OP_OUTCOME_UNKNOWN ||
		 t->op.state == OP_UNWATCHED;
	why = settle_replay(&t->op, t->config, absent, d->now_ms);
	if (why) {
		t->item->wants_evidence = !absent &&
			!settle_replay(&t->op, t->config, true, d->now_ms);
		return refuse(t, why);
	}
	t->item->unsure = unsure && t->op.next != NEXT_LOOK_UP;
	if (d->act->dry_run) {
		act_say(t->item, ACT_DONE, t->op.next == NEXT_LOOK_UP ?
			"would be looked up first" : !unsure ?
			"would be sent again" : absent ?
			"would be sent again, on your word" :
			"would be sent again with the same key");
		return false;
	}
	act_say(t->item, ACT_DONE, t->op.next == NEXT_LOOK_UP ?
		"looks at the vendor first" : "queued again, same key");
	return true;
}

static bool do_discard(struct doing *d, struct target *t, int *rc)
{
	struct op *op = &t->op;
	bool unsure = op->flags & OP_OUTCOME_UNKNOWN ||
		      op->state == OP_UNWATCHED;
	bool evidence = d->act->evidence && *d->act->evidence;

	if (op_allowed(op->state, EV_DISCARD) == OP_REFUSED)
		return refuse(t, "only what is at rest and not settled can be "
			      "discarded");
	if (in_flight(d, t, rc))
		return false;
	t->item->unsure = unsure;
	t->item->wants_evidence = unsure && !evidence;
	if (unsure && !evidence)
		return refuse(t, "the vendor may have it: discarding it needs "
			      "evidence (--evidence TEXT)");
	if (unsure)
		op->flags &= ~(OP_OUTCOME_UNKNOWN | OP_ABSENT_PROVEN);
	op_apply(op, EV_DISCARD, d->now_ms);
	act_say(t->item, ACT_DONE, "%s; undo with undiscard",
		d->act->dry_run ? "would be discarded" : "discarded");
	return !d->act->dry_run;
}

/* What the discard found, to be put back as it was. */
static unsigned flags_before(struct doing *d, const struct op *op)
{
	struct query *q = DB_Q(store_db(d->st), "SELECT x.old_value FROM"
		" intervention_item x JOIN intervention i"
		" ON i.id = x.intervention WHERE x.op = ?1"
		" AND i.verb = 'discard' AND x.result = 'done'"
		" ORDER BY i.id DESC LIMIT 1");
	struct json doc = {0};
	struct buf text = BUF_INIT;
	unsigned flags = 0;

	query_int(q, 1, op->op);
	if (query_step(q) == ST_OK) {
		struct span old = query_col_span(q, 0);

		if (json_parse(&doc, old.p, old.n, 0))
			json_string(&doc, json_get(&doc, 0, "flags"), &text);
		if (strstr(buf_text(&text), "outcome_unknown"))
			flags = OP_OUTCOME_UNKNOWN;
		json_release(&doc);
	}
	query_reset(q);
	buf_release(&text);
	return flags;
}

static bool do_undiscard(struct doing *d, struct target *t, int *rc)
{
	if (t->op.state != OP_DISCARDED)
		return refuse(t, "it is not discarded");
	if (in_flight(d, t, rc))
		return false;
	t->op.flags |= flags_before(d, &t->op);
	op_apply(&t->op, EV_UNDISCARD, d->now_ms);
	act_say(t->item, ACT_DONE, "%sas before: %s",
		d->act->dry_run ? "would be " : "",
		op_state_name(t->op.state));
	return !d->act->dry_run;
}

static bool do_annotate(struct doing *d, struct target *t, int *rc)
{
	struct query *q;

	if (!d->act->dry_run) {
		q = DB_Q(store_db(d->st), "INSERT INTO note(op, author,"
			 " printed_name, at_ms, text, intervention)"
			 " VALUES(?1, ?2, ?3, ?4, ?5, ?6)");
		query_int(q, 1, t->op.op);
		query_text(q, 2, d->act->actor->id);
		query_text(q, 3, d->act->actor->printed_name);
		query_int(q, 4, d->now_ms);
		query_text(q, 5, act_reason(d->act));
		query_int(q, 6, d->intervention);
		*rc = query_run(q);
	}
	act_say(t->item, ACT_DONE, d->act->dry_run ? "would be noted" :
		"noted");
	return false;
}

bool act_apply(struct doing *d, struct target *t, int *rc)
{
	*rc = ST_OK;
	switch (d->act->verb) {
	case ACT_CHECK:
		return do_check(d, t, rc);
	case ACT_REPLAY:
		return do_replay(d, t, rc);
	case ACT_DISCARD:
		return do_discard(d, t, rc);
	case ACT_UNDISCARD:
		return do_undiscard(d, t, rc);
	case ACT_ANNOTATE:
		return do_annotate(d, t, rc);
	default:
		return refuse(t, "this act is not one on operations");
	}
}
