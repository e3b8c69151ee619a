/* tell.c - see app_priv.h. What leaves the console: the clipboard, a file, a
 * command line; and the help. */
#include "ui/app_priv.h"

#include "core/timefmt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOPIC_VERIFY = 16, FILES_A_SECOND = 10, SECONDS_TEXT = 14 };

/* Every line of it escaped; its own line ends stay. */
static void lines_escape(struct buf *out, struct span text)
{
	while (text.n) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;

		utf8_escape(out, (struct span){text.p, n}, false);
		if (!end)
			return;
		buf_addc(out, '\n');
		text.p += n + 1;
		text.n -= n + 1;
	}
}

void tell_copy(struct app *app)
{
	const struct panel_ops *ops = app->top->ops;
	struct buf raw = BUF_INIT, text = BUF_INIT;

	if (ops->copy)
		ops->copy(app->top, &raw);
	lines_escape(&text, buf_span(&raw));
	if (!text.len)
		app_toast(app, UI_DIM, "there is nothing to copy here");
	else if (!term_copy(app->term, buf_span(&text)))
		app_toast(app, UI_BAD, "too long to copy (%zu bytes); ^S "
			  "writes it to a file", text.len);
	else
		app_toast(app, UI_INFO, "copied %zu bytes, if the terminal "
			  "allows it", text.len);
	buf_release(&raw);
	buf_release(&text);
}

void tell_command_line(struct app *app)
{
	const struct panel_ops *ops = app->top->ops;
	const char *program = app->world->program;
	struct buf text = BUF_INIT;

	if (ops->command_line)
		ops->command_line(app->top, &text);
	if (!text.len)
		buf_addf(&text, "%s console --panel=%s",
			 program ? program : "edcsync",
			 app->root[app->at]->ops->name);
	pager_open(app, "The same on the command line", buf_text(&text));
	buf_release(&text);
}

/* Files */

static int file_create(const char *folder, const char *name, const char *at,
		       struct buf *path)
{
	int fd = -1;

