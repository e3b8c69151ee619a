/*
 * ui_stub.h - tests: an app without loop and terminal: a stack of dialogs,
 * the last toast, lanes of the real work.c where a test starts them. Keys go
 * in by name, the screen comes out as text.
 */
#ifndef EDCSYNC_TESTS_UI_STUB_H
#define EDCSYNC_TESTS_UI_STUB_H

#include "check.h"

#include <poll.h>
#include <stdlib.h>

#include "core/timefmt.h"
#include "ui/app.h"

#define STUB static __attribute__((unused))

struct app {
	struct ui_world world;
	struct app_status status;
	struct work *work;
	struct session *session;
	struct dialog *dialog[8];
	int dialogs;
	char toast[512];
	enum ui_role toast_role;
	int64_t now;
	int unmarked;			/* times that marks were cleared */
	struct grid grid;
};

static struct app stub;

const struct ui_world *app_world(const struct app *a) { return &a->world; }
const struct app_status *app_status(const struct app *a) { return &a->status; }
struct work *app_work(struct app *a) { return a->work; }
struct session *app_session(struct app *a) { return a->session; }
struct term *app_term(struct app *a) { (void)a; return NULL; }
int64_t app_now_ms(const struct app *a) { return a->now; }
bool app_ascii(const struct app *a) { (void)a; return true; }
void term_flush_keys(struct term *t) { (void)t; }
bool term_copy(struct term *t, struct span s) { (void)t; return s.n > 0; }
void app_push(struct app *a, struct panel *p) { (void)a; (void)p; }
void app_pop(struct app *a) { (void)a; }
void app_switch(struct app *a, size_t panel) { (void)a; (void)panel; }
struct panel *app_panel(const struct app *a) { (void)a; return NULL; }
void app_paint_soon(struct app *a) { (void)a; }
void app_ask_soon(struct app *a) { (void)a; }
void app_unmark(struct app *a) { a->unmarked++; }

int app_utc_offset_min(const struct app *a, int64_t at_ms)
{
	(void)a;
	(void)at_ms;
	return 60;
}

void app_time(const struct app *a, int64_t at_ms, struct buf *out)
{
	char text[TIME_TEXT];

	time_local(at_ms, app_utc_offset_min(a, at_ms), text);
	text[19] = '\0';
	buf_adds(out, text + 11);
}

void app_toast(struct app *a, enum ui_role role, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->toast, sizeof(a->toast), fmt, ap);
	va_end(ap);
	a->toast_role = role;
}

void app_add_dialog(struct app *a, struct dialog *d)
{
	assert_true(a->dialogs < 8);
	a->dialog[a->dialogs++] = d;
}

void app_remove_dialog(struct app *a, struct dialog *d)
{
	int n = 0;

	for (int i = 0; i < a->dialogs; i++)
		if (a->dialog[i] != d)
			a->dialog[n++] = a->dialog[i];
	assert_int_equal(n, a->dialogs - 1);
	a->dialogs = n;
}

STUB struct dialog *stub_top(void)
{
	return stub.dialogs ? stub.dialog[stub.dialogs - 1] : NULL;
}

/* The screen with the newest dialog on it; good until the next call. */
STUB const char *stub_screen(int rows, int cols)
{
	static struct buf text;
	struct area area;

	buf_clear(&text);
	stub.grid.ascii = true;
	grid_resize(&stub.grid, rows, cols);
	area = area_whole(&stub.grid);
	for (int i = 0; i < stub.dialogs; i++)
		dialog_draw(stub.dialog[i], &area);
	grid_text(&stub.grid, &text);
	return buf_text(&text);
}

STUB unsigned stub_press(struct key key)
{
	assert_non_null(stub_top());
	return dialog_key(stub_top(), &key);
}

/* Characters as they are, keys in angles: "<Tab>", "<C-w>". */
STUB void stub_keys(const char *keys)
{
	static const char *const names[] = {"",
#define X(sym, name) name,
		UI_KEYS(X)
#undef X
	};

	while (*keys) {
		struct key key = {.kind = KEYK_CHAR};
		size_t n = strcspn(keys, ">");

		if (*keys != '<' || !keys[n]) {
			n = utf8_decode(keys, strlen(keys), &key.ch);
			keys += n;
		} else if (!strncmp(keys, "<C-", 3)) {
			key.ctrl = true;
			key.ch = (uint32_t)keys[3];
			keys += n + 1;
		} else {
			key.kind = KEYK_NAMED;
			for (int i = 1; i < KEYN_COUNT; i++)
				if (strlen(names[i]) == n - 1 &&
				    !strncmp(names[i], keys + 1, n - 1))
					key.name = (enum key_name)i;
			check_row(key.name != KEY_NONE_, "no key %s", keys);
			keys += n + 1;
		}
		if (!stub.dialogs)
			return;
		stub_press(key);
	}
}

STUB void stub_paste(const char *text)
{
	stub_press((struct key){.kind = KEYK_PASTE, .text = span_of(text)});
}

STUB void stub_end(void)
{
	while (stub.dialogs)
		dialog_close(stub_top());
	grid_release(&stub.grid);
	memset(&stub, 0, sizeof(stub));
}

#endif
