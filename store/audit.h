/*
 * audit.h - floor 1: the trail (DESIGN.md section 9).
 *
 * One chain. Every record is canonical JSON; body_sha256 = SHA-256(body),
 * hash = SHA-256(prev_hash || body_sha256), mac = HMAC-SHA-256(key, hash).
 * Appending happens inside the caller's transaction: no record, no act.
 *
 * The key file holds an Ed25519 private key (PEM, 0600), made together with
 * a new store and never later; NAME.pub beside it is the public half. The
 * MAC key is HKDF-SHA-256 of the private key. Anchors are lines of the
 * anchor file: one JSON object each, signed, also sent to syslog.
 */
#ifndef EDCSYNC_STORE_AUDIT_H
#define EDCSYNC_STORE_AUDIT_H

#include "store/store.h"

/* Who did it. */
struct actor {
	bool person;
	const char *id;			/* operator id, or "edcsync" */
	const char *printed_name, *role;
	const char *auth;		/* password | signature | none (OS
					 * account) */
	const char *session;
	const char *login, *host, *tty, *remote;	/* claims of the OS */
};

/*
 * X(symbol, type name). Closed set, versioned by AUDIT_FORMAT, which stands
 * in each record. Format 2 has the local time as its offset from UTC
 * (`at_offset`), where format 1 wrote it out (`at_local`), and names the store
 * in the first record only: the chain binds the others to that one. A store
 * may hold both; verification knows both.
 */
#define AUDIT_FORMAT 2
#define AUDIT_TYPES(X) \
	X(STORE_CREATED, "store_created") X(SCHEMA, "schema_migrated") \
	X(RULES, "rules_in_force") X(SUBMIT, "submitted") \
	X(UNCLEAR, "unclear") X(INTENT, "attempt_intent") \
	X(OUTCOME, "attempt_outcome") X(WITHDRAWN, "attempt_withdrawn") \
	X(STATE, "state_changed") X(CIRCUIT, "circuit_changed") \
	X(HALT, "endpoint_halted") X(RELEASED, "endpoint_released") \
	X(PAUSE, "endpoint_paused") X(RESUME, "endpoint_resumed") \
	X(ACT, "act") X(REFUSED_ACT, "act_refused") X(NOTE, "note") \
	X(SIGNATURE, "signature") X(OPERATOR, "operator") \
	X(SIGN_IN, "sign_in") X(SIGN_IN_FAILED, "sign_in_failed") \
	X(ENGINE_START, "engine_started") X(ENGINE_STOP, "engine_stopped") \
	X(CLOCK_STEP, "clock_step") X(RESTORED, "store_restored") \
	X(GAP_DECLARED, "gap_declared") X(TOKEN, "token_issued") \
	X(PROBE, "probe") X(ENDPOINT_TEST, "endpoint_tested")

enum audit_type {
#define X(sym, name) AUDIT_##sym,
	AUDIT_TYPES(X)
#undef X
	AUDIT_TYPE_COUNT
};
const char *audit_type_name(enum audit_type);

/* One event. Texts are borrowed; NULL or 0 are left out of the record. */
struct audit_event {
	enum audit_type type;
	int64_t at_ms;
	const struct actor *actor;	/* NULL: the program itself */
	bool manual;			/* origin */
	const struct op *op;		/* operation, record, key, payload */
	const char *endpoint;
	int attempt;
	const char *kind, *request_id, *vendor_id;
	int status;
	const char *excerpt, *verdict, *rule;
	int64_t backoff_ms;		/* < 0 left out */
	const char *resolution;
	const char *reason_code, *reason;
	const char *old_value, *new_value;	/* states, or JSON text */
	const char *profile_sha256, *config_sha256;
	const char *detail;		/* JSON object text, type's own */
};

/* Appends; *seq may be NULL. Trouble fails the transaction. */
int audit_append(struct store *, const struct audit_event *, int64_t *seq);

/* Key life cycle; used by the back-ends' open. Without a key_file (memory
 * back-end) the key lives and dies with the process. A read-only store opens
 * without its key, too. now_ms starts the anchor interval. */
#define META_AUDIT_KEY "audit_key"
/* JSON object of the lost anchor while the store counts as restored; empty or
 * absent otherwise. META_GAP_DECLARED: "seq:hash" of the last lost anchor
 * that a person declared. */
#define META_RESTORED "store_restored"
#define META_GAP_DECLARED "gap_declared"
/* "AT DELTA": when UTC was stepped last, in the new time, and by how much. */
#define META_CLOCK_STEP "clock_step"
/* Why the last anchor could not be written; empty when it could. */
#define META_ANCHOR_TROUBLE "anchor_trouble"
struct audit *audit_open(const struct store_options *, bool new_store,
			 const char *store_id, struct buf *error, int *result);
void audit_close(struct audit *);
/* Digest of the public key; kept in meta under META_AUDIT_KEY at creation
 * and compared at every later open (ST_KEY when it is another one). */
void audit_key_id(const struct audit *, sha256_hex out);

/* Anchors the present head when due (or now), after a commit, in state IDLE;
 * passes begin itself. Due every anchor_every_ms and every 1000 records of
 * this process; `now` is for its end (store_close). Nothing is written when
 * this process appended nothing since, or while the store counts as restored.
 * Never fails the caller: trouble is logged and shown by status. */
void audit_anchor(struct store *, bool now, int64_t now_ms);
/* Last anchor of this store in the file; ST_NONE if there is none. */
int audit_last_anchor(const char *anchor_file, const char *store_id,
		      const struct audit *key_or_null, int64_t *seq,
		      uint8_t hash[32], int64_t *at_ms);
/* Called by begin: does the chain contain the last anchor? If not the store
 * was restored: marks it, once, in this transaction. */
int audit_check_restored(struct store *, int64_t now_ms);

enum audit_result { AUDIT_INTACT, AUDIT_BROKEN, AUDIT_NOT_ANCHORED,
		    AUDIT_EMPTY, AUDIT_UNREADABLE };
struct audit_break {
	int64_t seq;
	char what[160];
};
struct audit_report {
	enum audit_result result;
	int64_t checked, first_seq, last_seq, anchored_seq, anchored_ms;
	struct audit_break *breaks;	/* every one, bounded 10 000 */
	size_t breaks_n;
	int declared_gaps;
	int64_t tail;			/* younger than the last anchor */
	char note[200];
};
/* public_key: PEM file, or NULL = beside the key file. macs are checked only
 * when the private key can be read. */
int audit_verify(struct store *, const char *anchor_file,
		 const char *key_file, const char *public_key,
		 struct audit_report *);
void audit_report_release(struct audit_report *);

#endif
