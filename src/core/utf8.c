#include "core/utf8.h"

#include <string.h>

#include "core/utf8_table.h"

/* Length of the character that starts with this byte; 0: it starts none. */
static size_t lead_length(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c < 0xc2)
		return 0;
	if (c < 0xe0)
		return 2;
	if (c < 0xf0)
		return 3;
	return c < 0xf5 ? 4 : 0;
}

size_t utf8_decode(const char *p, size_t n, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *u = (const unsigned char *)p;
	size_t len = n ? lead_length(u[0]) : 0;
	uint32_t value;

	if (!len || len > n)
		return 0;
	if (len == 1) {
		*cp = u[0];
		return 1;
	}
	value = u[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (u[i] & 0x3fu);
	}
	if (value < least[len] || value > 0x10ffff ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*cp = value;
	return len;
}

void utf8_encode(struct buf *b, uint32_t cp)
{
	char text[4];
	size_t n = 0;

	assert(cp <= 0x10ffff);
	if (cp < 0x80) {
		text[n++] = (char)cp;
	} else if (cp < 0x800) {
		text[n++] = (char)(0xc0 | cp >> 6);
		text[n++] = (char)(0x80 | (cp & 0x3f));
	} else if (cp < 0x10000) {
		text[n++] = (char)(0xe0 | cp >> 12);
		text[n++] = (char)(0x80 | (cp >> 6 & 0x3f));
		text[n++] = (char)(0x80 | (cp & 0x3f));
	} else {
		text[n++] = (char)(0xf0 | cp >> 18);
		text[n++] = (char)(0x80 | (cp >> 12 & 0x3f));
		text[n++] = (char)(0x80 | (cp >> 6 & 0x3f));
		text[n++] = (char)(0x80 | (cp & 0x3f));
	}
	buf_add(b, text, n);
}

bool utf8_valid(struct span s)
{
	for (size_t i = 0; i < s.n;) {
		uint32_t cp;
		size_t n = utf8_decode(s.p + i, s.n - i, &cp);

		if (!n)
			return false;
		i += n;
	}
	return true;
}

size_t utf8_count(struct span s)
{
	size_t count = 0;

	for (size_t i = 0; i < s.n; count++) {
		uint32_t cp;
		size_t n = utf8_decode(s.p + i, s.n - i, &cp);

		i += n ? n : 1;		/* a bad byte counts as one */
	}
	return count;
}

/* The value of the run that holds cp. */
static unsigned run_value(const uint32_t *runs, size_t n, uint32_t cp)
{
	size_t low = 0, high = n;

	assert(n > 0 && runs[0] >> 2 == 0);
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (runs[middle] >> 2 <= cp)
			low = middle;
		else
			high = middle;
	}
	return runs[low] & 3;
}

int utf8_width(uint32_t cp)
{
	if (cp < 0x7f)
		return cp >= 0x20 ? 1 : -1;
	if (cp > 0x10ffff)
		return -1;
	return (int)run_value(utf8_width_runs, utf8_width_runs_n, cp) - 1;
}

enum utf8_kind utf8_kind(uint32_t cp)
{
	if (cp > 0x10ffff)
		return UTF8_OTHER;
	return (enum utf8_kind)run_value(utf8_kind_runs, utf8_kind_runs_n, cp);
}

uint32_t utf8_fold(uint32_t cp)
{
	size_t low = 0, high = utf8_fold_ranges_n;

	if (cp < 0x80)
		return cp >= 'A' && cp <= 'Z' ? cp + 32 : cp;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct utf8_fold_range *r = &utf8_fold_ranges[middle];

		if (cp < r->first)
			high = middle;
		else if (cp > r->last)
			low = middle + 1;
		else
			return (cp - r->first) % (uint32_t)r->stride ? cp :
				(uint32_t)((int32_t)cp + r->distance);
	}
	return cp;
}

void utf8_fold_text(struct buf *out, struct span s)
{
	for (size_t i = 0; i < s.n;) {
		uint32_t cp;
		size_t n = utf8_decode(s.p + i, s.n - i, &cp);

		if (n)
			utf8_encode(out, utf8_fold(cp));
		else
			buf_addc(out, s.p[i]);
		i += n ? n : 1;
	}
}

/*
 * The visible form, one character of the source at a time: a unit is what
 * must not be cut.
 */
struct unit_reader {
	const char *p, *end;
	bool ascii_only;
	int room;			/* marks the last base still takes */
	char text[16];			/* the unit */
	size_t n;
	int cells;
};

