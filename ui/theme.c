#include "ui/theme.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"

#define NONE .fg_rgb = -1, .bg_rgb = -1
#define RGB(f) .fg_rgb = (f), .bg_rgb = -1
#define OWN (-1)		/* the terminal's own colour */

/* The palette's numbers: 0 black 1 red 2 green 3 yellow 4 blue 5 magenta
 * 6 cyan 7 white, 8-15 the same, bright. */
const struct theme themes[] = {
	{ "safe", "dark ground, blue and orange instead of green and red",
	  true, {
		[UI_TEXT] = { OWN, OWN, NONE, 0 },
		[UI_TITLE] = { 15, OWN, RGB(0xffffff), UI_BOLD },
		[UI_OK] = { 12, OWN, RGB(0x56b4e9), 0 },
		[UI_WAIT] = { 14, OWN, RGB(0x9fc8d8), 0 },
		[UI_BAD] = { 11, OWN, RGB(0xe69f00), UI_BOLD },
		[UI_UNKNOWN] = { 13, OWN, RGB(0xcc79a7), UI_BOLD },
		[UI_INFO] = { 14, OWN, RGB(0x8fd0e8), 0 },
		[UI_DIM] = { 8, OWN, RGB(0x8a8a8a), 0 },
		[UI_CURSOR] = { OWN, 4, .fg_rgb = -1, .bg_rgb = 0x1f3a5f, 0 },
		[UI_MARK] = { 11, OWN, RGB(0xf0e442), UI_BOLD },
		[UI_WARNBAR] = { 0, 11, .fg_rgb = 0x000000,
				 .bg_rgb = 0xe69f00, UI_BOLD },
	} },
	{ "dark", "dark ground, green and red", true, {
		[UI_TEXT] = { OWN, OWN, NONE, 0 },
		[UI_TITLE] = { 15, OWN, RGB(0xffffff), UI_BOLD },
		[UI_OK] = { 10, OWN, RGB(0x7ec77e), 0 },
		[UI_WAIT] = { 14, OWN, RGB(0x7fc8d8), 0 },
		[UI_BAD] = { 9, OWN, RGB(0xff6b6b), UI_BOLD },
		[UI_UNKNOWN] = { 11, OWN, RGB(0xf0d060), UI_BOLD },
		[UI_INFO] = { 12, OWN, RGB(0x82aaff), 0 },
		[UI_DIM] = { 8, OWN, RGB(0x8a8a8a), 0 },
		[UI_CURSOR] = { OWN, 4, .fg_rgb = -1, .bg_rgb = 0x263850, 0 },
		[UI_MARK] = { 13, OWN, RGB(0xd7a0ff), UI_BOLD },
		[UI_WARNBAR] = { 15, 1, .fg_rgb = 0xffffff,
				 .bg_rgb = 0xa01818, UI_BOLD },
	} },
	{ "light", "light ground", true, {
		[UI_TEXT] = { OWN, OWN, NONE, 0 },
		[UI_TITLE] = { 0, OWN, RGB(0x000000), UI_BOLD },
		[UI_OK] = { 4, OWN, RGB(0x005a9c), 0 },
		[UI_WAIT] = { 6, OWN, RGB(0x006a78), 0 },
		[UI_BAD] = { 1, OWN, RGB(0xa83200), UI_BOLD },
		[UI_UNKNOWN] = { 5, OWN, RGB(0x8a1c6a), UI_BOLD },
		[UI_INFO] = { 4, OWN, RGB(0x1c4f8a), 0 },
		[UI_DIM] = { 8, OWN, RGB(0x6a6a6a), 0 },
		[UI_CURSOR] = { 0, 7, .fg_rgb = -1, .bg_rgb = 0xcfe2f5, 0 },
		[UI_MARK] = { 5, OWN, RGB(0x7a2f8f), UI_BOLD },
		[UI_WARNBAR] = { 15, 1, .fg_rgb = 0xffffff,
				 .bg_rgb = 0xa83200, UI_BOLD },
	} },
	{ "mono", "no colours: bold, underlined, reversed", false, {
		[UI_TEXT] = { OWN, OWN, NONE, 0 },
		[UI_TITLE] = { OWN, OWN, NONE, UI_BOLD },
		[UI_OK] = { OWN, OWN, NONE, 0 },
		[UI_WAIT] = { OWN, OWN, NONE, 0 },
		[UI_BAD] = { OWN, OWN, NONE, UI_BOLD },
		[UI_UNKNOWN] = { OWN, OWN, NONE, UI_BOLD | UI_UNDERLINE },
		[UI_INFO] = { OWN, OWN, NONE, 0 },
		[UI_DIM] = { OWN, OWN, NONE, 0 },
		[UI_CURSOR] = { OWN, OWN, NONE, UI_REVERSE },
		[UI_MARK] = { OWN, OWN, NONE, UI_BOLD },
		[UI_WARNBAR] = { OWN, OWN, NONE, UI_REVERSE | UI_BOLD },
	} },
	{ .name = NULL }
};

const struct theme *theme_find(const char *name)
{
	for (const struct theme *t = themes; t->name; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

const struct theme *theme_default(bool colours)
{
	const char *no = getenv("NO_COLOR");	/* no-color.org */

	if (!colours || (no && *no))
		return theme_find("mono");
	return &themes[0];
}

enum ui_role theme_state_role(enum op_state state, unsigned flags)
{
	static const uint8_t roles[OP_STATE_COUNT] = {
		[OP_QUEUED] = UI_WAIT, [OP_SENDING] = UI_WAIT,
		[OP_WAITING] = UI_WAIT, [OP_CHECKING] = UI_WAIT,
		[OP_POLLING] = UI_WAIT, [OP_UNWATCHED] = UI_UNKNOWN,
		[OP_COMMITTED] = UI_OK, [OP_REJECTED] = UI_BAD,
		[OP_DEAD] = UI_BAD, [OP_DISCARDED] = UI_DIM,
		[OP_SUPERSEDED] = UI_DIM,
	};

	assert(state < OP_STATE_COUNT);
	if (words_maybe_there(state, flags))
		return UI_UNKNOWN;
	return (enum ui_role)roles[state];
}
