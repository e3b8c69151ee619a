#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "core/timefmt.h"
#include "core/verdict.h"

#define NOV_6_1994 INT64_C(784111777000)	/* 08:49:37 UTC */
#define NOV_29_2026 INT64_C(1795960951120)	/* 14:02:31.120 UTC */

static void utc_and_local_texts(void **state)
{
	char text[TIME_TEXT];

	(void)state;
	time_utc(NOV_29_2026, text);
	assert_string_equal(text, "2026-11-29T14:02:31.120Z");
	time_local(NOV_29_2026, 60, text);
	assert_string_equal(text, "2026-11-29T15:02:31.120+01:00");
	time_local(NOV_29_2026, -570, text);
	assert_string_equal(text, "2026-11-29T04:32:31.120-09:30");
	time_local(NOV_29_2026, 0, text);
	assert_string_equal(text, "2026-11-29T14:02:31.120+00:00");
	time_offset(-570, text);
	assert_string_equal(text, "-09:30");
	time_utc(-1, text);
	assert_string_equal(text, "1969-12-31T23:59:59.999Z");
	time_utc(INT64_MIN, text);
	assert_string_equal(text, "0000-01-01T00:00:00.000Z");
	time_utc(INT64_MAX, text);
	assert_string_equal(text, "9999-12-31T23:59:59.999Z");
	time_local(INT64_MAX, 14 * 60, text);
	assert_string_equal(text, "9999-12-31T23:59:59.999+14:00");
	time_http_text(NOV_6_1994, text);
	assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
}

/* Every day of 800 years, against the C library's own calendar. */
static void every_day_is_the_calendars(void **state)
{
	(void)state;
	for (int64_t day = -146097; day < 146097; day++) {
		char got[TIME_TEXT], want[TIME_TEXT];
		time_t t = (time_t)(day * 86400);
		struct tm tm;
		int64_t ms;

		gmtime_r(&t, &tm);
		strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.000Z", &tm);
		time_utc(day * 86400000, got);
		assert_string_equal(got, want);
		assert_true(time_parse(span_of(got), 0, &ms));
		assert_true(ms == day * 86400000);
		strftime(want, sizeof(want), "%a, %d %b %Y %H:%M:%S GMT", &tm);
		time_http_text(day * 86400000, got);
		assert_string_equal(got, want);
	}
}

static void rfc3339_is_read(void **state)
{
	static const struct {
		const char *text;
		int offset_min;
		int64_t ms;
	} row[] = {
		{"2026-11-29T14:02:31.120Z", 60, NOV_29_2026},
		{"2026-11-29T14:02:31.1209999Z", 60, NOV_29_2026},
		{"2026-11-29t14:02:31.12z", 60, NOV_29_2026},
		{"2026-11-29 15:02:31.12+01:00", 0, NOV_29_2026},
		{"2026-11-29T04:32:31.12-09:30", 0, NOV_29_2026},
		{"2026-11-29T15:02:31.12", 60, NOV_29_2026},
		{"2026-11-29T14:02:31.12-00:00", 60, NOV_29_2026},
		{"1994-11-06T08:49:37Z", 0, NOV_6_1994},
		{"2024-02-29T00:00:00Z", 0, INT64_C(1709164800000)},
		{"2016-12-31T23:59:60Z", 0, INT64_C(1483228800000)},
		{"0000-01-01T00:00:00Z", 0, INT64_C(-62167219200000)},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		int64_t ms = 0;

		if (!time_parse(span_of(row[i].text), row[i].offset_min, &ms))
			fail_msg("refused: %s", row[i].text);
		assert_true(ms == row[i].ms);
	}
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const row[] = {
		"", "now", "2026-11-29", "2026-11-29T14:02", "2026-11-29T",
		"2026-11-29T14:02:31.", "2026-11-29T14:02:31.Z",
		"2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
		"2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
		"2026-11-31T00:00:00Z", "2026-11-00T00:00:00Z",
		"2026-11-29T24:00:00Z", "2026-11-29T14:60:00Z",
		"2026-11-29T14:02:61Z", "2026-11-29T14:02:31+1:00",
		"2026-11-29T14:02:31+01", "2026-11-29T14:02:31+24:00",
		"2026-11-29T14:02:31+01:60", "2026-11-29T14:02:31ZZ",
		"2026-11-29T14:02:31 Z", " 2026-11-29T14:02:31Z",
		"26-11-29T14:02:31Z", "12026-11-29T14:02:31Z",
		"-026-11-29T14:02:31Z", "2026-1-29T14:02:31Z",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		int64_t ms;

		if (time_parse(span_of(row[i]), 0, &ms))
			fail_msg("accepted: %s", row[i]);
	}
}

