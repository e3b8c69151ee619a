/* Outcomes: what an answer does to the rows, in one transaction. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/backoff.h"

#include "store/work_priv.h"

struct applied {
	const struct outcome *out;
	struct attempt attempt;		/* as it will be stored */
	enum op_state old;
	int64_t waited_ms;		/* planned before this attempt */
	struct settle_out settle;
	const char *not_applied;	/* or why it was only recorded */
	int64_t now_ms;
};

static void fill_attempt(struct applied *a, const struct op *op)
{
	const struct verdict_out *v = &a->out->verdict;
	struct attempt *t = &a->attempt;

	*t = a->out->attempt;
	t->op = op->op;
	t->endpoint = op->endpoint;
	t->kind = a->out->kind;
	t->verdict = v->verdict;
	if (!t->n)
		t->n = op->tries;
	if (t->layer == LAYER_NONE)
		t->layer = v->layer;
	t->backoff_ms = a->settle.backoff_ms;
	memcpy(t->rule, v->rule, sizeof(t->rule));
	memcpy(t->why, v->why, sizeof(t->why));
	memcpy(t->vendor_id, v->vendor_id, sizeof(t->vendor_id));
	memcpy(t->excerpt, v->excerpt, sizeof(t->excerpt));
}

/* The intent's own record, when the engine did not carry it along. */
static int find_intent(struct store *st, struct applied *a)
{
	struct flight f;
	int rc;

	if (a->attempt.seq_intent)
		return ST_OK;
	rc = st->ops->flight_get(st, a->attempt.op, &f);
	if (rc == ST_OK) {
		a->attempt.seq_intent = f.seq_intent;
		a->attempt.n = f.n;
		memcpy(a->attempt.request_id, f.request_id,
		       sizeof(f.request_id));
		if (!a->attempt.started_ms)
			a->attempt.started_ms = f.started_ms;
	}
	return rc < 0 ? rc : ST_OK;
}

static int audit_outcome(struct store *st, struct applied *a,
			 const struct op *op)
{
	const struct outcome *out = a->out;
	const struct verdict_out *v = &out->verdict;
	struct attempt *t = &a->attempt;
	struct audit_event e = {
		.type = out->withdrawn ? AUDIT_WITHDRAWN : AUDIT_OUTCOME,
		.at_ms = a->now_ms, .op = op, .attempt = t->n,
		.endpoint = out->config ? out->config->name : NULL,
		.kind = attempt_kind_name(out->kind),
		.request_id = t->request_id, .vendor_id = v->vendor_id,
		.status = t->status, .excerpt = v->excerpt,
		.verdict = out->withdrawn ? NULL : verdict_name(v->verdict),
		.rule = v->rule,
		.backoff_ms = a->settle.backoff_ms,
		.resolution = a->not_applied ? "not_applied" :
			      a->settle.resolution,
		.reason = a->not_applied ? a->not_applied :
			  op->reason ? op_reason_name(op->reason) : v->why,
		.old_value = op_state_name(a->old),
		.new_value = op_state_name(op->state),
		.config_sha256 = t->config_sha256,
		.profile_sha256 = t->profile_sha256,
		.detail = out->result ? RESULT_DETAIL : NULL};

	return audit_append(st, &e, &t->seq_outcome);
}

/* A job was accepted: from now on it is watched, within the budget. */
static int begin_poll(struct store *st, const struct applied *a,
		      const struct op *op)
{
	const struct verdict_out *v = &a->out->verdict;
	const struct endpoint_config *config = a->out->config;
	struct poll_row row = {.op = op->op, .began_ms = a->now_ms,
		.counted_ms = a->now_ms,
		.budget_left_ms = config ? config->poll.budget_ms : 0};

	memcpy(row.job_id, v->job_id, sizeof(row.job_id));
	memcpy(row.word, v->word, sizeof(row.word));
	row.url = v->poll_url[0] ? (char *)v->poll_url : NULL;
	return st->ops->poll_put(st, &row);
}

/*
 * Budget is spent by the wait that was planned and by the poll itself; what
 * a poll came later than planned (paused, halted, open, down) is not counted.
 */
static void count_budget(struct poll_row *row, const struct applied *a)
{
	int64_t planned = add_ms(row->counted_ms, a->waited_ms);
	int64_t started = a->attempt.started_ms, late = started - planned;

	if (late > 0)
		row->counted_ms = add_ms(row->counted_ms, late);
	poll_count(row, false, a->now_ms);
}

