#include "core/timefmt.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/verdict.h"

#define DAY_MS INT64_C(86400000)
#define YEAR_0000_MS INT64_C(-62167219200000)
#define YEAR_9999_END_MS INT64_C(253402300799999)

static const char *const months[] = {
	"Jan", "Feb", "Mar", "Apr", "May", "Jun",
	"Jul", "Aug", "Sep", "Oct", "Nov", "Dec", NULL
};
/* By days since Thursday, 1 January 1970. */
static const char *const days_short[] = {
	"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed", NULL
};
static const char *const days_long[] = {
	"Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday",
	"Wednesday", NULL
};

struct civil {
	int year, month, day;		/* month and day from 1 */
	int hour, minute, second, ms;
	int64_t days;			/* since 1970-01-01 */
};

/* Days since 1970-01-01; years start in March, so that the leap day is the
 * last of its year, and run in cycles of 400 (146097 days). */
static int64_t days_of(int year, int month, int day)
{
	int64_t y = year - (month <= 2);
	int64_t cycle = (y >= 0 ? y : y - 399) / 400;
	int64_t of_cycle = y - cycle * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 +
			  day - 1;

	return cycle * 146097 + of_cycle * 365 + of_cycle / 4 -
	       of_cycle / 100 + of_year - 719468;
}

static struct civil civil_of(int64_t ms)
{
	struct civil c;
	int64_t days, left, cycle, of_cycle, of_year, month;

	if (ms < YEAR_0000_MS)
		ms = YEAR_0000_MS;
	if (ms > YEAR_9999_END_MS)
		ms = YEAR_9999_END_MS;
	days = (ms - YEAR_0000_MS) / DAY_MS;	/* never negative */
	left = (ms - YEAR_0000_MS) % DAY_MS;
	c.days = days + YEAR_0000_MS / DAY_MS;
	c.ms = (int)(left % 1000);
	c.second = (int)(left / 1000 % 60);
	c.minute = (int)(left / 60000 % 60);
	c.hour = (int)(left / 3600000);
	days = c.days + 719468 + 146097;	/* a cycle more: positive */
	cycle = days / 146097;
	days %= 146097;
	of_cycle = (days - days / 1460 + days / 36524 - days / 146096) / 365;
	of_year = days - (365 * of_cycle + of_cycle / 4 - of_cycle / 100);
	month = (5 * of_year + 2) / 153;
	c.day = (int)(of_year - (153 * month + 2) / 5 + 1);
	c.month = (int)(month < 10 ? month + 3 : month - 9);
	c.year = (int)(of_cycle + (cycle - 1) * 400 + (c.month <= 2));
	return c;
}

static int64_t ms_of(const struct civil *c)
{
	return days_of(c->year, c->month, c->day) * DAY_MS +
	       c->hour * INT64_C(3600000) + c->minute * INT64_C(60000) +
	       c->second * INT64_C(1000) + c->ms;
}

static int month_days(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30,
				   31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	assert(month >= 1 && month <= 12);
	return days[month - 1] + (month == 2 && leap);
}

static bool civil_valid(const struct civil *c)
{
	return c->year >= 0 && c->year <= 9999 && c->month >= 1 &&
	       c->month <= 12 && c->day >= 1 &&
	       c->day <= month_days(c->year, c->month) && c->hour <= 23 &&
	       c->minute <= 59 && c->second <= 60;
}

static int64_t shifted(int64_t ms, int offset_min)
{
	if (ms < YEAR_0000_MS || ms > YEAR_9999_END_MS)
		return ms;
	return ms + offset_min * INT64_C(60000);
}

static int date_write(const struct civil *c, char out[TIME_TEXT])
{
	int n = snprintf(out, TIME_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d.%03d",
			 c->year, c->month, c->day, c->hour, c->minute,
			 c->second, c->ms);

	assert(n == 23);
	return n;
}

void time_utc(int64_t ms, char out[TIME_TEXT])
{
	struct civil c = civil_of(ms);
	int n = date_write(&c, out);

	out[n] = 'Z';
	out[n + 1] = '\0';
}

void time_offset(int offset_min, char out[TIME_OFFSET_TEXT])
{
	int minutes = offset_min < 0 ? -offset_min : offset_min;

	assert(minutes < 24 * 60);
	snprintf(out, TIME_OFFSET_TEXT, "%c%02d:%02d",
		 offset_min < 0 ? '-' : '+', minutes / 60 % 100, minutes % 60);
}

