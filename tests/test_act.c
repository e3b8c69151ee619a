/* Acts of people: rights, reasons, races, replays, undo, pause, gaps. */
#define _GNU_SOURCE
#include "act_room.h"

/* Field report B115: all of the original stays. */
static void a_replay_keeps_the_original(void **state)
{
	struct act act;
	struct intent *i;
	struct op before, after;
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	id = add_dead("U1");
	room_state(&room, id, &before);
	room.now += 5000;
	act = act_of(ACT_REPLAY);
	expect(do_act(&act, id, before.version), ACT_DONE);
	room_state(&room, id, &after);
	assert_int_equal(after.state, OP_QUEUED);
	assert_int_equal(after.attempts, 0);
	assert_int_equal(after.tries, before.tries);
	assert_int_equal(after.created_at_ms, before.created_at_ms);
	assert_string_equal(after.idem_key, before.idem_key);
	assert_string_equal(after.correlation_id, before.correlation_id);
	assert_string_equal(after.payload_sha256, before.payload_sha256);
	i = room_claim(&room, 1);
	assert_int_equal(i->op.tries, before.tries + 1);
	room_free(i);
	op_release(&before);
	op_release(&after);
	assert_int_equal(number("SELECT count(*) FROM intervention"), 1);
	assert_int_equal(number("SELECT count(*) FROM intervention_item"
				" WHERE result = 'done' AND new_value ="
				" 'queued'"), 1);
}

/* B116: of two on the same item one wins; the other is told by whom. */
static void the_loser_is_told(void **state)
{
	struct act act;
	struct act_item item;
	struct op op;
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	id = add_dead("U1");
	room_state(&room, id, &op);
	act = act_of(ACT_REPLAY);
	expect(do_act(&act, id, op.version), ACT_DONE);
	item = do_act(&act, id, op.version);
	expect(item, ACT_LOST_RACE);
	assert_non_null(strstr(item.words, "J. Doe"));
	expect(do_act(&act, id, 0), ACT_LOST_RACE);
	assert_int_equal(number("SELECT count(*) FROM audit WHERE type ="
				" 'act_refused'"), 2);
	op_release(&op);
}

/* B112: a list is frozen; what fails again is not picked up again. */
static void marked_ones_are_tried_once(void **state)
{
	struct act_item items[3] = {{.version = 0}};
	struct act act;
	int64_t ids[2];
	struct op op;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	ids[0] = add_dead("U1");
	ids[1] = add_dead("U2");
	for (int i = 0; i < 2; i++) {
		room_state(&room, ids[i], &op);
		memcpy(items[i].op_id, op.op_id, sizeof(op.op_id));
		op_release(&op);
	}
	strcpy(items[2].op_id, "NONE");
	act = act_of(ACT_REPLAY);
	assert_int_equal(act_on_operations(room.store, &act, items, 3,
					   room.now), ST_OK);
	expect(items[0], ACT_DONE);
	expect(items[1], ACT_DONE);
	expect(items[2], ACT_NOT_FOUND);
	assert_int_equal(number("SELECT items FROM intervention"), 3);
	assert_int_equal(number("SELECT length(list_sha256) FROM"
				" intervention"), 32);
}

/* B117: an older version does not overwrite a newer one unseen. */
static void stale_needs_the_newer_named(void **state)
{
	struct act act;
	struct intent *i;
	struct act_item item;
	struct op op, newer;
	int64_t a, b;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	a = add_dead("U1");
	b = room_add(&room, "U1", "F1", 2);
	i = room_claim(&room, 1);
	assert_int_equal(i->op.op, b);
	room_answer(&room, i, VERDICT_COMMIT, NULL);
	room_free(i);
	room_state(&room, b, &newer);
	act = act_of(ACT_REPLAY);
	item = do_act(&act, a, 0);
	expect(item, ACT_REFUSED);
	assert_non_null(strstr(item.words, newer.op_id));
	act.override_stale = newer.op_id;
	act.override_version = newer.version - 1;
	expect(do_act(&act, a, 0), ACT_REFUSED);
	act.override_version = newer.version;
	expect(do_act(&act, a, 0), ACT_DONE);
	room_state(&room, a, &op);
	assert_true(op.flags & OP_OVERRIDE_STALE);
	op_release(&op);
	op_release(&newer);
	i = room_claim(&room, 1);
	assert_int_equal(i->op.op, a);
	room_free(i);
}

