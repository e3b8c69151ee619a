/*
 * An answer as any bytes: a letter for the kind (send, poll, result of a job,
 * look-up of JSON or of XML, probe, token, log-in), a status, two letters for
 * the transport, header lines, an empty line, the body. Read under the general
 * profiles, and under one that uses every word of the language.
 */
#include <string.h>
#include <strings.h>

#include "core/classify_log_in.h"
#include "core/lookup.h"
#include "core/request.h"
#include "core/token.h"
#include "core/utf8.h"
#include "tests/fuzz/fuzz.h"

#define NOW_MS INT64_C(1795960951120)
#define HEADERS_MAX 16

static struct profile *load(const char *path)
{
	struct findings findings = {0};
	struct buf text = BUF_INIT;
	FILE *f = fopen(path, "rb");
	struct profile *p;
	int c;

	PROMISE(f);
	while ((c = getc(f)) != EOF)
		buf_addc(&text, (char)c);
	fclose(f);
	p = profile_load(buf_span(&text), path, NULL, NULL, &findings);
	PROMISE(p);
	buf_release(&text);
	findings_release(&findings);
	return p;
}

static struct span line_of(struct span *rest)
{
	const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	struct span line = {rest->p, end ? (size_t)(end - rest->p) : rest->n};
	size_t gone = line.n + (end ? 1 : 0);

	rest->p += gone;
	rest->n -= gone;
	return line;
}

static void headers_of(struct span *rest, struct header *out,
		       struct answer *a)
{
	size_t n = 0;

	for (;;) {
		struct span line = line_of(rest);
		const char *colon = line.n ? memchr(line.p, ':', line.n) :
			NULL;
		size_t name = colon ? (size_t)(colon - line.p) : 0;

		if (!line.n)
			break;
		if (!colon || n == HEADERS_MAX)
			continue;
		out[n].name = (struct span){line.p, name};
		out[n].value = (struct span){colon + 1, line.n - name - 1};
		while (out[n].value.n && out[n].value.p[0] == ' ') {
			out[n].value.p++;
			out[n].value.n--;
		}
		n++;
	}
	a->headers = out;
	a->headers_n = n;
}

static void visible(const char *id)
{
	for (; *id; id++)
		PROMISE(*id > 0x20 && *id < 0x7f);
}

/* A rule may commit by another status; the shipped ones do not. */
static void verdict_check(const struct answer *a, const struct verdict_out *v,
			  bool shipped)
{
	PROMISE(v->verdict < VERDICT_COUNT);
	PROMISE(v->rule[0]);
	visible(v->job_id);
	visible(v->poll_url);
	visible(v->vendor_id);
	visible(v->next_page);
	fuzz_ascii(v->word);
	fuzz_ascii(v->code);
	PROMISE(utf8_valid(span_of(v->excerpt)));
	PROMISE(!strpbrk(v->excerpt, "\n\r\t\x1b"));
	PROMISE(v->retry_after_ms >= -1);
	PROMISE(v->items_refused >= 0);
	fuzz_ascii(v->items);
	PROMISE(v->verdict != VERDICT_COMMIT || !v->items_refused);
	if (!shipped)
		return;
	if (v->verdict == VERDICT_COMMIT || v->verdict == VERDICT_POLL ||
	    v->verdict == VERDICT_ABSENT)
		PROMISE(a->transport == TRANSPORT_OK && a->status >= 200 &&
			a->status < 300);
}

static void resolve(const struct verdict_out *v)
{
	static const struct span base = {"https://h/a/b?c", 15};
	const char *given = v->poll_url[0] ? v->poll_url : v->next_page;
	struct buf url = BUF_INIT, error = BUF_INIT;

	if (url_resolve(base, span_of(given), &url) &&
	    url_same_origin(base, buf_span(&url)))
		PROMISE(!strncasecmp(buf_text(&url), "https://h", 9));
	if (url.len)
		url_allowed(buf_span(&url), &error);
	buf_release(&url);
	buf_release(&error);
}

static void classify(const struct profile *p, char kind,
		     const struct answer *a)
{
	struct classify_in in = {.profile = p, .method = "POST",
				 .mode = p->mode_default, .now_ms = NOW_MS,
				 .payload = SPAN("[{\"a\":1},2]")};
	struct lookup_state state = {0};
	struct token_answer token;
	struct verdict_out v;

	if (kind == 't') {
		token_read(a, "a", NOW_MS, &token);
		fuzz_ascii(token.why);
		PROMISE((token.result == TOKEN_OK) == (token.token.len > 0));
		PROMISE(token.lifetime_ms >= -1);
		buf_wipe(&token.token);
		return;
	}
	if (kind == 'i') {
		struct log_in_asked in_by = {p, CRED_SESSION, "7", "a"};

		if (!classify_log_in(&in_by, a, NOW_MS, &v))
			return;
		PROMISE(v.rule[0]);
		fuzz_ascii(v.why);
		return;
	}
	if (kind == 'p')
		classify_poll(&in, a, a->body.n % 2, 0, &v);
	else if (kind == 'r' && p->poll.result.present)
		classify_result(&in, a, (enum job_stage)(1 + a->body.n % 3),
				(int64_t)a->body.n * 1000, &v);
	else if (kind == 'l')
		lookup_read(&in, "OP1", a->body.n % 2 ? a->body :
			    SPAN("{\"a\":{\"b\":[1,2]}}"), "00", a, &state,
			    &v);
	else if (kind == 'x')
		lookup_read(&in, "OP1", SPAN("<Form version='3'><Item oid='A' "
			    "value='1'/><Item oid='B'><Unit>mm</Unit></Item>"
			    "</Form>"), "00", a, &state, &v);
	else if (kind == 'o')
		classify_probe(&in, a, &v);
	else
		classify_send(&in, a, &v);
	PROMISE(!v.job_stage || (kind == 'p' && v.verdict == VERDICT_STILL));
	verdict_check(a, &v, strcmp(p->name, "language") != 0);
	resolve(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct profile *generic, *tagged, *language;
	struct span rest = {(const char *)data, n}, first;
	struct header headers[HEADERS_MAX];
	struct answer a = {0};

	if (!generic) {
		generic = load(SRCDIR "/share/profiles/generic-rest.json");
		tagged = load(SRCDIR "/share/profiles/metadata-tag.json");
		language = load(SRCDIR "/tests/profiles/language.json");
	}
	first = line_of(&rest);
	for (size_t i = 1; i < 4 && i < first.n; i++)
		if (first.p[i] >= '0' && first.p[i] <= '9')
			a.status = a.status * 10 + (first.p[i] - '0');
	if (first.n > 4 && first.p[4] != 'o')
		a.transport = (enum transport)((uint8_t)first.p[4] %
					       TRANSPORT_COUNT);
	a.first_byte_left = first.n % 2;
	headers_of(&rest, headers, &a);
	a.body = rest;
	classify(generic, first.n ? first.p[0] : 's', &a);
	classify(tagged, first.n ? first.p[0] : 's', &a);
	classify(language, first.n ? first.p[0] : 's', &a);
	return 0;
}
