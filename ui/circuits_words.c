/* circuits_words.c - see circuits.h. One function a line. */
#include "ui/circuits.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "ui/amount.h"

#define TROUBLE_LOOKS_BACK_MS (60 * 60 * 1000)

struct writer {
	const struct app *app;
	const struct grid *grid;
	const struct end *end;
	const struct endpoint_config *config;	/* NULL: none */
	size_t index;
	int64_t now_ms;
	int width;
	struct block *out;
	struct buf text;		/* of the line being written */
	bool trouble;			/* it stands, or fails */
};

static void push(struct writer *w, const char *label, enum ui_role role,
		 struct span text)
{
	struct block *b = w->out;

	b->v = xrealloc(b->v, (b->n + 1) * sizeof(*b->v));
	b->v[b->n++] = (struct block_line){
		.end = w->index, .label = label, .role = role,
		.text = xstrndup(text.p ? text.p : "", text.n),
	};
}

/* Ends the line: into as many rows as it needs, three at most. */
static void line(struct writer *w, const char *label, enum ui_role role)
{
	struct span rest = buf_span(&w->text);
	size_t most = w->width > 8 ? (size_t)w->width : 8;

	for (int rows = 0; rows < 3; rows++) {
		size_t n = rest.n, cut;

		if (n > most && rows < 2) {
			for (n = most; n > most / 2 && rest.p[n] != ' '; n--)
				;
			if (rest.p[n] != ' ')
				n = rest.n;
		}
		push(w, rows ? "" : label, role, (struct span){rest.p, n});
		cut = n < rest.n ? n + 1 : n;
		rest.p += cut;
		rest.n -= cut;
		if (!rest.n)
			break;
	}
	buf_clear(&w->text);
}

static void clock_at(struct writer *w, int64_t ms)
{
	words_clock(ms, w->now_ms, app_utc_offset_min(w->app, ms), &w->text);
}

static void since(struct writer *w, int64_t ms)
{
	buf_adds(&w->text, " since ");
	clock_at(w, ms);
	buf_adds(&w->text, " (");
	words_age(ms, w->now_ms, &w->text);
	buf_addc(&w->text, ')');
}

static void glyph(struct writer *w, enum ui_glyph g)
{
	buf_addf(&w->text, "%s ", glyph_text(w->grid, g));
}

static void head(struct writer *w)
{
	struct stop stop[STOPS_MAX];
	int n = end_stops(w->app, w->end, w->now_ms, stop);

	w->trouble = stop[0].stops || w->end->state.circuit.failures > 0;
	buf_adds(&w->text, w->end->name);
	if (*w->end->environment)
		buf_addf(&w->text, "  %s", w->end->environment);
	for (int i = 0; i < n; i++) {
		buf_adds(&w->text, "   ");
		glyph(w, stop[i].glyph);
		buf_adds(&w->text, stop[i].text);
	}
	push(w, "", stop[0].role, buf_span(&w->text));
	w->out->v[w->out->n - 1].head = true;
	buf_clear(&w->text);
}

static void halt(struct writer *w)
{
	const struct endpoint_state *s = &w->end->state;

	if (s->halt == HALT_NONE)
		return;
	glyph(w, GLYPH_STOPPED);
	buf_adds(&w->text, halt_reason_words(s->halt));
	since(w, s->halted_ms);
	if (*s->halt_why)
		buf_addf(&w->text, ": %s", s->halt_why);
	if (s->halt_until_ms) {
		buf_adds(&w->text, "; goes on by itself at ");
		clock_at(w, s->halt_until_ms);
		buf_adds(&w->text, ", in ");
		amount_left(s->halt_until_ms - w->now_ms, &w->text);
	} else {
		buf_adds(&w->text, "; a person resumes it (P)");
	}
	line(w, "Stopped", UI_BAD);
}

static void paused(struct writer *w)
{
	const struct end *e = w->end;

	if (!e->paused)
		return;
	glyph(w, GLYPH_STOPPED);
	buf_addf(&w->text, "by %s", e->paused_by);
	since(w, e->paused_ms);
	buf_adds(&w->text, e->paused_until_ms ? ", until " : ", open end");
	if (e->paused_until_ms) {
		clock_at(w, e->paused_until_ms);
		buf_adds(&w->text, " (in ");
		amount_left(e->paused_until_ms - w->now_ms, &w->text);
		buf_addc(&w->text, ')');
	}
	if (*e->paused_reason)
		buf_addf(&w->text, ": %s", e->paused_reason);
	line(w, "Paused", UI_WAIT);
}

