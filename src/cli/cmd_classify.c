/*
 * cmd_classify.c - wires: `edcsync classify`, a dry run: what would this
 * answer mean?
 */
#include "cli/command.h"
#include "core/classify_log_in.h"
#include "core/lookup.h"
#include "core/timefmt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEADERS_MAX = 64 };

struct classify_call {
	struct classify_in in;
	struct answer answer;
	struct header headers[HEADERS_MAX];
	struct buf body, payload;
	enum attempt_kind kind;
	enum cred_kind log_in;		/* of ATTEMPT_CREDENTIAL */
	enum job_stage result;		/* of a job that ended so */
};

static int take_header(struct cli *cli, struct classify_call *call,
		       const char *text)
{
	const char *colon = strchr(text, ':');
	struct header *h;

	if (!colon || colon == text)
		return cli_usage(cli, "--header is 'Name: value', not '%s'",
				 out_safe(&cli->out, text));
	if (call->answer.headers_n >= HEADERS_MAX)
		return cli_usage(cli, "at most %d headers", HEADERS_MAX);
	h = &call->headers[call->answer.headers_n++];
	h->name = (struct span){text, (size_t)(colon - text)};
	colon += 1 + strspn(colon + 1, " \t");
	h->value = span_of(colon);
	return -1;
}

static int take_transport(struct cli *cli, struct classify_call *call)
{
	const char *text = cli_text(cli, "transport");
	enum transport t = TRANSPORT_OK;

	if (text && !transport_parse(span_of(text), &t))
		return cli_usage(cli, "--transport is ok, timeout, reset, "
				 "refused, dns, tls or truncated, not '%s'",
				 out_safe(&cli->out, text));
	call->answer.transport = t;
	/* Refused, DNS and TLS end before the request's first byte. */
	call->answer.first_byte_left = t != TRANSPORT_REFUSED &&
		t != TRANSPORT_DNS && t != TRANSPORT_TLS &&
		t != TRANSPORT_CERTIFICATE;
	return -1;
}

static int take_mode(struct cli *cli, struct classify_call *call)
{
	const char *text = cli_text(cli, "idempotency");

	call->in.mode = call->in.profile->mode_default;
	if (text && !idem_mode_parse(span_of(text), &call->in.mode))
		return cli_usage(cli, "--idempotency is key, natural, lookup or "
				 "none, not '%s'", out_safe(&cli->out, text));
	return -1;
}

static int take_result(struct cli *cli, struct classify_call *call)
{
	const char *text = cli_text(cli, "job");

	if (!call->in.profile->poll.result.present)
		return cli_usage(cli, "the profile %s fetches no results",
				 out_safe(&cli->out, call->in.profile->name));
	call->kind = ATTEMPT_POLL;
	call->result = JOB_DONE;
	if (!text || (job_stage_parse(span_of(text), &call->result) &&
		      call->result != JOB_WATCHED))
		return -1;
	return cli_usage(cli, "--job is done, partial or failed, not '%s'",
			 out_safe(&cli->out, text));
}

static int take_kind(struct cli *cli, struct classify_call *call)
{
	static const struct {
		const char *word;
		enum attempt_kind kind;
		enum cred_kind log_in;
	} known[] = {
		{"send", ATTEMPT_SEND, CRED_NONE},
		{"poll", ATTEMPT_POLL, CRED_NONE},
		{"look_up", ATTEMPT_LOOK_UP, CRED_NONE},
		{"probe", ATTEMPT_PROBE, CRED_NONE},
		{"log_in", ATTEMPT_CREDENTIAL, CRED_SESSION},
		{"token", ATTEMPT_CREDENTIAL, CRED_OAUTH2},
	};
	const char *text = cli_text(cli, "kind");
	size_t k = 0;

	if (text && !strcmp(text, "result"))
		return take_result(cli, call);
	if (cli_text(cli, "job"))
		return cli_usage(cli, "--job goes with --kind result");
	if (!text)
		return -1;
	while (k < ARRAY_SIZE(known) && strcmp(known[k].word, text) != 0)
		k++;
	if (k == ARRAY_SIZE(known))
		return cli_usage(cli, "--kind is send, poll, result, look_up, "
				 "probe, log_in or token, not '%s'",
				 out_safe(&cli->out, text));
	call->kind = known[k].kind;
	call->log_in = known[k].log_in;
	if (call->kind == ATTEMPT_LOOK_UP && !call->in.profile->lookup.present)
		return cli_usage(cli, "the profile %s has no look-up",
				 out_safe(&cli->out, call->in.profile->name));
	/* Who logs in by OAuth2 says log_in, too. */
	if (call->log_in == CRED_SESSION && !call->in.profile->login.present)
		call->log_in = CRED_OAUTH2;
	return -1;
}

