#include <config.h>

#include "engine/engine_priv.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* ---- clocks ------------------------------------------------------------- */

static int64_t clock_ms(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void clock_read(struct engine *e)
{
	e->now.utc_ms = clock_ms(CLOCK_REALTIME);
	e->now.boot_ms = clock_ms(CLOCK_BOOTTIME);
}

/* ---- effects ------------------------------------------------------------ */

static void step(struct engine *e, struct event *events, size_t n);

static void on_done(void *ctx, int id, const struct answer *answer,
		    const int phases_us[WIRE_PHASES])
{
	struct engine *e = ctx;
	struct event event = {.kind = EVENT_ANSWER, .transfer = id,
			      .answer = answer, .phases_us = phases_us};

	/* Many come in one look, within one millisecond. */
	if (answer->received_ms != e->now.utc_ms)
		clock_read(e);
	step(e, &event, 1);
}

static void start_transfer(struct engine *e, const struct effect *f)
{
	const struct endpoint_config *c =
		&e->setup.config->endpoint[f->endpoint];
	struct wire_start in = {
		.id = f->transfer, .request = f->request,
		/* A log-in is asked of somebody else. */
		.group = f->request->secret_answer ? 0 : (int)f->endpoint + 1,
		.connect_timeout_ms = f->connect_timeout_ms,
		.answer_timeout_ms = f->answer_timeout_ms,
		.proxy = c->proxy, .ca_file = c->ca_file,
		.client_cert_file = c->client_cert_file,
		.http_version = c->http_version,
	};

	wire_start(e->wire, &in, on_done, e);
}

void engine_log(struct engine *e, const char *line)
{
	if (e->setup.log)
		e->setup.log(e->setup.ctx, line);
}

static void alert_line(struct engine *e, bool urgent, const char *line)
{
	if (e->setup.alert)
		e->setup.alert(e->setup.ctx, urgent, line);
	else
		engine_log(e, line);
}

static void on_effect(void *ctx, struct effect *f)
{
	struct engine *e = ctx;

	switch (f->kind) {
	case EFFECT_START:
		e->unshown = true;
		start_transfer(e, f);
		break;
	case EFFECT_CANCEL:
		f->left = wire_cancel(e->wire, f->transfer, f->unless_left);
		break;
	case EFFECT_OUTCOME:
		e->unshown = true;
		batch_outcome(e->filling, f->outcome);
		break;
	case EFFECT_REQUEST:
		batch_answered(e->filling, f->request_id, f->good, f->text);
		break;
	case EFFECT_READ_SECRET:
	case EFFECT_LOG_IN:
		engine_ask(e, f);
		break;
	case EFFECT_LOG_IN_OVER:
		engine_log_in_over(e, f);
		break;
	case EFFECT_TOKEN_REFUSED:
		engine_token_refused(e, f);
		break;
	case EFFECT_ALERT:
		alert_line(e, f->urgent, f->text);
		break;
	case EFFECT_LOG:
		engine_log(e, f->text);
		break;
	}
}

/* A step, and the secrets it asks for, until it asks for no more. */
static void step(struct engine *e, struct event *events, size_t n)
{
	engine_step(e->world, e->now, events, n, on_effect, e);
	while (e->reads_n) {
		struct secret_read r = e->reads[--e->reads_n];
		struct buf secret = BUF_INIT, error = BUF_INIT;
		struct event event = engine_answer(e, &r, &secret, &error);

		engine_step(e->world, e->now, &event, 1, on_effect, e);
		buf_wipe(&secret);
		buf_release(&error);
	}
}

static void step_one(struct engine *e, struct event event)
{
	step(e, &event, 1);
}

/* ---- what came from the committer --------------------------------------- */

static void take_controls(struct engine *e, struct batch *b)
{
	for (size_t i = 0; i < e->places; i++) {
		step_one(e, (struct event){.kind = EVENT_CONTROL,
			 .endpoint = i, .control = &b->controls[i]});
		if (!b->restored)
			step_one(e, (struct event){.kind = EVENT_RELEASED,
				 .endpoint = i});
		if (b->probes[i])
			step_one(e, (struct event){.kind = EVENT_PROBE,
				 .endpoint = i, .request_id = b->probes[i]});
	}
}

/* The wait that is due now; the next one is twice as long. */
static int64_t slower(int64_t *wait_ms)
{
	int64_t now = *wait_ms;

	assert(now > 0);
	*wait_ms = now * 2 < ENDS_MS ? now * 2 : ENDS_MS;
	return now;
}

/* When may a claim find something? After what was claimed now, or when the
 * store says; a due one that could not be taken is not asked for at once. */
static void set_due(struct engine *e, const struct batch *b, bool got)
{
	int64_t now = e->now.utc_ms, at = b->next_due_ms;

	if (b->more)
		at = now;
	else if (b->claim && !got && at <= now)
		at = now + slower(&e->fruitless_ms);
	if (got)
		e->fruitless_ms = FRUITLESS_MS;
	e->due_ms = at;
}

static void set_idle(struct engine *e, bool idle)
{
	static const uint64_t one = 1;

	atomic_store(&e->idle, idle);
	if (idle && write(e->idle_fd, &one, sizeof(one)) < 0)
		engine_log(e, "idle cannot be told");
}

/* The world is told, and so is everybody else: by the lock's word, since the
 * store itself may take nothing. */
static void tell_store(struct engine *e)
{
	bool ok = !e->full && !e->trouble;

	if (e->lock && !engine_lock_say(e->lock, ok ? e->setup.state
						    : ENGINE_TROUBLE))
		engine_log(e, "the engine lock's word cannot be written");
	step_one(e, (struct event){.kind = EVENT_STORE, .ok = ok});
}

/* All at once: the wire is filled when the last of them is known. */
static void take_intents(struct engine *e, struct batch *b)
{
	struct event events[INTENTS_A_STEP];
	size_t n = 0;

	while (b->intents) {
		struct intent *in = b->intents;

		b->intents = in->next;
		in->next = NULL;
		op_clock_stepped(&in->op, e->offset_ms - e->sent_offset_ms);
		events[n++] = (struct event){.kind = EVENT_INTENT,
					     .intent = in};
		if (n < INTENTS_A_STEP && b->intents)
			continue;
		step(e, events, n);
		n = 0;
	}
	step_one(e, (struct event){.kind = EVENT_CLAIMED});
}

static void take_outcomes(struct engine *e, struct batch *b)
{
	while (b->outcomes) {
		struct outcome *o = b->outcomes;

		b->outcomes = o->next;
		engine_outcome_back(e->world, o);
	}
}

static void take_batch(struct engine *e, struct batch *b)
{
	bool got = b->intents != NULL;

	if (b->result < 0 && !e->last_sent)
		engine_log(e, "a batch was given up");
	if (b->stopping && b->result >= 0)
		e->last_stored = true;
	take_intents(e, b);
	take_outcomes(e, b);
	if (b->full != e->full) {
		e->full = b->full;
		if (e->full)
			alert_line(e, true, "there is less room on the disk "
				   "than is kept for outcomes: nothing new is "
				   "sent");
		tell_store(e);
	}
	if (b->controls_set)
		take_controls(e, b);
	set_due(e, b, got);
	if (b->want_idle && b->idle && !got && !b->more &&
	    batch_empty(e->filling) && engine_in_flight(e->world) == 0)
		set_idle(e, true);
	batch_clear(b);
	e->spare = b;
}

static void take_trouble(struct engine *e)
{
	char words[200];
	bool trouble = committer_trouble(e->committer, words);

	if (trouble == e->trouble)
		return;
	e->trouble = trouble;
	if (trouble)
		alert_line(e, true, words);
	else
		engine_log(e, "the store takes work again");
	tell_store(e);
}

/* ---- what goes to it ---------------------------------------------------- */

static bool live_changed(struct engine *e, struct batch *b)
{
	size_t max = (size_t)engine_on_wire(e->world);

	b->live = xrealloc(b->live, (max ? max : 1) * sizeof(*b->live));
	b->live_n = engine_live(e->world, b->live, max);
	for (size_t i = 0; i < b->live_n; i++) {
		const char *phase = wire_phase(e->wire, b->live[i].slot);

		text_set(b->live[i].phase, sizeof(b->live[i].phase),
			 span_of(phase ? phase : "done"));
	}
	if (b->live_n == e->live_n && (!e->live_n ||
	    memcmp(b->live, e->live, e->live_n * sizeof(*e->live)) == 0))
		return false;
	e->live = xrealloc(e->live, (max ? max : 1) * sizeof(*e->live));
	memcpy(e->live, b->live, b->live_n * sizeof(*e->live));
	e->live_n = b->live_n;
	return true;
}

static void add_live(struct engine *e, struct batch *b)
{
	if (e->now.boot_ms - e->live_boot_ms < LIVE_MS)
		return;
	e->live_boot_ms = e->now.boot_ms;
	e->unshown = false;
	b->live_set = live_changed(e, b);
	b->gauges_set = engine_gauges(e->world, b->gauges);
}

/* Nothing moves, and somebody waits for the end? */
static bool calm(const struct engine *e)
{
	return engine_in_flight(e->world) == 0 &&
	       atomic_load(&e->want_idle) && !atomic_load(&e->idle);
}

static int64_t look_every_ms(const struct engine *e)
{
	return calm(e) ? e->calm_ms : ENDS_MS;
}

/* Once a second, and when somebody else committed, or a person waits. */
static void add_looks(struct engine *e, struct batch *b)
{
	if (e->now.boot_ms - e->ends_boot_ms >= look_every_ms(e)) {
		e->ends_boot_ms = e->now.boot_ms;
		b->ends = b->read_controls = true;
		if (calm(e))
			slower(&e->calm_ms);
	}
	if (e->look) {
		e->look = false;
		b->read_controls = true;
	}
	b->want_idle = b->ends && calm(e);
}

/* While the wire is full and as much waits behind it, outcomes gather: fewer
 * commits write and sync less for the same work. */
static bool gathers(const struct engine *e)
{
	const struct batch *b = e->filling;

	return b->outcomes_n > 0 && b->outcomes_n < GATHER_MAX &&
	       !e->stop_boot_ms &&
	       e->now.boot_ms - e->sent_boot_ms < GATHER_MS &&
	       engine_fed(e->world);
}

static void submit(struct engine *e)
{
	struct batch *b = e->filling;
	bool claim = e->due_ms <= e->now.utc_ms && !e->stop_boot_ms;

	if (!e->spare || e->last_sent || gathers(e))
		return;
	b->now_ms = e->now.utc_ms;
	engine_batch(e->world, e->now, claim, b->credits, b->changes);
	b->claim = false;
	for (size_t i = 0; i < e->places; i++) {
		b->credits[i].requests_only = e->setup.requests_only;
		b->claim |= b->credits[i].total > 0;
	}
	e->starved = claim && !b->claim;
	if (!e->stop_boot_ms)
		add_looks(e, b);
	add_live(e, b);
	if (e->stop_boot_ms && engine_in_flight(e->world) == 0) {
		b->stopping = e->last_sent = true;
		/* Minutes, too, with what was counted since the last time. */
		if (!b->gauges_set)
			b->gauges_set = engine_gauges(e->world, b->gauges);
	}
	if (batch_empty(b))
		return;
	if (b->outcomes || b->claim)
		atomic_store(&e->idle, false);
	if (b->outcomes)
		e->calm_ms = CALM_MS;
	e->filling = e->spare;
	e->spare = NULL;
	e->sent_offset_ms = e->offset_ms;
	e->sent_boot_ms = e->now.boot_ms;
	committer_submit(e->committer, b);
}

/* ---- the loop ----------------------------------------------------------- */

/* Outcomes that wait to be stored are told in the new time, too. */
static void outcomes_stepped(struct batch *b, int64_t delta)
{
	for (struct outcome *o = b->outcomes; o; o = o->next) {
		o->attempt.started_ms += delta;
		o->attempt.finished_ms += delta;
		if (o->intent)
			op_clock_stepped(&o->intent->op, delta);
	}
}

static void look_at_clock(struct engine *e)
{
	int64_t offset, delta;

	clock_read(e);
	offset = e->now.utc_ms - e->now.boot_ms;
	delta = offset - e->offset_ms;
	if (e->found_delta_ms) {
		e->filling->clock_delta_ms += e->found_delta_ms;
		step_one(e, (struct event){.kind = EVENT_CLOCK,
			 .delta_ms = e->found_delta_ms});
		e->found_delta_ms = 0;
	}
	if (delta <= CLOCK_STEP_MS && delta >= -CLOCK_STEP_MS)
		return;
	e->offset_ms = offset;
	outcomes_stepped(e->filling, delta);
	e->filling->clock_delta_ms += delta;
	e->filling->clock_offset_ms = offset;
	if (e->due_ms < INT64_MAX)
		e->due_ms += delta;
	step_one(e, (struct event){.kind = EVENT_CLOCK, .delta_ms = delta});
}

static void look_at_stop(struct engine *e)
{
	if (!atomic_load(&e->stop))
		return;
	if (!e->stop_boot_ms) {
		e->stop_boot_ms = e->now.boot_ms;
		step_one(e, (struct event){.kind = EVENT_STOP});
	}
	if (!e->cut && e->now.boot_ms - e->stop_boot_ms >= STOP_ANSWERS_MS) {
		e->cut = true;
		step_one(e, (struct event){.kind = EVENT_CUT});
	}
}

/* With nothing under way only time can bring something: an endpoint's wait,
 * a due operation, the next look for what has ended. Whatever others do
 * wakes the wire. */
static int wait_ms(const struct engine *e)
{
	int64_t now = e->now.utc_ms, at = engine_wake_ms(e->world), ms;
	int64_t look = e->ends_boot_ms + look_every_ms(e) - e->now.boot_ms;

	if (e->stop_boot_ms)
		return STOP_TURN_MS;
	if (e->due_ms < at && !e->starved)
		at = e->due_ms;
	ms = at > now ? at - now : 0;
	if (ms > look)
		ms = look;
	if ((e->unshown || e->live_n) && ms > LIVE_MS)
		ms = LIVE_MS;
	/* Something due that may not go yet is looked at again soon. */
	return ms < 10 ? 10 : (int)ms;
}

/* Outcomes that a store is about to take are waited for, however busy the
 * machine: left out, each would be of unknown outcome at the next start. */
static bool over(const struct engine *e)
{
	int64_t most = e->trouble ? STOP_ALL_MS : STOP_SLOW_MS;

	return e->stop_boot_ms &&
	       (e->last_stored || e->now.boot_ms - e->stop_boot_ms >= most);
}

static void *loop(void *ctx)
{
	struct engine *e = ctx;

	pthread_setname_np(pthread_self(), "engine");
	for (;;) {
		struct batch *b = committer_take(e->committer);

		look_at_clock(e);
		take_trouble(e);
		if (b)
			take_batch(e, b);
		if (committer_changed(e->committer) ||
		    atomic_exchange(&e->nudged, false)) {
			e->look = true;
			e->due_ms = e->now.utc_ms;
			e->calm_ms = CALM_MS;
			e->fruitless_ms = FRUITLESS_MS;
			atomic_store(&e->idle, false);
		}
		look_at_stop(e);
		step_one(e, (struct event){.kind = EVENT_TICK});
		submit(e);
		atomic_store(&e->in_flight, engine_in_flight(e->world));
		atomic_store(&e->on_wire, engine_on_wire(e->world));
		if (over(e))
			return NULL;
		wire_run(e->wire, wait_ms(e));
	}
}

/* ---- the door ----------------------------------------------------------- */

static void wake(void *ctx)
{
	struct engine *e = ctx;

	wire_wakeup(e->wire);
}

static void read_boot_id(char out[40])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	out[0] = '\0';
	if (!f)
		return;
	if (fgets(out, 40, f))
		out[strcspn(out, "\n")] = '\0';
	fclose(f);
}

