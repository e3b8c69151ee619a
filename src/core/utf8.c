#include "core/utf8.h"

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