static int take_body(struct cli *cli, struct classify_call *call)
{
	const char *file = cli_text(cli, "body");

	if (file && !setup_read_file(file, LIMIT_ANSWER_BYTES, &call->body))
		return cli_fail(cli, EXIT_NO_INPUT, "cannot read '%s': %s",
				out_safe(&cli->out, file), strerror(errno));
	call->answer.body = buf_span(&call->body);
	file = cli_text(cli, "payload");
	if (file && !setup_read_file(file, LIMIT_LINE_BYTES, &call->payload))
		return cli_fail(cli, EXIT_NO_INPUT, "cannot read '%s': %s",
				out_safe(&cli->out, file), strerror(errno));
	if (file)
		call->in.payload = (struct span){buf_text(&call->payload),
						 call->payload.len};
	return -1;
}

static int call_fill(struct cli *cli, struct classify_call *call)
{
	const char *name = cli_text(cli, "profile"), *header;
	int64_t status = cli_number(cli, "status", 0);
	int code = -1;

	if (!name)
		return cli_usage(cli, "--profile is needed");
	if (status < 0 || status > 999)
		return cli_usage(cli, "--status is an HTTP status");
	call->in.profile = setup_profile(&cli->setup, name);
	if (!call->in.profile)
		return EXIT_CONFIG;
	call->in.method = cli_text(cli, "method");
	if (!call->in.method)
		call->in.method = "POST";
	call->in.now_ms = cli_number(cli, "now", setup_now_ms());
	call->in.retry_after_max_ms = 86400000;
	call->answer.status = (int)status;
	call->answer.headers = call->headers;
	call->answer.received_ms = call->in.now_ms;
	for (size_t i = 0; code < 0 && (header = cli_list(cli, "header", i));
	     i++)
		code = take_header(cli, call, header);
	if (code < 0)
		code = take_transport(cli, call);
	if (code < 0)
		code = take_mode(cli, call);
	if (code < 0)
		code = take_kind(cli, call);
	if (code < 0)
		code = take_body(cli, call);
	if (code < 0 && !status && call->answer.transport == TRANSPORT_OK)
		code = cli_usage(cli, "--status or --transport is needed");
	return code;
}

static void say_int(struct out *out, const char *key, int64_t v, bool given)
{
	if (given)
		out_int(out, key, v);
	else
		out_null(out, key);
}

static void text_or_null(struct out *out, const char *key, const char *text)
{
	out_text(out, key, text[0] ? text : NULL);
}

static void print_json(struct out *out, const struct verdict_out *v)
{
	const char *reason = v->reason != REASON_NONE
		? op_reason_name(v->reason) : v->why;

	if (v->halt != HALT_NONE)
		reason = halt_reason_name(v->halt);
	out_open(out, NULL, '{');
	out_text(out, "verdict", verdict_name(v->verdict));
	out_text(out, "reason", reason);
	out_text(out, "rule", v->rule);
	text_or_null(out, "why", v->why);
	text_or_null(out, "say", v->say);
	text_or_null(out, "do", v->todo);
	say_int(out, "retry_after_ms", v->retry_after_ms,
		v->retry_after_ms >= 0);
	out_bool(out, "paces_endpoint", v->paces_endpoint);
	out_text(out, "layer", layer_name(v->layer));
	text_or_null(out, "job_id", v->job_id);
	text_or_null(out, "poll_url", v->job_stage ? "" : v->poll_url);
	text_or_null(out, "result_url", v->job_stage ? v->poll_url : "");
	out_text(out, "job_stage", v->job_stage ?
		 job_stage_name(v->job_stage) : NULL);
	text_or_null(out, "vendor_correlation_id", v->vendor_id);
	text_or_null(out, "code", v->code);
	text_or_null(out, "items", v->items);
	say_int(out, "items_refused", v->items_refused, v->items_total > 0);
	say_int(out, "items_total", v->items_total, v->items_total > 0);
	text_or_null(out, "excerpt", v->excerpt);
	out_close(out, '}');
}

/* What a verdict leads to, for a reader who has not met our words. */
static const char *verdict_means(enum verdict v)
{
	static const char *const words[VERDICT_COUNT] = {
		[VERDICT_COMMIT] = "it is at the vendor; the end",
		[VERDICT_POLL] = "accepted; the vendor's job is watched",
		[VERDICT_REFRESH] = "log in anew, then again",
		[VERDICT_PACE] = "not done; again later, and slower",
		[VERDICT_RETRY] = "not done; sent again after a wait",
		[VERDICT_UNKNOWN] = "it may have happened; settled as the "
			"endpoint's idempotency says",
		[VERDICT_REJECT] = "refused as it is; the end",
		[VERDICT_HALT] = "the endpoint stops; a person resumes it",
		[VERDICT_STILL] = "the job runs; asked again later",
		[VERDICT_VANISHED] = "the job is not known any more",
		[VERDICT_PARTIAL] = "some of it was refused; the end",
		[VERDICT_LOOK] = "refused because it exists already; a "
			"look-up tells whether that is ours",
		[VERDICT_FOUND] = "it is there as it was sent; the end",
		[VERDICT_RUNNING] = "the vendor's job is watched",
		[VERDICT_DIFFERS] = "something else is there under our tag; "
			"a person decides",
		[VERDICT_SEVERAL] = "it is there more than once; a person "
			"decides",
		[VERDICT_ABSENT] = "it is not there; whether that proves "
			"anything, the profile and the time say",
		[VERDICT_INCONCLUSIVE] = "it tells nothing; looked up again",
		[VERDICT_MORE_PAGES] = "the next page is asked for",
	};

	assert(words[v]);
	return words[v];
}

