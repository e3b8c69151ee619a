/*
 * screenshot - the pictures of README, of the real program.
 *
 *   screenshot FOLDER [NAME]
 *
 * Starts `edcsync demo` below a terminal (vt.h), presses the keys of each row
 * below, waits until the text stands on the screen, and writes what is there
 * as FOLDER/NAME.svg. EDCSYNC names the program. Run by `make screenshots`.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "vt.h"

enum { CELL_W = 9, CELL_H = 19, FRAME = 14, BAR = 30, GROUND = 0x14181f };

static const struct picture {
	const char *name;
	int cols, rows;
	const char *keys;		/* words with a space between: a key
					 * (vt.h), 'text to be typed, or = to
					 * let it be painted */
	const char *wait;		/* must stand there; NULL: only rest */
	int wait_ms;
} pictures[] = {
	{ "overview", 100, 28, "1", "down, probe in", 60000 },
	{ "attempts", 100, 28, "2", "On the wire  1", 60000 },
	{ "dead", 100, 28, "6", "maybe", 60000 },
	{ "inspector", 100, 28, "2 / 'attempts>=3 Space 'status:504 Enter = Enter = ]",
	  "may have been written", 30000 },
};

static unsigned rgb_of(struct vt *vt, VTermColor c, unsigned otherwise)
{
	if (VTERM_COLOR_IS_DEFAULT_FG(&c) || VTERM_COLOR_IS_DEFAULT_BG(&c))
		return otherwise;
	vterm_screen_convert_color_to_rgb(vt->screen, &c);
	return (unsigned)c.rgb.red << 16 | (unsigned)c.rgb.green << 8 |
	       c.rgb.blue;
}

static void put_char(FILE *f, uint32_t ch)
{
	struct buf text = { 0 };

	if (ch == '<' || ch == '&' || ch == '>')
		fprintf(f, "&#%u;", (unsigned)ch);
	else {
		utf8_encode(&text, ch ? ch : ' ');
		fputs(buf_text(&text), f);
	}
	buf_release(&text);
}

/* What a cell looks like: runs of equal looks become one text. */
struct look {
	unsigned fg, bg;
	bool bold, underline;
};

static struct look look_of(struct vt *vt, const VTermScreenCell *c)
{
	struct look l = { .fg = rgb_of(vt, c->fg, 0xd8dee9),
			  .bg = rgb_of(vt, c->bg, GROUND),
			  .bold = c->attrs.bold,
			  .underline = c->attrs.underline };

	if (c->attrs.reverse) {
		unsigned swap = l.fg;

		l.fg = l.bg;
		l.bg = swap;
	}
	return l;
}

static bool same_look(const struct look *a, const struct look *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->bold == b->bold &&
	       a->underline == b->underline;
}

static bool is_blank(const VTermScreenCell *c)
{
	return !c->chars[0] || c->chars[0] == ' ';
}

/* Cells from..to of a row, all of one look. */
static void put_run(FILE *f, struct vt *vt, int row, int from, int to,
		    const struct look *l)
{
	int x = FRAME + from * CELL_W, y = BAR + row * CELL_H, last = from - 1;

	if (l->bg != GROUND)
		fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\""
			" fill=\"#%06x\"/>\n", x, y, CELL_W * (to - from),
			CELL_H, l->bg);
	for (int col = from; col < to; col++) {
		VTermScreenCell c = vt_cell(vt, row, col);

		last = is_blank(&c) ? last : col;
	}
	if (last < from)
		return;
	fprintf(f, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" "
		"xml:space=\"preserve\" fill=\"#%06x\"%s%s>", x, y + 14,
		CELL_W * (last - from + 1), l->fg,
		l->bold ? " font-weight=\"bold\"" : "",
		l->underline ? " text-decoration=\"underline\"" : "");
	for (int col = from; col <= last; col++) {
		VTermScreenCell c = vt_cell(vt, row, col);

		if (c.chars[0] == (uint32_t)-1)
			continue;	/* right half of a wide one */
		put_char(f, c.chars[0]);
		for (int i = 1; i < VTERM_MAX_CHARS_PER_CELL && c.chars[i];
		     i++)
			put_char(f, c.chars[i]);
	}
	fprintf(f, "</text>\n");
}

