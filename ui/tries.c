#include "ui/tries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/amount.h"

static const struct verdict_look looks[VERDICT_COUNT] = {
	[VERDICT_COMMIT] = {OP_COMMITTED, 0, UI_OK, "at vendor"},
	[VERDICT_POLL] = {OP_POLLING, 0, UI_WAIT, "accepted"},
	[VERDICT_REFRESH] = {OP_WAITING, 0, UI_WAIT, "log-in"},
	[VERDICT_PACE] = {OP_WAITING, 0, UI_WAIT, "slow down"},
	[VERDICT_RETRY] = {OP_WAITING, 0, UI_WAIT, "try again"},
	[VERDICT_UNKNOWN] = {OP_DEAD, OP_OUTCOME_UNKNOWN, UI_UNKNOWN,
			     "unknown"},
	[VERDICT_REJECT] = {OP_REJECTED, 0, UI_BAD, "refused"},
	[VERDICT_HALT] = {OP_DEAD, 0, UI_BAD, "halt"},
	[VERDICT_FOUND] = {OP_COMMITTED, 0, UI_OK, "found"},
	[VERDICT_RUNNING] = {OP_POLLING, 0, UI_WAIT, "running"},
	[VERDICT_DIFFERS] = {OP_DEAD, 0, UI_BAD, "differs"},
	[VERDICT_SEVERAL] = {OP_DEAD, 0, UI_BAD, "several"},
	[VERDICT_ABSENT] = {OP_DISCARDED, 0, UI_INFO, "absent"},
	[VERDICT_INCONCLUSIVE] = {OP_DEAD, OP_OUTCOME_UNKNOWN, UI_UNKNOWN,
				  "no word"},
	[VERDICT_MORE_PAGES] = {OP_CHECKING, 0, UI_WAIT, "next page"},
	[VERDICT_STILL] = {OP_POLLING, 0, UI_WAIT, "running"},
	[VERDICT_VANISHED] = {OP_DEAD, OP_OUTCOME_UNKNOWN, UI_UNKNOWN,
			      "job gone"},
	[VERDICT_PARTIAL] = {OP_REJECTED, 0, UI_BAD, "in part"},
	[VERDICT_LOOK] = {OP_CHECKING, 0, UI_WAIT, "exists?"},
};

const struct verdict_look *verdict_look(enum verdict verdict)
{
	assert(verdict < VERDICT_COUNT);
	return &looks[verdict];
}

const char *kind_words(enum attempt_kind kind)
{
	static const char *const words[ATTEMPT_KIND_COUNT] = {
		[ATTEMPT_SEND] = "send", [ATTEMPT_POLL] = "poll",
		[ATTEMPT_LOOK_UP] = "look-up", [ATTEMPT_PROBE] = "probe",
		[ATTEMPT_CREDENTIAL] = "log-in",
	};

	assert(kind < ATTEMPT_KIND_COUNT);
	return words[kind];
}

void try_words(const struct try_row *t, struct buf *out)
{
	int64_t took = t->finished_ms - t->started_ms;

	if (t->kind != ATTEMPT_SEND)
		buf_addf(out, "%s: ", kind_words(t->kind));
	if (t->status && t->verdict != VERDICT_COMMIT)
		buf_addf(out, "%d ", t->status);
	if (t->verdict == VERDICT_COMMIT)
		buf_adds(out, "at vendor");
	else
		buf_adds(out, *t->why ? t->why : looks[t->verdict].words);
	if (t->verdict == VERDICT_COMMIT && t->n > 1)
		buf_addf(out, ", attempt %d", t->n);
	if (took >= 1000) {
		buf_adds(out, ", after ");
		amount_took(took, out);
	}
}

struct gather {
	struct tries *out;
	const struct filter *filter;
	int64_t now_ms;
	size_t limit;
	int64_t newest;			/* seen; 0 none */
	int seen;
};

