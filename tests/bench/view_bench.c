/*
 * view_bench.c - how long each question of a console takes on a big store
 * (tests/bench/big_store.py makes one): view_bench STORE [TIMES]. Prints the
 * median and the worst of TIMES calls in ms, and how many rows came. The
 * first call of all is told apart: the file's pages may not be in memory.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/view.h"

#define TIMES_MAX 99

static struct view *view;
static int64_t now, rows;
static int times = 9;
static char middle[LIMIT_OP_ID_BYTES + 1];
static char group[40] = "group:1";	/* the largest */

static double ms_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#define COUNTER(name, type) \
	static int name(void *ctx, const struct type *row) \
	{ \
		(void)ctx; \
		(void)row; \
		rows++; \
		return 0; \
	}
COUNTER(op_row, view_op)
COUNTER(group_row_, view_group)
COUNTER(ages_row, view_ages)
COUNTER(attempt_row, view_attempt)
COUNTER(poll_row_, view_poll)
COUNTER(audit_row_, audit_row)
COUNTER(gauge_row_, gauge_row)
COUNTER(need_row, view_need)
COUNTER(endpoint_row_, view_endpoint)
COUNTER(live_row_, view_live)

static int hit_row(void *ctx, const struct view_hit *hit)
{
	(void)ctx;
	(void)hit;
	rows++;
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void measure(const char *what, int n, int64_t (*call)(const void *),
		    const void *arg)
{
	double took[TIMES_MAX], first = 0;
	int64_t rc = 0;

	for (int i = 0; i < n; i++) {
		double began = ms_now();

		rows = 0;
		rc = call(arg);
		took[i] = ms_now() - began;
		first = i ? first : took[0];
	}
	if (rc < 0)
		printf("%-46s failed: %s\n", what, view_error(view));
	qsort(took, (size_t)n, sizeof(*took), by_size);
	printf("%-46s %8.2f ms  worst %8.2f  first %8.2f  %" PRId64 " rows\n",
	       what, took[n / 2], took[n - 1], first, rows);
	fflush(stdout);
}

struct page_of {
	const char *filter;
	enum view_order order;
	bool down;
	int where;		/* 0 first, 1 behind, 2 before, 3 from, 4 last
				 */
};

static int64_t call_page(const void *arg)
{
	const struct page_of *p = arg;
	struct filter_error error;
	struct view_page page = {.order = p->order, .limit = 60,
				 .now_ms = now, .descending = p->down};
	struct filter *f = filter_parse(span_of(p->filter), now, 0, &error);
	int64_t rc;

	page.filter = f;
	page.after = p->where == 1 ? middle : NULL;
	page.before = p->where == 2 ? middle : NULL;
	page.from = p->where == 3 ? middle : NULL;
	page.last = p->where == 4;
	rc = view_ops(view, &page, op_row, NULL);
	filter_free(f);
	return rc;
}

static int64_t call_count(const void *arg)
{
	struct filter_error error;
	struct filter *f = filter_parse(span_of(arg), now, 0, &error);
	struct view_page page = {.filter = f, .now_ms = now};
	bool more;
	int rc = view_count(view, &page, 10000, &rows, &more);

	filter_free(f);
	return rc;
}

struct groups_of {
	enum view_group_by by;
	const char *filter;
};

static int64_t call_groups(const void *arg)
{
	const struct groups_of *g = arg;
	struct filter_error error;
	struct filter *f = g->filter ? filter_parse(span_of(g->filter), now, 0,
						    &error) : NULL;
	struct view_page page = {.filter = f, .now_ms = now};
	int rc = view_groups(view, OP_DEAD, g->by, &page, group_row_, NULL);

	filter_free(f);
	return rc;
}

static int largest(void *ctx, const struct view_group *g)
{
	(void)ctx;
	snprintf(group, sizeof(group), "%s", g->filter);
	return 1;
}

/* How long until a long question ends that nobody wants any more? */
static double wished;

static void *interrupts(void *arg)
{
	const struct timespec wait = {0, 200000000};

	nanosleep(&wait, NULL);
	wished = ms_now();
	view_interrupt(arg);
	return NULL;
}

static void interrupt(void)
{
	static const struct groups_of by = {VIEW_BY_SUBJECT, NULL};
	pthread_t thread;
	int64_t rc;

	if (pthread_create(&thread, NULL, interrupts, view))
		return;
	rc = call_groups(&by);
	printf("%-46s %8.2f ms%s\n", "interrupted after", ms_now() - wished,
	       rc == ST_INTERRUPTED ? "" : " (it was done before)");
	pthread_join(thread, NULL);
	view_resume(view);
}

static int64_t call_ages(const void *arg)
{
	(void)arg;
	return view_ages(view, OP_DEAD, now, ages_row, NULL);
}

static int64_t call_live(const void *arg)
{
	(void)arg;
	return view_live(view, NULL, live_row_, NULL);
}

static int64_t call_next(const void *arg)
{
	struct view_page page = {.limit = 60, .now_ms = now};

	(void)arg;
	return view_next(view, &page, op_row, NULL);
}

static int64_t call_recent(const void *arg)
{
	(void)arg;
	return view_recent(view, 0, 60, attempt_row, NULL);
}

static int64_t call_failures(const void *arg)
{
	return view_failures(view, *(const int *)arg, 5, attempt_row, NULL);
}

static int64_t call_gauge(const void *arg)
{
	return view_gauge(view, *(const int *)arg, now / 60000 - 1440,
			  gauge_row_, NULL);
}

static int64_t call_polls(const void *arg)
{
	struct view_page page = {.order = VIEW_DUE, .limit = 60,
				 .now_ms = now};

	return view_polls(view, &page, *(const int *)arg, poll_row_, NULL);
}

static int64_t call_trail(const void *arg)
{
	struct view_trail_end end;

	return view_trail(view, arg, &end, audit_row_, NULL);
}

static int64_t call_trail_of(const void *arg)
{
	struct view_page page = {.now_ms = now};
	struct view_op row;
	int rc = view_op(view, arg, &page, &row);

	if (rc == ST_OK) {
		rc = view_trail_of(view, row.op.op, audit_row_, NULL);
		view_op_release(&row);
	}
	return rc;
}

static int64_t call_needs(const void *arg)
{
	(void)arg;
	return view_needs(view, NULL, now, need_row, NULL);
}

static int64_t call_endpoints(const void *arg)
{
	(void)arg;
	return view_endpoints(view, now, endpoint_row_, NULL);
}

static int64_t call_find(const void *arg)
{
	struct view_page page = {.now_ms = now};

	return view_find(view, span_of(arg), NULL, &page, hit_row, NULL);
}

static int64_t call_metrics(const void *arg)
{
	struct view_metrics m;
	int rc = view_metrics(view, &m);

	(void)arg;
	view_metrics_release(&m);
	return rc;
}

/* What a key press asks for: each is to be there at once. */
static void quick(void)
{
	static const struct {
		const char *what;
		struct page_of p;
	} pages[] = {
		{"dead, newest", {"state:dead", VIEW_NEWEST, false, 0}},
		{"dead, oldest", {"state:dead", VIEW_OLDEST, false, 0}},
		{"dead, due", {"state:dead", VIEW_DUE, false, 0}},
		{"dead, since, descending", {"state:dead", VIEW_SINCE, true, 0}},
		{"dead, newest, behind the middle",
		 {"state:dead", VIEW_NEWEST, false, 1}},
		{"dead, since, before the middle",
		 {"state:dead", VIEW_SINCE, false, 2}},
		{"dead, since, from the middle",
		 {"state:dead", VIEW_SINCE, false, 3}},
		{"dead, since, the last page",
		 {"state:dead", VIEW_SINCE, false, 4}},
		{"dead of an endpoint, newest",
		 {"state:dead endpoint:oracle-legacy", VIEW_NEWEST, false, 0}},
		{"dead of an endpoint, since, behind the middle",
		 {"state:dead endpoint:oracle-legacy", VIEW_SINCE, false, 1}},
		{"dead of an endpoint without any",
		 {"state:dead endpoint:castor-eu", VIEW_DUE, false, 0}},
		{"a group, newest", {group, VIEW_NEWEST, false, 0}},
		{"a group, due, behind the middle",
		 {group, VIEW_DUE, false, 1}},
		{"rejected, due", {"state:rejected", VIEW_DUE, false, 0}},
		{"dead, rejected, unwatched; since",
		 {"state:dead,rejected,unwatched", VIEW_SINCE, false, 0}},
		{"dead of a site, newest",
		 {"state:dead site:1001", VIEW_NEWEST, false, 0}},
		{"dead of a subject",
		 {"state:dead subject:1001-01000", VIEW_SINCE, false, 0}},
		{"everything, newest", {"", VIEW_NEWEST, false, 0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		measure(pages[i].what, times, call_page, &pages[i].p);
}

static void small(void)
{
	static const struct groups_of by_error = {VIEW_BY_ERROR, NULL};
	static const struct groups_of by_endpoint = {VIEW_BY_ENDPOINT, NULL};
	static const int one = 1, no = 0;
	static const struct view_trail newest = {.limit = 60};
	static const struct view_trail older = {.limit = 60, .after = 2500000};
	static const struct view_trail newer = {.limit = 60,
						.before = 2500000};
	static const struct view_trail presets[] = {
		{.limit = 60, .preset = TRAIL_OUT_OF_HOURS},
		{.limit = 60, .preset = TRAIL_REPEATED_REPLAYS},
		{.limit = 60, .preset = TRAIL_DISCARDS},
		{.limit = 60, .preset = TRAIL_REFUSALS},
		{.limit = 60, .preset = TRAIL_SIGN_INS},
		{.limit = 60, .actor = "jdoe"},
		{.limit = 60, .type = "no such type"},
	};
	struct view_trail day = {.limit = 60, .from_ms = now - 86400000 * 9,
				 .to_ms = now - 86400000 * 8};

	measure("groups by error", times, call_groups, &by_error);
	measure("groups by endpoint", times, call_groups, &by_endpoint);
	measure("count state:dead", times, call_count, "state:dead");
	measure("count of a group", times, call_count, group);
	measure("count to 10 000 of a site", times, call_count,
		"state:dead site:1001");
	measure("live", times, call_live, NULL);
	measure("next", times, call_next, NULL);
	measure("recent", times, call_recent, NULL);
	measure("failures of an endpoint", times, call_failures, &one);
	measure("a day of gauges", times, call_gauge, &one);
	measure("polls", times, call_polls, &no);
	measure("unwatched", times, call_polls, &one);
	measure("trail, newest", times, call_trail, &newest);
	measure("trail, older", times, call_trail, &older);
	measure("trail, newer", times, call_trail, &newer);
	measure("trail, a day", times, call_trail, &day);
	for (size_t i = 0; i < ARRAY_SIZE(presets); i++)
		measure(presets[i].actor ? "trail by actor, 10 000 records" :
			presets[i].type ? "trail by a type, 10 000 records" :
			trail_preset_name(presets[i].preset), times,
			call_trail, &presets[i]);
	measure("trail of an operation", times, call_trail_of, middle);
	measure("needs", times, call_needs, NULL);
	measure("endpoints", times, call_endpoints, NULL);
	measure("metrics", times, call_metrics, NULL);
	measure("find a subject", times, call_find, "1001-01000");
	measure("find an operation", times, call_find, middle);
}

/* Beside the screen: they may take a second, and can be interrupted. */
static void slow(void)
{
	static const struct groups_of bys[] = {
		{VIEW_BY_SITE, NULL}, {VIEW_BY_SUBJECT, NULL},
		{VIEW_BY_FORM, NULL}, {VIEW_BY_SITE, group},
		{VIEW_BY_ERROR, "site:1001"},
	};
	static const struct {
		const char *what;
		struct page_of p;
	} pages[] = {
		{"dead, by subject", {"state:dead", VIEW_SUBJECT, false, 0}},
		{"dead, by site, last page",
		 {"state:dead", VIEW_SITE, false, 4}},
		{"dead, by endpoint", {"state:dead", VIEW_ENDPOINT, false, 0}},
		{"dead, by error", {"state:dead", VIEW_ERROR, true, 0}},
		{"dead, by attempts", {"state:dead", VIEW_ATTEMPTS, true, 0}},
		{"a group, by subject", {group, VIEW_SUBJECT, false, 0}},
		{"dead with a word, newest",
		 {"state:dead FORM07", VIEW_NEWEST, false, 0}},
		{"dead of a site that is rare",
		 {"state:dead site:nowhere", VIEW_NEWEST, false, 0}},
		{"queued and waiting, due",
		 {"state:queued,waiting", VIEW_DUE, false, 0}},
	};

	measure("ages", 3, call_ages, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(bys); i++)
		measure(bys[i].filter ? bys[i].filter : "groups by site,"
			" subject, form", 1, call_groups, &bys[i]);
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		measure(pages[i].what, 1, call_page, &pages[i].p);
	measure("find what nobody is called", 1, call_find, "no-such-9");
	interrupt();
	measure("count a site, to 10 000", 1, call_count,
		"state:dead site:nowhere");
}

int main(int argc, char **argv)
{
	struct buf error = BUF_INIT;
	struct timespec t;
	int rc = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: view_bench STORE [TIMES]\n");
		return 2;
	}
	if (argc > 2)
		times = (int)strtol(argv[2], NULL, 10);
	if (times < 1 || times > TIMES_MAX)
		times = 9;
	clock_gettime(CLOCK_REALTIME, &t);
	now = (int64_t)t.tv_sec * 1000;
	snprintf(middle, sizeof(middle), "01BIG%021d", 500000);
	view = view_open(argv[1], &error, &rc);
	if (!view) {
		fprintf(stderr, "%s\n", buf_text(&error));
		return 1;
	}
	view_groups(view, OP_DEAD, VIEW_BY_ERROR,
		    &(struct view_page){.now_ms = now}, largest, NULL);
	quick();
	small();
	slow();
	view_close(view);
	buf_release(&error);
	return 0;
}