/* With outcome_unknown it looks up first; where nothing can tell, evidence
 * and a signature are needed. */
static void unknown_looks_first(void **state)
{
	struct act act;
	struct intent *i;
	struct op op;
	int64_t id;

	(void)state;
	start(PROFILE_LOOK, ",\"idempotency\":\"lookup\","
	      "\"lookup\":{\"settle_ms\":0,\"max_attempts\":1}");
	id = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	i = room_claim(&room, 1);
	assert_int_equal(i->kind, ATTEMPT_LOOK_UP);
	room_answer(&room, i, VERDICT_INCONCLUSIVE, NULL);
	room_free(i);
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	act = act_of(ACT_REPLAY);
	expect(do_act(&act, id, 0), ACT_DONE);
	room_state(&room, id, &op);
	assert_int_equal(op.next, NEXT_LOOK_UP);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
}

static void unknown_without_look_up_needs_evidence(void **state)
{
	struct act act;
	struct act_item item;
	struct op op;
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ",\"idempotency\":\"none\"");
	id = add_unknown("U1");
	act = act_of(ACT_REPLAY);
	item = do_act(&act, id, 0);
	expect(item, ACT_REFUSED);
	assert_non_null(strstr(item.words, "--verified-absent"));
	act.verified_absent = "the help desk says so, ticket 7";
	item = do_act(&act, id, 0);
	expect(item, ACT_REFUSED);
	assert_non_null(strstr(item.words, "signature"));
	act.signature = (struct signature){true, "approval", T0};
	expect(do_act(&act, id, 0), ACT_DONE);
	room_state(&room, id, &op);
	assert_int_equal(op.next, NEXT_SEND);
	assert_false(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
	assert_int_equal(number("SELECT count(*) FROM signature"), 1);
}

static void discard_and_undo(void **state)
{
	struct act act;
	struct op op;
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ",\"idempotency\":\"none\"");
	id = add_unknown("U1");
	act = act_of(ACT_DISCARD);
	act.signature = (struct signature){true, "approval", T0};
	expect(do_act(&act, id, 0), ACT_REFUSED);
	act.evidence = "not there, looked at by hand";
	expect(do_act(&act, id, 0), ACT_DONE);
	room_state(&room, id, &op);
	assert_int_equal(op.state, OP_DISCARDED);
	assert_false(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
	act = act_of(ACT_UNDISCARD);
	expect(do_act(&act, id, 0), ACT_DONE);
	room_state(&room, id, &op);
	assert_int_equal(op.state, OP_DEAD);
	assert_int_equal(op.reason, REASON_UNKNOWN);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
	expect(do_act(&act, id, 0), ACT_REFUSED);
}

/* A check of it is on the wire: undone it would be claimed a second time. */
static void no_undo_under_a_check(void **state)
{
	struct intent *i;
	struct act act;
	int64_t id;

	(void)state;
	start(PROFILE_LOOK, "");
	id = room_add(&room, "U1", "F1", 1);
	act = act_of(ACT_DISCARD);
	act.signature.given = true;
	expect(do_act(&act, id, 0), ACT_DONE);
	act = act_of(ACT_CHECK);
	expect(do_act(&act, id, 0), ACT_REQUESTED);
	i = room_claim(&room, 1);
	assert_int_equal(i->op.op, id);
	act = act_of(ACT_UNDISCARD);
	expect(do_act(&act, id, 0), ACT_REFUSED);
	room_answer(&room, i, VERDICT_ABSENT, NULL);
	room_free(i);
	expect(do_act(&act, id, 0), ACT_DONE);
	i = room_claim(&room, 1);
	assert_int_equal(i->kind, ATTEMPT_SEND);
	room_free(i);
}

