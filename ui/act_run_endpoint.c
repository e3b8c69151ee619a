/* The run's part about endpoints: what stops them, acts on them. */
#include "ui/act_run_priv.h"

#include <string.h>

/* Names, each ends with a NUL; a handful. */
void run_add_endpoint(struct act_run *run, const char *name)
{
	const char *p = buf_text(&run->ends), *end = p + run->ends.len;

	if (!name || run->ends.len > RUN_ENDS_BYTES)
		return;
	for (; p < end; p += strlen(p) + 1)
		if (!strcmp(p, name))
			return;
	buf_add(&run->ends, name, strlen(name) + 1);
}

static void describe(const struct view_endpoint *row, struct run_endpoint *e)
{
	enum circuit_state circuit = row->state.circuit.state;
	bool open = circuit == CIRCUIT_OPEN || circuit == CIRCUIT_PROBING;
	struct buf text = BUF_INIT;

	e->known = true;
	e->paused = row->control.paused;
	e->target_changed = row->state.halt == HALT_TARGET_CHANGED;
	e->stopped = row->state.halt != HALT_NONE || open;
	if (e->paused)
		buf_addf(&text, "paused by %s: %s", row->control.by ?
			 row->control.by : "?", row->control.reason ?
			 row->control.reason : "");
	if (row->state.halt != HALT_NONE)
		buf_addf(&text, "%shalted: %s", text.len ? "; " : "",
			 halt_reason_words(row->state.halt));
	if (open)
		buf_addf(&text, "%sdown, its circuit is %s",
			 text.len ? "; " : "", circuit_state_name(circuit));
	if (!text.len)
		buf_adds(&text, circuit == CIRCUIT_CLOSED ? "running" :
			 "running, starting slowly");
	e->since_ms = row->state.halt != HALT_NONE ? row->state.halted_ms :
		      open ? row->state.circuit.opened_ms :
		      e->paused ? row->control.at_ms : 0;
	text_set(e->state, sizeof(e->state), buf_span(&text));
	buf_release(&text);
}

struct finding_endpoint {
	struct run_endpoint *out;
	const char *name;
};

static int endpoint_row(void *ctx, const struct view_endpoint *row)
{
	struct finding_endpoint *f = ctx;

	if (strcmp(row->name, f->name) != 0)
		return 0;
	describe(row, f->out);
	return 1;
}

static int stop_row(void *ctx, const struct view_endpoint *row)
{
	struct act_run *run = ctx;
	const char *p = buf_text(&run->ends), *end = p + run->ends.len;
	struct run_endpoint e = {.known = false};

	for (; p < end; p += strlen(p) + 1) {
		if (strcmp(p, row->name) != 0)
			continue;
		describe(row, &e);
		if (e.paused || e.stopped)
			buf_addf(&run->stops, "%s is %s: %s until that is "
				 "over (P)\n", p, e.state,
				 run->verb == ACT_CHECK ? "the answer waits"
							: "it waits there");
	}
	return 0;
}

void run_find_stops(struct act_run *run, const struct work_room *room)
{
	buf_clear(&run->stops);
	if (room->view)
		view_endpoints(room->view, room->now_ms, stop_row, run);
}

void run_judge_endpoint(struct act_run *run, struct store *store,
			struct work_room *room)
{
	struct finding_endpoint f = {&run->endpoint, run->target.endpoint};
	struct act act;

	run->chosen_ms = room->now_ms;
	if (!room->view) {
		run_fail(run, room->error);
		return;
	}
	if (view_endpoints(room->view, room->now_ms, endpoint_row, &f) < 0) {
		run_fail(run, view_error(room->view));
		return;
	}
	if (!run->endpoint.known) {
		run_fail(run, "this store knows no such endpoint yet");
		return;
	}
	if (run->verb == ACT_PAUSE &&
	    (run->endpoint.paused || run->endpoint.stopped))
		run->verb = ACT_RESUME;
	if (!run_permitted(run, store, room->now_ms))
		return;
	run->go = 1;
	run->phase = RUN_READY;
	run_act(run, room->config, &act);
	run->needs_sign = act_needs_signature(&act, NULL, 1, store,
					      &run->sign_why);
}

void run_act_endpoint(struct act_run *run, struct store *store,
		      struct work_room *room)
{
	struct act_item item = {.result = ACT_REFUSED};
	struct act act;

	run_act(run, room->config, &act);
	if (act_on_endpoint(store, &act, run->target.endpoint,
			    run->said.until_ms, run->said.target,
			    room->now_ms, &item) < 0) {
		run_fail(run, store_error(store));
		return;
	}
	text_set(item.op_id, sizeof(item.op_id),
		 span_of(run->target.endpoint));
	tally_name(tally_add(&run->done, &item), &item, NULL);
	if (item.result == ACT_REQUESTED && item.request) {
		run->follow = follow_new(run->verb, run->target.endpoint);
		follow_add(run->follow, item.request, item.op_id);
	}
	run->phase = RUN_OVER;
}

