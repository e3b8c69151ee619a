#include "ui/dialog_priv.h"

#include <stdlib.h>
#include <string.h>

bool dialog_is_text(const struct dialog_entry *e)
{
	return e->row.kind != FIELD_CHOICE && e->row.kind != FIELD_CHECK;
}

bool dialog_on_button(const struct dialog *d)
{
	return d->focus >= d->entries;
}

static bool can_focus(const struct dialog *d, int at)
{
	return at < d->entries ? d->entry[at].shown :
	       d->button_shown[at - d->entries];
}

/* The next place from `at` that is shown, itself not counted. */
static void focus_step(struct dialog *d, int step)
{
	int all = d->entries + d->buttons;

	for (int i = 0; i < all; i++) {
		d->focus = (d->focus + step + all) % all;
		if (can_focus(d, d->focus))
			break;
	}
	d->reveal = true;
}

static void focus_settle(struct dialog *d)
{
	if (d->focus < d->entries + d->buttons && can_focus(d, d->focus))
		return;
	d->focus = d->entries;
	d->reveal = true;
}

static void entry_init(struct dialog_entry *e, const struct field_row *row)
{
	e->row = *row;
	e->shown = true;
	field_init(&e->field, row->bytes_max ? row->bytes_max : 256,
		   row->kind == FIELD_SECRET);
}

static void take_fields(struct dialog *d, const struct field_row *row)
{
	for (; row && row->name; row++) {
		d->entry = xrealloc(d->entry, ((size_t)d->entries + 1) *
				    sizeof(*d->entry));
		memset(&d->entry[d->entries], 0, sizeof(*d->entry));
		entry_init(&d->entry[d->entries++], row);
		if (row->preset)
			dialog_set(d, row->name, row->preset);
	}
}

struct dialog *dialog_open_bare(struct app *app, const char *title)
{
	struct dialog *d = xcalloc(1, sizeof(*d));

	d->app = app;
	d->title = xstrdup(title ? title : "");
	d->reveal = true;
	/* What was typed before it could be read does not answer it. */
	if (app_term(app))
		term_flush_keys(app_term(app));
	return d;
}

struct dialog *dialog_open(struct app *app, const struct dialog_spec *spec)
{
	struct dialog *d = dialog_open_bare(app, spec->title);

	d->spec = *spec;
	d->spec.title = d->title;
	d->spec.fields = NULL;
	take_fields(d, spec->fields);
	assert(spec->buttons && spec->buttons[0]);
	while (d->buttons < DIALOG_BUTTONS_MAX && spec->buttons[d->buttons]) {
		d->button[d->buttons] = spec->buttons[d->buttons];
		d->button_shown[d->buttons++] = true;
	}
	d->focus = 0;
	app_add_dialog(app, d);
	return d;
}

void dialog_words_clear(struct dialog *d)
{
	for (size_t i = 0; i < d->words; i++)
		free(d->word[i].text);
	free(d->word);
	d->word = NULL;
	d->words = 0;
	app_paint_soon(d->app);
}

void dialog_close(struct dialog *d)
{
	struct app *app = d->app;

	if (app_work(app))
		work_cancel(app_work(app), d);
	app_remove_dialog(app, d);
	dialog_words_clear(d);
	for (int i = 0; i < d->entries; i++) {
		field_release(&d->entry[i].field);
		buf_wipe(&d->entry[i].value);
	}
	if (d->spec.free_ctx)
		d->spec.free_ctx(d->spec.ctx);
	pager_free(d->pager);
	free(d->entry);
	free(d->error);
	free(d->title);
	free(d);
	app_paint_soon(app);
}

struct app *dialog_app(struct dialog *d)
{
	return d->app;
}

void *dialog_ctx(struct dialog *d)
{
	return d->spec.ctx;
}

void dialog_word(struct dialog *d, enum ui_role role, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	d->word = xrealloc(d->word, (d->words + 1) * sizeof(*d->word));
	d->word[d->words++] = (struct dialog_word){
		role, xstrdup(buf_text(&text))};
	buf_release(&text);
	app_paint_soon(d->app);
}

void dialog_error(struct dialog *d, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	free(d->error);
	d->error = NULL;
	if (fmt) {
		va_start(ap, fmt);
		buf_addv(&text, fmt, ap);
		va_end(ap);
		d->error = xstrdup(buf_text(&text));
		buf_release(&text);
	}
	app_paint_soon(d->app);
}

void dialog_busy(struct dialog *d, bool busy)
{
	d->busy = busy;
	app_paint_soon(d->app);
}

