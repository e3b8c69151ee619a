/*
 * Credentials in the engine's step, without store or wire: single flight,
 * lifetimes, log-ins by the minute, and where a secret goes (DESIGN.md
 * section 4; field reports B040, B043, B044).
 */
#include "cred_scene.h"

/* ---- sessions ----------------------------------------------------------- */

/* B040, and a 200 that says that the session is over. */
static void sixty_four_expired_sessions_are_one_log_in(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= OPS; i++)
		send(i);
	assert_int_equal(s.log_ins, 1);
	assert_string_equal(s.left[0].body, "username=u&password=hush");
	assert_int_equal(s.sends, 0);
	let_in("A");
	assert_int_equal(s.sends, OPS);
	for (int i = 1; i <= OPS; i++) {
		assert_string_equal(s.left[i].session, "A");
		answer(i, 200, OVER);
		assert_int_equal(s.verdict[s.left[i].op], VERDICT_REFRESH);
	}
	for (int i = 1; i <= OPS; i++)
		send(i);
	assert_int_equal(s.log_ins, 2);
	let_in("B");
	assert_int_equal(s.sends, 2 * OPS);
	for (int i = OPS + 2; i < s.n; i++) {
		assert_string_equal(s.left[i].session, "B");
		answer(i, 200, DONE);
		assert_int_equal(s.verdict[s.left[i].op], VERDICT_COMMIT);
	}
	assert_int_equal(s.log_ins, 2);
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

/* Every answer brings the session that the next request has to carry; it is
 * the same log-in all the while. */
#define ROTATES VAULT_WITH(", \"renewed\": [{\"header\": \"X-Next\"}, " \
	"{\"json\": \"/next\"}]")

static void a_session_may_change_with_every_answer(void **state)
{
	(void)state;
	open_scene(ROTATES, SESSION);
	assert_int_equal(s.config->endpoint[0].max_in_flight, 1);
	assert_int_equal(s.config->endpoint[0].credential.share, SHARE_OFF);
	for (int i = 1; i <= 4; i++)
		send(i);
	let_in("A");
	assert_int_equal(s.sends, 1);		/* one after the other */
	sent_under("A");
	answer(last(false), 200, "{\"id\": \"1\", \"next\": \"B\"}");
	assert_int_equal(s.sends, 2);
	sent_under("B");
	answer(last(false), 422, "{\"error\": \"x\", \"next\": \"C\"}");
	sent_under("C");
	/* One that tells none, or nothing fit for a header. */
	answer(last(false), 200, "{\"id\": \"3\", \"next\": \"no good\"}");
	sent_under("C");
	assert_int_equal(s.log_ins, 1);
	/* It was lost: refused, and logged in anew; nobody is blamed. */
	answer(last(false), 401, "{\"next\": \"D\"}");
	assert_int_equal(s.verdict[4], VERDICT_REFRESH);
	send(4);
	assert_int_equal(s.log_ins, 2);
	let_in("E");
	sent_under("E");
	answer(last(false), 200, DONE);
	assert_int_equal(s.verdict[4], VERDICT_COMMIT);
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

/* News of an old session leave the new one alone. */
static void a_late_refusal_spoils_nothing(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	let_in("A");
	send(2);
	answer(1, 200, OVER);
	send(3);
	let_in("B");
	answer(2, 200, OVER);		/* op 2, still under A */
	send(4);
	assert_int_equal(s.log_ins, 2);
	sent_under("B");
	close_scene();
}

/* B043: one halt, and no operation more than twice. */
static void a_fresh_session_refused_halts(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= OPS; i++)
		send(i);
	let_in("A");
	for (int i = 1; i <= OPS; i++)
		answer(i, 401, "{}");
	for (int i = 1; i <= OPS; i++)
		send(i);
	let_in("B");
	for (int i = OPS + 2; i < 2 * OPS + 2; i++)
		answer(i, 401, "{}");
	assert_int_equal(halted(), HALT_FRESH_TOKEN);
	assert_int_equal(s.sends, 2 * OPS);
	assert_int_equal(s.log_ins, 2);
	for (int i = 1; i <= OPS; i++)
		assert_int_equal(s.verdict[i], VERDICT_HALT);
	send(1);
	assert_true(s.withdrawn[1]);
	close_scene();
}

/* Two of us under one name, and the vendor keeps one session: it ends before
 * all had their turn. That blames none of them. */
