/*
 * fault.c - a store around a store, that breaks or counts calls.
 *
 * Same vtable; every slot asks `fail` first, with its name and its number
 * (from 1, over all slots). A non-zero answer below 0 is the slot's result
 * and the transaction is FAILED, as with trouble of its own; a commit that
 * was told to fail leaves the inner transaction open, so that rolling back
 * undoes it, as on a full disk.
 */
#include "store/store_priv.h"

#include <stdlib.h>

struct fault_store {
	struct store base;		/* first */
	struct store *inner;
	int (*fail)(void *, const char *slot, int64_t n);
	void *ctx;
	int64_t n;
};

static struct fault_store *fs(struct store *st)
{
	return (struct fault_store *)st;
}

/* What the inner one says of itself is true of us. */
static int mirror(struct store *st, int rc)
{
	struct store *in = fs(st)->inner;

	st->tx = in->tx;
	st->in_savepoint = in->in_savepoint;
	if (rc < 0) {
		buf_clear(&st->error);
		buf_adds(&st->error, store_error(in));
	}
	return rc;
}

/* 0: go on. */
static int ask(struct store *st, const char *slot)
{
	struct fault_store *f = fs(st);
	int rc = f->fail ? f->fail(f->ctx, slot, ++f->n) : 0;

	assert(rc <= 0);
	if (!rc)
		return 0;
	store_trouble(f->inner, rc, "fault: %s refused on demand (call %lld)",
		      slot, (long long)f->n);
	return mirror(st, rc);
}

