/* main_sim.c - wires: edcsim's options, signals and life. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "cli/embedded.h"
#include "core/utf8.h"
#include "sim/http.h"
#include "sim/vendor.h"

struct options {
	const char *listen, *scenario, *ledger, *seed, *profile;
};

static const char usage[] =
"Usage: edcsim [OPTION]...\n"
"Plays an EDC API that commits, breaks, stalls and lies as a scenario tells\n"
"it, and keeps a ledger of what it really committed.\n"
"\n"
"  -l, --listen=ADDRESS:PORT  where to listen (127.0.0.1:0, a free port)\n"
"  -s, --scenario=FILE|NAME   what to play (plain)\n"
"  -S, --seed=N               decides every draw; wins over the scenario's\n"
"  -p, --profile=NAME         whose dialect to speak; wins over the scenario's\n"
"  -L, --ledger=FILE          keep the ledger in FILE and read it at start\n"
"      --list                 name the scenarios that are compiled in\n"
"      --profiles             name the dialects\n"
"      --actions              name what a rule can do\n"
"  -h, --help                 print this and exit\n"
"  -V, --version              print the version and exit\n"
"\n"
"The first line printed is `listening on http://ADDRESS:PORT'. It speaks\n"
"like the vendor of a shipped profile, oddities included (--profiles; also the\n"
"scenario's field `profile').\n"
"\n"
"  GET  /_sim/ledger     one object a committed operation, one a line\n"
"  GET  /_sim/requests   what was asked of every operation that was seen\n"
"  GET  /_sim/summary    counts and faults injected (?operations=0: short)\n"
"  GET  /_sim/scenario   what is being played\n"
"  POST /_sim/scenario   plays the scenario in the body, or ?name=NAME&seed=N\n"
"  POST /_sim/reset      forgets everything and starts the clock again\n"
"  POST /oauth/token     client credentials: demo, demo-secret; the same are\n"
"                        user and password, or the token, where one is asked\n"
"\n"
"Exit status: 0 stopped by SIGTERM or SIGINT, 2 usage, 65 a scenario or\n"
"ledger that cannot be used, 66 no such scenario, 71 no socket.\n";

static void list_scenarios(void)
{
	static const char folder[] = "scenarios/";
	const struct embedded *e;
	size_t n = sizeof(folder) - 1, len;

	for (e = embedded_files; e->name; e++) {
		len = strlen(e->name);
		if (!strncmp(e->name, folder, n) && len > n + 5)
			printf("%.*s\n", (int)(len - n - 5), e->name + n);
	}
}

static void list_profiles(void)
{
	size_t i;

	for (i = 0; sim_vendor_name(i); i++)
		puts(sim_vendor_name(i));
}

static void list_actions(void)
{
	const struct sim_action *a;

	for (a = scenario_actions; a->name; a++)
		printf("%-18s %s\n", a->name, a->about);
}

static bool find_embedded(void *ctx, struct span name, struct buf *text)
{
	struct buf path = BUF_INIT;
	const struct embedded *e;
	bool found = false;

	(void)ctx;
	buf_adds(&path, "scenarios/");
	buf_addspan(&path, name);
	buf_adds(&path, ".json");
	for (e = embedded_files; e->name && !found; e++) {
		if (!span_is(buf_span(&path), e->name))
			continue;
		buf_add(text, e->p, e->n);
		found = true;
	}
	buf_release(&path);
	return found;
}

/* A line on stderr; whatever is in it cannot drive the terminal. */
PRINTF_LIKE(1, 2)
static void complain(const char *fmt, ...)
{
	struct buf text = BUF_INIT, shown = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	utf8_guard(&shown, buf_span(&text), false);
	fprintf(stderr, "%s\n", buf_text(&shown));
	buf_release(&text);
	buf_release(&shown);
}

static bool read_file(const char *name, struct buf *out)
{
	char block[16384];
	ssize_t n;
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while ((n = read(fd, block, sizeof(block))) > 0 &&
	       out->len <= LIMIT_CONFIG_BYTES)
		buf_add(out, block, (size_t)n);
	close(fd);
	return n >= 0;
}

