/* scenario.c - plays: the actions, and the drawing of decisions. */
#include <config.h>

#include "sim/scenario.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define SEND (1u << SIM_SEND)
#define TOKEN (1u << SIM_TOKEN)

const struct sim_action scenario_actions[] = {
	{"commit_then_504", SEND, false, true, 504, SIM_BODY_HTML,
	 SIM_END_WHOLE, SIM_PLAIN, "commits, then a gateway times out"},
	{"commit_then_502", SEND, false, true, 502, SIM_BODY_HTML,
	 SIM_END_WHOLE, SIM_PLAIN, "commits, then a gateway breaks"},
	{"commit_then_500", SEND, false, true, 500, SIM_BODY_HTML,
	 SIM_END_WHOLE, SIM_PLAIN, "commits, then 500 as HTML"},
	{"commit_then_reset", SEND, false, true, 0, SIM_BODY_TRUTH,
	 SIM_END_RESET, SIM_PLAIN, "commits, then RST instead of an answer"},
	{"commit_then_close", SEND, false, true, 0, SIM_BODY_TRUTH,
	 SIM_END_CLOSE, SIM_PLAIN, "commits, then FIN instead of an answer"},
	{"commit_late", SEND, false, true, 0, SIM_BODY_TRUTH,
	 SIM_END_WHOLE, SIM_LATE,
	 "commits after `ms`, whether or not the client still waits"},
	{"502_before", SIM_ANY, false, false, 502, SIM_BODY_HTML,
	 SIM_END_WHOLE, SIM_PLAIN, "502, nothing done"},
	{"504_before", SIM_ANY, false, false, 504, SIM_BODY_HTML,
	 SIM_END_WHOLE, SIM_PLAIN, "504, nothing done"},
	{"reset_before", SIM_ANY, false, false, 0, SIM_BODY_TRUTH,
	 SIM_END_RESET, SIM_PLAIN, "RST, nothing done"},
	{"close_before", SIM_ANY, false, false, 0, SIM_BODY_TRUTH,
	 SIM_END_CLOSE, SIM_PLAIN, "FIN, nothing done"},
	{"503", SIM_ANY, false, false, 503, SIM_BODY_PROBLEM,
	 SIM_END_WHOLE, SIM_PLAIN, "503, with `retry_after` if given"},
	{"429", SIM_ANY, false, false, 429, SIM_BODY_PROBLEM,
	 SIM_END_WHOLE, SIM_PLAIN, "429, with `retry_after` if given"},
	{"400", SIM_ANY, false, false, 400, SIM_BODY_PROBLEM,
	 SIM_END_WHOLE, SIM_PLAIN, "400; at the token endpoint invalid_grant"},
	{"401", SIM_ANY, false, false, 401, SIM_BODY_PROBLEM,
	 SIM_END_WHOLE, SIM_PLAIN, "401; at the token endpoint invalid_client"},
	{"403", SIM_ANY, false, false, 403, SIM_BODY_PROBLEM,
	 SIM_END_WHOLE, SIM_PLAIN, "403"},
	{"404", SIM_ANY, false, false, 404, SIM_BODY_PROBLEM,
	 SIM_END_WHOLE, SIM_PLAIN, "404"},
	{"409", SIM_ANY, false, false, 409, SIM_BODY_PROBLEM,
	 SIM_END_WHOLE, SIM_PLAIN, "409, the key is in progress"},
	{"422", SIM_ANY, false, false, 422, SIM_BODY_PROBLEM,
	 SIM_END_WHOLE, SIM_PLAIN, "422 with problem+json, refused"},
	{"500", SIM_ANY, false, false, 500, SIM_BODY_ERROR,
	 SIM_END_WHOLE, SIM_PLAIN, "500 with an intelligible JSON error"},
	{"500_html", SIM_ANY, false, false, 500, SIM_BODY_HTML,
	 SIM_END_WHOLE, SIM_PLAIN, "500 that says nothing"},
	{"refused_200", SEND | SIM_READS, false, false, 200, SIM_BODY_ERROR,
	 SIM_END_WHOLE, SIM_PLAIN, "200 whose envelope says refused"},
	{"namespaces_lost", SEND, false, false, 400, SIM_BODY_NAMESPACES,
	 SIM_END_WHOLE, SIM_PLAIN,
	 "400, a gateway lost the namespaces on the way to the schema"},
	{"redirect", SIM_ANY, false, false, 307, SIM_BODY_EMPTY,
	 SIM_END_WHOLE, SIM_PLAIN, "307 to `url`"},
	{"queue", SEND, false, true, 202, SIM_BODY_TRUTH,
	 SIM_END_WHOLE, SIM_QUEUE,
	 "a job: run_ms, outcome, word, location, envelope, retry_after"},
	{"stall", SIM_ANY, false, true, 0, SIM_BODY_TRUTH,
	 SIM_END_WHOLE, SIM_HOLD,
	 "commits and holds the answer for `ms` (left out: for ever)"},
	{"truncated", SIM_ANY, false, true, 0, SIM_BODY_TRUTH,
	 SIM_END_TRUNCATED, SIM_PLAIN,
	 "commits, the body ends before its Content-Length"},
	{"html_200", SIM_ANY, false, true, 200, SIM_BODY_HTML,
	 SIM_END_WHOLE, SIM_PLAIN, "commits, then 200 with a log-in page"},
	{"empty_200", SIM_ANY, false, true, 200, SIM_BODY_EMPTY,
	 SIM_END_WHOLE, SIM_PLAIN, "commits, then 200 with nothing"},
	{"outage", SIM_ANY, false, false, 503, SIM_BODY_HTML,
	 SIM_END_RESET, SIM_OUTAGE,
	 "down between_ms: connections refused; how: refuse, reset, 503"},
	{"delay", SIM_ANY, true, false, 0, SIM_BODY_TRUTH,
	 SIM_END_WHOLE, SIM_DELAY, "answers later by `ms` to `ms_max`"},
	{"forget_keys", SEND, true, false, 0, SIM_BODY_TRUTH,
	 SIM_END_WHOLE, SIM_FORGET_KEYS, "keys older than `ms` are forgotten"},
	{"key_off", SEND, true, false, 0, SIM_BODY_TRUTH,
	 SIM_END_WHOLE, SIM_KEY_OFF, "keys are not looked at"},
	{"list_lag", SIM_READS, true, false, 0, SIM_BODY_TRUTH,
	 SIM_END_WHOLE, SIM_LIST_LAG, "records show after `ms` only"},
	{0}
};

