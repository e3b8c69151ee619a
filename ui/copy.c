#include "ui/copy.h"

#include <string.h>

#include "ui/term.h"

/* Ours: no newline ends it, for it may be pasted into a shell. */
static void copy_text(struct span text, struct buf *out)
{
	while (text.n > 0 && text.p[text.n - 1] == '\n')
		text.n--;
	while (text.n > 0) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;

		utf8_guard(out, (struct span){text.p, n}, false);
		if (end)
			buf_addc(out, '\n');
		text.p += n + (end != NULL);
		text.n -= n + (end != NULL);
	}
}

static void base64(struct span in, struct buf *out)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < in.n; i += 3) {
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 |
			       (i + k < in.n ? (unsigned char)in.p[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			buf_addc(out, i + k > in.n ? '=' :
				 digit[bits >> (18 - 6 * k) & 63]);
	}
}

bool copy_sequence(struct span text, struct buf *out)
{
	struct buf safe = BUF_INIT;
	bool fits;

	copy_text(text, &safe);
	fits = safe.len <= TERM_COPY_BYTES_MAX;
	if (fits) {
		buf_adds(out, "\033]52;c;");
		base64(buf_span(&safe), out);
		buf_addc(out, '\a');
	}
	buf_release(&safe);
	return fits;
}
