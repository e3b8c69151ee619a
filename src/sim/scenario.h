/*
 * scenario.h - plays: what a simulated EDC does wrong, and when.
 *
 * A scenario is JSON (line comments allowed), shipped in share/scenarios/ or
 * given as a file. It is checked completely when loaded: every mistake names
 * file, line and what was expected, and nothing starts on it.
 *
 *   { "name": "gateway", "profile": "generic-rest", "seed": 7,
 *     "rules": [ {"share": 0.2, "first": 2, "do": "commit_then_504"} ] }
 *
 * Fields of a scenario (all optional): name, title, about, seed, profile
 * (whose dialect is spoken: the names of shipped profiles), clock (start |
 * first_request), keys (true), forget_keys_ms (0 = never), list_lag_ms,
 * page_items (0 = all on one page), delay_ms, keep_payloads,
 * auth (none | oauth2 | basic | session | form_token; the last two where the
 * vendor has them), oauth2, results (job: outcomes in the job's own answer |
 * json | csv: a job says only that it is through, the outcomes are at a second
 * address: of generic-rest, whose path ends in result, and of fhir-r4, a
 * Binary, which knows json alone), rules.
 *
 * Fields of oauth2, which hold for the other ways in as well (user, password,
 * token): client_id, client_secret, expires_in (a number, or any
 * text to be sent as it is, or null to leave it out), lifetime_ms (what is
 * really granted), uses (requests a token is good for), latest_only (a new
 * one ends those before it: one session a user), revoke_at_ms (one time or a
 * list; tokens issued before it die), refused_between_ms (the client itself
 * is refused).
 *
 * Rules are tried in order. A selector that is left out matches everything:
 *   kind         send (default) | look_up | list | poll | token | any; or a
 *                list of them (where a vendor is looked up by its list,
 *                look_up means list too)
 *   between_ms   [from, to) since the scenario's clock began; to may be null
 *   op, form, subject, path, method   texts, * as wildcard
 *   from, first  arrivals of one operation: from its Nth, its first N
 *   every        its Nth, 2Nth, 3Nth … arrival
 *   nth          each Nth request of its kind, whosever (hangs on the order
 *                of requests, unlike everything else here)
 *   share, per   this share of requests, or ("per": "operation") of
 *                operations, decided by seed, rule, operation and arrival
 *   do           the action, see scenario_actions
 * The first rule that matches and is not a modifier decides the answer;
 * modifiers (delay, forget_keys, key_off, list_lag) add up before it.
 *
 * Decisions are a pure function of seed, rule, operation and arrival number
 * (and of the time, for between_ms), so a run can be repeated whatever the
 * interleaving of its requests.
 */
#ifndef EDCSYNC_SIM_SCENARIO_H
#define EDCSYNC_SIM_SCENARIO_H

#include "core/base.h"
#include "core/limits.h"

#define SIM_RULES_MAX 256
#define SIM_TEXT 128
#define SIM_REVOKE_MAX 16
#define SIM_FOR_EVER INT64_MAX

enum sim_kind {
	SIM_SEND, SIM_LOOK_UP, SIM_LIST, SIM_POLL, SIM_TOKEN, SIM_KINDS
};
const char *sim_kind_name(enum sim_kind);
#define SIM_READS (1u << SIM_LOOK_UP | 1u << SIM_LIST | 1u << SIM_POLL)
#define SIM_ANY ((1u << SIM_KINDS) - 1)

enum sim_body {
	SIM_BODY_TRUTH,		/* what the vendor would say */
	SIM_BODY_PROBLEM,	/* application/problem+json */
	SIM_BODY_ERROR,		/* {"error": {"code", "message"}} */
	SIM_BODY_HTML, SIM_BODY_EMPTY,
	SIM_BODY_NAMESPACES	/* a schema that knows no element */
};

enum sim_ending {		/* how the connection goes on */
	SIM_END_WHOLE, SIM_END_RESET, SIM_END_CLOSE, SIM_END_TRUNCATED
};

/* What an action does beyond its row of the table. */
enum sim_special {
	SIM_PLAIN, SIM_QUEUE, SIM_HOLD, SIM_LATE, SIM_OUTAGE, SIM_DELAY,
	SIM_FORGET_KEYS, SIM_KEY_OFF, SIM_LIST_LAG
};

