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

#include <inttypes.h>
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

static void seen(const struct sim_op *o, struct buf *out)
{
	int k;

	for (k = 0; k < SIM_KINDS; k++)
		if (o->seen[k])
			buf_addf(out, "\"%s\":%u,",
				 sim_kind_name((enum sim_kind)k), o->seen[k]);
	buf_addf(out, "\"faults\":%u,\"commits\":%u", o->faults, o->commits);
}

static void request_lines(struct sim *sim, const struct sim_request *q,
			  struct sim_answer *a)
{
	uint32_t op;

	(void)q;
	a->status = 200;
	a->content_type = "application/x-ndjson";
	for (op = 1; op <= sim->ledger.ops_n; op++) {
		const struct sim_op *o = ledger_op_at(&sim->ledger, op);

		buf_addc(&a->body, '{');
		vendor_member(&a->body, "identity", o->identity);
		buf_addc(&a->body, ',');
		seen(o, &a->body);
		buf_adds(&a->body, "}\n");
	}
}

/* Rules of one name are counted together. */
static void faults(const struct sim *sim, struct buf *out)
{
	const struct scenario *s = &sim->scenario;
	bool comma = false;
	uint64_t n;
	size_t i, k;

	buf_adds(out, "\"faults\":{");
	for (i = 0; i < s->rules; i++) {
		for (k = 0; k < i; k++)
			if (!strcmp(s->rule[k].name, s->rule[i].name))
				break;
		if (k < i)
			continue;
		for (n = 0, k = i; k < s->rules; k++)
			if (!strcmp(s->rule[k].name, s->rule[i].name))
				n += sim->hits[k];
		if (comma)
			buf_addc(out, ',');
		comma = true;
		json_quote(out, span_of(s->rule[i].name));
		buf_addf(out, ":%" PRIu64, n);
	}
	buf_adds(out, "},");
}

static void jobs(const struct ledger *l, struct buf *out)
{
	uint64_t n[SIM_REMOVED + 1] = {0}, never = 0;
	uint32_t i;

	for (i = 1; i <= l->records_n; i++) {
		const struct sim_record *r = ledger_record_at(l, i);

		if (!r->job)
			continue;
		if (r->state == SIM_RUNNING && r->outcome == SIM_NEVER)
			never++;
		else
			n[r->state]++;
	}
	buf_addf(out, "\"jobs\":{\"done\":%" PRIu64 ",\"failed\":%" PRIu64
		 ",\"partial\":%" PRIu64 ",\"running\":%" PRIu64
		 ",\"never\":%" PRIu64 "},", n[SIM_COMMITTED],
		 n[SIM_JOB_FAILED], n[SIM_JOB_PARTIAL], n[SIM_RUNNING], never);
}

static void counts(const struct sim *sim, struct buf *out)
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		buf_addf(out, "\"%s\":%" PRIu64 ",", list[i].name, list[i].n);
}

static void operations(const struct ledger *l, struct buf *out)
{
	uint32_t op;

	buf_adds(out, ",\"operations\":{");
	for (op = 1; op <= l->ops_n; op++) {
		const struct sim_op *o = ledger_op_at(l, op);

		if (op > 1)
			buf_addc(out, ',');
		json_quote(out, span_of(o->identity));
		buf_adds(out, ":{");
		seen(o, out);
		buf_addc(out, '}');
	}
	buf_addc(out, '}');
}

static void summary(struct sim *sim, const struct sim_request *q,
		    struct sim_answer *a)
{
	struct buf *out = &a->body;
	int k;

	a->status = 200;
	a->content_type = "application/json";
	buf_addc(out, '{');
	vendor_member(out, "scenario", sim->scenario.name);
	buf_addc(out, ',');
	vendor_member(out, "profile", sim->scenario.profile);
	buf_addf(out, ",\"seed\":%" PRIu64 ",\"since_ms\":%" PRId64 ",",
		 sim->scenario.seed, sim_since(sim, q->now_ms));
	buf_adds(out, "\"requests\":{");
	for (k = 0; k < SIM_KINDS; k++)
		buf_addf(out, "%s\"%s\":%" PRIu64, k ? "," : "",
			 sim_kind_name((enum sim_kind)k),
			 sim->count.requests[k]);
	buf_adds(out, "},");
	counts(sim, out);
	jobs(&sim->ledger, out);
	faults(sim, out);
	buf_addf(out, "\"ledger_whole\":%s",
		 sim->ledger.write_failed ? "false" : "true");
	if (!span_is(q->q_operations, "0"))
		operations(&sim->ledger, out);
	buf_adds(out, "}\n");
}

static void tell_scenario(struct sim *sim, const struct sim_request *q,
			  struct sim_answer *a)
{
	(void)q;
	a->status = 200;
	a->content_type = "application/json";
	buf_addc(&a->body, '{');
	vendor_member(&a->body, "name", sim->scenario.name);
	buf_addc(&a->body, ',');
	vendor_member(&a->body, "title", sim->scenario.title);
	buf_addc(&a->body, ',');
	vendor_member(&a->body, "profile", sim->scenario.profile);
	buf_addf(&a->body, ",\"seed\":%" PRIu64 ",\"rules\":%zu}\n",
		 sim->scenario.seed, sim->scenario.rules);
}

static void complain(const struct findings *f, struct sim_answer *a)
{
	size_t i;

	a->status = 422;
	a->content_type = "application/json";
	buf_adds(&a->body, "{\"error\":\"scenario\",\"findings\":[");
	for (i = 0; i < f->n; i++) {
		buf_addf(&a->body, "%s{\"line\":%d,", i ? "," : "",
			 f->v[i].line);
		vendor_member(&a->body, "text", f->v[i].text);
		buf_addc(&a->body, '}');
	}
	buf_adds(&a->body, "]}\n");
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
	sim_reset(sim, q->now_ms);
	a->status = 200;
	a->content_type = "application/json";
	buf_adds(&a->body, "{\"reset\":true}\n");
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
