/*
 * bench.c - make bench: the whole program against a bare curl_multi loop
 * without any store, same server, same payloads, in one run, interleaved.
 *
 *   bench [--operations N] [--rounds N] [--in-flight N] [--million]
 *
 * EDCSYNC names the program. Absolute figures move with the machine; the
 * ratio is what counts (0.40 or more is asked at 64 in flight). There are
 * two, because the contract has the program send header fields (keys, ids,
 * traceparent) whose letters libcurl formats one by one:
 *
 *   same request   the bare loop sends the very header fields that the
 *                  program sent, as the server saw them: what is left is the
 *                  cost of store, records and engine. 0.40 is asked of this.
 *   shortest       it sends Content-Type alone: the header fields count, too.
 */
#define _GNU_SOURCE
#include "bench/server.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAYLOAD_BYTES = 1024, ROUNDS_MAX = 15, PATH_BYTES = 512 };

struct bench {
	int operations, rounds, in_flight, port;
	volatile struct served *served;
	const char *edcsync;
	char dir[PATH_BYTES], config[PATH_BYTES + 32];
	char payload[PAYLOAD_BYTES + 1];
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A payload of exactly 1 KiB, as a form of vital signs would be. */
static void payload_fill(char *p)
{
	int n = snprintf(p, PAYLOAD_BYTES + 1,
			 "{\"SYSBP\":128,\"DIABP\":79,\"TEMP\":36.60,\"NOTE\":\"");

	memset(p + n, 'x', (size_t)(PAYLOAD_BYTES - n - 2));
	memcpy(p + PAYLOAD_BYTES - 2, "\"}", 3);
}

/* The limit: libcurl's own loop, handles and connections reused. */

static size_t swallow(char *p, size_t size, size_t n, void *ctx)
{
	(void)p;
	(void)ctx;
	return size * n;
}

static CURL *handle_new(const struct bench *b, struct curl_slist *headers)
{
	char url[64];
	CURL *easy = curl_easy_init();

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/records", b->port);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, b->payload);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)PAYLOAD_BYTES);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, swallow);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	return easy;
}

static int reap(CURLM *multi, int *started, int total)
{
	CURLMsg *m;
	int left, done = 0;

	while ((m = curl_multi_info_read(multi, &left))) {
		CURL *easy = m->easy_handle;

		if (m->msg != CURLMSG_DONE || m->data.result != CURLE_OK)
			die("bare loop: a transfer failed");
		done++;
		curl_multi_remove_handle(multi, easy);
		if (*started < total) {
			curl_multi_add_handle(multi, easy);
			++*started;
		}
	}
	return done;
}

/* The program's own lines, but for those that libcurl writes by itself. */
static struct curl_slist *same_headers(const struct bench *b)
{
	static const char *const own[] = {"POST ", "Host:", "Accept:",
					  "Content-Length:"};
	struct curl_slist *headers = NULL;
	char head[sizeof(b->served->head)];
	char *line, *rest = NULL;

	for (size_t i = 0; i < sizeof(head); i++)
		head[i] = b->served->head[i];
	for (line = strtok_r(head, "\r\n", &rest); line;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		bool skip = false;

		for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
			skip |= !strncmp(line, own[i], strlen(own[i]));
		if (!skip)
			headers = curl_slist_append(headers, line);
	}
	if (!headers)
		die("what the program sent was not seen");
	return headers;
}

static double bare_run(const struct bench *b, struct curl_slist *headers)
{
	CURLM *multi = curl_multi_init();
	CURL **easy = calloc((size_t)b->in_flight, sizeof(*easy));
	int started = 0, done = 0, running;
	double begin;

	curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)b->in_flight);
	begin = now_s();
	for (; started < b->in_flight && started < b->operations; started++) {
		easy[started] = handle_new(b, headers);
		curl_multi_add_handle(multi, easy[started]);
	}
	while (done < b->operations) {
		curl_multi_perform(multi, &running);
		done += reap(multi, &started, b->operations);
		if (done < b->operations)
			curl_multi_poll(multi, NULL, 0, 1000, NULL);
	}
	begin = now_s() - begin;
	for (int i = 0; i < b->in_flight; i++)
		curl_easy_cleanup(easy[i]);
	free(easy);
	curl_multi_cleanup(multi);
	return (double)b->operations / begin;
}

