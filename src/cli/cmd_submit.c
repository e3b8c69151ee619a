/*
 * cmd_submit.c - wires: `edcsync submit`. A thousand lines are parsed, then
 * stored in one transaction, then reported: what is printed is durable.
 */
#include "config.h"

#include "cli/actor.h"
#include "cli/lines.h"
#include "store/intake.h"

#include "core/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BATCH_BYTES_MAX = 32 << 20, BUSY_TRIES = 5 };

struct taken {
	struct line line;
	struct line_result result;
	struct buf text;
	int64_t number;
	bool parsed;
};

struct submit {
	struct cli *cli;
	const char *name;		/* of the file, as given */
	char *dir;			/* its folder, for payload_file */
	struct intake_in in;
	struct submission_row submission;
	struct taken *taken;		/* LIMIT_SUBMIT_BATCH_LINES */
	size_t n, bytes;
	int64_t lines, count[SUBMIT_RESULT_COUNT], person;
	bool progress;
};

static bool payload_file_read(void *ctx, const char *name, struct buf *out,
			      struct buf *error)
{
	struct submit *s = ctx;
	struct buf path = BUF_INIT;
	bool ok;

	if (name[0] == '/')
		buf_adds(&path, name);
	else
		buf_addf(&path, "%s/%s", s->dir, name);
	ok = setup_read_plain_file(buf_text(&path), LIMIT_LINE_BYTES, out);
	if (!ok)
		buf_addf(error, "%s: %s", buf_text(&path),
			 errno == ENODEV ? "it is no plain file"
					 : strerror(errno));
	buf_release(&path);
	return ok;
}

static void taken_release(struct taken *t)
{
	line_release(&t->line);
	buf_clear(&t->text);
	if (t->text.cap > 65536)
		buf_release(&t->text);
	memset(&t->result, 0, sizeof(t->result));
}

static int batch_store(struct submit *s)
{
	struct store *store = s->cli->setup.store;
	int64_t now = setup_now_ms();
	int r = store->ops->begin(store, DURABLE);

	if (r == ST_OK && !s->submission.id)
		r = store->ops->submission_put(store, &s->submission);
	for (size_t i = 0; r >= 0 && i < s->n; i++) {
		struct taken *t = &s->taken[i];

		if (t->parsed)
			r = line_store(store, &t->line, &s->in, &s->submission,
				       t->number, now, &t->result);
	}
	if (r >= 0)
		r = store->ops->commit(store);
	if (r < 0 && store->tx != TX_IDLE) {
		store->ops->rollback(store);
		s->submission.id = 0;
	}
	return r;
}

static void result_json(struct out *out, const char *file,
			const struct taken *t)
{
	const struct line_result *r = &t->result;
	bool known = r->result != SUBMIT_REFUSED && r->result != SUBMIT_UNCLEAR;

	out_open(out, NULL, '{');
	out_text(out, "file", file);
	out_int(out, "line", t->number);
	out_text(out, "op_id", r->op_id[0] ? r->op_id : NULL);
	out_text(out, "idempotency_key", r->idem_key[0] ? r->idem_key : NULL);
	out_text(out, "result", submit_result_name(r->result));
	out_text(out, "state", known ? op_state_name(r->state) : NULL);
	out_text(out, "error", r->error[0] ? r->error : NULL);
	out_close(out, '}');
}

static void result_count(struct submit *s, struct taken *t)
{
	const struct line_result *r = &t->result;

	s->count[r->result]++;
	s->person += r->needs_person;
	if (s->cli->json)
		result_json(&s->cli->out, s->name, t);
	else if (r->result == SUBMIT_REFUSED || r->result == SUBMIT_UNCLEAR)
		fprintf(stderr, "edcsync: %s:%lld: %s: %s\n",
			out_safe(&s->cli->out, s->name), (long long)t->number,
			submit_result_name(r->result),
			out_safe(&s->cli->out, r->error));
}

static void progress_show(const struct submit *s)
{
	if (s->progress)
		fprintf(stderr, "\r%lld lines: %lld queued, %lld known, "
			"%lld refused ", (long long)s->lines,
			(long long)(s->count[SUBMIT_QUEUED] +
				    s->count[SUBMIT_NEWER]),
			(long long)s->count[SUBMIT_EXISTS],
			(long long)s->count[SUBMIT_REFUSED]);
}

static int batch_flush(struct submit *s)
{
	int64_t first = s->n ? s->taken[0].number : 0;
	int r = ST_OK;

	for (int i = 0; s->n && i < BUSY_TRIES; i++) {
		r = batch_store(s);
		if (r != ST_BUSY)
			break;
	}
	for (size_t i = 0; i < s->n; i++) {
		if (r >= 0)
			result_count(s, &s->taken[i]);
		taken_release(&s->taken[i]);
	}
	s->n = 0;
	s->bytes = 0;
	if (r >= 0) {
		progress_show(s);
		return 0;
	}
	return cli_fail(s->cli, store_exit_code(r), "%s:%lld: cannot store: %s; "
			"everything before this line is in, and the same "
			"command again adds only the rest",
			out_safe(&s->cli->out, s->name), (long long)first,
			store_error(s->cli->setup.store));
}

static bool blank(struct span text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!strchr(" \t\r", text.p[i]))
			return false;
	return true;
}

static void line_take(struct submit *s, const struct lines *l,
		      struct span text)
{
	struct taken *t = &s->taken[s->n++];

