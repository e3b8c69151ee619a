/* What stands on the screen of vt.h, as text. */
#define _GNU_SOURCE
#include "vt.h"

#include <stdio.h>
#include <string.h>

#include "core/utf8.h"

VTermScreenCell vt_cell(const struct vt *vt, int row, int col)
{
	VTermPos at = {.row = row, .col = col};
	VTermScreenCell cell;

	memset(&cell, 0, sizeof(cell));
	vterm_screen_get_cell(vt->screen, at, &cell);
	return cell;
}

static void trim(struct buf *out, size_t from)
{
	while (out->len > from && out->p[out->len - 1] == ' ')
		out->p[--out->len] = '\0';
}

/* The right half of a wide character has none of its own. */
static bool is_half(const VTermScreenCell *cell)
{
	return cell->chars[0] == (uint32_t)-1;
}

void vt_row(const struct vt *vt, int row, struct buf *out)
{
	size_t from = out->len;

	for (int col = 0; col < vt->cols; col++) {
		VTermScreenCell cell = vt_cell(vt, row, col);

		if (is_half(&cell))
			continue;
		if (!cell.chars[0])
			buf_addc(out, ' ');
		for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i];
		     i++)
			utf8_encode(out, cell.chars[i]);
	}
	trim(out, from);
}

void vt_text(const struct vt *vt, struct buf *out)
{
	for (int row = 0; row < vt->rows; row++) {
		vt_row(vt, row, out);
		buf_addc(out, '\n');
	}
}

int vt_find(const struct vt *vt, const char *text)
{
	struct buf row = BUF_INIT;
	int found = -1;

	for (int i = 0; i < vt->rows && found < 0; i++) {
		buf_clear(&row);
		vt_row(vt, i, &row);
		if (strstr(buf_text(&row), text))
			found = i;
	}
	buf_release(&row);
	return found;
}

void vt_looks(const struct vt *vt, int row, struct buf *out)
{
	size_t from = out->len;

	for (int col = 0; col < vt->cols; col++) {
		VTermScreenCell cell = vt_cell(vt, row, col);
		bool bold = cell.attrs.bold;

		buf_addc(out, cell.attrs.reverse ? bold ? 'R' : 'r' :
			 cell.attrs.underline ? bold ? 'U' : 'u' :
			 bold ? 'b' : ' ');
	}
	trim(out, from);
}

bool vt_colours(const struct vt *vt)
{
	for (int row = 0; row < vt->rows; row++)
		for (int col = 0; col < vt->cols; col++) {
			VTermScreenCell cell = vt_cell(vt, row, col);

			if (!VTERM_COLOR_IS_DEFAULT_FG(&cell.fg) ||
			    !VTERM_COLOR_IS_DEFAULT_BG(&cell.bg))
				return true;
		}
	return false;
}

/* Which of two words came last in what was written? */
static bool last_was(const struct vt *vt, const char *on, const char *off)
{
	const char *p = buf_text(&vt->raw), *a = NULL, *b = NULL, *at;
	size_t left = vt->raw.len;

	for (at = p; (at = memmem(at, left - (size_t)(at - p), on,
				  strlen(on))); at++)
		a = at;
	for (at = p; (at = memmem(at, left - (size_t)(at - p), off,
				  strlen(off))); at++)
		b = at;
	return a && (!b || b < a);
}

bool vt_clean(struct vt *vt, struct buf *words)
{
	struct termios now;

	if (vt->alternate)
		buf_adds(words, "alternate screen on; ");
	if (vt->cursor_hidden)
		buf_adds(words, "cursor hidden; ");
	if (vt->mouse)
		buf_adds(words, "mouse on; ");
	if (last_was(vt, "\033[?2004h", "\033[?2004l"))
		buf_adds(words, "bracketed paste on; ");
	if (last_was(vt, "\033[?1h", "\033[?1l"))
		buf_adds(words, "application cursor keys on; ");
	if (tcgetattr(vt->master, &now) < 0)
		buf_adds(words, "modes not to be read; ");
	else if (now.c_iflag != vt->before.c_iflag ||
		 now.c_oflag != vt->before.c_oflag ||
		 now.c_cflag != vt->before.c_cflag ||
		 now.c_lflag != vt->before.c_lflag ||
		 memcmp(now.c_cc, vt->before.c_cc, sizeof(now.c_cc)))
		buf_addf(words, "modes %x %x %x instead of %x %x %x; ",
			 now.c_iflag, now.c_oflag, now.c_lflag,
			 vt->before.c_iflag, vt->before.c_oflag,
			 vt->before.c_lflag);
	return words->len == 0;
}

void vt_tail(const struct vt *vt, size_t bytes, struct buf *out)
{
	size_t n = vt->raw.len < bytes ? vt->raw.len : bytes;

	if (n)
		utf8_escape(out, (struct span){vt->raw.p + vt->raw.len - n, n},
			    false);
}
