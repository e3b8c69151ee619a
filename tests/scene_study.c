/*
 * What happened in study ONC-301 on Sunday 2026-11-29, hour by hour, until
 * 14:02:31. Local times.
 */
#define _GNU_SOURCE
#include "scene_priv.h"

#include <stdlib.h>
#include <string.h>

#include "store/audit.h"
#include "store/operator.h"

static const struct said FORBIDDEN = {.status = 422, .took_ms = 150,
	.header = "X-Request-ID", .value = "rq-0422",
	.body = "{\"code\":\"RANGE_SYSBP\",\"error\":\"SYSBP is outside of"
		" 60 to 250\"}"};
static const struct said LOCKED = {.status = 409, .took_ms = 140,
	.body = "{\"code\":\"VISIT_LOCKED\",\"error\":\"visit V2 is locked"
		" since 2026-11-20\"}"};
static const struct said NO_FORM = {.status = 404, .took_ms = 120,
	.body = "{\"code\":\"FORM_NOT_IN_BUILD\",\"error\":\"form ECG2 is not"
		" in build 14\"}"};
static const struct said PARTLY = {.status = 200, .took_ms = 70,
	.body = "{\"status\":\"completed\",\"items\":[{\"status\":\"ok\"},"
		"{\"status\":\"failed\",\"code\":\"DUP_LAB\"},"
		"{\"status\":\"ok\"}]}"};
static const struct said JOB_ANSWER = {.status = 200, .took_ms = 70,
	.body = "{\"status\":\"completed\"}"};
static const struct said BUSY = {.status = 503, .took_ms = 95,
	.header = "Retry-After", .value = "200",
	.body = "{\"error\":\"busy\"}"};
static const struct said STILL_LATER = {.status = 200, .took_ms = 60,
	.header = "Retry-After", .value = "45",
	.body = "{\"status\":\"processing\"}"};
static const struct said RESULT_LATER = {.status = 200, .took_ms = 60,
	.header = "Retry-After", .value = "45",
	.body = "{\"status\":\"completed\",\"log\":\"88213/log\"}"};
static const struct said MAINTENANCE = {.status = 503, .took_ms = 90,
	.header = "Retry-After", .value = "600",
	.body = "{\"error\":\"planned maintenance\"}"};

static void person(struct scene *s, const char *id, const char *name,
		   unsigned roles, const char *by)
{
	struct operator_row row = {.id = (char *)id,
		.printed_name = (char *)name,
		.organisation = (char *)"Example CRO", .roles = roles};
	struct actor who = {.person = true, .id = by, .auth = "password"};

	must(s, operator_add(s->store, &row, SPAN(SCENE_PASSWORD),
			     by ? &who : NULL, s->now_ms));
}

void scene_people(struct scene *s)
{
	struct actor msmith = {.person = true, .id = "msmith",
			       .auth = "password"};

	person(s, "jdoe", "Jane Doe", ROLE_MANAGER | ROLE_ADMIN, NULL);
	person(s, "msmith", "Mark Smith", ROLE_ONCALL, "jdoe");
	must(s, operator_passwd(s->store, "msmith", SPAN(SCENE_PASSWORD),
				&msmith, s->now_ms));
	person(s, "vwood", "Vera Wood", ROLE_VIEWER, "jdoe");
}

/* The engine's own view of an endpoint; what `change` does is written. */
static void judge(struct scene *s, enum place p,
		  void (*change)(struct scene *, struct endpoint_state *))
{
	struct endpoint_state before = {0}, after;
	int64_t id = place_id(s, p);

	begin(s);
	must(s, s->store->ops->state_get(s->store, id, &before));
	after = before;
	change(s, &after);
	must(s, work_state(s->store, &before, &after, s->now_ms));
	commit(s);
}

static void went_well(struct scene *s, struct endpoint_state *e)
{
	e->last_ok_ms = s->now_ms;
	e->gate.per_second = 40;
}

static void log_in_refused(struct scene *s, struct endpoint_state *e)
{
	e->halt = HALT_CREDENTIALS;
	e->halted_ms = s->now_ms;
	strcpy(e->halt_why, "invalid_client at the token endpoint");
	e->circuit.state = CIRCUIT_OPEN;
	e->circuit.generation = 2;
	e->circuit.failures = 5;
	e->circuit.opened_ms = s->now_ms - 240000;
	e->circuit.reset_ms = 900000;
	e->circuit.probe_at_ms = SCENE_NOW + 229000;
	e->circuit.waited_at_ms = s->now_ms;
}

