/*
 * Acts in the console, without terminal: keys into dialogs, a real store and
 * the real lanes behind them. Field reports B112, B115, B116.
 */
#include "room.h"
#include "ui_stub.h"

#include "store/db.h"
#include "ui/acts.h"

#include <openssl/evp.h>

const struct ui_command ui_commands[] = {{NULL, NULL, NULL, NULL, NULL}};

/* As in panel.c, which would bring all the panels with it. */
void target_release(struct target *t)
{
	free(t->item);
	free(t->filter);
	free(t->endpoint);
	free(t->words);
	memset(t, 0, sizeof(*t));
}

static struct room room;
static struct actor claims = {.person = true, .id = "root", .login = "root",
	.auth = "none (OS account)", .session = "s1", .host = "h"};

#define ONE_TRY ",\"retry\":{\"max_attempts\":1}"

#include "acts_world.h"

static void put_operator(const char *id, unsigned roles, int must_change)
{
	uint8_t hash[32], salt[16] = {1};
	char hex[65], salt_hex[33];
	struct buf sql = BUF_INIT;

	assert_int_equal(EVP_PBE_scrypt("secret", 6, salt, 16, 2, 1, 1, 0,
					hash, 32), 1);
	hash_hex(hash, 32, hex);
	hash_hex(salt, 16, salt_hex);
	buf_addf(&sql, "INSERT INTO operator VALUES('%s', 'J. Doe', NULL, %u,"
		 " 'active', %d, 0, 0, 0, NULL, 0, 0, 2, 1, 1, x'%s', x'%s')",
		 id, roles, must_change, salt_hex, hex);
	check_row(db_exec(store_db(room.store), buf_text(&sql), DB_HERE) ==
		  ST_OK, "%s", db_error(store_db(room.store)));
	buf_release(&sql);
}

static void start(const char *profile, const char *extra)
{
	struct buf error = BUF_INIT;

	room_start(&room, false, profile, extra);
	stub.now = room.now;
	stub.world = (struct ui_world){.store_path = room.db,
		.config = room.config, .now_ms = world_now,
		.utc_offset_min = world_offset, .store_open = world_open,
		.store_close = world_close, .stop_fd = -1, .claims = &claims,
		.program = "edcsync -c e.json"};
	stub.status = (struct app_status){.known = true, .engine = true};
	stub.work = work_start(&stub.world, &error);
	check_row(stub.work, "%s", buf_text(&error));
	buf_release(&error);
	stub.session = session_new(&stub);
}

static int teardown(void **state)
{
	struct work *work = stub.work;

	(void)state;
	while (stub.dialogs)
		dialog_close(stub_top());
	session_free(stub.session);
	stub.work = NULL;
	work_stop(work);
	stub_end();
	room_end(&room);
	return 0;
}

/* Until the lanes have nothing left to do. */
static void settle(void)
{
	struct pollfd fd = {work_fd(stub.work), POLLIN, 0};

	while (work_acting(stub.work) || work_asking(stub.work)) {
		assert_true(poll(&fd, 1, 120000) > 0);
		work_done(stub.work);
	}
	work_done(stub.work);
}

static void tick(void)
{
	world_later(1000);
	session_tick(stub.session, stub.now);
	settle();
}

static void keys(const char *text)
{
	stub_keys(text);
	settle();
}

static const char *screen(void)
{
	return stub_screen(24, 80);
}

#define shows(text) \
	check_row(strstr(screen(), text), "'%s' is not on\n%s", text, screen())
#define shows_not(text) \
	check_row(!strstr(screen(), text), "'%s' is on\n%s", text, screen())
#define told(text) \
	check_row(strstr(stub.toast, text), "'%s' was told: %s", text, \
		  stub.toast)

static int64_t number(const char *sql)
{
	int64_t n = -1;

	assert_int_equal(db_number(store_db(room.store), sql, &n), ST_OK);
	return n;
}

