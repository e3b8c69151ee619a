#include <config.h>

#include "engine/engine_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backoff.h"
#include "store/audit.h"

#define CLAMP_ROWS 1000

/* One transaction; negative results roll it back. */
static int transact(struct engine *e, int (*work)(struct engine *))
{
	struct store *st = e->commit.store;
	int rc = st->ops->begin(st, DURABLE);

	if (rc < 0)
		return rc;
	rc = work(e);
	if (rc >= 0)
		rc = st->ops->commit(st);
	if (rc < 0)
		st->ops->rollback(st);
	return rc < 0 ? rc : ST_OK;
}

/* Same boot: how far UTC was moved while no engine ran. Another boot: UTC
 * decides, but nobody waits longer than he was told to. */
static int clock_found(struct engine *e)
{
	struct store *st = e->commit.store;
	struct buf boot = BUF_INIT, offset = BUF_INIT;
	int64_t delta = 0;
	int rc = st->ops->meta_get(st, "boot_id", &boot);

	if (rc >= 0)
		rc = st->ops->meta_get(st, "clock_offset_ms", &offset);
	e->other_boot = strcmp(buf_text(&boot), e->boot_id) != 0;
	if (rc == ST_OK && offset.len && !e->other_boot)
		delta = e->offset_ms - strtoll(buf_text(&offset), NULL, 10);
	if (delta > CLOCK_STEP_MS || delta < -CLOCK_STEP_MS)
		e->found_delta_ms = delta;
	buf_release(&boot);
	buf_release(&offset);
	return rc < 0 ? rc : ST_OK;
}

int engine_clock_note(struct store *st, const char *boot_id, int64_t offset_ms)
{
	char text[32];
	int rc;

	snprintf(text, sizeof(text), "%lld", (long long)offset_ms);
	rc = st->ops->meta_put(st, "boot_id", boot_id);
	if (rc >= 0)
		rc = st->ops->meta_put(st, "clock_offset_ms", text);
	return rc < 0 ? rc : ST_OK;
}

static int make_known(struct engine *e)
{
	struct store *st = e->commit.store;
	struct audit_event started = {
		.type = AUDIT_ENGINE_START, .at_ms = e->now.utc_ms,
		.backoff_ms = -1, .reason = e->name,
		.config_sha256 = e->setup.config->sha256,
	};
	int rc = audit_append(st, &started, NULL);

	if (rc >= 0)
		rc = rules_keep(st, e->setup.rules, e->setup.rules_n,
				e->now.utc_ms);
	for (size_t i = 0; i < e->places && rc >= 0; i++) {
		struct endpoint_row row = {0};

		rc = work_endpoint(st, e->setup.config,
				   &e->setup.config->endpoint[i], &row,
				   e->now.utc_ms);
		e->ids[i] = row.id;
		free(row.name);
		free(row.profile);
		free(row.environment);
	}
	if (rc >= 0)
		rc = clock_found(e);
	if (rc >= 0)
		rc = engine_clock_note(st, e->boot_id, e->offset_ms);
	return rc;
}

static uint64_t start_random(void *ctx)
{
	struct engine *e = ctx;

	return e->commit.random = e->commit.random * 6364136223846793005u +
				  1442695040888963407u;
}

static int recover(struct engine *e)
{
	return work_recover(e->commit.store, e->setup.config, e->name,
			    start_random, e, e->now.utc_ms, &e->recover_left);
}

/* Due times of another boot, clamped to the wait as first decided. */
static int clamp_page(struct engine *e)
{
	struct store *st = e->commit.store;
	int64_t ops[CLAMP_ROWS];
	int n = st->ops->op_scan(st, e->clamp_state, 0, e->clamp_after,
				 CLAMP_ROWS, ops);
	int rc = n < 0 ? n : ST_OK;

	for (int i = 0; i < n && rc >= 0; i++) {
		struct op op;

		op_init(&op);
		rc = st->ops->op_get(st, ops[i], &op);
		if (rc == ST_OK && op.due_at_ms >
		    add_ms(e->now.utc_ms, op.due_wait_ms)) {
			op.due_at_ms = add_ms(e->now.utc_ms, op.due_wait_ms);
			rc = st->ops->op_save(st, &op, op.version,
					      op_blocks(op.state, op.flags,
							false));
		}
		op_release(&op);
		e->clamp_after = ops[i];
	}
	e->clamp_left = n == CLAMP_ROWS;
	return rc;
}

static int clamp(struct engine *e)
{
	static const enum op_state states[] = {OP_WAITING, OP_POLLING};
	int rc = ST_OK;

	for (size_t i = 0; i < ARRAY_SIZE(states) && rc >= 0; i++) {
		e->clamp_state = states[i];
		e->clamp_after = 0;
		do {
			rc = transact(e, clamp_page);
		} while (rc >= 0 && e->clamp_left);
	}
	return rc;
}

static int read_world(struct engine *e)
{
	struct store *st = e->commit.store;
	int rc = st->ops->live_clear(st, -1);

	for (size_t i = 0; i < e->places && rc >= 0; i++) {
		rc = st->ops->state_get(st, e->ids[i], &e->states[i]);
		if (rc >= 0)
			rc = st->ops->control_get(st, e->ids[i],
						  &e->controls[i]);
	}
	return rc < 0 ? rc : ST_OK;
}

int engine_open_world(struct engine *e)
{
	int rc = transact(e, make_known);

	do {
		if (rc >= 0)
			rc = transact(e, recover);
	} while (rc >= 0 && e->recover_left);
	if (rc >= 0 && e->other_boot)
		rc = clamp(e);
	if (rc >= 0)
		rc = transact(e, read_world);
	return rc;
}
