/* The two drawings of the inspector: who did what when between us and the
 * vendor, and how long each part of an attempt took. */
#include "ui/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "ui/amount.h"
#include "ui/tries.h"

/* What happened, in the order of time. */
enum moment_kind { MOMENT_BEGIN, MOMENT_END, MOMENT_ACT, MOMENT_NOTE,
		   MOMENT_FLIGHT };

struct moment {
	int64_t at_ms;
	enum moment_kind kind;
	size_t index;
};

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static struct moment *moments(const struct inspect *in, size_t *n)
{
	struct moment *m = xcalloc(2 * in->attempts + in->acts + in->notes + 1,
				   sizeof(*m));
	size_t k = 0;

	for (size_t i = 0; i < in->attempts; i++) {
		m[k++] = (struct moment){ in->attempt[i].started_ms,
					  MOMENT_BEGIN, i };
		m[k++] = (struct moment){ in->attempt[i].finished_ms,
					  MOMENT_END, i };
	}
	/* A note stands for itself. */
	for (size_t i = 0; i < in->acts; i++)
		if (strcmp(in->act[i].verb, act_verb_name(ACT_ANNOTATE)) != 0)
			m[k++] = (struct moment){ in->act[i].at_ms,
						  MOMENT_ACT, i };
	for (size_t i = 0; i < in->notes; i++)
		m[k++] = (struct moment){ in->note[i].at_ms, MOMENT_NOTE, i };
	if (in->in_flight)
		m[k++] = (struct moment){ in->flight.started_ms,
					  MOMENT_FLIGHT, 0 };
	qsort(m, k, sizeof(*m), by_time);
	*n = k;
	return m;
}

/* Where the two sides stand. */
struct sides {
	int client, arrow, vendor;
};

static struct sides sides_of(int width, bool days)
{
	struct sides s = { .client = days ? 20 : 14 };

	s.arrow = s.client + (days ? 18 : 22);
	s.vendor = width >= 76 ? s.arrow + 8 : s.arrow + 5;
	return s;
}

/* Does any time need its day beside it? */
static bool on_days(struct inspect_view *v, const struct moment *m, size_t n)
{
	bool days = false;

	for (size_t i = 0; i <= n && !days; i++) {
		struct buf text = { 0 };

		inspect_clock(v, i < n ? m[i].at_ms :
			      v->in->row.op.created_at_ms, &text);
		days = text.len > 12;
		buf_release(&text);
	}
	return days;
}

/* A line between the sides: to the vendor or back, whole or broken. */
static void arrow(struct inspect_view *v, const struct sides *s, bool back,
		  bool broken, struct style style)
{
	bool ascii = v->doc->ascii;
	const char *piece = ascii ? "-" : broken ? "\u254c" : "\u2500";
	struct buf text = { 0 };
	int n = s->vendor - s->arrow - 2;

	if (back)
		buf_adds(&text, ascii ? "<" : "\u25c0");
	for (int i = 0; i < n; i++)
		buf_adds(&text, broken && ascii && i % 2 ? " " : piece);
	if (!back)
		buf_adds(&text, ascii ? ">" : "\u25b6");
	doc_text(v->doc, s->arrow, 0, style, buf_text(&text));
	buf_release(&text);
}

static void at_time(struct inspect_view *v, int64_t ms)
{
	struct buf text = { 0 };

	doc_line(v->doc);
	inspect_clock(v, ms, &text);
	doc_put(v->doc, 0, STYLE(DIM), "%s", buf_text(&text));
	buf_release(&text);
}

/* Did anything of the request reach the other side? */
static bool reached(const struct attempt *a)
{
	return a->transport != TRANSPORT_REFUSED &&
	       a->transport != TRANSPORT_DNS &&
	       a->transport != TRANSPORT_TLS &&
	       a->transport != TRANSPORT_CERTIFICATE;
}

/* A send that nobody can rule out: the window in which it may have been
 * written. */
static bool ambiguous(const struct attempt *a)
{
	return a->kind == ATTEMPT_SEND && a->verdict == VERDICT_UNKNOWN;
}

