/*
 * test_ui_work.c - the three lanes beside the screen (ui/work.h), on a real
 * store. Nothing is timed: a job that is to be met while it runs waits for a
 * word of the test, and the test waits for the lanes' descriptor.
 */
#define _GNU_SOURCE
#include "check.h"

#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "ui/app.h"

#define T0 INT64_C(1796000000000)

enum { LONG_MS = 120000 };

static struct scene {
	char dir[64], db[96], key[96], anchors[96];
	struct ui_world world;
	struct work *work;
	atomic_int opened, closed, nudged;
	atomic_int dropped;
	char order[64];			/* of the ACT lane, a letter each */
	int owner, other;		/* their addresses are owners */
} t;

/* What a job met, and what became of it. Lives in the test. */
struct met {
	bool ran, view, store, blocked, faults_open, done, dropped;
	void *owner;
	int rc;
	char error[200];
};

struct probe {
	struct job job;
	struct met *met;
	char letter;
	sem_t *begun, *go;		/* run: tells, waits; or NULL */
	bool loops;			/* asks until it is interrupted */
	bool uses_store, leaves_open;
};

static void look_at_signals(struct met *m)
{
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	m->blocked = sigismember(&set, SIGWINCH) &&
		     sigismember(&set, SIGTERM) && sigismember(&set, SIGTSTP);
	m->faults_open = !sigismember(&set, SIGSEGV) &&
			 !sigismember(&set, SIGABRT);
}

static void probe_run(struct job *job, struct work_room *room)
{
	struct probe *p = (struct probe *)job;
	struct met *m = p->met;
	struct store *store;
	int64_t seq, at_ms;

	m->ran = true;
	m->view = room->view != NULL;
	look_at_signals(m);
	text_set(m->error, sizeof(m->error), span_of(room->error));
	if (p->begun)
		sem_post(p->begun);
	if (p->go)
		while (sem_wait(p->go))
			;
	do
		m->rc = room->view ? view_audit_head(room->view, &seq, &at_ms)
				   : ST_ERROR;
	while (p->loops && m->rc != ST_INTERRUPTED);
	if (!p->uses_store)
		return;
	store = room->store(room);
	m->store = store != NULL;
	t.order[strlen(t.order)] = p->letter;
	if (store && p->leaves_open)
		m->rc = store->ops->begin(store, DURABLE);
}

static void probe_done(struct job *job, void *owner)
{
	struct probe *p = (struct probe *)job;

	p->met->done = true;
	p->met->owner = owner;
}

static void probe_drop(struct job *job)
{
	struct probe *p = (struct probe *)job;

	assert(!p->met->dropped);
	p->met->dropped = true;
	t.dropped++;
	free(p);
}

static struct probe *probe_new(struct met *m, enum work_lane lane, int topic)
{
	struct probe *p = xcalloc(1, sizeof(*p));

	memset(m, 0, sizeof(*m));
	p->met = m;
	p->job = (struct job){.owner = &t.owner, .topic = topic, .lane = lane,
		.run = probe_run, .done = probe_done, .drop = probe_drop};
	return p;
}

static void ask(struct probe *p)
{
	work_ask(t.work, &p->job);
}

/* Until so many jobs were given back in all. */
static void settle(int dropped)
{
	struct pollfd fd = {.fd = work_fd(t.work), .events = POLLIN};

	while (t.dropped < dropped) {
		assert_int_equal(poll(&fd, 1, LONG_MS), 1);
		work_done(t.work);
	}
	assert_int_equal(t.dropped, dropped);
}

static int64_t world_now(void *ctx)
{
	(void)ctx;
	return T0;
}

static int world_offset(void *ctx, int64_t at_ms)
{
	(void)ctx;
	(void)at_ms;
	return 60;
}

static struct store *store_new(bool create, struct buf *error)
{
	struct store_options o = {.path = t.db, .key_file = t.key,
		.anchor_file = t.anchors, .anchor_every_ms = 60000,
		.program = "edcsync test", .create = create, .now_ms = T0};
	struct store *store = NULL;

	store_sqlite_open(&o, &store, error);
	return store;
}

static struct store *world_store_open(void *ctx, struct buf *error)
{
	(void)ctx;
	t.opened++;
	return store_new(false, error);
}

static void world_store_close(void *ctx, struct store *store)
{
	(void)ctx;
	t.closed++;
	if (store->tx != TX_IDLE)
		store->ops->rollback(store);
	store_close(store);
}

static void world_nudge(void *ctx)
{
	(void)ctx;
	t.nudged++;
}

static void store_make(void)
{
	struct buf error = BUF_INIT;
	struct store *store = store_new(true, &error);

	assert_non_null(store);
	store_close(store);
	buf_release(&error);
}

