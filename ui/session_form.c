/* The dialogs of a session: sign in, the first operator, a password that
 * must be changed, the lock. Hashing goes on in the ACT lane. */
#include "ui/session_priv.h"

#include <stdlib.h>
#include <string.h>

enum { PASSWORD_BYTES_MIN = 4, PASSWORD_BYTES_MAX = 1024, ID_BYTES_MAX = 64,
       TOPIC_HASH = 1 };

enum form_kind { FORM_SIGN_IN, FORM_FIRST, FORM_CHANGE, FORM_UNLOCK };

struct form {
	struct session *session;
	enum form_kind kind;
	struct operator_row row;	/* CHANGE: who signed in so far */
};

/* One question to the people of the store; holds what it needs. */
struct people_job {
	struct job job;
	enum form_kind kind;
	char *id, *name, *organisation;
	unsigned roles;
	struct buf password;
	struct actor claims;		/* borrowed from ui_world */
	bool signed_in;			/* answer: row is filled */
	enum sign_in how;
	struct operator_row row;
	struct buf error;
};

static void people_fail(struct people_job *p, struct store *store, int rc)
{
	if (rc != ST_OK && !p->error.len)
		buf_addf(&p->error, "%s", store_error(store));
}

static int sign_in(struct people_job *p, struct store *store, int64_t now_ms)
{
	int rc = operator_sign_in(store, p->id, buf_span(&p->password),
				  &p->claims, now_ms, &p->how, &p->row);

	p->signed_in = rc == ST_OK;
	return rc;
}

static int make_first(struct people_job *p, struct store *store,
		      int64_t now_ms)
{
	struct operator_row row = {.id = p->id, .printed_name = p->name,
		.organisation = *p->organisation ? p->organisation : NULL,
		.roles = ROLE_ADMIN | ROLE_MANAGER};

	return operator_add(store, &row, buf_span(&p->password), NULL,
			    now_ms);
}

static void people_run(struct job *job, struct work_room *room)
{
	struct people_job *p = (struct people_job *)job;
	struct store *store = room->store(room);
	struct actor self = p->claims;
	int rc = ST_OK;

	if (!store) {
		buf_adds(&p->error, room->error);
		return;
	}
	self.id = p->id;
	self.printed_name = p->name;
	self.auth = "password";
	if (p->kind == FORM_FIRST)
		rc = make_first(p, store, room->now_ms);
	else if (p->kind == FORM_CHANGE)
		rc = operator_passwd(store, p->id, buf_span(&p->password),
				     &self, room->now_ms);
	/* Whoever changed it or came first is in by what they typed. */
	if (rc == ST_OK)
		rc = sign_in(p, store, room->now_ms);
	people_fail(p, store, rc);
}

static void people_drop(struct job *job)
{
	struct people_job *p = (struct people_job *)job;

	buf_wipe(&p->password);
	buf_release(&p->error);
	operator_row_release(&p->row);
	free(p->id);
	free(p->name);
	free(p->organisation);
	free(p);
}

static void ask_change(struct session *, struct operator_row *);

/* Somebody is in. Whatever waited goes on after the dialog is gone. */
static void came_in(struct dialog *d, struct session *s,
		    struct operator_row *row)
{
	struct after_sign_in after = s->after;

	s->after = (struct after_sign_in){NULL, NULL, NULL};
	session_take(s, row);
	dialog_close(d);
	app_toast(s->app, UI_OK, "signed in: %s (%s)",
		  session_printed_name(s), session_role_words(s));
	s->after = after;
	session_go_on(s);
}

static void must_change(struct dialog *d, struct session *s,
			struct operator_row *row)
{
	struct after_sign_in after = s->after;
	struct operator_row mine = *row;

	memset(row, 0, sizeof(*row));
	s->after = (struct after_sign_in){NULL, NULL, NULL};
	dialog_close(d);
	s->after = after;
	s->asking = true;
	ask_change(s, &mine);
}

static void refused(struct dialog *d, enum sign_in how)
{
	dialog_busy(d, false);
	dialog_error(d, "not signed in: %s%s", sign_in_words(how),
		     how == SIGN_IN_LOCKED ? "; after five wrong passwords it "
		     "opens by itself 15 minutes later" : "");
	dialog_focus(d, "password");
}

