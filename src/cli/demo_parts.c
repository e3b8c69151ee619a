#include "config.h"

#include "cli/demo.h"

#include "core/json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 16, STOP_WAIT_MS = 3000 };

char *demo_path(const struct demo *d, const char *name)
{
	return setup_path(d->dir, name);
}

static bool file_write(const struct demo *d, const char *name,
		       struct span text)
{
	char *path = demo_path(d, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n;

	if (fd >= 0 && close(fd))
		ok = false;
	if (!ok)
		cli_fail(d->cli, EXIT_CANT_CREATE, "cannot write %s: %s", path,
			 strerror(errno));
	free(path);
	return ok;
}

static char *own_folder(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	slash = strrchr(path, '/');
	return slash ? xstrndup(path, (size_t)(slash - path)) : NULL;
}

int demo_folder(struct demo *d)
{
	const char *given = cli_text(d->cli, "dir");
	const char *tmp = getenv("TMPDIR");
	char *bin = own_folder();
	struct buf name = BUF_INIT;

	if (!bin)
		return cli_fail(d->cli, EXIT_SOFTWARE,
				"cannot find the program's own folder");
	d->program = setup_path(bin, "edcsync");
	d->simulator = setup_path(bin, "edcsim");
	free(bin);
	if (access(d->simulator, X_OK))
		return cli_fail(d->cli, EXIT_UNAVAILABLE, "the simulated EDC "
				"is looked for at %s: %s", d->simulator,
				strerror(errno));
	if (given) {
		char *cwd = getcwd(NULL, 0);

		d->dir = setup_path(cwd ? cwd : "/", given);
		free(cwd);
		if (mkdir(d->dir, 0700) && errno != EEXIST)
			return cli_fail(d->cli, EXIT_CANT_CREATE,
					"cannot make %s: %s", d->dir,
					strerror(errno));
		return 0;
	}
	buf_addf(&name, "%s/edcsync-demo-XXXXXX", tmp && *tmp == '/' ? tmp
								     : "/tmp");
	d->dir = buf_detach(&name, NULL);
	if (!mkdtemp(d->dir))
		return cli_fail(d->cli, EXIT_CANT_CREATE,
				"cannot make a folder %s: %s", d->dir,
				strerror(errno));
	return 0;
}

/* The address after http://, up to its path. */
static char *address_of(const struct json *doc)
{
	uint32_t ends = json_get(doc, 0, "endpoints");
	uint32_t node = json_get(doc, json_get(doc, ends, "demo-edc"),
				 "base_url");
	static const char lead[] = "http://";
	struct buf url = BUF_INIT;
	char *address = NULL;

	if (json_string(doc, node, &url) && span_starts(buf_span(&url), lead)) {
		const char *host = url.p + sizeof(lead) - 1;

		address = xstrndup(host, strcspn(host, "/"));
	}
	buf_release(&url);
	return address;
}

static void look_at_scenario(struct demo *d)
{
	const struct embedded *shipped;
	struct buf text = BUF_INIT, name = BUF_INIT;
	struct json doc = {0};

	buf_addf(&name, "scenarios/%s.json", d->scenario);
	shipped = embedded_find(buf_text(&name));
	if (shipped)
		buf_add(&text, (const char *)shipped->p, shipped->n);
	/* One that cannot be read is the simulator's to complain of. */
	if ((shipped || setup_read_file(d->scenario, 1u << 20, &text)) &&
	    json_parse(&doc, buf_text(&text), text.len, JSON_COMMENTS))
		d->oauth2 = json_string_is(&doc, json_get(&doc, 0, "auth"),
					   "oauth2");
	json_release(&doc);
	buf_release(&name);
	buf_release(&text);
}

void demo_look(struct demo *d)
{
	char *config = demo_path(d, "edcsync.json");
	struct buf text = BUF_INIT;
	struct json doc = {0};

	if (!access(config, F_OK) &&
	    setup_read_file(config, 1u << 20, &text) &&
	    json_parse(&doc, buf_text(&text), text.len, JSON_COMMENTS))
		d->listen = address_of(&doc);
	json_release(&doc);
	buf_release(&text);
	free(config);
	if (!d->scenario)
		d->scenario = d->listen ? "plain" : "outage";
	look_at_scenario(d);
}

/* The first line is "listening on URL"; it comes when the port is open. */
static char *first_line_url(int fd)
{
	static const char words[] = "listening on ";
	struct buf line = BUF_INIT;
	char c, *url = NULL;

	while (line.len < 256 && read(fd, &c, 1) == 1 && c != '\n')
		buf_addc(&line, c);
	if (span_starts(buf_span(&line), words))
		url = xstrdup(line.p + sizeof(words) - 1);
	buf_release(&line);
	return url;
}

int demo_simulator_start(struct demo *d)
{
	char *ledger = demo_path(d, "ledger.jsonl"), seed[24];
	const char *const argv[] = {d->simulator, "--listen",
				    d->listen ? d->listen : "127.0.0.1:0",
				    "--scenario", d->scenario, "--seed", seed,
				    "--ledger", ledger, NULL};
	int fds[2];

	snprintf(seed, sizeof(seed), "%lld", (long long)d->seed);
	if (pipe2(fds, O_CLOEXEC)) {
		free(ledger);
		return cli_fail(d->cli, EXIT_IO, "pipe: %s", strerror(errno));
	}
	d->sim = fork();
	if (!d->sim) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(fds[1], STDOUT_FILENO);
		execv(d->simulator, (char *const *)argv);
		_exit(127);
	}
	close(fds[1]);
	free(ledger);
	if (d->sim > 0)
		d->url = first_line_url(fds[0]);
	close(fds[0]);
	if (d->url)
		return 0;
	demo_simulator_stop(d);
	if (d->listen)
		return cli_fail(d->cli, EXIT_UNAVAILABLE, "the simulated EDC "
				"of %s must be at %s again and did not start: "
				"if another demo is there, quit it; a new "
				"--dir takes a new port", d->dir, d->listen);
	return cli_fail(d->cli, EXIT_UNAVAILABLE, "the simulated EDC did not "
			"start with scenario '%s'",
			out_safe(&d->cli->out, d->scenario));
}

