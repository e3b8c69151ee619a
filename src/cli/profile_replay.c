/*
 * profile_replay.c - wires: `edcsync profile check --replay-stored`. What
 * would the answers that the store holds mean today? (DESIGN.md section 6,
 * "Rules in force".)
 *
 * A store keeps of an answer its status and an excerpt in which values that
 * nobody may see are masked; headers are not kept. So each one is judged
 * twice: by the rules that were in force when it came, which the store keeps
 * too, and where that says what was said then, enough of it is kept, and it
 * is judged by the rules of today. Of the others nothing is claimed.
 */
#include "cli/command.h"
#include "cli/profile_replay.h"
#include "core/classify.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 500			/* attempts a look */

/* A profile that was in force once; NULL: it cannot be read any more. */
struct kept {
	sha256_hex sha256;
	struct profile *profile;
	struct buf text;
};

struct replay {
	struct cli *cli;
	const struct profile *candidate;	/* NULL: the endpoint's own */
	struct kept *kept;
	size_t kept_n;
	int64_t last_id;
	int page;
	int looked, changed, untold;
};

/* An excerpt as JSON again: what stands for a value becomes a text. */
static bool unmask(const char *excerpt, struct buf *out)
{
	bool text = false;

	for (const char *p = excerpt; *p; p++) {
		if (text && *p == '\\' && p[1]) {
			buf_addc(out, *p++);
		} else if (*p == '"') {
			text = !text;
		} else if (!text && !strncmp(p, "***", 3)) {
			buf_adds(out, "\"***\"");
			p += 2;
			continue;
		} else if (!text && *p == '(') {
			buf_adds(out, "\"(");
			for (p++; *p && *p != ')'; p++)
				buf_addc(out, *p);
			buf_adds(out, ")\"");
			if (!*p)
				return false;
			continue;
		}
		buf_addc(out, *p);
	}
	return !text;
}

/* False: the body is not there, or was cut. */
static bool body_of(const struct attempt *a, struct buf *out)
{
	static const char prose[] = " bytes, not JSON)";
	size_t n = strlen(a->excerpt), end = sizeof(prose) - 1;
	struct json doc = {0};
	bool whole;

	if (!strcmp(a->excerpt, "(empty)"))
		return true;
	if (!n || (n > end && !strcmp(a->excerpt + n - end, prose)) ||
	    !unmask(a->excerpt, out))
		return false;
	whole = json_parse(&doc, out->p, out->len, 0);
	json_release(&doc);
	return whole;
}

static const struct profile *profile_of_then(struct replay *r,
					     const char *sha256)
{
	struct setup *setup = &r->cli->setup;
	struct findings findings = {0};
	struct kept *k;

	for (size_t i = 0; i < r->kept_n; i++)
		if (!strcmp(r->kept[i].sha256, sha256))
			return r->kept[i].profile;
	r->kept = xrealloc(r->kept, (r->kept_n + 1) * sizeof(*r->kept));
	k = &r->kept[r->kept_n++];
	memset(k, 0, sizeof(*k));
	memcpy(k->sha256, sha256, sizeof(k->sha256));
	if (rules_text(setup->store, "profile", sha256, &k->text) == ST_OK)
		k->profile = profile_load(buf_span(&k->text), "kept rules",
					  setup_profile_text, setup,
					  &findings);
	findings_release(&findings);
	return k->profile;
}

static void judge(const struct profile *p, const struct view_attempt *seen,
		  const struct endpoint_config *e, bool in_doubt,
		  struct span body, struct verdict_out *v)
{
	struct answer answer = {.status = seen->attempt->status,
				.first_byte_left = true, .body = body};
	struct classify_in in = {.profile = p, .method = seen->about.method,
				 .mode = config_mode(e, seen->about.method),
				 .outcome_unknown = in_doubt,
				 .now_ms = seen->attempt->finished_ms};

	if (seen->attempt->kind == ATTEMPT_POLL)
		classify_poll(&in, &answer, true, 0, v);
	else
		classify_send(&in, &answer, v);
}

static bool same(const struct verdict_out *v, const struct attempt *a)
{
	return v->verdict == a->verdict && !strcmp(v->rule, a->rule);
}

