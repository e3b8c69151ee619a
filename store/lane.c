/*
 * Who may go: the lane of an operation and the saving of its row.
 *
 * Runnable is the lane's first by place, when nothing in the lane is moving
 * and no earlier one of its record blocks. One that waits for an earlier one
 * of its record (of unknown outcome, unwatched) steps out of the lane: it is
 * stored as blocking its record only, so that the rest of the subject goes
 * on, and steps in again when the record is free. All this is kept right by
 * whoever changes an operation, so that a claim finds its work by one index.
 * It is no change of the operation: its version stays.
 */
#include <assert.h>
#include <string.h>

#include "store/work_priv.h"

/* Enrolments make their dependants wait whatever on_dead says. */
static bool creates(const struct profile *profile, const char *form)
{
	for (size_t i = 0; profile && i < profile->creates.n; i++)
		if (!strcmp(profile->creates.v[i], "*") ||
		    !strcmp(profile->creates.v[i], form ? form : ""))
			return true;
	return false;
}

bool lane_holds(const struct endpoint_config *config, const struct op *op)
{
	return config && (config->on_dead == ON_DEAD_HOLD ||
			  creates(config->profile, op->record.form_oid));
}

static int save_row(struct store *st, const struct op *op, int64_t version,
		    const struct endpoint_config *config)
{
	enum op_blocks blocks = op_blocks(op->state, op->flags,
					  lane_holds(config, op));

	return st->ops->op_save(st, op, version, blocks);
}

static int set_runnable(struct store *st, struct op *op, bool runnable,
			const struct endpoint_config *config)
{
	if (op->runnable == runnable)
		return ST_OK;
	op->runnable = runnable;
	return save_row(st, op, op->version, config);
}

/* Is an earlier one of its record in the way? Trouble in *rc. */
static bool record_blocks(struct store *st, const struct op *op, int *rc)
{
	int64_t earlier = 0;

	*rc = st->ops->record_earlier(st, op->record.id, op->place, &earlier);
	if (*rc < 0)
		return true;
	if (*rc == ST_NONE) {
		*rc = ST_OK;
		return false;
	}
	return true;
}

int lane_admit(struct store *st, struct op *op)
{
	int64_t first = 0, active = 0, earlier = 0;
	int rc = st->ops->lane(st, op->lane, &first, &active);

	op->runnable = false;
	if (rc < 0 || (rc == ST_OK && (first || active)))
		return rc < 0 ? rc : ST_OK;
	rc = st->ops->record_earlier(st, op->record.id, INT64_MAX, &earlier);
	if (rc < 0)
		return rc;
	op->runnable = rc == ST_NONE;
	return ST_OK;
}

/* The active one is not the first: unless it moves, it has to step back. */
static int step_back(struct store *st, int64_t active,
		     const struct endpoint_config *config, bool *moving)
{
	struct op op;
	int rc;

	op_init(&op);
	rc = st->ops->op_get(st, active, &op);
	*moving = rc == ST_OK && op_moving(op.state);
	if (rc == ST_OK && !*moving)
		rc = set_runnable(st, &op, false, config);
	op_release(&op);
	return rc;
}

/* The first goes, or steps out when its record is not free: *next then. */
static int let_first(struct store *st, int64_t first,
		     const struct endpoint_config *config, bool *next)
{
	struct op op;
	int rc;

	op_init(&op);
	rc = st->ops->op_get(st, first, &op);
	if (rc == ST_OK && op_claimable(op.state) && !op_moving(op.state)) {
		*next = record_blocks(st, &op, &rc);
		if (rc == ST_OK && *next) {
			op.runnable = false;
			rc = st->ops->op_save(st, &op, op.version,
					      BLOCKS_RECORD);
		} else if (rc == ST_OK) {
			rc = set_runnable(st, &op, true, config);
		}
	}
	op_release(&op);
	return rc;
}

int lane_refresh(struct store *st, int64_t lane,
		 const struct endpoint_config *config)
{
	bool moving, next = true;
	int rc = ST_OK;

	while (rc == ST_OK && next) {
		int64_t first = 0, active = 0;

		moving = next = false;
		rc = st->ops->lane(st, lane, &first, &active);
		if (rc < 0)
			return rc;
		if (rc == ST_NONE || !first)
			return ST_OK;
		if (active && active != first)
			rc = step_back(st, active, config, &moving);
		if (rc < 0 || moving)
			return rc;
		rc = let_first(st, first, config, &next);
	}
	return rc;
}

