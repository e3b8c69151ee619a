/*
 * oprow.h - floor 1, private to the SQLite files: an operation as one row.
 *
 * Whoever selects operations (sqlite_op.c, view.c) writes
 *	"SELECT " OPROW_COLUMNS " FROM " OPROW_FROM " WHERE o.op = ?1"
 * and reads the row with oprow_read; own columns go behind OPROW_N.
 */
#ifndef EDCSYNC_STORE_OPROW_H
#define EDCSYNC_STORE_OPROW_H

#include "store/db.h"

#define OPROW_COLUMNS \
	"o.op, o.op_id, o.endpoint, o.record, o.place, o.lane, o.state," \
	" o.state_before, o.next, o.flags, o.reason, o.evidence, o.version," \
	" o.runnable, o.rank, o.attempts, o.tries, o.inconclusive, o.paced," \
	" o.cuts, o.polls, o.replays, o.due_at_ms, o.due_wait_ms," \
	" o.created_at_ms, o.updated_at_ms, o.state_since_ms," \
	" o.life_began_ms, o.first_sent_ms, o.last_risk_ms, o.absent_at_ms," \
	" o.waited_open_ms, o.group_id, o.revision, o.line, o.supersedes," \
	" o.submission, o.idem_key, o.payload_sha256, o.sent_sha256," \
	" o.canonical_sha256, o.target, o.correlation_id, o.traceparent_id," \
	" o.method, o.path, o.content_type, o.vendor_id, o.site_oid," \
	" o.error, o.assigned, o.source_created_at, o.source_author," \
	" o.source_system, o.source_record_id, b.name, r.study, r.subject," \
	" r.event, r.event_repeat, r.form, r.form_repeat, r.record_key," \
	" CASE o.scope WHEN o.record THEN r.newest_of_many ELSE" \
	" (SELECT newest_of_many FROM record WHERE id = o.record) END"
#define OPROW_FROM \
	"operation o JOIN record r ON r.id = o.scope" \
	" LEFT JOIN batch b ON b.id = o.batch"
#define OPROW_N 64

/*
 * operation.rest and rest_ms: what is dead or rejected, by endpoint and
 * state, and since when. Else both are 0, and no index of theirs is touched
 * when an operation starts or is committed.
 */
#define REST_KEY(endpoint, state) ((endpoint) * 16 + (int64_t)(state))
static inline int64_t oprow_rest(const struct op *op)
{
	return op_grouped(op->state) ? REST_KEY(op->endpoint, op->state) : 0;
}

static inline int64_t oprow_rest_ms(const struct op *op)
{
	return op_grouped(op->state) ? op->state_since_ms : 0;
}

/* poll.stage; what another program wrote there counts as watched. */
static inline enum job_stage oprow_job_stage(int64_t stage)
{
	return stage > 0 && stage < JOB_STAGE_COUNT ? (enum job_stage)stage
						    : JOB_WATCHED;
}

/* An attempt as one row: "SELECT " ATTEMPT_COLUMNS " FROM attempt a". */
#define ATTEMPT_COLUMNS \
	"a.op, a.endpoint, a.n, a.kind, a.started_ms, a.finished_ms," \
	" a.layer, a.status, a.transport, a.verdict, a.rule, a.why," \
	" a.backoff_ms, a.request_id, a.vendor_id, a.dns_us, a.tcp_us," \
	" a.tls_us, a.send_us, a.wait_us, a.recv_us, a.excerpt," \
	" a.config_sha256, a.profile_sha256, a.seq_intent, a.seq_outcome"
#define ATTEMPT_N 26
/* From column i on. */
void attempt_read(struct query *, int i, struct attempt *);

/* op was init'ed; what it held is released first. */
void oprow_read(struct query *, struct op *);

#endif
