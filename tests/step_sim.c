#include <config.h>

#include "step_sim_priv.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine_priv.h"
#include "store/audit.h"
#include "store/intake.h"

static const char sim_text[] =
"{\"profile\": \"sim\", \"version\": 1,"
" \"send\": {\"content_type\": \"application/json\", \"method\": \"POST\","
"  \"path\": \"/records\", \"headers\": {\"Idempotency-Key\": \"{key}\","
"  \"X-Op-ID\": \"{op_id}\"}},"
" \"idempotency\": {\"modes\": [\"key\", \"natural\", \"lookup\", \"none\"],"
"  \"default\": \"key\"},"
" \"rules\": ["
"  {\"name\": \"queued\", \"if\": {\"status\": [202]}, \"verdict\": \"poll\","
"   \"take\": {\"job_id\": [{\"json\": \"/job_id\"}]}},"
"  {\"name\": \"created\", \"if\": {\"status\": [201]},"
"   \"verdict\": \"commit\"}],"
" \"poll\": {\"url\": \"{base_url}/jobs/{job_id}\","
"  \"word\": [{\"json\": \"/status\"}], \"done\": [\"completed\"],"
"  \"failed\": [\"failed\"], \"result\": {\"if\": {\"json\": \"/log\","
"   \"exists\": true}, \"from\": {\"json\": \"/log\"}, \"items\": ["
"   {\"json\": \"/rows/*\", \"status\": \"/s\", \"failed\": [\"out\"],"
"    \"taken\": [\"in\"]}]}},"
" \"lookup\": {\"request\": \"GET {path}?op_id={op_id}\","
"  \"items\": [\"/items\"], \"tag\": [\"/op_id\"], \"id\": \"/id\","
"  \"next\": \"/next\", \"tag_stored\": true},"
" \"health\": {\"request\": \"GET {base_url}/health\"}}";

static const char blind_text[] =
"{\"profile\": \"blind\", \"version\": 1,"
" \"send\": {\"content_type\": \"application/json\", \"method\": \"POST\","
"  \"path\": \"/records\", \"headers\": {\"X-Op-ID\": \"{op_id}\"}},"
" \"idempotency\": {\"modes\": [\"none\"], \"default\": \"none\"},"
" \"rules\": ["
"  {\"name\": \"queued\", \"if\": {\"status\": [202]}, \"verdict\": \"poll\","
"   \"take\": {\"job_id\": [{\"json\": \"/job_id\"}]}},"
"  {\"name\": \"created\", \"if\": {\"status\": [201]},"
"   \"verdict\": \"commit\"},"
"  {\"name\": \"the-rest\", \"if\": {\"status\": \"203-299\"},"
"   \"verdict\": \"unknown\"}],"
" \"poll\": {\"url\": \"{base_url}/jobs/{job_id}\","
"  \"word\": [{\"json\": \"/status\"}], \"done\": [\"completed\"],"
"  \"failed\": [\"failed\"], \"result\": {\"if\": {\"json\": \"/log\","
"   \"exists\": true}, \"url\": \"{base_url}/jobs/{job_id}/log\","
"   \"items\": [{\"csv\": \",\", \"status\": \"S\", \"failed\": [\"out\"],"
"    \"taken\": [\"in\"]}]}}}";

static const char policy_text[] =
"\"max_in_flight\": 4, \"order\": \"subject\","
"\"retry\": {\"base_ms\": 500, \"cap_ms\": 5000, \"max_attempts\": 5,"
" \"unknown_min_ms\": 500, \"connect_timeout_ms\": 1000,"
" \"answer_timeout_ms\": 3000, \"budget_floor_per_s\": 5},"
"\"circuit\": {\"fail_max\": 5, \"reset_ms\": 5000, \"reset_cap_ms\": 20000},"
"\"poll\": {\"first_ms\": 500, \"cap_ms\": 2000, \"budget_ms\": 60000},"
"\"lookup\": {\"settle_ms\": 4000}";

const struct sim_place sim_places[SIM_PLACES] = {
	{"key", "sim", "key", "POST", ", \"credential\": {\"kind\":"
	 " \"oauth2_client_credentials\", \"token_url\":"
	 " \"https://sim.example/token\", \"client_id\": \"c\","
	 " \"client_secret_file\": \"secret\"}"},
	{"natural", "sim", "natural", "PUT", ""},
	{"lookup", "sim", "lookup", "POST",
	 ", \"rate\": {\"per_second\": 0, \"burst\": 0}"},
	{"none", "blind", "none", "POST", ""},
};