/* The record may be free now: the next one of it steps in again. */
static int step_in(struct store *st, const struct op *after,
		   const struct endpoint_config *config)
{
	int64_t next = 0;
	struct op op;
	int rc = st->ops->record_waiting(st, after->record.id, after->place,
					 &next);

	if (rc)
		return rc < 0 ? rc : ST_OK;
	op_init(&op);
	rc = st->ops->op_get(st, next, &op);
	if (rc == ST_OK && !op.runnable && !record_blocks(st, &op, &rc) &&
	    rc == ST_OK) {
		rc = save_row(st, &op, op.version, config);
		if (rc == ST_OK)
			rc = lane_refresh(st, op.lane, config);
	}
	op_release(&op);
	return rc < 0 ? rc : ST_OK;
}

int lane_entered(struct store *st, const struct op *op,
		 const struct endpoint_config *config)
{
	int64_t first = 0, active = 0;
	int rc = op->runnable ? ST_NONE :
		 st->ops->lane(st, op->lane, &first, &active);

	if (rc < 0 || first != op->op)
		return rc < 0 ? rc : ST_OK;
	return lane_refresh(st, op->lane, config);
}

/* It was on the wire and waits again: the common way back, in one save. */
static int stays_first(struct store *st, struct op *op, bool *yes)
{
	int64_t first = 0, active = 0;
	int rc = st->ops->lane(st, op->lane, &first, &active);

	*yes = false;
	if (rc < 0)
		return rc;
	if (first != op->op || (active && active != op->op))
		return ST_OK;
	*yes = !record_blocks(st, op, &rc);
	return rc;
}

/*
 * One that comes back goes before the later ones of its record, those in
 * another lane, too (a record_key over subjects; another `order` since).
 */
static int call_back(struct store *st, const struct op *op,
		     const struct endpoint_config *config)
{
	int64_t later = 0;
	struct op other;
	int rc = st->ops->record_waiting(st, op->record.id, op->place, &later);

	if (rc)
		return rc < 0 ? rc : ST_OK;
	op_init(&other);
	rc = st->ops->op_get(st, later, &other);
	if (rc == ST_OK && other.runnable && other.lane != op->lane) {
		rc = set_runnable(st, &other, false, config);
		if (rc == ST_OK)
			rc = lane_refresh(st, other.lane, config);
	}
	op_release(&other);
	return rc < 0 ? rc : ST_OK;
}

/* It is out of the way: mostly, nobody waits. */
static int let_others(struct store *st, const struct op *op,
		      const struct endpoint_config *config)
{
	bool in_lane = false, in_record = false;
	int rc = st->ops->waited_for(st, op, &in_lane, &in_record);

	if (rc)
		return rc < 0 ? rc : ST_OK;
	if (in_record)
		rc = step_in(st, op, config);
	if (rc >= 0)
		rc = lane_refresh(st, op->lane, config);
	return rc < 0 ? rc : ST_OK;
}

int work_save(struct store *st, struct op *op, int64_t version_seen,
	      const struct endpoint_config *config, int64_t now_ms)
{
	bool was_moving = op_moving(op->state_before), first = false;
	int rc = ST_OK;

	assert(op->op > 0 && op->version >= version_seen);
	assert(now_ms >= 0);
	if (op->state == OP_POLLING)
		first = true;
	else if (op_claimable(op->state) && was_moving)
		rc = stays_first(st, op, &first);
	if (rc >= 0)
		rc = group_keep(st, op);
	if (rc < 0)
		return rc;
	op->runnable = first;
	rc = save_row(st, op, version_seen, config);
	if (rc != ST_OK || first)
		return rc;
	if (op_blocks(op->state, op->flags, false) == BLOCKS_NOTHING)
		return let_others(st, op, config);
	if (op_claimable(op->state) && !was_moving)
		rc = call_back(st, op, config);
	if (rc >= 0)
		rc = lane_refresh(st, op->lane, config);
	return rc < 0 ? rc : ST_OK;
}
