/* prompt.c - see app.h. The line at the bottom that is typed into, and the
 * note under it: what is wrong and where, or what Tab offers. */
#include "ui/app_priv.h"

#include "ui/field.h"

#include <stdlib.h>
#include <string.h>

enum { HISTORY_MAX = 50, LINE_BYTES_MAX = 4096, OP_FLAGS_OFFERED = 16,
       NOTE_ROWS = 3 };

struct history {
	char *line[HISTORY_MAX];
	size_t n;
};

struct prompt {
	enum prompt_kind kind;
	struct field field;
	struct buf note;
	bool bad;			/* the note is about a mistake */
	int mistake_at;			/* character, from 1; 0 none */
	size_t back;			/* steps back in the history */
	char *draft;			/* what was typed before those; owned */
	/* Completion: what stood there before the first Tab, and which offer
	 * is shown. */
	char *stem;			/* owned; NULL: none under way */
	size_t offer;
};

static const char *const signs[] = {
	[PROMPT_FILTER] = "/", [PROMPT_COMMAND] = ":",
	[PROMPT_FIND] = "Find ",
};

static const char *const hints[] = {
	[PROMPT_FILTER] = "words, field:value, age>2h, attempts>=3; Tab "
			  "completes, Enter applies, empty clears",
	[PROMPT_COMMAND] = "Tab completes, Up is the last one, Esc leaves",
	[PROMPT_FIND] = "a subject, or the id of anything: operation, key, "
			"request, record of the vendor",
};

/* History: of this console only; it may hold names of subjects. */

static void history_add(struct app *app, enum prompt_kind kind,
			const char *line)
{
	struct history *h = app->history[kind];

	if (!h)
		h = app->history[kind] = xcalloc(1, sizeof(*h));
	if (!*line || (h->n && strcmp(h->line[h->n - 1], line) == 0))
		return;
	if (h->n == HISTORY_MAX) {
		free(h->line[0]);
		memmove(h->line, h->line + 1,
			(HISTORY_MAX - 1) * sizeof(h->line[0]));
		h->n--;
	}
	h->line[h->n++] = xstrdup(line);
}

void histories_free(struct app *app)
{
	for (size_t k = 0; k < ARRAY_SIZE(app->history); k++) {
		struct history *h = app->history[k];

		for (size_t i = 0; h && i < h->n; i++)
			free(h->line[i]);
		free(h);
		app->history[k] = NULL;
	}
}

static void history_step(struct app *app, struct prompt *p, bool older)
{
	const struct history *h = app->history[p->kind];

	if (!h || (older ? p->back >= h->n : !p->back))
		return;
	if (!p->back) {
		free(p->draft);
		p->draft = xstrdup(field_text(&p->field));
	}
	p->back += older ? 1 : (size_t)-1;
	field_set(&p->field, p->back ? h->line[h->n - p->back] : p->draft);
}

/* Mistakes are named while they are typed. */

static void note_set(struct prompt *p, bool bad, int at, const char *text)
{
	buf_clear(&p->note);
	buf_adds(&p->note, text);
	p->bad = bad;
	p->mistake_at = at;
}

static bool filter_good(struct app *app, struct prompt *p)
{
	int64_t now = app_now_ms(app);
	struct filter_error error;
	struct buf words = BUF_INIT;
	struct filter *f;

	if (app->top->ops->filter_check) {
		bool good = app->top->ops->filter_check(app->top,
			field_text(&p->field), &words);

		note_set(p, !good, 0, buf_text(&words));
		buf_release(&words);
		return good;
	}
	f = filter_parse(span_of(field_text(&p->field)), now,
			 app_utc_offset_min(app, now), &error);
	if (!f) {
		note_set(p, true, error.position, error.text);
		return false;
	}
	filter_free(f);
	note_set(p, false, 0, hints[p->kind]);
	return true;
}

static void command_note(struct prompt *p)
{
	const char *line = field_text(&p->field);
	size_t n = strcspn(line, " ");
	const struct ui_command *c = command_find(line, n);
	struct buf text = BUF_INIT;

	if (c)
		buf_addf(&text, "%s %s  %s", c->name, c->usage, c->words);
	else if (n && line[n])
		buf_addf(&text, "there is no command '%.*s'; Tab shows them",
			 (int)n, line);
	note_set(p, !c && text.len, 0,
		 text.len ? buf_text(&text) : hints[p->kind]);
	buf_release(&text);
}

static void look(struct app *app, struct prompt *p)
{
	if (p->kind == PROMPT_FILTER)
		filter_good(app, p);
	else if (p->kind == PROMPT_COMMAND)
		command_note(p);
}

/* Completion: the word before the end, by offers that begin like it. */

