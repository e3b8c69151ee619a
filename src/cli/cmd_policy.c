/*
 * cmd_policy.c - wires: `edcsync policy`, a dry run: when would we try
 * again, and what happens when that was all?
 */
#include "cli/command.h"
#include "core/backoff.h"
#include "core/timefmt.h"

#include <inttypes.h>

/* splitmix64: the same seed gives the same jitter everywhere. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* What follows the last attempt, if the outcome stays unknown. */
static const char *const unknown_words[] = {
	[MODE_KEY] = "sent again with the same key while the vendor "
		"remembers it, then looked up where it can be, else a "
		"dead letter with outcome unknown",
	[MODE_NATURAL] = "at the end a dead letter with outcome unknown",
	[MODE_LOOKUP] = "looked up after settling; sent again only when "
		"proven absent",
	[MODE_NONE] = "a dead letter at once: a person finds out "
		"whether the vendor has it",
};

/* In mode natural that hangs on the method; "" is none that it covers. */
static void if_unknown(const struct endpoint_config *e, struct buf *out)
{
	if (e->idempotency == MODE_NATURAL) {
		buf_adds(out, "the same ");
		config_natural_methods(e->profile, out);
		buf_adds(out, " again, ");
	}
	buf_adds(out, unknown_words[e->idempotency]);
	if (e->idempotency == MODE_NATURAL)
		buf_addf(out, "; another method: %s",
			 unknown_words[config_mode(e, "")]);
}

static void policy_json(struct out *out, const struct endpoint_config *e,
			uint64_t seed, int64_t now)
{
	struct buf unknown = BUF_INIT;
	int64_t at = now;

	if_unknown(e, &unknown);
	out_open(out, NULL, '{');
	out_text(out, "endpoint", e->name);
	out_open(out, "attempts", '[');
	for (int n = 1; n <= e->retry.max_attempts; n++) {
		int64_t wait = n == 1 ? 0 : backoff_ms(&e->retry, n - 1,
						       next_random(&seed));

		at = add_ms(at, wait);
		out_open(out, NULL, '{');
		out_int(out, "n", n);
		out_int(out, "wait_ms", wait);
		out_int(out, "ceiling_ms",
			n == 1 ? 0 : backoff_ceiling_ms(&e->retry, n - 1));
		out_time(out, "due_at", at);
		out_close(out, '}');
	}
	out_close(out, ']');
	out_text(out, "then", "dead, reason exhausted");
	out_text(out, "if_unknown", buf_text(&unknown));
	out_close(out, '}');
	buf_release(&unknown);
}

static void policy_text(struct out *out, const struct endpoint_config *e,
			uint64_t seed, int64_t now)
{
	int64_t at = now;
	char wait[TIME_TEXT], ceiling[TIME_TEXT], due[TIME_TEXT];
	struct buf then = BUF_INIT;
	int zone = setup_utc_offset_min(now);

	out_printf(out, "%s: up to %d sends\n", out_safe(out, e->name),
		   e->retry.max_attempts);
	for (int n = 1; n <= e->retry.max_attempts; n++) {
		int64_t ms = n == 1 ? 0 : backoff_ms(&e->retry, n - 1,
						     next_random(&seed));

		at = add_ms(at, ms);
		time_local(at, zone, due);
		duration_text(ms, wait);
		duration_text(n == 1 ? 0 : backoff_ceiling_ms(&e->retry, n - 1),
			      ceiling);
		out_printf(out, "  send %d   %s   after %s (at most %s)\n", n,
			   due, wait, ceiling);
	}
	out_printf(out, "then, if it surely did not happen: a dead letter, "
		   "reason exhausted\n");
	buf_adds(&then, "if it may have happened: ");
	if_unknown(e, &then);
	out_wrap(out, 0, 0, buf_text(&then));
	buf_release(&then);
}

int cmd_policy(struct cli *cli)
{
	const char *name = cli_text(cli, "endpoint");
	const struct endpoint_config *e;
	uint64_t seed;

	if (!name && cli->args_n == 1)
		name = cli->args[0];
	if (!name)
		return cli_usage(cli, "--endpoint is needed");
	e = config_endpoint(cli->setup.config, span_of(name));
	if (!e)
		return cli_fail(cli, EXIT_CONFIG, "%s has no endpoint '%s'",
				cli->setup.config_file,
				out_safe(&cli->out, name));
	seed = (uint64_t)cli_number(cli, "seed", 1);
	if (cli->json)
		policy_json(&cli->out, e, seed, setup_now_ms());
	else
		policy_text(&cli->out, e, seed, setup_now_ms());
	return EXIT_DONE;
}
