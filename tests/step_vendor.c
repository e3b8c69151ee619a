#include <config.h>

#include "step_sim_priv.h"

#include <stdio.h>
#include <string.h>

#define LATE_MS 2000			/* the vendor acts after the answer */
#define TIMEOUT_MS 4000			/* connect and answer */

enum { KEY = SIM_KEY, NATURAL = SIM_NATURAL };

/* ---- chance ------------------------------------------------------------- */

uint64_t sim_chance(struct sim *s)
{
	uint64_t z = (s->random += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

int64_t sim_between(struct sim *s, int64_t a, int64_t b)
{
	return a + (int64_t)(sim_chance(s) % (uint64_t)(b - a + 1));
}

bool sim_one_in(struct sim *s, int n)
{
	return sim_chance(s) % (uint64_t)n == 0;
}

/* ---- the vendor --------------------------------------------------------- */

static void commit_it(struct sim *s, int i)
{
	struct sim_op *o = &s->op[i];

	if (o->place == KEY && o->deduped)
		return;			/* the key is known: nothing new */
	o->deduped = true;
	if (o->place == NATURAL && o->commits > 0) {
		MUST(s, s->newest[o->record] <= o->version);
		return;			/* the same PUT again is the same */
	}
	o->commits++;
	MUST(s, o->commits == 1);
	MUST(s, s->newest[o->record] <= o->version);
	s->newest[o->record] = o->version;
}

/* EDCSYNC_SIM_SHOW=1 tells what happened before a failure. */
static void show(const struct sim *s, const char *what,
		 const struct sim_request *r)
{
	static const char *const kinds[] = {"send", "poll", "look", "token",
					    "health", "result"};

	if (getenv("EDCSYNC_SIM_SHOW"))
		print_message("%8" PRId64 " %-7s %-5s %-8s %s status %d %s%s\n",
			      s->now.utc_ms - SIM_EPOCH_MS, what,
			      kinds[r->kind], sim_places[r->place].name,
			      r->op >= 0 ? s->op[r->op].op_id : "-", r->status,
			      transport_name(r->transport),
			      r->commits ? " commits" : "");
}

/* It writes what this request asks for, if it does. */
static void vendor_acts(struct sim *s, struct sim_request *r)
{
	struct sim_op *o;

	if (r->kind == SIM_TOKEN && r->status == 200)
		s->token_good = r->token;
	if (r->op < 0 || r->kind != SIM_SEND)
		return;
	o = &s->op[r->op];
	show(s, "acts", r);
	if (r->commits)
		commit_it(s, r->op);
	if (r->queues && !o->job_done_ms && !o->commits) {
		o->job_done_ms = s->now.utc_ms + sim_between(s, 100, 1500);
		o->partly = s->results && !s->nobody && sim_one_in(s, 4);
	}
}

void vendor_jobs(struct sim *s)
{
	for (int i = 0; i < s->ops; i++)
		if (s->op[i].job_done_ms && !s->op[i].commits &&
		    s->op[i].job_done_ms <= s->now.utc_ms)
			commit_it(s, i);
}

static int find_op(const struct sim *s, const char *id, size_t n)
{
	for (int i = 0; i < s->ops; i++)
		if (strlen(s->op[i].op_id) == n &&
		    memcmp(s->op[i].op_id, id, n) == 0)
			return i;
	return -1;
}

static int token_of(const struct request *q)
{
	const char *p = strstr(buf_text(&q->headers), "Bearer t");

	return p ? (int)strtol(p + 8, NULL, 10) : 0;
}

static void read_request(struct sim *s, struct sim_request *r,
			 const struct request *q)
{
	const char *at;

	r->op = -1;
	if (strstr(q->url, "/health")) {
		r->kind = SIM_HEALTH;
	} else if (strstr(q->url, "/token")) {
		r->kind = SIM_TOKEN;
	} else if ((at = strstr(q->url, "/jobs/J"))) {
		r->kind = strstr(at, "/log") ? SIM_RESULT : SIM_POLL;
		r->op = find_op(s, at + 7, strcspn(at + 7, "/"));
	} else if ((at = strstr(q->url, "op_id="))) {
		r->kind = SIM_LOOK;
		r->op = find_op(s, at + 6, strcspn(at + 6, "&"));
	} else {
		r->kind = SIM_SEND;
		at = strstr(buf_text(&q->headers), "X-Op-ID: ");
		MUST(s, at);
		r->op = find_op(s, at + 9, strcspn(at + 9, "\n"));
	}
	MUST(s, r->kind == SIM_TOKEN || r->kind == SIM_HEALTH || r->op >= 0);
	s->asked[r->kind]++;
}

/* One row a kind of trouble; shares of a hundred, the rest is fine. */
static const struct trouble {
	int share;
	int status;
	enum transport transport;
	bool left, commits, queues, late, waits;
} troubles[] = {
	{7, 504, TRANSPORT_OK, true, true, false, false, false},
	{6, 0, TRANSPORT_RESET, true, true, false, false, false},
	{4, 0, TRANSPORT_TIMEOUT, true, true, false, false, false},
	{4, 0, TRANSPORT_RESET, true, false, false, false, false},
	{5, 0, TRANSPORT_RESET, true, true, false, true, false},
	{4, 502, TRANSPORT_OK, true, false, false, false, false},
	{4, 503, TRANSPORT_OK, true, false, false, false, true},
	{3, 503, TRANSPORT_OK, true, false, false, false, false},
	{5, 429, TRANSPORT_OK, true, false, false, false, true},
	{6, 202, TRANSPORT_OK, true, false, true, false, false},
	{2, 0, TRANSPORT_RESET, true, false, true, false, false},
	{3, 201, TRANSPORT_TRUNCATED, true, true, false, false, false},
	{3, 0, TRANSPORT_REFUSED, false, false, false, false, false},
	{2, 200, TRANSPORT_OK, true, false, false, false, false},
};

static void trouble_send(struct sim *s, struct sim_request *r,
			 const struct trouble *t)
{
	r->status = t->status;
	r->transport = t->transport;
	r->left = t->left;
	r->commits = t->commits;
	r->queues = t->queues;
	r->retry_after_s = t->waits ? (int)sim_between(s, 1, 6) : -1;
	r->answer_ms = s->now.utc_ms + (t->transport == TRANSPORT_TIMEOUT
		? TIMEOUT_MS : sim_between(s, 5, 100));
	r->act_ms = t->late
		? r->answer_ms + sim_between(s, 1, LATE_MS)
		: sim_between(s, s->now.utc_ms + 1, r->answer_ms);
}

static void decide_send(struct sim *s, struct sim_request *r)
{
	struct sim_op *o = &s->op[r->op];
	int roll = (int)(sim_chance(s) % 100);

	if (r->place == KEY && r->token != s->token_good) {
		r->status = 401;
		return;
	}
	if (o->refuse) {
		r->status = 422;
		if (s->faults && roll < 10)
			r->status = 504;
		return;
	}
	if (o->place == KEY && o->job_done_ms && !o->commits) {
		r->status = 202;	/* the same key: the same job */
		return;
	}
	r->status = 201;
	r->commits = true;
	for (size_t i = 0; s->faults && i < ARRAY_SIZE(troubles); i++) {
		if (roll < troubles[i].share) {
			trouble_send(s, r, &troubles[i]);
			return;
		}
		roll -= troubles[i].share;
	}
}

static void decide_read(struct sim *s, struct sim_request *r)
{
	r->status = 200;
	if (r->kind == SIM_TOKEN)
		r->token = s->token_good + 1;
	if (s->faults && r->kind == SIM_RESULT && sim_one_in(s, 6)) {
		r->status = 404;	/* it does not show yet */
		return;
	}
	if (!s->faults || !sim_one_in(s, 6))
		return;
	if (sim_one_in(s, 2)) {
		r->status = 503;
		r->retry_after_s = r->kind == SIM_TOKEN || sim_one_in(s, 2)
			? -1 : (int)sim_between(s, 1, 3);
		r->act_ms = 0;
	} else {
		r->status = 0;
		r->transport = TRANSPORT_RESET;
	}
}

static void decide(struct sim *s, struct sim_request *r)
{
	int64_t now = s->now.utc_ms;

	r->transport = TRANSPORT_OK;
	r->left = true;
	r->retry_after_s = -1;
	r->window_s = 0;
	r->answer_ms = now + sim_between(s, 2, 120);
	r->act_ms = now + sim_between(s, 1, r->answer_ms - now);
	if (s->down_until_ms[r->place] > now) {
		r->status = 0;
		r->transport = TRANSPORT_REFUSED;
		r->left = false;
		r->act_ms = 0;
		return;
	}
	if (r->kind == SIM_SEND)
		decide_send(s, r);
	else
		decide_read(s, r);
	if (s->faults && sim_one_in(s, 150))
		s->down_until_ms[r->place] = now + sim_between(s, 2000, 15000);
	if (s->faults && sim_one_in(s, 60))
		s->token_good++;	/* revoked */
}

/* What must hold when a request is started, and when it leaves: the
 * connection for it may have taken a while. */
static void check_gates(struct sim *s, const struct sim_request *r)
{
	const struct endpoint_state *st = engine_state(s->world, r->place);

	if (r->kind == SIM_TOKEN)
		return;
	MUST(s, s->now.utc_ms >= s->not_before_ms[r->place]);
	MUST(s, !s->told_paused[r->place]);
	MUST(s, st->halt == HALT_NONE);
	MUST(s, st->circuit.state != CIRCUIT_OPEN);
}

static void check_order(struct sim *s, const struct sim_request *r)
{
	struct sim_op *o;

	if (r->op < 0)
		return;
	o = &s->op[r->op];
	MUST(s, o->in_flight == 0);
	if (r->kind != SIM_SEND)
		return;
	for (int i = 0; i < s->ops; i++)
		MUST(s, s->op[i].record != o->record || !s->op[i].in_flight);
	MUST(s, s->started[o->record] <= o->version);
	s->started[o->record] = o->version;
	o->sends++;
}

static void leaves(struct sim *s, struct sim_request *r)
{
	r->leave_ms = 0;
	check_gates(s, r);
	decide(s, r);
	if (s->script)
		s->script(s, r);
	show(s, "leaves", r);
}

void vendor_start(struct sim *s, const struct effect *e)
{
	struct sim_request *r = s->wire;

	while (r->transfer || r->orphan)
		MUST(s, ++r < s->wire + SIM_WIRE_MAX);
	memset(r, 0, sizeof(*r));
	r->transfer = e->transfer;
	r->place = e->endpoint;
	r->token = token_of(e->request);
	read_request(s, r, e->request);
	check_gates(s, r);
	check_order(s, r);
	if (r->op >= 0)
		s->op[r->op].in_flight++;
	if (s->faults && sim_one_in(s, 4))
		r->leave_ms = s->now.utc_ms + sim_between(s, 1, 200);
	else if (s->connect_ms && r > s->wire)
		r->leave_ms = s->now.utc_ms + s->connect_ms;
	else
		leaves(s, r);
}

/* ---- answers ------------------------------------------------------------ */

/* The job's own answer, and what became of its items: as JSON where the job's
 * answer names the address, as CSV where the profile knows it. */
static void job_body(const struct sim *s, const struct sim_request *r,
		     struct buf *out)
{
	const struct sim_op *o = &s->op[r->op];
	const char *second = o->partly ? "out" : "in";

	if (r->kind == SIM_POLL && !o->commits)
		buf_adds(out, "{\"status\":\"running\"}");
	else if (r->kind == SIM_POLL && s->results)
		buf_addf(out, "{\"status\":\"completed\",\"log\":\"J%s/log\"}",
			 o->op_id);
	else if (r->kind == SIM_POLL)
		buf_adds(out, "{\"status\":\"completed\"}");
	else if (r->place == SIM_NONE)
		buf_addf(out, "Item,S\r\nA,in\r\nB,%s\r\n", second);
	else
		buf_addf(out, "{\"rows\":[{\"s\":\"in\"},{\"s\":\"%s\"}]}",
			 second);
}

static void body_of(const struct sim *s, const struct sim_request *r,
		    struct buf *out)
{
	const struct sim_op *o = r->op >= 0 ? &s->op[r->op] : NULL;

	if (r->status == 0)
		return;
	if (r->body)
		buf_adds(out, r->body);
	else if (r->kind == SIM_TOKEN && r->status == 200)
		buf_addf(out, "{\"access_token\":\"t%d\",\"token_type\":"
			 "\"Bearer\",\"expires_in\":20}", r->token);
	else if ((r->kind == SIM_POLL || r->kind == SIM_RESULT) &&
		 r->status == 200)
		job_body(s, r, out);
	else if (r->kind == SIM_LOOK && r->status == 200 && o->commits)
		buf_addf(out, "{\"items\":[{\"op_id\":\"%s\",\"id\":\"9\"}]}",
			 o->op_id);
	else if (r->kind == SIM_LOOK && r->status == 200)
		buf_adds(out, "{\"items\":[]}");
	else if (r->kind == SIM_SEND && r->status == 202)
		buf_addf(out, "{\"job_id\":\"J%s\"}", o->op_id);
	else if (r->status == 201)
		buf_adds(out, "{\"id\":\"9\"}");
	else if (r->kind == SIM_HEALTH && r->status == 200)
		buf_adds(out, "{\"up\":true}");
	else if (r->status == 200)
		buf_adds(out, "<html>maintenance</html>");
	else
		buf_adds(out, "{\"error\":\"x\"}");
}

static void sim_answer(struct sim *s, struct sim_request *r)
{
	struct buf body = BUF_INIT, wait = BUF_INIT;
	struct header header = {SPAN("Retry-After"), {0}};
	int wait_s = r->window_s ? r->window_s : r->retry_after_s;
	struct answer a = {
		.transport = r->transport, .first_byte_left = r->left,
		.status = r->status, .received_ms = s->now.utc_ms,
	};
	struct sim_request done = *r;

	r->transfer = 0;
	r->orphan = r->act_ms > s->now.utc_ms;	/* it may act yet */
	if (done.op >= 0)
		s->op[done.op].in_flight--;
	show(s, "answer", &done);
	body_of(s, &done, &body);
	a.body = buf_span(&body);
	if (wait_s >= 0) {
		int64_t until = s->now.utc_ms + wait_s * 1000;

		if (done.window_s)
			header.name = SPAN("RateLimit");
		buf_addf(&wait, done.window_s ? "sim;r=0;t=%d" : "%d", wait_s);
		header.value = buf_span(&wait);
		a.headers = &header;
		a.headers_n = 1;
		if (done.kind != SIM_TOKEN &&
		    until > s->not_before_ms[done.place])
			s->not_before_ms[done.place] = until;
	}
	sim_event(s, (struct event){.kind = EVENT_ANSWER,
	     .transfer = done.transfer, .answer = &a});
	buf_release(&body);
	buf_release(&wait);
}

void vendor_wire(struct sim *s)
{
	for (struct sim_request *r = s->wire; r < s->wire + SIM_WIRE_MAX; r++) {
		if (!r->transfer && !r->orphan)
			continue;
		if (r->leave_ms > s->now.utc_ms)
			continue;
		if (r->leave_ms)
			leaves(s, r);
		if (r->act_ms && r->act_ms <= s->now.utc_ms) {
			r->act_ms = 0;
			vendor_acts(s, r);
			if (r->orphan)
				r->orphan = false;
		}
		if (r->transfer && r->answer_ms <= s->now.utc_ms)
			sim_answer(s, r);
		if (s->crashed)
			return;
	}
}

void vendor_cut(struct sim *s, struct effect *e)
{
	for (struct sim_request *r = s->wire; r < s->wire + SIM_WIRE_MAX; r++)
		if (r->transfer == e->transfer) {
			e->left = r->left && !r->leave_ms;
			if (e->left && e->unless_left)
				return;
			show(s, "off", r);
			if (r->op >= 0)
				s->op[r->op].in_flight--;
			r->transfer = 0;
			r->orphan = r->left && r->act_ms > 0;
		}
}

