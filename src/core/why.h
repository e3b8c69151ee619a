/*
 * why.h - floor 0: why an operation is not moving, in one line, computed and
 * never stored (DESIGN.md section 3).
 */
#ifndef EDCSYNC_CORE_WHY_H
#define EDCSYNC_CORE_WHY_H

#include "core/circuit.h"
#include "core/op.h"
#include "core/verdict.h"

struct why_in {
	const struct op *op;
	bool configured;		/* its endpoint is */
	bool engine_running;
	int max_attempts;
	enum circuit_state circuit;
	int64_t probe_at_ms, paced_until_ms;
	bool paused;
	const char *paused_by, *paused_reason;
	int64_t paused_at_ms;
	enum halt_reason halt;
	int64_t halted_at_ms;
	const char *behind;		/* op_id it waits behind, or NULL */
	const char *behind_what;	/* "same subject", "same record" */
	const char *job_word;		/* polling: last word */
	enum job_stage job_stage;	/* polling: ended, its result is due? */
	int64_t now_ms;
	int utc_offset_min;
};

void why_line(const struct why_in *, struct buf *out);

#endif
