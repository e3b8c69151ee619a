/* fingerprint.c - see fingerprint.h. Tables of words over one digest. */
#define _GNU_SOURCE
#include "core/fingerprint.h"

#include <string.h>

#include "core/hash.h"

#define NORMAL_BYTES 512		/* of the text that is compared */
#define QUOTED_BYTES 64			/* a longer one is no value */

const char *op_there_name(enum op_there there)
{
	static const char *const names[THERE_COUNT] = {
		[THERE_MAYBE] = "maybe", [THERE_NEVER] = "never",
		[THERE_ABSENT] = "no", [THERE_PARTLY] = "partly",
	};

	assert(there >= 0 && there < THERE_COUNT);
	return names[there];
}

enum op_there op_there(const struct op *op)
{
	assert(op);
	if (op->flags & OP_OUTCOME_UNKNOWN)
		return THERE_MAYBE;
	if (op->flags & OP_PARTIAL)
		return THERE_PARTLY;
	return op->absent_at_ms > 0 ? THERE_ABSENT : THERE_NEVER;
}

bool op_grouped(enum op_state state)
{
	return state == OP_DEAD || state == OP_REJECTED;
}

/* Normal form */

static bool is_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c >= 0x80;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Length of a word, 0 when none begins here; *digit: one is in it. */
static size_t word_length(const char *p, bool *digit)
{
	size_t n = 0;

	*digit = false;
	for (; is_word((unsigned char)p[n]); n++)
		*digit |= p[n] >= '0' && p[n] <= '9';
	return n;
}

/* 'like this', between what is no word; 0: it is an apostrophe. */
static size_t quoted_length(const char *p, char before)
{
	size_t n = 1;

	if (*p != '\'' || is_word((unsigned char)before))
		return 0;
	while (p[n] && p[n] != '\'' && n < QUOTED_BYTES)
		n++;
	return p[n] == '\'' && !is_word((unsigned char)p[n + 1]) ? n + 1 : 0;
}

static void put_mark(struct buf *out)
{
	if (!out->len || out->p[out->len - 1] != '#')
		buf_addc(out, '#');
}

void fingerprint_normal(const char *text, struct buf *out)
{
	const char *p = text ? text : "", *end;
	char before = ' ';

	assert(out);
	end = p + strnlen(p, NORMAL_BYTES);
	while (p < end) {
		bool digit;
		size_t n = quoted_length(p, before);

		if (n) {
			put_mark(out);
		} else if ((n = word_length(p, &digit)) > 0) {
			if (digit)
				put_mark(out);
			else
				buf_add(out, p, n);
		} else {
			n = 1;
			if (!is_blank(*p))
				buf_addc(out, *p);
			else if (!is_blank(before))
				buf_addc(out, ' ');
		}
		p += n;
		before = p[-1];
	}
}

/* Titles */

/* These say all by themselves: the last attempt has nothing to do with it. */
static const char *const alone[OP_REASON_COUNT] = {
	[REASON_STALE] = "older than what went first",
	[REASON_EXPIRED] = "its total time was over",
	[REASON_CIRCUIT_OPEN] = "circuit open",
	[REASON_CRASH_LOOP] = "engine died while sending, again and again",
	[REASON_FOUND_DIFFERS] = "the vendor holds something else",
	[REASON_FOUND_SEVERAL] = "the vendor holds it more than once",
	[REASON_ABSENT_ACCEPTED] = "accepted once, not to be found now",
	[REASON_KEY_OVER] = "the vendor forgot the key",
	[REASON_RESTORED] = "store restored, may have been sent since",
	[REASON_INTERNAL] = "its row could not be stored",
	[REASON_PERSON] = "a person decided",
	[REASON_NOT_CONFIGURED] = "endpoint not configured",
	[REASON_EXISTS] = "the vendor holds it already",
};

