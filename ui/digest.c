/*
 * digest.c - floor S: `:digest`, what happened since a time: what each
 * endpoint answered and when it did not, and what came to rest meanwhile.
 * For whoever comes in on Monday. Asked in the SLOW lane, shown as words.
 */
#include "ui/app_priv.h"

#include "core/timefmt.h"
#include "core/words.h"
#include "ui/amount.h"

#include <stdlib.h>
#include <string.h>

enum { TOPIC_DIGEST = 17, OUTAGES_SHOWN = 6, COUNT_CAP = 100000,
       MINUTE_MS = 60000, OUTAGE_MINUTES_MIN = 2, QUIET_MINUTES = 5 };
#define DEFAULT_MS INT64_C(86400000)

/* Minutes in which an endpoint failed and gave no good answer. */
struct outage {
	int64_t from, to;		/* minutes; both belong to it */
	int64_t failed;
};

struct endpoint_part {
	char *name;			/* owned */
	int64_t id;
	int64_t done, failed, retried;
	struct outage now;		/* being read; failed 0: none */
	struct outage shown[OUTAGES_SHOWN];
	int outages;
};

struct digest {
	struct job job;
	const struct ui_world *world;
	int64_t since_ms, now_ms;
	int offset_min;
	struct endpoint_part *part;	/* owned */
	size_t parts;
	struct buf text;
};

static void outage_end(struct endpoint_part *e)
{
	if (e->now.failed &&
	    e->now.to - e->now.from + 1 >= OUTAGE_MINUTES_MIN) {
		if (e->outages < OUTAGES_SHOWN)
			e->shown[e->outages] = e->now;
		e->outages++;
	}
	e->now = (struct outage){.failed = 0};
}

static int minute_add(void *ctx, const struct gauge_row *g)
{
	struct endpoint_part *e = ctx;

	e->done += g->done;
	e->failed += g->failed;
	e->retried += g->retried;
	/* Probes of an open circuit are minutes apart. */
	if (g->done || g->minute > e->now.to + QUIET_MINUTES)
		outage_end(e);
	if (g->done || !g->failed)
		return 0;
	if (!e->now.failed)
		e->now.from = g->minute;
	e->now.to = g->minute;
	e->now.failed += g->failed;
	return 0;
}

static int endpoint_add(void *ctx, const struct view_endpoint *v)
{
	struct digest *d = ctx;
	struct endpoint_part *e;

	d->part = xrealloc(d->part, (d->parts + 1) * sizeof(*d->part));
	e = &d->part[d->parts++];
	*e = (struct endpoint_part){.name = xstrdup(v->name),
				    .id = v->state.endpoint};
	return 0;
}

static void clock_add(struct digest *d, int64_t ms)
{
	words_clock(ms, d->now_ms, d->offset_min, &d->text);
}

static void endpoint_words(struct digest *d, const struct endpoint_part *e)
{
	struct buf *out = &d->text;

	utf8_escape(out, span_of(e->name), false);
	if (!e->done && !e->failed) {
		buf_adds(out, ": no answers\n");
		return;
	}
	buf_adds(out, ": ");
	amount_count(e->done, out);
	buf_adds(out, " good answers, ");
	amount_count(e->failed, out);
	buf_adds(out, " failures, ");
	amount_count(e->retried, out);
	buf_adds(out, " tries again\n");
	for (int i = 0; i < e->outages && i < OUTAGES_SHOWN; i++) {
		const struct outage *o = &e->shown[i];
		char took[TIME_TEXT];

		duration_text((o->to - o->from + 1) * MINUTE_MS, took);
		buf_adds(out, "  no good answer from ");
		clock_add(d, o->from * MINUTE_MS);
		buf_adds(out, " to ");
		clock_add(d, (o->to + 1) * MINUTE_MS);
		buf_addf(out, " (%s), %lld failures\n", took,
			 (long long)o->failed);
	}
	if (e->outages > OUTAGES_SHOWN)
		buf_addf(out, "  and %d times more\n",
			 e->outages - OUTAGES_SHOWN);
}