static struct dialog_entry *entry_of(struct dialog *d, const char *name)
{
	for (int i = 0; i < d->entries; i++)
		if (!strcmp(d->entry[i].row.name, name))
			return &d->entry[i];
	assert(false);		/* a field that the dialog does not have */
	return NULL;
}

const char *dialog_choice(const struct dialog_entry *e)
{
	return e->row.choices && e->row.choices[0] ?
	       e->row.choices[e->choice] : "";
}

const char *dialog_value(struct dialog *d, const char *name)
{
	struct dialog_entry *e = entry_of(d, name);
	const char *text;

	if (dialog_is_text(e))
		return field_text(&e->field);
	buf_clear(&e->value);
	if (e->row.kind == FIELD_CHECK) {
		buf_adds(&e->value, e->on ? "yes" : "");
	} else {
		text = dialog_choice(e);
		buf_add(&e->value, text, strcspn(text, " "));
	}
	return buf_text(&e->value);
}

static void choose(struct dialog_entry *e, const char *value)
{
	size_t n = strlen(value);

	for (int i = 0; e->row.choices[i]; i++)
		if (!strncmp(e->row.choices[i], value, n) &&
		    (!e->row.choices[i][n] || e->row.choices[i][n] == ' '))
			e->choice = i;
}

void dialog_set(struct dialog *d, const char *name, const char *value)
{
	struct dialog_entry *e = entry_of(d, name);

	if (e->row.kind == FIELD_CHECK)
		e->on = value && *value;
	else if (e->row.kind == FIELD_CHOICE)
		choose(e, value ? value : "");
	else
		field_set(&e->field, value);
	app_paint_soon(d->app);
}

void dialog_show_field(struct dialog *d, const char *name, bool shown)
{
	entry_of(d, name)->shown = shown;
	focus_settle(d);
	app_paint_soon(d->app);
}

void dialog_show_button(struct dialog *d, int button, bool shown)
{
	assert(button > 0 && button < d->buttons);
	d->button_shown[button] = shown;
	focus_settle(d);
	app_paint_soon(d->app);
}

void dialog_focus(struct dialog *d, const char *name)
{
	d->focus = (int)(entry_of(d, name) - d->entry);
	d->reveal = true;
	focus_settle(d);
	app_paint_soon(d->app);
}

void dialog_wipe(struct dialog *d)
{
	for (int i = 0; i < d->entries; i++)
		if (d->entry[i].row.kind == FIELD_SECRET)
			field_wipe(&d->entry[i].field);
	app_paint_soon(d->app);
}

static unsigned press(struct dialog *d, int button)
{
	unsigned fx = FX_BACK;

	if (d->spec.chosen)
		fx = d->spec.chosen(d, button);
	if (fx & FX_BACK)
		dialog_close(d);
	return (fx & ~(unsigned)FX_BACK) | FX_PAINT;
}

/* Enter in a field: on to the next, and from the last one to the buttons,
 * where Cancel stands first. */
static unsigned enter(struct dialog *d)
{
	if (dialog_on_button(d))
		return press(d, d->focus - d->entries);
	focus_step(d, 1);
	if (!dialog_on_button(d))
		return FX_PAINT;
	if (d->spec.enter_button && d->button_shown[d->spec.enter_button])
		return press(d, d->spec.enter_button);
	for (int i = d->buttons; i-- > 1;)
		if (d->enter_to >> i & 1 && d->button_shown[i])
			d->focus = d->entries + i;
	return FX_PAINT;
}

void dialog_enter_goes_to(struct dialog *d, int button)
{
	assert(button > 0 && button < d->buttons);
	d->enter_to |= 1u << button;
}

static void choice_step(struct dialog_entry *e, int step)
{
	int n = 0;

	while (e->row.choices[n])
		n++;
	if (n)
		e->choice = (e->choice + step + n) % n;
}

/* The next one that begins with the letter typed. */
static void choice_letter(struct dialog_entry *e, uint32_t ch)
{
	int start = e->choice;

	do {
		choice_step(e, 1);
		if (utf8_fold((unsigned char)dialog_choice(e)[0]) ==
		    utf8_fold(ch))
			return;
	} while (e->choice != start);
}

static unsigned key_in_choice(struct dialog_entry *e, const struct key *k)
{
	bool named = k->kind == KEYK_NAMED;

	if (e->row.kind == FIELD_CHECK) {
		e->on ^= k->kind == KEYK_CHAR && k->ch == ' ' && !k->ctrl;
		return FX_PAINT;
	}
	if (named && (k->name == KEYN_LEFT || k->name == KEYN_RIGHT))
		choice_step(e, k->name == KEYN_LEFT ? -1 : 1);
	else if (k->kind == KEYK_CHAR && k->ch == ' ' && !k->ctrl)
		choice_step(e, 1);
	else if (k->kind == KEYK_CHAR && !k->ctrl && !k->alt)
		choice_letter(e, k->ch);
	return FX_PAINT;
}

