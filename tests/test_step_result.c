/*
 * test_step_result.c - a job whose outcomes are told at a second address,
 * under virtual time: kills, losses, 404, 503, foreign addresses, budgets.
 * (By chance, with everything else that goes wrong: test_step's seeds.)
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

/* One operation that the vendor makes a job of. */
static struct sim *scene(size_t place,
			 void (*script)(struct sim *, struct sim_request *))
{
	struct sim *s = xcalloc(1, sizeof(*s));

	sim_open(s, 1, false);
	s->script = script;
	s->results = true;
	sim_add(s, place, 0, 1);
	return s;
}

static void leave(struct sim *s)
{
	sim_close(s);
	free(s);
}

static void look(struct sim *s, struct op *op)
{
	op_init(op);
	assert_int_equal(s->store->ops->begin(s->store, DURABLE), ST_OK);
	assert_int_equal(s->store->ops->op_find(s->store, s->op[0].op_id, op),
			 ST_OK);
	s->store->ops->rollback(s->store);
}

static enum op_state state_of(struct sim *s)
{
	enum op_state state;
	struct op op;

	look(s, &op);
	state = op.state;
	op_release(&op);
	return state;
}

static enum job_stage stage_of(struct sim *s)
{
	enum job_stage stage = JOB_WATCHED;
	struct poll_row row;
	struct op op;

	look(s, &op);
	assert_int_equal(s->store->ops->begin(s->store, DURABLE), ST_OK);
	if (s->store->ops->poll_get(s->store, op.op, &row) == ST_OK) {
		stage = row.stage;
		poll_row_release(&row);
	}
	s->store->ops->rollback(s->store);
	op_release(&op);
	return stage;
}

static void until_it_rests(struct sim *s)
{
	int64_t end = s->now.utc_ms + 600000;
	enum op_state state;

	do {
		for (int i = 0; i < 20; i++)
			sim_turn(s);
		assert_true(s->now.utc_ms < end);
		state = state_of(s);
	} while (state != OP_COMMITTED && state != OP_REJECTED &&
		 state != OP_UNWATCHED && state != OP_DEAD);
}

static void as_a_job(struct sim_request *r)
{
	if (r->kind != SIM_SEND)
		return;
	r->status = 202;
	r->commits = false;
	r->queues = true;
}

static void told(struct sim *s, struct sim_request *r)
{
	(void)s;
	as_a_job(r);
}

static void all_is_told(void **state)
{
	static const size_t places[] = {SIM_KEY, SIM_NONE};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct sim *s = scene(places[i], told);
		struct op op;

		until_it_rests(s);
		look(s, &op);
		assert_int_equal(op.state, OP_COMMITTED);
		assert_int_equal(op.evidence, EVIDENCE_ANSWER);
		op_release(&op);
		assert_int_equal(s->asked[SIM_SEND], 1);
		assert_int_equal(s->asked[SIM_RESULT], 1);
		sim_check(s);
		leave(s);
	}
}

static void with_a_refusal(struct sim *s, struct sim_request *r)
{
	as_a_job(r);
	s->op[0].partly = true;
}

static void a_refused_item_is_no_commit(void **state)
{
	static const size_t places[] = {SIM_KEY, SIM_NONE};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct sim *s = scene(places[i], with_a_refusal);
		struct op op;

		until_it_rests(s);
		look(s, &op);
		assert_int_equal(op.state, OP_REJECTED);
		assert_int_equal(op.reason, REASON_PARTLY);
		assert_true(op.flags & OP_PARTIAL);
		op_release(&op);
		assert_int_equal(s->asked[SIM_SEND], 1);
		leave(s);
	}
}

static void nothing_taken(struct sim *s, struct sim_request *r)
{
	(void)s;
	as_a_job(r);
	if (r->kind == SIM_RESULT)
		r->body = "{\"rows\":[{\"s\":\"out\"},{\"s\":\"out\"}]}";
}

static void every_item_refused_is_a_refusal(void **state)
{
	struct sim *s = scene(SIM_KEY, nothing_taken);
	struct op op;

	(void)state;
	until_it_rests(s);
	look(s, &op);
	assert_int_equal(op.state, OP_REJECTED);
	assert_int_equal(op.reason, REASON_JOB_FAILED);
	assert_false(op.flags & OP_PARTIAL);
	op_release(&op);
	leave(s);
}

/* What no result says is not guessed: the job stays identified. */
static void ends_unwatched(struct sim *s)
{
	struct poll_row row;
	struct op op;

	until_it_rests(s);
	look(s, &op);
	assert_int_equal(op.state, OP_UNWATCHED);
	assert_int_equal(op.reason, REASON_NO_RESULT);
	assert_true(op.flags & OP_ACCEPTED);
	assert_int_equal(s->asked[SIM_SEND], 1);
	assert_int_equal(s->store->ops->begin(s->store, DURABLE), ST_OK);
	assert_int_equal(s->store->ops->poll_get(s->store, op.op, &row), ST_OK);
	assert_int_equal(row.stage, JOB_DONE);
	assert_true(row.job_id[0] && row.last_look);
	poll_row_release(&row);
	s->store->ops->rollback(s->store);
	op_release(&op);
}