/* The same of a log-in. */
static const char *log_in_means(enum verdict v)
{
	return v == VERDICT_COMMIT ? "let in; the work goes on" :
		v == VERDICT_HALT ? verdict_means(v) :
		"what there is is kept; asked again after a wait";
}

static void print_text(struct cli *cli, const struct verdict_out *v,
		       enum attempt_kind kind)
{
	struct out *out = &cli->out;
	char wait[TIME_TEXT];

	out_printf(out, "%s  by rule %s\n", verdict_name(v->verdict),
		   out_safe(out, v->rule));
	out_printf(out, "  means  %s\n", kind == ATTEMPT_CREDENTIAL ?
		   log_in_means(v->verdict) : v->job_stage ?
		   "the job has ended; its result is fetched and decides" :
		   verdict_means(v->verdict));
	if (v->why[0])
		out_printf(out, "  why    %s\n", out_safe(out, v->why));
	if (v->say[0] && strcmp(v->say, v->why) != 0)
		out_printf(out, "  says   %s\n", out_safe(out, v->say));
	if (v->todo[0])
		out_printf(out, "  do     %s\n", out_safe(out, v->todo));
	if (v->halt != HALT_NONE)
		out_printf(out, "  halts  %s: %s\n", halt_reason_name(v->halt),
			   halt_reason_words(v->halt));
	if (v->retry_after_ms >= 0) {
		duration_text(v->retry_after_ms, wait);
		out_printf(out, "  wait   %s, as the vendor told%s\n", wait,
			   v->paces_endpoint ? "; the whole endpoint" : "");
	}
	if (v->job_id[0])
		out_printf(out, "  job    %s\n", out_safe(out, v->job_id));
	if (v->items[0])
		out_printf(out, "  items  %d refused: %s\n", v->items_refused,
			   out_safe(out, v->items));
	if (v->poll_url[0])
		out_printf(out, "  %s %s\n", v->job_stage ? "result" : "poll  ",
			   out_safe(out, v->poll_url));
}

static void look_up(struct cli *cli, struct classify_call *call,
		    struct verdict_out *v)
{
	const char *op_id = cli_text(cli, "op-id");
	struct lookup_state state = {0};

	lookup_read(&call->in, op_id ? op_id : "", call->in.payload, NULL,
		    &call->answer, &state, v);
}

static bool log_in(struct cli *cli, struct classify_call *call,
		   struct verdict_out *v)
{
	struct log_in_asked asked = {
		.profile = call->in.profile, .kind = call->log_in,
		.account = cli_text(cli, "account"),
		.scope = cli_text(cli, "scope"),
	};

	return classify_log_in(&asked, &call->answer, call->in.now_ms, v);
}

/* False: the profile has no such thing. */
static bool classify(struct cli *cli, struct classify_call *call,
		     struct verdict_out *v)
{
	switch (call->kind) {
	case ATTEMPT_POLL:
		if (call->result)
			classify_result(&call->in, &call->answer, call->result,
					INT64_MAX, v);
		else
			classify_poll(&call->in, &call->answer, true, 0, v);
		return true;
	case ATTEMPT_LOOK_UP:
		look_up(cli, call, v);
		return true;
	case ATTEMPT_PROBE:
		classify_probe(&call->in, &call->answer, v);
		return true;
	case ATTEMPT_CREDENTIAL:
		return log_in(cli, call, v);
	default:
		classify_send(&call->in, &call->answer, v);
		return true;
	}
}

int cmd_classify(struct cli *cli)
{
	struct classify_call *call = xcalloc(1, sizeof(*call));
	struct verdict_out *v = xcalloc(1, sizeof(*v));
	int code = call_fill(cli, call);

	if (code < 0 && !classify(cli, call, v))
		code = cli_usage(cli, "the profile %s knows no log-in by "
				 "session or OAuth2",
				 out_safe(&cli->out, call->in.profile->name));
	if (code < 0) {
		if (cli->json)
			print_json(&cli->out, v);
		else
			print_text(cli, v, call->kind);
		code = EXIT_DONE;
	}
	buf_release(&call->body);
	buf_release(&call->payload);
	free(call);
	free(v);
	return code;
}
