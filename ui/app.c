#include "ui/app_priv.h"

#include "core/timefmt.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PULSE_MS = 100, ASK_MS = 200, STATUS_MS = 1000, SECOND_MS = 1000,
       KEYS_AT_ONCE = 64, TOAST_MS = 4000, TOAST_MS_PER_CHAR = 40,
       NO_TERMINAL = 2, BROKEN = 70 };

int64_t steady_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void app_due(struct app *app, unsigned due)
{
	app->due |= due;
}

void app_paint_soon(struct app *app)
{
	app_due(app, DUE_PAINT);
}

void app_ask_soon(struct app *app)
{
	app_due(app, DUE_ASK | DUE_STATUS | DUE_PAINT);
}

void app_effects(struct app *app, unsigned fx)
{
	if (fx & FX_BACK)
		app_pop(app);
	if (fx & FX_PAINT)
		app_due(app, DUE_PAINT);
	if (fx & FX_ASK)
		app_due(app, DUE_ASK | DUE_PAINT);
	if (fx & (FX_REFLOW | FX_OPENED))
		app_due(app, DUE_REFLOW | DUE_PAINT);
}

/* The three passes. Each bit is taken before its pass, so that what a pass
 * asks for anew is done the next time around. */

static bool take_due(struct app *app, unsigned bit)
{
	bool due = (app->due & bit) != 0;

	app->due &= ~bit;
	return due;
}

static void reflow(struct app *app)
{
	struct panel *p = app->top;
	struct area body;
	int rows, cols;

	term_size(app->term, &rows, &cols);
	if (rows != app->grid.rows || cols != app->grid.cols) {
		grid_resize(&app->grid, rows, cols);
		app_due(app, DUE_WHOLE);
	}
	body = app_body(app);
	p->rows = body.rows;
	p->cols = body.cols;
	if (p->ops->reflow && !app_small(app))
		p->ops->reflow(p);
	app_due(app, DUE_PAINT);
}

static void ask(struct app *app)
{
	if (session_locked(app->session))
		return;
	app->asked_ms = steady_ms();
	app->waits = true;
	app->changed = false;
	app->top->ops->ask(app->top);
}

static void paint(struct app *app, bool whole)
{
	struct area body = app_body(app), screen = area_whole(&app->grid);
	bool locked = session_locked(app->session);
	/* The lock is the newest; what lies under it is nobody's business. */
	size_t dialog = locked && app->dialogs ? app->dialogs - 1 : 0;

	/* What is told covers no rows, where there are enough. */
	if (body.rows - toasts_rows(app) >= BODY_MIN)
		body.rows -= toasts_rows(app);
	grid_clear(&app->grid);
	app->grid.ascii = term_ascii(app->term);
	app->grid.cursor_row = app->grid.cursor_col = -1;
	if (app_small(app)) {
		frame_small(app);
	} else {
		if (!locked)
			app->top->ops->draw(app->top, &body);
		frame_draw(app);
		if (!locked)
			toasts_draw(app);
		for (; dialog < app->dialogs; dialog++)
			dialog_draw(app->dialog[dialog], &screen);
	}
	if (!term_draw(app->term, &app->grid, whole))
		app->gone = app->ended = true;
}

static void passes(struct app *app)
{
	if (take_due(app, DUE_REFLOW))
		reflow(app);
	if (take_due(app, DUE_ASK))
		ask(app);
	if (take_due(app, DUE_STATUS)) {
		app->status_ms = steady_ms();
		status_ask(app);
	}
	if (app->due & (DUE_PAINT | DUE_WHOLE)) {
		bool whole = take_due(app, DUE_WHOLE);

		take_due(app, DUE_PAINT);
		paint(app, whole);
	}
}

/* Time */

/* The store changed: the panel asks again, at most five times a second, once
 * the last answers are there, and never for more than half of the time. */
static void refresh(struct app *app, int64_t now)
{
	int64_t took = app->answered_ms - app->asked_ms;

	if (app->waits && !work_asking(app->work)) {
		app->waits = false;
		app->answered_ms = now;
		took = now - app->asked_ms;
	}
	/* Locked: it is asked once somebody is here again. */
	if (!app->changed || app->frozen || app->waits ||
	    session_locked(app->session))
		return;
	if (now - app->asked_ms < ASK_MS || now - app->answered_ms < took)
		return;
	app_due(app, DUE_ASK | DUE_STATUS);
}

/* By the clock on the screen, which may be stepped: back, and they end. */
static void toasts_age(struct app *app)
{
	int64_t now = app_now_ms(app);

	for (int i = 0; i < TOASTS; i++) {
		struct toast *t = &app->toast[i];

		if (t->until_ms && (t->until_ms <= now || t->until_ms - now >
				    TOAST_MS + (int64_t)sizeof(t->text) *
				    TOAST_MS_PER_CHAR)) {
			t->until_ms = 0;
			app_due(app, DUE_PAINT);
		}
	}
}

static void tick(struct app *app)
{
	int64_t now = steady_ms(), at = app_now_ms(app) / SECOND_MS;

	if (now >= app->pulse_at_ms) {
		app->pulse_at_ms = now + PULSE_MS;
		pulse_look(app);
	}
	refresh(app, now);
	toasts_age(app);
	if (now - app->status_ms >= STATUS_MS)
		app_due(app, DUE_STATUS);
	if (at == app->second)
		return;
	app->second = at;
	session_tick(app->session, app_now_ms(app));
	/* What was being typed may name a subject. */
	if (app->prompt && session_locked(app->session))
		prompt_close(app);
	if (!app->frozen)
		app_due(app, DUE_PAINT);
}

/* The loop */