/* The budget ends only after a last look: `last` was that. */
static void end_budget(const struct poll_row *row, bool last, struct op *op,
		       struct applied *a)
{
	if (!row->last_look || op->state != OP_POLLING)
		return;
	if (!last) {
		op->due_at_ms = a->now_ms;
		op->due_wait_ms = 0;
		return;
	}
	settle_budget_over(op, row->stage != JOB_WATCHED, a->now_ms);
	a->settle.poll_end = true;
	a->settle.resolution = "unwatched";
}

static int follow_poll(struct store *st, struct applied *a, struct op *op)
{
	const struct verdict_out *v = &a->out->verdict;
	struct poll_row row = {0};
	bool last;
	int rc;

	if (a->out->kind != ATTEMPT_POLL)
		return ST_OK;
	rc = st->ops->poll_get(st, op->op, &row);
	if (rc)
		return rc < 0 ? rc : ST_OK;
	row.polls++;
	row.seen = row.seen || a->out->seen_non_404;
	if (v->word[0])
		memcpy(row.word, v->word, sizeof(row.word));
	/* A result has a last look of its own. */
	last = row.last_look && !v->job_stage;
	if (v->job_stage)
		poll_row_ended(&row, v->job_stage, v->poll_url, a->now_ms);
	count_budget(&row, a);
	if (v->verdict == VERDICT_STILL || v->verdict == VERDICT_UNKNOWN)
		end_budget(&row, last, op, a);
	rc = a->settle.poll_end ? ST_OK : st->ops->poll_put(st, &row);
	poll_row_release(&row);
	return rc;
}

static int keep_poll(struct store *st, const struct applied *a,
		     const struct op *op)
{
	if (a->settle.poll_begin)
		return begin_poll(st, a, op);
	if (!a->settle.poll_end)
		return ST_OK;
	/* Unwatched: the job stays identified, somebody may pick it up. */
	return op->state == OP_UNWATCHED ? ST_OK :
	       st->ops->poll_drop(st, op->op);
}

static int answer_request(struct store *st, const struct applied *a,
			  const struct op *op)
{
	const struct verdict_out *v = &a->out->verdict;
	struct buf words = BUF_INIT;
	int rc;

	if (!a->out->check_request)
		return ST_OK;
	if (a->out->withdrawn)		/* nobody looked: still asked */
		return request_done(st, a->out->check_request, "asked", "");
	buf_addf(&words, "%s: %s", verdict_name(v->verdict), v->why);
	if (op->state != a->old)
		buf_addf(&words, " (now %s)", op_state_name(op->state));
	rc = request_done(st, a->out->check_request, "done",
			  buf_text(&words));
	buf_release(&words);
	return rc;
}

static void settle_it(struct applied *a, struct op *op)
{
	const struct outcome *out = a->out;
	const struct attempt *t = &out->attempt;
	struct settle_in in = {.endpoint = out->config, .kind = out->kind,
		.started_ms = t->started_ms, .ended_ms = t->finished_ms,
		.may_have_happened = out->may_have_happened,
		.crash = t->transport == TRANSPORT_CUT && !out->withdrawn,
		.withdrawn = out->withdrawn, .status = t->status,
		.control_found = out->control_found,
		.engine_started_ms = out->engine_started_ms,
		.now_ms = a->now_ms, .random = out->random,
		.others_commit = out->others_commit,
		.circuit_probe = out->probe, .result = out->result};

	a->waited_ms = op->due_wait_ms;
	settle_attempt(op, &in, &out->verdict, &a->settle);
}

/* Who came to be dead or rejected by this attempt. A check that left it where
 * it was says nothing about what went wrong. */
static int join_group(struct store *st, const struct applied *a,
		      struct op *op)
{
	if (!op_grouped(op->state) || (op->state == a->old && op->group_id))
		return ST_OK;
	return group_join(st, op, &a->attempt, &a->out->verdict);
}

/* The rows around an outcome, whether it was applied or only recorded. */
static int record_it(struct store *st, struct applied *a, const struct op *op)
{
	int rc = find_intent(st, a);

	if (rc == ST_OK)
		rc = audit_outcome(st, a, op);
	if (rc == ST_OK && !a->out->withdrawn)
		rc = st->ops->attempt_put(st, &a->attempt);
	if (rc == ST_OK)
		rc = st->ops->flight_drop(st, op->op);
	if (rc == ST_NONE)
		rc = ST_OK;
	if (rc == ST_OK)
		rc = answer_request(st, a, op);
	return rc;
}