void time_local(int64_t ms, int offset_min, char out[TIME_TEXT])
{
	struct civil c = civil_of(shifted(ms, offset_min));
	int n = date_write(&c, out);

	assert(n + TIME_OFFSET_TEXT <= TIME_TEXT);
	time_offset(offset_min, out + n);
}

void time_http_text(int64_t ms, char out[TIME_TEXT])
{
	struct civil c = civil_of(ms);

	snprintf(out, TIME_TEXT, "%s, %02d %s %04d %02d:%02d:%02d GMT",
		 days_short[(c.days % 7 + 7) % 7], c.day, months[c.month - 1],
		 c.year, c.hour, c.minute, c.second);
}

/* A cursor that either takes what it is asked for or stays. */
struct cursor {
	const char *p, *end;
};

static struct cursor cursor_of(struct span s)
{
	const char *p = s.n ? s.p : "";

	return (struct cursor){p, p + s.n};
}

static bool at_end(const struct cursor *c)
{
	return c->p == c->end;
}

static bool take(struct cursor *c, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0)
		return false;
	c->p += n;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Exactly n digits. */
static bool take_digits(struct cursor *c, int n, int *out)
{
	int value = 0;

	if (c->end - c->p < n)
		return false;
	for (int i = 0; i < n; i++) {
		if (!is_digit(c->p[i]))
			return false;
		value = value * 10 + (c->p[i] - '0');
	}
	c->p += n;
	*out = value;
	return true;
}

static bool take_name(struct cursor *c, const char *const *names, int *index)
{
	for (int i = 0; names[i]; i++)
		if (take(c, names[i])) {
			*index = i;
			return true;
		}
	return false;
}

static bool take_date(struct cursor *c, struct civil *t)
{
	return take_digits(c, 4, &t->year) && take(c, "-") &&
	       take_digits(c, 2, &t->month) && take(c, "-") &&
	       take_digits(c, 2, &t->day);
}

/* hh:mm:ss */
static bool take_clock(struct cursor *c, struct civil *t)
{
	return take_digits(c, 2, &t->hour) && take(c, ":") &&
	       take_digits(c, 2, &t->minute) && take(c, ":") &&
	       take_digits(c, 2, &t->second);
}

/* ".120"; more digits are cut. */
static bool take_fraction(struct cursor *c, int *ms)
{
	int scale = 100;

	*ms = 0;
	if (!take(c, "."))
		return true;
	if (at_end(c) || !is_digit(*c->p))
		return false;
	for (; !at_end(c) && is_digit(*c->p); c->p++, scale /= 10)
		*ms += (*c->p - '0') * scale;
	return true;
}