static int count_words(struct digest *d, struct view *view,
		       const char *filter, const char *words)
{
	struct buf text = BUF_INIT;
	struct filter_error error;
	struct view_page page = {.now_ms = d->now_ms};
	struct filter *f;
	char since[TIME_TEXT];
	int64_t n = 0;
	bool more = false;
	int rc;

	time_utc(d->since_ms, since);
	buf_addf(&text, "%s since:%s", filter, since);
	f = filter_parse(buf_span(&text), d->now_ms, 0, &error);
	assert(f);
	page.filter = f;
	rc = view_count(view, &page, COUNT_CAP, &n, &more);
	if (rc == ST_OK && n) {
		buf_adds(&d->text, "  ");
		amount_count(n, &d->text);
		buf_addf(&d->text, "%s %s\n", more ? " or more" : "", words);
	}
	filter_free(f);
	buf_release(&text);
	return rc;
}

static int rest_words(struct digest *d, struct view *view)
{
	static const struct {
		const char *filter, *words;
	} rows[] = {
		{"state:committed", "reached the vendor"},
		{"state:rejected", "refused by the vendor"},
		{"state:dead flag:outcome_unknown",
		 "given up, may be there"},
		{"state:dead -flag:outcome_unknown", "given up"},
		{"state:unwatched", "no longer watched"},
		{"state:discarded", "discarded"},
	};
	int rc = ST_OK;

	buf_adds(&d->text, "\nCame to rest since then, and are so now:\n");
	for (size_t i = 0; rc == ST_OK && i < ARRAY_SIZE(rows); i++)
		rc = count_words(d, view, rows[i].filter, rows[i].words);
	return rc;
}

static void digest_run(struct job *job, struct work_room *room)
{
	struct digest *d = (struct digest *)job;
	int rc;

	if (!room->view) {
		buf_adds(&d->text, room->error);
		return;
	}
	buf_adds(&d->text, "Since ");
	clock_add(d, d->since_ms);
	buf_adds(&d->text, "\n\n");
	rc = view_endpoints(room->view, d->now_ms, endpoint_add, d);
	for (size_t i = 0; rc == ST_OK && i < d->parts; i++) {
		struct endpoint_part *e = &d->part[i];

		rc = view_gauge(room->view, e->id, d->since_ms / MINUTE_MS,
				minute_add, e);
		outage_end(e);
		endpoint_words(d, e);
	}
	if (rc == ST_OK)
		rc = rest_words(d, room->view);
	if (rc < 0)
		buf_addf(&d->text, "\nThe store could not be read: %s\n",
			 view_error(room->view));
}

static void digest_done(struct job *job, void *owner)
{
	struct digest *d = (struct digest *)job;

	struct app *app = owner;

	/* Nothing goes on top of a lock. */
	if (session_locked(app->session))
		return;
	pager_open(app, "Digest", buf_text(&d->text));
}

static void digest_drop(struct job *job)
{
	struct digest *d = (struct digest *)job;

	for (size_t i = 0; i < d->parts; i++)
		free(d->part[i].name);
	free(d->part);
	buf_release(&d->text);
	free(d);
}

/* "": a day; a duration back from now; a time. */
static bool since_parse(const struct app *app, const char *text, int64_t now,
			int64_t *since)
{
	int64_t back = DEFAULT_MS;

	if (!*text || duration_parse(span_of(text), &back)) {
		*since = now - back;
		return back > 0 && back < now;
	}
	return time_parse_person(span_of(text), now,
				 app_utc_offset_min(app, now), since) &&
	       *since < now;
}

bool digest_ask(struct app *app, const char *args, struct buf *error)
{
	int64_t now = app_now_ms(app), since;
	struct digest *d;

	if (!since_parse(app, args, now, &since)) {
		buf_adds(error, "say since when: 12h, 3d, 18:00 or "
			 "2026-11-27T18:00");
		return false;
	}
	d = xcalloc(1, sizeof(*d));
	d->job = (struct job){.owner = app, .topic = TOPIC_DIGEST,
		.lane = LANE_SLOW, .run = digest_run, .done = digest_done,
		.drop = digest_drop};
	d->world = app->world;
	d->now_ms = now;
	d->since_ms = since;
	d->offset_min = app_utc_offset_min(app, now);
	work_ask(app->work, &d->job);
	return true;
}
