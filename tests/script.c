/* Reading and running the files of script.h. */
#define _GNU_SOURCE
#include "script.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/utf8.h"
#include "world.h"

enum { SCENES = 3, MATCH_MS = 60000, UPDATE_MS = 60, ENV_MAX = 8 };

struct script_scenes {
	bool made[SCENES];
	struct scene scene[SCENES];
};

struct run {
	const char *file;
	int number;			/* of the line, from 1 */
	bool update, started, done, hostile_ascii, copies;
	struct script_scenes *scenes;
	enum scene_kind kind;
	struct scene scene;		/* the copy */
	bool engine;
	struct vt_start start;
	struct world_options world;
	const char *env[ENV_MAX];
	size_t envs;
	char *kept[64];			/* texts that the options point to */
	size_t kept_n;
	struct vt vt;
	struct buf *trouble;
	struct buf out;			/* the file anew */
	char **line;
	size_t lines, at;
};

struct script_scenes *script_scenes_new(void)
{
	return xcalloc(1, sizeof(struct script_scenes));
}

void script_scenes_free(struct script_scenes *s)
{
	for (int i = 0; i < SCENES; i++)
		if (s->made[i])
			scene_end(&s->scene[i]);
	free(s);
}

static void PRINTF_LIKE(2, 3)
wrong(struct run *r, const char *fmt, ...)
{
	va_list ap;

	buf_addf(r->trouble, "%s:%d: ", r->file, r->number);
	va_start(ap, fmt);
	buf_addv(r->trouble, fmt, ap);
	va_end(ap);
	buf_addc(r->trouble, '\n');
	r->done = true;
}

static char *keep(struct run *r, const char *text)
{
	if (r->kept_n == ARRAY_SIZE(r->kept))
		abort();
	return r->kept[r->kept_n++] = xstrdup(text);
}

/* --- before it starts --- */

static bool size_of(const char *text, int *cols, int *rows)
{
	return sscanf(text, "%dx%d", cols, rows) == 2 && *cols > 0 &&
	       *rows > 0;
}

static void do_scene(struct run *r, const char *arg)
{
	static const char *const names[] = {"study", "hostile", "empty"};

	for (int i = 0; i < SCENES; i++)
		if (!strcmp(arg, names[i])) {
			r->kind = (enum scene_kind)i;
			return;
		}
	wrong(r, "no such scene: %s", arg);
}

static void do_term(struct run *r, const char *arg)
{
	r->start.term = keep(r, strcmp(arg, "unset") ? arg : "");
}

static void do_locale(struct run *r, const char *arg)
{
	r->start.locale = keep(r, arg);
	r->hostile_ascii = !strcmp(arg, "C");
}

static void do_env(struct run *r, const char *arg)
{
	if (r->envs + 1 == ENV_MAX)
		abort();
	r->env[r->envs++] = keep(r, arg);
	r->start.env = r->env;
}

static void do_engine(struct run *r, const char *arg)
{
	(void)arg;
	r->engine = true;
}

static void do_with(struct run *r, const char *arg)
{
	struct world_options *w = &r->world;
	const struct {
		const char *name;
		bool *flag;
		const char **text;
	} rows[] = {
		{"readonly", &w->readonly, NULL}, {"demo", &w->demo, NULL},
		{"no-config", &w->no_config, NULL},
		{"engine-here", &w->engine_here, NULL},
		{"no-colour", &w->term.no_colour, NULL},
		{"ascii", &w->term.ascii, NULL},
		{"no-mouse", &w->term.no_mouse, NULL},
		{"panel", NULL, &w->panel}, {"filter", NULL, &w->filter},
		{"op", NULL, &w->op}, {"theme", NULL, &w->term.theme},
		{"greeting", NULL, &w->greeting},
	};
	size_t n = strcspn(arg, " ");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strlen(rows[i].name) == n &&
		    !strncmp(rows[i].name, arg, n)) {
			if (rows[i].flag)
				*rows[i].flag = true;
			else
				*rows[i].text = keep(r, arg + n + (arg[n] ==
							     ' '));
			return;
		}
	wrong(r, "nothing can be had with %s", arg);
}

