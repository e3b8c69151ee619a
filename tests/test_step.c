/*
 * test_step.c - the engine's step under virtual time: DESIGN.md section 15,
 * and the rules of one endpoint against a vendor that follows a script.
 *
 * EDCSYNC_SEEDS=N runs N seeds (default 200), EDCSYNC_SEED=S one of them; a
 * failure prints its seed. EDCSYNC_SIM_SHOW=1 tells what happened.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step_sim.h"

#define SEEDS 200

static void one_seed(uint64_t seed)
{
	struct sim *s = xcalloc(1, sizeof(*s));

	sim_open(s, seed, true);
	sim_run(s, 60000);
	sim_finish(s);
	sim_check(s);
	sim_close(s);
	free(s);
}

static void nothing_lost_nothing_twice(void **state)
{
	const char *only = getenv("EDCSYNC_SEED");
	const char *many = getenv("EDCSYNC_SEEDS");
	uint64_t n = many ? strtoull(many, NULL, 10) : SEEDS;

	(void)state;
	if (only) {
		one_seed(strtoull(only, NULL, 10));
		return;
	}
	for (uint64_t seed = 1; seed <= n; seed++)
		one_seed(seed);
}

/* ---- scripts ------------------------------------------------------------ */

static struct sim *scene(void (*script)(struct sim *, struct sim_request *))
{
	struct sim *s = xcalloc(1, sizeof(*s));

	sim_open(s, 1, false);
	s->script = script;
	return s;
}

static void leave(struct sim *s)
{
	sim_close(s);
	free(s);
}

static void go(struct sim *s, int64_t for_ms)
{
	int64_t until = s->now.utc_ms + for_ms;

	while (s->now.utc_ms < until)
		sim_turn(s);
}

static enum halt_reason halt_of(struct sim *s, size_t place)
{
	return engine_state(s->world, place)->halt;
}

static void look(struct sim *s, const char *op_id, struct op *op)
{
	op_init(op);
	assert_int_equal(s->store->ops->begin(s->store, DURABLE), ST_OK);
	assert_int_equal(s->store->ops->op_find(s->store, op_id, op), ST_OK);
	s->store->ops->rollback(s->store);
}

static enum op_state state_of(struct sim *s, const char *op_id)
{
	enum op_state state;
	struct op op;

	look(s, op_id, &op);
	state = op.state;
	op_release(&op);
	return state;
}

static int in_state(struct sim *s, enum op_state state)
{
	int64_t n = 0;

	assert_int_equal(s->store->ops->begin(s->store, DURABLE), ST_OK);
	assert_int_equal(s->store->ops->count(s->store, 0, state, &n), ST_OK);
	s->store->ops->rollback(s->store);
	return (int)n;
}

static void answer(struct sim_request *r, int status)
{
	r->status = status;
	r->transport = TRANSPORT_OK;
	r->left = true;
	r->commits = r->queues = false;
}

/* ---- credentials -------------------------------------------------------- */

/* B040: many 401 at once, one refresh, and everybody goes on. */
static void one_refresh_for_all(void **state)
{
	struct sim *s = scene(NULL);

	(void)state;
	for (int i = 0; i < 12; i++)
		sim_add(s, SIM_KEY, i * 2, 1);
	while (s->asked[SIM_SEND] < 4)
		sim_turn(s);
	assert_int_equal(s->asked[SIM_TOKEN], 1);
	s->token_good++;		/* revoked, nobody was told */
	go(s, 15000);
	assert_int_equal(s->asked[SIM_TOKEN], 2);
	assert_int_equal(in_state(s, OP_COMMITTED), 12);
	assert_int_equal(halt_of(s, SIM_KEY), HALT_NONE);
	leave(s);
}

/* Renewed before it expires: nobody is ever answered 401. */
static void tokens_are_renewed_ahead(void **state)
{
	struct sim *s = scene(NULL);

	(void)state;
	for (int i = 0; i < 30; i++) {
		sim_add(s, SIM_KEY, i * 2, 1);
		go(s, 2000);
	}
	assert_int_equal(in_state(s, OP_COMMITTED), 30);
	assert_int_equal(s->asked[SIM_SEND], 30);
	assert_true(s->asked[SIM_TOKEN] >= 3);
	assert_true(s->asked[SIM_TOKEN] <= 7);
	leave(s);
}

