/*
 * migrate.c - the schema and its history.
 *
 * Never change a migration that was released: append one. Each is a list of
 * statements, so that a test can stop the program after any of them.
 */
#include "store/migrate.h"

void (*migrate_hook)(int version, int statement);

static const char *const first_schema[] = {
	/* The store itself. */
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL)"
	" WITHOUT ROWID",
	"CREATE TABLE schema_history(version INTEGER PRIMARY KEY,"
	" at_ms INTEGER NOT NULL, program TEXT NOT NULL)",
	"CREATE TABLE ruleset(kind TEXT NOT NULL, sha256 BLOB NOT NULL,"
	" at_ms INTEGER NOT NULL, bytes BLOB NOT NULL,"
	" PRIMARY KEY(kind, sha256)) WITHOUT ROWID",

	/* Endpoints. state is the engine's, control is the persons'. */
	"CREATE TABLE endpoint(id INTEGER PRIMARY KEY,"
	" name TEXT NOT NULL UNIQUE, profile TEXT NOT NULL,"
	" environment TEXT NOT NULL, config_sha256 BLOB, profile_sha256 BLOB)",
	"CREATE TABLE endpoint_state(endpoint INTEGER PRIMARY KEY"
	" REFERENCES endpoint(id),"
	" circuit INTEGER NOT NULL, generation INTEGER NOT NULL,"
	" failures INTEGER NOT NULL, first_op INTEGER NOT NULL,"
	" failed_ops INTEGER NOT NULL, opened_ms INTEGER NOT NULL,"
	" probe_at_ms INTEGER NOT NULL, reset_ms INTEGER NOT NULL,"
	" probe_id INTEGER NOT NULL, slow_limit INTEGER NOT NULL,"
	" slow_good INTEGER NOT NULL,"
	" tokens REAL NOT NULL, per_second REAL NOT NULL,"
	" refilled_ms INTEGER NOT NULL, paced_until_ms INTEGER NOT NULL,"
	" budget REAL NOT NULL, budget_ms INTEGER NOT NULL,"
	" halt INTEGER NOT NULL, halted_ms INTEGER NOT NULL,"
	" halt_until_ms INTEGER NOT NULL, halt_op INTEGER NOT NULL,"
	" halt_why TEXT NOT NULL, resume_seen INTEGER NOT NULL,"
	" token_version INTEGER NOT NULL, token_got_ms INTEGER NOT NULL,"
	" token_renew_ms INTEGER NOT NULL, control_found INTEGER NOT NULL,"
	" target BLOB, last_ok_ms INTEGER NOT NULL,"
	" last_ok_op INTEGER NOT NULL, waited_ms INTEGER NOT NULL DEFAULT 0,"
	" waited_at_ms INTEGER NOT NULL DEFAULT 0)",
	"CREATE TABLE endpoint_control(endpoint INTEGER PRIMARY KEY"
	" REFERENCES endpoint(id),"
	" paused INTEGER NOT NULL, by TEXT, reason TEXT,"
	" at_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL,"
	" resume_seq INTEGER NOT NULL, resume_by TEXT, resume_reason TEXT,"
	" target_answer INTEGER NOT NULL)",

	/* Records: what operations write. */
	"CREATE TABLE record(id INTEGER PRIMARY KEY,"
	" endpoint INTEGER NOT NULL REFERENCES endpoint(id),"
	" study TEXT NOT NULL, subject TEXT NOT NULL, event TEXT NOT NULL,"
	" event_repeat TEXT NOT NULL, form TEXT NOT NULL,"
	" form_repeat TEXT NOT NULL, record_key TEXT NOT NULL,"
	" head INTEGER NOT NULL, newest_started INTEGER NOT NULL)",
	"CREATE UNIQUE INDEX record_scope ON record(study, subject, form,"
	" event, event_repeat, form_repeat, endpoint, record_key)",
	"CREATE UNIQUE INDEX record_named ON record(endpoint, record_key)"
	" WHERE record_key <> '' AND head = 1",
	"CREATE INDEX record_subject ON record(subject, study)",

	/*
	 * Operations. Conditions of partial indexes are plain comparisons:
	 * an IN list costs an update six microseconds. A query must name the
	 * same comparisons to use one (state > 1 AND state <> 6: neither
	 * queued, sending nor committed).
	 * place is a number of its own: an edit keeps it. ready
	 * is runnable in a state that can be claimed; blocks is what op_blocks
	 * said of it when it was saved.
	 */
	"CREATE TABLE batch(id INTEGER PRIMARY KEY,"
	" name TEXT NOT NULL UNIQUE)",
	"CREATE TABLE operation(op INTEGER PRIMARY KEY,"
	" endpoint INTEGER NOT NULL, record INTEGER NOT NULL,"
	" scope INTEGER NOT NULL, place INTEGER NOT NULL,"
	" lane INTEGER NOT NULL, state INTEGER NOT NULL,"
	" state_before INTEGER NOT NULL, next INTEGER NOT NULL,"
	" flags INTEGER NOT NULL, reason INTEGER NOT NULL,"
	" evidence INTEGER NOT NULL, version INTEGER NOT NULL,"
	" runnable INTEGER NOT NULL, ready INTEGER NOT NULL,"
	" rank INTEGER NOT NULL, blocks INTEGER NOT NULL,"
	" attempts INTEGER NOT NULL, tries INTEGER NOT NULL,"
	" inconclusive INTEGER NOT NULL, paced INTEGER NOT NULL,"
	" cuts INTEGER NOT NULL, polls INTEGER NOT NULL,"
	" replays INTEGER NOT NULL,"
	" due_at_ms INTEGER NOT NULL, due_wait_ms INTEGER NOT NULL,"
	" created_at_ms INTEGER NOT NULL, updated_at_ms INTEGER NOT NULL,"
	" state_since_ms INTEGER NOT NULL, life_began_ms INTEGER NOT NULL,"
	" first_sent_ms INTEGER NOT NULL,"
	" last_risk_ms INTEGER NOT NULL, absent_at_ms INTEGER NOT NULL,"
	" waited_open_ms INTEGER NOT NULL,"
	" group_id INTEGER NOT NULL, revision INTEGER NOT NULL,"
	" batch INTEGER NOT NULL, line INTEGER NOT NULL,"
	" supersedes INTEGER NOT NULL, submission INTEGER NOT NULL,"
	" op_id TEXT NOT NULL, idem_key BLOB NOT NULL,"
	" payload_sha256 BLOB, sent_sha256 BLOB, canonical_sha256 BLOB,"
	" target BLOB, correlation_id TEXT NOT NULL,"
	" traceparent_id TEXT NOT NULL,"
	" method TEXT NOT NULL, path TEXT NOT NULL, content_type TEXT,"
	" vendor_id TEXT, site_oid TEXT, error TEXT, assigned TEXT,"
	" source_created_at TEXT, source_author TEXT, source_system TEXT,"
	" source_record_id TEXT)",
	"CREATE UNIQUE INDEX operation_op_id ON operation(op_id)",
	"CREATE UNIQUE INDEX operation_key ON operation(endpoint, idem_key)",
	"CREATE INDEX operation_ready ON operation(endpoint, rank, due_at_ms,"
	" op) WHERE ready = 1",
	"CREATE INDEX operation_lane ON operation(lane, place)"
	" WHERE blocks = 2",
	"CREATE INDEX operation_place ON operation(record, place)",
	"CREATE INDEX operation_content ON operation(record,"
	" canonical_sha256)",
	"CREATE INDEX operation_attention ON operation(state, state_since_ms,"
	" op) WHERE state > 1 AND state <> 6",
	"CREATE INDEX operation_scan ON operation(state, op)"
	" WHERE state > 1 AND state <> 6",
	"CREATE INDEX operation_group ON operation(group_id, op)"
	" WHERE state >= 7 AND state <= 8",
	"CREATE INDEX operation_supersedes ON operation(supersedes)"
	" WHERE supersedes <> 0",
	"CREATE INDEX operation_assigned ON operation(assigned)"
	" WHERE assigned IS NOT NULL",
	"CREATE INDEX operation_correlation ON operation(correlation_id)",
	"CREATE INDEX operation_vendor ON operation(vendor_id)"
	" WHERE vendor_id IS NOT NULL",
	"CREATE INDEX operation_batch ON operation(batch, line)"
	" WHERE batch <> 0",
	/* sent is NULL where it equals bytes. */
	"CREATE TABLE payload(op INTEGER PRIMARY KEY, bytes BLOB NOT NULL,"
	" sent BLOB)",
	"CREATE TABLE counter(endpoint INTEGER NOT NULL,"
	" state INTEGER NOT NULL, n INTEGER NOT NULL,"
	" PRIMARY KEY(endpoint, state)) WITHOUT ROWID",

	/* Attempts: durable intents (flight), then what became of them. */
	"CREATE TABLE flight(op INTEGER PRIMARY KEY,"
	" endpoint INTEGER NOT NULL, n INTEGER NOT NULL,"
	" kind INTEGER NOT NULL, request_id TEXT NOT NULL,"
	" started_ms INTEGER NOT NULL, seq_intent INTEGER NOT NULL,"
	" engine TEXT NOT NULL)",
	"CREATE TABLE attempt(id INTEGER PRIMARY KEY, op INTEGER NOT NULL,"
	" endpoint INTEGER NOT NULL, n INTEGER NOT NULL,"
	" kind INTEGER NOT NULL, started_ms INTEGER NOT NULL,"
	" finished_ms INTEGER NOT NULL, layer INTEGER NOT NULL,"
	" status INTEGER NOT NULL, transport INTEGER NOT NULL,"
	" verdict INTEGER NOT NULL, rule TEXT NOT NULL, why TEXT NOT NULL,"
	" backoff_ms INTEGER NOT NULL, request_id TEXT NOT NULL,"
	" vendor_id TEXT, dns_us INTEGER NOT NULL, tcp_us INTEGER NOT NULL,"
	" tls_us INTEGER NOT NULL, send_us INTEGER NOT NULL,"
	" wait_us INTEGER NOT NULL, recv_us INTEGER NOT NULL,"
	" excerpt TEXT, config_sha256 BLOB, profile_sha256 BLOB,"
	" seq_intent INTEGER NOT NULL, seq_outcome INTEGER NOT NULL)",
	"CREATE INDEX attempt_op ON attempt(op, n)",
	"CREATE TABLE poll(op INTEGER PRIMARY KEY, job_id TEXT NOT NULL,"
	" url TEXT, word TEXT NOT NULL, polls INTEGER NOT NULL,"
	" seen INTEGER NOT NULL, began_ms INTEGER NOT NULL,"
	" budget_left_ms INTEGER NOT NULL, counted_ms INTEGER NOT NULL,"
	" last_look INTEGER NOT NULL)",
	"CREATE INDEX poll_job ON poll(job_id)",
	"CREATE TABLE live(slot INTEGER PRIMARY KEY, op INTEGER NOT NULL,"
	" endpoint INTEGER NOT NULL, n INTEGER NOT NULL,"
	" kind INTEGER NOT NULL, phase TEXT NOT NULL,"
	" since_ms INTEGER NOT NULL)",
	"CREATE TABLE gauge(endpoint INTEGER NOT NULL,"
	" minute INTEGER NOT NULL, done INTEGER NOT NULL,"
	" failed INTEGER NOT NULL, retried INTEGER NOT NULL,"
	" histogram BLOB NOT NULL, PRIMARY KEY(endpoint, minute))"
	" WITHOUT ROWID",
	"CREATE TABLE pulse(topic TEXT PRIMARY KEY, n INTEGER NOT NULL)"
	" WITHOUT ROWID",

	/* Intake. */
	"CREATE TABLE submission(id INTEGER PRIMARY KEY, batch TEXT NOT NULL,"
	" file TEXT, host TEXT, submitter TEXT, version TEXT,"
	" at_ms INTEGER NOT NULL)",
	"CREATE INDEX submission_batch ON submission(batch)",
	"CREATE TABLE line(batch INTEGER NOT NULL, line INTEGER NOT NULL,"
	" op INTEGER NOT NULL, content_sha256 BLOB NOT NULL,"
	" PRIMARY KEY(batch, line)) WITHOUT ROWID",
	"CREATE TABLE unclear(id INTEGER PRIMARY KEY,"
	" endpoint INTEGER NOT NULL, record INTEGER NOT NULL,"
	" batch TEXT, line INTEGER NOT NULL, line_text BLOB NOT NULL,"
	" why TEXT NOT NULL, about_op INTEGER NOT NULL,"
	" content_sha256 BLOB NOT NULL UNIQUE, state TEXT NOT NULL,"
	" at_ms INTEGER NOT NULL, decided_by TEXT, decided_ms INTEGER,"
	" reason TEXT, op INTEGER)",
	"CREATE INDEX unclear_open ON unclear(id) WHERE state = 'open'",

	/* Error groups and their triage. */
	"CREATE TABLE error_group(id INTEGER PRIMARY KEY,"
	" endpoint INTEGER NOT NULL, fingerprint TEXT NOT NULL,"
	" title TEXT NOT NULL, reason INTEGER NOT NULL,"
	" n INTEGER NOT NULL, first_ms INTEGER NOT NULL,"
	" last_ms INTEGER NOT NULL, triage TEXT NOT NULL, by TEXT,"
	" at_ms INTEGER, snoozed_until_ms INTEGER, ticket TEXT,"
	" UNIQUE(endpoint, fingerprint))",

	/* Notes and word search. */
	"CREATE TABLE note(id INTEGER PRIMARY KEY, op INTEGER NOT NULL,"
	" group_id INTEGER NOT NULL DEFAULT 0, author TEXT NOT NULL,"
	" printed_name TEXT, at_ms INTEGER NOT NULL, text TEXT NOT NULL,"
	" intervention INTEGER NOT NULL DEFAULT 0,"
	" seq INTEGER NOT NULL DEFAULT 0)",
	"CREATE INDEX note_op ON note(op, id) WHERE op <> 0",
	"CREATE INDEX note_group ON note(group_id, id) WHERE group_id <> 0",
	"CREATE TABLE search_text(op INTEGER PRIMARY KEY,"
	" error TEXT NOT NULL, subject TEXT NOT NULL, form TEXT NOT NULL,"
	" event TEXT NOT NULL, site TEXT NOT NULL, note TEXT NOT NULL)",
	"CREATE VIRTUAL TABLE search_fts USING fts5(error, subject, form,"
	" event, site, note, content='search_text', content_rowid='op',"
	" tokenize='unicode61 remove_diacritics 0')",
	"CREATE TRIGGER search_add AFTER INSERT ON search_text BEGIN"
	" INSERT INTO search_fts(rowid, error, subject, form, event, site,"
	" note) VALUES (new.op, new.error, new.subject, new.form, new.event,"
	" new.site, new.note); END",
	"CREATE TRIGGER search_change AFTER UPDATE ON search_text BEGIN"
	" INSERT INTO search_fts(search_fts, rowid, error, subject, form,"
	" event, site, note) VALUES ('delete', old.op, old.error,"
	" old.subject, old.form, old.event, old.site, old.note);"
	" INSERT INTO search_fts(rowid, error, subject, form, event, site,"
	" note) VALUES (new.op, new.error, new.subject, new.form, new.event,"
	" new.site, new.note); END",
	"CREATE TRIGGER search_note AFTER INSERT ON note WHEN new.op <> 0"
	" BEGIN UPDATE search_text SET note = note || char(10) || new.text"
	" WHERE op = new.op; END",

	/* People and what they do. */
	"CREATE TABLE operator(id TEXT PRIMARY KEY,"
	" printed_name TEXT NOT NULL, organisation TEXT,"
	" roles INTEGER NOT NULL, status TEXT NOT NULL,"
	" must_change INTEGER NOT NULL, failed INTEGER NOT NULL,"
	" locked_until_ms INTEGER NOT NULL, created_ms INTEGER NOT NULL,"
	" created_by TEXT, password_ms INTEGER NOT NULL,"
	" last_in_ms INTEGER NOT NULL, scrypt_n INTEGER NOT NULL,"
	" scrypt_r INTEGER NOT NULL, scrypt_p INTEGER NOT NULL,"
	" salt BLOB NOT NULL, hash BLOB NOT NULL) WITHOUT ROWID",
	"CREATE TABLE operator_grant(id INTEGER PRIMARY KEY,"
	" operator TEXT NOT NULL REFERENCES operator(id),"
	" study TEXT NOT NULL, endpoint TEXT NOT NULL,"
	" from_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL,"
	" by TEXT NOT NULL, at_ms INTEGER NOT NULL,"
	" revoked_ms INTEGER NOT NULL, revoked_by TEXT)",
	"CREATE INDEX operator_grant_of ON operator_grant(operator)",
	"CREATE TABLE signature(id INTEGER PRIMARY KEY,"
	" operator TEXT NOT NULL, printed_name TEXT NOT NULL,"
	" meaning TEXT NOT NULL, covers_sha256 BLOB NOT NULL,"
	" at_ms INTEGER NOT NULL, intervention INTEGER NOT NULL,"
	" seq INTEGER NOT NULL)",
	"CREATE TABLE intervention(id INTEGER PRIMARY KEY,"
	" verb TEXT NOT NULL, actor TEXT NOT NULL, printed_name TEXT,"
	" roles INTEGER NOT NULL, auth TEXT NOT NULL, session TEXT,"
	" login TEXT, host TEXT, endpoint INTEGER NOT NULL DEFAULT 0,"
	" reason_code TEXT NOT NULL, reason TEXT NOT NULL, evidence TEXT,"
	" list_sha256 BLOB, items INTEGER NOT NULL, command_line TEXT,"
	" signature INTEGER NOT NULL DEFAULT 0,"
	" run INTEGER NOT NULL DEFAULT 0, at_ms INTEGER NOT NULL,"
	" seq INTEGER NOT NULL DEFAULT 0)",
	"CREATE TABLE intervention_item(intervention INTEGER NOT NULL,"
	" op INTEGER NOT NULL, version INTEGER NOT NULL,"
	" payload_sha256 BLOB, result TEXT NOT NULL, words TEXT,"
	" old_value TEXT, new_value TEXT, seq INTEGER NOT NULL DEFAULT 0,"
	" PRIMARY KEY(intervention, op)) WITHOUT ROWID",
	"CREATE INDEX intervention_item_op ON intervention_item(op)",
	"CREATE TABLE take(op INTEGER PRIMARY KEY, operator TEXT NOT NULL,"
	" at_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL)",
	"CREATE TABLE approval(id INTEGER PRIMARY KEY, kind TEXT NOT NULL,"
	" op INTEGER NOT NULL, finding INTEGER NOT NULL DEFAULT 0,"
	" version INTEGER NOT NULL, payload BLOB, payload_sha256 BLOB,"
	" asked_by TEXT NOT NULL, asked_ms INTEGER NOT NULL,"
	" reason_code TEXT NOT NULL, reason TEXT NOT NULL,"
	" state TEXT NOT NULL, decided_by TEXT, decided_ms INTEGER,"
	" decided_reason TEXT, intervention INTEGER NOT NULL,"
	" decided_intervention INTEGER)",
	"CREATE INDEX approval_open ON approval(id) WHERE state = 'open'",
	/* An edit of data stays open until the source sends the same. */
	"CREATE TABLE correction(op INTEGER PRIMARY KEY,"
	" record INTEGER NOT NULL, pointers TEXT NOT NULL,"
	" opened_ms INTEGER NOT NULL, closed_ms INTEGER NOT NULL,"
	" closed_by_op INTEGER NOT NULL)",

	/* Work that only the engine may send. */
	"CREATE TABLE request(id INTEGER PRIMARY KEY, kind TEXT NOT NULL,"
	" endpoint INTEGER NOT NULL, op INTEGER NOT NULL,"
	" intervention INTEGER NOT NULL, by TEXT NOT NULL,"
	" asked_ms INTEGER NOT NULL, taken_ms INTEGER NOT NULL DEFAULT 0,"
	" done_ms INTEGER NOT NULL DEFAULT 0, state TEXT NOT NULL,"
	" result TEXT NOT NULL)",
	"CREATE INDEX request_asked ON request(id) WHERE state = 'asked'",

	/* Replay runs: frozen list, preview, canary, ramp, report an item. */
	"CREATE TABLE replay_run(id INTEGER PRIMARY KEY, title TEXT,"
	" filter TEXT, owner TEXT NOT NULL, intervention INTEGER NOT NULL,"
	" state TEXT NOT NULL, list_sha256 BLOB, items INTEGER NOT NULL,"
	" done INTEGER NOT NULL, failed INTEGER NOT NULL,"
	" canary INTEGER NOT NULL, rate_per_s REAL NOT NULL,"
	" stop_above_percent INTEGER NOT NULL, created_ms INTEGER NOT NULL,"
	" started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL,"
	" why TEXT)",
	"CREATE TABLE replay_item(run INTEGER NOT NULL, op INTEGER NOT NULL,"
	" place INTEGER NOT NULL, version INTEGER NOT NULL,"
	" payload_sha256 BLOB, canary INTEGER NOT NULL, state TEXT NOT NULL,"
	" result TEXT, words TEXT, at_ms INTEGER NOT NULL,"
	" PRIMARY KEY(run, op)) WITHOUT ROWID",
	"CREATE UNIQUE INDEX replay_item_once ON replay_item(op)"
	" WHERE state IN ('frozen', 'started')",
	"CREATE INDEX replay_item_next ON replay_item(run, place)"
	" WHERE state = 'frozen'",
	"CREATE TABLE replay_event(id INTEGER PRIMARY KEY,"
	" run INTEGER NOT NULL, at_ms INTEGER NOT NULL, by TEXT NOT NULL,"
	" what TEXT NOT NULL, words TEXT)",
	"CREATE INDEX replay_event_run ON replay_event(run, id)",

	/* Reconciliation. */
	"CREATE TABLE reconcile_run(id INTEGER PRIMARY KEY,"
	" endpoint INTEGER NOT NULL, began_ms INTEGER NOT NULL,"
	" ended_ms INTEGER NOT NULL, by TEXT NOT NULL, state TEXT NOT NULL,"
	" complete INTEGER NOT NULL, ignore_age INTEGER NOT NULL,"
	" pages INTEGER NOT NULL, seen INTEGER NOT NULL, cursor TEXT,"
	" counts TEXT, why TEXT, seq INTEGER NOT NULL)",
	"CREATE INDEX reconcile_run_of ON reconcile_run(endpoint, id)",
	"CREATE TABLE sighting(run INTEGER NOT NULL, n INTEGER NOT NULL,"
	" op_id TEXT NOT NULL, op INTEGER NOT NULL, vendor_id TEXT,"
	" vendor_ms INTEGER NOT NULL, item_sha256 BLOB, item BLOB,"
	" PRIMARY KEY(run, n)) WITHOUT ROWID",
	"CREATE INDEX sighting_tag ON sighting(run, op_id)",
	"CREATE INDEX sighting_op ON sighting(op) WHERE op <> 0",
	"CREATE TABLE finding(id INTEGER PRIMARY KEY, run INTEGER NOT NULL,"
	" endpoint INTEGER NOT NULL, kind TEXT NOT NULL,"
	" op INTEGER NOT NULL, op_id TEXT NOT NULL, vendor_id TEXT,"
	" fingerprint TEXT NOT NULL, words TEXT NOT NULL, item BLOB,"
	" state TEXT NOT NULL, first_ms INTEGER NOT NULL,"
	" last_ms INTEGER NOT NULL, last_run INTEGER NOT NULL,"
	" UNIQUE(endpoint, fingerprint))",
	"CREATE INDEX finding_open ON finding(endpoint, kind, id)"
	" WHERE state = 'open'",
	"CREATE TABLE finding_act(id INTEGER PRIMARY KEY,"
	" finding INTEGER NOT NULL, intervention INTEGER NOT NULL,"
	" verb TEXT NOT NULL, by TEXT NOT NULL, at_ms INTEGER NOT NULL,"
	" expires_ms INTEGER NOT NULL, reason TEXT NOT NULL,"
	" op INTEGER NOT NULL, result TEXT)",
	"CREATE INDEX finding_act_of ON finding_act(finding, id)",
	"CREATE TABLE source_count(endpoint INTEGER NOT NULL,"
	" study TEXT NOT NULL, form TEXT NOT NULL, n INTEGER NOT NULL,"
	" at_ms INTEGER NOT NULL, by TEXT NOT NULL,"
	" PRIMARY KEY(endpoint, study, form)) WITHOUT ROWID",

	/*
	 * The chain. Two writers that read the same tail collide on seq, and
	 * sqlite_audit_put refuses what does not continue the head that was
	 * read in the same immediate transaction: a trigger or a second
	 * index saying so again costs 3 us an operation.
	 */
	"CREATE TABLE audit(seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL,"
	" type TEXT NOT NULL, op_id TEXT, body BLOB NOT NULL,"
	" body_sha256 BLOB NOT NULL, prev_hash BLOB NOT NULL,"
	" hash BLOB NOT NULL, mac BLOB NOT NULL)",
	"CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit"
	" BEGIN SELECT RAISE(ABORT, 'audit records are never changed'); END",
	"CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit"
	" BEGIN SELECT RAISE(ABORT, 'audit records are never deleted'); END",
	NULL
};

