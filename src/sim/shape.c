/* shape.c - plays: bodies and headers of everything that goes wrong. */
#include <config.h>

#include "sim/shape.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void sim_answer_clear(struct sim_answer *a)
{
	struct buf body = a->body;

	buf_clear(&body);
	a->status = 0;
	a->content_type = NULL;
	a->body = body;
	a->headers = 0;
	a->ending = SIM_END_WHOLE;
	a->hold_ms = 0;
	a->again = false;
}

void sim_answer_header(struct sim_answer *a, const char *name,
		       struct span value)
{
	struct sim_header *h;

	assert(a->headers < SIM_HEADERS_MAX);
	h = &a->header[a->headers++];
	h->name = name;
	text_set(h->value, sizeof(h->value), value);
}

static const char *title_of(int status)
{
	static const struct {
		int status;
		const char *title;
	} titles[] = {
		{400, "Bad Request"}, {401, "Unauthorized"},
		{403, "Forbidden"}, {404, "Not Found"},
		{405, "Method Not Allowed"}, {409, "Conflict"},
		{413, "Content Too Large"}, {422, "Unprocessable Content"},
		{429, "Too Many Requests"}, {500, "Internal Server Error"},
		{502, "Bad Gateway"}, {503, "Service Unavailable"},
		{504, "Gateway Timeout"}
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(titles); i++)
		if (titles[i].status == status)
			return titles[i].title;
	return "Error";
}

void shape_problem(struct sim_answer *a, int status, const char *code,
		   const char *detail)
{
	a->status = status;
	a->content_type = "application/problem+json";
	buf_clear(&a->body);
	buf_addf(&a->body, "{\"type\":\"about:blank\",\"title\":\"%s\","
		 "\"status\":%d,\"code\":\"%s\",\"detail\":\"%s\"}",
		 title_of(status), status, code, detail);
}

void shape_unauthorised(struct sim_answer *a, enum sim_token_state state)
{
	static const char *const details[] = {
		[SIM_TOKEN_OK] = "", [SIM_TOKEN_MISSING] = "No token",
		[SIM_TOKEN_UNKNOWN] = "The token is not ours",
		[SIM_TOKEN_EXPIRED] = "The token has expired",
		[SIM_TOKEN_REVOKED] = "The token was revoked"
	};
	struct buf value = BUF_INIT;

	assert(state != SIM_TOKEN_OK);
	buf_adds(&value, "Bearer realm=\"edcsim\"");
	if (state != SIM_TOKEN_MISSING)
		buf_addf(&value, ", error=\"invalid_token\", "
			 "error_description=\"%s\"", details[state]);
	shape_problem(a, 401, "invalid_token", details[state]);
	sim_answer_header(a, "WWW-Authenticate", buf_span(&value));
	buf_release(&value);
}

static void oauth_error(struct sim_answer *a, int status, const char *code)
{
	a->status = status;
	a->content_type = "application/json";
	buf_clear(&a->body);
	buf_addf(&a->body, "{\"error\":\"%s\"}", code);
	if (status == 401)
		sim_answer_header(a, "WWW-Authenticate",
				  SPAN("Basic realm=\"edcsim\""));
}

void shape_token_refusal(struct sim_answer *a, enum sim_token_refusal why)
{
	switch (why) {
	case SIM_CLIENT_BAD:
		oauth_error(a, 401, "invalid_client");
		break;
	case SIM_GRANT_BAD:
		oauth_error(a, 400, "unsupported_grant_type");
		break;
	case SIM_REQUEST_BAD:
		oauth_error(a, 400, "invalid_request");
		break;
	case SIM_CLIENT_OK:
		break;
	}
	assert(a->status);
}

/* Digits with an optional fraction, as whole seconds rounded up; -1 else. */
static int64_t seconds_of(const char *text)
{
	int64_t n = 0;
	bool more = false;

	if (!*text)
		return -1;
	for (; *text >= '0' && *text <= '9'; text++) {
		n = n * 10 + (*text - '0');
		if (n > 1000000000)
			return 1000000000;
	}
	if (*text == '.') {
		for (text++; *text >= '0' && *text <= '9'; text++)
			more |= *text != '0';
	}
	return *text ? -1 : n + more;
}