static int only_record(struct store *st, struct applied *a, struct op *op,
		       const char *why)
{
	int rc;

	a->not_applied = why;
	a->settle.backoff_ms = -1;
	fill_attempt(a, op);
	rc = record_it(st, a, op);
	return rc ? rc : ST_CONFLICT;
}

void outcome_free(struct outcome *o)
{
	if (!o)
		return;
	intent_free(o->intent);
	free(o);
}

/*
 * The common way: the operation is as it was claimed, which the save finds
 * out by the version before anything else is written. ST_CONFLICT: nothing
 * was, somebody changed it. The intent's own copy stays as it is, because a
 * batch may be stored a second time; only what settling replaces is copied.
 */
static int apply_claimed(struct store *st, struct applied *a)
{
	struct op op = a->out->intent->op;
	int64_t seen = op.version;
	int rc;

	assert(op.op == a->out->op && seen == a->out->version);
	op.error = xstrdup(op.error);
	op.vendor_id = xstrdup(op.vendor_id);
	a->old = op.state;
	settle_it(a, &op);
	fill_attempt(a, &op);
	rc = join_group(st, a, &op);
	if (rc == ST_OK)
		rc = work_save(st, &op, seen, a->out->config, a->now_ms);
	if (rc == ST_OK)
		rc = keep_poll(st, a, &op);
	if (rc == ST_OK)
		rc = record_it(st, a, &op);
	free(op.error);
	free(op.vendor_id);
	return rc;
}

static int apply(struct store *st, struct applied *a, struct op *op)
{
	int64_t seen = op->version;
	int rc;

	settle_it(a, op);
	fill_attempt(a, op);
	rc = follow_poll(st, a, op);
	if (rc == ST_OK)
		rc = keep_poll(st, a, op);
	if (rc == ST_OK)
		rc = record_it(st, a, op);
	if (rc == ST_OK)
		rc = join_group(st, a, op);
	if (rc == ST_OK)
		rc = work_save(st, op, seen, a->out->config, a->now_ms);
	return rc;
}

/* Polls count their budget by their row; a check leaves the state alone. */
static bool as_claimed(const struct outcome *out)
{
	return out->intent && out->kind != ATTEMPT_POLL &&
	       !out->check_request;
}

int work_outcome(struct store *st, const struct outcome *out, int64_t now_ms)
{
	struct applied a = {.out = out, .now_ms = now_ms};
	struct op op;
	int rc;

	assert(out->op > 0 && st->tx != TX_IDLE);
	rc = as_claimed(out) ? apply_claimed(st, &a) : ST_CONFLICT;
	if (rc != ST_CONFLICT)
		return rc;
	a = (struct applied){.out = out, .now_ms = now_ms};
	op_init(&op);
	rc = st->ops->op_get(st, out->op, &op);
	if (rc == ST_OK) {
		a.old = op.state;
		rc = op.version == out->version ? apply(st, &a, &op) :
		     only_record(st, &a, &op, "changed while it was on the "
				 "wire");
	} else if (rc == ST_NONE) {
		rc = ST_CONFLICT;
	}
	op_release(&op);
	return rc;
}

int work_outcome_internal(struct store *st, const struct outcome *out,
			  const char *why, int64_t now_ms)
{
	struct applied a = {.out = out, .now_ms = now_ms};
	struct op op;
	int64_t seen;
	int rc;

	op_init(&op);
	rc = st->ops->op_get(st, out->op, &op);
	if (rc == ST_OK) {
		a.old = op.state;
		seen = op.version;
		settle_internal(&op, out->may_have_happened &&
				out->kind == ATTEMPT_SEND, now_ms);
		a.settle.backoff_ms = -1;
		a.settle.resolution = "dead_lettered";
		a.not_applied = why;
		op.group_id = 0;
		fill_attempt(&a, &op);
		/* The culprit may be any text of the answer. */
		a.attempt.excerpt[0] = a.attempt.vendor_id[0] = '\0';
		rc = audit_state(st, &(struct state_change){.op = &op,
				 .config = out->config, .old = a.old,
				 .why = why}, now_ms);
		if (rc == ST_OK)
			rc = st->ops->flight_drop(st, op.op);
		if (rc == ST_OK || rc == ST_NONE)
			rc = work_save(st, &op, seen, out->config, now_ms);
	}
	op_release(&op);
	return rc;
}