/* The fields an attempt has; the rest of the language finds nothing here. */
static bool matches(const struct gather *g, const struct view_subject *s,
		    const struct attempt *a)
{
	struct filter_row row = {{0}, .attempts = a ? a->n : 0};
	char status[12];

	if (!g->filter)
		return true;
	row.text[FILTER_ENDPOINT] = s->endpoint;
	row.text[FILTER_STUDY] = s->study;
	row.text[FILTER_SITE] = s->site;
	row.text[FILTER_SUBJECT] = s->subject;
	row.text[FILTER_EVENT] = s->event;
	row.text[FILTER_FORM] = s->form;
	row.text[FILTER_OP] = s->op_id;
	if (a) {
		snprintf(status, sizeof(status), "%d", a->status);
		row.text[FILTER_STATUS] = a->status ? status : "";
		row.text[FILTER_ERROR] = a->why;
		row.updated_at_ms = a->finished_ms;
		row.state_since_ms = a->finished_ms;
	}
	return filter_match(g->filter, &row, g->now_ms);
}

static struct try_row *add(struct gather *g, const struct view_subject *s)
{
	struct tries *t = g->out;
	struct buf what = BUF_INIT;
	struct try_row *row;

	t->v = xrealloc(t->v, (t->n + 1) * sizeof(*t->v));
	row = &t->v[t->n++];
	memset(row, 0, sizeof(*row));
	row->endpoint = xstrdup(s->endpoint ? s->endpoint : "");
	text_set(row->op_id, sizeof(row->op_id), span_of(s->op_id));
	text_set(row->method, sizeof(row->method), span_of(s->method));
	buf_adds(&what, s->subject ? s->subject : "");
	if (s->form && *s->form)
		buf_addf(&what, " %s", s->form);
	if (s->event && *s->event)
		buf_addf(&what, " %s", s->event);
	row->what = xstrdup(buf_text(&what));
	buf_release(&what);
	return row;
}

static int take_recent(void *ctx, const struct view_attempt *a)
{
	struct gather *g = ctx;
	const struct attempt *t = a->attempt;
	struct try_row *row;

	if (!g->seen++)
		g->newest = a->id;
	if (!matches(g, &a->about, t))
		return 0;
	row = add(g, &a->about);
	row->id = a->id;
	row->n = t->n;
	row->kind = t->kind;
	row->started_ms = t->started_ms;
	row->finished_ms = t->finished_ms;
	row->layer = t->layer;
	row->verdict = t->verdict;
	row->status = t->status;
	text_set(row->rule, sizeof(row->rule), span_of(t->rule));
	text_set(row->why, sizeof(row->why), span_of(t->why));
	return g->out->n >= g->limit;
}

int tries_recent(struct view *view, const struct filter *filter, int limit,
		 int scan, int64_t now_ms, int64_t *newest, bool *whole,
		 struct tries *out)
{
	struct gather g = {
		.out = out, .filter = filter, .now_ms = now_ms,
		.limit = (size_t)limit,
	};
	int rows = filter ? scan : limit, rc;

	assert(limit > 0 && scan >= limit && newest && whole);
	rc = view_recent(view, *newest, rows, take_recent, &g);
	if (g.seen)
		*newest = g.newest;
	*whole = g.seen < rows && out->n < (size_t)limit;
	return rc;
}

void tries_add(struct tries *into, struct tries *newer, size_t limit)
{
	struct tries all = {0};

	all.v = xcalloc(into->n + newer->n + 1, sizeof(*all.v));
	for (size_t i = 0; i < newer->n; i++)
		all.v[all.n++] = newer->v[i];
	for (size_t i = 0; i < into->n; i++)
		all.v[all.n++] = into->v[i];
	free(newer->v);
	free(into->v);
	memset(newer, 0, sizeof(*newer));
	*into = all;
	while (into->n > limit) {
		into->n--;
		free(into->v[into->n].endpoint);
		free(into->v[into->n].what);
	}
}

static int take_live(void *ctx, const struct view_live *l)
{
	struct gather *g = ctx;
	struct try_row *row;

	if (!matches(g, &l->about, NULL))
		return 0;
	row = add(g, &l->about);
	row->slot = l->slot;
	row->n = l->n;
	row->kind = l->kind;
	row->started_ms = l->since_ms;
	row->timeout_ms = l->timeout_ms;
	text_set(row->phase, sizeof(row->phase), span_of(l->phase));
	return 0;
}

int tries_live(struct view *view, const struct config *config,
	       const struct filter *filter, int64_t now_ms,
	       struct tries *out)
{
	struct gather g = {.out = out, .filter = filter, .now_ms = now_ms};

	return view_live(view, config, take_live, &g);
}

void tries_release(struct tries *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].endpoint);
		free(t->v[i].what);
	}
	free(t->v);
	memset(t, 0, sizeof(*t));
}