static double bare_shortest(const struct bench *b)
{
	struct curl_slist *headers =
		curl_slist_append(NULL, "Content-Type: application/json");
	double per_s = bare_run(b, headers);

	curl_slist_free_all(headers);
	return per_s;
}

static double bare_same(const struct bench *b, long *bytes)
{
	struct curl_slist *headers = same_headers(b);
	long before = b->served->bytes;
	double per_s = bare_run(b, headers);

	*bytes = (b->served->bytes - before) / b->operations;
	curl_slist_free_all(headers);
	return per_s;
}

/* The program: submit, then a timed run --until-idle. */

static int run_program(const struct bench *b, const char *const argv[],
		       struct rusage *usage)
{
	int status, null;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		execv(b->edcsync, (char *const *)argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, usage) < 0)
		die("cannot run edcsync");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void write_config(struct bench *b)
{
	FILE *f;

	snprintf(b->config, sizeof(b->config), "%s/edcsync.json", b->dir);
	f = fopen(b->config, "w");
	if (!f)
		die(b->config);
	fprintf(f, "{\"store\": \"edcsync.db\", \"endpoints\": {\"bench\": {"
		"\"profile\": \"generic-rest\", \"environment\": \"test\", "
		"\"base_url\": \"http://127.0.0.1:%d\", "
		"\"credential\": {\"kind\": \"none\"}, \"max_in_flight\": %d, "
		"\"rate\": {\"per_second\": 0, \"burst\": 0}}}}\n",
		b->port, b->in_flight);
	fclose(f);
}

static void write_lines(const struct bench *b, const char *path, int first,
			int n)
{
	FILE *f = fopen(path, "w");

	if (!f)
		die(path);
	for (int i = first; i < first + n; i++)
		fprintf(f, "{\"endpoint\":\"bench\",\"study_oid\":\"BENCH\","
			"\"subject_key\":\"S-%07d\",\"event_oid\":\"V1\","
			"\"form_oid\":\"VITALS\",\"path\":\"/records\","
			"\"payload\":%s}\n", i, b->payload);
	if (fclose(f))
		die(path);
}

static void wipe(const struct bench *b)
{
	static const char *const names[] = {
		"edcsync.db", "edcsync.db-wal", "edcsync.db-shm",
		"edcsync.db-turn", "edcsync.db-engine", "audit.key",
		"audit.key.pub", "anchors.log", "lines.jsonl"};
	char path[PATH_BYTES + 32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", b->dir, names[i]);
		unlink(path);
	}
}

static void submit(const struct bench *b, int first, int n)
{
	char path[PATH_BYTES + 32];
	const char *const argv[] = {b->edcsync, "submit", "--config",
				    b->config, path, NULL};
	struct rusage usage;

	snprintf(path, sizeof(path), "%s/lines.jsonl", b->dir);
	write_lines(b, path, first, n);
	if (run_program(b, argv, &usage))
		die("submit");
}