static void send(int64_t id, enum verdict verdict)
{
	struct intent *i = room_claim(&room, 1);

	assert_int_equal(i->op.op, id);
	room_answer(&room, i, verdict, NULL);
	room_free(i);
}

static int64_t add(const char *subject, enum verdict verdict)
{
	int64_t id = room_add(&room, subject, "F1", 1);

	send(id, verdict);
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	return id;
}

static void one(int64_t id, struct target *t)
{
	struct op op;

	room_state(&room, id, &op);
	*t = (struct target){.kind = TARGET_OPS, .n = 1, .count = 1};
	t->item = xcalloc(1, sizeof(*t->item));
	memcpy(t->item->op_id, op.op_id, sizeof(op.op_id));
	t->item->version = op.version;
	t->endpoint = xstrdup("edc");
	t->words = xstrdup("U1 F1");
	op_release(&op);
}

static void filtered(const char *filter, struct target *t)
{
	*t = (struct target){.kind = TARGET_FILTER, .count = -1,
		.filter = xstrdup(filter), .words = xstrdup("a group")};
}

static void begin(enum action action, struct target *t)
{
	acts_begin(&stub, action, t);
	settle();
}

static void act_on(enum action action, int64_t id)
{
	struct target t;

	one(id, &t);
	begin(action, &t);
}

static void sign_in(void)
{
	shows("Who are you?");
	keys("jd<Tab>secret<Enter>");
	assert_non_null(session_actor(stub.session));
}

static void people(unsigned roles)
{
	start(PROFILE_PLAIN, ONE_TRY);
	put_operator("jd", roles, 0);
}

/* The tests */

static void a_replay_from_key_to_record(void **state)
{
	int64_t id;
	struct op op;

	(void)state;
	people(ROLE_MANAGER);
	id = add("U1", VERDICT_RETRY);
	act_on(DO_REPLAY, id);
	assert_null(session_actor(stub.session));
	sign_in();
	told("signed in: J. Doe (manager)");
	shows("U1 F1, as it was at");
	shows("1 would be sent again");
	shows_not("Password");
	shows_not("The number");
	/* No reason, no replay. */
	keys("<Tab><Right><Right><Enter>");
	shows("a reason is needed");
	shows_not("--reason");
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	keys("the vendor works again<Tab><Right><Right><Enter>");
	assert_int_equal(stub.dialogs, 0);
	told("replay: queued again, same key");
	assert_int_equal(stub.unmarked, 1);
	room_state(&room, id, &op);
	assert_int_equal(op.state, OP_QUEUED);
	op_release(&op);
	assert_int_equal(number("SELECT count(*) FROM intervention WHERE"
		" verb = 'replay' AND actor = 'jd' AND reason = 'the vendor"
		" works again' AND reason_code = 'VENDOR_RECOVERED' AND"
		" auth = 'password' AND session = 's1' AND command_line LIKE"
		" 'edcsync -c e.json replay %--reason=''the vendor%'"), 1);
	assert_int_equal(number("SELECT count(*) FROM audit WHERE type ="
				" 'sign_in'"), 1);
	/* That it came back at once is told. */
	send(id, VERDICT_REJECT);
	tick();
	told("replay of U1 F1: refused again");
}

static void cancel_does_nothing(void **state)
{
	int64_t id;

	(void)state;
	people(ROLE_MANAGER);
	id = add("U1", VERDICT_RETRY);
	act_on(DO_REPLAY, id);
	keys("<Esc>");
	assert_int_equal(stub.dialogs, 0);
	act_on(DO_REPLAY, id);
	sign_in();
	keys("<Esc>");				/* nothing written, no word */
	assert_string_equal(stub.toast, "signed in: J. Doe (manager)");
	act_on(DO_REPLAY, id);
	keys("because<Enter><Enter>");
	assert_int_equal(stub.dialogs, 0);
	told("Replay: nothing was done");
	assert_int_equal(stub.unmarked, 0);
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	assert_int_equal(number("SELECT count(*) FROM intervention"), 0);
}

