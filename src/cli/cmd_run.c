/*
 * cmd_run.c - wires: `edcsync run`, the headless engine.
 */
#include "config.h"

#include "cli/engine_run.h"
#include "cli/metrics.h"
#include "cli/status.h"
#include "core/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

static void tell(const struct cli *cli, int priority, const char *line)
{
	struct buf safe = BUF_INIT;

	utf8_guard(&safe, span_of(line), cli->out.ascii);
	syslog(priority, "%s", buf_text(&safe));
	if (isatty(STDERR_FILENO) && !cli->json)
		fprintf(stderr, "%s\n", buf_text(&safe));
	buf_release(&safe);
}

static void log_line(void *ctx, const char *line)
{
	tell(ctx, LOG_NOTICE, line);
}

static void alert_line(void *ctx, bool urgent, const char *line)
{
	tell(ctx, urgent ? LOG_ALERT : LOG_WARNING, line);
}

void engine_fill(struct cli *cli, struct engine_setup *e, const char *state)
{
	*e = (struct engine_setup){
		.config = cli->setup.config, .store = cli->setup.store,
		.store_path = cli->setup.store_path, .state = state,
		.read_secret = setup_read_secret, .log = log_line,
		.alert = alert_line, .ctx = cli,
	};
	e->rules = setup_rules(&cli->setup, &e->rules_n);
}

int engine_summary(struct cli *cli)
{
	size_t needs = 0;
	int code = status_print(cli, &needs, NULL);

	if (code)
		return code;
	return needs ? EXIT_PERSON : EXIT_DONE;
}

static int run_engine(struct cli *cli, int stop_fd)
{
	bool until_idle = cli_flag(cli, "until-idle");
	struct engine_setup e;
	struct engine *engine;
	struct buf error = BUF_INIT;
	enum engine_end end;
	int code;

	engine_fill(cli, &e, "run");
	code = engine_start(&e, &engine, &error);
	if (code) {
		cli_fail(cli, code, "%s", buf_text(&error));
		buf_release(&error);
		return code;
	}
	buf_release(&error);
	end = engine_wait(engine, until_idle, cli_number(cli, "for", -1),
			  stop_fd);
	engine_stop(engine);
	if (!until_idle)
		return EXIT_DONE;
	code = engine_summary(cli);
	if (end == ENGINE_TIME)
		return cli_fail(cli, EXIT_AGAIN, "the time is over before "
				"everything came to rest; run again to go on");
	return code;
}

/* --metrics: the address is said on stderr, with the port that was free. */
static int start_metrics(struct cli *cli, struct metrics **out)
{
	struct metrics_setup s = {.address = cli_text(cli, "metrics"),
				  .store_path = cli->setup.store_path,
				  .config = cli->setup.config};
	struct buf error = BUF_INIT;
	bool public_address;
	int code;

	if (!s.address)
		return 0;
	code = metrics_start(&s, out, &error);
	if (code) {
		cli_fail(cli, code, "%s", buf_text(&error));
	} else {
		fprintf(stderr, "edcsync: metrics at http://%s/metrics\n",
			metrics_where(*out, &public_address));
		if (public_address)
			fputs("edcsync: others can reach that address, and "
			      "it asks nobody who they are\n", stderr);
	}
	buf_release(&error);
	return code;
}

int cmd_run(struct cli *cli)
{
	struct metrics *metrics = NULL;
	int code, fd;

	if (cli->args_n)
		return cli_usage(cli, "no arguments are taken");
	code = setup_open_store(&cli->setup, true);
	if (code)
		return code;
	fd = signals_fd(cli);
	if (fd < 0)
		return EXIT_IO;
	openlog("edcsync", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	code = start_metrics(cli, &metrics);
	if (!code)
		code = run_engine(cli, fd);
	metrics_stop(metrics);
	closelog();
	close(fd);
	return code;
}