static void people_done(struct job *job, void *owner)
{
	struct people_job *p = (struct people_job *)job;
	struct dialog *d = owner;
	struct form *form = dialog_ctx(d);

	if (p->error.len) {
		dialog_busy(d, false);
		dialog_error(d, "%s", buf_text(&p->error));
	} else if (p->how == SIGN_IN_OK) {
		came_in(d, form->session, &p->row);
	} else if (p->how == SIGN_IN_MUST_CHANGE) {
		must_change(d, form->session, &p->row);
	} else {
		refused(d, p->how);
	}
}

static void people_ask(struct dialog *d, const char *id, const char *name,
		       const char *organisation)
{
	struct form *form = dialog_ctx(d);
	struct people_job *p = xcalloc(1, sizeof(*p));
	const struct actor *claims = app_world(form->session->app)->claims;

	p->job = (struct job){.owner = d, .topic = TOPIC_HASH,
		.lane = LANE_ACT, .run = people_run, .done = people_done,
		.drop = people_drop};
	p->kind = form->kind;
	p->id = xstrdup(id);
	p->name = xstrdup(name);
	p->organisation = xstrdup(organisation);
	buf_adds(&p->password, dialog_value(d, "password"));
	if (claims)
		p->claims = *claims;
	dialog_wipe(d);
	dialog_error(d, NULL);
	dialog_busy(d, true);
	work_ask(app_work(form->session->app), &p->job);
}

/* Two that must be the same. */
static bool new_password_fits(struct dialog *d)
{
	const char *one = dialog_value(d, "password");

	if (strlen(one) < PASSWORD_BYTES_MIN)
		dialog_error(d, "a password has at least %d characters",
			     PASSWORD_BYTES_MIN);
	else if (strcmp(one, dialog_value(d, "again")) != 0)
		dialog_error(d, "the two passwords differ");
	else
		return true;
	dialog_wipe(d);
	dialog_focus(d, "password");
	return false;
}

static bool filled(struct dialog *d, const char *name, const char *what)
{
	if (*dialog_value(d, name))
		return true;
	dialog_error(d, "%s is needed", what);
	dialog_focus(d, name);
	return false;
}

static void form_free(void *ctx)
{
	struct form *form = ctx;
	struct session *s = form->session;

	if (form->kind == FORM_UNLOCK)
		s->lock = NULL;
	session_drop(s);
	operator_row_release(&form->row);
	free(form);
}

static struct dialog *form_open(struct session *s, enum form_kind kind,
				struct dialog_spec *spec)
{
	struct form *form = xcalloc(1, sizeof(*form));

	form->session = s;
	form->kind = kind;
	spec->ctx = form;
	spec->free_ctx = form_free;
	spec->enter_button = 1;
	return dialog_open(s->app, spec);
}

static const char *login(const struct session *s)
{
	const struct actor *claims = app_world(s->app)->claims;

	return claims ? claims->login : NULL;
}

/* Sign in */

static unsigned sign_in_chosen(struct dialog *d, int button)
{
	if (!button)
		return FX_BACK;
	if (filled(d, "id", "an operator id") &&
	    filled(d, "password", "the password"))
		people_ask(d, dialog_value(d, "id"), "", "");
	return FX_NONE;
}

void session_ask_sign_in(struct session *s, const char *id)
{
	static const char *const buttons[] = {"Cancel", "Sign in", NULL};
	const struct field_row rows[] = {
		{"id", "Operator id", FIELD_TEXT, 30, ID_BYTES_MAX, NULL,
		 id},
		{"password", "Password", FIELD_SECRET, 30,
		 PASSWORD_BYTES_MAX, NULL, NULL},
		{NULL, NULL, FIELD_TEXT, 0, 0, NULL, NULL}
	};
	struct dialog_spec spec = {.title = "Who are you?", .fields = rows,
		.buttons = buttons, .width = 60, .chosen = sign_in_chosen};
	struct dialog *d = form_open(s, FORM_SIGN_IN, &spec);

	dialog_word(d, UI_TEXT, "Acts are recorded with the name of whoever "
		    "does them.");
	if (id)
		dialog_focus(d, "password");
}

/* The first operator */

static unsigned first_chosen(struct dialog *d, int button)
{
	if (!button)
		return FX_BACK;
	if (filled(d, "id", "an operator id") &&
	    filled(d, "name", "the name as printed on a signature") &&
	    new_password_fits(d))
		people_ask(d, dialog_value(d, "id"), dialog_value(d, "name"),
			   dialog_value(d, "organisation"));
	return FX_NONE;
}