/* B116: a key pressed twice, and two consoles, on the same item. */
static void nothing_is_done_twice(void **state)
{
	struct target late;
	struct target t;
	int64_t id;

	(void)state;
	people(ROLE_MANAGER);
	id = add("U1", VERDICT_RETRY);
	one(id, &late);
	one(id, &t);
	acts_begin(&stub, DO_REPLAY, &t);
	one(id, &t);
	acts_begin(&stub, DO_REPLAY, &t);
	settle();
	assert_int_equal(stub.dialogs, 1);
	sign_in();
	assert_int_equal(stub.dialogs, 1);
	/* Enter, held down, while it is worked on. */
	stub_keys("because<Tab><Right><Right><Enter>");
	if (stub.dialogs)
		stub_keys("<Enter><Enter><Enter>");
	settle();
	assert_int_equal(stub.dialogs, 0);
	assert_int_equal(number("SELECT count(*) FROM intervention"), 1);
	begin(DO_REPLAY, &late);
	shows("left out: somebody was faster: replay by J. Doe");
	shows("It cannot be done.");
	shows_not("Replay  ");
	keys("<Enter>");
	assert_int_equal(stub.dialogs, 0);
	assert_int_equal(number("SELECT count(*) FROM audit WHERE type ="
				" 'act_refused'"), 1);
}

/* Taken between the preview and the button: told, by whom. */
static void a_race_is_lost_late(void **state)
{
	struct actor ms = {.person = true, .id = "ms",
		.printed_name = "M. Smith", .auth = "password"};
	struct act act = {.verb = ACT_REPLAY, .actor = &ms,
		.roles = ROLE_MANAGER, .reason = "me first",
		.config = room.config};
	struct act_item item = {.version = 0};
	struct target t;
	int64_t id;
	struct op op;

	(void)state;
	people(ROLE_MANAGER);
	act.config = room.config;
	id = add("U1", VERDICT_RETRY);
	add("U2", VERDICT_RETRY);
	filtered("state:dead", &t);
	begin(DO_REPLAY, &t);
	sign_in();
	shows("2 would be sent again");
	room_state(&room, id, &op);
	memcpy(item.op_id, op.op_id, sizeof(item.op_id));
	op_release(&op);
	assert_int_equal(act_on_operations(room.store, &act, &item, 1,
					   room.now), ST_OK);
	keys("because<Tab><Right><Right><Enter>");
	told("replay: 1 of 2 done");
	shows("somebody was faster: replay by M. Smith");
	shows("U1 F1");
}

static void groups_need_number_and_signature(void **state)
{
	struct target t;

	(void)state;
	people(ROLE_MANAGER);
	for (int i = 0; i < 51; i++) {
		char subject[16];

		snprintf(subject, sizeof(subject), "U%d", i);
		add(subject, VERDICT_RETRY);
	}
	filtered("state:dead", &t);
	begin(DO_REPLAY, &t);
	sign_in();
	shows("51 chosen at");
	shows("51 would be sent again");
	shows("policy asks it for more than 50 at once");
	shows("Signs: J. Doe (jd)");
	keys("because<Tab>jd<Tab>wrong<Tab><Tab>51<Tab><Right><Right><Enter>");
	shows("not signed: unknown operator or wrong password");
	keys("secret<Tab><Tab><C-u>50<Tab><Right><Right><Enter>");
	shows("that is not the number");
	keys("<C-u>51<Tab><Right><Right><Enter>");
	assert_int_equal(stub.dialogs, 0);
	told("replay: 51 of 51 done; signed J. Doe, ");
	told("responsibility");
	assert_int_equal(number("SELECT count(*) FROM operation WHERE"
				" attempts = 0"), 51);
	assert_int_equal(number("SELECT count(*) FROM intervention WHERE"
				" auth = 'signature' AND items = 51"), 1);
	assert_int_equal(number("SELECT count(*) FROM signature WHERE"
				" operator = 'jd'"), 1);
	assert_int_equal(number("SELECT count(*) FROM audit WHERE type ="
				" 'sign_in_failed'"), 1);
	assert_true(session_signed_before(stub.session));
}