static void a_session_that_ends_early_rejects_nobody(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= 4; i++)
		send(i);
	for (int done = 0; done < 4; done++) {
		let_in("A");
		for (int i = done; i < 4; i++)
			answer(last(false), 200, i == done ? DONE : OVER);
		pass(MINUTE);
		for (int i = 1; i <= 4; i++) {
			if (s.verdict[i] != VERDICT_REFRESH)
				continue;
			s.verdict[i] = VERDICT_COUNT;
			send(i);
		}
	}
	for (int i = 1; i <= 4; i++)
		assert_int_equal(s.verdict[i], VERDICT_COMMIT);
	assert_int_equal(s.log_ins, 4);
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

static void idle_sessions_are_not_tried(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	let_in("A");
	answer(1, 200, DONE);
	pass(15 * MINUTE);
	send(2);			/* 15 of 20 minutes: still good */
	sent_under("A");
	answer(last(false), 200, DONE);
	pass(19 * MINUTE);		/* over, as near as makes no odds */
	send(3);
	assert_int_equal(s.log_ins, 2);
	assert_int_equal(s.sends, 2);
	let_in("B");
	sent_under("B");
	close_scene();
}

/* Ahead of its end, and work goes on meanwhile; trouble changes nothing. */
static void sessions_are_renewed_ahead(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	let_in("A");
	answer(1, 200, DONE);
	for (int i = 0; i < 7; i++) {	/* two hours less a tenth */
		pass(15 * MINUTE);
		send(2);
		assert_int_equal(s.log_ins, 1);
		answer(last(false), 200, DONE);
	}
	pass(4 * MINUTE);
	send(3);
	assert_int_equal(s.log_ins, 2);
	sent_under("A");
	answer(last(true), 503, "<html>");	/* B044 */
	send(4);
	sent_under("A");
	pass(5 * MINUTE);
	send(5);
	sent_under("A");
	assert_int_equal(s.log_ins, 3);
	let_in("B");
	send(6);
	sent_under("B");
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

/* It served once, then somebody ended it. */
static void good_then_over(const char *session, int64_t op)
{
	let_in(session);
	answer(last(false), 200, DONE);
	send(op + 10);
	answer(last(false), 200, OVER);
}

/* Of any minute no more than the profile says; nothing is lost by it. */
static void log_ins_are_counted_by_the_minute(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= 3; i++) {
		send(i);
		assert_int_equal(s.log_ins, i);
		good_then_over("A", i);
		pass(10000);
	}
	send(4);
	pass(0);
	assert_int_equal(s.log_ins, 3);
	assert_true(s.withdrawn[4]);
	assert_int_equal(engine_wake_ms(s.world), EPOCH + MINUTE);
	event((struct event){.kind = EVENT_CLOCK, .delta_ms = -3600000});
	s.now.utc_ms -= 3600000;
	pass(29999);
	send(4);
	assert_int_equal(s.log_ins, 3);
	pass(1);
	send(4);
	assert_int_equal(s.log_ins, 4);
	good_then_over("B", 4);
	send(5);			/* the second minute began with one */
	assert_int_equal(s.log_ins, 4);
	pass(10000);
	send(5);
	assert_int_equal(s.log_ins, 5);
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

/* B045: what is no lifetime is taken for a short one, and said. */
static void a_lifetime_that_is_none_is_told(void **state)
{
	(void)state;
	open_scene(VAULT, OAUTH);
	send(1);
	answer(last(true), 200, "{\"access_token\": \"A\", \"token_type\": "
	       "\"Bearer\", \"expires_in\": \"3600abc\"}");
	assert_non_null(strstr(s.log, "no number of seconds"));
	sent_under("Bearer A");
	answer(last(false), 200, DONE);
	pass(290000);
	send(2);			/* renewed ahead of five minutes */
	assert_int_equal(s.log_ins, 2);
	close_scene();
}

/* Tokens that serve one request each: thirty of them in any minute. */
static void tokens_are_counted_by_the_minute(void **state)
{
	(void)state;
	open_scene(VAULT, OAUTH);
	for (int i = 1; i <= 30; i++) {
		send(i);
		assert_int_equal(s.log_ins, i);
		answer(last(true), 200, "{\"access_token\": \"A\", "
		       "\"token_type\": \"Bearer\"}");
		answer(last(false), 200, DONE);
		send(30 + i);
		answer(last(false), 401, "{}");
		assert_int_equal(s.verdict[30 + i], VERDICT_REFRESH);
	}
	send(2);
	pass(0);
	assert_int_equal(s.log_ins, 30);
	assert_true(s.withdrawn[2]);
	assert_int_equal(engine_wake_ms(s.world), EPOCH + MINUTE);
	pass(MINUTE - 1);
	send(2);
	assert_int_equal(s.log_ins, 30);
	pass(1);
	send(2);
	assert_int_equal(s.log_ins, 31);
	assert_int_equal(halted(), HALT_NONE);
	close_scene();
}

static void too_many_log_ins_wait_and_then_halt(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	for (int i = 1; i <= 5; i++) {
		send(1);
		assert_int_equal(s.log_ins, i);
		refuse("API_LIMIT_EXCEEDED");
		assert_int_equal(halted(), i < 5 ? HALT_NONE : HALT_LOG_INS);
		pass(59999);
		send(1);
		assert_int_equal(s.log_ins, i);
		pass(10 * MINUTE);
	}
	resume();
	send(1);
	let_in("A");
	assert_int_equal(s.sends, 1);
	close_scene();
}

static void ask_probe(void)
{
	event((struct event){.kind = EVENT_PROBE, .request_id = 9});
}

/* A person's probe waits for the log-in, and hears what came of it. */
static void a_probe_waits_for_the_log_in(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	ask_probe();
	pass(100);
	assert_int_equal(s.told, 0);
	let_in("A");
	sent_under("A");
	answer(last(false), 200, DONE);
	assert_true(s.told == 1 && s.told_good);
	close_scene();

	open_scene(VAULT, SESSION);
	ask_probe();
	answer(last(true), 503, "");
	assert_true(s.told == 1 && !s.told_good);
	assert_non_null(strstr(s.told_words, "log-in"));
	close_scene();

	open_scene(VAULT, SESSION);
	ask_probe();
	refuse("USER_LOCKED_OUT");
	assert_true(s.told == 1 && !s.told_good);
	assert_string_equal(s.told_words, halt_reason_words(HALT_LOCKED));
	close_scene();
}

/* One try with a wrong password, not one more: they lock. */
static void a_locked_account_is_not_tried_again(void **state)
{
	(void)state;
	open_scene(VAULT, SESSION);
	send(1);
	refuse("USER_LOCKED_OUT");
	assert_int_equal(halted(), HALT_LOCKED);
	assert_non_null(strstr(engine_state(s.world, 0)->halt_why,
			       "USER_LOCKED_OUT"));
	assert_true(s.withdrawn[1]);
	for (int i = 0; i < 100; i++) {
		pass(MINUTE);
		send(2);
	}
	assert_int_equal(s.log_ins, 1);
	s.secret = "new";
	resume();
	send(1);
	assert_string_equal(s.left[s.n - 1].body, "username=u&password=new");
	let_in("A");
	assert_int_equal(s.sends, 1);
	close_scene();
}

/* ---- a token in bodies -------------------------------------------------- */

static void the_token_goes_in_front_of_what_is_stored(void **state)
{
	(void)state;
	open_scene(REDCAP, TOKEN);
	send(1);
	assert_string_equal(s.left[0].body,
			    "token=hush&content=record&data=%7B%7D");
	assert_string_equal(s.left[0].session, "");
	intend(2, ATTEMPT_LOOK_UP);
	assert_string_equal(s.left[1].body, "token=hush&filterLogic="
			    "%5Btag%5D%3D%27OP2%27");
	assert_int_equal(s.reads, 1);
	close_scene();
}

/* Read again once; the same means that a person has to look. */
static void a_refused_token_is_read_again_once(void **state)
{
	(void)state;
	open_scene(REDCAP, TOKEN);
	send(1);
	send(2);
	answer(0, 401, "{}");
	answer(1, 401, "{}");
	s.secret = "new";
	send(1);
	assert_string_equal(s.left[2].body,
			    "token=new&content=record&data=%7B%7D");
	assert_int_equal(s.reads, 2);
	answer(2, 200, DONE);
	send(2);
	answer(3, 200, DONE);
	send(3);
	answer(4, 401, "{}");
	send(3);
	assert_int_equal(s.reads, 3);
	assert_int_equal(halted(), HALT_CREDENTIALS);
	assert_int_equal(s.sends, 5);
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sixty_four_expired_sessions_are_one_log_in),
		cmocka_unit_test(a_session_may_change_with_every_answer),
		cmocka_unit_test(a_late_refusal_spoils_nothing),
		cmocka_unit_test(a_fresh_session_refused_halts),
		cmocka_unit_test(a_session_that_ends_early_rejects_nobody),
		cmocka_unit_test(idle_sessions_are_not_tried),
		cmocka_unit_test(sessions_are_renewed_ahead),
		cmocka_unit_test(log_ins_are_counted_by_the_minute),
		cmocka_unit_test(a_lifetime_that_is_none_is_told),
		cmocka_unit_test(tokens_are_counted_by_the_minute),
		cmocka_unit_test(too_many_log_ins_wait_and_then_halt),
		cmocka_unit_test(a_locked_account_is_not_tried_again),
		cmocka_unit_test(a_probe_waits_for_the_log_in),
		cmocka_unit_test(the_token_goes_in_front_of_what_is_stored),
		cmocka_unit_test(a_refused_token_is_read_again_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