/* The clock of open_wait, as the engine keeps it. */
static void time_went_by(struct scene *s, struct endpoint_state *e)
{
	e->circuit.waited_ms = s->now_ms - e->circuit.opened_ms;
	e->circuit.waited_at_ms = s->now_ms;
	e->gate.paced_until_ms = at_ms("14:10:00");
}

static void went_down(struct scene *s, struct endpoint_state *e)
{
	e->circuit.state = CIRCUIT_OPEN;
	e->circuit.generation = 2;
	e->circuit.failures = 5;
	e->circuit.opened_ms = e->circuit.waited_at_ms = s->now_ms;
	e->circuit.reset_ms = 120000;
	e->circuit.probe_at_ms = s->now_ms + 120000;
}

static void is_probed(struct scene *s, struct endpoint_state *e)
{
	(void)s;
	e->circuit.state = CIRCUIT_PROBING;
	e->circuit.probe_id = 1;
}

/* --- the night: oracle-legacy --- */

static void night(struct scene *s)
{
	at(s, "02:30:00");
	for (int p = 0; p < PLACES; p++)
		place_id(s, (enum place)p);
	at(s, "03:13:58");
	submit_many(s, ORACLE, "2004", 101, 6, "V1", "LB");
	go(s, ORACLE, 6, &CREATED);
	judge(s, ORACLE, went_well);
	at(s, "03:17:00");
	submit_many(s, ORACLE, "2004", 110, 88, "V1", "LB");
	at(s, "03:20:00");
	judge(s, ORACLE, log_in_refused);
}

/* --- the morning: the subject that is asked for --- */

static void subject_1001_014(struct scene *s)
{
	static const struct visit good[] = {
		{"1001-014", "SCREENING", "DM", NULL, NULL, NULL, NULL},
		{"1001-014", "SCREENING", "VITALS", NULL, NULL, NULL, NULL},
		{"1001-014", "SCREENING", "LB", NULL, NULL, NULL, NULL},
		{"1001-014", "SCREENING", "AE", "1", NULL, NULL, NULL},
		{"1001-014", "V2", "LB", NULL, NULL, NULL, NULL},
		{"1001-014", "V2", "AE", "1", NULL, NULL, NULL},
		{"1001-014", "V2", "AE", "2", NULL, NULL, NULL},
	}, refused = {"1001-014", "V2", "AE", "3", NULL, NULL, NULL},
	  elsewhere = {"1001-014", "V1", "DM", NULL, NULL, "ONC-205", NULL},
	  star = {"1001-014", "V2", "VITALS", NULL, SCENE_STAR, NULL, NULL};

	at(s, "10:30:00");
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		deliver(s, VEEVA, &good[i], &CREATED);
	deliver(s, VEEVA, &refused, &FORBIDDEN);
	deliver(s, RAVE, &elsewhere, &CREATED);
	at(s, "11:44:07.900");
	submit(s, VEEVA, &star);
	at(s, "11:44:08.120");
	go(s, VEEVA, 1, &GATEWAY);
	at(s, "11:44:42.002");
	go(s, VEEVA, 1, &GATEWAY);
}

/* --- the outage of veeva-eu, in waves --- */

/* Put, cut by the gateway; put again, cut again: given up. */
static void wave(struct scene *s, const char *began, const char *again,
		 const char *site, int first, int n, const char *form)
{
	at(s, began);
	submit_many(s, VEEVA, site, first, n, "V2", form);
	go(s, VEEVA, n, &GATEWAY);
	at(s, again);
	go(s, VEEVA, n, &GATEWAY);
}

static void first_wave(struct scene *s)
{
	at(s, "11:46:15");
	submit_many(s, VEEVA, "1001", 20, 28, "V2", "VITALS");
	submit_many(s, VEEVA, "1002", 3, 2, "V2", "AE");
	go(s, VEEVA, 30, &GATEWAY);
	at(s, "11:47:46");
	go(s, VEEVA, 30, &GATEWAY);
}