void session_ask_first(struct session *s)
{
	static const char *const buttons[] = {"Cancel", "Create", NULL};
	const struct field_row rows[] = {
		{"id", "Operator id", FIELD_TEXT, 30, ID_BYTES_MAX, NULL,
		 login(s)},
		{"name", "Printed name", FIELD_TEXT, 30, LIMIT_ID_BYTES, NULL,
		 NULL},
		{"organisation", "Organisation", FIELD_TEXT, 30,
		 LIMIT_ID_BYTES, NULL, NULL},
		{"password", "Password", FIELD_SECRET, 30,
		 PASSWORD_BYTES_MAX, NULL, NULL},
		{"again", "The same again", FIELD_SECRET, 30,
		 PASSWORD_BYTES_MAX, NULL, NULL},
		{NULL, NULL, FIELD_TEXT, 0, 0, NULL, NULL}
	};
	struct dialog_spec spec = {.title = "The first operator",
		.fields = rows, .buttons = buttons, .width = 64,
		.chosen = first_chosen};
	struct dialog *d = form_open(s, FORM_FIRST, &spec);

	dialog_word(d, UI_TEXT, "This store knows nobody yet, and an act needs "
		    "somebody who does it. The first operator becomes "
		    "administrator and data manager, and adds the others. An "
		    "id is never given twice; the name is printed beside "
		    "signatures.");
	dialog_focus(d, login(s) ? "name" : "id");
}

/* A password that somebody else set */

static unsigned change_chosen(struct dialog *d, int button)
{
	struct form *form = dialog_ctx(d);

	if (!button)
		return FX_BACK;
	if (new_password_fits(d))
		people_ask(d, form->row.id, form->row.printed_name, "");
	return FX_NONE;
}

static void ask_change(struct session *s, struct operator_row *row)
{
	static const char *const buttons[] = {"Cancel", "Change", NULL};
	static const struct field_row rows[] = {
		{"password", "New password", FIELD_SECRET, 30,
		 PASSWORD_BYTES_MAX, NULL, NULL},
		{"again", "The same again", FIELD_SECRET, 30,
		 PASSWORD_BYTES_MAX, NULL, NULL},
		{NULL, NULL, FIELD_TEXT, 0, 0, NULL, NULL}
	};
	struct dialog_spec spec = {.title = "A new password", .fields = rows,
		.buttons = buttons, .width = 60, .chosen = change_chosen};
	struct dialog *d = form_open(s, FORM_CHANGE, &spec);
	struct form *form = dialog_ctx(d);

	form->row = *row;
	dialog_word(d, UI_TEXT, "%s: your password was set by somebody else. "
		    "Choose one that only you know; then you are signed in.",
		    row->printed_name);
}

/* The lock */

static void quit(struct app *app)
{
	struct buf error = BUF_INIT;

	for (const struct ui_command *c = ui_commands; c->name; c++)
		if (!strcmp(c->name, "quit"))
			c->run(app, "", &error);
	buf_release(&error);
}

static unsigned unlock_chosen(struct dialog *d, int button)
{
	struct form *form = dialog_ctx(d);

	if (button == 2) {
		quit(form->session->app);
	} else if (!button) {
		dialog_wipe(d);
		dialog_error(d, NULL);
	} else if (filled(d, "id", "an operator id") &&
		   filled(d, "password", "the password")) {
		people_ask(d, dialog_value(d, "id"), "", "");
	}
	return FX_NONE;
}

struct dialog *session_ask_unlock(struct session *s)
{
	static const char *const buttons[] = {"Stay locked", "Unlock",
					      "Leave", NULL};
	const struct field_row rows[] = {
		{"id", "Operator id", FIELD_TEXT, 30, ID_BYTES_MAX, NULL,
		 session_id(s)},
		{"password", "Password", FIELD_SECRET, 30,
		 PASSWORD_BYTES_MAX, NULL, NULL},
		{NULL, NULL, FIELD_TEXT, 0, 0, NULL, NULL}
	};
	struct dialog_spec spec = {.title = "Locked", .fields = rows,
		.buttons = buttons, .width = 60, .chosen = unlock_chosen};
	struct buf since = BUF_INIT;
	struct dialog *d;

	/* What waits behind it is not theirs who comes next. */
	session_drop(s);
	d = form_open(s, FORM_UNLOCK, &spec);
	app_time(s->app, app_now_ms(s->app), &since);
	dialog_word(d, UI_TEXT, "Nobody was here for a while: locked at %s for "
		    "%s. The engine goes on. Somebody else may sign in, too.",
		    buf_text(&since), session_printed_name(s));
	dialog_focus(d, "password");
	buf_release(&since);
	return d;
}