static int wait_ms(const struct app *app)
{
	int64_t wait = app->pulse_at_ms - steady_ms();

	if (app->due || wait < 0)
		return 0;
	return (int)(wait < PULSE_MS ? wait : PULSE_MS);
}

static void take_keys(struct app *app)
{
	struct key key;

	for (int i = 0; i < KEYS_AT_ONCE && !app->ended; i++) {
		term_next(app->term, &key);
		if (key.kind == KEYK_NONE)
			return;
		app_key(app, &key);
		if (app->ended)
			return;
		/* What the key opened has to know its size, and to have asked
		 * its first question, before the next key meets it. */
		if (take_due(app, DUE_REFLOW))
			reflow(app);
		if (take_due(app, DUE_ASK))
			ask(app);
	}
	app_due(app, DUE_PAINT);
	app->pulse_at_ms = 0;		/* there are more: do not wait */
}

static void loop(struct app *app)
{
	struct pollfd fds[] = {
		{.fd = term_fd(app->term), .events = POLLIN},
		{.fd = work_fd(app->work), .events = POLLIN},
		{.fd = app->world->stop_fd, .events = POLLIN},
	};

	passes(app);
	if (app->world->engine_wanted)
		app_engine_run(app, true);
	while (!app->ended) {
		int n = poll(fds, ARRAY_SIZE(fds), wait_ms(app));

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0 && fds[2].revents)
			break;
		/* Not only when it is readable: what is left of a burst, and
		 * a new size, stand in no descriptor. */
		take_keys(app);
		if (app->ended)
			break;
		work_done(app->work);
		tick(app);
		passes(app);
	}
}

/* Life */

void app_engine_run(struct app *app, bool run)
{
	const struct ui_world *w = app->world;
	struct buf words = BUF_INIT;

	if (!w->engine_run)
		return;
	w->engine_run(w->ctx, run, &words);
	if (words.len)
		app_toast(app, UI_INFO, "%s", buf_text(&words));
	buf_release(&words);
	app_due(app, DUE_STATUS);
}

static void begin(struct app *app)
{
	const struct ui_world *w = app->world;
	size_t at = 0;

	for (size_t i = 0; w->panel && panels[i]; i++)
		if (strcmp(panels[i]->name, w->panel) == 0)
			at = i;
	app_switch(app, at);
	reflow(app);
	ask(app);
	if (w->filter)
		app_filter(app, w->filter);
	if (w->op)
		app_push(app, inspector_new(app, w->op));
	if (w->greeting)
		app_toast(app, UI_INFO, "%s", w->greeting);
	app_due(app, DUE_REFLOW | DUE_ASK | DUE_STATUS | DUE_WHOLE);
}

static void end(struct app *app)
{
	while (app->dialogs)
		dialog_close(app->dialog[app->dialogs - 1]);
	free(app->dialog);
	if (app->prompt)
		prompt_close(app);
	levels_free(app);
	histories_free(app);
	if (app->session)
		session_free(app->session);
	/* The terminal first: an act that is still under way may take a
	 * while, and the person wants his shell. */
	term_close(app->term);
	pulse_free(app);
	work_stop(app->work);
	app_engine_run(app, false);
	grid_release(&app->grid);
}

int app_run(const struct ui_world *world, const struct term_options *options,
	    struct buf *error)
{
	struct app app = {.world = world};
	int code = 0;

	assert(world && world->now_ms && world->utc_offset_min);
	grid_init(&app.grid);
	app.term = term_open(options, error);
	if (!app.term)
		return NO_TERMINAL;
	app.work = work_start(world, error);
	if (app.work) {
		app.session = session_new(&app);
		begin(&app);
		loop(&app);
	} else {
		code = BROKEN;
	}
	end(&app);
	return code;
}

/* What others ask */

const struct ui_world *app_world(const struct app *app)
{
	return app->world;
}

const struct app_status *app_status(const struct app *app)
{
	return &app->status;
}

struct work *app_work(struct app *app)
{
	return app->work;
}

struct session *app_session(struct app *app)
{
	return app->session;
}

struct term *app_term(struct app *app)
{
	return app->term;
}

int64_t app_now_ms(const struct app *app)
{
	return app->world->now_ms(app->world->ctx);
}

int app_utc_offset_min(const struct app *app, int64_t at_ms)
{
	return app->utc ? 0
			: app->world->utc_offset_min(app->world->ctx, at_ms);
}

bool app_ascii(const struct app *app)
{
	return term_ascii(app->term);
}

void app_time(const struct app *app, int64_t at_ms, struct buf *out)
{
	int64_t now = app_now_ms(app);
	char at[TIME_TEXT], today[TIME_TEXT];

	time_local(at_ms, app_utc_offset_min(app, at_ms), at);
	time_local(now, app_utc_offset_min(app, now), today);
	/* 2026-11-29T15:02:31.120+01:00 */
	if (memcmp(at, today, 4) != 0)
		buf_addf(out, "%.10s %.5s", at, at + 11);
	else if (memcmp(at, today, 10) != 0)
		buf_addf(out, "%.5s %.8s", at + 5, at + 11);
	else
		buf_addf(out, "%.8s", at + 11);
}

void app_toast(struct app *app, enum ui_role role, const char *fmt, ...)
{
	struct toast *t = &app->toast[TOASTS - 1];
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	/* The same once more is still one. */
	if (!t->until_ms || strcmp(t->text, buf_text(&text)) != 0)
		memmove(&app->toast[0], &app->toast[1],
			(TOASTS - 1) * sizeof(app->toast[0]));
	text_set(t->text, sizeof(t->text), buf_span(&text));
	t->role = role;
	t->until_ms = app_now_ms(app) + TOAST_MS +
		      (int64_t)strlen(t->text) * TOAST_MS_PER_CHAR;
	buf_release(&text);
	app_due(app, DUE_PAINT);
}
