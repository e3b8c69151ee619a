/*
 * Log-ins in the engine's step beside other processes: whose turn it is, how
 * long one waits, and what a token of somebody else's is worth
 * (engine/login_share.h does it, DESIGN.md section 4).
 */
#include "cred_scene.h"

static int64_t wake(void)
{
	return engine_wake_ms(s.world) - s.now.utc_ms;
}

static void shared(const char *token)
{
	s.others = SHARED;
	s.token = token;
	s.token_ms = -1;
}

/* What was granted is told, what was not ends the turn all the same. */
static void a_turn_ends_with_every_log_in(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	assert_true(s.turns == 1 && s.overs == 0);
	let_in("A");
	assert_int_equal(s.overs, 1);
	assert_string_equal(s.put, "A");
	answer(last(false), 200, OVER);
	assert_int_equal(s.refusals, 1);
	send(1);
	answer(last(true), 503, "");
	assert_true(s.turns == 2 && s.overs == 2 && !s.put[0]);
	pass(MINUTE);
	send(1);
	refuse("USER_LOCKED_OUT");
	assert_true(s.turns == 3 && s.overs == 3 && !s.put[0]);
	close_scene();

	open_scene(VAULT, SESSION);
	s.secret = "two\nlines";
	send(1);
	assert_int_equal(halted(), HALT_SECRET);
	assert_true(s.turns == 1 && s.overs == 1);
	close_scene();
}

/* It waits without I/O of its own, keeps what is durable, and asks again at
 * waits that grow. */
static void a_busy_turn_is_asked_for_again(void **state)
{
	int64_t before = 0;

	(void)state;
	open_scene(VAULT, SESSION);
	s.others = BUSY;
	for (int i = 1; i <= 8; i++)
		send(i);
	assert_int_equal(s.wanted, 1);
	for (int i = 2; i < 8; i++) {
		assert_true(wake() > 0 && wake() < 2000);
		pass(wake() - 1);
		assert_int_equal(s.wanted, i - 1);
		pass(1);
		assert_int_equal(s.wanted, i);
	}
	before = wake();
	assert_true(before >= 500);
	assert_int_equal(engine_in_flight(s.world), 8);
	s.others = NOBODY;
	pass(before);
	assert_true(s.turns == 1 && s.log_ins == 1);
	let_in("A");
	assert_int_equal(s.sends, 8);
	close_scene();
}

/* Whoever is frozen is passed over when no log-in takes as long. */
static void patience_has_an_end(void **state)
{
	int64_t began;

	(void)state;
	open_scene(VAULT, SESSION);
	began = s.now.utc_ms;
	s.others = BUSY;
	send(1);
	while (s.log_ins == 0) {
		assert_true(wake() > 0);
		pass(wake());
		assert_true(s.now.utc_ms - began < 60000);
	}
	assert_true(s.anyway && s.now.utc_ms - began >= 41000);
	assert_non_null(strstr(s.log, "not waiting any longer"));
	let_in("A");
	sent_under("A");
	close_scene();
}

static void who_waits_for_a_turn_can_stop(void **state)
{
	struct endpoint_control paused = {.endpoint = 1, .paused = true};

	(void)state;
	open_scene(VAULT, SESSION);
	s.others = BUSY;
	send(1);
	event((struct event){.kind = EVENT_CONTROL, .control = &paused});
	pass(MINUTE);
	assert_int_equal(s.wanted, 1);
	assert_true(s.withdrawn[1]);
	paused.paused = false;
	event((struct event){.kind = EVENT_CONTROL, .control = &paused});
	send(1);
	assert_int_equal(s.wanted, 2);
	event((struct event){.kind = EVENT_STOP});
	pass(MINUTE);
	assert_int_equal(s.wanted, 2);
	assert_int_equal(engine_in_flight(s.world), 0);
	close_scene();
}

static void a_shared_session_costs_no_request(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	shared("B");
	send(1);
	assert_true(s.log_ins == 0 && s.turns == 0 && s.overs == 0);
	sent_under("B");
	answer(last(false), 200, OVER);
	/* and so for the one after it */
	shared("C");
	send(1);
	sent_under("C");
	assert_int_equal(s.log_ins, 0);
	close_scene();
}