static void discards_can_be_undone(void **state)
{
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ",\"idempotency\":\"none\"");
	put_operator("jd", ROLE_MANAGER, 0);
	id = add("U1", VERDICT_UNKNOWN);
	acts_undo(&stub);
	told("you discarded nothing in this console");
	act_on(DO_DISCARD, id);
	sign_in();
	shows("only with evidence: the vendor may have it");
	shows("policy asks it for discard");
	keys("not wanted<Tab><Tab>jd<Tab>secret<Tab><Tab>1<Tab><Right><Enter>");
	shows("say how you know");
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	keys("looked by hand<Tab><Tab><C-u><Tab><Tab><Tab><Right><Enter>");
	shows("needs your password");
	keys("secret<Tab><Tab><Tab><Right><Enter>");
	assert_int_equal(stub.dialogs, 0);
	assert_int_equal(room_state(&room, id, NULL), OP_DISCARDED);
	assert_int_equal(number("SELECT count(*) FROM intervention WHERE"
				" evidence = 'looked by hand'"), 1);
	acts_undo(&stub);
	settle();
	shows("Undo a discard");
	keys("<Tab><Right><Enter>");
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	told("undiscard: as before: dead");
	acts_undo(&stub);
	told("you discarded nothing in this console");
}

/* Evidence is for what stands on it alone: what can be looked up still is. */
static void evidence_does_not_spare_a_look_up(void **state)
{
	struct target t;
	struct op op;
	int64_t sure, left;

	(void)state;
	start(PROFILE_LOOK, ",\"idempotency\":\"lookup\","
	      "\"lookup\":{\"settle_ms\":0,\"max_attempts\":1}");
	put_operator("jd", ROLE_MANAGER, 0);
	sure = room_add(&room, "U1", "F1", 1);
	left = room_add(&room, "U2", "F1", 1);
	for (int i = 0; i < 4; i++) {
		struct intent *in = room_claim(&room, 1);

		room_answer(&room, in, in->kind == ATTEMPT_LOOK_UP ?
			    VERDICT_INCONCLUSIVE : VERDICT_UNKNOWN, NULL);
		room_free(in);
	}
	assert_int_equal(room_state(&room, sure, NULL), OP_DEAD);
	assert_int_equal(room_state(&room, left, NULL), OP_DEAD);
	/* The second was sent to an address that was left. */
	assert_int_equal(db_exec(store_db(room.store), "UPDATE operation SET"
		" target = x'0102030405060708091011121314151617181920212223242"
		"526272829303132' WHERE op = (SELECT max(op) FROM operation);"
		" INSERT INTO meta(key, value) SELECT 'left_targets.' ||"
		" endpoint, lower(hex(target)) FROM operation ORDER BY op DESC"
		" LIMIT 1", DB_HERE), ST_OK);
	filtered("state:dead", &t);
	begin(DO_REPLAY, &t);
	sign_in();
	shows("1 would be looked up first");
	shows("only with evidence");
	keys("because<Tab>help desk, 7<Tab>jd<Tab>secret<Tab><Tab>2<Tab>"
	     "<Right><Right><Enter>");
	told("replay: 2 of 2 done");
	room_state(&room, sure, &op);
	assert_int_equal(op.next, NEXT_LOOK_UP);
	op_release(&op);
	room_state(&room, left, &op);
	assert_int_equal(op.next, NEXT_SEND);
	op_release(&op);
}