struct sim_action {
	const char *name;
	unsigned kinds;		/* bits of what it may be used on */
	bool modifier;
	bool commit;		/* a send is committed before the answer;
				 * the field `commit` of a rule overrides */
	int status;		/* 0: the truth's */
	enum sim_body body;
	enum sim_ending ending;
	enum sim_special special;
	const char *about;
};
extern const struct sim_action scenario_actions[];	/* name NULL ends */

enum sim_outcome { SIM_DONE, SIM_FAILED, SIM_PARTIAL, SIM_NEVER };
enum sim_location { SIM_LOC_YES, SIM_LOC_NO, SIM_LOC_ABSOLUTE };

struct sim_rule {
	char name[SIM_TEXT];	/* counted under; default: the action's */
	int line;
	unsigned kinds;
	bool timed;
	int64_t begin_ms, end_ms;
	char op[SIM_TEXT], form[SIM_TEXT], subject[SIM_TEXT];
	char path[SIM_TEXT], method[16];
	int64_t from, first, every, nth;	/* 0: not asked */
	double share;			/* 1 = all */
	bool per_operation;
	const struct sim_action *action;

	int commit;			/* -1: as the action says */
	int64_t ms, ms_max;		/* stall, delay, lag, forget */
	char retry_after[SIM_TEXT];	/* "" none; "date+S"; else as is */
	int64_t run_ms;
	enum sim_outcome outcome;
	char word[SIM_TEXT];		/* final word of a job; "" default */
	enum sim_location location;
	int envelope;			/* 202 or 200 */
	char url[SIM_TEXT];		/* redirect */
	bool refuse;			/* outage: no listener at all */
};

struct sim_oauth {
	char client_id[SIM_TEXT], client_secret[SIM_TEXT];
	char expires_in[SIM_TEXT];	/* JSON text; "" leaves it out */
	int64_t lifetime_ms;
	int64_t uses;			/* 0: no limit */
	bool latest_only;
	int64_t revoke_at_ms[SIM_REVOKE_MAX];
	size_t revoke_n;
	int64_t refused_from_ms, refused_to_ms;	/* equal: never */
};

enum sim_auth {
	SIM_AUTH_NONE, SIM_AUTH_OAUTH2, SIM_AUTH_BASIC, SIM_AUTH_SESSION,
	SIM_AUTH_FORM_TOKEN
};

enum sim_results { SIM_RESULTS_JOB, SIM_RESULTS_JSON, SIM_RESULTS_CSV };

struct scenario {
	char name[SIM_TEXT], title[SIM_TEXT], profile[SIM_TEXT];
	uint64_t seed;
	bool clock_first_request;
	bool keys, keep_payloads;
	enum sim_auth auth;
	enum sim_results results;
	int64_t forget_keys_ms, list_lag_ms, page_items, delay_ms;
	struct sim_oauth oauth;
	struct sim_rule *rule;		/* owned */
	size_t rules;
};

void scenario_init(struct scenario *);		/* the plain defaults */
void scenario_release(struct scenario *);
/* False: findings say what is wrong; the scenario is then as after init. */
bool scenario_load(struct scenario *, struct span text, const char *file,
		   struct findings *);

/* "abc*" style match over the whole text; an empty pattern matches all. */
bool scenario_glob(const char *pattern, const char *text);

/* Is the listener to be closed at this time? *until_ms: when that changes
 * next (SIM_FOR_EVER when it does not). */
bool scenario_down(const struct scenario *, int64_t since_ms,
		   int64_t *until_ms);

/* What is known of a request when rules are asked. Texts may be "". */
struct sim_asked {
	enum sim_kind kind;
	bool looks;			/* a list that is a look-up, too */
	int64_t since_ms;		/* on the scenario's clock */
	const char *identity;		/* op_id, else key, else digest */
	const char *form, *subject, *path, *method;
	int64_t arrival;		/* of this kind and operation, from 1 */
	int64_t number;			/* of this kind, from 1 */
};

/* A number in [0, 1) from the same inputs, for everything that is drawn. */
double scenario_roll(uint64_t seed, const char *identity, uint64_t a,
		     uint64_t b);
bool scenario_matches(const struct scenario *, size_t rule,
		      const struct sim_asked *);

#endif
