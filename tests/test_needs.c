/* What needs a person, kind by kind: when it is told, in which words, and the
 * next step. Rows come about as in the program; the reader is view.h. */
#define _GNU_SOURCE
#include "room.h"

#include "core/circuit.h"
#include "store/lock.h"
#include "store/view.h"

#define MINUTE INT64_C(60000)

static struct room room;
static struct view *view;

static int teardown(void **state)
{
	(void)state;
	view_close(view);
	view = NULL;
	room_end(&room);
	return 0;
}

static void start(const char *extra)
{
	struct buf error = BUF_INIT;
	int rc;

	room_start(&room, false, PROFILE_LOOK, extra);
	view = view_open(room.db, &error, &rc);
	check_row(view != NULL, "%s", buf_text(&error));
	buf_release(&error);
}

/* The one need of a kind, or "" when there is none. */
struct seen {
	const char *kind;
	int64_t count, oldest_ms;
	char endpoint[32], words[300], next[300];
	int n;
};

static int see(void *ctx, const struct view_need *need)
{
	struct seen *s = ctx;

	if (strcmp(need->kind, s->kind))
		return 0;
	s->n++;
	s->count = need->count;
	s->oldest_ms = need->oldest_ms;
	text_set(s->endpoint, sizeof(s->endpoint),
		 span_of(need->endpoint ? need->endpoint : ""));
	text_set(s->words, sizeof(s->words), span_of(need->words));
	text_set(s->next, sizeof(s->next), span_of(need->next));
	return 0;
}

static struct seen need(const char *kind)
{
	struct seen s = {.kind = kind};

	assert_int_equal(view_needs(view, room.config, room.now, see, &s),
			 ST_OK);
	return s;
}

static void has(const char *text, const char *part)
{
	check_row(strstr(text, part), "'%s' is not in '%s'", part, text);
}

static void change(void (*how)(struct endpoint_state *))
{
	struct endpoint_state s = {0}, t;

	room_begin(&room);
	assert_int_equal(room.store->ops->state_get(room.store, room.endpoint,
						    &s), ST_OK);
	t = s;
	how(&t);
	assert_int_equal(work_state(room.store, &s, &t, room.now), ST_OK);
	room_commit(&room);
}

static void open_it(struct endpoint_state *s)
{
	s->circuit.state = CIRCUIT_OPEN;
	s->circuit.generation++;
	s->circuit.opened_ms = s->circuit.waited_at_ms = room.now;
}

static void close_it(struct endpoint_state *s)
{
	circuit_close(&s->circuit, room.now);
}

static void long_wait(struct endpoint_state *s)
{
	s->circuit.waited_ms += 60000;
}

/* Down for a moment is the engine's business; for 15 minutes somebody's. */
static void a_circuit_open_for_15_minutes(void **state)
{
	struct seen s;
	int64_t since;

	(void)state;
	start(",\"contact\":\"desk +49 1\"");
	since = room.now;
	change(open_it);
	room.now = since + 15 * MINUTE - 1;
	assert_int_equal(need("circuit").n, 0);
	room.now = since + 15 * MINUTE;
	s = need("circuit");
	assert_int_equal(s.n, 1);
	assert_int_equal(s.oldest_ms, since);
	assert_string_equal(s.endpoint, "edc");
	has(s.words, "down for more than 15 minutes");
	has(s.words, "desk +49 1");
	has(s.next, "edcsync probe edc");
	change(close_it);
	assert_int_equal(need("circuit").n, 0);
}

static int one_reason(void *ctx, const struct view_op *row)
{
	(void)ctx;
	assert_int_equal(row->op.reason, REASON_CIRCUIT_OPEN);
	assert_int_equal(row->op.state, OP_DEAD);
	return 0;
}

/* Waited too long for it: never sent, so a replay is the next step; the list
 * shows them by that reason. */
static void letters_of_an_open_circuit(void **state)
{
	struct credit credit = {.total = 0};
	struct view_page page = {.order = VIEW_OLDEST};
	struct filter_error error;
	struct filter *filter;
	struct seen s;

	(void)state;
	start(",\"circuit\":{\"open_wait_ms\":1000}");
	room_add(&room, "U1", "F1", 1);
	room_add(&room, "U2", "F1", 1);
	change(open_it);
	room.now += 5000;
	change(long_wait);
	credit.endpoint = room.endpoint;
	credit.config = room.ec;
	room_begin(&room);
	assert_int_equal(work_ends(room.store, &credit, 100, room.now), 2);
	room_commit(&room);
	s = need("dead");
	assert_int_equal(s.count, 2);
	has(s.next, "edcsync replay");
	has(s.next, "reason:circuit_open");
	filter = filter_parse(SPAN("reason:circuit_open"), room.now, 0,
			      &error);
	assert_non_null(filter);
	page.filter = filter;
	page.now_ms = room.now;
	assert_int_equal(view_ops(view, &page, one_reason, NULL), 2);
	filter_free(filter);
}

static int why_not(void *ctx, const struct view_op *row)
{
	(void)ctx;
	assert_string_equal(row->why, "endpoint not configured");
	return 0;
}

/* Its endpoint was taken out of the configuration: the work stays, says why,
 * is listed, and keeps no engine from being idle. */