	for (int i = 0; i < FILES_A_SECOND && fd < 0; i++) {
		buf_clear(path);
		buf_addf(path, "%s/edcsync-%s-%s", folder, name, at);
		if (i)
			buf_addf(path, "-%d", i);
		buf_adds(path, ".txt");
		fd = open(buf_text(path), O_WRONLY | O_CREAT | O_EXCL |
			  O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static bool write_whole(int fd, struct span text)
{
	while (text.n) {
		ssize_t n = write(fd, text.p, text.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text.p += n;
		text.n -= (size_t)n;
	}
	return true;
}

/* 20261129-140231, in the zone on the screen. */
static void name_time(const struct app *app, char out[TIME_TEXT])
{
	int64_t now = app_now_ms(app);
	char at[TIME_TEXT];
	size_t n = 0;

	time_local(now, app_utc_offset_min(app, now), at);
	for (size_t i = 0; i < 19; i++) {
		if (at[i] == 'T')
			out[n++] = '-';
		else if (at[i] != '-' && at[i] != ':')
			out[n++] = at[i];
	}
	out[n] = '\0';
}

void tell_export(struct app *app)
{
	const struct panel_ops *ops = app->top->ops;
	const char *folder = app->world->export_dir;
	struct buf text = BUF_INIT, path = BUF_INIT;
	char at[TIME_TEXT];
	bool ok;
	int fd;

	if (ops->export)
		ops->export(app->top, &text);
	else
		grid_text(&app->grid, &text);
	name_time(app, at);
	fd = file_create(folder ? folder : ".", ops->name, at, &path);
	ok = fd >= 0 && write_whole(fd, buf_span(&text));
	if (fd >= 0 && close(fd))
		ok = false;
	if (ok)
		app_toast(app, UI_OK, "written to %s", buf_text(&path));
	else
		app_toast(app, UI_BAD, "cannot write %s: %s", buf_text(&path),
			  strerror(errno));
	buf_release(&text);
	buf_release(&path);
}

/* Help: the tables, and nothing that is not in them. */

static void help_signs(struct app *app, struct buf *text)
{
	static const struct {
		enum ui_glyph glyph;
		const char *words;
	} more[] = {
		{GLYPH_CLOSED, "circuit closed: it works"},
		{GLYPH_OPEN, "circuit open: nothing is sent but probes"},
		{GLYPH_PROBING, "circuit trying whether it works again"},
		{GLYPH_STOPPED, "stopped: paused, or log-in refused"},
		{GLYPH_MARKED, "marked; or the row that keys act on"},
	};

	buf_adds(text, "\nSigns\n");
	for (int i = 0; i < OP_STATE_COUNT; i++)
		buf_addf(text, "  %s  %s\n",
			 state_glyph(&app->grid, (enum op_state)i, 0),
			 op_state_words((enum op_state)i));
	buf_addf(text, "  %s  may be there: sent, and nobody knows whether "
		 "the vendor has it\n",
		 state_glyph(&app->grid, OP_DEAD, OP_OUTCOME_UNKNOWN));
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		buf_addf(text, "  %s  %s\n",
			 glyph_text(&app->grid, more[i].glyph),
			 more[i].words);
}

void tell_help(struct app *app)
{
	const struct panel_ops *ops = app->top->ops;
	struct buf text = BUF_INIT;

	buf_adds(&text, "1 shows what needs a person, 6 what was given up, F "
		 "a subject.\nc looks at the vendor and changes nothing, r "
		 "sends again,\nEnter shows why, Esc goes back.\n\n");
	buf_addf(&text, "Keys in %s\n\n", ops->title);
	keys_help(app_can(app), &text);
	help_signs(app, &text);
	buf_adds(&text, "\nCommands, after a :\n");
	for (const struct ui_command *c = ui_commands; c->name; c++) {
		struct buf call = BUF_INIT;

		buf_addf(&call, "%s %s", c->name, c->usage);
		buf_addf(&text, "  %-20s %s\n", buf_text(&call), c->words);
		buf_release(&call);
	}
	buf_adds(&text, "\nFilters, after a /\n"
		 "  words find error, subject, form, event, site and notes;\n"
		 "  field:value (Tab names the fields), a comma for or, - in\n"
		 "  front for not, * at the end, quotes around blanks;\n"
		 "  age>2h  attempts>=3  since:08:00  until:2026-11-29\n");
	pager_open(app, "Help", buf_text(&text));
	buf_release(&text);
}

/* The audit trail, checked beside the screen. */

struct verify_job {
	struct job job;
	const struct ui_world *world;
	struct buf words;
	bool intact;
};

static void verify_run(struct job *job, struct work_room *room)
{
	struct verify_job *j = (struct verify_job *)job;

	j->intact = j->world->verify(j->world->ctx, room->stopped, room,
				     &j->words);
}

static void verify_done(struct job *job, void *owner)
{
	struct verify_job *j = (struct verify_job *)job;
	struct app *app = owner;

	app->verified_ms = app_now_ms(app);
	app->intact = j->intact;
	if (session_locked(app->session))
		return;
	app_toast(app, j->intact ? UI_OK : UI_BAD, "audit trail: %s",
		  j->intact ? "intact" : "not intact, or not to be read");
	pager_open(app, "Audit trail", buf_text(&j->words));
}

static void verify_drop(struct job *job)
{
	struct verify_job *j = (struct verify_job *)job;

	buf_release(&j->words);
	free(j);
}

int64_t app_verified(const struct app *app, bool *intact)
{
	*intact = app->intact;
	return app->verified_ms;
}

void tell_verify(struct app *app)
{
	struct verify_job *j;

	if (work_busy(app->work, app, TOPIC_VERIFY)) {
		app_toast(app, UI_INFO, "it is being checked already");
		return;
	}
	j = xcalloc(1, sizeof(*j));
	j->job = (struct job){.owner = app, .topic = TOPIC_VERIFY,
		.lane = LANE_LONG, .run = verify_run, .done = verify_done,
		.drop = verify_drop};
	j->world = app->world;
	app_toast(app, UI_INFO, "the audit trail is being checked; go on");
	work_ask(app->work, &j->job);
}