static int folder_make(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	snprintf(t.dir, sizeof(t.dir), "/tmp/edcsync-lanes-XXXXXX");
	assert_non_null(mkdtemp(t.dir));
	snprintf(t.db, sizeof(t.db), "%s/s.db", t.dir);
	snprintf(t.key, sizeof(t.key), "%s/audit.key", t.dir);
	snprintf(t.anchors, sizeof(t.anchors), "%s/anchors.log", t.dir);
	t.world = (struct ui_world){.store_path = t.db, .now_ms = world_now,
		.utc_offset_min = world_offset,
		.store_open = world_store_open,
		.store_close = world_store_close, .nudge = world_nudge,
		.stop_fd = -1};
	return 0;
}

static void lanes_make(void)
{
	struct buf error = BUF_INIT;

	t.work = work_start(&t.world, &error);
	assert_non_null(t.work);
	buf_release(&error);
}

static int set_up(void **state)
{
	folder_make(state);
	store_make();
	lanes_make();
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"s.db", "s.db-wal", "s.db-shm",
		"s.db-turn", "s.db-engine", "audit.key", "audit.key.pub",
		"anchors.log"};
	char path[128];

	(void)state;
	work_stop(t.work);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", t.dir, names[i]);
		unlink(path);
	}
	return rmdir(t.dir);
}

/* A question runs in its lane with a view, and comes back here. */
static void test_answer(void **state)
{
	struct met m[LANE_COUNT];

	(void)state;
	for (int i = 0; i < LANE_COUNT; i++)
		ask(probe_new(&m[i], (enum work_lane)i, 1));
	settle(LANE_COUNT);
	for (int i = 0; i < LANE_COUNT; i++) {
		check_row(m[i].ran && m[i].view && m[i].done, "lane %d", i);
		assert_ptr_equal(m[i].owner, &t.owner);
		assert_int_equal(m[i].rc, ST_OK);
	}
	assert_false(work_busy(t.work, &t.owner, 1));
}

/* Signals stay with the main thread; a fault of a lane's own does not. */
static void test_signals(void **state)
{
	struct met m;

	(void)state;
	ask(probe_new(&m, LANE_READ, 1));
	settle(1);
	assert_true(m.blocked);
	assert_true(m.faults_open);
}

/* A newer question takes the place of one that waits, and of no other. */
static void test_replaces_waiting(void **state)
{
	struct met holder, old, other_topic, other_owner, new;
	struct probe *p = probe_new(&holder, LANE_READ, 0);
	sem_t go;

	(void)state;
	sem_init(&go, 0, 0);
	p->go = &go;
	ask(p);
	ask(probe_new(&old, LANE_READ, 1));
	ask(probe_new(&other_topic, LANE_READ, 2));
	p = probe_new(&other_owner, LANE_READ, 1);
	p->job.owner = &t.other;
	ask(p);
	ask(probe_new(&new, LANE_READ, 1));
	assert_true(work_busy(t.work, &t.owner, 1));
	assert_true(work_asking(t.work));
	assert_false(work_acting(t.work));
	sem_post(&go);
	settle(5);
	assert_false(old.ran || old.done);
	assert_true(holder.done && other_topic.done && other_owner.done);
	assert_true(new.done);
	assert_false(work_asking(t.work));
	sem_destroy(&go);
}

/* A newer question ends one that runs; its answer goes nowhere. */
static void test_interrupts_running(void **state)
{
	struct met old, new;
	struct probe *p;
	sem_t begun;

	(void)state;
	sem_init(&begun, 0, 0);
	for (int i = LANE_READ; i <= LANE_SLOW; i++) {
		p = probe_new(&old, (enum work_lane)i, 1);
		p->begun = &begun;
		p->loops = true;
		ask(p);
		sem_wait(&begun);
		ask(probe_new(&new, (enum work_lane)i, 1));
		settle(2 * (i + 1));
		check_row(old.rc == ST_INTERRUPTED && !old.done, "lane %d", i);
		check_row(new.rc == ST_OK && new.done, "lane %d", i);
	}
	sem_destroy(&begun);
}

/* An owner that goes away hears nothing any more. */
static void test_cancel(void **state)
{
	struct met running, waiting, over, other;
	struct probe *p = probe_new(&running, LANE_SLOW, 1);
	sem_t begun;

	(void)state;
	sem_init(&begun, 0, 0);
	ask(probe_new(&over, LANE_READ, 3));
	p->begun = &begun;
	p->loops = true;
	ask(p);
	sem_wait(&begun);
	ask(probe_new(&waiting, LANE_SLOW, 2));
	p = probe_new(&other, LANE_SLOW, 1);
	p->job.owner = &t.other;
	ask(p);
	work_cancel(t.work, &t.owner);
	assert_false(work_busy(t.work, &t.owner, 1));
	settle(4);
	assert_false(running.done || waiting.done || over.done);
	assert_false(waiting.ran);
	assert_true(other.done);
	sem_destroy(&begun);
}