static void notes_and_takings(struct scene *s)
{
	static const char *const notes[] = {
		"Called the Vault desk, ticket 88-1204: gateway overloaded",
		"Site asked; told them that nothing is lost",
	};
	struct act act = act_of(s, ACT_ANNOTATE, "msmith", NULL, NULL);
	struct op op;
	int64_t id;

	op_init(&op);
	must(s, s->store->ops->op_find(s->store, SCENE_STAR, &op));
	id = op.op;
	op_release(&op);
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++) {
		s->now_ms += 60000;
		act.reason = notes[i];
		act_on(s, &act, &id, 1);
	}
	load(s, id, &op);
	free(op.assigned);
	op.assigned = xstrdup("msmith");
	begin(s);
	op.version++;
	must(s, work_save(s->store, &op, op.version - 1,
			  config_endpoint(s->config, SPAN("veeva-eu")),
			  s->now_ms));
	commit(s);
	op_release(&op);
}

/* Sent back by a person while the gateway still was down: they are looked up,
 * are not there, are sent, and come back. */
static void two_come_back(struct scene *s)
{
	struct act act = act_of(s, ACT_REPLAY, "jdoe", "VENDOR_RECOVERED",
				"the desk says it works again");
	int64_t ids[2];
	int n;

	n = s->store->ops->op_scan(s->store, OP_DEAD, 0, 0, 2, ids);
	if (n != 2)
		scene_fail("they are dead by now");
	act_on(s, &act, ids, 2);
	s->now_ms += 900;
	go(s, VEEVA, 2, &NOTHING_FOUND);
	s->now_ms += 40;
	go(s, VEEVA, 2, &GATEWAY);
	s->now_ms += 3600;
	go(s, VEEVA, 2, &GATEWAY);
}

static void waves(struct scene *s)
{
	first_wave(s);
	at(s, "12:00:00");
	notes_and_takings(s);
	at(s, "12:10:00");
	two_come_back(s);
}

/* --- rave-prod: ordinary business, and its own troubles --- */

static void business(struct scene *s)
{
	at(s, "12:20:00");
	submit_many(s, RAVE, "1003", 1, 40, "V1", "DM");
	go(s, RAVE, 16, &CREATED);
	go(s, RAVE, 16, &CREATED);
	go(s, RAVE, 8, &CREATED);
	submit_many(s, RAVE, "1007", 1, 12, "V1", "LB");
	go(s, RAVE, 12, &QUEUED_JOB);
	s->now_ms += 2000;
	go(s, RAVE, 12, &JOB_ANSWER);
	judge(s, RAVE, went_well);
}

/* Accepted, watched until the budget is over; and one with nothing to
 * watch. */
static void unwatched(struct scene *s)
{
	static const struct visit slow = {"1003-007", "V3", "LB", NULL, NULL,
					  NULL, NULL},
		blind = {"1003-008", "V3", "LB", NULL, NULL, NULL, NULL};
	struct op op;
	int64_t id;

	at(s, "12:24:00");
	deliver(s, RAVE, &blind, &ACCEPTED_ONLY);
	id = deliver(s, RAVE, &slow, &QUEUED_JOB);
	for (;;) {
		load(s, id, &op);
		if (op.state != OP_POLLING)
			break;
		if (op.due_at_ms > s->now_ms)
			s->now_ms = op.due_at_ms;
		op_release(&op);
		go(s, RAVE, 1, &STILL_RUNNING);
	}
	if (op.state != OP_UNWATCHED)
		scene_fail("its budget ends unwatched");
	op_release(&op);
}

static void discarded(struct scene *s)
{
	static const struct visit test = {"9999-001", "V1", "DM", NULL, NULL,
					  NULL, NULL};
	struct act act;
	int64_t id;

	at(s, "12:40:00");
	id = deliver(s, RAVE, &test, &NO_FORM);
	s->now_ms += 300000;
	act = act_of(s, ACT_DISCARD, "jdoe", "TEST_DATA",
		     "a subject of the training, not of the study");
	act_on(s, &act, &id, 1);
}

