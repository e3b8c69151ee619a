/*
 * console - how quick the console is on a store that is there.
 *
 *   console --config FILE [--cols N] [--rows N]
 *
 * Starts `edcsync console --attach` below a terminal (vt.h), presses keys and
 * measures: until the first byte of an answer (a key shows), until the text
 * stands there (the panel is filled); at the end memory, and what an idle
 * console writes and uses. Figures for a person, never a test. EDCSYNC names
 * the program.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vt.h"

enum { GIVE_UP_MS = 20000, IDLE_MS = 10000 };

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const struct step {
	const char *words;		/* of the line that is printed */
	const char *key;		/* NULL: typed text */
	const char *type;
	const char *wait;		/* stands there when it is done */
} steps[] = {
	{ "attempts", "2", NULL, "On the wire" },
	{ "circuits", "3", NULL, "castor-eu" },
	{ "polls", "4", NULL, "Polls" },
	{ "dead letters, groups", "6", NULL, "There?" },
	{ "open the first group", "Enter", NULL, "Subject" },
	{ "to the end of it", "G", NULL, NULL },
	{ "to its beginning", "g", NULL, NULL },
	{ "a page down", "PgDn", NULL, NULL },
	{ "a row down", "j", NULL, NULL },
	{ "inspect", "Enter", NULL, "[Why]" },
	{ "back", "Esc", NULL, NULL },
	{ "back", "Esc", NULL, "There?" },
	{ "rejected", "7", NULL, "Rejected" },
	{ "audit", "8", NULL, "Audit" },
	{ "audit: to the end", "G", NULL, NULL },
	{ "audit: to its beginning", "g", NULL, NULL },
	{ "overview", "1", NULL, "Endpoint" },
};

/* Until the child wrote more than it had; ms, or -1. */
static double first_byte(struct vt *vt, size_t had, double began)
{
	while (now_ms() - began < GIVE_UP_MS) {
		if (vt->raw.len > had)
			return now_ms() - began;
		vt_pump(vt, 1);
	}
	return -1;
}

/* Until the text is there (NULL: until nothing was written for 40 ms). */
static double filled(struct vt *vt, const char *text, double began)
{
	double last = now_ms();

	while (now_ms() - began < GIVE_UP_MS) {
		if (vt_pump(vt, 1))
			last = now_ms();
		if (text && vt_find(vt, text) >= 0)
			return now_ms() - began;
		if (!text && now_ms() - last > 40)
			return last - began;
	}
	return -1;
}

static void take_step(struct vt *vt, const struct step *s)
{
	double began = now_ms(), first, full;
	size_t had = vt->raw.len;

	if (s->key)
		vt_key(vt, s->key);
	else
		vt_type(vt, s->type);
	first = first_byte(vt, had, began);
	full = filled(vt, s->wait, began);
	printf("%-24s key shows %7.1f ms   filled %7.1f ms\n", s->words,
	       first, full);
	vt_settle(vt);
}

/* A number after a name in /proc/PID/status; -1 none. */
static long status_kib(pid_t pid, const char *name)
{
	char file[64], line[256];
	long n = -1;
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%d/status", (int)pid);
	f = fopen(file, "r");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0)
			n = strtol(line + strlen(name), NULL, 10);
	if (f)
		fclose(f);
	return n;
}

/* CPU used, ms. */
static double cpu_ms(pid_t pid)
{
	char file[64], line[1024], *at;
	unsigned long user = 0, sys = 0;
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%d/stat", (int)pid);
	f = fopen(file, "r");
	if (f && fgets(line, sizeof(line), f) && (at = strrchr(line, ')')))
		sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
		       "%lu %lu", &user, &sys);
	if (f)
		fclose(f);
	return (double)(user + sys) * 1000.0 / (double)sysconf(_SC_CLK_TCK);
}

static void idle(struct vt *vt)
{
	double began = now_ms(), cpu = cpu_ms(vt->pid);
	size_t had = vt->raw.len;
	int refreshes = 0;

	while (now_ms() - began < IDLE_MS)
		refreshes += vt_pump(vt, 50);
	printf("idle %d s               %zu bytes, %d refreshes (%zu bytes "
	       "each), %.2f %% of a core\n", IDLE_MS / 1000,
	       vt->raw.len - had, refreshes,
	       (vt->raw.len - had) / (size_t)(refreshes ? refreshes : 1),
	       (cpu_ms(vt->pid) - cpu) / IDLE_MS * 100.0);
}

static const char *option(int argc, char **argv, const char *name,
			  const char *otherwise)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return argv[i + 1];
	return otherwise;
}

int main(int argc, char **argv)
{
	const char *program = getenv("EDCSYNC");
	const char *config = option(argc, argv, "--config", NULL);
	char *words[] = { (char *)(program ? program : "./edcsync"),
			  (char *)"--config", (char *)config,
			  (char *)"console", (char *)"--attach", NULL };
	struct vt_start start = {
		.cols = (int)strtol(option(argc, argv, "--cols", "80"), NULL,
				    10),
		.rows = (int)strtol(option(argc, argv, "--rows", "24"), NULL,
				    10),
		.argv = words,
	};
	struct vt vt;
	double began;

	setlocale(LC_ALL, "C.UTF-8");
	if (!config) {
		fprintf(stderr, "usage: console --config FILE\n");
		return 2;
	}
	began = now_ms();
	vt_start(&vt, &start);
	printf("%-24s %33.1f ms\n", "first paint",
	       filled(&vt, "1 Over", began));
	printf("%-24s %33.1f ms\n", "overview filled",
	       filled(&vt, "Endpoint", began));
	vt_settle(&vt);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		take_step(&vt, &steps[i]);
	printf("memory                   %ld KiB resident, %ld KiB at most\n",
	       status_kib(vt.pid, "VmRSS:"), status_kib(vt.pid, "VmHWM:"));
	idle(&vt);
	vt_key(&vt, "q");
	vt_wait_end(&vt, 3000);
	vt_end(&vt);
	return 0;
}