static void begins(struct inspect_view *v, const struct sides *s,
		   const struct attempt *a)
{
	at_time(v, a->started_ms);
	doc_put(v->doc, s->client, STYLE_BOLD(TEXT), "#%d %s", a->n,
		kind_words(a->kind));
	arrow(v, s, false, !reached(a), STYLE(TEXT));
	if (!reached(a))
		doc_put(v->doc, s->vendor, STYLE(DIM), "never got there");
	if (ambiguous(a)) {
		doc_line(v->doc);
		doc_put(v->doc, s->vendor, STYLE(UNKNOWN),
			"%s may have been written",
			v->doc->ascii ? ":" : "\u250a");
	}
}

static void ends(struct inspect_view *v, const struct sides *s,
		 const struct attempt *a)
{
	const struct verdict_look *look = verdict_look(a->verdict);
	struct style style = { .role = (uint8_t)look->role };
	struct buf answer = { 0 }, right = { 0 };

	if (a->status)
		buf_addf(&answer, "%d ", a->status);
	else
		buf_addf(&answer, "%s ", transport_name(a->transport));
	if (a->layer != LAYER_NONE && a->layer != LAYER_APPLICATION)
		buf_addf(&answer, "%s ", layer_name(a->layer));
	at_time(v, a->finished_ms);
	doc_text(v->doc, s->client + 2, s->arrow - s->client - 3, style,
		 buf_text(&answer));
	if (a->status)
		arrow(v, s, true, a->layer == LAYER_GATEWAY, style);
	if (ambiguous(a)) {
		buf_addf(&right, "%s ", v->doc->ascii ? ":" : "\u250a");
		amount_took(a->finished_ms - a->started_ms, &right);
		buf_addf(&right, " window, %s", verdict_name(a->verdict));
	} else {
		buf_addf(&right, "%s", verdict_name(a->verdict));
	}
	if (*a->why)
		buf_addf(&right, ": %s", a->why);
	doc_text(v->doc, s->vendor, 0, style, buf_text(&right));
	buf_release(&answer);
	buf_release(&right);
	if (a->backoff_ms > 0) {
		struct buf wait = { 0 };

		amount_took(a->backoff_ms, &wait);
		doc_line(v->doc);
		doc_put(v->doc, s->client + 2, STYLE(DIM), "waits %s",
			buf_text(&wait));
		buf_release(&wait);
	}
}

static void acted(struct inspect_view *v, const struct sides *s,
		  const struct inspect_act *a)
{
	struct buf text = { 0 };

	at_time(v, a->at_ms);
	buf_addf(&text, "%s by %s%s%s", a->verb,
		 a->name && *a->name ? a->name : a->actor,
		 a->reason && *a->reason ? ": " : "",
		 a->reason ? a->reason : "");
	doc_text(v->doc, s->client, 0, STYLE(INFO), buf_text(&text));
	buf_release(&text);
}

static void noted(struct inspect_view *v, const struct sides *s,
		  const struct inspect_note *n)
{
	struct buf text = { 0 };

	at_time(v, n->at_ms);
	buf_addf(&text, "note by %s: %s",
		 n->name && *n->name ? n->name : n->author, n->text);
	doc_text(v->doc, s->client, 0, STYLE(INFO), buf_text(&text));
	buf_release(&text);
}

static void on_the_wire(struct inspect_view *v, const struct sides *s,
			const struct flight *f)
{
	at_time(v, f->started_ms);
	doc_put(v->doc, s->client, STYLE_BOLD(WAIT), "#%d %s", f->n,
		kind_words(f->kind));
	arrow(v, s, false, false, STYLE(WAIT));
	doc_put(v->doc, s->vendor, STYLE(WAIT), "on the wire now");
}

void inspect_timeline(struct inspect_view *v)
{
	const struct inspect *in = v->in;
	size_t n;
	struct moment *m = moments(in, &n);
	struct sides s = sides_of(v->width, on_days(v, m, n));

	doc_line(v->doc);
	doc_put(v->doc, s.client, STYLE(TITLE), "client");
	doc_put(v->doc, s.vendor, STYLE(TITLE), "vendor");
	at_time(v, in->row.op.created_at_ms);
	doc_put(v->doc, s.client, STYLE(DIM), "submitted");
	for (size_t i = 0; i < n; i++) {
		size_t k = m[i].index;

		if (m[i].kind == MOMENT_BEGIN)
			begins(v, &s, &in->attempt[k]);
		else if (m[i].kind == MOMENT_END)
			ends(v, &s, &in->attempt[k]);
		else if (m[i].kind == MOMENT_ACT)
			acted(v, &s, &in->act[k]);
		else if (m[i].kind == MOMENT_NOTE)
			noted(v, &s, &in->note[k]);
		else
			on_the_wire(v, &s, &in->flight);
	}
	doc_line(v->doc);
	doc_put(v->doc, 0, STYLE(DIM), "now");
	doc_text(v->doc, s.client, 0, STYLE(DIM),
		 in->row.why && *in->row.why ? in->row.why :
		 op_state_words(in->row.op.state));
	free(m);
}