static void lack_of_a_right_is_told_and_recorded(void **state)
{
	int64_t id;

	(void)state;
	people(ROLE_VIEWER);
	id = add("U1", VERDICT_RETRY);
	act_on(DO_REPLAY, id);
	sign_in();
	shows("jd (viewer) has not the right to replay");
	shows_not("Check only");
	keys("<Enter>");
	assert_int_equal(number("SELECT count(*) FROM audit WHERE type ="
				" 'act_refused'"), 1);
	act_on(DO_NOTE, id);
	keys("the site was called<Enter>");
	told("annotate: noted");
	assert_int_equal(number("SELECT count(*) FROM note WHERE text = 'the"
				" site was called' AND author = 'jd'"), 1);
}

/* Retirement holds at once, also for whoever sits there already. */
static void a_retired_one_acts_no_more(void **state)
{
	int64_t id;

	(void)state;
	people(ROLE_MANAGER);
	id = add("U1", VERDICT_RETRY);
	act_on(DO_REPLAY, id);
	sign_in();
	assert_int_equal(db_exec(store_db(room.store), "UPDATE operator SET"
		" status = 'retired'", DB_HERE), ST_OK);
	keys("because<Tab><Right><Right><Enter>");
	shows("is not active any more");
	assert_null(session_actor(stub.session));
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	assert_int_equal(number("SELECT count(*) FROM audit WHERE type ="
				" 'act_refused'"), 1);
}

static void endpoint(enum action action)
{
	struct target t = {.kind = TARGET_ENDPOINT,
		.endpoint = xstrdup("edc")};

	begin(action, &t);
}

static void checks_are_followed(void **state)
{
	int64_t id;

	(void)state;
	start(PROFILE_LOOK, ONE_TRY);
	put_operator("jd", ROLE_ONCALL | ROLE_MANAGER, 0);
	id = add("U1", VERDICT_RETRY);
	act_on(DO_CHECK, id);
	sign_in();
	assert_int_equal(stub.dialogs, 0);
	told("check: asked the engine to look");
	tick();
	told("check: asked the engine to look");
	assert_int_equal(db_exec(store_db(room.store), "UPDATE request SET"
		" state = 'done', result = 'absent: not there'", DB_HERE),
		ST_OK);
	tick();
	told("check of U1 F1: absent: not there");
	/* Nobody there to do it: asked first, then filed. */
	stub.status.engine = false;
	act_on(DO_CHECK, id);
	shows("No engine runs");
	shows("File for later");
	keys("<Right><Enter>");
	told("no engine runs: filed for later");
	assert_int_equal(number("SELECT count(*) FROM request WHERE"
				" state = 'asked'"), 1);
	/* Of an endpoint that stands still: said before and after. */
	stub.status.engine = true;
	endpoint(DO_PAUSE);
	keys("vendor call<Enter><Enter><Enter>");
	act_on(DO_CHECK, id);
	shows("edc is paused by jd: vendor call: the answer waits until");
	keys("<Right><Enter>");
	told("the answer waits until that is over (P)");
}

static void one_key_pauses_and_resumes(void **state)
{
	int64_t id;

	(void)state;
	people(ROLE_MANAGER);
	id = add("U1", VERDICT_RETRY);
	endpoint(DO_PAUSE);
	sign_in();
	shows("edc is running");
	shows_not("Resume ");
	keys("vendor call<Tab>yesterday<Tab><Right><Enter>");
	shows("until is a time");
	keys("<C-u>2h<Tab><Right><Enter>");
	told("pause: paused: nothing more starts");
	assert_int_equal(number("SELECT count(*) FROM endpoint_control WHERE"
				" paused AND until_ms > 0"), 1);
	act_on(DO_REPLAY, id);
	shows("edc is paused by jd: vendor call: it waits there");
	keys("<Esc>");
	endpoint(DO_PAUSE);
	shows("edc is paused by jd: vendor call");
	keys("over<Enter><Enter>");
	told("resume: resumed");
	assert_int_equal(number("SELECT count(*) FROM endpoint_control WHERE"
				" paused"), 0);
	endpoint(DO_PROBE);
	told("probe: asked the engine to probe");
}