/* An edit: the new one takes the place of the one it supersedes. */
static void superseded(struct scene *s)
{
	static const struct visit old = {"1005-002", "V2", "VITALS", NULL,
		NULL, NULL, "{\"values\":{\"SYSBP\":1280}}"},
		new = {"1005-002", "V2", "VITALS", NULL, NULL, NULL,
		"{\"values\":{\"SYSBP\":128}}"};
	const struct endpoint_config *c =
		config_endpoint(s->config, SPAN("rave-prod"));
	int64_t a = deliver(s, RAVE, &old, &FORBIDDEN), b;
	struct op op;

	s->now_ms += 60000;
	begin(s);
	load(s, a, &op);
	op_apply(&op, EV_SUPERSEDE, s->now_ms);
	must(s, work_save(s->store, &op, op.version - 1, c, s->now_ms));
	op_release(&op);
	commit(s);
	b = submit(s, RAVE, &new);
	begin(s);
	load(s, b, &op);
	op.supersedes = a;
	op.version++;
	must(s, work_save(s->store, &op, op.version - 1, c, s->now_ms));
	op_release(&op);
	commit(s);
	go(s, RAVE, 1, &CREATED);
	/* Its first content once more: a person is asked. */
	if (submit(s, RAVE, &old))
		scene_fail("a returning content was queued");
}

/* Mode key without a look-up: five sends, each cut. */
static void resets(struct scene *s)
{
	at(s, "12:50:30");
	submit_many(s, RAVE, "1004", 1, 13, "V2", "VITALS");
	for (int i = 0; i < 5; i++) {
		if (i)
			s->now_ms += 100000;
		go(s, RAVE, 13, &RESET);
	}
}

static void refusals(struct scene *s)
{
	static const struct visit range = {"1006-001", "V2", "VITALS", NULL,
		NULL, NULL, "{\"values\":{\"SYSBP\":12}}"},
		locked[] = {{"1006-002", "V2", "VITALS", NULL, NULL, NULL,
			     NULL},
			    {"1006-003", "V2", "DM", NULL, NULL, NULL, NULL}},
		form = {"1006-004", "V2", "ECG2", NULL, NULL, NULL, NULL},
		partly = {"1006-005", "V2", "LB", NULL, NULL, NULL, NULL};

	at(s, "13:40:00");
	deliver(s, RAVE, &range, &FORBIDDEN);
	deliver(s, RAVE, &locked[0], &LOCKED);
	deliver(s, RAVE, &locked[1], &LOCKED);
	deliver(s, RAVE, &form, &NO_FORM);
	deliver(s, RAVE, &partly, &QUEUED_JOB);
	s->now_ms += 2000;
	go(s, RAVE, 1, &PARTLY);
}

/* --- oracle-legacy: what waited too long for it --- */

static void open_wait_over(struct scene *s)
{
	const struct endpoint_config *c =
		config_endpoint(s->config, SPAN("oracle-legacy"));
	struct credit credit = {.config = c, .total = 1};
	int n;

	at(s, "13:21:00");
	judge(s, ORACLE, time_went_by);
	credit.endpoint = place_id(s, ORACLE);
	begin(s);
	n = work_ends(s->store, &credit, 28, s->now_ms);
	if (n != 28)
		scene_fail("%d waited too long, not 28", n);
	commit(s);
}

static void pause_uat(struct scene *s)
{
	struct act act = act_of(s, ACT_PAUSE, "msmith", "MAINTENANCE",
				"vendor maintenance");
	struct act_item item = {.version = 0};

	at(s, "13:50:00");
	submit_many(s, UAT, "9001", 1, 3, "V1", "DM");
	must(s, act_on_endpoint(s->store, &act, "rave-uat", 0, 0, s->now_ms,
				&item));
	if (item.result != ACT_DONE && item.result != ACT_REQUESTED)
		scene_fail("pause: %s", item.words);
}

/* --- the last minutes --- */

static void waiting(struct scene *s)
{
	static const struct visit later = {"1001-014", "V3", "VITALS", NULL,
					   NULL, NULL, NULL};

	at(s, "13:56:00");
	submit_many(s, VEEVA, "1008", 1, 2, "V1", "DM");
	go(s, VEEVA, 2, &CREATED);
	judge(s, VEEVA, went_well);
	deliver(s, VEEVA, &later, &MAINTENANCE);
	wave(s, "13:56:30", "13:57:31", "1002", 200, 12, "VITALS");
	at(s, "13:58:10");
	judge(s, VEEVA, went_down);
	at(s, "14:00:00");
	submit_many(s, RAVE, "1009", 1, 6, "V3", "DM");
	go(s, RAVE, 6, &UNAVAILABLE);
	at(s, "14:00:40");
	go(s, RAVE, 6, &BUSY);
	at(s, "14:01:59");
	submit_many(s, RAVE, "1009", 20, 7, "V3", "LB");
	go(s, RAVE, 7, &QUEUED_JOB);
	at(s, "14:02:05");
	go(s, RAVE, 6, &STILL_LATER);
	go(s, RAVE, 1, &RESULT_LATER);
}

