/*
 * ledger_file.h - plays: the ledger's file, private to ledger*.c.
 *
 * JSON Lines, one event a line, written whole by one write() each:
 *   {"record": N, "op": IDENTITY, ..., "state": "committed" | "running"}
 *   {"ended": N, "state": "committed" | "failed" | "partial", "at_ms": UTC}
 * Numbers N count from 1 without a gap, which is what reading checks.
 */
#ifndef EDCSYNC_SIM_LEDGER_FILE_H
#define EDCSYNC_SIM_LEDGER_FILE_H

#include "sim/ledger.h"

/* No-ops without a file. A failed write sets write_failed. */
void ledger_file_record(struct ledger *, uint32_t record);
void ledger_file_ended(struct ledger *, uint32_t record);

/* For reading: makes the record as it was, without writing it again. */
uint32_t ledger_restore(struct ledger *, uint32_t op,
			const struct sim_intake *, enum sim_state, bool job,
			enum sim_outcome, const char *word, int64_t due_ms);
void ledger_end(struct ledger *, uint32_t record, enum sim_state);

#endif