static void the_command_line_is_the_same(void **state)
{
	struct buf out = BUF_INIT;
	struct target t;
	int64_t id;

	(void)state;
	people(ROLE_MANAGER);
	id = add("U1", VERDICT_RETRY);
	filtered("state:dead site:\"O'Neil\"", &t);
	acts_command_line(&stub, DO_REPLAY, &t, NULL, &out);
	assert_string_equal(buf_text(&out), "edcsync -c e.json replay"
		" --filter='state:dead site:\"O'\\''Neil\"' --reason=...\n");
	target_release(&t);
	buf_clear(&out);
	one(id, &t);
	acts_command_line(&stub, DO_CHECK, &t, NULL, &out);
	assert_non_null(strstr(buf_text(&out), "edcsync -c e.json check "));
	assert_null(strstr(buf_text(&out), "reason"));
	target_release(&t);
	buf_release(&out);
	act_on(DO_REPLAY, id);
	sign_in();
	keys("because<Tab>@");
	shows("--reason-code=VENDOR_RECOVERED --reason=because");
}

static void read_only_acts_on_nothing(void **state)
{
	int64_t id;

	(void)state;
	people(ROLE_MANAGER);
	id = add("U1", VERDICT_RETRY);
	stub.world.readonly = true;
	act_on(DO_REPLAY, id);
	assert_int_equal(stub.dialogs, 0);
	told("read-only");
}

static void the_first_one_is_made_here(void **state)
{
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	id = add("U1", VERDICT_RETRY);
	act_on(DO_REPLAY, id);
	shows("The first operator");
	keys("Jane Doe<Tab>ACME<Tab>secret<Tab>secre<Enter>");
	shows("the two passwords differ");
	keys("secret<Tab>secret<Enter>");
	told("signed in: Jane Doe (manager+admin)");
	shows("1 would be sent again");
	assert_int_equal(number("SELECT roles FROM operator WHERE id ="
				" 'root' AND organisation = 'ACME'"),
			 ROLE_ADMIN | ROLE_MANAGER);
}

static void wrong_passwords_lock_out(void **state)
{
	int64_t id;

	(void)state;
	people(ROLE_MANAGER);
	id = add("U1", VERDICT_RETRY);
	act_on(DO_REPLAY, id);
	keys("jd<Tab>wrong<Enter>");
	shows("not signed in: unknown operator or wrong password");
	for (int i = 0; i < 4; i++)
		keys("wrong<Enter>");
	keys("secret<Enter>");
	shows("the operator is locked; after five wrong");
	assert_null(session_actor(stub.session));
	assert_int_equal(number("SELECT count(*) FROM audit WHERE type ="
				" 'sign_in_failed'"), 6);
}

static void a_foreign_password_is_changed_first(void **state)
{
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	put_operator("jd", ROLE_MANAGER, 1);
	id = add("U1", VERDICT_RETRY);
	act_on(DO_REPLAY, id);
	keys("jd<Tab>secret<Enter>");
	shows("your password was set by somebody else");
	assert_null(session_actor(stub.session));
	keys("mine alone<Tab>mine alone<Enter>");
	assert_non_null(session_actor(stub.session));
	shows("1 would be sent again");
	assert_int_equal(number("SELECT must_change FROM operator"), 0);
}

