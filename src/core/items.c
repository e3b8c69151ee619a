#include "core/items.h"
#include "core/place.h"

#include "core/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Walking the levels of one answer. */
struct walk {
	struct cond_world w;		/* with the item that is looked at */
	struct items_seen *seen;
	const struct item_level *level;
	/* of the items under the one being looked at */
	int refused, total, unclear;
};

static void levels_find(const struct item_levels *, const struct cond_world *,
			struct items_seen *, struct walk *sum);

/* A code or an id may show; a sentence may name a patient. */
static bool shows(struct span s)
{
	if (!s.n || s.n > 64)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= 0x20 || s.p[i] > 0x7e)
			return false;
	return true;
}

static void add_text(const struct sources *sources, const struct cond_world *w,
		     const char *before, struct buf *out)
{
	struct buf text = BUF_INIT;

	if (sources->n && sources_find(sources, w, &text) &&
	    shows(buf_span(&text)))
		buf_addf(out, "%s%s", before, buf_text(&text));
	buf_release(&text);
}

/* "SYSBP (E12)"; what names nothing is "item 3". */
static void list_item(struct walk *k, const struct cond_world *w)
{
	const struct item_level *level = k->level;
	struct items_seen *seen = k->seen;
	struct buf text = BUF_INIT, why = BUF_INIT;
	size_t used = strlen(seen->list);

	seen->listed++;
	add_text(&level->id, w, "", &text);
	if (!text.len)
		buf_addf(&text, "item %d", k->total + 1);
	add_text(&level->code, w, "", &why);
	add_text(&level->message, w, why.len ? " " : "", &why);
	if (why.len)
		buf_addf(&text, " (%s)", buf_text(&why));
	if (used + text.len + 16 < sizeof(seen->list))
		snprintf(seen->list + used, sizeof(seen->list) - used, "%s%s",
			 used ? ", " : "", buf_text(&text));
	else if (used < 4 || strcmp(seen->list + used - 3, "..."))
		snprintf(seen->list + used, sizeof(seen->list) - used,
			 ", ...");
	buf_release(&text);
	buf_release(&why);
}

enum fate { TAKEN, REFUSED, UNCLEAR };

static enum fate fate_of(const struct item_level *level,
			 const struct cond_world *w)
{
	struct buf scratch = BUF_INIT;
	enum fate fate = TAKEN;
	struct span word;

	if (level->by == ITEM_REFUSED)
		return REFUSED;
	if (level->by == ITEM_TAKEN)
		return TAKEN;
	if (level->by == ITEM_BY_COND)
		return cond_holds(&level->refused_if, w) ? REFUSED : TAKEN;
	word = sources_see(&level->status, w, &scratch);
	if (text_list_has(&level->failed, word, level->fold))
		fate = REFUSED;
	else if (level->taken.n &&
		 !text_list_has(&level->taken, word, level->fold))
		fate = UNCLEAR;
	buf_release(&scratch);
	return fate;
}

/* An item with items inside counts as those; refused without any of them
 * being refused, all of them are. */
static void one_item(struct walk *k)
{
	enum fate fate = fate_of(k->level, &k->w);
	int refused = 0, total = 0;

	if (k->level->inner) {
		struct walk sum = {.seen = k->seen};

		levels_find(k->level->inner, &k->w, k->seen, &sum);
		refused = sum.refused;
		total = sum.total;
		k->unclear += sum.unclear;
	}
	k->unclear += fate == UNCLEAR;
	if (fate == REFUSED && !refused) {
		list_item(k, &k->w);
		refused = total ? total : 1;
	}
	k->refused += refused;
	k->total += total ? total : 1;
}

static void json_item(void *ctx, const struct json *doc, uint32_t node)
{
	struct walk *k = ctx;

	(void)doc;
	if (node == JSON_NONE)
		return;
	if (k->total >= ITEMS_SEEN_MAX) {
		k->unclear++;
		return;
	}
	k->w.item = node;
	one_item(k);
}

static void xml_items(struct walk *k, struct xml *xml)
{
	struct xml_found found;

	xml_find(xml, k->level->path, k->w.xml_item, &found);
	for (size_t i = 0; i < found.n; i++) {
		k->w.xml_item = xml_found_node(&found, i);
		if (k->w.xml_item && k->total < ITEMS_SEEN_MAX)
			one_item(k);
		else
			k->unclear++;
	}
	xml_found_release(&found);
}

