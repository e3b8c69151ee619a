/* Times, waits and durations; and the visible form of any bytes. */
#include <string.h>

#include "core/timefmt.h"
#include "core/utf8.h"
#include "core/verdict.h"
#include "tests/fuzz/fuzz.h"

#define NOW_MS INT64_C(1795960951120)

static void times_check(struct span s)
{
	char text[TIME_TEXT];
	int64_t ms, back;

	if (time_parse(s, 60, &ms)) {
		time_local(ms, -570, text);
		PROMISE(time_parse(span_of(text), 0, &back));
		/* Clamped at the ends of the calendar. */
		PROMISE(back == ms || text[0] == '0' || text[0] == '9');
	}
	if (time_parse_person(s, NOW_MS, 60, &ms)) {
		time_utc(ms, text);
		PROMISE(strlen(text) == 24);
	}
	if (time_http(s, NOW_MS, &ms)) {
		time_http_text(ms, text);
		PROMISE(time_http(span_of(text), NOW_MS, &back));
		PROMISE(back == ms || text[12] == '0' || text[12] == '9');
	}
	if (time_date(s, NOW_MS, &ms)) {
		time_utc(ms, text);
		PROMISE(time_date(span_of(text), 0, &back));
		PROMISE(back == ms || text[0] == '0' || text[0] == '9');
	}
	if (duration_parse(s, &ms)) {
		PROMISE(ms >= 0 && ms <= TIME_MS_MAX);
		duration_text(ms, text);
		PROMISE(strlen(text) < TIME_TEXT);
	}
}

static void wait_check(struct span s)
{
	struct header h[2] = {{SPAN("Retry-After"), s}, {SPAN("Date"), s}};
	struct answer a = {.headers = h};
	int64_t ms;
	bool odd;

	for (a.headers_n = 0; a.headers_n <= 2; a.headers_n++) {
		ms = time_retry_after(&a, NOW_MS, &odd);
		PROMISE(ms >= -1 && ms <= TIME_MS_MAX);
		PROMISE((ms == -1) == (a.headers_n == 0));
		PROMISE(!odd || ms == 0);
	}
}

static void visible_check(struct span s, bool ascii_only)
{
	struct buf shown = BUF_INIT, fit = BUF_INIT;
	int cells = s.n ? (unsigned char)s.p[0] % 40 : 3;

	utf8_escape(&shown, s, ascii_only);
	for (size_t i = 0; i < shown.len;) {
		uint32_t cp;
		size_t n = utf8_decode(shown.p + i, shown.len - i, &cp);

		PROMISE(n && utf8_width(cp) >= 0);
		PROMISE(!ascii_only || cp < 0x80);
		i += n;
	}
	utf8_fit(&fit, s, cells, ascii_only);
	PROMISE(utf8_cells(buf_span(&fit)) <= cells);
	PROMISE(utf8_valid(buf_span(&fit)));
	buf_release(&shown);
	buf_release(&fit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct span s = {(const char *)data, n};

	times_check(s);
	wait_check(s);
	visible_check(s, false);
	visible_check(s, true);
	return 0;
}
