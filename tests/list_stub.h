/*
 * list_stub.h - tests: a store that is an array, and an app whose lanes work
 * when the test says so.
 */
#ifndef EDCSYNC_TESTS_LIST_STUB_H
#define EDCSYNC_TESTS_LIST_STUB_H

#include "check.h"

#include <stdlib.h>

#include "ui/list.h"
#include "ui/app.h"

/* --- a store of rows --------------------------------------------------- */

struct thing {
	char id[16];
	int64_t version;
	int size;
	bool odd;			/* what the filter "odd" gives */
};
static struct thing things[2000];
static size_t things_n;
static const char *trouble;
static int loads;

static void things_make(size_t n)
{
	things_n = n;
	for (size_t i = 0; i < n; i++) {
		struct thing *t = &things[i];

		snprintf(t->id, sizeof(t->id), "id%04u", (unsigned)i);
		t->version = 1;
		t->size = (int)(n - i);
		t->odd = i % 100 == 1;
	}
}

static void thing_drop(size_t at)
{
	memmove(&things[at], &things[at + 1],
		(things_n - at - 1) * sizeof(things[0]));
	things_n--;
}

static void thing_move(size_t from, size_t to)
{
	struct thing t = things[from];

	thing_drop(from);
	memmove(&things[to + 1], &things[to],
		(things_n - to) * sizeof(things[0]));
	things[to] = t;
	things_n++;
}

static size_t thing_at(const char *id)
{
	for (size_t i = 0; i < things_n; i++)
		if (strcmp(things[i].id, id) == 0)
			return i;
	return things_n;
}

static bool matches(const struct list_ask *ask, const struct thing *t)
{
	return t->odd || !ask->filter || !strstr(ask->filter, "odd");
}

static void give(struct list_ask *ask, const struct thing *t)
{
	struct list_row *row = list_ask_row(ask);

	snprintf(row->id, sizeof(row->id), "%s", t->id);
	row->version = t->version;
	list_row_text(row, 0, STYLE(TEXT), "%s", t->id);
	list_row_text(row, 1, STYLE(DIM), "%d", t->size);
	list_row_age(row, 2, STYLE(TEXT), 1000);
}

/* Numbers of the rows the ask is about, in the order asked for. */
static void load(struct list_ask *ask, struct work_room *room)
{
	size_t n = things_n, from = 0, to = n;

	assert_non_null(room->view);
	assert_true(ask->limit > 0);
	loads++;
	if (trouble) {
		ask->error = xstrdup(trouble);
		return;
	}
	if (*ask->after)
		from = thing_at(ask->after) + 1;
	else if (*ask->from)
		from = thing_at(ask->from);
	if (*ask->before)
		to = thing_at(ask->before);
	if (ask->last || *ask->before) {
		size_t got = 0;

		for (from = to; from > 0 && got < (size_t)ask->limit; from--)
			got += matches(ask, &things[from - 1]);
		for (size_t i = 0; i < from; i++)
			ask->more |= matches(ask, &things[i]);
	}
	for (size_t i = from; i < to && i < n; i++) {
		size_t at = ask->descending ? n - 1 - i : i;

		if (!matches(ask, &things[at]))
			continue;
		if (ask->rows == (size_t)ask->limit) {
			ask->more = true;
			break;
		}
		give(ask, &things[at]);
	}
}

static void count(struct list_ask *ask, struct work_room *room)
{
	(void)room;
	ask->count = 0;
	for (size_t i = 0; i < things_n; i++)
		ask->count += matches(ask, &things[i]);
}

static const struct list_column columns[] = {
	{.name = "id", .title = "Id", .width = 8, .grow = 1, .order = 1},
	{.name = "size", .title = "Size", .width = 6, .right = true,
	 .order = -1},
	{.name = "age", .title = "Age", .width = 6, .from_cols = 40,
	 .order = 2, .slow = true},
	{.name = NULL}
};
static const struct list_ops ops = {.columns = columns, .load = load,
				    .empty = "Nothing at all.",
				    .count = count};

/* --- an app, and lanes that wait for the test -------------------------- */

struct app {
	char toast[200];
	int64_t now;
};
static struct app app;
static struct panel panel = {.app = &app};
static struct list list;
static struct job *jobs[16];
static int jobs_n;

struct work *app_work(struct app *a) { return (struct work *)a; }
int64_t app_now_ms(const struct app *a) { return a->now; }
bool app_ascii(const struct app *a) { (void)a; return true; }

int app_utc_offset_min(const struct app *a, int64_t at_ms)
{
	(void)a;
	(void)at_ms;
	return 60;
}

void panel_dirty(struct panel *p) { assert_ptr_equal(p, &panel); }

void app_toast(struct app *a, enum ui_role role, const char *fmt, ...)
{
	va_list ap;

	(void)role;
	va_start(ap, fmt);
	vsnprintf(a->toast, sizeof(a->toast), fmt, ap);
	va_end(ap);
}

static void forget(const void *owner, int topic, int lane)
{
	int n = 0;

	for (int i = 0; i < jobs_n; i++)
		if (jobs[i]->owner == owner &&
		    (topic < 0 || jobs[i]->topic == topic) &&
		    (lane < 0 || (int)jobs[i]->lane == lane))
			jobs[i]->drop(jobs[i]);
		else
			jobs[n++] = jobs[i];
	jobs_n = n;
}

void work_ask(struct work *w, struct job *job)
{
	(void)w;
	forget(job->owner, job->topic, (int)job->lane);
	assert_true(jobs_n < (int)ARRAY_SIZE(jobs));
	jobs[jobs_n++] = job;
}

void work_cancel(struct work *w, const void *owner)
{
	(void)w;
	forget(owner, -1, -1);
}

bool work_busy(const struct work *w, const void *owner, int topic)
{
	(void)w;
	for (int i = 0; i < jobs_n; i++)
		if (jobs[i]->owner == owner && jobs[i]->topic == topic)
			return true;
	return false;
}

static void answer_one(void)
{
	struct work_room room = {.view = (struct view *)&app};
	struct job *job = jobs[0];

	assert_true(jobs_n > 0);
	jobs_n--;
	memmove(jobs, jobs + 1, (size_t)jobs_n * sizeof(*jobs));
	job->run(job, &room);
	job->done(job, (void *)job->owner);
	job->drop(job);
}

static void answer(void)
{
	for (int i = 0; jobs_n; i++) {
		assert_true(i < 50);	/* it comes to rest */
		answer_one();
	}
}

#endif