static void always_401(struct sim *s, struct sim_request *r)
{
	(void)s;
	if (r->kind == SIM_SEND)
		answer(r, 401);
}

static void first_is_401(struct sim *s, struct sim_request *r)
{
	if (r->kind == SIM_SEND && r->op == 0)
		answer(r, 401);
	(void)s;
}

/* B043: at most one refresh and two sends, then the endpoint halts and its
 * work stays. Released, the culprit goes last and is refused alone. */
static void fresh_token_refused_halts(void **state)
{
	struct sim *s = scene(always_401);
	struct op op;

	(void)state;
	sim_add(s, SIM_KEY, 0, 1);
	go(s, 10000);
	assert_int_equal(halt_of(s, SIM_KEY), HALT_FRESH_TOKEN);
	assert_int_equal(s->asked[SIM_SEND], 2);
	assert_int_equal(s->asked[SIM_TOKEN], 2);
	assert_int_equal(in_state(s, OP_REJECTED), 0);
	look(s, "key-0-1", &op);
	assert_int_equal(op.attempts, 0);
	op_release(&op);

	for (int i = 1; i < 6; i++)
		sim_add(s, SIM_KEY, i * 2, 1);
	go(s, 3000);
	assert_int_equal(s->asked[SIM_SEND], 2);	/* it stands still */
	s->script = first_is_401;
	sim_control(s, SIM_KEY, false, true);
	go(s, 20000);
	assert_int_equal(halt_of(s, SIM_KEY), HALT_NONE);
	assert_int_equal(in_state(s, OP_COMMITTED), 5);
	look(s, "key-0-1", &op);
	assert_int_equal(op.state, OP_REJECTED);
	assert_int_equal(op.reason, REASON_UNAUTHORISED);
	op_release(&op);
	leave(s);
}

/* B043: whoever meets it first; not each operation burns a refresh. */
static void a_token_that_serves_nobody_halts(void **state)
{
	struct sim *s = scene(always_401);

	(void)state;
	for (int i = 0; i < 12; i++)
		sim_add(s, SIM_KEY, i * 2, 1);
	go(s, 10000);
	assert_int_equal(halt_of(s, SIM_KEY), HALT_FRESH_TOKEN);
	assert_int_equal(s->asked[SIM_TOKEN], 2);
	assert_true(s->asked[SIM_SEND] <= 2 * 4);	/* in flight, twice */
	assert_int_equal(in_state(s, OP_REJECTED), 0);
	leave(s);
}

static void token_down(struct sim *s, struct sim_request *r)
{
	if (r->kind == SIM_TOKEN && s->asked[SIM_TOKEN] <= 3)
		answer(r, 503);
}

/* B044: trouble at the token endpoint is trouble, not a refusal. */
static void token_trouble_backs_off(void **state)
{
	struct sim *s = scene(token_down);
	struct op op;

	(void)state;
	sim_add(s, SIM_KEY, 0, 1);
	go(s, 60000);
	assert_int_equal(halt_of(s, SIM_KEY), HALT_NONE);
	assert_int_equal(s->asked[SIM_SEND], 1);
	assert_true(s->asked[SIM_TOKEN] >= 4);
	look(s, "key-0-1", &op);
	assert_int_equal(op.state, OP_COMMITTED);
	assert_int_equal(op.attempts, 1);
	op_release(&op);
	leave(s);
}

static void client_refused(struct sim *s, struct sim_request *r)
{
	(void)s;
	if (r->kind != SIM_TOKEN)
		return;
	answer(r, 401);
	r->body = "{\"error\":\"invalid_client\"}";
}

