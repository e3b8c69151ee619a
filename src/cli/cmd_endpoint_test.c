/*
 * cmd_endpoint_test.c - wires: `edcsync endpoint test`. The steps are the
 * engine's (engine/endpoint_test.h); here they are printed and recorded.
 */
#include "config.h"

#include "cli/actor.h"
#include "cli/endpoint_try.h"
#include "cli/say.h"
#include "engine/endpoint_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORDS_COLUMN 31

struct trial {
	struct cli *cli;
	const struct endpoint_config *endpoint;
	struct view_op record;		/* filled when recorded is set */
	bool has_record;
	struct buf payload;
	struct buf steps;		/* JSON members, for the trail */
};

static const struct {
	enum tone tone;
	int code;
} end_rows[] = {
	[TEST_END_OK] = {TONE_OK, EXIT_DONE},
	[TEST_END_WARNING] = {TONE_WAIT, EXIT_PERSON},
	[TEST_END_FAILED] = {TONE_BAD, EXIT_PERSON},
	[TEST_END_UNREACHABLE] = {TONE_BAD, EXIT_UNAVAILABLE},
	[TEST_END_REFUSED] = {TONE_BAD, EXIT_NO_PERMISSION},
	[TEST_END_CONFIG] = {TONE_BAD, EXIT_CONFIG},
};

/* ---- the trail ---------------------------------------------------------- */

/* end NULL: it is about to begin. */
static int record_write(struct trial *t, const char *end)
{
	struct store *st = t->cli->setup.store;
	struct buf detail = BUF_INIT;
	struct person who;
	struct audit_event e = {
		.type = AUDIT_ENDPOINT_TEST, .at_ms = setup_now_ms(),
		.manual = true, .endpoint = t->endpoint->name,
		.op = t->has_record ? &t->record.op : NULL,
		.backoff_ms = -1, .resolution = end ? end : "begun",
		.profile_sha256 = t->endpoint->profile->sha256,
	};
	int r = st->ops->begin(st, DURABLE);

	person_init(&who);
	person_claims(&who);
	e.actor = &who.actor;
	if (end) {
		buf_addf(&detail, "{%s}", buf_text(&t->steps));
		e.detail = buf_text(&detail);
	}
	if (r >= 0) {
		r = audit_append(st, &e, NULL);
		if (r >= 0)
			r = st->ops->commit(st);
		if (r < 0)
			st->ops->rollback(st);
	}
	buf_release(&detail);
	person_release(&who);
	return r < 0 ? r : 0;
}

/* Nothing where there is no store: nobody was ever written to. */
static int record(struct trial *t, const char *end)
{
	struct setup *setup = &t->cli->setup;
	int r;

	if (!setup->store && access(setup->store_path, F_OK))
		return 0;
	r = setup_open_store(setup, false);
	if (r)
		return r;
	r = record_write(t, end);
	if (!r)
		return 0;
	return cli_fail(t->cli, store_exit_code(r), "%s: %s", end ?
			"the test is over and could not be recorded" :
			"nothing was tested, because it cannot be recorded",
			store_error(setup->store));
}

/* ---- what is shown ------------------------------------------------------ */

static void line_json(struct out *out, const struct test_line *l)
{
	out_open(out, NULL, '{');
	out_text(out, "step", test_step_name(l->step));
	out_text(out, "result", test_result_name(l->result));
	if (l->took_ms >= 0)
		out_int(out, "took_ms", l->took_ms);
	else
		out_null(out, "took_ms");
	out_text(out, "words", l->words);
	out_text(out, "next", l->next[0] ? l->next : NULL);
	out_close(out, '}');
}

static void line_text(struct out *out, const struct test_line *l)
{
	static const enum tone tones[] = {TONE_OK, TONE_WAIT, TONE_BAD,
					  TONE_DIM};
	struct buf words = BUF_INIT;
	char took[32] = "";

	if (l->took_ms >= 0)
		snprintf(took, sizeof(took), "%" PRId64 " ms", l->took_ms);
	out_printf(out, "%s%-7s%s  %-11s %8s  ", out_tone(out,
		   tones[l->result]), test_result_name(l->result),
		   out_plain(out), test_step_words(l->step), took);
	out_wrap(out, WORDS_COLUMN, WORDS_COLUMN, l->words);
	if (l->next[0]) {
		buf_addf(&words, "next: %s", l->next);
		out_wrap(out, 0, WORDS_COLUMN, buf_text(&words));
	}
	out_flush(out);
	buf_release(&words);
}