static void odd_words(struct sim *s, struct sim_request *r)
{
	(void)s;
	as_a_job(r);
	if (r->kind == SIM_RESULT)
		r->body = "{\"rows\":[{\"s\":\"in\"},{\"s\":\"maybe\"}]}";
}

static void gone(struct sim *s, struct sim_request *r)
{
	(void)s;
	as_a_job(r);
	if (r->kind == SIM_RESULT)
		r->status = 404;
}

static void no_shape(struct sim *s, struct sim_request *r)
{
	(void)s;
	as_a_job(r);
	if (r->kind == SIM_RESULT)
		r->body = "<html>log in</html>";
}

static void down(struct sim *s, struct sim_request *r)
{
	(void)s;
	as_a_job(r);
	if (r->kind == SIM_RESULT)
		r->status = 500;
}

static void nothing_is_guessed(void **state)
{
	void (*const scripts[])(struct sim *, struct sim_request *) = {
		odd_words, gone, no_shape, down,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct sim *s = scene(SIM_KEY, scripts[i]);

		ends_unwatched(s);
		assert_true(s->asked[SIM_RESULT] > 5);
		leave(s);
	}
}

/* B053 of the second address: nothing of ours goes to another host. */
static void elsewhere(struct sim *s, struct sim_request *r)
{
	(void)s;
	as_a_job(r);
	if (r->kind == SIM_POLL && s->op[0].commits)
		r->body = "{\"status\":\"completed\",\"log\":"
			"\"https://other.example/jobs/Jkey-0-1/log\"}";
}

static void a_foreign_address_is_never_asked(void **state)
{
	struct sim *s = scene(SIM_KEY, elsewhere);

	(void)state;
	ends_unwatched(s);
	assert_int_equal(s->asked[SIM_RESULT], 0);
	leave(s);
}

/* B052 of the second address; and lost, down, slowed. */
static void late(struct sim *s, struct sim_request *r)
{
	static const int status[] = {404, 503, 0, 202, 502, 429, 200};

	as_a_job(r);
	if (r->kind != SIM_RESULT)
		return;
	r->status = status[s->left_out++];
	if (!r->status)
		r->transport = TRANSPORT_RESET;
	if (r->status == 429)
		r->retry_after_s = 2;
}

static void trouble_is_repeated(void **state)
{
	struct sim *s = scene(SIM_KEY, late);
	int polls;

	(void)state;
	while (stage_of(s) == JOB_WATCHED)
		sim_turn(s);
	polls = s->asked[SIM_POLL];
	until_it_rests(s);
	assert_int_equal(state_of(s), OP_COMMITTED);
	assert_int_equal(s->asked[SIM_RESULT], 7);
	assert_int_equal(s->asked[SIM_POLL], polls);
	sim_check(s);
	leave(s);
}

/* From the commit of the stage on, no kill makes it ask for the job again. */
static void killed_before_the_result(void **state)
{
	int64_t crashes = 0;

	(void)state;
	for (int in = 0; in < 6; in++) {
		struct sim *s = scene(SIM_KEY, with_a_refusal);
		int polls;

		while (stage_of(s) == JOB_WATCHED)
			sim_turn(s);
		polls = s->asked[SIM_POLL];
		s->crash_in = in;
		until_it_rests(s);
		assert_int_equal(state_of(s), OP_REJECTED);
		assert_int_equal(s->asked[SIM_POLL], polls);
		assert_int_equal(s->asked[SIM_SEND], 1);
		sim_check(s);
		crashes += s->crashes;
		leave(s);
	}
	assert_true(crashes >= 2);
}

/* A job may just be done when its time is over: its result has a last look of
 * its own. */
static void done_at_the_last_look(struct sim *s, struct sim_request *r)
{
	as_a_job(r);
	if (r->kind == SIM_POLL && !s->left_out)
		r->body = "{\"status\":\"running\"}";
}

static void a_late_job_is_still_asked_for_its_result(void **state)
{
	struct sim *s = scene(SIM_KEY, done_at_the_last_look);
	struct poll_row row = {0};
	struct op op;
	bool last = false;
	int64_t end;

	(void)state;
	end = s->now.utc_ms + 600000;
	look(s, &op);
	while (!last) {
		sim_turn(s);
		assert_true(s->now.utc_ms < end);
		assert_int_equal(s->store->ops->begin(s->store, DURABLE),
				 ST_OK);
		if (s->store->ops->poll_get(s->store, op.op, &row) == ST_OK) {
			last = row.last_look;
			poll_row_release(&row);
		}
		s->store->ops->rollback(s->store);
	}
	op_release(&op);
	s->left_out = 1;
	until_it_rests(s);
	assert_int_equal(state_of(s), OP_COMMITTED);
	assert_int_equal(s->asked[SIM_RESULT], 1);
	leave(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_told),
		cmocka_unit_test(a_refused_item_is_no_commit),
		cmocka_unit_test(every_item_refused_is_a_refusal),
		cmocka_unit_test(nothing_is_guessed),
		cmocka_unit_test(a_foreign_address_is_never_asked),
		cmocka_unit_test(trouble_is_repeated),
		cmocka_unit_test(killed_before_the_result),
		cmocka_unit_test(a_late_job_is_still_asked_for_its_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
