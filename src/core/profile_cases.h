/*
 * profile_cases.h - floor 0: running the cases that a profile ships.
 *
 * A case file (share/profiles/cases/NAME.json) is
 *   {"profile": NAME, "cases": [CASE...]}, a CASE an object:
 *
 *   name        what it shows; unique
 *   kind        send (default) | poll | result (of a job) | look_up | probe |
 *               log_in (by the profile's `login`) | token (of a token
 *               endpoint); of the last two: let in is commit, trouble retry,
 *               all else halt
 *   method      POST (default)        mode    the profile's default
 *   status      HTTP status, 0 = none (default)
 *   transport   ok (default) | timeout | reset | ... (`classify --transport`)
 *   first_byte_left   default: a status is given, or the transport is none
 *                     of refused, dns, tls, certificate
 *   headers     {name: value}
 *   json | body the answer's body: any JSON, as written here; or a text
 *   outcome_unknown, token_fresh, seen_before    false
 *   job_age_ms  0 (result: since the job ended)
 *   job         result: how the job ended: done (default) | partial | failed
 *   now         RFC 3339
 *   op_id       "OP1"                 payload what was submitted: JSON, or a
 *                                             text (XML, CSV)
 *   account     log_in: what the endpoint's credential names; token: scope
 *   expect      verdict (required) and any of: reason rule why halt job_id
 *               poll_url job_stage result_url (a poll that leads to a result)
 *               vendor_correlation_id word code say next_page layer
 *               excerpt items (texts), retry_after_ms items_refused items_total
 *               (numbers), not_done paces_endpoint matched complete
 *
 * Used by tests and by `edcsync profile test`.
 */
#ifndef EDCSYNC_CORE_PROFILE_CASES_H
#define EDCSYNC_CORE_PROFILE_CASES_H

#include "core/profile.h"

/* One case ran. expected and got are one line each; equal texts when ok. */
typedef void profile_case_fn(void *ctx, const char *name, int line, bool ok,
			     const char *expected, const char *got);

/* Number of cases that failed; mistakes in the file itself are findings. */
int profile_cases_run(struct span text, const char *file,
		      const struct profile *, profile_case_fn *, void *ctx,
		      struct findings *);

#endif