static void start(struct run *r)
{
	struct script_scenes *s = r->scenes;

	if (!s->made[r->kind])
		scene_make(&s->scene[r->kind], r->kind);
	s->made[r->kind] = true;
	scene_copy(&r->scene, &s->scene[r->kind]);
	if (r->engine)
		scene_engine(&r->scene);
	r->world.scene = &r->scene;
	r->world.clock_ms = world_clock();
	r->start.run = world_run;
	r->start.ctx = &r->world;
	r->start.home = r->scene.dir;
	r->start.zone = SCENE_ZONE;
	vt_start(&r->vt, &r->start);
	r->started = true;
	if (!r->vt.ended)
		vt_settle_for(&r->vt, r->update ? UPDATE_MS : 0);
}

/* --- what a person does --- */

/* A console that never rests burns a processor. */
static void rest(struct run *r, int asleep_ms)
{
	if (!r->done && !vt_settle_for(&r->vt, asleep_ms) && !r->vt.ended)
		wrong(r, "it does not come to rest");
}

/* After Esc a terminal waits whether more comes: so do we. */
static void do_keys(struct run *r, const char *arg)
{
	char *copy = xstrdup(arg), *left = copy, *key;

	while ((key = strsep(&left, " ")) && !r->done) {
		if (!*key)
			continue;
		if (!vt_key(&r->vt, key))
			wrong(r, "no such key: %s", key);
		rest(r, strcmp(key, "Esc") ? 0 : 60);
	}
	free(copy);
}

static void do_type(struct run *r, const char *arg)
{
	vt_type(&r->vt, arg);
	rest(r, 0);
}

static void do_paste(struct run *r, const char *arg)
{
	struct buf text = BUF_INIT;

	for (const char *p = arg; *p; p++)
		if (p[0] == '\\' && p[1] == 'n')
			buf_addc(&text, '\n'), p++;
		else
			buf_addc(&text, *p);
	vt_paste(&r->vt, buf_text(&text));
	rest(r, 0);
	buf_release(&text);
}

static void do_click(struct run *r, const char *arg)
{
	int row, col, button = 1;

	if (sscanf(arg, "%d %d %d", &row, &col, &button) < 2) {
		wrong(r, "click ROW COL [BUTTON]");
		return;
	}
	vt_click(&r->vt, row, col, button);
	rest(r, 0);
}

static void do_size(struct run *r, const char *arg)
{
	int cols, rows;

	if (!size_of(arg, &cols, &rows)) {
		wrong(r, "size COLSxROWS");
	} else if (!r->started) {
		r->start.cols = cols;
		r->start.rows = rows;
	} else {
		vt_resize(&r->vt, cols, rows);
		rest(r, 0);
	}
}

static void do_wait(struct run *r, const char *arg)
{
	struct buf screen = BUF_INIT;

	if (vt_wait_for(&r->vt, arg, VT_LONG_MS) < 0) {
		vt_text(&r->vt, &screen);
		wrong(r, "'%s' did not come; there is:\n%s", arg,
		      buf_text(&screen));
	}
	buf_release(&screen);
}

static void do_clock(struct run *r, const char *arg)
{
	int64_t ms = (int64_t)strtol(arg, NULL, 10) * 1000, seen;

	__atomic_add_fetch(r->world.clock_ms, ms, __ATOMIC_SEQ_CST);
	/* It looks ten times a second, and others of its threads do, too. */
	seen = world_looks(r->world.clock_ms) + 3;
	for (int i = 0; i < VT_LONG_MS / 10 && !r->vt.ended &&
	     world_looks(r->world.clock_ms) < seen; i++)
		vt_pump(&r->vt, 10);
	rest(r, 0);
}