static void free_all(struct engine *e)
{
	wire_free(e->wire);
	engine_world_free(e->world);
	batch_free(e->filling);
	batch_free(e->spare);
	for (size_t i = 0; i < e->places; i++)
		endpoint_control_release(&e->controls[i]);
	free(e->ids);
	free(e->states);
	free(e->controls);
	free(e->live);
	free(e->reads);
	engine_shares_free(e);
	if (e->idle_fd >= 0)
		close(e->idle_fd);
	engine_lock_drop(e->lock);
	free(e);
}

static struct engine *engine_new(const struct engine_setup *s)
{
	struct engine *e = xcalloc(1, sizeof(*e));
	size_t n = s->config->endpoints ? s->config->endpoints : 1;
	char host[64] = "";

	e->setup = *s;
	e->places = s->config->endpoints;
	e->ids = xcalloc(n, sizeof(*e->ids));
	e->states = xcalloc(n, sizeof(*e->states));
	e->controls = xcalloc(n, sizeof(*e->controls));
	e->share = xcalloc(n, sizeof(struct login_share *));
	gethostname(host, sizeof(host) - 1);
	snprintf(e->name, sizeof(e->name), "%ld@%s", (long)getpid(), host);
	e->idle_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	read_boot_id(e->boot_id);
	clock_read(e);
	e->offset_ms = e->now.utc_ms - e->now.boot_ms;
	e->commit = (struct commit){.store = s->store, .config = s->config,
		.endpoint_ids = e->ids, .engine = e->name};
	if (getrandom(&e->commit.random, sizeof(e->commit.random), 0) < 0)
		e->commit.random = (uint64_t)e->now.utc_ms;
	return e;
}

