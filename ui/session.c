#include "ui/session_priv.h"

#include "ui/chosen.h"

#include <stdlib.h>
#include <string.h>

enum { TOPIC_COUNT = 1 };

void ui_person_copy(struct ui_person *to, const struct ui_person *from)
{
	*to = *from;
	to->actor.id = xstrdup(from->actor.id);
	to->actor.printed_name = xstrdup(from->actor.printed_name);
	to->actor.role = xstrdup(from->actor.role);
}

void ui_person_release(struct ui_person *p)
{
	free((char *)p->actor.id);
	free((char *)p->actor.printed_name);
	free((char *)p->actor.role);
	memset(p, 0, sizeof(*p));
}

struct session *session_new(struct app *app)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->app = app;
	s->touched_ms = app_now_ms(app);
	return s;
}

void session_forget_undo(struct session *s)
{
	chosen_free(s->undo);
	s->undo = NULL;
}

void session_end(struct session *s)
{
	ui_person_release(&s->person);
	free(s->role_words);
	s->role_words = NULL;
	s->in = s->signed_before = false;
	session_forget_undo(s);
}

void session_free(struct session *s)
{
	work_cancel(app_work(s->app), s);
	session_drop(s);
	session_end(s);
	follow_free(s);
	free(s);
}

const struct actor *session_actor(const struct session *s)
{
	return s->in ? &s->person.actor : NULL;
}

unsigned session_roles(const struct session *s)
{
	return s->in ? s->person.roles : 0;
}

const char *session_id(const struct session *s)
{
	return s->in ? s->person.actor.id : NULL;
}

const char *session_printed_name(const struct session *s)
{
	return s->in ? s->person.actor.printed_name : NULL;
}

const char *session_role_words(const struct session *s)
{
	return s->role_words ? s->role_words : "";
}

bool session_signed_before(const struct session *s)
{
	return s->signed_before;
}

void session_signed(struct session *s)
{
	s->signed_before = true;
}

bool session_locked(const struct session *s)
{
	return s->lock != NULL;
}

/* Short, for the frame: the second name of each role. */
static char *short_roles(unsigned roles)
{
	static const struct {
		unsigned role;
		const char *word;
	} words[] = {
		{ROLE_MANAGER, "manager"}, {ROLE_ONCALL, "on-call"},
		{ROLE_AUDITOR, "auditor"}, {ROLE_ADMIN, "admin"},
		{ROLE_VIEWER, "viewer"},
	};
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (roles & words[i].role)
			buf_addf(&text, "%s%s", text.len ? "+" : "",
				 words[i].word);
	return buf_detach(&text, NULL);
}

void session_take(struct session *s, struct operator_row *row)
{
	const struct actor *claims = app_world(s->app)->claims;
	bool same = s->in && !strcmp(s->person.actor.id, row->id);
	struct buf role = BUF_INIT;

	if (!same)
		session_end(s);
	/* A session that was locked is not a continuous one. */
	s->signed_before = false;
	ui_person_release(&s->person);
	free(s->role_words);
	if (claims)
		s->person.actor = *claims;
	roles_text(row->roles, &role);
	s->person.actor.person = true;
	s->person.actor.id = row->id;
	s->person.actor.printed_name = row->printed_name;
	s->person.actor.role = xstrdup(buf_text(&role));
	s->person.actor.auth = "password";
	s->person.roles = row->roles;
	s->role_words = short_roles(row->roles);
	row->id = row->printed_name = NULL;
	operator_row_release(row);
	buf_release(&role);
	s->in = true;
	s->touched_ms = app_now_ms(s->app);
	app_paint_soon(s->app);
}

void session_drop(struct session *s)
{
	struct after_sign_in after = s->after;

	s->asking = false;
	s->after = (struct after_sign_in){NULL, NULL, NULL};
	if (after.free_ctx)
		after.free_ctx(after.ctx);
}

void session_go_on(struct session *s)
{
	struct after_sign_in after = s->after;

	s->asking = false;
	s->after = (struct after_sign_in){NULL, NULL, NULL};
	if (after.then)
		after.then(s->app, after.ctx);
	if (after.free_ctx)
		after.free_ctx(after.ctx);
}

/* Is there anybody yet, and are we known by the name we logged in with? */
struct count_job {
	struct job job;
	const char *login;		/* of ui_world; may be NULL */
	bool known;
	int64_t n;
	struct buf error;
};

static void count_run(struct job *job, struct work_room *room)
{
	struct count_job *c = (struct count_job *)job;
	struct store *store = room->store(room);
	struct operator_row row;

	if (!store) {
		buf_adds(&c->error, room->error);
	} else if (operator_count(store, &c->n) < 0) {
		buf_adds(&c->error, store_error(store));
	} else if (c->login) {
		c->known = operator_get(store, c->login, &row) == ST_OK;
		operator_row_release(&row);
	}
}

static void count_done(struct job *job, void *owner)
{
	struct count_job *c = (struct count_job *)job;
	struct session *s = owner;

	if (c->error.len) {
		app_toast(s->app, UI_BAD, "nobody can sign in: %s",
			  buf_text(&c->error));
		session_drop(s);
	} else if (c->n) {
		session_ask_sign_in(s, c->known ? c->login :
				    app_world(s->app)->demo ? "demo" : NULL);
	} else {
		session_ask_first(s);
	}
}

static void count_drop(struct job *job)
{
	struct count_job *c = (struct count_job *)job;

	buf_release(&c->error);
	free(c);
}

static void count_ask(struct session *s)
{
	struct count_job *c = xcalloc(1, sizeof(*c));

	c->job = (struct job){.owner = s, .topic = TOPIC_COUNT,
		.lane = LANE_ACT, .run = count_run, .done = count_done,
		.drop = count_drop};
	c->login = app_world(s->app)->claims ?
		   app_world(s->app)->claims->login : NULL;
	work_ask(app_work(s->app), &c->job);
}

void session_require(struct app *app, void (*then)(struct app *, void *ctx),
		     void *ctx, void (*free_ctx)(void *))
{
	struct session *s = app_session(app);

	if (app_world(app)->readonly)
		app_toast(app, UI_BAD, "this console is read-only "
			  "(--readonly): nothing was done");
	if (app_world(app)->readonly || s->asking || s->lock) {
		if (free_ctx)
			free_ctx(ctx);
		return;
	}
	s->after = (struct after_sign_in){then, ctx, free_ctx};
	if (s->in) {
		session_go_on(s);
		return;
	}
	s->asking = true;
	count_ask(s);
}

void session_touch(struct session *s, int64_t now_ms)
{
	s->touched_ms = now_ms;
}

static int64_t idle_lock_ms(const struct session *s)
{
	const struct config *config = app_world(s->app)->config;

	return config ? config->policy.idle_lock_ms : 0;
}

void session_tick(struct session *s, int64_t now_ms)
{
	int64_t idle_ms = idle_lock_ms(s);

	follow_tick(s);
	if (s->in && !s->lock && idle_ms > 0 &&
	    now_ms - s->touched_ms >= idle_ms)
		s->lock = session_ask_unlock(s);
}
