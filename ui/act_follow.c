#include "ui/act_follow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TOPIC_FOLLOW = 2, GIVE_UP_MS = 600000, OPS_MS = 10000,
       LOOK_EVERY_MS = 300 };

struct asked {
	int64_t request;		/* 0: name is an operation's id */
	char name[LIMIT_OP_ID_BYTES + 1];
};

struct follow {
	struct follow *next;
	enum act_verb verb;
	char *words;			/* owned */
	struct asked *asked;		/* not answered yet; owned */
	size_t n;
	bool ops;			/* operations, not requests */
	int64_t since_ms;
	struct tally tally;		/* of the answers */
};

struct follow *follow_new(enum act_verb verb, const char *words)
{
	struct follow *f = xcalloc(1, sizeof(*f));

	f->verb = verb;
	f->words = xstrdup(words ? words : "");
	return f;
}

void follow_drop(struct follow *f)
{
	if (!f)
		return;
	tally_release(&f->tally);
	free(f->words);
	free(f->asked);
	free(f);
}

void follow_free(struct session *s)
{
	while (s->follow) {
		struct follow *f = s->follow;

		s->follow = f->next;
		follow_drop(f);
	}
}

bool follow_add(struct follow *f, int64_t request, const char *name)
{
	if (f->n == FOLLOW_MAX)
		return false;
	f->asked = xrealloc(f->asked, (f->n + 1) * sizeof(*f->asked));
	f->asked[f->n].request = request;
	text_set(f->asked[f->n].name, sizeof(f->asked[f->n].name),
		 span_of(name));
	f->n++;
	return true;
}

bool follow_add_op(struct follow *f, const char *op_id)
{
	f->ops = true;
	return f->n < FOLLOW_OPS_MAX && follow_add(f, 0, op_id);
}

void follow_begin(struct session *s, struct follow *f)
{
	struct follow **last = &s->follow;

	if (!f->n) {
		follow_drop(f);
		return;
	}
	f->since_ms = app_now_ms(s->app);
	while (*last)
		last = &(*last)->next;
	*last = f;
	s->follow_ms = 0;
	follow_tick(s);
}

/* The question: some request rows, some operations. */
struct look {
	struct job job;
	int64_t request[FOLLOW_MAX];
	struct request_row row[FOLLOW_MAX];
	size_t n, answers;
	struct act_item op[FOLLOW_OPS_MAX];	/* words: empty, no answer */
	size_t ops;
};

/* What became of a replayed one, if anything yet. */
static void op_answer(const struct op *op, struct act_item *item)
{
	struct span code = fingerprint_code(op->error);
	struct buf words = BUF_INIT;

	item->result = op->state == OP_COMMITTED ? ACT_DONE : ACT_REFUSED;
	if (op->state == OP_COMMITTED)
		buf_adds(&words, "at the vendor");
	else if (op->state == OP_REJECTED)
		buf_addf(&words, "refused again%s%.*s", code.n ? ": " : "",
			 (int)code.n, code.n ? code.p : "");
	else if (op->state == OP_DEAD)
		buf_addf(&words, "given up again: %s",
			 op_reason_words(op->reason));
	text_set(item->words, sizeof(item->words), buf_span(&words));
	buf_release(&words);
}

static void look_at_ops(struct look *l, struct work_room *room)
{
	struct view_page page = {.now_ms = room->now_ms};
	struct view_op row;

	for (size_t i = 0; i < l->ops; i++) {
		if (view_op(room->view, l->op[i].op_id, &page, &row) != ST_OK)
			continue;
		op_answer(&row.op, &l->op[i]);
		view_op_release(&row);
	}
}

static void look_run(struct job *job, struct work_room *room)
{
	struct look *l = (struct look *)job;

	if (room->view)
		look_at_ops(l, room);
	for (size_t i = 0; room->view && i < l->n; i++) {
		struct request_row row;

		if (view_request(room->view, l->request[i], &row) != ST_OK)
			continue;
		if (!strcmp(row.state, "done") || !strcmp(row.state, "failed"))
			l->row[l->answers++] = row;
	}
}