/* Counters that are scraped: filled from what is there, then kept by the
 * slots that put an attempt and save an operation (8: dead; transport 10:
 * cut, see attempt_count_of). */
static const char *const scraped_counters[] = {
	"CREATE TABLE attempt_count(endpoint INTEGER NOT NULL,"
	" kind INTEGER NOT NULL, verdict INTEGER NOT NULL,"
	" took INTEGER NOT NULL, n INTEGER NOT NULL, ms INTEGER NOT NULL,"
	" PRIMARY KEY(endpoint, kind, verdict, took)) WITHOUT ROWID",
	"INSERT INTO attempt_count SELECT endpoint, kind, verdict,"
	" CASE WHEN transport = 10 THEN 19 ELSE"
	" (ms > 1) + (ms > 2) + (ms > 4) + (ms > 8) + (ms > 16) + (ms > 32)"
	" + (ms > 64) + (ms > 128) + (ms > 256) + (ms > 512) + (ms > 1024)"
	" + (ms > 2048) + (ms > 4096) + (ms > 8192) + (ms > 16384)"
	" + (ms > 32768) + (ms > 65536) + (ms > 131072) END AS class,"
	" count(*), sum(CASE transport WHEN 10 THEN 0 ELSE ms END)"
	" FROM (SELECT endpoint, kind, verdict, transport,"
	" max(finished_ms - started_ms, 0) AS ms FROM attempt)"
	" GROUP BY endpoint, kind, verdict, class",
	"CREATE TABLE dead_count(endpoint INTEGER NOT NULL,"
	" reason INTEGER NOT NULL, n INTEGER NOT NULL,"
	" PRIMARY KEY(endpoint, reason)) WITHOUT ROWID",
	"INSERT INTO dead_count SELECT endpoint, reason, count(*)"
	" FROM operation WHERE state = 8 GROUP BY endpoint, reason",
	NULL
};

