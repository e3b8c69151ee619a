/*
 * cmd_config.c - wires: `edcsync config check` and `config example`.
 * Beyond the text itself: can every secret be read and by nobody else, is
 * the store's place a good one, and who could read the audit key?
 */
#include "config.h"

#include "cli/config_check.h"
#include "store/lock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct check {
	struct cli *cli;
	config_finding_fn *each;
	void *ctx;
	int wrong, warned;
};

static void report(struct check *c, bool warning, const char *what,
		   const char *text)
{
	c->wrong += !warning;
	c->warned += warning;
	c->each(c->ctx, warning, what, text);
}

static void print(void *ctx, bool warning, const char *what, const char *text)
{
	struct cli *cli = ctx;
	struct out *out = &cli->out;

	if (cli->json) {
		out_open(out, NULL, '{');
		out_text(out, "file", cli->setup.config_file);
		out_text(out, "about", what);
		out_text(out, "kind", warning ? "warning" : "error");
		out_text(out, "text", text);
		out_close(out, '}');
	} else {
		out_printf(out, "%s%s: %s\n", warning ? "warning: " : "",
			   out_safe(out, what), out_safe(out, text));
	}
}

static void secret_check(struct check *c, const char *endpoint,
			 const char *file)
{
	struct buf secret = BUF_INIT, error = BUF_INIT, what = BUF_INIT;

	if (!file)
		return;
	buf_addf(&what, "endpoint %s", endpoint);
	if (!setup_read_secret(file, &secret, &error))
		report(c, false, buf_text(&what), buf_text(&error));
	else if (!secret.len)
		report(c, false, buf_text(&what), "its secret is empty");
	buf_wipe(&secret);
	buf_release(&error);
	buf_release(&what);
}

static void endpoint_check(struct check *c, const struct endpoint_config *e)
{
	secret_check(c, e->name, e->credential.secret_file);
	for (size_t i = 0; i < e->credential.header_files_n; i++)
		secret_check(c, e->name, e->credential.header_files[i].value);
	if (e->environment == ENV_PRODUCTION &&
	    !strncmp(e->base_url, "http:", 5))
		report(c, true, e->name, "a production endpoint over http");
	if (e->environment == ENV_PRODUCTION && !e->studies.n)
		report(c, true, e->name, "takes lines of any study: say "
		       "\"studies\" to be safe");
}

static void key_check(struct check *c)
{
	const char *file = c->cli->setup.key_file;
	struct stat st;

	if (!file || stat(file, &st))
		return;
	if (st.st_mode & 077)
		report(c, false, "audit.key_file", "others can read the audit "
		       "key: chmod 600 it, and think about a new store");
	if (st.st_uid == getuid() && getuid() != 0 &&
	    c->cli->setup.config->endpoints)
		report(c, true, "audit.key_file", "your own login can read the "
		       "audit key: fine for one person, otherwise give store "
		       "and keys to a service account");
}

static void place_check(struct check *c)
{
	char kind[32];

	if (path_is_network(c->cli->setup.store_path, kind))
		report(c, false, "store", "is on a network file system; locks "
		       "and the write-ahead log need a local disk");
}

int config_findings(struct cli *cli, config_finding_fn *each, void *ctx,
		    int *warned)
{
	struct check c = {cli, each, ctx, 0, 0};
	const struct config *config = cli->setup.config;

	assert(config);
	for (size_t i = 0; i < config->endpoints; i++)
		endpoint_check(&c, &config->endpoint[i]);
	place_check(&c);
	key_check(&c);
	if (!config->endpoints)
		report(&c, true, "endpoints", "none is configured");
	*warned = c.warned;
	return c.wrong;
}

int config_check(struct cli *cli)
{
	size_t n = cli->setup.config->endpoints;
	int warned, wrong = config_findings(cli, print, cli, &warned);

	if (!cli->json)
		out_printf(&cli->out, "%s: %zu endpoint%s, %d mistake%s, %d "
			   "warning%s\n",
			   out_safe(&cli->out, cli->setup.config_file), n,
			   n == 1 ? "" : "s", wrong, wrong == 1 ? "" : "s",
			   warned, warned == 1 ? "" : "s");
	return wrong ? EXIT_CONFIG : EXIT_DONE;
}

static int check(struct cli *cli)
{
	int code;

	if (cli->args_n)
		return cli_usage(cli, "name the configuration with --config");
	code = cli_ready(cli);
	if (code)
		return code;
	if (!cli->setup.config)
		return cli_fail(cli, EXIT_CONFIG, "there is no configuration; "
				"'edcsync init' makes one");
	return config_check(cli);
}

int cmd_config_check(struct cli *cli)
{
	struct buf text = BUF_INIT;

	if (strcmp(cli->command->name, "config example"))
		return check(cli);
	config_example(&text);
	out_printf(&cli->out, "%s", buf_text(&text));
	buf_release(&text);
	return EXIT_DONE;
}