/* The phases of an attempt, a letter each; the longest attempt is as wide as
 * there is room. */
static const struct {
	char letter;
	const char *name;
	enum ui_role role;
} phases[] = {
	{ 'd', "dns", UI_DIM }, { 't', "tcp", UI_DIM },
	{ 'T', "tls", UI_INFO }, { 's', "send", UI_TEXT },
	{ 'w', "wait", UI_WAIT }, { 'r', "recv", UI_OK },
};

static int64_t took_us(const struct attempt *a)
{
	int64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		sum += a->phases_us[i];
	return sum;
}

static void bar(struct inspect_view *v, int col, int room,
		const struct attempt *a, int64_t longest)
{
	int64_t until = 0;
	int at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(phases) && longest > 0; i++) {
		struct buf text = { 0 };
		int end;

		until += a->phases_us[i];
		end = (int)((double)until / (double)longest * room);
		if (a->phases_us[i] > 0 && end == at && end < room)
			end++;		/* what took time is seen */
		for (int k = at; k < end; k++)
			buf_addc(&text, phases[i].letter);
		if (text.len)
			doc_text(v->doc, col + at, 0, (struct style){
				.role = (uint8_t)phases[i].role,
			}, buf_text(&text));
		at = end > at ? end : at;
		buf_release(&text);
	}
}

static void attempt_row(struct inspect_view *v, const struct attempt *a,
			int64_t longest)
{
	const struct verdict_look *look = verdict_look(a->verdict);
	struct style style = { .role = (uint8_t)look->role };
	struct buf text = { 0 }, took = { 0 };
	int room = v->width - 60;

	inspect_clock(v, a->started_ms, &text);
	amount_took(a->finished_ms - a->started_ms, &took);
	doc_line(v->doc);
	doc_put(v->doc, 0, STYLE_BOLD(TEXT), "#%-3d %-8s", a->n,
		kind_words(a->kind));
	doc_put(v->doc, 13, STYLE(DIM), "%s", buf_text(&text));
	doc_put(v->doc, 32, STYLE(TEXT), "%7s", buf_text(&took));
	doc_put(v->doc, 40, style, "%s", verdict_name(a->verdict));
	if (a->status)
		doc_put(v->doc, 53, style, "%d", a->status);
	else
		doc_text(v->doc, 53, 6, style, transport_name(a->transport));
	bar(v, 60, room > 8 ? room : 8, a, longest);
	doc_line(v->doc);
	buf_clear(&text);
	buf_addf(&text, "%s  request %s%s%s", a->rule, a->request_id,
		 *a->vendor_id ? "  vendor " : "", a->vendor_id);
	doc_text(v->doc, 5, 0, STYLE(DIM), buf_text(&text));
	buf_release(&text);
	buf_release(&took);
}

void inspect_waterfall(struct inspect_view *v)
{
	const struct inspect *in = v->in;
	int64_t longest = 0;

	for (size_t i = 0; i < in->attempts; i++)
		if (took_us(&in->attempt[i]) > longest)
			longest = took_us(&in->attempt[i]);
	doc_line(v->doc);
	doc_put(v->doc, 0, STYLE(TITLE), "#    what     started");
	doc_put(v->doc, 35, STYLE(TITLE), "took verdict      answer");
	if (in->in_flight) {
		doc_line(v->doc);
		doc_put(v->doc, 0, STYLE_BOLD(WAIT),
			"#%-3d %-8s is on the wire now", in->flight.n,
			kind_words(in->flight.kind));
	}
	for (size_t i = in->attempts; i-- > 0; )
		attempt_row(v, &in->attempt[i], longest);
	if (!in->attempts && !in->in_flight) {
		doc_line(v->doc);
		doc_put(v->doc, 2, STYLE(DIM), "No attempt yet.");
	}
	doc_line(v->doc);
	doc_line(v->doc);
	doc_put(v->doc, 0, STYLE(DIM), "d dns  t tcp  T tls  s send  w wait  "
		"r recv   correlation %s", in->row.op.correlation_id);
}