static void do_signal(struct run *r, const char *arg)
{
	vt_signal(&r->vt, !strcmp(arg, "TERM") ? SIGTERM :
		  !strcmp(arg, "INT") ? SIGINT : SIGHUP);
}

static void lint(struct run *r)
{
	struct buf words = BUF_INIT;

	if (!vt_lint(&r->vt, r->hostile_ascii || r->world.term.ascii,
		     r->copies, &words))
		wrong(r, "written to the terminal: %s", buf_text(&words));
	buf_release(&words);
}

static void do_ends(struct run *r, const char *arg)
{
	struct buf words = BUF_INIT;

	if (!vt_wait_end(&r->vt, VT_LONG_MS))
		wrong(r, "it does not end");
	else if (!WIFEXITED(r->vt.status) ||
		 WEXITSTATUS(r->vt.status) != (int)strtol(arg, NULL, 10))
		wrong(r, "it ended with %x", r->vt.status);
	else if (!vt_clean(&r->vt, &words))
		wrong(r, "it left the terminal with %s", buf_text(&words));
	buf_release(&words);
}

/* Wherever the script left it: asked to end it does, clean, and a sanitizer
 * has nothing to say about it. */
static void part(struct run *r)
{
	lint(r);
	if (r->vt.ended || r->done)
		return;
	vt_signal(&r->vt, SIGTERM);
	do_ends(r, "0");
}

static void do_copies(struct run *r, const char *arg)
{
	(void)arg;
	r->copies = true;
}

static void do_colours(struct run *r, const char *arg)
{
	if (vt_colours(&r->vt) != !strcmp(arg, "yes"))
		wrong(r, "colours: not %s", arg);
}

/* --- the record --- */

static void screen_text(struct run *r, bool looks, struct buf *out)
{
	buf_clear(out);
	for (int row = 0; row < r->vt.rows; row++) {
		buf_addc(out, '|');
		if (looks)
			vt_looks(&r->vt, row, out);
		else
			vt_row(&r->vt, row, out);
		buf_addc(out, '\n');
	}
}

static void recorded(struct run *r, struct buf *out)
{
	while (r->at < r->lines && r->line[r->at][0] == '|') {
		buf_adds(out, r->line[r->at++]);
		buf_addc(out, '\n');
	}
}

/* Line by line: what both have once, else what was wanted and what came. */
static void diff(struct run *r, const char *want, const char *got)
{
	for (int row = 0; *want || *got; row++) {
		size_t a = strcspn(want, "\n"), b = strcspn(got, "\n");
		bool same = a == b && !memcmp(want, got, a);

		if (same)
			buf_addf(r->trouble, "  %3d   %.*s\n", row, (int)a,
				 want);
		else
			buf_addf(r->trouble, "  %3d - %.*s\n  %3d + %.*s\n",
				 row, (int)a, want, row, (int)b, got);
		want += a + (want[a] != '\0');
		got += b + (got[b] != '\0');
	}
}

static void compare(struct run *r, bool looks)
{
	struct buf want = BUF_INIT, got = BUF_INIT;

	recorded(r, &want);
	screen_text(r, looks, &got);
	for (int ms = 0; !r->update && ms < MATCH_MS && !r->vt.ended &&
	     strcmp(buf_text(&want), buf_text(&got)); ms += 20) {
		vt_pump(&r->vt, 20);
		screen_text(r, looks, &got);
	}
	if (r->update)
		buf_addspan(&r->out, buf_span(&got));
	else if (strcmp(buf_text(&want), buf_text(&got))) {
		wrong(r, "another screen (- recorded, + now):");
		diff(r, buf_text(&want), buf_text(&got));
	}
	buf_release(&want);
	buf_release(&got);
}