/* A discarded content that comes again is for a person, naming who. */
static void discarded_content_is_unclear(void **state)
{
	struct line_result r;
	struct act act;
	struct act_item item;
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	id = add_dead("U1");
	act = act_of(ACT_DISCARD);
	act.signature.given = true;
	expect(do_act(&act, id, 0), ACT_DONE);
	r = room_submit(&room, "{\"study_oid\":\"S\",\"subject_key\":\"U1\","
			"\"form_oid\":\"F1\",\"payload\":{\"v\":1}}");
	assert_int_equal(r.result, SUBMIT_UNCLEAR);
	assert_non_null(strstr(r.error, "J. Doe"));
	act = act_of(ACT_UNCLEAR_ACCEPT);
	assert_int_equal(act_unclear(room.store, &act, 1, room.now, &item),
			 ST_OK);
	expect(item, ACT_DONE);
	assert_int_equal(act_unclear(room.store, &act, 1, room.now, &item),
			 ST_OK);
	expect(item, ACT_LOST_RACE);
	assert_int_equal(act_unclear(room.store, &act, 9, room.now, &item),
			 ST_OK);
	expect(item, ACT_NOT_FOUND);
	assert_int_equal(number("SELECT count(*) FROM operation"), 2);
	assert_int_equal(number("SELECT count(*) FROM unclear WHERE"
				" state = 'accepted' AND decided_by = 'jd'"),
			 1);
}

static struct line_result value(int v)
{
	char text[128];

	snprintf(text, sizeof(text), "{\"study_oid\":\"S\",\"subject_key\":"
		 "\"U1\",\"form_oid\":\"F1\",\"payload\":{\"v\":%d}}", v);
	return room_submit(&room, text);
}

static void decide(enum act_verb verb, int64_t id, int want)
{
	struct act act = act_of(verb);
	struct act_item item;

	assert_int_equal(act_unclear(room.store, &act, id, room.now, &item),
			 ST_OK);
	check_row((int)item.result == want, "%s", item.words);
}

/* A-B-A-B-A: a decision on a content is about that return and no other. */
static void a_content_is_asked_anew(void **state)
{
	static const char open[] = "SELECT count(*) FROM unclear WHERE"
				   " state = 'open'";

	(void)state;
	start(PROFILE_PLAIN, "");
	value(1);
	value(2);
	assert_int_equal(value(1).result, SUBMIT_UNCLEAR);
	assert_int_equal(value(1).result, SUBMIT_UNCLEAR);
	assert_int_equal(number(open), 1);
	decide(ACT_UNCLEAR_ACCEPT, 1, ACT_DONE);
	assert_int_equal(value(2).result, SUBMIT_UNCLEAR);
	decide(ACT_UNCLEAR_ACCEPT, 2, ACT_DONE);
	assert_int_equal(value(1).result, SUBMIT_UNCLEAR);
	assert_int_equal(number(open), 1);	/* it can be seen again */
	decide(ACT_UNCLEAR_REFUSE, 1, ACT_DONE);
	assert_non_null(strstr(value(1).error, "refused it already"));
	assert_int_equal(number(open), 0);	/* every night the same */
	value(3);
	assert_int_equal(value(1).result, SUBMIT_UNCLEAR);
	assert_int_equal(number(open), 1);
	decide(ACT_UNCLEAR_ACCEPT, 1, ACT_DONE);
	assert_int_equal(number("SELECT count(*) FROM operation"), 6);
}