static void persons_may_leave_out(void **state)
{
	static const struct { const char *text, *want; } row[] = {
		{"2026-11-29T14:02:31.120Z", "2026-11-29T14:02:31.120Z"},
		{"2026-11-28", "2026-11-27T23:00:00.000Z"},
		{"2026-11-28 09:15", "2026-11-28T08:15:00.000Z"},
		{"2026-11-28T09:15Z", "2026-11-28T09:15:00.000Z"},
		{"2026-11-28T09:15+02:00", "2026-11-28T07:15:00.000Z"},
		{"09:15", "2026-11-29T08:15:00.000Z"},
		{"09:15:30", "2026-11-29T08:15:30.000Z"},
		{"2026-11-31", NULL}, {"25:00", NULL}, {"9:15", NULL},
		{"2026-11-28T", NULL}, {"2026-11-28Z", NULL},
		{"09:15Z", NULL}, {"", NULL}, {"yesterday", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		char text[TIME_TEXT];
		int64_t ms = 0;
		bool ok = time_parse_person(span_of(row[i].text), NOV_29_2026,
					    60, &ms);

		if (ok != (row[i].want != NULL))
			fail_msg("%s: %s", ok ? "accepted" : "refused",
				 row[i].text);
		if (!ok)
			continue;
		time_utc(ms, text);
		assert_string_equal(text, row[i].want);
	}
}

static void all_three_http_dates(void **state)
{
	static const char *const row[] = {
		"Sun, 06 Nov 1994 08:49:37 GMT",
		"Sunday, 06-Nov-94 08:49:37 GMT",
		"Sun Nov  6 08:49:37 1994",
	};
	static const char *const wrong[] = {
		"", "sun, 06 Nov 1994 08:49:37 GMT",
		"Sun, 06 nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37 gmt",
		"Sun, 06 Nov 1994 08:49:37 UTC",
		"Sun, 06 Nov 1994 08:49:37 +0000",
		"Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
		"Sun, 31 Feb 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37 GMT ",
		"Sunday, 06-Nov-1994 08:49:37 GMT",
		"Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94",
		"So, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
	};
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		assert_true(time_http(span_of(row[i]), NOV_29_2026, &ms));
		assert_true(ms == NOV_6_1994);
	}
	assert_true(time_http(SPAN("Wed Nov 16 08:49:37 1994"), 0, &ms));
	assert_true(ms == NOV_6_1994 + 10 * INT64_C(86400000));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (time_http(span_of(wrong[i]), NOV_29_2026, &ms))
			fail_msg("accepted: %s", wrong[i]);
}