static const char *endpoint_offer(struct app *app, size_t i)
{
	const struct config *c = app->world->config;

	return c && i < c->endpoints ? c->endpoint[i].name : NULL;
}

static const char *state_offer(struct app *app, size_t i)
{
	(void)app;
	return i < OP_STATE_COUNT ? op_state_name((enum op_state)i) : NULL;
}

static const char *flag_offer(struct app *app, size_t i)
{
	static char text[OP_FLAGS_OFFERED][32];
	struct buf name = BUF_INIT;

	(void)app;
	if (i >= ARRAY_SIZE(text))
		return NULL;
	op_flags_text(1u << i, &name);
	text_set(text[i], sizeof(text[i]), buf_span(&name));
	buf_release(&name);
	return text[i][0] ? text[i] : NULL;
}

static const char *field_offer(struct app *app, size_t i)
{
	static const char *const more[] = {"age>", "attempts>=", "since:",
					   "until:"};
	static char text[FILTER_FIELD_COUNT][24];

	(void)app;
	if (i >= FILTER_FIELD_COUNT)
		return i - FILTER_FIELD_COUNT < ARRAY_SIZE(more)
			? more[i - FILTER_FIELD_COUNT] : NULL;
	if (!text[i][0]) {
		const char *name = filter_field_name((enum filter_field)i);

		text_set(text[i], sizeof(text[i]) - 1, span_of(name));
		text[i][strlen(text[i])] = ':';
	}
	return text[i];
}

typedef const char *offer_fn(struct app *, size_t i);

/* Who offers something for the end of the line, and where that begins. */
static offer_fn *offer_of(struct prompt *p, const char *line, size_t *from)
{
	const char *blank = strrchr(line, ' '), *colon;
	const struct ui_command *c;

	*from = blank ? (size_t)(blank - line) + 1 : 0;
	if (p->kind == PROMPT_COMMAND) {
		size_t n = strcspn(line, " ");

		c = command_find(line, n);
		if (!line[n] || !c)
			return NULL;
		*from = n + 1;
		if (strcmp(c->name, "filter") && strcmp(c->name, "list"))
			return c->complete;
		*from = (size_t)(blank - line) + 1;
	}
	colon = strchr(line + *from, ':');
	if (!colon)
		return line[*from] == '-' ? ++*from, field_offer : field_offer;
	*from = (size_t)(colon - line) + 1;
	if (strstr(line + *from, ","))
		*from = (size_t)(strrchr(line, ',') - line) + 1;
	if (!strncmp(colon - 5, "state", 5))
		return state_offer;
	if (colon - line >= 8 && !strncmp(colon - 8, "endpoint", 8))
		return endpoint_offer;
	return !strncmp(colon - 4, "flag", 4) ? flag_offer : NULL;
}

static const char *command_offer(struct app *app, size_t i)
{
	(void)app;
	return ui_commands[i].name;
}

static void complete(struct app *app, struct prompt *p)
{
	struct buf line = BUF_INIT, all = BUF_INIT;
	size_t from = 0, found = 0, wanted;
	const char *offer, *taken = NULL, *stem;
	offer_fn *offers;

	if (!p->stem) {
		p->stem = xstrdup(field_text(&p->field));
		p->offer = 0;
	}
	stem = p->stem;
	offers = p->kind == PROMPT_COMMAND && !strchr(stem, ' ')
		? command_offer : offer_of(p, stem, &from);
	wanted = p->offer;
	for (size_t i = 0; offers && (offer = offers(app, i)); i++) {
		if (strncmp(offer, stem + from, strlen(stem + from)))
			continue;
		if (found++ == wanted)
			taken = offer;
		buf_addf(&all, "%s%s", all.len ? "  " : "", offer);
	}
	if (taken) {
		buf_add(&line, stem, from);
		buf_adds(&line, taken);
		/* The only one: go on behind it. */
		if (found == 1 && p->kind == PROMPT_COMMAND && !from &&
		    *command_find(taken, strlen(taken))->usage)
			buf_addc(&line, ' ');
		field_set(&p->field, buf_text(&line));
		p->offer = (wanted + 1) % found;
	}
	look(app, p);
	if (found > 1)
		note_set(p, false, 0, buf_text(&all));
	buf_release(&line);
	buf_release(&all);
}

static void complete_end(struct prompt *p)
{
	free(p->stem);
	p->stem = NULL;
}

/* Life */

void prompt_open(struct app *app, enum prompt_kind kind, const char *preset)
{
	struct prompt *p = xcalloc(1, sizeof(*p));

	if (app->prompt)
		prompt_close(app);
	p->kind = kind;
	field_init(&p->field, LINE_BYTES_MAX, false);
	field_set(&p->field, preset);
	note_set(p, false, 0, hints[kind]);
	app->prompt = p;
	look(app, p);
	app_due(app, DUE_PAINT);
}