int64_t shape_retry_after(const char *asked, int64_t utc_ms,
			  char out[SIM_HEADER_TEXT])
{
	int64_t s;
	time_t at;
	struct tm tm;

	if (strncmp(asked, "date", 4) != 0) {
		text_set(out, SIM_HEADER_TEXT, span_of(asked));
		s = seconds_of(asked);
		return s > 0 ? s * 1000 : 0;
	}
	s = asked[4] == '+' ? seconds_of(asked + 5) : asked[4] ? -1 : 2;
	if (s < 0) {			/* a text that only begins so */
		text_set(out, SIM_HEADER_TEXT, span_of(asked));
		return 0;
	}
	at = (time_t)(utc_ms / 1000 + s);
	if (!gmtime_r(&at, &tm) ||
	    !strftime(out, SIM_HEADER_TEXT, "%a, %d %b %Y %H:%M:%S GMT", &tm))
		*out = '\0';
	return (int64_t)at * 1000 - utc_ms;
}

static void html(struct sim_answer *a)
{
	a->content_type = "text/html; charset=utf-8";
	buf_clear(&a->body);
	buf_addf(&a->body, "<!DOCTYPE html>\n<html><head><title>%s</title>"
		 "</head>\n<body><h1>%s</h1><p>edge-03</p></body></html>\n",
		 a->status == 200 ? "Sign in" : title_of(a->status),
		 a->status == 200 ? "Please sign in" : title_of(a->status));
}

static void error_body(struct sim_answer *a)
{
	a->content_type = "application/json";
	buf_clear(&a->body);
	buf_adds(&a->body, "{\"status\":\"error\",\"error\":{\"code\":"
		 "\"form_locked\",\"message\":\"The form is locked\"}}");
}

static void problem(struct sim_answer *a)
{
	static const struct {
		int status;
		const char *code, *detail;
	} known[] = {
		{400, "malformed", "The request could not be read"},
		{401, "invalid_token", "The token is not accepted"},
		{403, "forbidden", "This account may not write here"},
		{404, "not_found", "There is no such study or form"},
		{409, "in_progress", "A request with this key is in progress"},
		{422, "validation_failed", "A value is out of range"},
		{429, "rate_limited", "Too many requests"}
	};
	int status = a->status;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].status == status)
			break;
	if (i < ARRAY_SIZE(known))
		shape_problem(a, status, known[i].code, known[i].detail);
	else
		shape_problem(a, status, "unavailable", "Try again later");
	if (status == 401)
		sim_answer_header(a, "WWW-Authenticate",
				  SPAN("Bearer realm=\"edcsim\", "
				       "error=\"invalid_token\""));
}

static void body_of(const struct sim_rule *r, bool token,
		    struct sim_answer *a)
{
	if (token && r->action->body == SIM_BODY_PROBLEM &&
	    (a->status == 400 || a->status == 401)) {
		oauth_error(a, a->status, a->status == 400 ?
			    "invalid_grant" : "invalid_client");
		return;
	}
	switch (r->action->body) {
	case SIM_BODY_TRUTH:
		break;
	case SIM_BODY_PROBLEM:
		problem(a);
		break;
	case SIM_BODY_ERROR:
		error_body(a);
		break;
	case SIM_BODY_HTML:
		html(a);
		break;
	case SIM_BODY_NAMESPACES:
		shape_problem(a, a->status, "schema_validation", "cvc-elt.1: "
			      "Cannot find the declaration of element 'ODM'.");
		break;
	case SIM_BODY_EMPTY:
		a->content_type = NULL;
		buf_clear(&a->body);
		break;
	}
}

/* What the truth added does not fit the new status. */
static void keep_request_id(struct sim_answer *a)
{
	a->headers = a->headers &&
		!strcmp(a->header[0].name, "X-Request-ID");
}

int64_t shape_answer(const struct sim_rule *r, bool token, int64_t utc_ms,
		     struct sim_answer *a)
{
	char value[SIM_HEADER_TEXT];
	int64_t pause_ms = 0;

	if (r->action->special == SIM_OUTAGE) {
		a->status = 503;
		html(a);
		a->ending = r->envelope == 503 ? SIM_END_WHOLE :
			SIM_END_RESET;
		return 0;
	}
	if (r->action->status && r->action->special != SIM_QUEUE) {
		a->status = r->action->status;
		keep_request_id(a);
	}
	body_of(r, token, a);
	a->ending = r->action->ending;
	if (r->action->special == SIM_HOLD)
		a->hold_ms = r->ms < 0 ? SIM_FOR_EVER : r->ms;
	if (*r->url && a->status == 307)
		sim_answer_header(a, "Location", span_of(r->url));
	if (*r->retry_after) {
		pause_ms = shape_retry_after(r->retry_after, utc_ms, value);
		sim_answer_header(a, "Retry-After", span_of(value));
	}
	return pause_ms;
}