/* What came in by another way meanwhile is not queued twice. */
static void accepting_what_is_there_adds_nothing(void **state)
{
	(void)state;
	start(PROFILE_PLAIN, "");
	value(1);
	value(2);
	assert_int_equal(value(1).result, SUBMIT_UNCLEAR);
	room.config->endpoint[0].returns = RETURNS_ACCEPT;
	assert_int_equal(value(1).result, SUBMIT_QUEUED);
	decide(ACT_UNCLEAR_ACCEPT, 1, ACT_REFUSED);
	assert_int_equal(number("SELECT count(*) FROM operation"), 3);
	decide(ACT_UNCLEAR_REFUSE, 1, ACT_DONE);
}

static bool read_b(void *ctx, const char *name, struct buf *out,
		   struct buf *error)
{
	(void)ctx;
	(void)error;
	assert_string_equal(name, "b.txt");
	buf_adds(out, "a\nb");
	return true;
}

/* A kept line has its payload with it: the file is not read again. */
static void a_kept_line_has_its_payload(void **state)
{
	struct intake_in in = {.endpoint = "edc", .read_file = read_b};
	struct buf bytes = BUF_INIT;
	struct line_result r;
	struct act_item item;
	struct line line;
	struct act act;
	int64_t id;
	int round;

	(void)state;
	start(PROFILE_PLAIN, "");
	in.config = room.config;
	for (round = 0; round < 2; round++) {
		room_begin(&room);
		assert_true(line_parse(&line, SPAN("{\"study_oid\":\"S\","
			"\"subject_key\":\"U1\",\"form_oid\":\"F1\","
			"\"content_type\":\"text/plain\","
			"\"payload_file\":\"b.txt\"}"), &in, &r));
		assert_int_equal(line_store(room.store, &line, &in, NULL, 1,
					    room.now, &r), ST_OK);
		line_release(&line);
		room_commit(&room);
		if (!round) {
			act = act_of(ACT_DISCARD);
			act.signature.given = true;
			id = number("SELECT max(op) FROM operation");
			expect(do_act(&act, id, 0), ACT_DONE);
		}
	}
	assert_int_equal(r.result, SUBMIT_UNCLEAR);
	act = act_of(ACT_UNCLEAR_ACCEPT);
	act_unclear(room.store, &act, 1, room.now, &item);
	expect(item, ACT_DONE);
	id = number("SELECT max(op) FROM operation");
	room.store->ops->payload(room.store, id, true, &bytes);
	assert_string_equal(buf_text(&bytes), "a\nb");
	buf_release(&bytes);
}

static void notes_are_kept(void **state)
{
	struct act act;
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	id = add_dead("U1");
	act = act_of(ACT_ANNOTATE);
	act.roles = ROLE_VIEWER;
	expect(do_act(&act, id, 0), ACT_DONE);
	assert_int_equal(number("SELECT count(*) FROM note WHERE text ="
				" 'because' AND author = 'jd'"), 1);
}

static void checks_are_asked_of_the_engine(void **state)
{
	struct act act;
	struct act_item item;
	int64_t id;

	(void)state;
	start(PROFILE_LOOK, ",\"idempotency\":\"none\"");
	id = add_unknown("U1");
	act = act_of(ACT_CHECK);
	act.reason = NULL;
	item = do_act(&act, id, 0);
	expect(item, ACT_REQUESTED);
	assert_true(item.request > 0);
	assert_int_equal(number("SELECT count(*) FROM request WHERE"
				" kind = 'check' AND state = 'asked'"), 1);
}

static void rights_and_reasons(void **state)
{
	struct act act;
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	id = add_dead("U1");
	act = act_of(ACT_REPLAY);
	act.roles = ROLE_VIEWER;
	expect(do_act(&act, id, 0), ACT_REFUSED);
	act.roles = ROLE_ADMIN;
	expect(do_act(&act, id, 0), ACT_REFUSED);
	act.roles = ROLE_ONCALL;	/* sent before: not the on-call's */
	room_begin(&room);
	db_exec(store_db(room.store), "UPDATE operation SET first_sent_ms = 1",
		DB_HERE);
	room_commit(&room);
	expect(do_act(&act, id, 0), ACT_REFUSED);
	act = act_of(ACT_REPLAY);
	act.reason = "  ";
	expect(do_act(&act, id, 0), ACT_REFUSED);
	act.reason = "x";
	act.reason_code = "NONSENSE";
	expect(do_act(&act, id, 0), ACT_REFUSED);
	act = act_of(ACT_DISCARD);
	expect(do_act(&act, id, 0), ACT_REFUSED);	/* unsigned */
	assert_int_equal(number("SELECT count(*) FROM audit WHERE"
				" type = 'act_refused'"), 6);
	assert_int_equal(number("SELECT version FROM operation") > 0, 1);
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
}

