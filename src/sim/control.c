/*
 * control.c - plays: /_sim/, the side door of tests and drills.
 *
 *   GET  /_sim/ledger      one object a committed operation, a line each
 *   GET  /_sim/requests    the same of every operation that was seen
 *   GET  /_sim/summary     counts; "operations" unless ?operations=0
 *   GET  /_sim/scenario    what is being played
 *   POST /_sim/scenario    a scenario as body, or ?name= [&seed=]
 *   POST /_sim/reset       forget everything, start the clock again
 */
#include <config.h>

#include <cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/shape.h"
#include "sim/vendor.h"

static void ledger_lines(struct sim *sim, const struct sim_request *q,
			 struct sim_answer *a)
{
	uint32_t op;

	(void)q;
	a->status = 200;
	a->content_type = "application/x-ndjson";
	for (op = 1; op <= sim->ledger.ops_n; op++) {
		if (!ledger_op_at(&sim->ledger, op)->commits)
			continue;
		ledger_write_op(&sim->ledger, op, &a->body);
		buf_addc(&a->body, '\n');
	}
}

/* A document of ours goes out as one line; the tree is freed. */
static void answer_json(struct sim_answer *a, int status, cJSON *doc)
{
	char *text = doc ? cJSON_PrintUnformatted(doc) : NULL;

	assert(text);		/* memory alone can be wrong here */
	a->status = status;
	a->content_type = "application/json";
	buf_adds(&a->body, text);
	buf_addc(&a->body, '\n');
	cJSON_free(text);
	cJSON_Delete(doc);
}

/* Counts stay below 2^53: cJSON keeps them whole. */
static void count(cJSON *to, const char *name, uint64_t n)
{
	cJSON_AddNumberToObject(to, name, (double)n);
}

/* A seed may be larger: written digit for digit. */
static void whole(cJSON *to, const char *name, uint64_t n)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, n);
	cJSON_AddRawToObject(to, name, digits);
}

static void seen(const struct sim_op *o, cJSON *to)
{
	for (int k = 0; k < SIM_KINDS; k++)
		if (o->seen[k])
			count(to, sim_kind_name((enum sim_kind)k), o->seen[k]);
	count(to, "faults", o->faults);
	count(to, "commits", o->commits);
}

static void request_lines(struct sim *sim, const struct sim_request *q,
			  struct sim_answer *a)
{
	(void)q;
	for (uint32_t op = 1; op <= sim->ledger.ops_n; op++) {
		const struct sim_op *o = ledger_op_at(&sim->ledger, op);
		cJSON *line = cJSON_CreateObject();

		cJSON_AddStringToObject(line, "identity", o->identity);
		seen(o, line);
		answer_json(a, 200, line);
	}
	a->status = 200;
	a->content_type = "application/x-ndjson";
}

/* Rules of one name are counted together. */
static void faults(const struct sim *sim, cJSON *to)
{
	const struct scenario *s = &sim->scenario;
	cJSON *list = cJSON_AddObjectToObject(to, "faults");

	for (size_t i = 0; i < s->rules; i++) {
		cJSON *one = cJSON_GetObjectItemCaseSensitive(list,
							s->rule[i].name);

		if (one)
			cJSON_SetNumberValue(one, one->valuedouble +
					     (double)sim->hits[i]);
		else
			count(list, s->rule[i].name, sim->hits[i]);
	}
}

static void jobs(const struct ledger *l, cJSON *to)
{
	uint64_t n[SIM_REMOVED + 1] = {0}, never = 0;
	cJSON *list = cJSON_AddObjectToObject(to, "jobs");

	for (uint32_t i = 1; i <= l->records_n; i++) {
		const struct sim_record *r = ledger_record_at(l, i);

		if (!r->job)
			continue;
		if (r->state == SIM_RUNNING && r->outcome == SIM_NEVER)
			never++;
		else
			n[r->state]++;
	}
	count(list, "done", n[SIM_COMMITTED]);
	count(list, "failed", n[SIM_JOB_FAILED]);
	count(list, "partial", n[SIM_JOB_PARTIAL]);
	count(list, "running", n[SIM_RUNNING]);
	count(list, "never", never);
}