const char *sim_kind_name(enum sim_kind kind)
{
	static const char *const names[] = {
		"send", "look_up", "list", "poll", "token"
	};

	assert(kind < SIM_KINDS);
	return names[kind];
}

void scenario_init(struct scenario *s)
{
	*s = (struct scenario){
		.name = "plain", .profile = "generic-rest", .seed = 1,
		.keys = true, .keep_payloads = true,
		.oauth = {
			.client_id = "demo", .client_secret = "demo-secret",
			.expires_in = "3600", .lifetime_ms = 3600000
		}
	};
}

void scenario_release(struct scenario *s)
{
	free(s->rule);
	scenario_init(s);
}

bool scenario_glob(const char *pattern, const char *text)
{
	if (!*pattern)
		return true;
	return fnmatch(pattern, text, FNM_NOESCAPE) == 0;
}

bool scenario_down(const struct scenario *s, int64_t since_ms,
		   int64_t *until_ms)
{
	bool down = false;
	size_t i;

	*until_ms = SIM_FOR_EVER;
	for (i = 0; i < s->rules; i++) {
		const struct sim_rule *r = &s->rule[i];

		if (r->action->special != SIM_OUTAGE || !r->refuse)
			continue;
		if (since_ms < r->begin_ms) {
			if (r->begin_ms < *until_ms)
				*until_ms = r->begin_ms;
			continue;
		}
		if (since_ms >= r->end_ms)
			continue;
		down = true;
		if (r->end_ms < *until_ms)
			*until_ms = r->end_ms;
	}
	return down;
}

/* splitmix64's finaliser. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

double scenario_roll(uint64_t seed, const char *identity, uint64_t a,
		     uint64_t b)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *identity; identity++)
		h = (h ^ (unsigned char)*identity) * 0x100000001b3u;
	h = mix(h ^ mix(seed + 0x9e3779b97f4a7c15u));
	h = mix(h + a * 0x9e3779b97f4a7c15u);
	h = mix(h + b * 0xd1b54a32d192ed03u);
	return (double)(h >> 11) / 9007199254740992.0;
}

static bool arrival_matches(const struct sim_rule *r, int64_t arrival)
{
	if (r->from && arrival < r->from)
		return false;
	if (r->first && arrival > r->first)
		return false;
	return !r->every || arrival % r->every == 0;
}

bool scenario_matches(const struct scenario *s, size_t rule,
		      const struct sim_asked *q)
{
	const struct sim_rule *r;
	uint64_t draw;

	assert(rule < s->rules);
	r = &s->rule[rule];
	if (!(r->kinds >> q->kind & 1) &&
	    !(q->looks && r->kinds >> SIM_LOOK_UP & 1))
		return false;
	if (r->timed &&
	    (q->since_ms < r->begin_ms || q->since_ms >= r->end_ms))
		return false;
	if (!arrival_matches(r, q->arrival) ||
	    (r->nth && q->number % r->nth != 0))
		return false;
	if (!scenario_glob(r->op, q->identity) ||
	    !scenario_glob(r->form, q->form) ||
	    !scenario_glob(r->subject, q->subject) ||
	    !scenario_glob(r->path, q->path) ||
	    !scenario_glob(r->method, q->method))
		return false;
	if (r->share >= 1)
		return true;
	draw = r->per_operation ? 0 :
		(uint64_t)q->arrival * SIM_KINDS + (uint64_t)q->kind;
	return scenario_roll(s->seed, q->identity, rule + 1, draw) < r->share;
}
