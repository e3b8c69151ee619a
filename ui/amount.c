#include "ui/amount.h"

#include "core/timefmt.h"

#define DAY_S (24 * 3600)

void amount_count(int64_t n, struct buf *out)
{
	long long v = (long long)n;

	if (v < 0)
		v = 0;
	if (v < 10000)
		buf_addf(out, "%lld", v);
	else if (v < 1000000)
		buf_addf(out, "%lld %03lld", v / 1000, v % 1000);
	else if (v < 10000000)
		buf_addf(out, "%lld %03lld %03lld", v / 1000000,
			 v / 1000 % 1000, v % 1000);
	else
		buf_addf(out, "%lld.%lldM", v / 1000000, v / 100000 % 10);
}

void amount_left(int64_t ms, struct buf *out)
{
	long long s = ms > 0 ? (long long)(ms / 1000 + (ms % 1000 > 0)) : 0;

	if (s >= 2 * DAY_S)
		buf_addf(out, "%lldd%02lldh", s / DAY_S, s / 3600 % 24);
	else if (s >= 3600)
		buf_addf(out, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60,
			 s % 60);
	else
		buf_addf(out, "%lld:%02lld", s / 60, s % 60);
}

void amount_took(int64_t ms, struct buf *out)
{
	char text[TIME_TEXT];

	if (ms < 0)
		ms = 0;
	if (ms < 100) {
		buf_addf(out, "%lldms", (long long)ms);
	} else if (ms < 100000) {
		buf_addf(out, "%lld.%llds", (long long)ms / 1000,
			 (long long)ms / 100 % 10);
	} else {
		duration_text(ms, text);
		buf_adds(out, text);
	}
}

void amount_share(int64_t part, int64_t whole, struct buf *out)
{
	if (whole <= 0 || part < 0)
		buf_addc(out, '-');
	else if (part > 0 && part * 100 < whole)
		buf_adds(out, "<1%");
	else
		buf_addf(out, "%lld%%", (long long)(part * 100 / whole));
}
