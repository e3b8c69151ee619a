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

/* op was init'ed; what it held is released first. */
void oprow_read(struct query *, struct op *);

#endif