/* Z, +hh:mm, -hh:mm, or nothing. */
static bool take_zone(struct cursor *c, int *offset_min)
{
	int hours, minutes;
	bool west;

	if (at_end(c) || take(c, "Z") || take(c, "z")) {
		*offset_min = c->end[-1] == 'Z' || c->end[-1] == 'z' ?
			      0 : *offset_min;
		return true;
	}
	west = *c->p == '-';
	if (!take(c, "+") && !take(c, "-"))
		return false;
	if (!take_digits(c, 2, &hours) || !take(c, ":") ||
	    !take_digits(c, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*offset_min = hours * 60 + minutes;
	if (west)
		*offset_min = -*offset_min;
	return true;
}

bool time_parse(struct span s, int default_offset_min, int64_t *ms)
{
	struct cursor c = cursor_of(s);
	struct civil t = {0};
	int offset_min = default_offset_min;

	if (!s.n || !take_date(&c, &t))
		return false;
	if (!take(&c, "T") && !take(&c, "t") && !take(&c, " "))
		return false;
	if (!take_clock(&c, &t) || !take_fraction(&c, &t.ms) ||
	    !take_zone(&c, &offset_min) || !at_end(&c) || !civil_valid(&t))
		return false;
	*ms = ms_of(&t) - offset_min * INT64_C(60000);
	return true;
}

/* hh:mm[:ss] at the end of what a person typed. */
static bool take_short_clock(struct cursor *c, struct civil *t)
{
	return take_digits(c, 2, &t->hour) && take(c, ":") &&
	       take_digits(c, 2, &t->minute) &&
	       (!take(c, ":") || take_digits(c, 2, &t->second));
}

bool time_parse_person(struct span s, int64_t now_ms, int default_offset_min,
		       int64_t *ms)
{
	struct cursor c = cursor_of(s);
	struct civil t = {0}, today;
	int offset_min = default_offset_min;

	if (time_parse(s, default_offset_min, ms))
		return true;
	if (!s.n)
		return false;
	if (take_date(&c, &t)) {
		bool clock = take(&c, "T") || take(&c, " ");

		if (clock && !take_short_clock(&c, &t))
			return false;
		if (clock && !take_zone(&c, &offset_min))
			return false;
	} else {
		c = cursor_of(s);
		today = civil_of(shifted(now_ms, default_offset_min));
		t = (struct civil){.year = today.year, .month = today.month,
				   .day = today.day};
		if (!take_short_clock(&c, &t))
			return false;
	}
	if (!at_end(&c) || !civil_valid(&t))
		return false;
	*ms = ms_of(&t) - offset_min * INT64_C(60000);
	return true;
}

/* Sun, 06 Nov 1994 08:49:37 GMT */
static bool http_fixed(struct cursor c, struct civil *t)
{
	int day, month;

	if (!take_name(&c, days_short, &day) || !take(&c, ", ") ||
	    !take_digits(&c, 2, &t->day) || !take(&c, " ") ||
	    !take_name(&c, months, &month) || !take(&c, " ") ||
	    !take_digits(&c, 4, &t->year) || !take(&c, " ") ||
	    !take_clock(&c, t) || !take(&c, " GMT"))
		return false;
	t->month = month + 1;
	return at_end(&c);
}

/* Sun Nov  6 08:49:37 1994 */
static bool http_asctime(struct cursor c, struct civil *t)
{
	int day, month;

	if (!take_name(&c, days_short, &day) || !take(&c, " ") ||
	    !take_name(&c, months, &month) || !take(&c, " "))
		return false;
	if (take(&c, " ") ? !take_digits(&c, 1, &t->day) :
			    !take_digits(&c, 2, &t->day))
		return false;
	if (!take(&c, " ") || !take_clock(&c, t) || !take(&c, " ") ||
	    !take_digits(&c, 4, &t->year))
		return false;
	t->month = month + 1;
	return at_end(&c);
}

/* Sunday, 06-Nov-94 08:49:37 GMT: the latest such year that is not more
 * than 50 years ahead. */
static bool http_rfc850(struct cursor c, int64_t now_ms, struct civil *t)
{
	struct civil limit = civil_of(now_ms);
	int day, month;

	if (!take_name(&c, days_long, &day) || !take(&c, ", ") ||
	    !take_digits(&c, 2, &t->day) || !take(&c, "-") ||
	    !take_name(&c, months, &month) || !take(&c, "-") ||
	    !take_digits(&c, 2, &t->year) || !take(&c, " ") ||
	    !take_clock(&c, t) || !take(&c, " GMT") || !at_end(&c))
		return false;
	t->month = month + 1;
	limit.year += 50;
	t->year += (limit.year / 100) * 100;
	if (ms_of(t) > ms_of(&limit))
		t->year -= 100;
	return true;
}

bool time_http(struct span s, int64_t now_ms, int64_t *ms)
{
	struct cursor c = cursor_of(s);
	struct civil t = {0};

	if (!s.n || (!http_fixed(c, &t) && !http_rfc850(c, now_ms, &t) &&
		     !http_asctime(c, &t)))
		return false;
	if (!civil_valid(&t))
		return false;
	*ms = ms_of(&t);
	return true;
}

/* Sun Nov 06 1994 08:49:37 GMT+0100 (Central European Standard Time): what
 * JavaScript prints, here and there sent as it is (RL-4). */
static bool date_of_script(struct cursor c, int64_t *ms)
{
	struct civil t = {0};
	int day, month, hours, minutes;
	bool west;

	if (!take_name(&c, days_short, &day) || !take(&c, " ") ||
	    !take_name(&c, months, &month) || !take(&c, " ") ||
	    !take_digits(&c, 2, &t.day) || !take(&c, " ") ||
	    !take_digits(&c, 4, &t.year) || !take(&c, " ") ||
	    !take_clock(&c, &t) || !take(&c, " GMT"))
		return false;
	t.month = month + 1;
	west = take(&c, "-");
	if ((!west && !take(&c, "+")) || !take_digits(&c, 2, &hours) ||
	    !take_digits(&c, 2, &minutes) || hours > 23 || minutes > 59 ||
	    (!at_end(&c) && !take(&c, " (")) || !civil_valid(&t))
		return false;
	minutes += hours * 60;
	*ms = ms_of(&t) - (west ? -minutes : minutes) * INT64_C(60000);
	return true;
}

bool time_date(struct span s, int64_t now_ms, int64_t *ms)
{
	return time_http(s, now_ms, ms) || time_parse(s, 0, ms) ||
		date_of_script(cursor_of(s), ms);
}

int64_t time_answered(const struct answer *answer, int64_t now_ms)
{
	int64_t at;

	return time_http(answer_header(answer, "Date"), now_ms, &at) ? at :
		now_ms;
}

/* "120", "0.129": seconds, rounded up to a whole one; saturates. */
static bool seconds_parse(struct span s, int64_t *ms)
{
	struct cursor c = cursor_of(s);
	int64_t value = 0;
	bool part = false;

	if (!s.n || !is_digit(*c.p))
		return false;
	for (; !at_end(&c) && is_digit(*c.p); c.p++)
		if (value < TIME_MS_MAX / 1000)
			value = value * 10 + (*c.p - '0');
	if (take(&c, ".")) {
		if (at_end(&c))
			return false;
		for (; !at_end(&c) && is_digit(*c.p); c.p++)
			part = part || *c.p != '0';
	}
	if (!at_end(&c))
		return false;
	value += part;
	*ms = value >= TIME_MS_MAX / 1000 ? TIME_MS_MAX : value * 1000;
	return true;
}

static int64_t wait_of(const struct answer *answer, struct span value,
		       int64_t now_ms, bool *odd)
{
	int64_t until, from, ms;

	*odd = false;
	if (seconds_parse(value, &ms))
		return ms;
	if (!time_http(value, now_ms, &until)) {
		*odd = true;
		return 0;
	}
	from = time_answered(answer, now_ms);
	*odd = until < from;
	return *odd ? 0 : until - from;
}

int64_t time_retry_after(const struct answer *answer, int64_t now_ms,
			 bool *odd)
{
	int64_t longest = -1;

	*odd = false;
	for (size_t i = 0; i < answer->headers_n; i++) {
		const struct header *h = &answer->headers[i];
		bool this_odd;
		int64_t ms;

		if (h->name.n != 11 ||
		    strncasecmp(h->name.p, "Retry-After", 11) != 0)
			continue;
		ms = wait_of(answer, h->value, now_ms, &this_odd);
		if (longest < 0 || ms > longest || (*odd && !this_odd)) {
			longest = ms;
			*odd = this_odd;
		}
	}
	return longest;
}

bool duration_parse(struct span s, int64_t *ms)
{
	static const struct { const char *name; int64_t ms; } unit[] = {
		{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000},
		{"d", DAY_MS}, {"w", 7 * DAY_MS},
	};
	struct cursor c = cursor_of(s);
	int64_t sum = 0;

	if (!s.n)
		return false;
	while (!at_end(&c)) {
		const char *start = c.p;
		int64_t value = 0;
		size_t i = 0;

		for (; !at_end(&c) && is_digit(*c.p); c.p++)
			if (value <= TIME_MS_MAX / 10)
				value = value * 10 + (*c.p - '0');
		if (c.p == start)
			return false;
		if (at_end(&c) && start != s.p)
			return false;	/* "1h30": thirty what? */
		while (!at_end(&c) && i < ARRAY_SIZE(unit) &&
		       !take(&c, unit[i].name))
			i++;
		if (i == ARRAY_SIZE(unit))
			return false;
		if (at_end(&c) && is_digit(c.end[-1]))
			i = 1;
		if (value > (TIME_MS_MAX - sum) / unit[i].ms)
			return false;
		sum += value * unit[i].ms;
	}
	*ms = sum;
	return true;
}

void duration_text(int64_t ms, char out[TIME_TEXT])
{
	uint64_t all = ms < 0 ? 0 - (uint64_t)ms : (uint64_t)ms;
	unsigned long long s = all / 1000, m = s / 60, h = m / 60, d = h / 24;
	const char *sign = ms < 0 ? "-" : "";

	if (d)
		snprintf(out, TIME_TEXT, "%s%llud%02lluh", sign, d, h % 24);
	else if (h)
		snprintf(out, TIME_TEXT, "%s%lluh%02llum", sign, h, m % 60);
	else if (m)
		snprintf(out, TIME_TEXT, "%s%llum%02llus", sign, m, s % 60);
	else
		snprintf(out, TIME_TEXT, "%s%llus", s ? sign : "", s);
}