static void circuit(struct writer *w)
{
	const struct circuit *c = &w->end->state.circuit;

	switch (c->state) {
	case CIRCUIT_OPEN:
	case CIRCUIT_PROBING:
		glyph(w, c->state == CIRCUIT_OPEN ? GLYPH_OPEN
						  : GLYPH_PROBING);
		buf_adds(&w->text, "open");
		since(w, c->opened_ms);
		if (app_status(w->app)->known && !app_status(w->app)->engine) {
			buf_adds(&w->text, ", no engine runs that probes it");
		} else if (c->state == CIRCUIT_OPEN) {
			buf_adds(&w->text, ", next probe in ");
			amount_left(c->probe_at_ms - w->now_ms, &w->text);
		} else {
			buf_adds(&w->text, ", a probe is under way");
		}
		buf_adds(&w->text, "; it waits ");
		amount_took(c->reset_ms, &w->text);
		buf_adds(&w->text, " between probes (b: now)");
		line(w, "Circuit", UI_BAD);
		return;
	case CIRCUIT_SLOW_START:
		if (end_at_rest(w->end)) {
			glyph(w, GLYPH_CLOSED);
			buf_adds(&w->text, "well, nothing to send");
			line(w, "Circuit", UI_OK);
			return;
		}
		glyph(w, GLYPH_PROBING);
		buf_addf(&w->text, "slow start: %d at once", c->slow_limit);
		if (w->config)
			buf_addf(&w->text, ", doubles while answers are good, "
				 "up to %d", w->config->max_in_flight);
		line(w, "Circuit", UI_WAIT);
		return;
	case CIRCUIT_CLOSED:
	case CIRCUIT_STATE_COUNT:
		break;
	}
	glyph(w, GLYPH_CLOSED);
	buf_adds(&w->text, "closed");
	if (c->failures > 0 && w->config)
		buf_addf(&w->text, ", %d failures in a row, opens at %d",
			 c->failures, w->config->circuit.fail_max);
	line(w, "Circuit", c->failures ? UI_WAIT : UI_OK);
}

static void part(struct writer *w, const char *word, int64_t n)
{
	if (!n)
		return;
	if (w->text.len)
		buf_adds(&w->text, ", ");
	amount_count(n, &w->text);
	buf_addf(&w->text, " %s", word);
}

static void waiting(struct writer *w)
{
	const struct end *e = w->end;
	int64_t at = end_gives_up_ms(e, w->config, app_status(w->app)->engine,
				     w->now_ms);

	part(w, "queued", e->count[OP_QUEUED]);
	part(w, "waiting", e->count[OP_WAITING]);
	part(w, "polling", e->count[OP_POLLING]);
	part(w, "in flight", e->in_flight);
	if (!w->text.len)
		buf_adds(&w->text, "nothing");
	if (e->oldest_ms) {
		buf_adds(&w->text, "; oldest ");
		words_age(e->oldest_ms, w->now_ms, &w->text);
	}
	if (at > 0) {
		buf_adds(&w->text, "; the first become dead letters at ");
		clock_at(w, at);
		buf_adds(&w->text, ", in ");
		amount_left(at - w->now_ms, &w->text);
	} else if (at < 0) {
		buf_adds(&w->text, "; time that it is stopped, or without an "
			 "engine, does not count towards dead letters");
	}
	line(w, "Waiting", at > 0 ? UI_WAIT : UI_TEXT);
}

static void pressure(struct writer *w)
{
	const struct gate *g = &w->end->state.gate;

	if (g->per_second > 0)
		buf_addf(&w->text, "%.1f a second", g->per_second);
	else
		buf_adds(&w->text, "no limit");
	if (w->config && w->config->rate.per_second > 0)
		buf_addf(&w->text, " of %.1f", w->config->rate.per_second);
	if (w->config)
		buf_addf(&w->text, ", %d in flight at most",
			 w->config->max_in_flight);
	buf_addf(&w->text, "; %.0f retries left in the budget",
		 g->budget > 0 ? g->budget : 0);
	if (g->paced_until_ms > w->now_ms) {
		buf_adds(&w->text, "; the vendor asked to wait until ");
		clock_at(w, g->paced_until_ms);
		buf_adds(&w->text, ", in ");
		amount_left(g->paced_until_ms - w->now_ms, &w->text);
	}
	line(w, "Pace", g->paced_until_ms > w->now_ms ? UI_WAIT : UI_TEXT);
}