/* Once pause has returned, no further intent becomes durable. */
static void pause_binds_at_once(void **state)
{
	struct act act;
	struct act_item item;

	(void)state;
	start(PROFILE_PLAIN, "");
	room_add(&room, "U1", "F1", 1);
	act = act_of(ACT_PAUSE);
	act.roles = ROLE_ONCALL;
	assert_int_equal(act_on_endpoint(room.store, &act, "edc", 0, 0,
					 room.now, &item), ST_OK);
	expect(item, ACT_DONE);
	assert_null(room_claim(&room, 10));
	act.verb = ACT_RESUME;
	assert_int_equal(act_on_endpoint(room.store, &act, "edc", 0, 0,
					 room.now, &item), ST_OK);
	expect(item, ACT_DONE);
	assert_int_equal(room_free(room_claim(&room, 10)), 1);
	assert_int_equal(act_on_endpoint(room.store, &act, "moon", 0, 0,
					 room.now, &item), ST_OK);
	expect(item, ACT_NOT_FOUND);
	act.verb = ACT_PROBE;
	assert_int_equal(act_on_endpoint(room.store, &act, "edc", 0, 0,
					 room.now, &item), ST_OK);
	expect(item, ACT_REQUESTED);
}

static void a_pause_ends_by_itself(void **state)
{
	struct act act;
	struct act_item item;

	(void)state;
	start(PROFILE_PLAIN, "");
	room_add(&room, "U1", "F1", 1);
	act = act_of(ACT_PAUSE);
	act_on_endpoint(room.store, &act, "edc", room.now + 1000, 0, room.now,
			&item);
	assert_null(room_claim(&room, 10));
	room.now += 1000;
	assert_int_equal(room_free(room_claim(&room, 10)), 1);
}

/* B122: no record, no act. */
static void no_record_no_act(void **state)
{
	struct act act;
	struct act_item item = {.version = 0};
	struct op op;
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	id = add_dead("U1");
	assert_int_equal(db_exec(store_db(room.store), "CREATE TRIGGER no_more"
				 " BEFORE INSERT ON audit BEGIN SELECT"
				 " RAISE(ABORT, 'no'); END", DB_HERE), ST_OK);
	room_state(&room, id, &op);
	memcpy(item.op_id, op.op_id, sizeof(item.op_id));
	op_release(&op);
	act = act_of(ACT_REPLAY);
	assert_true(act_on_operations(room.store, &act, &item, 1, room.now) <
		    0);
	assert_true(*store_error(room.store) != '\0');
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	assert_int_equal(number("SELECT count(*) FROM intervention"), 0);
}

static void a_dry_run_changes_nothing(void **state)
{
	struct act act;
	int64_t id, seq;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	id = add_dead("U1");
	seq = number("SELECT max(seq) FROM audit");
	act = act_of(ACT_REPLAY);
	act.dry_run = true;
	expect(do_act(&act, id, 0), ACT_DONE);
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	assert_int_equal(number("SELECT max(seq) FROM audit"), seq);
}