/* ---- effects ------------------------------------------------------------ */

static void on_effect(void *ctx, struct effect *e)
{
	struct sim *s = ctx;

	if (s->crash_in >= 0 && s->crash_in-- == 0)
		s->crashed = true;
	if (s->crashed) {
		/* The process is gone: nothing of this takes place. */
		if (e->kind == EFFECT_OUTCOME)
			outcome_free(e->outcome);
		return;
	}
	switch (e->kind) {
	case EFFECT_START:
		vendor_start(s, e);
		break;
	case EFFECT_OUTCOME:
		batch_outcome(s->filling, e->outcome);
		break;
	case EFFECT_REQUEST:
		batch_answered(s->filling, e->request_id, e->good, e->text);
		break;
	case EFFECT_READ_SECRET:
	case EFFECT_LOG_IN:
		s->secret_asked[e->endpoint] = true;
		s->others[e->endpoint] = e->kind == EFFECT_LOG_IN &&
					 !e->anyway;
		break;
	case EFFECT_CANCEL:
		vendor_cut(s, e);
		break;
	case EFFECT_LOG_IN_OVER:
	case EFFECT_TOKEN_REFUSED:
		break;
	case EFFECT_ALERT:
		s->alerts++;
		s->urgent += e->urgent;
		break;
	case EFFECT_LOG:
		if (getenv("EDCSYNC_SIM_SHOW"))
			print_message("%8" PRId64 " %s\n", s->now.utc_ms -
				      SIM_EPOCH_MS, e->text);
		break;
	}
}

/* Now and then another process is about it, was, or was too often; its token
 * may be good or over. */
static void others_log_in(struct sim *s, struct event *e, char token[16])
{
	int roll = s->faults ? (int)(sim_chance(s) % 12) : 99;

	if (roll > 4)
		return;
	e->kind = EVENT_LOG_IN;
	e->turn = roll < 2 ? LOG_IN_BUSY : roll < 3 ? LOG_IN_LATER :
		  LOG_IN_SHARED;
	e->wait_ms = 700;
	e->lifetime_ms = 20000;
	e->age_ms = 3000;
	snprintf(token, 16, "t%d", s->token_good - (roll == 4));
	e->secret = span_of(token);
}

void sim_event(struct sim *s, struct event event)
{
	s->steps++;
	engine_step(s->world, s->now, &event, 1, on_effect, s);
	for (size_t i = 0; i < SIM_PLACES && !s->crashed; i++) {
		struct event secret = {.kind = EVENT_SECRET, .endpoint = i,
				       .ok = true, .secret = SPAN("hush")};
		char token[16];

		if (!s->secret_asked[i])
			continue;
		if (s->others[i])
			others_log_in(s, &secret, token);
		s->secret_asked[i] = false;
		engine_step(s->world, s->now, &secret, 1, on_effect, s);
	}
}

/* ---- batches ------------------------------------------------------------ */

static void take_controls(struct sim *s, struct batch *b)
{
	for (size_t i = 0; i < SIM_PLACES && !s->crashed; i++) {
		sim_event(s, (struct event){.kind = EVENT_CONTROL,
			  .endpoint = i, .control = &b->controls[i]});
		s->told_paused[i] = b->controls[i].paused;
	}
}

static void take_batch(struct sim *s, struct batch *b)
{
	bool got = b->intents != NULL;

	while (b->intents && !s->crashed) {
		struct intent *in = b->intents;
		size_t place = 0;

		b->intents = in->next;
		in->next = NULL;
		while (s->ids[place] != in->op.endpoint)
			place++;
		MUST(s, !s->paused[place]);
		sim_event(s, (struct event){.kind = EVENT_INTENT,
			  .intent = in});
	}
	if (!s->crashed)
		sim_event(s, (struct event){.kind = EVENT_CLAIMED});
	if (b->controls_set && !s->crashed)
		take_controls(s, b);
	s->due_ms = b->more ? s->now.utc_ms : b->next_due_ms;
	if (!b->more && b->claim && !got && s->due_ms <= s->now.utc_ms)
		s->due_ms = s->now.utc_ms + 50;
}

