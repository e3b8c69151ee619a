#include "ui/act_run_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE = 1000, SLICE_MS = 250 };

static int64_t steady(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct act_run *run_new(enum act_verb verb, struct target *target)
{
	struct act_run *run = xcalloc(1, sizeof(*run));

	run->verb = verb;
	run->target = *target;
	memset(target, 0, sizeof(*target));
	run->list = chosen_new();
	run->marks = CHOSEN_GO;
	for (size_t i = 0; i < run->target.n; i++)
		chosen_add(run->list, run->target.item[i].op_id,
			   run->target.item[i].version, CHOSEN_OUT);
	if (run->target.kind == TARGET_OPS)
		chosen_tidy(run->list);
	run->phase = run->target.kind == TARGET_FILTER ? RUN_COLLECT :
		     RUN_JUDGE;
	return run;
}

void run_said_clear(struct run_said *s)
{
	buf_wipe(&s->password);
	free(s->code);
	free(s->reason);
	free(s->evidence);
	free(s->until);
	free(s->meaning);
	free(s->command_line);
	memset(s, 0, sizeof(*s));
}

void run_free(struct act_run *run)
{
	if (!run)
		return;
	run_said_clear(&run->said);
	target_release(&run->target);
	ui_person_release(&run->who);
	chosen_free(run->list);
	chosen_free(run->discarded);
	filter_free(run->filter);
	tally_release(&run->judged);
	tally_release(&run->done);
	act_list_free(run->act_list);
	follow_drop(run->follow);
	buf_release(&run->sign_why);
	buf_release(&run->ends);
	buf_release(&run->stops);
	buf_release(&run->error);
	free(run);
}

bool run_on_endpoint(const struct act_run *run)
{
	return run->verb == ACT_PAUSE || run->verb == ACT_RESUME ||
	       run->verb == ACT_PROBE;
}

void run_act(const struct act_run *run, const struct config *config,
	     struct act *act)
{
	const struct run_said *said = &run->said;
	bool evidence = said->evidence && *said->evidence &&
			run->pass != CHOSEN_GO;

	*act = (struct act){.verb = run->verb, .actor = &run->who.actor,
		.roles = run->who.roles, .reason_code = said->code,
		.reason = said->reason, .config = config,
		.command_line = said->command_line};
	if (evidence && run->verb == ACT_REPLAY)
		act->verified_absent = said->evidence;
	else if (evidence)
		act->evidence = said->evidence;
	if (said->signs && run->signed_ms)
		act->signature = (struct signature){true, said->meaning,
						    run->signed_ms};
}

void run_fail(struct act_run *run, const char *words)
{
	buf_addf(&run->error, "%s", words);
	run->phase = RUN_OVER;
}

/* COLLECT */

struct collecting {
	struct act_run *run;
	int64_t end_ms;
	bool stopped;
};

static int collect_row(void *ctx, const struct view_op *row)
{
	struct collecting *c = ctx;
	struct act_run *run = c->run;

	chosen_add(run->list, row->op.op_id, row->op.version, CHOSEN_OUT);
	run_add_endpoint(run, row->endpoint);
	text_set(run->after, sizeof(run->after), span_of(row->op.op_id));
	c->stopped = run->list->n % 64 == 0 && steady() >= c->end_ms;
	return c->stopped;
}

static bool filter_ready(struct act_run *run, const struct work_room *room)
{
	struct filter_error wrong;

	if (run->filter)
		return true;
	run->chosen_ms = room->now_ms;
	run->filter = filter_parse(span_of(run->target.filter), room->now_ms,
				   room->utc_offset_min, &wrong);
	if (!run->filter)
		run_fail(run, wrong.text);
	return run->filter != NULL;
}

static void collect(struct act_run *run, struct work_room *room)
{
	struct collecting c = {run, steady() + SLICE_MS, false};
	struct view_page page = {.order = VIEW_NEWEST, .now_ms = room->now_ms,
		.utc_offset_min = room->utc_offset_min,
		.me = run->who.actor.id};

	if (!room->view) {
		run_fail(run, room->error);
		return;
	}
	if (!filter_ready(run, room))
		return;
	page.filter = run->filter;
	page.after = run->after[0] ? run->after : NULL;
	if (view_ops(room->view, &page, collect_row, &c) < 0) {
		run_fail(run, view_error(room->view));
		return;
	}
	if (c.stopped)
		return;
	chosen_tidy(run->list);
	run->phase = RUN_JUDGE;
}

/* JUDGE */

static void label_of(struct act_run *run, struct work_room *room,
		     const char *op_id, struct buf *out)
{
	struct view_page page = {.now_ms = room->now_ms};
	struct view_op row;

	if (!room->view || view_op(room->view, op_id, &page, &row) != ST_OK)
		return;
	buf_addf(out, "%s%s%s %s", row.op.record.subject_key,
		 row.op.record.event_oid ? " " : "",
		 row.op.record.event_oid ? row.op.record.event_oid : "",
		 row.op.record.form_oid);
	run_add_endpoint(run, row.endpoint);
	view_op_release(&row);
}

static void count(struct act_run *run, struct tally *t,
		  struct work_room *room, const struct act_item *item)
{
	struct tally_group *g = tally_add(t, item);
	struct buf label = BUF_INIT;

	if (g->named >= TALLY_NAMES_MAX)
		return;
	label_of(run, room, item->op_id, &label);
	tally_name(g, item, buf_text(&label));
	buf_release(&label);
}

static unsigned mark_of(struct act_run *run, const struct act_item *item)
{
	bool good = item->result == ACT_DONE || item->result == ACT_REQUESTED;

	run->go += good;
	run->unsure += good && item->unsure;
	run->evidence += item->wants_evidence;
	return item->wants_evidence ? CHOSEN_EVIDENCE :
	       good ? CHOSEN_GO : CHOSEN_OUT;
}

/* Nothing of it can be done: that it was asked for is on record. */
static void refuse(struct act_run *run, struct store *store,
		   const char *why, int64_t now_ms)
{
	struct act act;

	run_act(run, NULL, &act);
	if (!act.reason)
		act.reason = why;
	if (act_refused(store, &act, act_verb_name(run->verb), why,
			now_ms) < 0)
		run_fail(run, store_error(store));
}

/* Roles as they are now; retired, locked or with a password that somebody
 * else set, nobody acts on. NULL, or why not. */
static const char *standing(struct act_run *run, struct store *store)
{
	struct operator_row row;
	int rc = operator_get(store, run->who.actor.id, &row);
	const char *why = NULL;

	if (rc < 0)
		return store_error(store);
	if (rc == ST_NONE || strcmp(row.status, "active") != 0)
		why = "the operator who is signed in here is not active any "
		      "more";
	else if (row.must_change)
		why = "somebody set this operator's password anew: it must be "
		      "changed first";
	run->who.roles = row.roles;
	run->out = why != NULL;
	operator_row_release(&row);
	return why;
}

static bool stands(struct act_run *run, struct store *store, int64_t now_ms)
{
	const char *why = standing(run, store);

	if (!why)
		return true;
	if (run->out)
		refuse(run, store, why, now_ms);
	if (!run->error.len)
		run_fail(run, why);
	return false;
}

bool run_permitted(struct act_run *run, struct store *store, int64_t now_ms)
{
	struct buf why = BUF_INIT;
	struct act act;

	if (!stands(run, store, now_ms))
		return false;
	run_act(run, NULL, &act);
	run->permitted = act_permitted(&act);
	if (!run->permitted) {
		buf_addf(&why, "%s (%s) has not the right to %s",
			 act.actor->id, act.actor->role,
			 act_verb_name(act.verb));
		refuse(run, store, buf_text(&why), now_ms);
		if (!run->error.len)
			run_fail(run, buf_text(&why));
	}
	buf_release(&why);
	return run->permitted;
}

static void judge_over(struct act_run *run, struct store *store,
		       const struct work_room *room)
{
	const struct act_item *none = NULL;
	struct act act;

	run->phase = RUN_READY;
	run_act(run, room->config, &act);
	run->needs_sign = act_needs_signature(&act, none, run->go, store,
					      &run->sign_why);
	if (run->verb == ACT_REPLAY || run->verb == ACT_CHECK)
		run_find_stops(run, room);
	if (run->list->n && !run->go && !run->evidence)
		refuse(run, store, run->judged.v[0].words, room->now_ms);
}

static bool judge_piece(struct act_run *run, struct store *store,
			struct work_room *room, struct act_item *items,
			size_t *index)
{
	size_t n = chosen_take(run->list, &run->at, CHOSEN_ANY, items, index,
			       PIECE);
	struct act act;

	run_act(run, room->config, &act);
	act.dry_run = true;
	act.reason = "dry run";
	if (act_on_operations(store, &act, items, n, room->now_ms) < 0) {
		run_fail(run, store_error(store));
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		struct chosen_one *one = &run->list->v[index[i]];

		one->version = items[i].version;
		one->mark = mark_of(run, &items[i]);
		count(run, &run->judged, room, &items[i]);
	}
	return run->at < run->list->n;
}

static void judge(struct act_run *run, struct store *store,
		  struct work_room *room)
{
	int64_t end = steady() + SLICE_MS;
	struct act_item *items;
	size_t *index;
	bool more = true;

	if (!run->at) {
		if (!run->chosen_ms)
			run->chosen_ms = room->now_ms;
		if (!run_permitted(run, store, room->now_ms))
			return;
	}
	items = xcalloc(PIECE, sizeof(*items));
	index = xcalloc(PIECE, sizeof(*index));
	while (more && steady() < end)
		more = judge_piece(run, store, room, items, index);
	free(items);
	free(index);
	if (!more && run->phase == RUN_JUDGE)
		judge_over(run, store, room);
}

/* SIGN, FREEZE, DO */

static void first_pass(struct act_run *run)
{
	run->at = 0;
	run->pass = run->marks == CHOSEN_ANY ? CHOSEN_ANY :
		    run->marks & CHOSEN_EVIDENCE ? CHOSEN_EVIDENCE : CHOSEN_GO;
}

/* The next piece of the list; 0: the passes are over. */
static size_t next_piece(struct act_run *run, struct act_item *items)
{
	size_t n = chosen_take(run->list, &run->at, run->pass, items, NULL,
			       PIECE);

	if (n || run->pass != CHOSEN_EVIDENCE)
		return n;
	run->at = 0;
	run->pass = CHOSEN_GO;
	return next_piece(run, items);
}

void run_begin_act(struct act_run *run)
{
	act_list_free(run->act_list);
	run->act_list = act_list_new(chosen_count(run->list, run->marks));
	first_pass(run);
	run->phase = run->said.signs ? RUN_SIGN : RUN_FREEZE;
}

static void sign_back(struct act_run *run, const char *words)
{
	run->sign_failed = true;
	buf_clear(&run->error);
	buf_adds(&run->error, words);
	run->phase = RUN_READY;
}

static void sign(struct act_run *run, struct store *store,
		 const struct work_room *room)
{
	struct operator_row row;
	struct buf words = BUF_INIT;
	struct actor claims = run->who.actor;
	enum sign_in how;
	int rc;

	/* Until the password is known to be right it is only a claim. */
	claims.id = claims.login ? claims.login : claims.id;
	claims.printed_name = claims.role = NULL;
	claims.auth = "none (OS account)";
	rc = operator_sign_in(store, run->who.actor.id,
			      buf_span(&run->said.password), &claims,
			      room->now_ms, &how, &row);

	buf_wipe(&run->said.password);
	if (rc < 0) {
		sign_back(run, store_error(store));
	} else if (how != SIGN_IN_OK) {
		buf_addf(&words, "not signed: %s; nothing was done",
			 sign_in_words(how));
		sign_back(run, buf_text(&words));
	} else {
		run->signed_ms = room->now_ms;
		run->who.actor.auth = "signature";
		run->who.roles = row.roles;
		run->phase = RUN_FREEZE;
	}
	operator_row_release(&row);
	buf_release(&words);
}

static bool freeze_piece(struct act_run *run, struct store *store,
			 struct act_item *items)
{
	size_t n = next_piece(run, items);

	if (act_list_freeze(store, run->act_list, items, n) < 0)
		run_fail(run, store_error(store));
	return run->phase == RUN_FREEZE && n;
}

static void note_item(struct act_run *run, struct work_room *room,
		      const struct act_item *item)
{
	count(run, &run->done, room, item);
	if (run->verb == ACT_DISCARD && item->result == ACT_DONE) {
		if (!run->discarded)
			run->discarded = chosen_new();
		chosen_add(run->discarded, item->op_id, 0, CHOSEN_OUT);
	}
	if (run->verb == ACT_REPLAY && item->result == ACT_DONE &&
	    run->go <= FOLLOW_OPS_MAX) {
		if (!run->follow)
			run->follow = follow_new(run->verb,
						 run->target.words);
		follow_add_op(run->follow, item->op_id);
	}
	if (item->result == ACT_REQUESTED && item->request) {
		if (!run->follow)
			run->follow = follow_new(run->verb,
						 run->target.words);
		follow_add(run->follow, item->request, item->op_id);
	}
}

static bool do_piece(struct act_run *run, struct store *store,
		     struct work_room *room, struct act_item *items)
{
	size_t n = next_piece(run, items);
	struct act act;

	if (!n)
		return false;
	run_act(run, room->config, &act);
	if (act_list_do(store, run->act_list, &act, items, n,
			room->now_ms) < 0) {
		run_fail(run, store_error(store));
		return false;
	}
	for (size_t i = 0; i < n; i++)
		note_item(run, room, &items[i]);
	return true;
}

static void act_slice(struct act_run *run, struct store *store,
		      struct work_room *room)
{
	struct act_item *items = xcalloc(PIECE, sizeof(*items));
	int64_t end = steady() + SLICE_MS;
	bool more = true;

	while (more && run->phase == RUN_FREEZE && steady() < end)
		more = freeze_piece(run, store, items);
	if (!more && run->phase == RUN_FREEZE) {
		run->phase = RUN_DO;
		first_pass(run);
		more = true;
	}
	while (more && run->phase == RUN_DO && steady() < end)
		more = do_piece(run, store, room, items);
	if (!more)
		run->phase = RUN_OVER;
	free(items);
}

void run_slice(struct act_run *run, struct work_room *room)
{
	struct store *store = room->store(room);
	bool endpoint = run_on_endpoint(run);

	if (!store) {
		run_fail(run, room->error);
		return;
	}
	switch (run->phase) {
	case RUN_COLLECT:
		collect(run, room);
		break;
	case RUN_JUDGE:
		if (endpoint)
			run_judge_endpoint(run, store, room);
		else
			judge(run, store, room);
		break;
	case RUN_SIGN:
		sign(run, store, room);
		break;
	case RUN_FREEZE:
		if (!run->at && !stands(run, store, room->now_ms))
			break;
		/* fall through */
	case RUN_DO:
		if (endpoint)
			run_act_endpoint(run, store, room);
		else
			act_slice(run, store, room);
		break;
	case RUN_READY:
	case RUN_OVER:
		break;
	}
}