static const char *const transports[TRANSPORT_COUNT] = {
	[TRANSPORT_TIMEOUT] = "no answer in time",
	[TRANSPORT_RESET] = "connection reset",
	[TRANSPORT_REFUSED] = "connection refused",
	[TRANSPORT_DNS] = "name not found",
	[TRANSPORT_TLS] = "TLS failed",
	[TRANSPORT_TRUNCATED] = "answer cut off",
	[TRANSPORT_CERTIFICATE] = "certificate does not verify",
	[TRANSPORT_TOO_LARGE] = "answer too large",
	[TRANSPORT_RESEND] = "connection died after send",
	[TRANSPORT_CUT] = "engine stopped while sending",
};

static void title_status(const struct fingerprint_in *in, struct buf *out)
{
	buf_addi(out, in->status);
	if (in->layer == LAYER_GATEWAY)
		buf_adds(out, " gateway");
	else if (in->why && *in->why)
		buf_addf(out, " %s", in->why);
	if (in->sent)
		buf_adds(out, " after send");
}

static void title_transport(const struct fingerprint_in *in, struct buf *out)
{
	buf_adds(out, transports[in->transport]);
	if (in->attempts > 1)
		buf_addf(out, " %d times", in->attempts);
}

static void title_dead(const struct fingerprint_in *in, struct buf *out)
{
	if (in->reason == REASON_LOOK_UP_CAP)
		buf_adds(out, "no look-up tells: ");
	else if (in->reason == REASON_THROTTLED)
		buf_adds(out, "throttled: ");
	if (in->transport != TRANSPORT_OK)
		title_transport(in, out);
	else if (in->status)
		title_status(in, out);
	else if (in->why && *in->why)
		buf_adds(out, in->why);
	else
		buf_adds(out, op_reason_words(in->reason));
}

/* The vendor's code out of an excerpt: {..."code":"visit_locked"...}. */
struct span fingerprint_code(const char *error)
{
	static const char name[] = "\"code\":\"";
	const char *at = error ? strstr(error, name) : NULL;
	size_t n;

	if (!at)
		return (struct span){NULL, 0};
	at += sizeof(name) - 1;
	n = strcspn(at, "\"\\");
	return at[n] == '"' && n <= 64 && at[0] != '*' ?
	       (struct span){at, n} : (struct span){NULL, 0};
}

static void title_rejected(const struct fingerprint_in *in, struct buf *out)
{
	struct span code = in->code && *in->code ? span_of(in->code)
						 : fingerprint_code(in->error);
	const char *words = in->say && *in->say ? in->say :
			    in->why && *in->why ? in->why :
			    op_reason_words(in->reason);

	if (code.n)
		buf_addspan(out, code);
	else if (in->status && in->status / 100 != 2)
		buf_addi(out, in->status);
	if (out->len)
		buf_adds(out, ": ");
	buf_adds(out, words);
}

static void digest(const struct fingerprint_in *in, bool last, char out[33])
{
	struct buf text = BUF_INIT;
	sha256_hex hex;

	buf_addf(&text, "%s\n%s\n", op_state_name(in->state),
		 op_reason_name(in->reason));
	if (last) {
		buf_addf(&text, "%s\n%d\n%s\n%s\n", in->rule ? in->rule : "",
			 in->status, layer_name(in->layer),
			 transport_name(in->transport));
		fingerprint_normal(in->error, &text);
	}
	hash_sha256_hex(buf_span(&text), hex);
	memcpy(out, hex, 32);
	out[32] = '\0';
	buf_release(&text);
}

void fingerprint_make(const struct fingerprint_in *in,
		      struct fingerprint *out)
{
	struct buf title = BUF_INIT;
	bool last;

	assert(in && out && op_grouped(in->state));
	assert(in->reason >= 0 && in->reason < OP_REASON_COUNT);
	assert(in->transport >= 0 && in->transport < TRANSPORT_COUNT);
	last = !alone[in->reason];
	digest(in, last, out->text);
	if (!last)
		buf_adds(&title, alone[in->reason]);
	else if (in->state == OP_REJECTED)
		title_rejected(in, &title);
	else
		title_dead(in, &title);
	if (!title.len)
		buf_adds(&title, op_state_words(in->state));
	text_set(out->title, sizeof(out->title), buf_span(&title));
	buf_release(&title);
}