static void commit_batch(struct sim *s)
{
	struct batch *b = s->under_way;
	int rc;

	if (!b || s->now.utc_ms < s->batch_ms)
		return;
	if (s->faults && sim_one_in(s, 80)) {
		/* The disk is full: kept, tried again, nothing starts. */
		if (!s->trouble)
			sim_event(s, (struct event){.kind = EVENT_STORE});
		s->trouble = true;
		b->claim = false;
		s->batch_ms = s->now.utc_ms + 200;
		return;
	}
	b->now_ms = s->now.utc_ms;
	rc = batch_commit(&s->commit, b);
	if (rc < 0)
		print_error("%s\n", store_error(s->store));
	MUST(s, rc == ST_OK);
	s->under_way = NULL;
	if (s->trouble)
		sim_event(s, (struct event){.kind = EVENT_STORE, .ok = true});
	s->trouble = false;
	if (!s->crashed)
		take_batch(s, b);
	batch_free(b);
}

static void submit_batch(struct sim *s)
{
	struct batch *b = s->filling;
	bool claim = s->due_ms <= s->now.utc_ms;

	if (s->under_way || s->crashed)
		return;
	engine_batch(s->world, s->now, claim, b->credits, b->changes);
	b->claim = false;
	for (size_t i = 0; i < SIM_PLACES; i++)
		b->claim |= b->credits[i].total > 0;
	if (s->now.utc_ms >= s->ends_ms) {
		s->ends_ms = s->now.utc_ms + 1000;
		b->ends = b->read_controls = true;
		b->want_idle = !s->faults;
	}
	if (batch_empty(b))
		return;
	s->under_way = b;
	s->filling = batch_new(SIM_PLACES);
	s->batch_ms = s->now.utc_ms + sim_between(s, 0, 15);
}

/* ---- people ------------------------------------------------------------- */

void sim_control(struct sim *s, size_t i, bool paused, bool resume)
{
	struct endpoint_control c = {.endpoint = s->ids[i], .paused = paused,
		.by = (char *)"ann", .reason = (char *)"test",
		.at_ms = s->now.utc_ms};

	s->resume_seq[i] += resume;
	c.resume_seq = s->resume_seq[i];
	MUST(s, s->store->ops->begin(s->store, DURABLE) == ST_OK);
	MUST(s, s->store->ops->control_put(s->store, &c) == ST_OK);
	MUST(s, s->store->ops->commit(s->store) == ST_OK);
	s->paused[i] = paused;
}

static void people(struct sim *s)
{
	size_t i = (size_t)sim_between(s, 0, SIM_PLACES - 1);

	if (s->nobody)
		return;
	if (s->paused[i] && (sim_one_in(s, 20) || !s->faults))
		sim_control(s, i, false, true);
	else if (s->faults && !s->paused[i] && sim_one_in(s, 400))
		sim_control(s, i, true, false);
	else if (engine_state(s->world, i)->halt != HALT_NONE &&
		 engine_state(s->world, i)->resume_seen == s->resume_seq[i] &&
		 sim_one_in(s, 50))
		sim_control(s, i, false, true);
}

/* ---- life cycle --------------------------------------------------------- */

static void open_engine(struct sim *s)
{
	struct endpoint_state states[SIM_PLACES];
	struct endpoint_control controls[SIM_PLACES];
	struct engine e = {.setup.config = s->config, .places = SIM_PLACES,
			   .ids = s->ids, .states = states,
			   .controls = controls, .now = s->now};
	struct engine_options o = {
		.config = s->config, .endpoint_ids = s->ids, .states = states,
		.controls = controls, .seed = sim_chance(s), .now = s->now};

	memset(states, 0, sizeof(states));
	memset(controls, 0, sizeof(controls));
	snprintf(e.name, sizeof(e.name), "%s", s->engine);
	s->commit = (struct commit){.store = s->store, .config = s->config,
		.endpoint_ids = s->ids, .engine = s->engine,
		.random = sim_chance(s)};
	e.commit = s->commit;
	MUST(s, engine_open_world(&e) == ST_OK);
	s->world = engine_world_new(&o);
	for (size_t i = 0; i < SIM_PLACES; i++) {
		s->told_paused[i] = controls[i].paused;
		endpoint_control_release(&controls[i]);
		s->secret_asked[i] = false;
	}
	/* What died with the old engine before it was stored, nobody knows. */
	for (size_t i = 0; i < SIM_PLACES; i++)
		if (s->not_before_ms[i] > states[i].gate.paced_until_ms)
			s->not_before_ms[i] = states[i].gate.paced_until_ms;
	s->filling = batch_new(SIM_PLACES);
	s->due_ms = s->ends_ms = s->now.utc_ms;
	s->crash_in = -1;
	s->crashed = false;
}

