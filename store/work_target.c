/* The target changed: what was sent to the old one is settled by it alone. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/work_priv.h"

#define TARGET_ROWS 256

static void left_key(int64_t endpoint, char out[40])
{
	snprintf(out, 40, "left_targets.%" PRId64, endpoint);
}

/* Meta "left_targets.N": digests of targets that a person left behind. */
int work_target_left(struct store *st, const struct op *op,
		     const struct endpoint_config *config, bool *left)
{
	struct buf list = BUF_INIT;
	sha256_hex now;
	char key[40];
	int rc;

	*left = false;
	config_target(config, now);
	if (!op->target[0] || !strcmp(op->target, now))
		return ST_OK;
	left_key(op->endpoint, key);
	rc = st->ops->meta_get(st, key, &list);
	*left = rc == ST_OK && strstr(buf_text(&list), op->target);
	buf_release(&list);
	return rc < 0 ? rc : ST_OK;
}

static int leave_target(struct store *st, int64_t endpoint)
{
	struct endpoint_state state = {0};
	struct buf list = BUF_INIT;
	char key[40];
	int rc = st->ops->state_get(st, endpoint, &state);

	left_key(endpoint, key);
	if (rc == ST_OK)
		rc = st->ops->meta_get(st, key, &list);
	if (rc >= 0 && !strstr(buf_text(&list), state.target)) {
		buf_addf(&list, " %s", state.target);
		rc = st->ops->meta_put(st, key, buf_text(&list));
	}
	buf_release(&list);
	return rc < 0 ? rc : ST_OK;
}

/* Unknown: dead, for a person. A job stays identified, but there is nobody
 * here to ask for it. */
static int leave_one(struct store *st, struct op *op,
		     const struct endpoint_config *config, int64_t now_ms)
{
	struct state_change change = {.op = op, .config = config,
		.old = op->state, .why = "target_changed"};
	int64_t seen = op->version;
	int rc;

	if (op->state != OP_POLLING && !(op->flags & OP_OUTCOME_UNKNOWN))
		return ST_OK;
	op->due_at_ms = op->due_wait_ms = 0;
	if (op->state == OP_POLLING) {
		op->flags |= OP_OUTCOME_UNKNOWN | OP_ACCEPTED;
		op->reason = REASON_VANISHED;
		op_apply(op, EV_VANISHED, now_ms);
	} else {
		op->reason = REASON_UNKNOWN;
		op_apply(op, EV_RESTORED_NONE, now_ms);
	}
	rc = work_save(st, op, seen, config, now_ms);
	return rc == ST_OK ? audit_state(st, &change, now_ms) : rc;
}

static int leave_state(struct store *st, enum op_state state,
		       const struct endpoint_config *config, int64_t endpoint,
		       int64_t now_ms)
{
	int64_t ids[TARGET_ROWS], after = 0;
	int n = TARGET_ROWS, rc = ST_OK;

	while (n == TARGET_ROWS && rc == ST_OK) {
		n = st->ops->op_scan(st, state, endpoint, after, TARGET_ROWS,
				     ids);
		for (int i = 0; i < n && rc == ST_OK; i++) {
			struct op op;

			op_init(&op);
			rc = st->ops->op_get(st, ids[i], &op);
			if (rc == ST_OK)
				rc = leave_one(st, &op, config, now_ms);
			op_release(&op);
			after = ids[i];
		}
	}
	return n < 0 ? n : rc;
}

int work_target(struct store *st, const struct endpoint_config *config,
		int64_t endpoint, bool same, int64_t now_ms)
{
	static const enum op_state states[] = {OP_WAITING, OP_QUEUED,
					       OP_POLLING};
	int rc;

	assert(endpoint > 0 && st->tx == TX_WRITING);
	if (same)
		return ST_OK;
	rc = leave_target(st, endpoint);
	for (size_t i = 0; i < ARRAY_SIZE(states) && rc == ST_OK; i++)
		rc = leave_state(st, states[i], config, endpoint, now_ms);
	return rc;
}