/* A restored store goes on after a signed act, which the chain bridges. */
static void a_gap_is_declared(void **state)
{
	struct audit_report r;
	struct act_item item;
	struct intent *i;
	struct act act;
	char old[128];

	(void)state;
	start(PROFILE_LOOK, ",\"idempotency\":\"lookup\"");
	room_add(&room, "U1", "F1", 1);
	snprintf(old, sizeof(old), "%s/old.db", room.dir);
	assert_int_equal(db_backup(store_db(room.store), old), ST_OK);
	room_add(&room, "U2", "F1", 1);
	audit_anchor(room.store, true, room.now);
	room_close(&room);
	assert_int_equal(rename(old, room.db), 0);
	room_open(&room);
	room_know_endpoint(&room);
	room.now += 60000;
	act = act_of(ACT_DECLARE_GAP);
	act_declare_gap(room.store, &act, room.now, &item);
	expect(item, ACT_REFUSED);		/* unsigned */
	act.signature.given = true;
	assert_int_equal(act_declare_gap(room.store, &act, room.now, &item),
			 ST_OK);
	expect(item, ACT_DONE);
	act_declare_gap(room.store, &act, room.now, &item);
	expect(item, ACT_REFUSED);		/* nothing left to declare */
	audit_anchor(room.store, true, room.now);
	audit_verify(room.store, room.anchors, room.key, NULL, &r);
	check_row(r.result == AUDIT_INTACT, "%d %s", r.result,
		  r.breaks_n ? r.breaks[0].what : r.note);
	assert_int_equal(r.declared_gaps, 1);
	audit_report_release(&r);
	room.now += 60000;
	i = room_claim(&room, 10);
	assert_int_equal(i->kind, ATTEMPT_LOOK_UP);
	assert_int_equal(room_free(i), 1);
	/* The next opening does not find it restored again. */
	room_close(&room);
	room_open(&room);
	room_know_endpoint(&room);
	assert_int_equal(number("SELECT count(*) FROM audit WHERE type ="
				" 'store_restored'"), 1);
}

/* Released while its endpoint was not configured: back again, it looks. */
static void an_absent_endpoint_is_restored_too(void **state)
{
	struct act act;
	struct act_item item;
	struct intent *i;
	char old[128];

	(void)state;
	start(PROFILE_LOOK, ",\"idempotency\":\"lookup\"");
	room_add(&room, "U1", "F1", 1);
	snprintf(old, sizeof(old), "%s/old.db", room.dir);
	assert_int_equal(db_backup(store_db(room.store), old), ST_OK);
	room_add(&room, "U2", "F1", 1);
	audit_anchor(room.store, true, room.now);
	room_close(&room);
	assert_int_equal(rename(old, room.db), 0);
	room_open(&room);
	act = act_of(ACT_DECLARE_GAP);
	act.signature.given = true;
	act.config = NULL;
	assert_int_equal(act_declare_gap(room.store, &act, room.now, &item),
			 ST_OK);
	expect(item, ACT_DONE);
	room_know_endpoint(&room);
	room.now += 60000;
	i = room_claim(&room, 10);
	assert_int_equal(i->kind, ATTEMPT_LOOK_UP);
	assert_int_equal(room_free(i), 1);
}

#define TEST(test) cmocka_unit_test_teardown(test, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_replay_keeps_the_original),
		TEST(the_loser_is_told),
		TEST(marked_ones_are_tried_once),
		TEST(stale_needs_the_newer_named),
		TEST(unknown_looks_first),
		TEST(unknown_without_look_up_needs_evidence),
		TEST(discard_and_undo),
		TEST(no_undo_under_a_check),
		TEST(discarded_content_is_unclear),
		TEST(a_content_is_asked_anew),
		TEST(accepting_what_is_there_adds_nothing),
		TEST(a_kept_line_has_its_payload),
		TEST(notes_are_kept),
		TEST(checks_are_asked_of_the_engine),
		TEST(rights_and_reasons),
		TEST(pause_binds_at_once),
		TEST(a_pause_ends_by_itself),
		TEST(no_record_no_act),
		TEST(a_dry_run_changes_nothing),
		TEST(a_gap_is_declared),
		TEST(an_absent_endpoint_is_restored_too),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
