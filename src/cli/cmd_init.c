/*
 * cmd_init.c - wires: `edcsync init`. The questions of init.h at a terminal,
 * or all of them answered by options.
 */
#include "config.h"

#include "cli/actor.h"
#include "cli/config_check.h"
#include "cli/endpoint_try.h"
#include "cli/init.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- at the terminal ---------------------------------------------------- */

static int cancelled(struct cli *cli)
{
	return cli_fail(cli, EXIT_NO_INPUT, "cancelled; nothing was written");
}

/* "What it is (a, b, c)" and "Title [default]: ". */
static void prompt_of(struct cli *cli, const struct init *in, size_t q,
		      struct buf *out)
{
	struct buf choices = BUF_INIT, deflt = BUF_INIT;

	init_choices(in, q, &choices);
	init_default(in, q, &deflt);
	buf_addf(out, "\n  %s\n", init_explain(q));
	if (choices.len)
		buf_addf(out, "  one of: %s\n", buf_text(&choices));
	buf_adds(out, init_questions[q].ask);
	if (deflt.len)
		buf_addf(out, " [%s]", out_safe(&cli->out, buf_text(&deflt)));
	buf_adds(out, ": ");
	buf_release(&choices);
	buf_release(&deflt);
}

static int ask(struct cli *cli, struct init *in, size_t q)
{
	struct buf prompt = BUF_INIT, answer = BUF_INIT, why = BUF_INIT;
	const char *words;
	bool taken = false, there = true;

	prompt_of(cli, in, q, &prompt);
	words = buf_text(&prompt);
	while (there && !taken) {
		buf_clear(&answer);
		buf_clear(&why);
		there = terminal_ask(words, false, &answer);
		/* Explained once; asked again is the last line alone. */
		words = strrchr(buf_text(&prompt), '\n') + 1;
		taken = there && init_answer(in, q, buf_span(&answer), &why);
		if (there && !taken)
			fprintf(stderr, "  not taken: %s\n",
				out_safe(&cli->out, buf_text(&why)));
	}
	buf_release(&prompt);
	buf_release(&answer);
	buf_release(&why);
	return there ? 0 : cancelled(cli);
}

static int ask_all(struct cli *cli, struct init *in)
{
	int code = 0;

	for (size_t q; !code && (q = init_next(in)) < INIT_QUESTIONS;)
		code = ask(cli, in, q);
	return code;
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static int ask_secret(struct cli *cli, struct init *in, size_t i)
{
	const char *file = init_secret_file(in, i);
	struct buf prompt = BUF_INIT, secret = BUF_INIT, why = BUF_INIT;
	bool taken = false, there = true;

	buf_addf(&prompt, "\n  kept in %s\n  readable by you alone; empty: you "
		 "make that file yourself\nThe secret, hidden: ",
		 out_safe(&cli->out, file));
	while (there && !taken) {
		buf_clear(&why);
		there = terminal_ask(buf_text(&prompt), true, &secret);
		taken = there && (!secret.len ||
			init_secret(in, i, buf_span(&secret), &why));
		if (there && !taken)
			fprintf(stderr, "  not taken: %s\n", buf_text(&why));
		buf_wipe(&secret);
	}
	buf_release(&prompt);
	buf_release(&why);
	return there ? 0 : cancelled(cli);
}

static int ask_secrets(struct cli *cli, struct init *in)
{
	int code = 0;

	for (size_t i = 0; !code && init_secret_file(in, i); i++)
		if (!init_secret_given(in, i) &&
		    !exists(init_secret_file(in, i)))
			code = ask_secret(cli, in, i);
	return code;
}

static void summary(struct cli *cli, struct init *in, const char *path)
{
	struct out *out = &cli->out;

	fprintf(stderr, "\n%s will hold:\n", out_safe(out, path));
	for (size_t q = 0; q < INIT_QUESTIONS; q++)
		if (init_applies(in, q) && init_given(in, q))
			fprintf(stderr, "  %-13s %s\n", init_questions[q].flag,
				init_given(in, q)[0] ?
				out_safe(out, init_given(in, q)) : "-");
	for (size_t i = 0; init_secret_file(in, i); i++)
		fprintf(stderr, "  %-13s %s\n", "secret",
			exists(init_secret_file(in, i)) ? "in the file, which "
			"is there already" : init_secret_given(in, i) ?
			"given, goes into the file" : "you make the file");
}

static size_t question_named(const struct init *in, const char *flag)
{
	size_t q = 0;

	while (q < INIT_QUESTIONS && (strcmp(init_questions[q].flag, flag) ||
				      !init_applies(in, q)))
		q++;
	return q;
}

enum said { SAID_YES, SAID_NO, SAID_OTHER, SAID_NOTHING };

/* Empty is yes. */
static enum said said_of(const struct buf *answer)
{
	static const char *const yes[] = {"", "y", "Y", "yes"};
	static const char *const no[] = {"n", "N", "no"};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!strcmp(buf_text(answer), yes[i]))
			return SAID_YES;
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (!strcmp(buf_text(answer), no[i]))
			return SAID_NO;
	return SAID_OTHER;
}