void demo_simulator_stop(struct demo *d)
{
	if (d->sim > 0) {
		kill(d->sim, SIGTERM);
		waitpid(d->sim, NULL, 0);
	}
	d->sim = 0;
}

/* Short timings: an outage of the demo lasts seconds, not hours. */
int demo_configuration(struct demo *d)
{
	const struct embedded *data = embedded_find("demo/visits.jsonl");
	struct buf text = BUF_INIT;
	bool ok;

	if (!data)
		return cli_fail(d->cli, EXIT_SOFTWARE,
				"the demo's data is not compiled in");
	buf_addf(&text,
"// The demo's configuration: a simulated EDC, short timings.\n"
"{\n"
"  \"store\": \"edcsync.db\",\n"
"  \"endpoints\": {\n"
"    \"demo-edc\": {\n"
"      \"title\": \"Simulated EDC\", \"environment\": \"training\",\n"
"      \"studies\": [\"ONC-301\"], \"profile\": \"generic-rest\",\n"
"      \"base_url\": \"%s\",\n"
"      \"credential\": ", d->url);
	if (d->oauth2)
		buf_addf(&text,
"{\"kind\": \"oauth2_client_credentials\",\n"
"        \"token_url\": \"%s/oauth/token\", \"client_id\": \"demo\",\n"
"        \"client_secret_file\": \"secret\"},\n", d->url);
	else
		buf_adds(&text, "{\"kind\": \"none\"},\n");
	buf_adds(&text,
"      \"order\": \"subject\", \"urgent\": \"form:AE\",\n"
"      \"max_in_flight\": 8, \"rate\": {\"per_second\": 80, \"burst\": 40},\n"
"      \"retry\": {\"base_ms\": 200, \"cap_ms\": 1500, \"max_attempts\": 6,\n"
"                \"unknown_min_ms\": 200, \"answer_timeout_ms\": 1500,\n"
"                \"budget_ratio\": 1.0, \"budget_floor_per_s\": 10},\n"
"      \"circuit\": {\"fail_max\": 5, \"reset_ms\": 800, \"reset_cap_ms\": 2000},\n"
"      \"poll\": {\"first_ms\": 200, \"cap_ms\": 800, \"budget_ms\": 6000},\n"
"      \"lookup\": {\"settle_ms\": 500},\n"
"      \"contact\": \"nobody: it is a simulation\"\n"
"    }\n"
"  }\n"
"}\n");
	ok = file_write(d, "edcsync.json", buf_span(&text)) &&
	     file_write(d, "visits.jsonl",
			(struct span){(const char *)data->p, data->n}) &&
	     file_write(d, "password", SPAN("demo\n")) &&
	     (!d->oauth2 || file_write(d, "secret", SPAN("demo-secret\n")));
	buf_release(&text);
	return ok ? 0 : EXIT_CANT_CREATE;
}