#define IN (fs(st)->inner)
#define PASS(slot, ...) \
	do { \
		int asked = ask(st, #slot); \
		return asked ? asked : \
			       mirror(st, IN->ops->slot(__VA_ARGS__)); \
	} while (0)

static int f_begin(struct store *st, enum store_durability d)
{
	PASS(begin, IN, d);
}

static int f_commit(struct store *st)
{
	PASS(commit, IN);
}

static void f_rollback(struct store *st)
{
	IN->ops->rollback(IN);
	mirror(st, ST_OK);
}

static int f_savepoint(struct store *st)
{
	PASS(savepoint, IN);
}

static int f_release(struct store *st)
{
	PASS(release, IN);
}

static int f_rollback_to(struct store *st)
{
	PASS(rollback_to, IN);
}

static void f_close(struct store *st)
{
	store_close(IN);
	buf_release(&st->error);
	free(fs(st));
}

static bool f_changed(struct store *st)
{
	return IN->ops->changed(IN);
}

/*
 * The rest only pass on. SLOT(name, the parameters behind the store as they
 * are declared, the same as they are passed on).
 */
#define UNPACK(...) __VA_ARGS__
#define SLOT(slot, declared, passed) \
	static int f_##slot(struct store *st, UNPACK declared) \
	{ \
		PASS(slot, IN, UNPACK passed); \
	}

SLOT(meta_get, (const char *a, struct buf *b), (a, b))
SLOT(meta_put, (const char *a, const char *b), (a, b))
SLOT(endpoint_intern, (struct endpoint_row *a), (a))
SLOT(endpoint_each,
     (int (*a)(void *, const struct endpoint_row *), void *b),
     (a, b))
SLOT(state_get, (int64_t a, struct endpoint_state *b), (a, b))
SLOT(state_put, (const struct endpoint_state *a), (a))
SLOT(control_get, (int64_t a, struct endpoint_control *b), (a, b))
SLOT(control_put, (const struct endpoint_control *a), (a))
SLOT(ruleset_put, (const char *a, const char *b, struct span c), (a, b, c))
SLOT(record_intern, (struct record *a), (a))
SLOT(record_newest, (int64_t a, struct op *b), (a, b))
SLOT(record_same,
     (int64_t a, const char *b, const char *c, const char *d, struct op *e),
     (a, b, c, d, e))
SLOT(record_earlier, (int64_t a, int64_t b, int64_t *c), (a, b, c))
SLOT(record_waiting, (int64_t a, int64_t b, int64_t *c), (a, b, c))
SLOT(record_later, (int64_t a, int64_t b, int64_t *c), (a, b, c))
SLOT(record_risk, (int64_t a, int64_t b, int64_t *c), (a, b, c))
SLOT(lane_root, (const struct record *a, int64_t *b), (a, b))
SLOT(op_insert, (struct op *a, struct span b, struct span c), (a, b, c))
SLOT(op_get, (int64_t a, struct op *b), (a, b))
SLOT(op_find, (const char *a, struct op *b), (a, b))
SLOT(key_held, (int64_t a, const char *b, int64_t *c), (a, b, c))
SLOT(op_save, (const struct op *a, int64_t b, enum op_blocks c), (a, b, c))
SLOT(payload, (int64_t a, bool b, struct buf *c), (a, b, c))
SLOT(ready,
     (int64_t a, int b, int c, int64_t d, int e, int64_t *f),
     (a, b, c, d, e, f))
SLOT(next_due, (int64_t a, int64_t *b), (a, b))
SLOT(lane, (int64_t a, int64_t *b, int64_t *c), (a, b, c))
SLOT(waited_for, (const struct op *a, bool *b, bool *c), (a, b, c))
SLOT(op_scan,
     (enum op_state a, int64_t b, int64_t c, int d, int64_t *e),
     (a, b, c, d, e))
SLOT(shift_due, (int64_t a, int64_t b), (a, b))
SLOT(count, (int64_t a, enum op_state b, int64_t *c), (a, b, c))
SLOT(dead_count, (int64_t a, enum op_reason b, int64_t *c), (a, b, c))
SLOT(group_intern, (struct group_row *a), (a))
SLOT(group_each, (int (*a)(void *, const struct group_row *), void *b), (a, b))
SLOT(attempt_last, (int64_t a, struct attempt *b), (a, b))
SLOT(flight_put, (const struct flight *a), (a))
SLOT(flight_get, (int64_t a, struct flight *b), (a, b))
SLOT(flight_drop, (int64_t a), (a))
SLOT(flight_each, (int (*a)(void *, const struct flight *), void *b), (a, b))
SLOT(attempt_put, (const struct attempt *a), (a))
SLOT(attempt_counts, (int (*a)(void *, const struct attempt_count *), void *b),
     (a, b))
SLOT(poll_get, (int64_t a, struct poll_row *b), (a, b))
SLOT(poll_put, (const struct poll_row *a), (a))
SLOT(poll_drop, (int64_t a), (a))
SLOT(submission_put, (struct submission_row *a), (a))
SLOT(line_get, (const char *a, int64_t b, int64_t *c, char d[65]), (a, b, c, d))
SLOT(line_put,
     (const char *a, int64_t b, int64_t c, const char *d),
     (a, b, c, d))
SLOT(unclear_put, (struct unclear_row *a), (a))
SLOT(request_next, (struct request_row *a), (a))
SLOT(request_put, (struct request_row *a), (a))
SLOT(live_put, (const struct live_row *a), (a))
SLOT(live_clear, (int a), (a))
SLOT(gauge_add, (const struct gauge_row *a), (a))
SLOT(audit_head, (int64_t *a, uint8_t b[32]), (a, b))
SLOT(audit_put, (const struct audit_row *a), (a))
SLOT(audit_each,
     (int64_t a, int (*b)(void *, const struct audit_row *), void *c),
     (a, b, c))

static const struct store_ops fault_ops = {
	.name = "fault",
	.begin = f_begin,
	.commit = f_commit,
	.rollback = f_rollback,
	.savepoint = f_savepoint,
	.release = f_release,
	.rollback_to = f_rollback_to,
	.close = f_close,
	.changed = f_changed,
	.meta_get = f_meta_get,
	.meta_put = f_meta_put,
	.endpoint_intern = f_endpoint_intern,
	.endpoint_each = f_endpoint_each,
	.state_get = f_state_get,
	.state_put = f_state_put,
	.control_get = f_control_get,
	.control_put = f_control_put,
	.ruleset_put = f_ruleset_put,
	.record_intern = f_record_intern,
	.record_newest = f_record_newest,
	.record_same = f_record_same,
	.record_earlier = f_record_earlier,
	.record_waiting = f_record_waiting,
	.record_later = f_record_later,
	.record_risk = f_record_risk,
	.lane_root = f_lane_root,
	.op_insert = f_op_insert,
	.op_get = f_op_get,
	.op_find = f_op_find,
	.key_held = f_key_held,
	.op_save = f_op_save,
	.payload = f_payload,
	.ready = f_ready,
	.next_due = f_next_due,
	.lane = f_lane,
	.waited_for = f_waited_for,
	.op_scan = f_op_scan,
	.shift_due = f_shift_due,
	.count = f_count,
	.dead_count = f_dead_count,
	.group_intern = f_group_intern,
	.group_each = f_group_each,
	.flight_put = f_flight_put,
	.flight_get = f_flight_get,
	.flight_drop = f_flight_drop,
	.flight_each = f_flight_each,
	.attempt_put = f_attempt_put,
	.attempt_counts = f_attempt_counts,
	.attempt_last = f_attempt_last,
	.poll_get = f_poll_get,
	.poll_put = f_poll_put,
	.poll_drop = f_poll_drop,
	.submission_put = f_submission_put,
	.line_get = f_line_get,
	.line_put = f_line_put,
	.unclear_put = f_unclear_put,
	.request_next = f_request_next,
	.request_put = f_request_put,
	.live_put = f_live_put,
	.live_clear = f_live_clear,
	.gauge_add = f_gauge_add,
	.audit_head = f_audit_head,
	.audit_put = f_audit_put,
	.audit_each = f_audit_each,
};

int store_fault_open(struct store *inner,
		     int (*fail)(void *, const char *slot, int64_t n),
		     void *ctx, struct store **out)
{
	struct fault_store *f = xcalloc(1, sizeof(*f));

	assert(inner && inner->tx == TX_IDLE && out);
	f->base = *inner;
	f->base.ops = &fault_ops;
	f->base.error = BUF_INIT;
	f->inner = inner;
	f->fail = fail;
	f->ctx = ctx;
	*out = &f->base;
	return ST_OK;
}