static enum said ask_yes(const char *prompt, struct buf *answer)
{
	buf_clear(answer);
	return terminal_ask(prompt, false, answer) ? said_of(answer)
						   : SAID_NOTHING;
}

/* Until it may be written: a word names the answer to be changed. */
static int confirm(struct cli *cli, struct init *in, const char *path)
{
	struct buf answer = BUF_INIT;
	enum said said = SAID_OTHER;
	int code = 0;

	while (!code && said == SAID_OTHER) {
		size_t q;

		code = ask_all(cli, in);
		if (!code)
			code = ask_secrets(cli, in);
		if (code)
			break;
		summary(cli, in, path);
		said = ask_yes("\nWrite it? (yes, no, or the name of an answer "
			       "to change) [yes]: ", &answer);
		if (said == SAID_NO || said == SAID_NOTHING)
			code = cancelled(cli);
		q = said == SAID_OTHER ? question_named(in, buf_text(&answer))
				       : INIT_QUESTIONS;
		if (q < INIT_QUESTIONS)
			code = ask(cli, in, q);
		else if (said == SAID_OTHER)
			fprintf(stderr, "  there is no '%s' here\n",
				out_safe(&cli->out, buf_text(&answer)));
	}
	buf_release(&answer);
	return code;
}

/* ---- writing it --------------------------------------------------------- */

struct collecting {
	struct out *out;
};

static void finding_json(void *ctx, bool warning, const char *what,
			 const char *text)
{
	struct out *out = ((struct collecting *)ctx)->out;

	out_open(out, NULL, '{');
	out_text(out, "about", what);
	out_text(out, "kind", warning ? "warning" : "error");
	out_text(out, "text", text);
	out_close(out, '}');
}

static void written_text(struct cli *cli, struct init *in, const char *path)
{
	struct out *out = &cli->out;

	out_printf(out, "wrote %s\n", out_safe(out, path));
	for (size_t i = 0; init_secret_file(in, i); i++)
		if (init_secret_given(in, i))
			out_printf(out, "wrote %s (a secret, mode 0600)\n",
				   out_safe(out, init_secret_file(in, i)));
	out_flush(out);
}

static int written_json(struct cli *cli, struct init *in, const char *path)
{
	struct out *out = &cli->out;
	struct collecting c = {out};
	int warned, wrong;

	out_open(out, NULL, '{');
	out_text(out, "config", path);
	out_text(out, "endpoint", cli->setup.config->endpoint[0].name);
	out_text(out, "store", cli->setup.store_path);
	out_open(out, "secrets", '[');
	for (size_t i = 0; init_secret_file(in, i); i++) {
		out_open(out, NULL, '{');
		out_text(out, "file", init_secret_file(in, i));
		out_bool(out, "made", init_secret_given(in, i));
		out_close(out, '}');
	}
	out_close(out, ']');
	out_open(out, "findings", '[');
	wrong = config_findings(cli, finding_json, &c, &warned);
	out_close(out, ']');
	out_int(out, "mistakes", wrong);
	out_int(out, "warnings", warned);
	out_close(out, '}');
	out_flush(out);
	return wrong ? EXIT_PERSON : EXIT_DONE;
}