static void counts(const struct sim *sim, cJSON *to)
{
	const struct sim_counts *c = &sim->count;
	const struct {
		const char *name;
		uint64_t n;
	} list[] = {
		{"operations_seen", sim->ledger.ops_n},
		{"committed", sim->ledger.committed_ops},
		{"commits", sim->ledger.commits},
		{"duplicates", sim->ledger.duplicates},
		{"replayed", c->replayed},
		{"key_mismatch", c->key_mismatch},
		{"refused", c->refused},
		{"early", c->early}, {"early_polls", c->early_polls},
		{"unknown_job", c->unknown_job},
		{"unauthorised", c->unauthorised},
		{"tokens", c->tokens}, {"token_refused", c->token_refused},
		{"bad", c->bad}, {"control", c->control},
		{"in_flight", (uint64_t)sim->in_flight},
		{"max_in_flight", (uint64_t)sim->in_flight_max},
		{"max_connections", (uint64_t)sim->connections_max},
		{"payloads_dropped", sim->ledger.payloads_dropped}
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		count(to, list[i].name, list[i].n);
}

static void operations(const struct ledger *l, cJSON *to)
{
	cJSON *list = cJSON_AddObjectToObject(to, "operations");

	for (uint32_t op = 1; op <= l->ops_n; op++) {
		const struct sim_op *o = ledger_op_at(l, op);

		seen(o, cJSON_AddObjectToObject(list, o->identity));
	}
}

static void summary(struct sim *sim, const struct sim_request *q,
		    struct sim_answer *a)
{
	cJSON *doc = cJSON_CreateObject(), *requests;

	cJSON_AddStringToObject(doc, "scenario", sim->scenario.name);
	cJSON_AddStringToObject(doc, "profile", sim->scenario.profile);
	whole(doc, "seed", sim->scenario.seed);
	count(doc, "since_ms", (uint64_t)sim_since(sim, q->now_ms));
	requests = cJSON_AddObjectToObject(doc, "requests");
	for (int k = 0; k < SIM_KINDS; k++)
		count(requests, sim_kind_name((enum sim_kind)k),
		      sim->count.requests[k]);
	counts(sim, doc);
	jobs(&sim->ledger, doc);
	faults(sim, doc);
	cJSON_AddBoolToObject(doc, "ledger_whole",
			      !sim->ledger.write_failed);
	if (!span_is(q->q_operations, "0"))
		operations(&sim->ledger, doc);
	answer_json(a, 200, doc);
}

static void tell_scenario(struct sim *sim, const struct sim_request *q,
			  struct sim_answer *a)
{
	cJSON *doc = cJSON_CreateObject();

	(void)q;
	cJSON_AddStringToObject(doc, "name", sim->scenario.name);
	cJSON_AddStringToObject(doc, "title", sim->scenario.title);
	cJSON_AddStringToObject(doc, "profile", sim->scenario.profile);
	whole(doc, "seed", sim->scenario.seed);
	count(doc, "rules", sim->scenario.rules);
	answer_json(a, 200, doc);
}

static void complain(const struct findings *f, struct sim_answer *a)
{
	cJSON *doc = cJSON_CreateObject(), *list, *one;

	cJSON_AddStringToObject(doc, "error", "scenario");
	list = cJSON_AddArrayToObject(doc, "findings");
	for (size_t i = 0; i < f->n; i++) {
		one = cJSON_CreateObject();
		count(one, "line", (uint64_t)f->v[i].line);
		cJSON_AddStringToObject(one, "text", f->v[i].text);
		cJSON_AddItemToArray(list, one);
	}
	answer_json(a, 422, doc);
}

static bool seed_of(struct span text, uint64_t *seed)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || i == 18)
			return false;
		n = n * 10 + (uint64_t)(text.p[i] - '0');
	}
	*seed = n;
	return text.n > 0;
}

static void switch_scenario(struct sim *sim, const struct sim_request *q,
			    struct sim_answer *a)
{
	struct findings f = {0};
	struct scenario s;
	struct buf text = BUF_INIT;
	struct span given = q->body;

	scenario_init(&s);
	if (q->q_name.n) {
		if (sim->find && sim->find(sim->find_ctx, q->q_name, &text))
			given = buf_span(&text);
		else
			findings_add(&f, "request", 0,
				     "name: there is no such scenario");
	}
	if (!f.errors && scenario_load(&s, given, "request", &f)) {
		if (q->q_seed.n && !seed_of(q->q_seed, &s.seed))
			findings_add(&f, "request", 0, "seed: expected a "
				     "whole number of at most 18 digits");
	}
	if (f.errors) {
		complain(&f, a);
	} else {
		bool given_before = sim->seed_given;

		sim->seed_given = given_before && !q->q_seed.n;
		sim_play(sim, &s, q->now_ms);
		sim->seed_given = given_before;
		tell_scenario(sim, q, a);
	}
	scenario_release(&s);
	findings_release(&f);
	buf_release(&text);
}

static void reset(struct sim *sim, const struct sim_request *q,
		  struct sim_answer *a)
{
	cJSON *doc = cJSON_CreateObject();

	sim_reset(sim, q->now_ms);
	cJSON_AddTrueToObject(doc, "reset");
	answer_json(a, 200, doc);
}

void sim_control(struct sim *sim, const struct sim_request *q,
		 struct sim_answer *a)
{
	static const struct {
		const char *path, *method;
		void (*serve)(struct sim *, const struct sim_request *,
			      struct sim_answer *);
	} doors[] = {
		{"/_sim/ledger", "GET", ledger_lines},
		{"/_sim/requests", "GET", request_lines},
		{"/_sim/summary", "GET", summary},
		{"/_sim/scenario", "GET", tell_scenario},
		{"/_sim/scenario", "POST", switch_scenario},
		{"/_sim/reset", "POST", reset}
	};
	size_t i;
	bool path = false;

	for (i = 0; i < ARRAY_SIZE(doors); i++) {
		if (!span_is(q->path, doors[i].path))
			continue;
		path = true;
		if (!span_is(q->method, doors[i].method))
			continue;
		doors[i].serve(sim, q, a);
		return;
	}
	shape_problem(a, path ? 405 : 404, path ? "method_not_allowed" :
		      "not_found", "Doors: ledger, requests, summary, "
		      "scenario, reset");
}