static void refused_client_halts_and_keeps_the_work(void **state)
{
	struct sim *s = scene(client_refused);

	(void)state;
	sim_add(s, SIM_KEY, 0, 1);
	sim_add(s, SIM_KEY, 2, 1);
	go(s, 60000);
	assert_int_equal(halt_of(s, SIM_KEY), HALT_CREDENTIALS);
	assert_int_equal(s->asked[SIM_TOKEN], 1);
	assert_int_equal(s->asked[SIM_SEND], 0);
	assert_int_equal(in_state(s, OP_QUEUED), 2);
	s->script = NULL;		/* the new secret is in its file */
	sim_control(s, SIM_KEY, false, true);
	go(s, 20000);
	assert_int_equal(in_state(s, OP_COMMITTED), 2);
	leave(s);
}

/* ---- halts -------------------------------------------------------------- */

static void forbidden(struct sim *s, struct sim_request *r)
{
	(void)s;
	if (r->kind == SIM_SEND)
		answer(r, 403);
}

static void twenty_forbidden_in_a_row_halt(void **state)
{
	struct sim *s = scene(forbidden);

	(void)state;
	for (int i = 0; i < 30; i++)
		sim_add(s, SIM_NONE, i * 2, 1);
	go(s, 60000);
	assert_int_equal(halt_of(s, SIM_NONE), HALT_UNAUTHORISED_RUN);
	assert_true(in_state(s, OP_REJECTED) >= CAP_UNAUTHORISED_OPS - 1);
	assert_true(in_state(s, OP_QUEUED) >= 30 - CAP_UNAUTHORISED_OPS - 4);
	leave(s);
}

static void odd(struct sim *s, struct sim_request *r)
{
	(void)s;
	answer(r, r->kind == SIM_SEND ? 299 : r->status);
	r->body = r->kind == SIM_SEND ? "{\"mood\":\"strange\"}" : r->body;
}

/* By no rule at all, and by one that takes what is left. Five failures in a
 * row open the circuit, too; the halt is told, once, however long. */
static void five_odd_answers_halt(void **state)
{
	(void)state;
	for (size_t place = SIM_KEY; place <= SIM_NONE; place += SIM_NONE) {
		struct sim *s = scene(odd);

		for (int i = 0; i < 10; i++)
			sim_add(s, place, i * 2, 1);
		go(s, 60000);
		assert_int_equal(halt_of(s, place), HALT_ODD_ANSWERS);
		assert_int_equal(s->urgent, 1);
		assert_true(s->asked[SIM_SEND] <= CAP_ODD_ANSWERS + 4);
		leave(s);
	}
}

static void long_wait(struct sim *s, struct sim_request *r)
{
	if (r->kind == SIM_SEND && s->asked[SIM_SEND] == 1) {
		answer(r, 429);
		r->retry_after_s = 2 * 86400;
	}
}

static void wait_for_nothing(struct sim *s, struct sim_request *r)
{
	(void)s;
	if (r->kind == SIM_SEND) {
		answer(r, 429);
		r->retry_after_s = 0;
	}
}

/* "Retry-After: 0" with a 429 is nonsense: our own backoff, never under one
 * second, and longer the more often it is said. */
static void a_wait_of_nothing_is_backoff(void **state)
{
	struct sim *s = scene(wait_for_nothing);
	int64_t until = 0, wait, least = INT64_MAX, most = 0;

	(void)state;
	sim_add(s, SIM_NATURAL, 0, 1);
	while (s->asked[SIM_SEND] < 12) {
		int64_t paced;

		sim_turn(s);
		paced = engine_state(s->world, SIM_NATURAL)
			->gate.paced_until_ms;
		if (paced == until)
			continue;
		until = paced;
		wait = until - s->now.utc_ms;
		least = wait < least ? wait : least;
		most = wait > most ? wait : most;
	}
	assert_int_equal(least, 1000);
	assert_true(most > 2000 && most <= 5000);
	leave(s);
}