static void command_show(const struct demo *d, const char *const words[])
{
	if (d->cli->json)
		return;
	fputs("$ edcsync", stderr);
	for (size_t i = 0; words[i]; i++)
		fprintf(stderr, " %s", words[i]);
	fputc('\n', stderr);
}

pid_t demo_spawn(struct demo *d, const char *const words[])
{
	const char *argv[WORDS_MAX + 4] = {d->program};
	char *config = demo_path(d, "edcsync.json");
	size_t n = 1;
	pid_t pid;
	int null;

	command_show(d, words);
	for (size_t i = 0; words[i]; i++) {
		assert(i < WORDS_MAX);
		argv[n++] = words[i];
	}
	argv[n++] = "--config";
	argv[n++] = config;
	argv[n] = NULL;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null < 0 || dup2(null, STDOUT_FILENO) < 0 ||
		    chdir(d->dir))
			_exit(127);
		execv(d->program, (char *const *)argv);
		_exit(127);
	}
	free(config);
	return pid;
}

int demo_command(struct demo *d, const char *const words[])
{
	pid_t pid = demo_spawn(d, words);
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		cli_fail(d->cli, EXIT_IO, "cannot run edcsync: %s",
			 strerror(errno));
		return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Ledger: one event a line, see src/sim/ledger_file.h. */

struct ledger_ops {
	char **record;			/* identity of record N, at N - 1 */
	size_t n;
};

static void identity_add(struct ledger_ops *ops, const struct json *doc,
			 uint32_t op)
{
	struct buf text = BUF_INIT;

	json_string(doc, op, &text);
	ops->record = xrealloc(ops->record,
			       (ops->n + 1) * sizeof(*ops->record));
	ops->record[ops->n++] = buf_detach(&text, NULL);
}

static void event_take(struct ledger_ops *ops, const struct json *doc,
		       struct demo_ledger *l)
{
	bool committed = json_string_is(doc, json_get(doc, 0, "state"),
					"committed");
	int64_t ended = 0, record = 0;

	if (json_int(doc, json_get(doc, 0, "record"), &record)) {
		identity_add(ops, doc, json_get(doc, 0, "op_id"));
		record = (int64_t)ops->n;
	} else if (json_int(doc, json_get(doc, 0, "ended"), &ended)) {
		record = ended;
	}
	if (!committed || record < 1 || (size_t)record > ops->n)
		return;
	l->committed.v = xrealloc(l->committed.v, (l->committed.n + 1) *
				  sizeof(*l->committed.v));
	l->committed.v[l->committed.n++] = xstrdup(ops->record[record - 1]);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void count(struct demo_ledger *l)
{
	char **v = l->committed.v;

	if (l->committed.n)
		qsort(v, l->committed.n, sizeof(*v), by_text);
	for (size_t i = 0; i < l->committed.n; i++) {
		bool again = i && !strcmp(v[i], v[i - 1]);
		bool third = again && i > 1 && !strcmp(v[i], v[i - 2]);

		l->records += !again;
		l->doubled += again && !third;
	}
}

int demo_ledger_read(const struct demo *d, struct demo_ledger *l)
{
	char *path = demo_path(d, "ledger.jsonl");
	struct ledger_ops ops = {NULL, 0};
	struct json doc = {0};
	struct buf text = BUF_INIT;
	const char *p, *end;
	int code = 0;

	memset(l, 0, sizeof(*l));
	if (!setup_read_file(path, 1u << 30, &text))
		code = cli_fail(d->cli, EXIT_IO, "cannot read %s: %s", path,
				strerror(errno));
	for (p = buf_text(&text); !code && (end = strchr(p, '\n'));
	     p = end + 1) {
		if (!json_parse(&doc, p, (size_t)(end - p), 0))
			code = cli_fail(d->cli, EXIT_IO, "%s: %s", path,
					doc.error.text);
		else
			event_take(&ops, &doc, l);
	}
	count(l);
	for (size_t i = 0; i < ops.n; i++)
		free(ops.record[i]);
	free(ops.record);
	json_release(&doc);
	buf_release(&text);
	free(path);
	return code;
}

void demo_ledger_release(struct demo_ledger *l)
{
	for (size_t i = 0; i < l->committed.n; i++)
		free(l->committed.v[i]);
	free(l->committed.v);
	memset(l, 0, sizeof(*l));
}