static double program_run(const struct bench *b, long *rss_kib, long *bytes)
{
	const char *const argv[] = {b->edcsync, "run", "--until-idle",
				    "--config", b->config, NULL};
	struct rusage usage;
	double begin;
	long before = b->served->requests, had = b->served->bytes;

	wipe(b);
	submit(b, 0, b->operations);
	sync();		/* what the preparation wrote is not measured */
	begin = now_s();
	if (run_program(b, argv, &usage))
		die("run");
	begin = now_s() - begin;
	before = b->served->requests - before;
	if (before != b->operations) {
		fprintf(stderr, "bench: the server saw %ld requests for %d "
			"operations\n", before, b->operations);
		exit(1);
	}
	*bytes = (b->served->bytes - had) / b->operations;
	*rss_kib = usage.ru_maxrss;
	return (double)b->operations / begin;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

/* Once, unmeasured: everything is warm, and the server has seen a request. */
static void warm_up(const struct bench *b)
{
	struct bench little = *b;
	long unused;

	little.operations = b->operations < 1000 ? b->operations : 1000;
	b->served->head[0] = '\0';
	program_run(&little, &unused, &unused);
	bare_same(&little, &unused);
}

static void report(const struct bench *b, double *ours, double *same,
		   double *shortest, long bytes, long rss_kib)
{
	double x = median(ours, b->rounds), y = median(same, b->rounds);
	double z = median(shortest, b->rounds);

	printf("medians: %d operations of 1 KiB, %d in flight, FULL, all "
	       "records\n"
	       "edcsync run           %8.0f ops/s\n"
	       "bare, same request    %8.0f ops/s   ratio %.2f   (0.40 is "
	       "asked; both sent %ld bytes a request)\n"
	       "bare, shortest        %8.0f ops/s   ratio %.2f   (Content-Type "
	       "alone; nothing is asked)\n"
	       "resident              %8.1f MiB (80 is the limit)\n",
	       b->operations, b->in_flight, x, y, x / y, bytes, z, x / z,
	       (double)rss_kib / 1024);
}

static void drain(const struct bench *b)
{
	double shortest[ROUNDS_MAX], same[ROUNDS_MAX], ours[ROUNDS_MAX];
	long rss = 0, most = 0, theirs = 0, bytes = 0;

	warm_up(b);
	for (int i = 0; i < b->rounds; i++) {
		sync();
		shortest[i] = bare_shortest(b);
		same[i] = bare_same(b, &theirs);
		ours[i] = program_run(b, &rss, &bytes);
		most = rss > most ? rss : most;
		printf("round %d: edcsync run %6.0f ops/s   bare, same request "
		       "%6.0f (ratio %.2f)   bare, shortest %6.0f (%.2f)\n",
		       i + 1, ours[i], same[i], ours[i] / same[i], shortest[i],
		       ours[i] / shortest[i]);
		if (theirs != bytes) {
			fprintf(stderr, "bench: %ld bytes a request here, %ld "
				"there: not the same\n", theirs, bytes);
			exit(1);
		}
	}
	report(b, ours, same, shortest, bytes, most);
}

/* A million queued: how long until the first request, and how much memory. */
static void million(const struct bench *b)
{
	const char *const argv[] = {b->edcsync, "run", "--for", "3s",
				    "--config", b->config, NULL};
	struct rusage usage;
	double begin, first = 0;
	long before;
	pid_t pid;
	int status;

	wipe(b);
	begin = now_s();
	for (int i = 0; i < 10; i++)
		submit(b, i * 100000, 100000);
	printf("submit 1 000 000 lines: %.1f s\n", now_s() - begin);
	before = b->served->requests;
	begin = now_s();
	pid = fork();
	if (!pid) {
		execv(b->edcsync, (char *const *)argv);
		_exit(127);
	}
	while (b->served->requests == before && now_s() - begin < 30)
		;
	first = now_s() - begin;
	if (wait4(pid, &status, 0, &usage) < 0)
		die("wait");
	printf("1 000 000 queued: first request after %.3f s, resident %.1f "
	       "MiB\n", first, (double)usage.ru_maxrss / 1024);
}

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
	struct bench b = {.operations = 20000, .rounds = 5, .in_flight = 64};
	bool big = false;
	int server;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--million"))
			big = true;
		else if (i + 1 < argc && !strcmp(argv[i], "--operations"))
			b.operations = number(argv[++i]);
		else if (i + 1 < argc && !strcmp(argv[i], "--rounds"))
			b.rounds = number(argv[++i]);
		else if (i + 1 < argc && !strcmp(argv[i], "--in-flight"))
			b.in_flight = number(argv[++i]);
		else
			return fprintf(stderr, "bench: unknown '%s'\n",
				       argv[i]), 2;
	}
	if (b.rounds < 1 || b.rounds > ROUNDS_MAX || b.in_flight < 1)
		return fprintf(stderr, "bench: 1 to %d rounds\n",
			       ROUNDS_MAX), 2;
	b.edcsync = getenv("EDCSYNC") ? getenv("EDCSYNC") : "./edcsync";
	snprintf(b.dir, sizeof(b.dir), "%s/edcsync-bench-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(b.dir))
		die(b.dir);
	payload_fill(b.payload);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	server = server_start(&b.port, &b.served);
	write_config(&b);
	if (big)
		million(&b);
	else
		drain(&b);
	server_stop(server);
	wipe(&b);
	unlink(b.config);
	rmdir(b.dir);
	return 0;
}