static void very_long_waits_halt_until_then(void **state)
{
	struct sim *s = scene(long_wait);
	int64_t began = s->now.utc_ms;

	(void)state;
	sim_add(s, SIM_NONE, 0, 1);
	go(s, 20000);
	assert_int_equal(halt_of(s, SIM_NONE), HALT_VENDOR_WAIT);
	assert_int_equal(s->alerts, 1);
	assert_int_equal(s->urgent, 0);
	assert_true(engine_state(s->world, SIM_NONE)->halt_until_ms >=
		    began + 2 * INT64_C(86400000));
	assert_int_equal(s->asked[SIM_SEND], 1);
	/* A person may end it. The operation's own wait stays. */
	sim_control(s, SIM_NONE, false, true);
	go(s, 5000);
	assert_int_equal(halt_of(s, SIM_NONE), HALT_NONE);
	leave(s);
}

/* ---- look-ups ----------------------------------------------------------- */

static void on_page_two(struct sim *s, struct sim_request *r)
{
	if (r->kind == SIM_SEND) {
		r->transport = TRANSPORT_RESET;
		r->status = 0;		/* it commits and says nothing */
	}
	if (r->kind == SIM_LOOK && s->asked[SIM_LOOK] == 1)
		r->body = "{\"items\":[],\"next\":\"https://sim.example/api"
			  "/records?op_id=lookup-0-1&page=2\"}";
}

static void a_look_up_reads_every_page(void **state)
{
	struct sim *s = scene(on_page_two);
	struct op op;

	(void)state;
	sim_add(s, SIM_LOOKUP, 0, 1);
	go(s, 20000);
	look(s, "lookup-0-1", &op);
	assert_int_equal(op.state, OP_COMMITTED);
	assert_int_equal(op.evidence, EVIDENCE_LOOK_UP);
	assert_int_equal(op.tries, 2);	/* pages are one attempt */
	op_release(&op);
	assert_int_equal(s->asked[SIM_LOOK], 2);
	assert_int_equal(s->asked[SIM_SEND], 1);
	assert_true(engine_state(s->world, SIM_LOOKUP)->control_found);
	leave(s);
}

static void second_page_fails(struct sim *s, struct sim_request *r)
{
	on_page_two(s, r);
	if (r->kind == SIM_SEND)
		r->commits = false;
	if (r->kind == SIM_LOOK && s->asked[SIM_LOOK] % 2 == 1)
		r->body = "{\"items\":[],\"next\":\"https://sim.example/api"
			  "/records?op_id=lookup-0-1&page=2\"}";
	if (r->kind == SIM_LOOK && s->asked[SIM_LOOK] % 2 == 0) {
		answer(r, 200);
		r->body = "{\"oops\":1}";
	}
}

/* A part never proves absence: nothing is sent again for it. */
static void half_a_look_up_rules_nothing_out(void **state)
{
	struct sim *s = scene(second_page_fails);
	struct op op;

	(void)state;
	sim_add(s, SIM_LOOKUP, 0, 1);
	go(s, 120000);
	look(s, "lookup-0-1", &op);
	assert_int_equal(op.state, OP_DEAD);
	assert_int_equal(op.reason, REASON_LOOK_UP_CAP);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
	assert_int_equal(s->asked[SIM_SEND], 1);
	leave(s);
}

/* The first page says that none is left for a while. */
static void page_two_waits(struct sim *s, struct sim_request *r)
{
	on_page_two(s, r);
	if (r->kind == SIM_LOOK && s->asked[SIM_LOOK] == 1)
		r->window_s = s->left_out;
}

/* A page is a request like any other: the vendor of the simulation insists
 * that none comes too early. */
static void a_page_waits_for_the_pace(void **state)
{
	struct sim *s = scene(page_two_waits);
	int64_t asked = 0, began = 0;
	struct op op;

	(void)state;
	s->left_out = 20;
	sim_add(s, SIM_LOOKUP, 0, 1);
	for (int i = 0; i < 100000 && s->asked[SIM_LOOK] < 2; i++) {
		sim_turn(s);
		if (!began && s->asked[SIM_LOOK] == 1)
			began = s->now.utc_ms;
		asked = s->now.utc_ms;
	}
	assert_in_range(asked - began, 20000, 23000);
	go(s, 2000);
	look(s, "lookup-0-1", &op);
	assert_int_equal(op.state, OP_COMMITTED);
	assert_int_equal(op.tries, 2);	/* one look-up, waiting or not */
	op_release(&op);
	assert_int_equal(s->asked[SIM_SEND], 1);
	leave(s);
}