/* kill -9: memory is gone; what left goes on at the vendor. A batch that was
 * being written is there or is not. */
static void crash(struct sim *s)
{
	s->crashes++;
	if (getenv("EDCSYNC_SIM_SHOW"))
		print_message("%8" PRId64 " crash\n",
			      s->now.utc_ms - SIM_EPOCH_MS);
	if (s->under_way && sim_one_in(s, 2)) {
		s->under_way->now_ms = s->now.utc_ms;
		MUST(s, batch_commit(&s->commit, s->under_way) == ST_OK);
	}
	batch_free(s->under_way);
	batch_free(s->filling);
	s->under_way = s->filling = NULL;
	engine_world_free(s->world);
	for (struct sim_request *r = s->wire; r < s->wire + SIM_WIRE_MAX; r++)
		if (r->transfer) {
			if (r->op >= 0)
				s->op[r->op].in_flight--;
			r->transfer = 0;
			r->orphan = r->act_ms > 0;
		}
	s->trouble = false;
	s->now.utc_ms += 100;
	s->now.boot_ms += 100;
	open_engine(s);
}

static void advance(struct sim *s)
{
	int64_t by = sim_between(s, 1, 40);

	s->now.utc_ms += by;
	s->now.boot_ms += by;
}

void sim_turn(struct sim *s)
{
	advance(s);
	vendor_jobs(s);
	vendor_wire(s);
	if (!s->crashed)
		commit_batch(s);
	if (!s->crashed)
		sim_event(s, (struct event){.kind = EVENT_TICK});
	if (!s->crashed)
		submit_batch(s);
	if (!s->crashed)
		people(s);
	if (s->faults && s->crash_in < 0 && sim_one_in(s, 500))
		s->crash_in = (int)sim_between(s, 0, 8);
	if (s->crashed)
		crash(s);
}

void sim_run(struct sim *s, int64_t for_ms)
{
	int64_t until = s->now.utc_ms + for_ms;

	s->faults = true;
	while (s->now.utc_ms < until)
		sim_turn(s);
}

static bool at_rest(struct sim *s)
{
	bool idle = false;
	int64_t due = 0;

	if (engine_in_flight(s->world) || s->under_way ||
	    !batch_empty(s->filling))
		return false;
	MUST(s, s->store->ops->begin(s->store, DURABLE) == ST_OK);
	MUST(s, work_idle(s->store, s->config, s->now.utc_ms, &idle,
			  &due) == ST_OK);
	MUST(s, s->store->ops->commit(s->store) == ST_OK);
	for (size_t i = 0; i < SIM_PLACES; i++)
		if (s->paused[i] ||
		    engine_state(s->world, i)->halt != HALT_NONE)
			return false;
	return idle;
}

void sim_finish(struct sim *s)
{
	int64_t until = s->now.utc_ms + 3600000;

	s->faults = false;
	s->crash_in = -1;
	memset(s->down_until_ms, 0, sizeof(s->down_until_ms));
	while (!at_rest(s)) {
		for (int i = 0; i < 25; i++)
			sim_turn(s);
		MUST(s, s->now.utc_ms < until);
	}
}

static void describe(struct sim *s)
{
	for (int i = 0; i < s->ops; i++) {
		struct op op;

		op_init(&op);
		s->store->ops->op_find(s->store, s->op[i].op_id, &op);
		print_message("%-14s %-10s next %s flags %x reason %s due %"
			      PRId64 " attempts %d tries %d runnable %d "
			      "commits %d refuse %d\n", s->op[i].op_id,
			      op_state_name(op.state), op_next_name(op.next),
			      op.flags, op_reason_name(op.reason),
			      op.due_at_ms ? op.due_at_ms - s->now.utc_ms : 0,
			      op.attempts, op.tries, op.runnable,
			      s->op[i].commits, s->op[i].refuse);
		op_release(&op);
	}
}

/* Does an earlier version of its record wait for a person, who alone can let
 * it go on? The rest of the subject never waits for that. */