/* A number has digits only, whatever was pasted. */
static void keep_digits(struct field *f)
{
	struct buf digits = BUF_INIT;
	const char *text = field_text(f);

	if (strspn(text, "0123456789") == f->text.len)
		return;
	for (; *text; text++)
		if (*text >= '0' && *text <= '9')
			buf_addc(&digits, *text);
	field_set(f, buf_text(&digits));
	buf_release(&digits);
}

static void show_command_line(struct dialog *d)
{
	struct buf text = BUF_INIT;

	d->spec.command_line(d, &text);
	pager_open(d->app, "Command line", buf_text(&text));
	buf_release(&text);
}

/* Along the buttons, and no further. */
static void button_step(struct dialog *d, int step)
{
	int at = d->focus - d->entries;

	for (at += step; at >= 0 && at < d->buttons; at += step) {
		if (!d->button_shown[at])
			continue;
		d->focus = d->entries + at;
		return;
	}
}

static unsigned key_on_button(struct dialog *d, const struct key *k)
{
	if (k->kind == KEYK_NAMED && k->name == KEYN_LEFT)
		button_step(d, -1);
	else if (k->kind == KEYK_NAMED && k->name == KEYN_RIGHT)
		button_step(d, 1);
	else if (k->kind != KEYK_CHAR || k->ctrl || k->alt)
		return FX_NONE;
	else if (k->ch == '@' && d->spec.command_line)
		show_command_line(d);
	else if (k->ch == 'L' && d->spec.show_list)
		d->spec.show_list(d);
	return FX_PAINT;
}

static unsigned key_in_field(struct dialog *d, const struct key *k)
{
	struct dialog_entry *e = &d->entry[d->focus];

	if (!dialog_is_text(e) && k->kind == KEYK_CHAR && k->ch == '@')
		return key_on_button(d, k);
	if (!dialog_is_text(e))
		return key_in_choice(e, k);
	field_key(&e->field, k);
	if (e->row.kind == FIELD_NUMBER)
		keep_digits(&e->field);
	d->reveal = true;
	return FX_PAINT;
}

static unsigned mouse(struct dialog *d, const struct key *k)
{
	int row = k->row - d->box.row, col = k->col - d->box.col;
	int at = d->fields_at - d->top;

	if (k->button == 4 || k->button == 5) {
		d->top += k->button == 4 ? -1 : 1;
		return FX_PAINT;
	}
	if (k->button != 1)
		return FX_NONE;
	for (int i = 0; i < d->buttons; i++)
		if (row == d->buttons_row && d->button_shown[i] &&
		    col >= d->button_col[i] && col < d->button_end[i])
			return press(d, i);
	for (int i = 0; i < d->entries; i++) {
		if (!d->entry[i].shown)
			continue;
		if (row - 1 == at++ && row <= d->view_rows) {
			d->focus = i;
			return FX_PAINT;
		}
	}
	return FX_NONE;
}

static unsigned key_named(struct dialog *d, const struct key *k)
{
	switch (k->name) {
	case KEYN_ENTER:
		return enter(d);
	case KEYN_TAB:
	case KEYN_DOWN:
		focus_step(d, 1);
		return FX_PAINT;
	case KEYN_BACK_TAB:
	case KEYN_UP:
		focus_step(d, -1);
		return FX_PAINT;
	case KEYN_PAGE_DOWN:
	case KEYN_PAGE_UP:
		d->top += k->name == KEYN_PAGE_UP ? -d->view_rows :
			  d->view_rows;
		return FX_PAINT;
	default:
		return dialog_on_button(d) ? key_on_button(d, k) :
		       key_in_field(d, k);
	}
}

static bool cancels(const struct key *k)
{
	return (k->kind == KEYK_NAMED && k->name == KEYN_ESC) ||
	       (k->kind == KEYK_CHAR && k->ctrl && k->ch == 'c');
}

unsigned dialog_key(struct dialog *d, const struct key *k)
{
	if (d->pager)
		return pager_key(d, k);
	if (cancels(k))
		return press(d, 0);
	if (d->busy)
		return FX_NONE;
	if (k->kind == KEYK_NAMED)
		return key_named(d, k);
	if (k->kind == KEYK_MOUSE)
		return mouse(d, k);
	if (k->kind == KEYK_CHAR && dialog_on_button(d))
		return key_on_button(d, k);
	if ((k->kind == KEYK_CHAR || k->kind == KEYK_PASTE) &&
	    !dialog_on_button(d))
		return key_in_field(d, k);
	return FX_NONE;
}