/* Nobody holds an operation for hours between two pages; nor does a stop. */
static void a_page_that_waits_is_given_up(void **state)
{
	struct sim *s = scene(page_two_waits);
	struct op op;

	(void)state;
	s->left_out = 90;
	sim_add(s, SIM_LOOKUP, 0, 1);
	go(s, 20000);
	look(s, "lookup-0-1", &op);
	assert_int_equal(op.state, OP_WAITING);
	assert_int_equal(op.next, NEXT_LOOK_UP);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
	go(s, 120000);			/* anew, when the pace allows */
	look(s, "lookup-0-1", &op);
	assert_int_equal(op.state, OP_COMMITTED);
	op_release(&op);
	leave(s);

	s = scene(page_two_waits);
	s->left_out = 30;
	sim_add(s, SIM_LOOKUP, 0, 1);
	while (s->asked[SIM_LOOK] < 1 || engine_on_wire(s->world) != 1)
		sim_turn(s);
	go(s, 5000);
	assert_int_equal(engine_on_wire(s->world), 1);
	sim_event(s, (struct event){.kind = EVENT_STOP});
	go(s, 100);
	assert_int_equal(engine_in_flight(s->world), 0);
	assert_int_equal(s->asked[SIM_LOOK], 1);
	leave(s);
}

/* ---- pause, circuit, clock, stop ---------------------------------------- */

static void a_pause_binds_and_ends(void **state)
{
	struct sim *s = scene(NULL);

	(void)state;
	sim_control(s, SIM_NATURAL, true, false);
	go(s, 1500);
	for (int i = 0; i < 4; i++)
		sim_add(s, SIM_NATURAL, i * 2, 1);
	go(s, 20000);
	assert_int_equal(s->asked[SIM_SEND], 0);
	assert_int_equal(in_state(s, OP_QUEUED), 4);
	sim_control(s, SIM_NATURAL, false, true);
	go(s, 5000);
	assert_int_equal(in_state(s, OP_COMMITTED), 4);
	leave(s);
}

static void down(struct sim *s, struct sim_request *r)
{
	if (s->left_out)
		return;
	r->transport = TRANSPORT_REFUSED;
	r->status = 0;
	r->left = r->commits = false;
	r->act_ms = 0;
}

/* B027: an outage costs no attempts while the circuit is open, and nothing
 * ends in the dead letters for it. Probes are reads where there are any. */
static void an_outage_burns_no_attempts(void **state)
{
	struct sim *s = scene(down);
	int sends;

	(void)state;
	for (int i = 0; i < 20; i++)
		sim_add(s, SIM_NATURAL, i * 2, 1);
	go(s, 20000);
	assert_int_equal(engine_state(s->world, SIM_NATURAL)->circuit.state,
			 CIRCUIT_OPEN);
	sends = s->asked[SIM_SEND];
	go(s, 600000);
	assert_int_equal(s->alerts, 0);
	go(s, 300000);
	assert_int_equal(s->alerts, 1);	/* down for 15 minutes: once */
	assert_int_equal(s->urgent, 0);
	go(s, 300000);
	assert_int_equal(s->alerts, 1);
	assert_int_equal(s->asked[SIM_SEND], sends);
	assert_true(s->asked[SIM_HEALTH] > 5);
	assert_int_equal(in_state(s, OP_DEAD), 0);
	s->left_out = 1;
	go(s, 60000);
	assert_int_equal(in_state(s, OP_COMMITTED), 20);
	leave(s);
}

/* Without a read to probe by, one operation is the probe. */
static void without_reads_one_operation_probes(void **state)
{
	struct sim *s = scene(down);
	int sends;

	(void)state;
	for (int i = 0; i < 8; i++)
		sim_add(s, SIM_NONE, i * 2, 1);
	go(s, 20000);
	sends = s->asked[SIM_SEND];
	go(s, 100000);
	assert_true(s->asked[SIM_SEND] > sends);
	assert_true(s->asked[SIM_SEND] <= sends + 12);
	assert_int_equal(in_state(s, OP_DEAD), 0);
	s->left_out = 1;
	go(s, 60000);
	assert_int_equal(in_state(s, OP_COMMITTED), 8);
	leave(s);
}