/* Acts run in order, on one write side that is open no longer than there is
 * something to do; the engine is told after each. */
static void test_acts(void **state)
{
	struct met m[4];
	sem_t go;

	(void)state;
	sem_init(&go, 0, 0);
	for (int i = 0; i < 4; i++) {
		struct probe *p = probe_new(&m[i], LANE_ACT, 1);

		p->uses_store = true;
		p->letter = (char)('a' + i);
		p->go = i ? NULL : &go;
		ask(p);
	}
	assert_true(work_acting(t.work));
	sem_post(&go);
	settle(4);
	assert_string_equal(t.order, "abcd");
	for (int i = 0; i < 4; i++)
		check_row(m[i].store && m[i].done, "act %d", i);
	assert_int_equal(t.opened, 1);
	assert_int_equal(t.nudged, 4);
	/* Stopping waits for the lane, which closes before it ends. */
	work_stop(t.work);
	assert_int_equal(t.closed, 1);
	lanes_make();
	sem_destroy(&go);
}

/* An act whose owner left is done all the same. */
static void test_act_without_owner(void **state)
{
	struct met running, waiting;
	struct probe *p = probe_new(&running, LANE_ACT, 1);
	sem_t begun, go;

	(void)state;
	sem_init(&begun, 0, 0);
	sem_init(&go, 0, 0);
	p->begun = &begun;
	p->go = &go;
	p->uses_store = true;
	p->letter = 'a';
	ask(p);
	sem_wait(&begun);
	p = probe_new(&waiting, LANE_ACT, 1);
	p->uses_store = true;
	p->letter = 'b';
	ask(p);
	work_cancel(t.work, &t.owner);
	sem_post(&go);
	settle(2);
	assert_string_equal(t.order, "ab");
	assert_int_equal(running.rc, ST_OK);
	assert_false(running.done || waiting.done);
	sem_destroy(&begun);
	sem_destroy(&go);
}

/* A transaction that an act left open is not met by the next one. */
static void test_act_left_open(void **state)
{
	struct met bad, good;
	struct probe *p = probe_new(&bad, LANE_ACT, 1);

	(void)state;
	p->uses_store = p->leaves_open = true;
	p->letter = 'a';
	ask(p);
	settle(1);
	p = probe_new(&good, LANE_ACT, 1);
	p->uses_store = p->leaves_open = true;
	p->letter = 'b';
	ask(p);
	settle(2);
	assert_int_equal(good.rc, ST_OK);
	assert_int_equal(t.opened, 2);
}

/* The end: questions are dropped or interrupted, acts are still done. */
static void test_stop(void **state)
{
	struct met running, waiting, act;
	struct probe *p = probe_new(&running, LANE_READ, 1);
	sem_t begun;

	(void)state;
	sem_init(&begun, 0, 0);
	p->begun = &begun;
	p->loops = true;
	ask(p);
	sem_wait(&begun);
	ask(probe_new(&waiting, LANE_READ, 2));
	p = probe_new(&act, LANE_ACT, 1);
	p->uses_store = true;
	p->letter = 'a';
	ask(p);
	work_stop(t.work);
	t.work = NULL;
	assert_int_equal(t.dropped, 3);
	assert_int_equal(running.rc, ST_INTERRUPTED);
	assert_false(waiting.ran);
	assert_true(act.store);
	assert_false(running.done || waiting.done || act.done);
	assert_int_equal(t.opened, t.closed);
	sem_destroy(&begun);
}

/* No store yet: a sentence. Then there is one. */
static void test_view_comes_later(void **state)
{
	struct met m;

	(void)state;
	lanes_make();
	ask(probe_new(&m, LANE_READ, 1));
	settle(1);
	assert_true(m.ran && !m.view && m.done);
	assert_true(m.error[0]);
	store_make();
	ask(probe_new(&m, LANE_READ, 1));
	settle(2);
	assert_true(m.view);
	assert_int_equal(m.rc, ST_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		T(test_answer), T(test_signals), T(test_replaces_waiting),
		T(test_interrupts_running), T(test_cancel), T(test_acts),
		T(test_act_without_owner), T(test_act_left_open),
		T(test_stop),
		cmocka_unit_test_setup_teardown(test_view_comes_later,
						folder_make, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