static void answer(struct follow *f, const struct request_row *row)
{
	struct act_item item = {.result = strcmp(row->state, "done") ?
		ACT_REFUSED : ACT_DONE};
	struct tally_group *g;

	for (size_t i = 0; i < f->n; i++) {
		if (f->asked[i].request != row->id)
			continue;
		text_set(item.op_id, sizeof(item.op_id),
			 span_of(f->asked[i].name));
		text_set(item.words, sizeof(item.words),
			 span_of(row->result));
		g = tally_add(&f->tally, &item);
		tally_name(g, &item, NULL);
		f->asked[i] = f->asked[--f->n];
		return;
	}
}

static void answer_op(struct follow *f, const struct act_item *item)
{
	for (size_t i = 0; f->ops && *item->words && i < f->n; i++) {
		if (strcmp(f->asked[i].name, item->op_id) != 0)
			continue;
		tally_name(tally_add(&f->tally, item), item, NULL);
		f->asked[i] = f->asked[--f->n];
		return;
	}
}

static void tell_one(struct app *app, const struct follow *f)
{
	app_toast(app, f->tally.good ? UI_OK : UI_BAD, "%s of %s: %s",
		  act_verb_name(f->verb), f->words, f->tally.v[0].first);
}

static void tell(struct app *app, const struct follow *f)
{
	const struct tally *t = &f->tally;
	struct buf text = BUF_INIT;

	if (t->all == 1) {
		tell_one(app, f);
		return;
	}
	for (size_t i = 0; i < t->n && i < 3; i++)
		buf_addf(&text, "%s%" PRId64 " %s", i ? ", " : "", t->v[i].n,
			 t->v[i].words);
	app_toast(app, t->good == t->all ? UI_OK : UI_BAD,
		  "%s, %" PRId64 " answers: %s%s", act_verb_name(f->verb),
		  t->all, buf_text(&text), t->n > 3 ? ", others" : "");
	buf_release(&text);
}

/* Those that are over are told and forgotten. */
static void sweep(struct session *s)
{
	struct follow **at = &s->follow;
	int64_t now = app_now_ms(s->app);

	while (*at) {
		struct follow *f = *at;
		bool late = now - f->since_ms > (f->ops ? OPS_MS : GIVE_UP_MS);

		if (f->n && !late) {
			at = &f->next;
			continue;
		}
		/* Of replayed ones only that they came back. */
		if (f->tally.all && (!f->ops || f->tally.good < f->tally.all))
			tell(s->app, f);
		if (f->n && !f->ops)
			app_toast(s->app, UI_BAD, "%s: %zu not answered in ten "
				  "minutes; the request stays",
				  act_verb_name(f->verb), f->n);
		*at = f->next;
		follow_drop(f);
	}
}

static void look_done(struct job *job, void *owner)
{
	const struct look *l = (const struct look *)job;
	struct session *s = owner;

	for (size_t i = 0; i < l->answers; i++)
		for (struct follow *f = s->follow; f; f = f->next)
			answer(f, &l->row[i]);
	for (size_t i = 0; i < l->ops; i++)
		for (struct follow *f = s->follow; f; f = f->next)
			answer_op(f, &l->op[i]);
	if (l->answers)
		app_ask_soon(s->app);
	sweep(s);
}

static void look_drop(struct job *job)
{
	free(job);
}

void follow_tick(struct session *s)
{
	int64_t now = app_now_ms(s->app);
	struct look *l;

	if (!s->follow || work_busy(app_work(s->app), s, TOPIC_FOLLOW) ||
	    (s->follow_ms && now >= s->follow_ms &&
	     now - s->follow_ms < LOOK_EVERY_MS))
		return;
	s->follow_ms = now;
	l = xcalloc(1, sizeof(*l));
	l->job = (struct job){.owner = s, .topic = TOPIC_FOLLOW,
		.lane = LANE_READ, .run = look_run, .done = look_done,
		.drop = look_drop};
	for (struct follow *f = s->follow; f; f = f->next)
		for (size_t i = 0; i < f->n && f->ops &&
		     l->ops < FOLLOW_OPS_MAX; i++)
			text_set(l->op[l->ops++].op_id,
				 sizeof(l->op[0].op_id),
				 span_of(f->asked[i].name));
	for (struct follow *f = s->follow; f; f = f->next)
		for (size_t i = 0; i < f->n && !f->ops && l->n < FOLLOW_MAX;
		     i++)
			l->request[l->n++] = f->asked[i].request;
	work_ask(app_work(s->app), &l->job);
}