static void do_show(struct run *r, const char *arg)
{
	(void)arg;
	if (r->vt.ended && WIFSIGNALED(r->vt.status))
		wrong(r, "it died of signal %d", WTERMSIG(r->vt.status));
	if (r->update && !r->vt.ended)
		rest(r, UPDATE_MS);
	compare(r, false);
	lint(r);
}

static void do_looks(struct run *r, const char *arg)
{
	(void)arg;
	compare(r, true);
}

static const struct step {
	const char *name;
	void (*run)(struct run *, const char *arg);
	bool before;			/* does not start the console */
} steps[] = {
	{"scene", do_scene, true}, {"term", do_term, true},
	{"locale", do_locale, true}, {"env", do_env, true},
	{"engine", do_engine, true}, {"with", do_with, true},
	{"copies", do_copies, true}, {"size", do_size, true},
	{"keys", do_keys, false}, {"type", do_type, false},
	{"paste", do_paste, false}, {"click", do_click, false},
	{"wait", do_wait, false}, {"clock", do_clock, false},
	{"signal", do_signal, false}, {"ends", do_ends, false},
	{"show", do_show, false}, {"looks", do_looks, false},
	{"colours", do_colours, false},
};

/* Nobody asked it to end: what it said last is worth reading. */
static bool died(struct run *r, void (*next)(struct run *, const char *))
{
	struct buf tail = BUF_INIT;

	if (!r->started || !r->vt.ended || next == do_ends || next == do_show)
		return false;
	vt_tail(&r->vt, 400, &tail);
	wrong(r, "it ended by itself (%x):\n%s", r->vt.status,
	      buf_text(&tail));
	buf_release(&tail);
	return true;
}

static void step(struct run *r, const char *line)
{
	size_t n = strcspn(line, " ");

	if (!*line || *line == '#')
		return;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (strlen(steps[i].name) == n &&
		    !strncmp(line, steps[i].name, n)) {
			if (!steps[i].before && !r->started)
				start(r);
			if (died(r, steps[i].run))
				return;
			steps[i].run(r, line + n + (line[n] == ' '));
			return;
		}
	wrong(r, "no such step: %s", line);
}

/* --- the file --- */

static bool read_lines(struct run *r)
{
	FILE *f = fopen(r->file, "re");
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (!f) {
		wrong(r, "cannot be read");
		return false;
	}
	while ((n = getline(&line, &size, f)) >= 0) {
		if (n && line[n - 1] == '\n')
			line[n - 1] = '\0';
		r->line = xrealloc(r->line, (r->lines + 1) *
				   sizeof(*r->line));
		r->line[r->lines++] = xstrdup(line);
	}
	free(line);
	fclose(f);
	return true;
}

static void write_anew(struct run *r)
{
	FILE *f = fopen(r->file, "we");

	if (!f || fwrite(r->out.p, 1, r->out.len, f) != r->out.len ||
	    fclose(f))
		wrong(r, "cannot be written");
}

static void release(struct run *r)
{
	if (r->started) {
		vt_end(&r->vt);
		scene_end(&r->scene);
	}
	for (size_t i = 0; i < r->lines; i++)
		free(r->line[i]);
	free(r->line);
	for (size_t i = 0; i < r->kept_n; i++)
		free(r->kept[i]);
	buf_release(&r->out);
}

void script_run(const char *file, bool update, struct script_scenes *scenes,
		struct buf *trouble)
{
	struct run r = {.file = file, .update = update, .scenes = scenes,
			.trouble = trouble};

	if (read_lines(&r))
		while (r.at < r.lines && !r.done) {
			const char *line = r.line[r.at++];

			r.number = (int)r.at;
			buf_addf(&r.out, "%s\n", line);
			if (*line == '|')
				wrong(&r, "a record without show");
			else
				step(&r, line);
		}
	if (r.started && !r.done)
		part(&r);
	if (update && !r.done && r.out.len)
		write_anew(&r);
	release(&r);
}