static void answers(struct writer *w)
{
	const struct end *e = w->end;

	buf_adds(&w->text, "last good one ");
	if (e->state.last_ok_ms)
		words_when(e->state.last_ok_ms, w->now_ms,
			   app_utc_offset_min(w->app, e->state.last_ok_ms),
			   &w->text);
	else
		buf_adds(&w->text, "never");
	buf_adds(&w->text, "; last hour ");
	amount_count(e->done, &w->text);
	buf_adds(&w->text, " good, ");
	amount_count(e->failed, &w->text);
	buf_adds(&w->text, " failed");
	if (e->p50_ms) {
		buf_adds(&w->text, "; half within ");
		amount_took(e->p50_ms, &w->text);
		buf_adds(&w->text, ", 99% within ");
		amount_took(e->p99_ms, &w->text);
	}
	line(w, "Answers", UI_TEXT);
}

static void log_in(struct writer *w)
{
	const struct endpoint_state *s = &w->end->state;
	const struct cred_config *c = w->config ? &w->config->credential
						: NULL;

	if (!c)
		return;
	buf_adds(&w->text, cred_kind_name(c->kind));
	if (s->token_got_ms) {
		buf_adds(&w->text, ", got");
		since(w, s->token_got_ms);
	}
	if (s->token_renew_ms) {
		buf_adds(&w->text, ", renewed at ");
		clock_at(w, s->token_renew_ms);
	}
	if (c->secret_file)
		buf_addf(&w->text, ", from %s", c->secret_file);
	line(w, "Log-in", UI_TEXT);
}

static void failure(struct writer *w, int i)
{
	const struct end_fail *f = &w->end->fail[i];
	const char *layer = layer_name(f->layer);

	app_time(w->app, f->at_ms, &w->text);
	buf_addf(&w->text, " %s", *layer ? layer : "-");
	if (f->status)
		buf_addf(&w->text, " %d", f->status);
	buf_adds(&w->text, " after ");
	amount_took(f->took_ms, &w->text);
	buf_addf(&w->text, ": %s", *f->why ? f->why
					   : verdict_name(f->verdict));
	push(w, i ? "" : "Failures", f->verdict == VERDICT_UNKNOWN
	     ? UI_UNKNOWN : UI_BAD, buf_span(&w->text));
	buf_clear(&w->text);
}

/* The cause, where there is trouble; else the last one, of this hour. */
static void failures(struct writer *w)
{
	const struct end *e = w->end;
	int n = w->trouble ? e->fails : e->fails > 0;

	if (!w->trouble && n &&
	    w->now_ms - e->fail[0].at_ms > TROUBLE_LOOKS_BACK_MS)
		n = 0;
	for (int i = 0; i < n; i++)
		failure(w, i);
}

static void contact(struct writer *w)
{
	if (!w->config)
		return;
	if (w->config->contact && *w->config->contact) {
		buf_adds(&w->text, w->config->contact);
		line(w, "Call", w->trouble ? UI_INFO : UI_DIM);
	}
	if (w->config->runbook && *w->config->runbook) {
		buf_adds(&w->text, w->config->runbook);
		line(w, "Runbook", w->trouble ? UI_INFO : UI_DIM);
	}
}

void circuits_lines(const struct app *app, const struct grid *grid,
		    const struct ends *ends, int64_t now_ms, int width,
		    struct block *out)
{
	static void (*const lines[])(struct writer *) = {
		head, halt, paused, circuit, failures, waiting, pressure,
		answers, log_in, contact,
	};
	struct writer w = {
		.app = app, .grid = grid, .now_ms = now_ms, .width = width,
		.out = out, .text = BUF_INIT,
	};

	for (size_t i = 0; i < ends->n; i++) {
		w.end = &ends->v[i];
		w.config = end_config(app, w.end);
		w.index = i;
		for (size_t k = 0; k < ARRAY_SIZE(lines); k++)
			lines[k](&w);
		push(&w, "", UI_TEXT, SPAN(""));
	}
	buf_release(&w.text);
}

void block_release(struct block *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->v[i].text);
	free(b->v);
	memset(b, 0, sizeof(*b));
}