void prompt_close(struct app *app)
{
	struct prompt *p = app->prompt;

	app->prompt = NULL;
	field_release(&p->field);
	buf_release(&p->note);
	complete_end(p);
	free(p->draft);
	free(p);
	app_due(app, DUE_PAINT);
}

/* The prompt closes before anything is done: that may open another. */
static void accept(struct app *app)
{
	struct prompt *p = app->prompt;
	enum prompt_kind kind = p->kind;
	char *text;

	if (kind == PROMPT_FILTER && !filter_good(app, p))
		return;
	text = xstrdup(field_text(&p->field));
	prompt_close(app);
	history_add(app, kind, text);
	if (kind == PROMPT_FILTER)
		app_filter(app, text);
	else if (kind == PROMPT_COMMAND && *text)
		command_run(app, text);
	else if (kind == PROMPT_FIND && *text)
		app_push(app, sheet_new(app, text));
	free(text);
}

void prompt_mistake(struct app *app, const char *line, const char *words)
{
	prompt_open(app, PROMPT_COMMAND, line);
	note_set(app->prompt, true, 0, words);
}

static bool leaves(const struct prompt *p, const struct key *key)
{
	if (key->kind == KEYK_CHAR)
		return key->ctrl && (key->ch == 'c' || key->ch == 'g');
	return key->kind == KEYK_NAMED &&
	       (key->name == KEYN_ESC || (key->name == KEYN_BACKSPACE &&
					  !*field_text(&p->field)));
}

unsigned prompt_key(struct app *app, const struct key *key)
{
	struct prompt *p = app->prompt;
	enum key_name name = key->kind == KEYK_NAMED ? key->name : KEYN_COUNT;

	if (leaves(p, key)) {
		prompt_close(app);
		return FX_PAINT;
	}
	if (name == KEYN_TAB) {
		complete(app, p);
		return FX_PAINT;
	}
	complete_end(p);
	if (name == KEYN_ENTER) {
		accept(app);
		return FX_PAINT;
	}
	if (name == KEYN_UP || name == KEYN_DOWN)
		history_step(app, p, name == KEYN_UP);
	else if (field_key(&p->field, key) == EDIT_NOT_MINE)
		return FX_NONE;
	look(app, p);
	return FX_PAINT;
}

/* Is there room for the words in the line of the caret: behind it, or near
 * the end before it? The column; < 0: they need lines of their own. */
static int beside_caret(const struct prompt *p, int at, int cols)
{
	int words = utf8_cells(buf_span(&p->note));

	if (at + 2 + words <= cols)
		return at + 2;
	return at > words ? at - words - 1 : -1;
}

static int caret_at(const struct prompt *p, int cols)
{
	int at = (int)strlen(signs[p->kind]) + p->mistake_at - 1;

	return at < cols ? at : cols - 1;
}

int prompt_rows(const struct app *app)
{
	const struct prompt *p = app->prompt;
	struct area none = {.grid = NULL};
	int cols = app->grid.cols, words;

	if (!p)
		return 0;
	if (p->mistake_at && beside_caret(p, caret_at(p, cols), cols) >= 0)
		return 2;
	words = draw_wrapped(&none, 0, 0, cols, NOTE_ROWS, STYLE(TEXT),
			     buf_text(&p->note));
	return 1 + (p->mistake_at != 0) + (words > 0 ? words : 1);
}

/* The text, and its note below; a mistake's place is shown by ^. */
void prompt_draw(struct app *app)
{
	struct prompt *p = app->prompt;
	struct area screen = area_whole(&app->grid);
	int rows = prompt_rows(app), left = (int)strlen(signs[p->kind]);
	struct area all = area_part(&screen, screen.rows - rows, 0, rows,
				    screen.cols);
	enum ui_role role = p->bad ? UI_BAD : UI_DIM;
	struct style style = {.role = (uint8_t)role};
	int at = caret_at(p, all.cols), beside = -1;

	draw_clear(&all);
	draw_text(&all, 0, 0, STYLE_BOLD(TITLE), signs[p->kind]);
	field_draw(&p->field, &all, 0, left, all.cols - left, STYLE(TEXT),
		   ' ', true);
	if (p->mistake_at) {
		draw_text(&all, 1, at, STYLE_BOLD(BAD), "^");
		beside = beside_caret(p, at, all.cols);
	}
	if (beside >= 0)
		draw_text(&all, 1, beside, style, buf_text(&p->note));
	else
		draw_wrapped(&all, 1 + (p->mistake_at != 0), 0, all.cols,
			     NOTE_ROWS, style, buf_text(&p->note));
}