static bool held_back(struct sim *s, const struct sim_op *o)
{
	bool held = false;

	for (int i = 0; i < s->ops; i++) {
		struct op op;

		if (s->op[i].record != o->record || &s->op[i] >= o)
			continue;
		op_init(&op);
		MUST(s, s->store->ops->op_find(s->store, s->op[i].op_id,
					       &op) == ST_OK);
		held |= op.state == OP_UNWATCHED ||
			op.flags & OP_OUTCOME_UNKNOWN;
		op_release(&op);
	}
	return held;
}

static void check_op(struct sim *s, const struct sim_op *o)
{
	struct op op;
	bool unsure;

	op_init(&op);
	MUST(s, s->store->ops->op_find(s->store, o->op_id, &op) == ST_OK);
	unsure = op.flags & (OP_OUTCOME_UNKNOWN | OP_PARTIAL);
	MUST(s, op.attempts <= 5);
	switch (op.state) {
	case OP_COMMITTED:
		MUST(s, o->commits == 1);
		/* Else the vendor itself said that it took all of it. */
		MUST(s, !o->partly || o->sends > 1 ||
		     op.evidence == EVIDENCE_LOOK_UP);
		break;
	case OP_REJECTED:
		/* Or its token was revoked again and again. */
		MUST(s, o->refuse || unsure ||
		     op.reason == REASON_UNAUTHORISED);
		MUST(s, o->commits == 0 || unsure);
		break;
	case OP_DEAD:
		MUST(s, o->commits == 0 || unsure);
		break;
	case OP_UNWATCHED:
		break;
	case OP_QUEUED:
		MUST(s, held_back(s, o) && o->commits == 0);
		break;
	default:
		print_error("%s is %s\n", o->op_id, op_state_name(op.state));
		MUST(s, op.state == OP_DEAD);	/* not at rest */
	}
	op_release(&op);
}

void sim_check(struct sim *s)
{
	struct audit_report report;
	char key[96], anchors[96];
	int rc;

	MUST(s, s->store->ops->begin(s->store, DURABLE) == ST_OK);
	if (getenv("EDCSYNC_SIM_SHOW"))
		describe(s);
	for (int i = 0; i < s->ops; i++)
		check_op(s, &s->op[i]);
	s->store->ops->rollback(s->store);
	audit_anchor(s->store, true, s->now.utc_ms);
	memset(&report, 0, sizeof(report));
	snprintf(key, sizeof(key), "%s/audit.key", s->dir);
	snprintf(anchors, sizeof(anchors), "%s/anchors.log", s->dir);
	rc = audit_verify(s->store, anchors, key, NULL, &report);
	MUST(s, rc >= 0);
	MUST(s, report.result == AUDIT_INTACT);
	audit_report_release(&report);
}

/* ---- set-up ------------------------------------------------------------- */

static void make_config(struct sim *s)
{
	struct findings f = {0};
	struct buf text = BUF_INIT;

	buf_adds(&text, "{\"endpoints\": {");
	for (size_t i = 0; i < SIM_PLACES; i++)
		buf_addf(&text, "%s\"%s\": {\"environment\": \"test\", "
			 "\"profile\": \"%s\", \"base_url\": "
			 "\"https://sim.example/api\", \"idempotency\": "
			 "\"%s\", %s%s}", i ? ", " : "", sim_places[i].name,
			 sim_places[i].profile, sim_places[i].mode, policy_text,
			 sim_places[i].extra);
	buf_adds(&text, "}}");
	s->config = config_parse(buf_span(&text), "sim.json", &f);
	s->profiles[0] = profile_load(span_of(sim_text), "sim", NULL, NULL,
				      &f);
	s->profiles[1] = profile_load(span_of(blind_text), "blind", NULL,
				      NULL, &f);
	for (size_t i = 0; s->config && i < SIM_PLACES; i++)
		config_bind(s->config, i, s->profiles[i == SIM_NONE], &f);
	for (size_t i = 0; i < f.n; i++)
		if (!f.v[i].warning)
			print_error("%s:%d: %s\n", f.v[i].file, f.v[i].line,
				    f.v[i].text);
	MUST(s, f.errors == 0);
	findings_release(&f);
	buf_release(&text);
}

