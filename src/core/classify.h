/*
 * classify.h - floor 0: one answer, one verdict (DESIGN.md section 4).
 *
 * Pure functions of profile, operation and answer. The default table of the
 * design stands behind every profile's own rules; a rule always has a name
 * (the built-in ones too: "refused-connection", "gateway-timeout", ...).
 */
#ifndef EDCSYNC_CORE_CLASSIFY_H
#define EDCSYNC_CORE_CLASSIFY_H

#include "core/items.h"
#include "core/profile.h"

struct classify_in {
	const struct profile *profile;
	const char *method;		/* of the operation */
	enum idem_mode mode;
	bool outcome_unknown;		/* of the operation, before this */
	bool token_fresh;		/* the token was issued for this very
					 * attempt after a 401 */
	int64_t retry_after_max_ms;	/* not applied here: a longer wait is
					 * reported, the engine halts on it */
	int64_t now_ms;			/* UTC */
	struct span payload;		/* what was submitted, before tag and
					 * body were built; p NULL: not known,
					 * then counts are "unknown" */
	struct json *scratch;		/* reused from answer to answer by one
					 * thread, so that reading allocates
					 * nothing; NULL = one for this call */
};

/*
 * Guards stand behind the rules, and no rule lifts them: a status other than
 * 2xx is no success ("not-2xx": UNKNOWN; B060); what the
 * profile's `items` show refused, or not understood, is no commit
 * ("items-partly-refused": PARTIAL, "items-all-refused": REJECT,
 * "items-unclear": UNKNOWN); and where an XPath went over its budget, everything
 * is UNKNOWN, a look-up INCONCLUSIVE ("xml-too-costly").
 */

/*
 * The answer to a send. PARTIAL and LOOK may come of a profile's rules only.
 * out->matched is false only for a whole, well-formed answer that no rule
 * knows (five in a row halt the endpoint); such an answer is UNKNOWN by a
 * built-in row whose name begins "odd-", or by a rule that takes whatever is
 * left (catch_all).
 */
void classify_send(const struct classify_in *, const struct answer *,
		   struct verdict_out *);

/* The answer to a poll: COMMIT, REJECT, PARTIAL, STILL, VANISHED, PACE,
 * REFRESH, HALT, or UNKNOWN (poll trouble; never a failed job). Where the
 * profile fetches results, an end that has one is STILL with a job_stage.
 * seen_before: some earlier poll of this job was answered other than 404;
 * job_age_ms: since the job was accepted (404 grace). */
void classify_poll(const struct classify_in *, const struct answer *,
		   bool seen_before, int64_t job_age_ms,
		   struct verdict_out *);

/*
 * The answer to the fetch of a job's result: verdicts as for polls. stage:
 * how the job ended, as a poll told; ended_ms: since then. A result decides
 * by what it shows of the items, or by a rule: COMMIT where the job is done
 * and nothing was refused, PARTIAL, REJECT; UNKNOWN where it is not to be had
 * or not understood, never a guess. What a job called failed or partial has
 * taken is PARTIAL at best.
 */
void classify_result(const struct classify_in *, const struct answer *,
		     enum job_stage stage, int64_t ended_ms,
		     struct verdict_out *);

/* The answer to a probe by a read (health, look-up): COMMIT = good,
 * RETRY/UNKNOWN = still down, PACE, REFRESH, HALT, else neutral REJECT. */
void classify_probe(const struct classify_in *, const struct answer *,
		    struct verdict_out *);

/*
 * What send, poll, probe and look-up have in common; for lookup.c. An answer
 * is opened once: doc is NULL when the body is no JSON.
 */
struct opened {
	const struct classify_in *in;
	const struct answer *answer;
	struct json own;
	struct json *doc;
	enum body_kind body;
	struct verdict_out *out;
	struct buf utf8;		/* the body, where its charset lied */
	struct xml_lazy xml;
	struct payload_lazy sent;
	bool look_up;
	const struct item_levels *levels;	/* of this kind of answer */
	struct items_seen items;
};
void classify_open(struct opened *, const struct classify_in *,
		   const struct answer *, struct verdict_out *);
void classify_close(struct opened *);	/* excerpt, ids, waits; frees */
/* What the head says of the vendor's pace, also of an answer that was cut;
 * classify_close asks for it. */
void classify_waits(struct opened *);
/* Names rule, verdict and reason of the one line. */
void classify_say(struct opened *, enum verdict, const char *rule,
		  const char *why);
/* Transport failures, 401, 403 insufficient_scope, 429, certificate: true
 * when it decided. */
bool classify_transport(struct opened *);
bool classify_access(struct opened *);
/* How far the request came, by transport and status alone. */
enum layer classify_layer(const struct answer *);
/* The profile's rules in order; false when none matches. */
bool classify_rules(struct opened *, const struct rules *);
/* Those of the rules that say refresh, pace or halt: some vendors' envelopes
 * say so in a 200. For look-ups and probes of the rules for sends, for results
 * of those for polls, too. */
bool classify_envelope(struct opened *, const struct rules *);
/* What rules and sources look at. */
struct cond_world classify_world(struct opened *);
/* Looks at the items, if it was not done; writes counts and list. */
void classify_items(struct opened *);
/* Takes a success back whose bytes are of no charset known: false. */
bool classify_charset(struct opened *);
/* The guards above, after everything else has decided. */
void classify_guard(struct opened *);
/* Something that a vendor may mean: a 2xx (refusals: or 3xx, 4xx) that is no
 * page, not empty, no broken JSON or XML. */
bool classify_well_formed(const struct opened *, bool refusals);
/* Does an answer speak of an error, whatever its status? JSON: a member
 * error, errors, fault or exception that says something, success or ok that
 * is false, failed or failures that is a number and not 0, a status (state,
 * result, outcome) that is a word of failure or a number of HTTP's from 400;
 * in any element of a list. XML: such a root, or a SOAP fault. */
bool classify_says_error(const struct opened *);
/* The built-in table; always decides. */
void classify_defaults(struct opened *);
/* The first valid source, if it is an id. */
bool classify_take_id(struct opened *, const struct sources *, char *dst,
		      size_t size);
/* Escaped and cut into dst; the same of the first valid source. */
void classify_text(char *dst, size_t size, struct span);
void classify_take(struct opened *, const struct sources *, char *dst,
		   size_t size);
/* Visible ASCII of bounded length into dst, else dst = "". */
bool classify_id(char *dst, size_t size, struct span value);

#endif
