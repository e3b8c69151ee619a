/*
 * cmd_demo.c - wires: `edcsync demo`. Some 300 visits of an invented study
 * go through a simulated EDC that misbehaves; at the end the simulator's own
 * ledger says what really arrived.
 */
#include "config.h"

#include "cli/console.h"
#include "cli/demo.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRESS_MS = 200 };

struct totals {
	int64_t count[OP_STATE_COUNT];
	bool open;			/* some circuit is not closed */
	int64_t requests;		/* attempts of every kind */
	int64_t unknown, paced, unheard;	/* sends, by verdict */
};

static int endpoint_add(void *ctx, const struct view_endpoint *e)
{
	struct totals *t = ctx;

	for (int s = 0; s < OP_STATE_COUNT; s++)
		t->count[s] += e->count[s];
	t->open |= e->state.circuit.state != CIRCUIT_CLOSED;
	return 0;
}

static int64_t moving(const struct totals *t)
{
	return t->count[OP_QUEUED] + t->count[OP_WAITING] +
	       t->count[OP_SENDING] + t->count[OP_CHECKING] +
	       t->count[OP_POLLING];
}

static void progress_show(const struct totals *t)
{
	fprintf(stderr, "\r%4lld at vendor  %4lld on the way  %3lld refused  "
		"%3lld given up  %3lld unwatched  %s ",
		(long long)t->count[OP_COMMITTED], (long long)moving(t),
		(long long)t->count[OP_REJECTED],
		(long long)t->count[OP_DEAD],
		(long long)t->count[OP_UNWATCHED],
		t->open ? "circuit open  " : "circuit closed");
}

static int totals_read(struct cli *cli, struct totals *t)
{
	int code = setup_open_view(&cli->setup), r;

	memset(t, 0, sizeof(*t));
	if (code)
		return code;
	r = view_endpoints(cli->setup.view, setup_now_ms(), endpoint_add, t);
	return r < 0 ? cli_fail(cli, store_exit_code(r), "%s",
				view_error(cli->setup.view)) : 0;
}

/* What it took: the numbers that say what was survived. */
static int attempts_count(struct cli *cli, struct totals *t)
{
	struct view_metrics m = {0};
	int r = view_metrics(cli->setup.view, &m);

	for (size_t i = 0; r == ST_OK && i < m.endpoints; i++) {
		const struct view_metrics_endpoint *e = &m.endpoint[i];

		for (int k = 0; k < ATTEMPT_KIND_COUNT; k++)
			for (int v = 0; v < VERDICT_COUNT; v++)
				t->requests += e->attempts[k][v];
		t->unknown += e->attempts[ATTEMPT_SEND][VERDICT_UNKNOWN];
		t->paced += e->attempts[ATTEMPT_SEND][VERDICT_PACE];
		t->unheard += e->attempts[ATTEMPT_SEND][VERDICT_RETRY];
	}
	view_metrics_release(&m);
	return r < 0 ? cli_fail(cli, store_exit_code(r), "%s",
				view_error(cli->setup.view)) : 0;
}