static void exists(void *ctx, const struct json *doc, uint32_t node)
{
	bool *there = ctx;

	*there = *there || json_is(doc, node, JSON_ARRAY) ||
		json_is(doc, node, JSON_OBJECT);
}

/* Is there a list of that name, though an empty one? */
static bool list_there(const struct item_level *level,
		       const struct cond_world *w)
{
	size_t n = level->at ? strlen(level->at) : 0;
	bool there = false;
	char *list;

	if (!w->doc || n < 2 || strcmp(level->at + n - 2, "/*"))
		return false;
	list = xstrndup(level->at, n - 2);
	json_walk(w->doc, w->item, list, exists, &there);
	free(list);
	return there;
}

static bool has_columns(const struct csv *csv, const struct item_level *level)
{
	for (size_t i = 0; i < level->columns.n; i++)
		if (csv_column(csv, level->columns.v[i]) == CSV_NONE)
			return false;
	return true;
}

/* JSON, XML and pages are other answers. */
static bool csv_items(struct walk *k)
{
	const struct item_level *level = k->level;
	struct csv csv;
	bool there;

	if (answer_body_kind(k->w.answer, k->w.doc) != BODY_TEXT)
		return false;
	there = csv_open(&csv, k->w.answer->body, level->csv) &&
		has_columns(&csv, level);
	k->w.csv = &csv;
	while (there && csv_next(&csv)) {
		if (csv_whole(&csv) && k->total < ITEMS_SEEN_MAX)
			one_item(k);
		else
			k->unclear++;
	}
	k->unclear += there && csv.broken;
	k->w.csv = NULL;
	csv_close(&csv);
	return there;
}

/* A text that is none of the logs that were expected is not understood. */
static bool no_such_log(const struct item_levels *levels,
			const struct cond_world *w,
			const struct items_seen *seen)
{
	bool csv = false;

	for (size_t i = 0; i < levels->n; i++)
		csv = csv || levels->v[i].csv;
	return csv && !seen->there &&
	       answer_body_kind(w->answer, w->doc) == BODY_TEXT;
}

static void level_find(const struct item_level *level,
		       const struct cond_world *w, struct items_seen *seen,
		       struct walk *sum)
{
	struct walk k = {.w = *w, .seen = seen, .level = level};
	size_t listed = strlen(seen->list);
	bool there = false;

	k.w.levels = NULL;
	if (level->at && w->doc)
		json_walk(w->doc, w->item, level->at, json_item, &k);
	else if (level->path && world_xml(w))
		xml_items(&k, world_xml(w));
	else if (level->csv)
		there = csv_items(&k);
	there = there || k.total || list_there(level, w);
	seen->there = seen->there || there;
	sum->unclear += k.unclear;
	if (level->again) {
		if (k.refused > sum->refused) {
			/* More than those that were counted: not among them */
			if (sum->total)
				sum->total += k.refused - sum->refused;
			sum->refused = k.refused;
		} else {
			seen->list[listed] = 0;
		}
		return;
	}
	if (level->by != ITEM_REFUSED && there)
		seen->total_known = true;
	sum->refused += k.refused;
	sum->total += k.total;
}

static void levels_find(const struct item_levels *levels,
			const struct cond_world *w, struct items_seen *seen,
			struct walk *sum)
{
	for (size_t i = 0; i < levels->n; i++)
		level_find(&levels->v[i], w, seen, sum);
}

void items_find(const struct item_levels *levels, const struct cond_world *w,
		struct items_seen *seen)
{
	struct walk sum = {.seen = seen};

	if (seen->done)
		return;
	seen->done = true;
	levels_find(levels, w, seen, &sum);
	sum.unclear += no_such_log(levels, w, seen);
	seen->refused = sum.refused;
	seen->total = sum.total;
	seen->unclear = sum.unclear;
}

const char *items_word(const struct items_seen *seen)
{
	assert(seen->done);
	if (seen->refused && seen->total_known &&
	    seen->refused >= seen->total && !seen->unclear)
		return "all_refused";
	if (seen->refused)
		return "some_refused";
	if (seen->unclear)
		return "unclear";
	return seen->total ? "none_refused" : "absent";
}