/* A name without slash or dot is one of ours; a file otherwise. */
static int load(struct sim *sim, const char *name, int64_t now_ms)
{
	struct buf text = BUF_INIT;
	struct findings f = {0};
	struct scenario s;
	size_t i;
	int rc = 0;

	if (!(strpbrk(name, "./") == NULL &&
	      find_embedded(NULL, span_of(name), &text)) &&
	    !read_file(name, &text)) {
		complain("edcsim: %s: no such scenario and no such "
			 "file (%s); see edcsim --list", name,
			 strerror(errno));
		buf_release(&text);
		return EX_NOINPUT;
	}
	scenario_init(&s);
	if (scenario_load(&s, buf_span(&text), name, &f))
		sim_play(sim, &s, now_ms);
	else
		rc = EX_DATAERR;
	for (i = 0; i < f.n; i++)
		complain("%s:%d: %s", f.v[i].file, f.v[i].line, f.v[i].text);
	scenario_release(&s);
	findings_release(&f);
	buf_release(&text);
	return rc;
}

static int64_t clock_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int open_ledger(struct sim *sim, const char *file)
{
	struct findings f = {0};
	size_t i;
	bool ok;

	ok = ledger_open(&sim->ledger, file, clock_ms(CLOCK_BOOTTIME),
			 clock_ms(CLOCK_REALTIME), &f);
	for (i = 0; i < f.n; i++)
		complain("%s:%d: %s", f.v[i].file, f.v[i].line, f.v[i].text);
	findings_release(&f);
	return ok ? 0 : EX_DATAERR;
}

/* 0: go on; else exit status + 1. */
static int read_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"listen", required_argument, NULL, 'l'},
		{"scenario", required_argument, NULL, 's'},
		{"seed", required_argument, NULL, 'S'},
		{"profile", required_argument, NULL, 'p'},
		{"profiles", no_argument, NULL, 'v'},
		{"ledger", required_argument, NULL, 'L'},
		{"list", no_argument, NULL, 'n'},
		{"actions", no_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0}
	};
	int c;

	opterr = 0;	/* getopt would repeat a word as it came */
	while ((c = getopt_long(argc, argv, "l:s:S:p:L:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'l': o->listen = optarg; break;
		case 's': o->scenario = optarg; break;
		case 'S': o->seed = optarg; break;
		case 'p': o->profile = optarg; break;
		case 'L': o->ledger = optarg; break;
		case 'v': list_profiles(); return 1;
		case 'n': list_scenarios(); return 1;
		case 'a': list_actions(); return 1;
		case 'h': fputs(usage, stdout); return 1;
		case 'V': puts("edcsim (edcsync) " PACKAGE_VERSION); return 1;
		default:
			complain("edcsim: `%s' is no option, or its value is "
				 "missing", argv[optind - 1]);
			fputs("Try `edcsim --help'.\n", stderr);
			return 3;
		}
	}
	if (optind == argc)
		return 0;
	complain("edcsim: unexpected argument `%s'", argv[optind]);
	fputs("Try `edcsim --help'.\n", stderr);
	return 3;
}

static bool read_seed(struct sim *sim, const char *text)
{
	char *end;

	if (!text)
		return true;
	errno = 0;
	sim->seed = strtoull(text, &end, 10);
	sim->seed_given = true;
	if (*text >= '0' && *text <= '9' && !*end && !errno)
		return true;
	complain("edcsim: --seed %s: expected a whole number from 0", text);
	return false;
}

static bool read_profile(struct sim *sim, const char *name)
{
	sim->profile_given = name;
	if (!name || sim_vendor_named(name))
		return true;
	complain("edcsim: --profile %s: no such vendor; see edcsim "
		 "--profiles", name);
	return false;
}

static int serve(struct sim *sim, const struct options *o)
{
	struct buf error = BUF_INIT;
	struct http *h;
	sigset_t stop;
	int fd, rc = 0;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
	h = fd < 0 ? NULL : http_open(sim, o->listen, &error);
	if (h) {
		printf("listening on %s\n", http_url(h));
		fflush(stdout);
		if (!http_run(h, fd, &error))
			rc = EX_OSERR;
		http_free(h);
	} else {
		rc = EX_OSERR;
	}
	if (rc)
		complain("edcsim: %s", buf_text(&error));
	if (fd >= 0)
		close(fd);
	buf_release(&error);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = {.listen = "127.0.0.1:0", .scenario = "plain"};
	struct sim sim;
	int rc;

	rc = read_options(argc, argv, &o);
	if (rc)
		return rc - 1;
	sim_init(&sim);
	sim.find = find_embedded;
	rc = read_seed(&sim, o.seed) && read_profile(&sim, o.profile) ? 0 : 2;
	if (!rc)
		rc = load(&sim, o.scenario, clock_ms(CLOCK_BOOTTIME));
	if (!rc && o.ledger)
		rc = open_ledger(&sim, o.ledger);
	if (!rc)
		rc = serve(&sim, &o);
	sim_release(&sim);
	return rc;
}
