/*
 * fuzz_sim.c - tests: scenarios and requests of the simulated EDC.
 *
 * Input: a scenario and the parts of a request, separated by bytes of 1.
 * Promised: what is wrong with a scenario is said in plain ASCII, every request
 * has an answer, and the summary stays JSON whatever came.
 */
#include <string.h>

#include "core/json.h"
#include "fuzz.h"
#include "sim/sim.h"

#define PARTS 15

struct parts {
	struct span v[PARTS];
};

static void split(struct parts *p, const char *text, size_t n)
{
	size_t i, begin = 0, k = 0;

	*p = (struct parts){0};
	for (i = 0; i <= n && k < PARTS; i++) {
		if (i < n && text[i] != 1)
			continue;
		p->v[k++] = (struct span){text + begin, i - begin};
		begin = i + 1;
	}
}

static void play(struct sim *sim, struct span text)
{
	struct findings f = {0};
	struct scenario s;
	size_t i;

	if (scenario_load(&s, text, "fuzz", &f))
		sim_play(sim, &s, 5);
	else
		PROMISE(f.errors > 0);
	for (i = 0; i < f.n; i++)
		fuzz_ascii(f.v[i].text);
	scenario_release(&s);
	findings_release(&f);
}

static void look(struct sim *sim, struct sim_answer *a)
{
	struct json doc = {0};
	struct sim_request q = {
		.method = SPAN("GET"), .path = SPAN("/_sim/summary"),
		.now_ms = 2000
	};

	sim_handle(sim, &q, a);
	PROMISE(a->status == 200);
	PROMISE(json_parse(&doc, a->body.p, a->body.len, 0));
	json_release(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sim_answer a = {0};
	struct parts p;
	struct sim sim;
	int i;

	split(&p, (const char *)data, n);
	sim_init(&sim);
	play(&sim, p.v[0]);
	for (i = 0; i < 3; i++) {
		struct sim_request q = {
			.method = p.v[1], .path = p.v[2],
			.authorization = p.v[3], .key = p.v[4],
			.op_id = p.v[5], .request_id = p.v[6],
			.host = p.v[7], .q_op_id = p.v[8],
			.q_cursor = p.v[9], .q_seed = p.v[10],
			.body = p.v[11], .q_identifier = p.v[12],
			.if_none_exist = p.v[13], .prefer = p.v[14],
			.q_post_odm = true, .now_ms = 10 + 300 * i,
			.utc_ms = INT64_C(1796000000000)
		};

		sim_handle(&sim, &q, &a);
		if (a.again)
			sim_handle_late(&sim, &q, &a);
		q.method = SPAN("GET");
		sim_handle(&sim, &q, &a);
		look(&sim, &a);
	}
	buf_release(&a.body);
	sim_release(&sim);
	return 0;
}