/* Its age counts: it is renewed as if it were ours. */
static void a_shared_token_is_as_old_as_it_is(void **state)
{
	(void)state;
	open_scene(VAULT, OAUTH);
	shared("B");
	s.token_ms = 3600000;
	s.token_age_ms = 3000000;
	send(1);
	sent_under("Bearer B");
	answer(last(false), 200, DONE);
	pass(239999);
	send(2);
	assert_int_equal(s.wanted, 1);
	pass(1);
	send(3);
	assert_int_equal(s.wanted, 2);
	close_scene();
}

/* A token that another process had for hours is not "just issued": refused,
 * it is replaced; only then a refusal halts. */
static void a_shared_token_that_is_over_halts_nothing(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	let_in("A");
	answer(last(false), 401, "{}");
	shared("B");
	send(1);
	sent_under("B");
	answer(last(false), 401, "{}");
	assert_int_equal(s.verdict[1], VERDICT_REFRESH);
	assert_int_equal(s.refusals, 2);
	s.others = NOBODY;
	send(1);
	let_in("C");
	answer(last(false), 401, "{}");
	assert_int_equal(halted(), HALT_FRESH_TOKEN);
	assert_int_equal(s.sends, 3);
	assert_int_equal(s.log_ins, 2);
	close_scene();
}

static void the_limit_of_all_is_waited_for(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	s.others = LATER;
	send(1);
	assert_true(s.withdrawn[1]);
	assert_int_equal(wake(), 5 * MINUTE);
	s.others = NOBODY;
	pass(5 * MINUTE - 1);
	send(1);
	assert_int_equal(s.wanted, 1);
	pass(1);
	send(1);
	let_in("A");
	sent_under("A");
	close_scene();
}

/* Ours are used up; a token of another process serves all the same. */
static void our_own_limit_bars_no_shared_token(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= 3; i++) {
		send(i);
		let_in("A");
		answer(last(false), 200, DONE);
		send(10);
		answer(last(false), 200, OVER);
	}
	shared("B");
	send(4);
	assert_int_equal(s.log_ins, 3);
	sent_under("B");
	answer(last(false), 200, OVER);
	s.others = NOBODY;
	send(4);
	pass(0);
	assert_int_equal(s.log_ins, 3);
	assert_int_equal(s.turns, s.overs);
	assert_true(s.withdrawn[4]);
	close_scene();
}

/* Idle with us: another process may have used it meanwhile. */
static void an_idle_session_is_asked_about(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	let_in("A");
	answer(last(false), 200, DONE);
	pass(19 * MINUTE);
	shared("A");
	send(2);
	assert_true(s.idle);
	sent_under("A");
	answer(last(false), 200, OVER);
	send(2);
	assert_false(s.idle);
	close_scene();
}

static void who_shares_nothing_asks_nobody(void **state)
{
	(void)state;
	open_scene(VAULT, ENDPOINT("vault", "{\"kind\": \"session_login\", "
		   "\"user\": \"u\", \"password_file\": \"f\", "
		   "\"share\": \"off\"}"));
	s.others = BUSY;
	send(1);
	let_in("A");
	sent_under("A");
	assert_true(s.wanted == 0 && s.overs == 0);
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_turn_ends_with_every_log_in),
		cmocka_unit_test(a_busy_turn_is_asked_for_again),
		cmocka_unit_test(patience_has_an_end),
		cmocka_unit_test(who_waits_for_a_turn_can_stop),
		cmocka_unit_test(a_shared_session_costs_no_request),
		cmocka_unit_test(a_shared_token_is_as_old_as_it_is),
		cmocka_unit_test(a_shared_token_that_is_over_halts_nothing),
		cmocka_unit_test(the_limit_of_all_is_waited_for),
		cmocka_unit_test(our_own_limit_bars_no_shared_token),
		cmocka_unit_test(an_idle_session_is_asked_about),
		cmocka_unit_test(who_shares_nothing_asks_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