/* Watches the engine until it ends by itself. */
static int engine_watch(struct demo *d, pid_t pid)
{
	bool show = isatty(STDERR_FILENO) && !d->cli->json;
	struct totals t;
	int status = 0, code = 0;
	pid_t got;

	while ((got = waitpid(pid, &status, WNOHANG)) == 0) {
		if (show && !code && !(code = totals_read(d->cli, &t)))
			progress_show(&t);
		poll(NULL, 0, PROGRESS_MS);
	}
	if (show)
		fputc('\n', stderr);
	if (code)
		return code;
	/* Its time was over, it said so itself: the summary tells how far. */
	if (got >= 0 && WIFEXITED(status) &&
	    WEXITSTATUS(status) == EXIT_AGAIN)
		return 0;
	if (got < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
		return cli_fail(d->cli, EXIT_SOFTWARE,
				"the engine ended with trouble");
	return 0;
}

/* Committed here and not in the ledger: that would be a loss. */
struct losses {
	const struct demo_ledger *ledger;
	int64_t lost;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(a, *(char *const *)b);
}

static int loss_look(void *ctx, const struct view_op *row)
{
	struct losses *l = ctx;

	if (row->op.state == OP_COMMITTED &&
	    !bsearch(row->op.op_id, l->ledger->committed.v,
		     l->ledger->committed.n, sizeof(char *), by_text))
		l->lost++;
	return 0;
}

static int losses_count(struct cli *cli, const struct demo_ledger *ledger,
			int64_t *lost)
{
	struct losses l = {ledger, 0};
	struct view_page page = {.order = VIEW_PLACE,
				 .now_ms = setup_now_ms()};
	int64_t n = view_ops(cli->setup.view, &page, loss_look, &l);

	*lost = l.lost;
	return n < 0 ? cli_fail(cli, store_exit_code((int)n), "%s",
				view_error(cli->setup.view)) : 0;
}

/* What came of the answers that left something open. */
static const char *settled_words(const struct totals *t)
{
	if (t->count[OP_DEAD])
		return "; what could not be\nsettled waits for a person: "
			"console, panel 6 (c checks, r replays).";
	return moving(t) ? "; not all of it is settled yet." :
		"; each was settled.";
}

static void summary_text(struct demo *d, const struct totals *t,
			 const struct demo_ledger *l, int64_t lost)
{
	struct out *out = &d->cli->out;
	int64_t all = 0;

	for (int s = 0; s < OP_STATE_COUNT; s++)
		all += t->count[s];
	out_printf(out, "\n%lld operations through scenario '%s'\n"
		   "  committed  %5lld\n  rejected   %5lld   understood and "
		   "refused by the vendor\n  dead       %5lld   given up; a "
		   "person decides\n  unwatched  %5lld   accepted, end not "
		   "seen\n", (long long)all, out_safe(out, d->scenario),
		   (long long)t->count[OP_COMMITTED],
		   (long long)t->count[OP_REJECTED],
		   (long long)t->count[OP_DEAD],
		   (long long)t->count[OP_UNWATCHED]);
	if (moving(t))
		out_printf(out, "  on the way %5lld\n", (long long)moving(t));
	out_printf(out, "It took %lld requests. %lld answers left open whether "
		   "the record had been\nwritten, %lld asked us to wait, %lld "
		   "found nobody there%s\n",
		   (long long)t->requests, (long long)t->unknown,
		   (long long)t->paced, (long long)t->unheard,
		   settled_words(t));
	out_printf(out, "The simulated EDC's own ledger: %zu records, %zu "
		   "written twice, %lld lost.\n\nWhat you can do next "
		   "(edcsync is build/edcsync until it is installed):\n"
		   "  edcsync demo --dir %s\n"
		   "  edcsync status -c %s/edcsync.json\n"
		   "  edcsync list state:rejected -c %s/edcsync.json\n"
		   "  edcsync find 1001-001 -c %s/edcsync.json\n"
		   "  edcsync audit verify -c %s/edcsync.json\n"
		   "Operator 'demo', password 'demo'. Remove %s when you are "
		   "done.\n", l->records, l->doubled, (long long)lost, d->dir,
		   d->dir, d->dir, d->dir, d->dir, d->dir);
}

static void summary_json(struct demo *d, const struct totals *t,
			 const struct demo_ledger *l, int64_t lost)
{
	struct out *out = &d->cli->out;

	out_open(out, NULL, '{');
	out_text(out, "scenario", d->scenario);
	out_open(out, "operations", '{');
	for (int s = 0; s < OP_STATE_COUNT; s++)
		out_int(out, op_state_name((enum op_state)s), t->count[s]);
	out_close(out, '}');
	out_int(out, "requests", t->requests);
	out_int(out, "unknown_answers", t->unknown);
	out_open(out, "ledger", '{');
	out_int(out, "records", (int64_t)l->records);
	out_int(out, "duplicates", (int64_t)l->doubled);
	out_int(out, "lost", lost);
	out_close(out, '}');
	out_text(out, "dir", d->dir);
	out_close(out, '}');
}

static int summary(struct demo *d)
{
	struct demo_ledger ledger;
	struct totals t;
	int64_t lost = 0;
	int code = demo_ledger_read(d, &ledger);

	if (!code)
		code = totals_read(d->cli, &t);
	if (!code)
		code = attempts_count(d->cli, &t);
	if (!code)
		code = losses_count(d->cli, &ledger, &lost);
	if (!code) {
		if (d->cli->json)
			summary_json(d, &t, &ledger, lost);
		else
			summary_text(d, &t, &ledger, lost);
		if (ledger.doubled || lost)
			code = EXIT_SOFTWARE;
	}
	demo_ledger_release(&ledger);
	return code;
}

/* A terminal, and nobody said no: the console shows it. */
static bool interactive(const struct demo *d)
{
	return !cli_flag(d->cli, "headless") && !d->cli->json &&
	       isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static int watch_in_console(struct demo *d)
{
	struct buf greeting = BUF_INIT;
	struct console_wish wish = {.demo = true};
	struct totals t;
	int code = totals_read(d->cli, &t);

	if (code)
		return code;
	if (d->listen)
		buf_addf(&greeting, "This folder was played before; the "
			 "simulated EDC plays '%s' now.%s", d->scenario,
			 moving(&t) ? "" : " Nothing is left to send.");
	else if (!strcmp(d->scenario, "outage"))
		buf_adds(&greeting, "The simulated EDC is about to fail and "
			 "come back.");
	else
		buf_addf(&greeting, "The simulated EDC plays '%s'.",
			 d->scenario);
	buf_adds(&greeting, " Operator demo, password demo. ? is help, q ends "
		 "the demo.");
	wish.greeting = buf_text(&greeting);
	code = console_run(d->cli, &wish);
	buf_release(&greeting);
	return code;
}

static int deliver(struct demo *d)
{
	char seconds[32];
	const char *const add[] = {"operator", "add", "demo", "--name",
		"Demo", "--new-password-file", "password", NULL};
	const char *const submit[] = {"submit", "--endpoint", "demo-edc",
		"visits.jsonl", NULL};
	const char *const run[] = {"run", "--until-idle", "--for", seconds,
		NULL};
	char *config = demo_path(d, "edcsync.json");
	int code;

	snprintf(seconds, sizeof(seconds), "%llds",
		 (long long)(d->for_ms + 999) / 1000);
	free(d->cli->setup.config_file);
	d->cli->setup.config_file = config;
	code = cli_ready(d->cli);
	if (!code && access(d->cli->setup.store_path, F_OK))
		code = demo_command(d, add);
	if (!code)
		code = demo_command(d, submit);
	/* 1: something needs a person, from an earlier run in this folder */
	if (code < 0 || code > 1)
		return EXIT_SOFTWARE;
	code = interactive(d) ? watch_in_console(d)
			      : engine_watch(d, demo_spawn(d, run));
	if (!code)
		code = summary(d);
	return code;
}

int cmd_demo(struct cli *cli)
{
	struct demo d = {.cli = cli, .scenario = cli_text(cli, "scenario"),
		.seed = cli_number(cli, "seed", 7),
		.for_ms = cli_number(cli, "for", 120000)};
	int code;

	if (cli->args_n)
		return cli_usage(cli, "no arguments are taken");
	if (interactive(&d) && (code = console_terminal(cli)))
		return code;
	code = demo_folder(&d);
	if (!code) {
		demo_look(&d);
		code = demo_simulator_start(&d);
	}
	if (!code)
		code = demo_configuration(&d);
	if (!code)
		code = deliver(&d);
	demo_simulator_stop(&d);
	free(d.dir);
	free(d.program);
	free(d.simulator);
	free(d.url);
	free(d.listen);
	return code;
}