/* Writes, loads what was written, checks it. */
static int finish(struct cli *cli, struct init *in, const char *path)
{
	struct buf error = BUF_INIT;
	int code = init_write(in, &error);

	if (code) {
		cli_fail(cli, code, "%s", buf_text(&error));
		buf_release(&error);
		return code;
	}
	buf_release(&error);
	free(cli->setup.config_file);
	cli->setup.config_file = xstrdup(path);
	if (!cli->json)
		written_text(cli, in, path);
	code = cli_ready(cli);
	if (code)
		return code;
	if (cli->json)
		return written_json(cli, in, path);
	return config_check(cli) ? EXIT_PERSON : EXIT_DONE;
}

static void what_next(struct cli *cli)
{
	const char *name = cli->setup.config->endpoint[0].name;
	char *own = init_own_path();
	struct buf where = BUF_INIT;

	/* Elsewhere than where it is looked for, it has to be named. */
	if (!own || strcmp(own, cli->setup.config_file))
		buf_addf(&where, " -c %s",
			 out_safe(&cli->out, cli->setup.config_file));
	if (!cli->json)
		out_printf(&cli->out, "Next:\n  edcsync endpoint test %s%s\n"
			   "  edcsync operator add ID --name 'Your Name'%s\n"
			   "  edcsync submit --endpoint %s FILE%s\n"
			   "  edcsync run%s\n", name, buf_text(&where),
			   buf_text(&where), name, buf_text(&where),
			   buf_text(&where));
	buf_release(&where);
	free(own);
}

int init_guide(struct cli *cli, struct init *in, const char *path)
{
	struct buf answer = BUF_INIT;
	int code;

	if (exists(path))
		return cli_fail(cli, EXIT_CANT_CREATE, "%s exists already; it "
				"is left as it is", path);
	fprintf(stderr, "A configuration for %s. Enter takes what stands in "
		"brackets; Ctrl-C ends,\nand nothing is written before you "
		"said yes.\n", out_safe(&cli->out, path));
	code = confirm(cli, in, path);
	if (!code)
		code = finish(cli, in, path);
	if (code == EXIT_PERSON)
		what_next(cli);
	if (code)
		return code;
	if (ask_yes("\nTest the endpoint now? It writes nothing there [yes]: ",
		    &answer) == SAID_YES)
		code = endpoint_try(cli, cli->setup.config->endpoint[0].name,
				    NULL) ? EXIT_PERSON : EXIT_DONE;
	buf_release(&answer);
	what_next(cli);
	return code;
}

/* ---- by options --------------------------------------------------------- */

/* The option's values as one answer; false: not given. */
static bool option_of(const struct cli *cli, const struct question *q,
		      struct buf *out)
{
	if (q->kind == ANSWER_TEXT) {
		if (!cli_text(cli, q->flag))
			return false;
		buf_adds(out, cli_text(cli, q->flag));
		return true;
	}
	for (size_t i = 0; cli_list(cli, q->flag, i); i++) {
		buf_adds(out, cli_list(cli, q->flag, i));
		buf_addc(out, '\n');
	}
	return out->len > 0;
}

/* Takes the options that belong to what is asked; each mistake is said. */
static int options_take(struct cli *cli, struct init *in)
{
	int wrong = 0;

	for (size_t q = 0; q < INIT_QUESTIONS; q++) {
		struct buf text = BUF_INIT, why = BUF_INIT;

		if (init_applies(in, q) &&
		    option_of(cli, &init_questions[q], &text) &&
		    !init_answer(in, q, buf_span(&text), &why)) {
			wrong++;
			cli_fail(cli, EXIT_USAGE, "--%s: %s",
				 init_questions[q].flag, buf_text(&why));
		}
		buf_release(&text);
		buf_release(&why);
	}
	return wrong ? EXIT_USAGE : 0;
}