/* Look-ups tell nothing, so that the first one becomes a dead letter of
 * unknown outcome; then an outage; then all is well. */
static void blind_then_down(struct sim *s, struct sim_request *r)
{
	if (s->left_out == 0 && r->kind == SIM_SEND && r->op == 0) {
		r->transport = TRANSPORT_RESET;
		r->status = 0;
	}
	if (s->left_out == 0 && r->kind == SIM_LOOK) {
		answer(r, 200);
		r->body = "[1, 2]";
	}
	if (s->left_out == 1)
		down(&(struct sim){.left_out = 0}, r);
}

/* DESIGN.md section 5: when a circuit closes, every dead letter of unknown
 * outcome is looked up once by itself. */
static void a_closed_circuit_has_dead_letters_looked_up(void **state)
{
	struct sim *s = scene(blind_then_down);
	struct op op;

	(void)state;
	sim_add(s, SIM_LOOKUP, 0, 1);
	go(s, 60000);
	look(s, "lookup-0-1", &op);
	assert_int_equal(op.state, OP_DEAD);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
	s->left_out = 1;
	for (int i = 1; i < 100; i++)
		sim_add(s, SIM_LOOKUP, i * 2 % 127, 1);
	go(s, 20000);
	assert_int_equal(engine_state(s->world, SIM_LOOKUP)->circuit.state,
			 CIRCUIT_OPEN);
	s->left_out = 2;
	go(s, 90000);
	assert_int_equal(engine_state(s->world, SIM_LOOKUP)->circuit.state,
			 CIRCUIT_CLOSED);
	look(s, "lookup-0-1", &op);
	assert_int_equal(op.state, OP_COMMITTED);
	assert_int_equal(op.evidence, EVIDENCE_LOOK_UP);
	op_release(&op);
	leave(s);
}

static void wait_ten(struct sim *s, struct sim_request *r)
{
	if (r->kind == SIM_SEND && s->asked[SIM_SEND] == 1) {
		answer(r, 429);
		r->retry_after_s = 10;
	}
}

/* The clock jumps ahead by an hour: the wait takes as long as it had to. */
static void a_clock_step_shortens_no_wait(void **state)
{
	struct sim *s = scene(wait_ten);
	const int64_t hour = 3600000;
	int64_t told;

	(void)state;
	sim_add(s, SIM_NATURAL, 0, 1);
	while (!engine_state(s->world, SIM_NATURAL)->gate.paced_until_ms)
		sim_turn(s);
	go(s, 1000);
	told = s->not_before_ms[SIM_NATURAL];
	s->now.utc_ms += hour;
	s->not_before_ms[SIM_NATURAL] = told + hour;
	s->filling->clock_delta_ms = hour;
	sim_event(s, (struct event){.kind = EVENT_CLOCK, .delta_ms = hour});
	go(s, 5000);
	assert_int_equal(s->asked[SIM_SEND], 1);
	go(s, 10000);
	assert_int_equal(state_of(s, "natural-0-1"), OP_COMMITTED);
	leave(s);
}

static void count_and_wait_ten(struct sim *s, struct sim_request *r)
{
	if (s->left_out++)
		return;
	answer(r, 429);
	r->retry_after_s = 10;
}

/* "Wait" is read while three others wait for their connections yet: nothing
 * of theirs leaves, and no attempt of theirs is used. */
static void a_wait_takes_back_what_has_not_left(void **state)
{
	struct sim *s = scene(count_and_wait_ten);
	struct op op;

	(void)state;
	s->connect_ms = 500;
	for (int i = 0; i < 4; i++)
		sim_add(s, SIM_NATURAL, i * 2, 1);
	while (engine_on_wire(s->world) < 4)
		sim_turn(s);
	go(s, 5000);
	assert_int_equal(s->left_out, 1);
	assert_int_equal(engine_in_flight(s->world), 0);
	assert_int_equal(in_state(s, OP_QUEUED), 3);
	look(s, "natural-2-1", &op);
	assert_int_equal(op.attempts, 0);
	op_release(&op);
	go(s, 20000);
	assert_int_equal(in_state(s, OP_COMMITTED), 4);
	leave(s);
}