static void tell(struct replay *r, const struct view_attempt *seen,
		 const struct verdict_out *now)
{
	struct out *out = &r->cli->out;
	const struct attempt *a = seen->attempt;

	if (r->cli->json) {
		out_open(out, NULL, '{');
		out_text(out, "op_id", seen->about.op_id);
		out_int(out, "n", a->n);
		out_text(out, "kind", attempt_kind_name(a->kind));
		out_int(out, "status", a->status);
		out_text(out, "verdict", verdict_name(a->verdict));
		out_text(out, "rule", a->rule);
		out_text(out, "verdict_now", verdict_name(now->verdict));
		out_text(out, "rule_now", now->rule);
		out_text(out, "profile_sha256", a->profile_sha256);
		out_close(out, '}');
		return;
	}
	out_printf(out, "%s attempt %d, HTTP %d: %s by %s, now %s by %s\n",
		   seen->about.op_id, a->n, a->status,
		   verdict_name(a->verdict), out_safe(out, a->rule),
		   verdict_name(now->verdict), out_safe(out, now->rule));
}

/* One answer, by the rules of then and, if those still say it, of today. */
static void replay_one(struct replay *r, const struct view_attempt *seen,
		       const struct endpoint_config *e)
{
	const struct profile *then = profile_of_then(r,
					seen->attempt->profile_sha256);
	const struct profile *now = r->candidate ? r->candidate : e->profile;
	struct buf body = BUF_INIT;
	struct verdict_out was, is;
	bool told = false;

	r->looked++;
	if (!then || !body_of(seen->attempt, &body)) {
		r->untold++;
		buf_release(&body);
		return;
	}
	for (int in_doubt = 0; in_doubt < 2 && !told; in_doubt++) {
		judge(then, seen, e, in_doubt, buf_span(&body), &was);
		told = same(&was, seen->attempt);
		if (told)
			judge(now, seen, e, in_doubt, buf_span(&body), &is);
	}
	buf_release(&body);
	r->untold += !told;
	if (!told || is.verdict == was.verdict)
		return;
	r->changed++;
	tell(r, seen, &is);
}

static int each(void *ctx, const struct view_attempt *seen)
{
	const struct attempt *a = seen->attempt;
	struct replay *r = ctx;
	const struct endpoint_config *e =
		config_endpoint(r->cli->setup.config,
				span_of(seen->about.endpoint));

	r->last_id = seen->id;
	r->page++;
	if (e && a->op && a->status && a->transport == TRANSPORT_OK &&
	    seen->about.method &&
	    (a->kind == ATTEMPT_SEND || a->kind == ATTEMPT_POLL) &&
	    (!r->candidate || !strcmp(r->candidate->name, e->profile->name)))
		replay_one(r, seen, e);
	return 0;
}

static int replay_all(struct cli *cli, const struct profile *candidate)
{
	struct replay r = {.cli = cli, .candidate = candidate};
	int rc;

	do {
		r.page = 0;
		rc = view_attempts_after(cli->setup.view, r.last_id, PAGE,
					 each, &r);
	} while (rc == ST_OK && r.page == PAGE);
	for (size_t i = 0; i < r.kept_n; i++) {
		profile_free(r.kept[i].profile);
		buf_release(&r.kept[i].text);
	}
	free(r.kept);
	if (rc != ST_OK)
		return cli_fail(cli, EXIT_IO, "the store cannot be read");
	if (!cli->json)
		out_printf(&cli->out, "%d answers looked at: %d mean "
			   "something else now, of %d too little is kept\n",
			   r.looked, r.changed, r.untold);
	return r.changed ? EXIT_PERSON : EXIT_DONE;
}

int profile_replay(struct cli *cli)
{
	struct setup *setup = &cli->setup;
	int code = EXIT_DONE, one;

	if (!setup->config)
		return cli_fail(cli, EXIT_CONFIG, "--replay-stored needs a "
				"configuration and its store");
	code = setup_need_store(setup);
	if (!code)
		code = setup_open_store_read(setup);
	if (!code)
		code = setup_open_view(setup);
	if (!code && !cli->args_n)
		return replay_all(cli, NULL);
	for (int i = 0; i < cli->args_n && (!code || code == EXIT_PERSON);
	     i++) {
		const struct profile *p = setup_profile(setup, cli->args[i]);

		one = p ? replay_all(cli, p) : EXIT_CONFIG;
		code = one ? one : code;
	}
	return code;
}