/* A record says that it has more than one operation, and the last of them, in
 * place of the last that was started: a claim writes nothing there. */
static const char *const records_of_many[] = {
	"ALTER TABLE record RENAME COLUMN newest_started TO newest_of_many",
	"UPDATE record SET newest_of_many = (SELECT max(o.place)"
	" FROM operation o WHERE o.record = record.id) WHERE id IN"
	" (SELECT record FROM operation GROUP BY record HAVING count(*) > 1)",
	NULL
};

/*
 * Error groups, counted; what is dead or rejected found by endpoint or group,
 * by order and by age. None of these indexes has a column or a condition that
 * changes when an operation starts or is committed. Rows from before are
 * grouped by reason, rule and status alone (7 rejected, 8 dead; flags 1:
 * outcome unknown, 2: partly taken).
 */
#define OLD_GROUP \
	"'old ' || o.state || ' ' || o.reason || ' ' || ifnull(a.status, '')" \
	" || ' ' || ifnull(a.rule, '')"
#define OLD_GROUP_FROM \
	" FROM operation o LEFT JOIN attempt a ON a.id = (SELECT id" \
	" FROM attempt WHERE op = o.op ORDER BY n DESC, id DESC LIMIT 1)"
static const char *const error_groups[] = {
	"ALTER TABLE error_group ADD COLUMN state INTEGER NOT NULL DEFAULT 8",
	"ALTER TABLE error_group ADD COLUMN maybe INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE error_group ADD COLUMN absent INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE error_group ADD COLUMN partly INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE error_group ADD COLUMN back INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE operation ADD COLUMN rest INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE operation ADD COLUMN rest_ms INTEGER NOT NULL DEFAULT 0",
	"DELETE FROM error_group",
	"INSERT INTO error_group(endpoint, fingerprint, title, state, reason,"
	" n, maybe, absent, partly, back, first_ms, last_ms, triage)"
	" SELECT o.endpoint, " OLD_GROUP " AS print, CASE o.reason"
	" WHEN 3 THEN 'older than what went first'"
	" WHEN 4 THEN 'its total time was over'"
	" WHEN 5 THEN 'circuit open' ELSE"
	" iif(ifnull(a.status, 0) > 0, a.status || ' ', '')"
	" || ifnull(substr(a.why, 1, 90), 'no attempt was made') END,"
	" o.state, o.reason, count(*), sum(o.flags & 1),"
	" sum(o.flags & 3 = 0 AND o.absent_at_ms > 0),"
	" sum(o.flags & 3 = 2), sum(o.replays > 0),"
	" min(o.state_since_ms), max(o.state_since_ms), 'new'"
	OLD_GROUP_FROM " WHERE o.state >= 7 AND o.state <= 8"
	" GROUP BY o.endpoint, print",
	"UPDATE operation SET rest = endpoint * 16 + state,"
	" rest_ms = state_since_ms, group_id = (SELECT g.id"
	OLD_GROUP_FROM " JOIN error_group g ON g.endpoint = o.endpoint"
	" AND g.fingerprint = " OLD_GROUP " WHERE o.op = operation.op)"
	" WHERE state >= 7 AND state <= 8",
	"DROP INDEX operation_group",
	"CREATE INDEX operation_group ON operation(group_id)"
	" WHERE group_id <> 0",
	"CREATE INDEX operation_group_age ON operation(group_id, rest_ms)"
	" WHERE group_id <> 0",
	"CREATE INDEX operation_rest ON operation(rest) WHERE rest <> 0",
	"CREATE INDEX operation_rest_age ON operation(rest, rest_ms)"
	" WHERE rest <> 0",
	"CREATE INDEX operation_rest_urgent ON operation(rest, rest_ms)"
	" WHERE rest <> 0 AND rank = 1",
	NULL
};