static void put_row(FILE *f, struct vt *vt, int row)
{
	struct look run = { 0 };
	int from = 0;

	for (int col = 0; col <= vt->cols; col++) {
		struct look l = run;

		if (col < vt->cols) {
			VTermScreenCell c = vt_cell(vt, row, col);

			l = look_of(vt, &c);
		}
		if (col == vt->cols || (col > from && !same_look(&l, &run))) {
			put_run(f, vt, row, from, col, &run);
			from = col;
		}
		run = l;
	}
}

static bool write_svg(struct vt *vt, const char *file)
{
	int width = 2 * FRAME + vt->cols * CELL_W;
	int height = BAR + FRAME + vt->rows * CELL_H;
	FILE *f = fopen(file, "w");

	if (!f) {
		fprintf(stderr, "%s: %s\n", file, strerror(errno));
		return false;
	}
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"DejaVu "
		"Sans Mono,Menlo,Consolas,monospace\" font-size=\"14.95\">\n"
		"<rect width=\"%d\" height=\"%d\" rx=\"8\" "
		"fill=\"#14181f\"/>\n", width, height, width, height, width,
		height);
	for (int i = 0; i < 3; i++)
		fprintf(f, "<circle cx=\"%d\" cy=\"15\" r=\"5\" "
			"fill=\"#3b4252\"/>\n", 20 + 18 * i);
	for (int row = 0; row < vt->rows; row++)
		put_row(f, vt, row);
	fprintf(f, "</svg>\n");
	if (fclose(f) != 0) {
		fprintf(stderr, "%s: %s\n", file, strerror(errno));
		return false;
	}
	return true;
}

static void press(struct vt *vt, const char *keys)
{
	struct buf word = { 0 };

	for (const char *at = keys; *at; ) {
		size_t n = strcspn(at, " ");

		buf_clear(&word);
		buf_add(&word, at, n);
		if (*buf_text(&word) == '\'')
			vt_type(vt, buf_text(&word) + 1);
		else if (*buf_text(&word) == '=')
			for (int i = 0; i < 20; i++)
				vt_pump(vt, 50);
		else if (!vt_key(vt, buf_text(&word)))
			fprintf(stderr, "no such key: %s\n", buf_text(&word));
		vt_settle(vt);
		at += n + (at[n] == ' ');
	}
	buf_release(&word);
}

static bool take(struct vt *vt, const struct picture *p, const char *folder)
{
	struct buf file = { 0 };
	bool ok = true;

	vt_resize(vt, p->cols, p->rows);
	vt_settle(vt);
	press(vt, p->keys);
	if (p->wait && vt_wait_for(vt, p->wait, p->wait_ms) < 0) {
		struct buf text = { 0 };

		vt_text(vt, &text);
		fprintf(stderr, "%s: \"%s\" never came; there is:\n%s\n",
			p->name, p->wait, buf_text(&text));
		buf_release(&text);
		ok = false;
	}
	buf_addf(&file, "%s/%s.svg", folder, p->name);
	ok = write_svg(vt, buf_text(&file)) && ok;
	printf("%s\n", buf_text(&file));
	buf_release(&file);
	return ok;
}

int main(int argc, char **argv)
{
	const char *program = getenv("EDCSYNC");
	char dir[] = "/tmp/edcsync-screenshot-XXXXXX";
	char *demo[] = { (char *)(program ? program : "./edcsync"),
			 (char *)"demo", (char *)"--seed", (char *)"7", NULL };
	const char *env[] = { "COLORTERM=truecolor", NULL };
	struct vt vt;
	bool ok = true;

	setlocale(LC_ALL, "C.UTF-8");
	if (argc < 2 || !mkdtemp(dir)) {
		fprintf(stderr, "usage: screenshot FOLDER [NAME]\n");
		return 2;
	}
	vt_start(&vt, &(struct vt_start){ .cols = 100, .rows = 28,
		 .argv = demo, .home = dir, .env = env,
		 .term = "xterm-256color" });
	if (vt_wait_for(&vt, "Over", 30000) < 0) {
		fprintf(stderr, "the console did not come up\n");
		ok = false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(pictures) && ok; i++)
		if (argc < 3 || strcmp(argv[2], pictures[i].name) == 0)
			ok = take(&vt, &pictures[i], argv[1]) && ok;
	vt_key(&vt, "Esc");
	vt_key(&vt, "Esc");
	vt_key(&vt, "q");
	vt_wait_for(&vt, "uit", 2000);
	vt_end(&vt);
	return ok ? 0 : 1;
}