/* One on the wire: an intent without an answer, and how far it is. */
static void live(struct scene *s, struct intent *i, int slot,
		 const char *phase)
{
	struct live_row row = {.slot = slot, .op = i->op.op,
		.endpoint = i->op.endpoint, .n = i->op.tries,
		.kind = i->kind, .since_ms = i->started_ms};

	text_set(row.phase, sizeof(row.phase), span_of(phase));
	begin(s);
	must(s, s->store->ops->live_put(s->store, &row));
	commit(s);
	intent_free(i);
}

static void last_seconds(struct scene *s)
{
	static const struct visit again = {"1001-011", "V3", "DM", NULL, NULL,
					   NULL, NULL},
		slow = {"1001-021", "V3", "AE", "1", NULL, NULL, NULL};

	at(s, "14:02:12.800");
	submit(s, RAVE, &slow);
	live(s, claim(s, RAVE, 1), 0, "wait");
	at(s, "14:02:20");
	deliver(s, RAVE, &again, &UNAVAILABLE);
	at(s, "14:02:26");
	go(s, RAVE, 1, &CREATED);
	judge(s, RAVE, went_well);
	at(s, "14:02:28");
	submit_many(s, RAVE, "1010", 1, 33, "V1", "DM");
	submit_many(s, VEEVA, "1010", 1, 9, "V1", "DM");
}

/* Three more that were just begun, and the probe of the endpoint that was
 * down. */
static void on_the_wire(struct scene *s)
{
	static const char *const phases[] = {"send", "tls", "recv"};
	struct live_row probe = {.slot = 4, .kind = ATTEMPT_PROBE,
		.phase = "wait", .since_ms = at_ms("14:02:27.300")};

	at(s, "14:02:30.700");
	for (int i = 0; i < 3; i++)
		live(s, claim(s, RAVE, 1), 1 + i, phases[i]);
	judge(s, VEEVA, is_probed);
	probe.endpoint = place_id(s, VEEVA);
	begin(s);
	must(s, s->store->ops->live_put(s->store, &probe));
	commit(s);
}

/* An hour of minutes, with the hole that the reader is to see. */
static void gauges(struct scene *s)
{
	int64_t now = SCENE_NOW / 60000, rave = place_id(s, RAVE),
		veeva = place_id(s, VEEVA);

	begin(s);
	for (int i = 0; i < 60; i++) {
		struct gauge_row r = {.endpoint = rave, .minute = now - i,
			.done = i > 60 - 12 ? 0 : 900 + i * 7 % 400,
			.retried = i % 5, .failed = i % 9 == 0},
			v = {.endpoint = veeva, .minute = now - i,
			     .done = i < 40 ? 0 : 60, .retried = i < 40};

		r.histogram[8] = (uint32_t)r.done;
		r.histogram[10] = (uint32_t)(r.done / 20);
		v.histogram[15] = (uint32_t)v.retried;
		v.histogram[9] = (uint32_t)v.done;
		must(s, s->store->ops->gauge_add(s->store, &r));
		must(s, s->store->ops->gauge_add(s->store, &v));
	}
	commit(s);
}

void scene_study(struct scene *s)
{
	night(s);
	subject_1001_014(s);
	waves(s);
	business(s);
	unwatched(s);
	discarded(s);
	superseded(s);
	resets(s);
	wave(s, "13:00:30", "13:01:31", "1002", 100, 80, "VITALS");
	open_wait_over(s);
	wave(s, "13:30:30", "13:31:31", "1001", 200, 120, "VITALS");
	refusals(s);
	wave(s, "13:45:30", "13:46:31", "1007", 100, 88, "LB");
	pause_uat(s);
	wave(s, "13:52:30", "13:53:31", "1011", 1, 40, "VITALS");
	waiting(s);
	last_seconds(s);
	on_the_wire(s);
	at(s, "14:02:31");
	gauges(s);
}