	t->number = l->number;
	buf_addspan(&t->text, text);
	s->bytes += text.n;
	s->lines++;
	if (l->too_long) {
		t->parsed = false;
		t->result.result = SUBMIT_REFUSED;
		snprintf(t->result.error, sizeof(t->result.error),
			 "the line is longer than %u MiB",
			 LIMIT_LINE_BYTES >> 20);
		return;
	}
	t->parsed = line_parse(&t->line, buf_span(&t->text), &s->in,
			       &t->result);
	if (!t->parsed)
		t->result.result = SUBMIT_REFUSED;
	s->bytes += t->line.payload.len;
}

static int lines_submit(struct submit *s, struct lines *l)
{
	struct span text;
	int code = 0;

	while (!code && lines_next(l, &text)) {
		if (blank(text) && !l->too_long)
			continue;
		line_take(s, l, text);
		if (s->n == LIMIT_SUBMIT_BATCH_LINES ||
		    s->bytes > BATCH_BYTES_MAX)
			code = batch_flush(s);
	}
	if (!code)
		code = batch_flush(s);
	if (!code && l->error)
		code = cli_fail(s->cli, EXIT_IO, "%s: reading stopped after "
				"line %lld: %s",
				out_safe(&s->cli->out, s->name),
				(long long)l->number, strerror(l->error));
	return code;
}

static char *folder_of(const char *path)
{
	char *copy = xstrdup(path), *dir = xstrdup(dirname(copy));

	free(copy);
	return dir;
}

static int file_submit(struct submit *s, const char *name,
		       const char *submitter)
{
	const char *batch = cli_text(s->cli, "batch");
	char *spool = folder_of(s->cli->setup.store_path);
	sha256_hex digest;
	struct lines l;
	int code;

	s->name = strcmp(name, "-") ? name : "standard input";
	if (!lines_open(&l, name, spool, digest)) {
		code = cli_fail(s->cli, EXIT_NO_INPUT, "cannot read %s: %s",
				out_safe(&s->cli->out, s->name),
				strerror(errno));
		free(spool);
		return code;
	}
	free(spool);
	s->dir = strcmp(name, "-") ? folder_of(name) : xstrdup(".");
	s->submission = (struct submission_row){
		.batch = (char *)(batch ? batch : digest),
		.file = (char *)s->name, .host = (char *)setup_host(),
		.submitter = (char *)submitter,
		.version = (char *)PACKAGE_STRING, .at_ms = setup_now_ms(),
	};
	code = lines_submit(s, &l);
	lines_close(&l);
	free(s->dir);
	s->dir = NULL;
	return code;
}

static int summary(struct submit *s)
{
	if (s->progress)
		fputc('\n', stderr);
	if (!s->cli->json)
		out_printf(&s->cli->out, "%lld line%s: %lld queued, %lld newer, "
			   "%lld known, %lld unclear, %lld refused\n",
			   (long long)s->lines, s->lines == 1 ? "" : "s",
			   (long long)s->count[SUBMIT_QUEUED],
			   (long long)s->count[SUBMIT_NEWER],
			   (long long)s->count[SUBMIT_EXISTS],
			   (long long)s->count[SUBMIT_UNCLEAR],
			   (long long)s->count[SUBMIT_REFUSED]);
	if (s->count[SUBMIT_REFUSED])
		return EXIT_DATA;
	return s->count[SUBMIT_UNCLEAR] || s->person ? EXIT_PERSON : EXIT_DONE;
}

static int submit_check(struct cli *cli)
{
	const char *endpoint = cli_text(cli, "endpoint");
	const char *batch = cli_text(cli, "batch");

	if (!cli->args_n)
		return cli_usage(cli, "name a file, or - for standard input");
	if (batch && (!batch[0] || strlen(batch) > LIMIT_ID_BYTES))
		return cli_usage(cli, "--batch has 1 to %d bytes",
				 LIMIT_ID_BYTES);
	if (endpoint && !config_endpoint(cli->setup.config, span_of(endpoint)))
		return cli_fail(cli, EXIT_CONFIG, "%s has no endpoint '%s'",
				cli->setup.config_file,
				out_safe(&cli->out, endpoint));
	return 0;
}

/* What they are accepted under is kept with them. */
static int keep_rules(struct cli *cli)
{
	size_t n;
	const struct rules_text *rules = setup_rules(&cli->setup, &n);
	int rc = rules_in_force(cli->setup.store, rules, n, setup_now_ms());

	return rc < 0 ? cli_fail(cli, store_exit_code(rc), "%s",
				 store_error(cli->setup.store)) : 0;
}

int cmd_submit(struct cli *cli)
{
	struct submit s = {.cli = cli};
	struct person who;
	int code = submit_check(cli);

	if (!code)
		code = setup_open_store(&cli->setup, true);
	if (!code)
		code = keep_rules(cli);
	if (code)
		return code;
	person_init(&who);
	person_claims(&who);
	s.in = (struct intake_in){cli->setup.config, cli_text(cli, "endpoint"),
				  payload_file_read, &s};
	s.progress = isatty(STDERR_FILENO) && !cli->json;
	s.taken = xcalloc(LIMIT_SUBMIT_BATCH_LINES, sizeof(*s.taken));
	for (int i = 0; !code && i < cli->args_n; i++)
		code = file_submit(&s, cli->args[i], who.login);
	for (size_t i = 0; i < LIMIT_SUBMIT_BATCH_LINES; i++)
		buf_release(&s.taken[i].text);
	free(s.taken);
	person_release(&who);
	return code ? code : summary(&s);
}
