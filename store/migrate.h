/*
 * migrate.h - floor 1: the schema, as a history that only grows.
 *
 * One append-only array of migrations (migrate.c). Each runs together with
 * its version stamp (PRAGMA user_version) in one immediate transaction, so
 * that a kill at any statement leaves the version before or the one after,
 * never half of one (field report B086). A schema newer than this program
 * knows is refused before anything is written.
 *
 * Conventions of the schema, for everybody who writes SQL against it:
 *   - `op` is the handle inside one store, `op_id` the name outside;
 *   - times are UTC milliseconds in columns ending in _ms, 0 = never;
 *   - enumerations (state, next, reason, verdict, halt, ...) are stored as
 *     their number: the X lists of core are append-only for that reason;
 *   - digests are BLOBs of 32 bytes, NULL when absent; lower(hex(x)) shows
 *     them, db.h binds and reads them as hex text;
 *   - absent parts of a record (event, repeats, record_key) are '' and never
 *     NULL, so that UNIQUE means what it says; form and subject are text;
 *   - operation.record is what order goes by; operation.scope is the record
 *     row that holds the operation's own study, subject, event and form. The
 *     two differ only where a record_key joins operations of several forms;
 *     lists join `record r ON r.id = o.scope`;
 *   - texts for word search are in search_text, one row an operation; FTS
 *     (search_fts, rowid = op, columns error subject form event site note)
 *     follows by trigger, and a row in `note` reaches it by trigger, too;
 *   - counter(endpoint, state, n) is kept by the store's own slots: whoever
 *     changes operation.state does so through op_save. So are
 *     attempt_count(endpoint, kind, verdict, took, n, ms) by attempt_put and
 *     dead_count(endpoint, reason, n) and the numbers of error_group
 *     (n = maybe + absent + partly + never) by op_save;
 *   - operation.group_id, rest and rest_ms are other than 0 for what is dead
 *     or rejected, and for nothing else (oprow.h).
 */
#ifndef EDCSYNC_STORE_MIGRATE_H
#define EDCSYNC_STORE_MIGRATE_H

#include "store/db.h"

/* "EDCS" in PRAGMA application_id: tells our files from other people's. */
#define STORE_APPLICATION_ID 0x45444353

/* What this program writes. */
int migrate_newest(void);
/* Asked after every statement of every migration; only tests set it. */
extern void (*migrate_hook)(int version, int statement);
/* Brings the file to migrate_newest(). *from and *to say what was there and
 * what is; ST_NEWER, ST_CORRUPT (another program's database) write nothing.
 * Safe when several processes start at once: the loser finds it done. */
int migrate(struct db *, const char *program, int64_t now_ms, int *from,
	    int *to);
/* The version of the file, without a write. -1: not ours. */
int migrate_version(struct db *, int *version);

#endif