void sim_add(struct sim *s, size_t place, int record, int version)
{
	struct sim_op *o = &s->op[s->ops++];
	struct intake_in in = {.config = s->config};
	struct line_result result = {0};
	struct buf text = BUF_INIT;
	struct line line;
	bool own = s->store->tx == TX_IDLE;
	int rc;

	MUST(s, s->ops <= SIM_OPS_MAX);
	if (own)
		MUST(s, s->store->ops->begin(s->store, DURABLE) == ST_OK);
	memset(o, 0, sizeof(*o));
	snprintf(o->op_id, sizeof(o->op_id), "%s-%d-%d", sim_places[place].name,
		 record, version);
	o->place = place;
	o->record = record;
	o->version = version;
	o->refuse = !s->nobody && sim_one_in(s, 10);
	buf_addf(&text, "{\"op_id\":\"%s\",\"endpoint\":\"%s\",\"study_oid\":"
		 "\"S\",\"subject_key\":\"U%d\",\"form_oid\":\"F%d\","
		 "\"method\":\"%s\",\"payload\":{\"v\":%d}}", o->op_id,
		 sim_places[place].name, record / 2, record,
		 sim_places[place].method, version);
	memset(&line, 0, sizeof(line));
	if (!line_parse(&line, buf_span(&text), &in, &result))
		print_error("%s\n", result.error);
	MUST(s, result.result != SUBMIT_REFUSED);
	rc = line_store(s->store, &line, &in, NULL, s->ops, s->now.utc_ms,
			&result);
	if (rc < 0)
		print_error("%s\n", store_error(s->store));
	MUST(s, rc >= 0);
	MUST(s, result.result == SUBMIT_QUEUED ||
	     result.result == SUBMIT_NEWER);
	if (own)
		MUST(s, s->store->ops->commit(s->store) == ST_OK);
	s->due_ms = s->now.utc_ms;
	line_release(&line);
	buf_release(&text);
}

static void add_ops(struct sim *s)
{
	MUST(s, s->store->ops->begin(s->store, DURABLE) == ST_OK);
	for (size_t place = 0; place < SIM_PLACES; place++)
		for (int r = 0; r < 4; r++) {
			int versions = (int)sim_between(s, 1, 4);

			for (int v = 1; v <= versions; v++)
				sim_add(s, place, (int)place * 4 + r, v);
		}
	MUST(s, s->store->ops->commit(s->store) == ST_OK);
}

void sim_open(struct sim *s, uint64_t seed, bool ops)
{
	struct store_options o = {.program = "test", .create = true,
				  .anchor_every_ms = 60000};
	char db[96], key[96], anchors[96];
	struct buf error = BUF_INIT;
	int rc;

	memset(s, 0, sizeof(*s));
	s->seed = s->random = seed;
	s->now.utc_ms = SIM_EPOCH_MS;
	s->now.boot_ms = 1000000;
	s->crash_in = -1;
	snprintf(s->engine, sizeof(s->engine), "1@sim");
	snprintf(s->dir, sizeof(s->dir), "%s/edcsync-sim-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	MUST(s, mkdtemp(s->dir));
	snprintf(db, sizeof(db), "%s/s.db", s->dir);
	snprintf(key, sizeof(key), "%s/audit.key", s->dir);
	snprintf(anchors, sizeof(anchors), "%s/anchors.log", s->dir);
	o.path = db;
	o.key_file = key;
	o.anchor_file = anchors;
	o.now_ms = s->now.utc_ms;
	/* The rules are the same above every back-end. */
	rc = seed % 2 ? store_sqlite_open(&o, &s->store, &error)
		      : store_mem_open(&o, &s->store, &error);
	if (rc < 0)
		print_error("%s\n", buf_text(&error));
	MUST(s, rc >= 0);
	buf_release(&error);
	make_config(s);
	open_engine(s);
	if (ops)
		add_ops(s);
	s->nobody = !ops;
	s->results = ops;
}

void sim_close(struct sim *s)
{
	static const char *const files[] = {"s.db", "s.db-wal", "s.db-shm",
		"s.db-turn", "s.db-engine", "audit.key", "audit.key.pub",
		"anchors.log"};
	char name[128];

	batch_free(s->under_way);
	batch_free(s->filling);
	engine_world_free(s->world);
	store_close(s->store);
	config_free(s->config);
	profile_free(s->profiles[0]);
	profile_free(s->profiles[1]);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(name, sizeof(name), "%s/%s", s->dir, files[i]);
		unlink(name);
	}
	rmdir(s->dir);
}
