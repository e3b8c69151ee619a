/*
 * keys.h - floor S: one table of keys, one meaning everywhere.
 *
 * The table makes the bindings, the footer, the `?` help and the man page. A
 * panel says by a set of bits which actions it serves (panel.h); the app
 * serves the others. To add an action: one row.
 */
#ifndef EDCSYNC_UI_KEYS_H
#define EDCSYNC_UI_KEYS_H

#include "ui/term.h"

/*
 * X(symbol, keys, label, words, section). keys: words with a space between,
 * a character, a name of UI_KEYS, or C-x for Ctrl-x. label: in the footer; ""
 * never there. section: of the help, in this order of first appearance.
 */
#define UI_ACTIONS(X) \
	X(DOWN, "j Down", "", "one row down", "Moving") \
	X(UP, "k Up", "", "one row up", "Moving") \
	X(LEFT, "h Left", "", "to the left", "Moving") \
	X(RIGHT, "l Right", "", "to the right", "Moving") \
	X(FIRST, "g Home", "", "first row", "Moving") \
	X(LAST, "G End", "", "last row", "Moving") \
	X(HALF_DOWN, "C-d", "", "half a screen down", "Moving") \
	X(HALF_UP, "C-u", "", "half a screen up", "Moving") \
	X(PAGE_DOWN, "PgDn C-f", "", "a screen down", "Moving") \
	X(PAGE_UP, "PgUp C-b", "", "a screen up", "Moving") \
	X(PANEL, "1 2 3 4 5 6 7 8", "", "the panel of that number", "Moving") \
	X(NEXT_PANEL, "Tab", "", "next panel", "Moving") \
	X(PREV_PANEL, "S-Tab", "", "previous panel", "Moving") \
	X(PREV_TAB, "[", "", "previous tab or sheet", "Moving") \
	X(NEXT_TAB, "]", "", "next tab or sheet", "Moving") \
	X(OPEN, "Enter", "open", "open what is under the cursor", "Moving") \
	X(BACK, "Esc", "", "back one level; clears filter and marks", "Moving") \
	X(QUIT, "q", "quit", "back; at the top quit", "Moving") \
	X(FIND, "F", "find", "a subject, or the operation of any id", "Looking") \
	X(FILTER, "/", "filter", "show only what matches", "Looking") \
	X(NEXT, "n", "", "next match of the filter that was cleared", "Looking") \
	X(PREV, "N", "", "previous match", "Looking") \
	X(SORT, "s", "sort", "sort by another column; again: the other way", "Looking") \
	X(GROUP, "o", "group by", "group by error, site, subject, form, or not", "Looking") \
	X(FOLLOW, "f", "follow", "keep the newest in view", "Looking") \
	X(FREEZE, "z", "freeze", "hold the screen still", "Looking") \
	X(ZONE, "Z", "", "UTC or local time", "Looking") \
	X(ALERTS, "!", "alerts", "what needs a person", "Looking") \
	X(MARK, "Space", "mark", "mark or unmark the row", "Choosing") \
	X(RANGE, "V", "", "mark from the last mark to here", "Choosing") \
	X(ALL, "*", "", "choose all that match", "Choosing") \
	X(UNMARK, "U", "", "clear the marks", "Choosing") \
	X(CHECK, "c", "check", "look at the vendor; writes nothing", "Acting") \
	X(REPLAY, "r", "replay", "send again, after a look-up where it may be there", "Acting") \
	X(NOTE, "a", "note", "annotate", "Acting") \
	X(DISCARD, "d", "discard", "never send it; can be undone", "Acting") \
	X(UNDO, "u", "", "undo your last discard", "Acting") \
	X(PAUSE, "P", "pause", "pause an endpoint, or resume whatever stopped it", "Acting") \
	X(PROBE, "b", "probe", "try the endpoint now", "Acting") \
	X(LIST, "L", "list", "show the list", "Acting") \
	X(COMMAND_LINE, "@", "", "the command line of what is under the cursor", "Telling others") \
	X(COPY, "y", "copy", "copy what is under the cursor", "Telling others") \
	X(EXPORT, "C-s", "", "write the list to a file", "Telling others") \
	X(COMMAND, ":", "command", "type a command; Tab completes", "This program") \
	X(HELP, "? F1", "help", "this help", "This program") \
	X(REPAINT, "C-l", "", "paint the screen anew", "This program") \
	X(SUSPEND, "C-z", "", "back to the shell; fg returns", "This program") \
	X(TAKE, "t", "take", "take it, so that others see it", "Later") \
	X(GIVE, "T", "", "give it back", "Later") \
	X(TRIAGE, "S", "triage", "triage, review", "Later") \
	X(RESOLVE, "v", "resolve", "verified by hand at the vendor", "Later") \
	X(EDIT, "E", "edit", "edit a copy that takes its place", "Later") \
	X(UNMASK, "M", "unmask", "show values; a right, and recorded", "Later") \
	X(REMOVAL, "D", "", "request removal at the vendor", "Later") \
	X(INCLUDE, "+", "", "include, adopt", "Later") \
	X(WATCH, "w", "watch", "watch the vendor's job again", "Later") \
	X(RUN_PAUSE, "p", "", "pause or resume a run", "Later") \
	X(RUN_CANCEL, "x", "", "cancel a run", "Later") \
	X(EXPECTED, "e", "", "mark a finding expected", "Later") \
	X(PACK, "K", "", "pack as evidence", "Later")

enum action {
#define X(sym, keys, label, words, section) DO_##sym,
	UI_ACTIONS(X)
#undef X
	ACTION_COUNT,
	DO_NOTHING = ACTION_COUNT
};
_Static_assert(ACTION_COUNT <= 64, "a set of actions is 64 bits");
#define CAN(sym) (UINT64_C(1) << DO_##sym)

struct action_row {
	const char *name;		/* lower case, "-" between words */
	const char *keys, *label, *words, *section;
};
extern const struct action_row action_rows[ACTION_COUNT];

/* The action of a key; DO_NOTHING when it has none. */
enum action action_of_key(const struct key *);
/* The first key of an action, as shown ("Enter", "^S"). */
const char *action_key(enum action);
/* Does the action change anything? Then --readonly refuses it, and pasted
 * text never leads to it. */
bool action_acts(enum action);
/* The footer: as many labels of the set as fit into `width` cells, help and
 * quit always. */
void keys_footer(uint64_t can, int width, struct buf *out);
/* All actions of the set by section, a line each, for the help. */
void keys_help(uint64_t can, struct buf *out);

#endif