/* Lanes have numbers (store_lane_root_fn) from the first operation on, or
 * never: with both kinds, one subject would have two lanes. */
static const char *const numbered_lanes[] = {
	"INSERT INTO meta SELECT 'lanes', 'numbered'"
	" WHERE NOT EXISTS (SELECT 1 FROM operation)",
	NULL
};

/* A job that has ended may tell its outcomes elsewhere: enum job_stage, since
 * when, and what named its result. */
static const char *const job_results[] = {
	"ALTER TABLE poll ADD COLUMN stage INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE poll ADD COLUMN stage_ms INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE poll ADD COLUMN result_url TEXT",
	NULL
};

/* Append only. Version = index + 1. */
static const char *const *const history[] = {
	first_schema,
	scraped_counters,
	records_of_many,
	error_groups,
	numbered_lanes,
	job_results,
};

int migrate_newest(void)
{
	return (int)ARRAY_SIZE(history);
}

/*
 * A fresh file has neither id nor tables; anything else must be ours. The id
 * is read last: somebody may be making the store between two of these.
 */
int migrate_version(struct db *db, int *version)
{
	int64_t id, tables, v;
	int rc;

	assert(db && version);
	rc = db_number(db, "SELECT count(*) FROM sqlite_schema", &tables);
	if (!rc)
		rc = db_number(db, "PRAGMA user_version", &v);
	if (!rc)
		rc = db_number(db, "PRAGMA application_id", &id);
	if (rc)
		return rc;
	if (id != STORE_APPLICATION_ID && (id || v || tables))
		return db_trouble(db, ST_CORRUPT, "it is an SQLite database "
				  "of another program");
	*version = (int)v;
	if (v > migrate_newest())
		return db_trouble(db, ST_NEWER, "its schema %d is newer than "
				  "this program, which knows %d: use the "
				  "newer edcsync", (int)v, migrate_newest());
	return ST_OK;
}

