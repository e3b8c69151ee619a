/* audit_head.c - see audit.h. */
#include "ui/audit.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "ui/amount.h"

/* Ends as a number that a person can compare; nonsense is none. */
static int64_t meta_number(struct view *view, const char *key, int *rc)
{
	struct buf value = BUF_INIT;
	int64_t n = 0;

	if (*rc >= 0) {
		int got = view_meta(view, key, &value);

		if (got == ST_OK)
			n = strtoll(buf_text(&value), NULL, 10);
		else if (got < 0)
			*rc = got;
	}
	buf_release(&value);
	return n > 0 ? n : 0;
}

static int read_meta(struct view *view, struct trail_head *h)
{
	struct buf value = BUF_INIT;
	int rc = view_audit_head(view, &h->seq, &h->at_ms);

	h->clock_ms = meta_number(view, META_CLOCK_STEP, &rc);
	h->gap_seq = meta_number(view, META_GAP_DECLARED, &rc);
	if (rc >= 0 && view_meta(view, META_ANCHOR_TROUBLE, &value) == ST_OK)
		text_set(h->anchor_trouble, sizeof(h->anchor_trouble),
			 buf_span(&value));
	buf_clear(&value);
	if (rc >= 0 && view_meta(view, META_RESTORED, &value) == ST_OK)
		h->restored = value.len > 0;
	buf_release(&value);
	return rc;
}

/* What the anchor file says; its signatures are checked by verify. */
static void read_anchor(struct view *view, const char *file,
			struct trail_head *h)
{
	struct buf id = BUF_INIT;
	uint8_t hash[32];

	if (file && view_meta(view, "store_id", &id) == ST_OK &&
	    audit_last_anchor(file, buf_text(&id), NULL, &h->anchored_seq,
			      hash, &h->anchored_ms) != ST_OK)
		h->anchored_seq = h->anchored_ms = 0;
	buf_release(&id);
}

static void run(struct job *job, struct work_room *room)
{
	struct head_job *j = (struct head_job *)job;
	int rc = ST_OK;

	if (room->view)
		rc = read_meta(room->view, &j->head);
	j->interrupted = rc == ST_INTERRUPTED;
	if (!room->view)
		j->head.error = xstrdup(room->error);
	else if (rc < 0)
		j->head.error = xstrdup(view_error(room->view));
	else
		read_anchor(room->view, j->anchor_file, &j->head);
	j->head.known = rc >= 0 && room->view;
	j->head.read_ms = room->now_ms;
}

static void drop(struct job *job)
{
	struct head_job *j = (struct head_job *)job;

	free(j->head.error);
	free(j->anchor_file);
	free(j);
}

void trail_head_ask(struct app *app, const void *owner, int topic,
		    void (*done)(struct job *, void *owner))
{
	struct head_job *j = xcalloc(1, sizeof(*j));

	j->job = (struct job){
		.owner = owner, .topic = topic, .lane = LANE_READ,
		.run = run, .done = done, .drop = drop,
	};
	j->anchor_file = xstrdup(app_world(app)->anchor_file);
	work_ask(app_work(app), &j->job);
}

static void clock_at(const struct app *app, int64_t ms, struct buf *text)
{
	words_clock(ms, app_now_ms(app), app_utc_offset_min(app, ms), text);
}

/* What `:verify` said when it ran in this console. */
static void verified(const struct app *app, bool *bad, struct buf *text)
{
	bool intact = false;
	int64_t at_ms = app_verified(app, &intact);

	if (!at_ms)
		return;
	*bad |= !intact;
	buf_adds(text, intact ? "intact at " : "NOT INTACT at ");
	clock_at(app, at_ms, text);
	buf_adds(text, ", ");
}

void trail_head_draw(const struct app *app, const struct trail_head *h,
		     const struct area *area, int row)
{
	struct buf text = BUF_INIT;
	bool bad = h->error || h->restored || *h->anchor_trouble;
	int col = draw_text(area, row, 0, STYLE(TITLE), "Audit ");

	if (!h->known && !h->error) {
		draw_text(area, row, col, STYLE(DIM), "...");
		return;
	}
	if (h->error) {
		buf_adds(&text, h->error);
	} else {
		verified(app, &bad, &text);
		buf_adds(&text, "to ");
		amount_count(h->seq, &text);
		buf_addc(&text, ' ');
		clock_at(app, h->at_ms, &text);
		buf_addf(&text, " %s ", glyph_text(area->grid, GLYPH_DOT));
		if (*h->anchor_trouble)
			buf_addf(&text, "anchors: %s", h->anchor_trouble);
		else if (h->anchored_seq) {
			buf_adds(&text, "anchored ");
			if (h->anchored_seq != h->seq) {
				buf_adds(&text, "to ");
				amount_count(h->anchored_seq, &text);
				buf_addc(&text, ' ');
			}
			clock_at(app, h->anchored_ms, &text);
		} else {
			buf_adds(&text, "anchors: by :verify");
		}
		buf_addf(&text, " %s ", glyph_text(area->grid, GLYPH_DOT));
		if (h->clock_ms) {
			buf_adds(&text, "clock stepped ");
			clock_at(app, h->clock_ms, &text);
		} else {
			buf_adds(&text, "clock in step");
		}
		buf_addf(&text, " %s ", glyph_text(area->grid, GLYPH_DOT));
		if (h->restored)
			buf_adds(&text, "store restored, gap not declared");
		else if (h->gap_seq)
			buf_addf(&text, "gap declared to %lld",
				 (long long)h->gap_seq);
		else
			buf_adds(&text, "no gap declared");
	}
	draw_glyph(area, row, col, bad ? STYLE(BAD) : STYLE(OK),
		   bad ? GLYPH_OPEN : GLYPH_CLOSED);
	draw_fit(area, row, col + 2, area->cols - col - 2,
		 bad ? STYLE(BAD) : STYLE(TEXT), buf_text(&text));
	buf_release(&text);
}