/* RFC 9110: more than 50 years ahead means the past century. */
static void two_digit_years_slide(void **state)
{
	static const struct { const char *text, *now, *want; } row[] = {
		{"Sunday, 06-Nov-94 08:49:37 GMT", "2026-11-29T00:00:00Z",
		 "1994-11-06T08:49:37.000Z"},
		{"Wednesday, 01-Jan-70 00:00:00 GMT", "2026-11-29T00:00:00Z",
		 "2070-01-01T00:00:00.000Z"},
		{"Monday, 01-Jan-80 00:00:00 GMT", "2026-11-29T00:00:00Z",
		 "1980-01-01T00:00:00.000Z"},
		{"Sunday, 29-Nov-76 00:00:00 GMT", "2026-11-29T00:00:00Z",
		 "2076-11-29T00:00:00.000Z"},
		{"Sunday, 29-Nov-76 00:00:01 GMT", "2026-11-29T00:00:00Z",
		 "1976-11-29T00:00:01.000Z"},
		{"Sunday, 29-Nov-26 14:03:00 GMT", "2026-11-29T00:00:00Z",
		 "2026-11-29T14:03:00.000Z"},
		{"Friday, 01-Jan-10 00:00:00 GMT", "2080-01-01T00:00:00Z",
		 "2110-01-01T00:00:00.000Z"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		char text[TIME_TEXT];
		int64_t now, ms;

		assert_true(time_parse(span_of(row[i].now), 0, &now));
		assert_true(time_http(span_of(row[i].text), now, &ms));
		time_utc(ms, text);
		assert_string_equal(text, row[i].want);
	}
}

static int64_t wait_for(const char *retry_after, const char *date, bool *odd)
{
	struct header h[2] = {
		{SPAN("retry-after"), span_of(retry_after)},
		{SPAN("Date"), span_of(date)},
	};
	struct answer a = {.headers = h, .headers_n = date ? 2 : 1};

	return time_retry_after(&a, NOV_29_2026, odd);
}

static void retry_after_in_seconds(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
		bool odd;
	} row[] = {
		{"0", 0, false}, {"1", 1000, false}, {"120", 120000, false},
		{"0120", 120000, false},
		/* B002: fractions round up */
		{"0.503", 1000, false}, {"0.129", 1000, false},
		{"1.0", 1000, false}, {"1.0001", 2000, false},
		{"0.0", 0, false},
		{"86400", 86400000, false},
		{"99999999999999999999999999", TIME_MS_MAX, false},
		{"9223372036854775807", TIME_MS_MAX, false},
		/* nonsense */
		{"", 0, true}, {"-1", 0, true}, {"+3", 0, true},
		{"3s", 0, true}, {"1.", 0, true}, {".5", 0, true},
		{"1.5.2", 0, true}, {"1e3", 0, true}, {"0x10", 0, true},
		{"soon", 0, true}, {"5, 10", 0, true}, {"NaN", 0, true},
		{"\xd9\xa1", 0, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		bool odd;
		int64_t ms = wait_for(row[i].text, NULL, &odd);

		if (ms != row[i].ms || odd != row[i].odd)
			fail_msg("'%s': %lld, odd %d", row[i].text,
				 (long long)ms, odd);
	}
}

static void retry_after_as_a_date(void **state)
{
	bool odd;

	(void)state;
	/* Without Date: against our clock, to the millisecond. */
	assert_true(wait_for("Sun, 29 Nov 2026 14:03:31 GMT", NULL, &odd) ==
		    59880);
	assert_false(odd);
	/* With Date: the server's own clock, an hour off or not. */
	assert_true(wait_for("Sun, 29 Nov 2026 15:03:31 GMT",
			     "Sun, 29 Nov 2026 15:02:31 GMT", &odd) == 60000);
	assert_false(odd);
	assert_true(wait_for("Sunday, 29-Nov-26 15:03:31 GMT",
			     "Sun Nov 29 15:02:31 2026", &odd) == 60000);
	assert_false(odd);
	/* An unreadable Date is as none. */
	assert_true(wait_for("Sun, 29 Nov 2026 14:03:31 GMT", "today",
			     &odd) == 59880);
	/* The past. */
	assert_true(wait_for("Sun, 06 Nov 1994 08:49:37 GMT", NULL, &odd) ==
		    0);
	assert_true(odd);
	assert_true(wait_for("Sun, 29 Nov 2026 15:02:31 GMT",
			     "Sun, 29 Nov 2026 15:02:32 GMT", &odd) == 0);
	assert_true(odd);
}

/* B001: an HTTP date is UTC, wherever the program runs. */
static void retry_after_in_any_zone(void **state)
{
	static const char *const zone[] = {
		"America/New_York", "Asia/Kolkata", "Asia/Tokyo", "UTC"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(zone); i++) {
		bool odd;

		setenv("TZ", zone[i], 1);
		tzset();
		assert_true(wait_for("Sun, 29 Nov 2026 14:03:31 GMT", NULL,
				     &odd) == 59880);
	}
	unsetenv("TZ");
	tzset();
}

static void no_header_and_several(void **state)
{
	struct header h[] = {
		{SPAN("Content-Type"), SPAN("text/html")},
		{SPAN("Retry-After"), SPAN("soon")},
		{SPAN("RETRY-AFTER"), SPAN("5")},
		{SPAN("Retry-After"), SPAN("3")},
	};
	struct answer a = {.headers = h, .headers_n = 1};
	bool odd = true;

	(void)state;
	assert_true(time_retry_after(&a, NOV_29_2026, &odd) == -1);
	assert_false(odd);
	a.headers_n = 2;
	assert_true(time_retry_after(&a, NOV_29_2026, &odd) == 0);
	assert_true(odd);
	a.headers_n = 4;
	assert_true(time_retry_after(&a, NOV_29_2026, &odd) == 5000);
	assert_false(odd);
}

static void durations_are_read(void **state)
{
	static const struct { const char *text; int64_t ms; } row[] = {
		{"90s", 90000}, {"15m", 900000}, {"2h", 7200000},
		{"1d", 86400000}, {"1w", 604800000}, {"250ms", 250},
		{"42", 42000}, {"0", 0}, {"1h30m", 5400000},
		{"1m250ms", 60250},
		{"", -1}, {"s", -1}, {"-5s", -1}, {"+5s", -1}, {"1.5h", -1},
		{"5 s", -1}, {"5x", -1}, {"1h30", -1}, {"5S", -1},
		{"99999999999999999999", -1}, {"9999999999999999d", -1},
		{"106751991167d106751991167d", -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		int64_t ms = -1;

		duration_parse(span_of(row[i].text), &ms);
		if (ms != row[i].ms)
			fail_msg("'%s': %lld", row[i].text, (long long)ms);
	}
}

static void durations_are_told(void **state)
{
	static const struct { int64_t ms; const char *text; } row[] = {
		{0, "0s"}, {999, "0s"}, {-999, "0s"}, {42999, "42s"},
		{60000, "1m00s"}, {185000, "3m05s"}, {3600000, "1h00m"},
		{8040000, "2h14m"}, {86400000, "1d00h"},
		{273600000, "3d04h"}, {-185000, "-3m05s"},
		{INT64_MAX, "106751991167d07h"},
		{INT64_MIN, "-106751991167d07h"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		char text[TIME_TEXT];

		duration_text(row[i].ms, text);
		assert_string_equal(text, row[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utc_and_local_texts),
		cmocka_unit_test(every_day_is_the_calendars),
		cmocka_unit_test(rfc3339_is_read),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(persons_may_leave_out),
		cmocka_unit_test(all_three_http_dates),
		cmocka_unit_test(two_digit_years_slide),
		cmocka_unit_test(retry_after_in_seconds),
		cmocka_unit_test(retry_after_as_a_date),
		cmocka_unit_test(retry_after_in_any_zone),
		cmocka_unit_test(no_header_and_several),
		cmocka_unit_test(durations_are_read),
		cmocka_unit_test(durations_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