/* Does the character at p stay as it is? room as above. */
static bool stays(const struct unit_reader *r, const char *p, int room,
		  size_t *len, uint32_t *cp)
{
	int width;

	*len = utf8_decode(p, (size_t)(r->end - p), cp);
	if (!*len || (r->ascii_only && *cp >= 0x80))
		return false;
	width = utf8_width(*cp);
	return width > 0 || (width == 0 && room > 0);
}

/* Would a backslash right before p be read as the start of an escape? */
static bool reads_as_escape(const struct unit_reader *r, const char *p)
{
	uint32_t cp;
	size_t len;

	if (p == r->end)
		return false;
	if (!stays(r, p, UTF8_MARKS_MAX, &len, &cp))
		return true;
	return cp == '\\' || cp == 'n' || cp == 't' || cp == 'r' ||
	       cp == 'x' || cp == 'u';
}

static void unit_escape(struct unit_reader *r, size_t len, uint32_t cp)
{
	static const char hex[] = "0123456789abcdef";
	uint32_t value = len ? cp : (unsigned char)*r->p;
	const char *name = cp == '\n' ? "\\n" : cp == '\t' ? "\\t" : "\\r";
	int digits = value < 0x100 ? 2 : value < 0x1000 ? 3 :
		     value < 0x10000 ? 4 : value < 0x100000 ? 5 : 6;

	r->n = 0;
	r->text[r->n++] = '\\';
	if (len && (cp == '\n' || cp == '\t' || cp == '\r')) {
		r->text[r->n++] = name[1];
	} else if (!len || cp < 0x80) {
		r->text[r->n++] = 'x';
		r->text[r->n++] = hex[value >> 4];
		r->text[r->n++] = hex[value & 15];
	} else {
		r->text[r->n++] = 'u';
		r->text[r->n++] = '{';
		while (digits--)
			r->text[r->n++] = hex[value >> (4 * digits) & 15];
		r->text[r->n++] = '}';
	}
	r->cells = (int)r->n;
	r->p += len ? len : 1;
	r->room = 0;
}

static bool unit_next(struct unit_reader *r)
{
	uint32_t cp = 0;
	size_t len;

	if (r->p == r->end)
		return false;
	if (!stays(r, r->p, r->room, &len, &cp)) {
		unit_escape(r, len, cp);
		return true;
	}
	for (r->n = 0; r->n < len; r->n++)
		r->text[r->n] = r->p[r->n];
	r->p += len;
	r->cells = utf8_width(cp);
	r->room = r->cells ? UTF8_MARKS_MAX : r->room - 1;
	if (cp == '\\' && reads_as_escape(r, r->p)) {
		r->text[r->n++] = '\\';
		r->cells++;
	}
	return true;
}

static struct unit_reader unit_reader_of(struct span s, bool ascii_only)
{
	const char *p = s.n ? s.p : "";

	return (struct unit_reader){.p = p, .end = p + s.n,
				    .ascii_only = ascii_only};
}

void utf8_escape(struct buf *out, struct span s, bool ascii_only)
{
	struct unit_reader r = unit_reader_of(s, ascii_only);

	while (unit_next(&r))
		buf_add(out, r.text, r.n);
}

void utf8_guard(struct buf *out, struct span s, bool ascii_only)
{
	while (s.n) {
		const char *slash = memchr(s.p, '\\', s.n);
		size_t n = slash ? (size_t)(slash - s.p) : s.n;

		utf8_escape(out, (struct span){s.p, n}, ascii_only);
		if (slash)
			buf_addc(out, '\\');
		s.p += n + (slash != NULL);
		s.n -= n + (slash != NULL);
	}
}

void utf8_fit(struct buf *out, struct span s, int cells, bool ascii_only)
{
	struct unit_reader r = unit_reader_of(s, ascii_only);
	size_t cut = out->len;		/* where the ellipsis would go */
	int used = 0;

	if (cells <= 0)
		return;
	while (unit_next(&r)) {
		if (used + r.cells > cells) {
			out->len = cut;
			buf_adds(out, ascii_only ? "~" : "\xe2\x80\xa6");
			return;
		}
		used += r.cells;
		buf_add(out, r.text, r.n);
		if (used < cells)
			cut = out->len;
	}
}

int utf8_cells(struct span s)
{
	int cells = 0;

	for (size_t i = 0; i < s.n;) {
		uint32_t cp;
		size_t n = utf8_decode(s.p + i, s.n - i, &cp);
		int width = n ? utf8_width(cp) : 1;

		cells += width < 0 ? 1 : width;
		i += n ? n : 1;
	}
	return cells;
}