static void an_idle_console_locks(void **state)
{
	int64_t id;

	(void)state;
	people(ROLE_MANAGER);
	put_operator("ms", ROLE_ONCALL, 0);
	id = add("U1", VERDICT_RETRY);
	act_on(DO_REPLAY, id);
	sign_in();
	keys("<Esc>");
	world_later(room.config->policy.idle_lock_ms - 1);
	session_tick(stub.session, stub.now);
	assert_false(session_locked(stub.session));
	world_later(1);
	session_tick(stub.session, stub.now);
	assert_true(session_locked(stub.session));
	act_on(DO_REPLAY, id);
	assert_int_equal(stub.dialogs, 1);
	keys("<Esc>wrong<Enter>");
	assert_true(session_locked(stub.session));
	shows("wrong password");
	keys("secret<Enter>");
	assert_false(session_locked(stub.session));
	assert_string_equal(session_id(stub.session), "jd");
	world_later(room.config->policy.idle_lock_ms);
	session_tick(stub.session, stub.now);
	keys("<S-Tab><C-u>ms<Tab>secret<Enter>");
	assert_false(session_locked(stub.session));
	assert_string_equal(session_id(stub.session), "ms");
	assert_int_equal(stub.dialogs, 0);
}

static uint32_t dice(uint32_t sides)
{
	static uint32_t seed = 11;

	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % sides;
}

static void some_key(void)
{
	static const char *const some[] = {"<Enter>", "<Tab>", "<S-Tab>",
		"<Right>", "<Left>", "<Esc>", "@", "L", "jd", "secret",
		"because", "2", "2h", "<C-u>", "<PgDn>", "q"};

	if (stub.dialogs)
		stub_keys(some[dice(ARRAY_SIZE(some))]);
	if (dice(4) == 0)
		screen();
}

/* Whatever is pressed, answered early or late: nothing falls over, and
 * nothing is done without its record. */
static void any_keys_on_any_act(void **state)
{
	static const enum action some[] = {DO_CHECK, DO_REPLAY, DO_NOTE,
		DO_DISCARD, DO_PAUSE, DO_PROBE};
	struct target t;
	int64_t id;

	(void)state;
	start(PROFILE_LOOK, ONE_TRY);
	put_operator("jd", ROLE_MANAGER, 0);
	id = add("U1", VERDICT_RETRY);
	add("U2", VERDICT_RETRY);
	act_on(DO_REPLAY, id);
	sign_in();
	for (int i = 0; i < 1000; i++) {
		if (stub.dialogs > 6)
			dialog_close(stub_top());
		if (!stub.dialogs && dice(2)) {
			one(id, &t);
			if (dice(2)) {
				target_release(&t);
				filtered("form:F1", &t);
				t.endpoint = xstrdup("edc");
			}
			acts_begin(&stub, some[dice(ARRAY_SIZE(some))], &t);
		} else if (!stub.dialogs) {
			acts_undo(&stub);
		}
		some_key();
		world_later(dice(1000));
		session_touch(stub.session, stub.now);
		if (!dice(500))
			world_later(room.config->policy.idle_lock_ms);
		session_tick(stub.session, stub.now);
		stub.status.engine = dice(3) > 0;
		if (dice(2))
			settle();
	}
	settle();
	assert_int_equal(number("SELECT count(*) FROM intervention WHERE"
				" seq IS NULL OR seq = 0"), 0);
	assert_true(number("SELECT count(*) FROM intervention") > 0);
}

#define acts(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		acts(a_replay_from_key_to_record), acts(cancel_does_nothing),
		acts(nothing_is_done_twice), acts(a_race_is_lost_late),
		acts(groups_need_number_and_signature),
		acts(discards_can_be_undone), acts(read_only_acts_on_nothing),
		acts(evidence_does_not_spare_a_look_up),
		acts(lack_of_a_right_is_told_and_recorded),
		acts(a_retired_one_acts_no_more), acts(checks_are_followed),
		acts(one_key_pauses_and_resumes),
		acts(the_command_line_is_the_same),
		acts(the_first_one_is_made_here), acts(any_keys_on_any_act),
		acts(wrong_passwords_lock_out),
		acts(a_foreign_password_is_changed_first),
		acts(an_idle_console_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
