#include "ui/cell.h"

#include "core/words.h"

static const struct {
	const char *utf8, *ascii;
} glyphs[UI_GLYPH_COUNT] = {
#define X(sym, utf8, ascii) [GLYPH_##sym] = { utf8, ascii },
	UI_GLYPHS(X)
#undef X
};

const char *glyph_text(const struct grid *g, enum ui_glyph glyph)
{
	assert(glyph < UI_GLYPH_COUNT);
	return g->ascii ? glyphs[glyph].ascii : glyphs[glyph].utf8;
}

int draw_glyph(const struct area *a, int row, int col, struct style s,
	       enum ui_glyph glyph)
{
	return draw_text(a, row, col, s, glyph_text(a->grid, glyph));
}

const char *state_glyph(const struct grid *g, enum op_state state,
			unsigned flags)
{
	return words_glyph(state, flags, g->ascii);
}

int draw_state(const struct area *a, int row, int col, struct style s,
	       enum op_state state, unsigned flags)
{
	return draw_text(a, row, col, s, state_glyph(a->grid, state, flags));
}

void draw_box(const struct area *a, struct style s, const char *title)
{
	int bottom = a->rows - 1, right = a->cols - 1;

	for (int col = 1; col < right; col++) {
		draw_glyph(a, 0, col, s, GLYPH_HLINE);
		draw_glyph(a, bottom, col, s, GLYPH_HLINE);
	}
	for (int row = 1; row < bottom; row++) {
		draw_glyph(a, row, 0, s, GLYPH_VLINE);
		draw_glyph(a, row, right, s, GLYPH_VLINE);
	}
	draw_glyph(a, 0, 0, s, GLYPH_TOP_LEFT);
	draw_glyph(a, 0, right, s, GLYPH_TOP_RIGHT);
	draw_glyph(a, bottom, 0, s, GLYPH_BOTTOM_LEFT);
	draw_glyph(a, bottom, right, s, GLYPH_BOTTOM_RIGHT);
	if (title && *title && a->cols > 6) {
		struct area top = area_part(a, 0, 2, 1, a->cols - 4);
		struct buf safe = { 0 };
		int end;

		s.attrs |= UI_BOLD;
		utf8_fit(&safe, span_of(title), top.cols - 2,
			 a->grid->ascii);
		end = draw_fmt(&top, 0, 0, s, " %s ", buf_text(&safe));
		(void)end;
		buf_release(&safe);
	}
}

int draw_bar(const struct area *a, int row, int col, int width,
	     struct style s, int64_t part, int64_t whole)
{
	int full = 0;

	if (whole > 0 && part > 0)
		full = part >= whole ? width :
		       (int)((double)part / (double)whole * width);
	for (int i = 0; i < width; i++)
		draw_glyph(a, row, col + i, s,
			   i < full ? GLYPH_FULL : GLYPH_EMPTY);
	return col + (width > 0 ? width : 0);
}

int draw_spark(const struct area *a, int row, int col, struct style s,
	       const int64_t *value, int n)
{
	static const char *const step[] = { " ", "\u2581", "\u2582", "\u2583",
		"\u2584", "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char *const plain[] = { " ", "_", "_", ".", "-", "-",
		"=", "+", "#" };
	int64_t most = 0;

	for (int i = 0; i < n; i++)
		most = value[i] > most ? value[i] : most;
	for (int i = 0; i < n; i++) {
		int high = most <= 0 || value[i] <= 0 ? 0 :
			1 + (int)((double)value[i] / (double)most * 7.0);

		draw_text(a, row, col + i, s,
			  a->grid->ascii ? plain[high] : step[high]);
	}
	return col + (n > 0 ? n : 0);
}