static int one_statement(struct db *db, int version, int n, const char *sql)
{
	int rc = db_exec(db, sql, DB_HERE);

	if (!rc && migrate_hook)
		migrate_hook(version, n);
	return rc;
}

static int stamp(struct db *db, int version, const char *program,
		 int64_t now_ms)
{
	struct buf sql = BUF_INIT;
	struct query *q;
	int rc;

	q = DB_Q(db, "INSERT INTO schema_history VALUES (?1, ?2, ?3)");
	query_int(q, 1, version);
	query_int(q, 2, now_ms);
	query_text(q, 3, program ? program : "");
	rc = query_run(q);
	buf_addf(&sql, "PRAGMA user_version = %d", version);
	if (!rc)
		rc = one_statement(db, version, -1, buf_text(&sql));
	buf_clear(&sql);
	buf_addf(&sql, "PRAGMA application_id = %d", STORE_APPLICATION_ID);
	if (!rc)
		rc = one_statement(db, version, -2, buf_text(&sql));
	buf_release(&sql);
	return rc;
}

static int one_version(struct db *db, int version, const char *program,
		       int64_t now_ms)
{
	const char *const *sql = history[version - 1];
	int rc = ST_OK;

	for (int i = 0; !rc && sql[i]; i++)
		rc = one_statement(db, version, i, sql[i]);
	return rc ? rc : stamp(db, version, program, now_ms);
}

/* Versions up to `last`, inside one transaction. Another process may have
 * done it while we waited for the lock: then nothing is left to do. */
static int step(struct db *db, int last, const char *program, int64_t now_ms)
{
	int held = 0, rc;

	rc = db_exec(db, "BEGIN IMMEDIATE", DB_HERE);
	if (rc)
		return rc;
	rc = migrate_version(db, &held);
	while (!rc && held < last)
		rc = one_version(db, ++held, program, now_ms);
	if (!rc)
		rc = db_exec(db, "COMMIT", DB_HERE);
	if (rc)
		db_rollback(db);
	return rc;
}

int migrate(struct db *db, const char *program, int64_t now_ms, int *from,
	    int *to)
{
	int version, rc;

	assert(db && from && to);
	rc = migrate_version(db, &version);
	if (rc)
		return rc;
	*from = version;
	/* A new store is born whole: nobody meets one of an older schema. */
	if (!version) {
		version = migrate_newest();
		rc = step(db, version, program, now_ms);
	}
	while (!rc && version < migrate_newest()) {
		version++;
		rc = step(db, version, program, now_ms);
	}
	if (!rc)
		*to = version;
	return rc;
}