static void work_of_an_endpoint_that_is_gone(void **state)
{
	static const char other[] = "{\"endpoints\":{\"new\":{\"profile\":"
		"\"test\",\"base_url\":\"http://127.0.0.1:1/api\"}}}";
	struct findings f = {0};
	struct config *config = config_parse(span_of(other), "e", &f);
	struct view_page page = {.order = VIEW_OLDEST, .config = config};
	struct seen s = {.kind = "not_configured"};
	int64_t due = 0;
	bool idle = false;

	(void)state;
	start("");
	room_findings(&f);
	assert_true(config_bind(config, 0, room.profile, &f));
	room_add(&room, "U1", "F1", 1);
	room_add(&room, "U2", "F1", 1);
	assert_int_equal(need("not_configured").n, 0);
	page.now_ms = room.now;
	assert_int_equal(view_needs(view, config, room.now, see, &s), ST_OK);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.count, 2);
	assert_string_equal(s.endpoint, "edc");
	has(s.words, "not configured");
	has(s.next, "endpoint:edc");
	assert_int_equal(view_ops(view, &page, why_not, NULL), 2);
	room_begin(&room);
	assert_int_equal(work_idle(room.store, config, room.now, &idle, &due),
			 ST_OK);
	room_commit(&room);
	assert_true(idle);
	assert_int_equal(room_state(&room, 1, NULL), OP_QUEUED);
	findings_release(&f);
	config_free(config);
}

/* A pause with an end needs nobody once it is over. */
static void a_pause_until(void **state)
{
	struct endpoint_control c = {.paused = true, .by = (char *)"jdoe",
		.reason = (char *)"vendor maintenance"};
	struct seen s;

	(void)state;
	start("");
	c.endpoint = room.endpoint;
	c.at_ms = room.now;
	c.until_ms = room.now + MINUTE;
	room_begin(&room);
	room.store->ops->control_put(room.store, &c);
	room_commit(&room);
	s = need("paused");
	assert_int_equal(s.n, 1);
	has(s.words, "paused by jdoe: vendor maintenance, until ");
	room.now += MINUTE;
	assert_int_equal(need("paused").n, 0);
}

static enum halt_reason halt_why;

static void halt_it(struct endpoint_state *s)
{
	s->halt = halt_why;
	s->halted_ms = room.now;
}

/* Every halt names the way out; the two that want more than a resume say
 * what. */
static void halts_name_the_way_out(void **state)
{
	(void)state;
	start("");
	for (int i = HALT_NONE + 1; i < HALT_REASON_COUNT; i++) {
		const char *kind = i == HALT_VENDOR_WAIT ? "vendor_wait"
							 : "halted";
		struct seen s;

		halt_why = (enum halt_reason)i;
		change(halt_it);
		s = need(kind);
		assert_int_equal(s.n, 1);
		has(s.words, halt_reason_words(halt_why));
		if (i == HALT_STORE_RESTORED)
			has(s.next, "edcsync audit declare-gap");
		else
			has(s.next, "edcsync resume edc --reason");
		assert_int_equal(!strstr(s.next, "--target same|other"),
				 i != HALT_TARGET_CHANGED);
	}
}

static bool idle(void)
{
	bool yes = false;
	int64_t due = 0;

	room_begin(&room);
	assert_int_equal(work_idle(room.store, room.config, room.now, &yes,
				   &due), ST_OK);
	room_commit(&room);
	return yes;
}

/* A halted endpoint is idle; one that a person has just resumed is not, even
 * before the engine looked: until-idle must not end in between. */
static void a_resume_not_yet_obeyed_is_work(void **state)
{
	struct endpoint_control c = {.resume_seq = 1};

	(void)state;
	start("");
	room_add(&room, "U1", "F1", 1);
	halt_why = HALT_TARGET_CHANGED;
	change(halt_it);
	assert_true(idle());
	c.endpoint = room.endpoint;
	room_begin(&room);
	room.store->ops->control_put(room.store, &c);
	room_commit(&room);
	assert_false(idle());
}

/* The circuit is open and nothing else is there to probe with: the look-up
 * that somebody asked for is the probe, or it would wait for ever. */
static void what_was_asked_is_the_probe(void **state)
{
	struct credit probe = {.total = 5, .probe = true};
	struct request_row ask = {.kind = "check", .by = "jdoe",
		.state = "asked"};
	struct intent *i;

	(void)state;
	start(",\"idempotency\":\"none\"");
	ask.op = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	assert_int_equal(room_state(&room, ask.op, NULL), OP_DEAD);
	change(open_it);
	assert_null(room_claim_with(&room, probe));
	ask.endpoint = room.endpoint;
	ask.asked_ms = room.now;
	room_begin(&room);
	room.store->ops->request_put(room.store, &ask);
	room_commit(&room);
	assert_null(room_claim(&room, 5));
	i = room_claim_with(&room, probe);
	assert_non_null(i);
	assert_true(i->probe && i->check_request == ask.id);
	assert_int_equal(i->kind, ATTEMPT_LOOK_UP);
	assert_int_equal(room_free(i), 1);
}

/* The store takes nothing: the engine's lock says it, and so does status. */
static void a_store_in_trouble(void **state)
{
	char holder[128];
	struct engine_lock *lock;
	struct seen s;

	(void)state;
	start("");
	lock = engine_lock_take(room.db, "run", holder);
	assert_non_null(lock);
	assert_int_equal(need("store_trouble").n, 0);
	assert_true(engine_lock_say(lock, ENGINE_TROUBLE));
	s = need("store_trouble");
	assert_int_equal(s.n, 1);
	has(s.words, "takes no writes");
	has(s.next, "disk");
	engine_lock_drop(lock);
	assert_int_equal(need("store_trouble").n, 0);
}

#define TEST(test) cmocka_unit_test_teardown(test, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_circuit_open_for_15_minutes),
		TEST(letters_of_an_open_circuit),
		TEST(work_of_an_endpoint_that_is_gone),
		TEST(a_pause_until),
		TEST(halts_name_the_way_out),
		TEST(a_resume_not_yet_obeyed_is_work),
		TEST(what_was_asked_is_the_probe),
		TEST(a_store_in_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
