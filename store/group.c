/* group.c - which group a dead letter or a rejected one belongs to. */
#include <assert.h>
#include <string.h>

#include "store/work_priv.h"

static void describe(const struct op *op, const struct attempt *last,
		     const struct verdict_out *v, struct fingerprint_in *in)
{
	*in = (struct fingerprint_in){
		.state = op->state, .reason = op->reason,
		.sent = op->flags & OP_OUTCOME_UNKNOWN,
		.attempts = op->attempts, .error = op->error};
	if (last) {
		in->rule = last->rule;
		in->why = last->why;
		in->status = last->status;
		in->layer = last->layer;
		in->transport = last->transport;
	}
	if (v) {
		in->code = v->code;
		in->say = v->say;
	}
}

int group_join(struct store *st, struct op *op, const struct attempt *last,
	       const struct verdict_out *v)
{
	struct group_row row = {.endpoint = op->endpoint, .state = op->state,
				.reason = op->reason,
				.first_ms = op->state_since_ms};
	struct fingerprint_in in;
	struct fingerprint f;
	int rc;

	assert(op_grouped(op->state) && op->endpoint > 0);
	describe(op, last, v, &in);
	fingerprint_make(&in, &f);
	memcpy(row.fingerprint, f.text, sizeof(row.fingerprint));
	memcpy(row.title, f.title, sizeof(row.title));
	rc = st->ops->group_intern(st, &row);
	if (rc == ST_OK)
		op->group_id = row.id;
	return rc;
}

int group_keep(struct store *st, struct op *op)
{
	struct attempt last;
	int rc;

	if (!op_grouped(op->state)) {
		op->group_id = 0;
		return ST_OK;
	}
	if (op->group_id)
		return ST_OK;
	rc = op->op ? st->ops->attempt_last(st, op->op, &last) : ST_NONE;
	if (rc < 0)
		return rc;
	return group_join(st, op, rc == ST_OK ? &last : NULL, NULL);
}