static void on_line(void *ctx, const struct test_line *l)
{
	struct trial *t = ctx;

	buf_addf(&t->steps, "%s\"%s\":\"%s\"", t->steps.len ? "," : "",
		 test_step_name(l->step), test_result_name(l->result));
	if (t->cli->json)
		line_json(&t->cli->out, l);
	else
		line_text(&t->cli->out, l);
}

static enum test_end run(struct trial *t)
{
	struct out *out = &t->cli->out;
	struct endpoint_test test = {
		.endpoint = t->endpoint,
		.record = t->has_record ? &t->record.op : NULL,
		.payload = buf_span(&t->payload),
		.read_secret = setup_read_secret, .line = on_line, .ctx = t,
	};
	enum test_end end;

	if (t->cli->json) {
		out_open(out, NULL, '{');
		out_text(out, "endpoint", t->endpoint->name);
		out_open(out, "steps", '[');
	}
	end = endpoint_test(&test);
	if (t->cli->json) {
		out_close(out, ']');
		out_text(out, "result", test_end_name(end));
		out_close(out, '}');
	} else {
		out_printf(out, "%s: %s%s%s\n",
			   out_safe(out, t->endpoint->name),
			   out_tone(out, end_rows[end].tone),
			   test_end_name(end), out_plain(out));
	}
	out_flush(out);
	return end;
}

/* ---- the command -------------------------------------------------------- */

static int record_read(struct trial *t, const char *op_id)
{
	struct view_page page = say_page(t->cli);
	int r = setup_open_view(&t->cli->setup);

	if (r)
		return r;
	r = view_op(t->cli->setup.view, op_id, &page, &t->record);
	if (r == ST_NONE)
		return cli_fail(t->cli, EXIT_NO_INPUT, "there is no operation "
				"'%s' in the store",
				out_safe(&t->cli->out, op_id));
	if (r < 0)
		return say_trouble(t->cli, r);
	t->has_record = true;
	if (strcmp(t->record.endpoint, t->endpoint->name))
		return cli_fail(t->cli, EXIT_USAGE, "%s belongs to the "
				"endpoint %s", out_safe(&t->cli->out, op_id),
				out_safe(&t->cli->out, t->record.endpoint));
	r = view_payload(t->cli->setup.view, t->record.op.op, false,
			 &t->payload);
	return r < 0 ? say_trouble(t->cli, r) : 0;
}

static int unknown_endpoint(struct cli *cli, const char *name)
{
	const struct config *config = cli->setup.config;
	struct buf names = BUF_INIT;

	for (size_t i = 0; i < config->endpoints; i++)
		buf_addf(&names, " %s", config->endpoint[i].name);
	cli_fail(cli, EXIT_USAGE, "there is no endpoint '%s' in %s; there "
		 "is:%s", out_safe(&cli->out, name), config->file,
		 names.len ? buf_text(&names) : " none");
	buf_release(&names);
	return EXIT_USAGE;
}

int endpoint_try(struct cli *cli, const char *endpoint, const char *op_id)
{
	struct trial t = {.cli = cli, .payload = BUF_INIT, .steps = BUF_INIT};
	enum test_end end;
	int code = 0, told;

	t.endpoint = config_endpoint(cli->setup.config, span_of(endpoint));
	if (!t.endpoint)
		return unknown_endpoint(cli, endpoint);
	if (op_id)
		code = record_read(&t, op_id);
	if (!code)
		code = record(&t, NULL);
	if (!code) {
		end = run(&t);
		code = end_rows[end].code;
		told = record(&t, test_end_name(end));
		code = code ? code : told;
	}
	if (t.has_record)
		view_op_release(&t.record);
	buf_release(&t.payload);
	buf_release(&t.steps);
	return code;
}

int cmd_endpoint_test(struct cli *cli)
{
	if (cli->args_n != 1)
		return cli_usage(cli, "one endpoint is needed");
	return endpoint_try(cli, cli->args[0], cli_text(cli, "record"));
}