static void make_world(struct engine *e)
{
	struct engine_options o = {
		.config = e->setup.config, .endpoint_ids = e->ids,
		.states = e->states, .controls = e->controls,
		.seed = e->commit.random ^ 0x5deece66du, .now = e->now,
	};
	int total = 8;

	for (size_t i = 0; i < e->places; i++)
		total += e->setup.config->endpoint[i].max_in_flight;
	e->world = engine_world_new(&o);
	e->wire = wire_new(total);
	e->filling = batch_new(e->places);
	e->spare = batch_new(e->places);
	e->look = true;
	e->calm_ms = CALM_MS;
	e->fruitless_ms = FRUITLESS_MS;
}

/* Signals belong to the main thread. */
static bool start_threads(struct engine *e)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	e->committer = committer_start(&e->commit, wake, e);
	rc = pthread_create(&e->thread, NULL, loop, e);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0)
		batch_free(committer_stop(e->committer, 0));
	return rc == 0;
}

/* A batch's worth is freed at once and asked for again at once: to give it
 * back to the system in between costs more than the work itself. */
static void keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, 8 << 20);
	mallopt(M_TOP_PAD, 1 << 18);
#endif
}

int engine_start(const struct engine_setup *s, struct engine **out,
		 struct buf *error)
{
	struct engine *e = engine_new(s);
	char holder[128];
	int rc;