/* An option that no question took would be lost without a word. */
static int options_idle(struct cli *cli, const struct init *in)
{
	const char *credential = cli_text(cli, "credential");

	for (size_t q = 0; q < INIT_QUESTIONS; q++) {
		const char *flag = init_questions[q].flag;
		struct buf text = BUF_INIT;
		bool given = option_of(cli, &init_questions[q], &text);

		buf_release(&text);
		if (given && question_named(in, flag) == INIT_QUESTIONS)
			return cli_usage(cli, "--%s has no meaning here%s%s",
					 flag, credential ?
					 " with --credential=" : "",
					 credential ? credential : "");
	}
	return 0;
}

/* Without a person: defaults where they are harmless, the rest is named. */
static int defaults_take(struct cli *cli, struct init *in)
{
	struct buf missing = BUF_INIT, why = BUF_INIT;
	int n = 0;

	for (size_t q = 0; q < INIT_QUESTIONS; q++) {
		if (init_given(in, q) || !init_applies(in, q))
			continue;
		if (init_questions[q].required)
			buf_addf(&missing, "%s--%s", n++ ? ", " : "",
				 init_questions[q].flag);
		else
			init_answer(in, q, SPAN(""), &why);
		buf_clear(&why);
	}
	if (n)
		cli_usage(cli, "%s %s missing: there is no terminal to ask at, "
			  "so the options have to say it", buf_text(&missing),
			  n == 1 ? "is" : "are");
	buf_release(&missing);
	buf_release(&why);
	return n ? EXIT_USAGE : 0;
}

static int by_options(struct cli *cli, struct init *in, const char *path)
{
	int code = defaults_take(cli, in);

	if (!code)
		code = finish(cli, in, path);
	if (!code || code == EXIT_PERSON)
		what_next(cli);
	return code;
}

/* Where it will be: --config, --dir, or one's own place. */
static int path_of(struct cli *cli, char **path)
{
	const char *dir = cli_text(cli, "dir");
	const char *file = cli->setup.config_file;
	char *cwd = getcwd(NULL, 0);
	char *folder = dir ? setup_path(cwd ? cwd : "/", dir) : NULL;

	*path = NULL;
	if (dir && file)
		cli_usage(cli, "--dir and --config both say where it goes");
	else if (dir)
		*path = setup_path(folder, "edcsync.json");
	else if (file)
		*path = setup_path(cwd ? cwd : "/", file);
	else
		*path = init_own_path();
	free(folder);
	free(cwd);
	if (*path || (dir && file))
		return *path ? 0 : EXIT_USAGE;
	return cli_usage(cli, "HOME is not set: say --config=FILE or "
			 "--dir=DIR");
}

static bool can_ask(void)
{
	return isatty(STDIN_FILENO) && access("/dev/tty", R_OK | W_OK) == 0;
}

int cmd_init(struct cli *cli)
{
	struct init *in;
	char *path;
	int code;

	if (cli->args_n)
		return cli_usage(cli, "no arguments are taken; --config or "
				 "--dir says where it goes");
	if (cli->setup.store_path)
		return cli_usage(cli, "--store has no meaning here: the store "
				 "comes to lie beside the configuration");
	code = path_of(cli, &path);
	if (code)
		return code;
	in = init_new(&cli->setup, path);
	if (exists(path))
		code = cli_fail(cli, EXIT_CANT_CREATE, "%s exists already; it "
				"is left as it is (edcsync config check looks "
				"at it)", path);
	if (!code)
		code = options_take(cli, in);
	if (!code)
		code = options_idle(cli, in);
	if (!code)
		code = can_ask() ? init_guide(cli, in, path)
				 : by_options(cli, in, path);
	init_free(in);
	free(path);
	return code;
}
