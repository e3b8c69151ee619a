#include "ui/keys.h"

#include <string.h>

const struct action_row action_rows[ACTION_COUNT] = {
#define X(sym, keys, label, words, section) \
	[DO_##sym] = { #sym, keys, label, words, section },
	UI_ACTIONS(X)
#undef X
};

static const char *const key_names[KEYN_COUNT] = {
#define X(sym, name) [KEYN_##sym] = name,
	UI_KEYS(X)
#undef X
};

/* Does the word name this key? A character, "Space", "C-x", or a name. */
static bool word_is_key(struct span word, const struct key *k)
{
	uint32_t ch;

	if (k->kind == KEYK_NAMED)
		return span_is(word, key_names[k->name]);
	if (k->kind != KEYK_CHAR || k->alt)
		return false;
	if (k->ctrl)
		return word.n == 3 && span_starts(word, "C-") &&
		       (uint32_t)word.p[2] == k->ch;
	if (span_is(word, "Space"))
		return k->ch == ' ';
	return utf8_decode(word.p, word.n, &ch) == word.n && ch == k->ch;
}

/* The next word of a row's keys; false at the end. */
static bool next_word(const char **at, struct span *word)
{
	while (**at == ' ')
		++*at;
	word->p = *at;
	word->n = strcspn(*at, " ");
	*at += word->n;
	return word->n > 0;
}

enum action action_of_key(const struct key *k)
{
	for (int a = 0; a < ACTION_COUNT; a++) {
		const char *at = action_rows[a].keys;
		struct span word;

		while (next_word(&at, &word))
			if (word_is_key(word, k))
				return (enum action)a;
	}
	return DO_NOTHING;
}

const char *action_key(enum action a)
{
	static char text[ACTION_COUNT][12];	/* filled with what is const */
	const char *at = action_rows[a].keys;
	struct span word;

	assert(a < ACTION_COUNT);
	next_word(&at, &word);
	if (span_starts(word, "C-") && word.n == 3) {
		text[a][0] = '^';
		text[a][1] = (char)(word.p[2] - 'a' + 'A');
		text[a][2] = '\0';
	} else {
		text_set(text[a], sizeof(text[a]), word);
	}
	return text[a];
}

bool action_acts(enum action a)
{
	const uint64_t acting = CAN(CHECK) | CAN(REPLAY) | CAN(NOTE) |
		CAN(DISCARD) | CAN(UNDO) | CAN(PAUSE) | CAN(PROBE) |
		CAN(TAKE) | CAN(GIVE) | CAN(TRIAGE) | CAN(RESOLVE) |
		CAN(EDIT) | CAN(UNMASK) | CAN(REMOVAL) | CAN(INCLUDE) |
		CAN(WATCH) | CAN(RUN_PAUSE) | CAN(RUN_CANCEL) | CAN(EXPECTED);

	return a < ACTION_COUNT && (acting >> a & 1);
}

/* What the footer names, in the order in which it is worth its place. */
static const uint8_t footer_order[] = {
	DO_HELP, DO_CHECK, DO_REPLAY, DO_OPEN, DO_NOTE, DO_DISCARD, DO_GROUP,
	DO_FIND, DO_FILTER, DO_PAUSE, DO_PROBE, DO_MARK, DO_ALL, DO_COMMAND,
	DO_FOLLOW, DO_FREEZE, DO_SORT, DO_COPY, DO_ALERTS, DO_LIST, DO_TAKE,
	DO_TRIAGE, DO_RESOLVE, DO_EDIT, DO_UNMASK, DO_WATCH,
};

void keys_footer(uint64_t can, int width, struct buf *out)
{
	const char *quit = "  q quit";
	int left = width - (int)strlen(quit);
	bool first = true;

	can |= CAN(HELP);
	for (size_t i = 0; i < ARRAY_SIZE(footer_order); i++) {
		enum action a = (enum action)footer_order[i];
		const struct action_row *row = &action_rows[a];
		int n = (int)(strlen(action_key(a)) + strlen(row->label)) + 1 +
			(first ? 0 : 2);

		if (!(can >> a & 1) || !*row->label || n > left)
			continue;
		buf_addf(out, "%s%s %s", first ? "" : "  ", action_key(a),
			 row->label);
		left -= n;
		first = false;
	}
	if (left >= 0)
		buf_addf(out, "%s", quit);
}

void keys_help(uint64_t can, struct buf *out)
{
	const char *section = NULL;

	for (int a = 0; a < ACTION_COUNT; a++) {
		const struct action_row *row = &action_rows[a];
		const char *at = row->keys;
		struct span word;
		struct buf keys = { 0 };

		if (!(can >> a & 1))
			continue;
		if (!section || strcmp(section, row->section) != 0)
			buf_addf(out, "%s%s\n", section ? "\n" : "",
				 row->section);
		section = row->section;
		if (a == DO_PANEL)
			buf_addf(&keys, "1 - 8");
		else
			while (next_word(&at, &word))
				buf_addf(&keys, "%s%.*s", keys.len ? " " : "",
					 (int)word.n, word.p);
		buf_addf(out, "  %-12s %s\n", buf_text(&keys), row->words);
		buf_release(&keys);
	}
}