	*out = NULL;
	keep_memory();
	if (s->store_path) {
		e->lock = engine_lock_take(s->store_path, s->state, holder);
		if (!e->lock) {
			buf_addf(error, "another engine has this store: %s",
				 holder);
			free_all(e);
			return store_exit_code(ST_BUSY);
		}
	}
	rc = engine_open_world(e);
	if (rc < 0) {
		buf_addf(error, "the engine cannot start: %s",
			 store_error(s->store));
		free_all(e);
		return store_exit_code(rc);
	}
	make_world(e);
	if (!start_threads(e)) {
		buf_adds(error, "the engine cannot start a thread");
		free_all(e);
		return store_exit_code(ST_BUSY);
	}
	*out = e;
	return 0;
}

enum engine_end engine_wait(struct engine *e, bool until_idle, int64_t for_ms,
			    int stop_fd)
{
	int64_t began = clock_ms(CLOCK_BOOTTIME);

	atomic_store(&e->want_idle, until_idle);
	engine_nudge(e);
	for (;;) {
		struct pollfd fds[] = {{.fd = e->idle_fd, .events = POLLIN},
				       {.fd = stop_fd, .events = POLLIN}};
		int64_t left = for_ms < 0 ? 60000 :
			began + for_ms - clock_ms(CLOCK_BOOTTIME);
		uint64_t n;

		if (for_ms >= 0 && left <= 0)
			return ENGINE_TIME;
		poll(fds, 2, (int)(left > 60000 ? 60000 : left));
		if (stop_fd >= 0 && fds[1].revents)
			return ENGINE_FD;
		if (fds[0].revents && read(e->idle_fd, &n, sizeof(n)) > 0 &&
		    until_idle && atomic_load(&e->idle))
			return ENGINE_IDLE;
	}
}

void engine_nudge(struct engine *e)
{
	atomic_store(&e->nudged, true);
	wire_wakeup(e->wire);
}

void engine_status(struct engine *e, struct engine_status *out)
{
	memset(out, 0, sizeof(*out));
	out->store_trouble = committer_trouble(e->committer, out->trouble);
	out->in_flight = atomic_load(&e->in_flight);
	out->on_wire = atomic_load(&e->on_wire);
}

void engine_stop(struct engine *e)
{
	if (!e)
		return;
	atomic_store(&e->stop, true);
	wire_wakeup(e->wire);
	pthread_join(e->thread, NULL);
	batch_free(committer_stop(e->committer, 100));
	free_all(e);
}