static void never(struct sim *s, struct sim_request *r)
{
	(void)s;
	if (r->kind == SIM_SEND)
		r->answer_ms = INT64_MAX;
}

/* Unsent intents go back; what is cut is unknown, and nothing starts. */
static void stop_withdraws_and_cuts(void **state)
{
	struct sim *s = scene(never);

	(void)state;
	for (int i = 0; i < 20; i++)
		sim_add(s, SIM_NONE, i * 2, 1);
	go(s, 3000);
	assert_int_equal(s->asked[SIM_SEND], 4);
	assert_int_equal(engine_on_wire(s->world), 4);
	assert_true(engine_in_flight(s->world) > 4);
	sim_event(s, (struct event){.kind = EVENT_STOP});
	assert_int_equal(engine_in_flight(s->world), 4);
	go(s, 500);
	assert_int_equal(in_state(s, OP_QUEUED), 16);
	assert_int_equal(in_state(s, OP_SENDING), 4);
	sim_event(s, (struct event){.kind = EVENT_CUT});
	assert_int_equal(engine_in_flight(s->world), 0);
	go(s, 500);
	assert_int_equal(s->asked[SIM_SEND], 4);
	assert_int_equal(in_state(s, OP_SENDING), 0);
	/* Mode none: unknown means a person. */
	assert_int_equal(in_state(s, OP_DEAD), 4);
	leave(s);
}

/* More than may be on the wire is durable, so that it stays full while a batch
 * commits: four times as many where a rate allows it, twice without a rate
 * (lookup), where more cost throughput, and in mode none, where each costs a
 * person. */
static void intents_go_ahead_of_the_wire(void **state)
{
	static const struct {
		size_t place;
		int held;
	} row[] = {{SIM_NATURAL, 16}, {SIM_LOOKUP, 8}, {SIM_NONE, 8}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct sim *s = scene(never);

		for (int n = 0; n < 20; n++)
			sim_add(s, row[i].place, n * 2, 1);
		go(s, 1000);
		assert_int_equal(engine_on_wire(s->world), 4);
		assert_int_equal(engine_in_flight(s->world), row[i].held);
		leave(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_refresh_for_all),
		cmocka_unit_test(tokens_are_renewed_ahead),
		cmocka_unit_test(fresh_token_refused_halts),
		cmocka_unit_test(a_token_that_serves_nobody_halts),
		cmocka_unit_test(token_trouble_backs_off),
		cmocka_unit_test(refused_client_halts_and_keeps_the_work),
		cmocka_unit_test(twenty_forbidden_in_a_row_halt),
		cmocka_unit_test(five_odd_answers_halt),
		cmocka_unit_test(a_wait_of_nothing_is_backoff),
		cmocka_unit_test(very_long_waits_halt_until_then),
		cmocka_unit_test(a_look_up_reads_every_page),
		cmocka_unit_test(half_a_look_up_rules_nothing_out),
		cmocka_unit_test(a_page_waits_for_the_pace),
		cmocka_unit_test(a_page_that_waits_is_given_up),
		cmocka_unit_test(a_pause_binds_and_ends),
		cmocka_unit_test(an_outage_burns_no_attempts),
		cmocka_unit_test(without_reads_one_operation_probes),
		cmocka_unit_test(a_closed_circuit_has_dead_letters_looked_up),
		cmocka_unit_test(a_clock_step_shortens_no_wait),
		cmocka_unit_test(a_wait_takes_back_what_has_not_left),
		cmocka_unit_test(stop_withdraws_and_cuts),
		cmocka_unit_test(intents_go_ahead_of_the_wire),
		cmocka_unit_test(nothing_lost_nothing_twice),
	};

	return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
