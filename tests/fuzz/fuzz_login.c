/* What processes tell each other of their log-ins: the file, then the token
 * of the ring; whatever was written there. */
#include <string.h>

#include "core/login_record.h"
#include "tests/fuzz/fuzz.h"

#define BOOT "0b2c9a52-64a7-4f0f-8e25-000000000001"
#define NOW INT64_C(5000000)

static void record(struct span text)
{
	struct login_record r, again;
	struct buf out = BUF_INIT;
	int64_t before = 0, wait;

	if (!login_record_read(text, SPAN(BOOT), NOW, &r)) {
		PROMISE(r.n == 0 && !r.token[0]);
		return;
	}
	PROMISE(r.n >= 0 && r.n <= LOG_INS_MAX);
	PROMISE(!r.token[0] || strlen(r.token) == LOGIN_NAME_BYTES);
	fuzz_ascii(r.token);
	for (int i = 0; i < r.n; i++) {
		PROMISE(r.at_ms[i] >= before && r.at_ms[i] <= NOW);
		before = r.at_ms[i];
	}
	login_record_write(&r, SPAN(BOOT), &out);
	PROMISE(out.len <= LOGIN_RECORD_BYTES);
	PROMISE(login_record_read(buf_span(&out), SPAN(BOOT), NOW, &again));
	PROMISE(!memcmp(&r, &again, sizeof(r)));
	wait = login_record_admit(&r, 5, NOW);
	PROMISE(wait >= 0 && wait <= 60000);	/* nobody is kept out longer */
	PROMISE(r.n <= LOG_INS_MAX);
	buf_release(&out);
}

static void token(struct span text)
{
	struct login_token t;
	struct buf out = BUF_INIT;

	if (!login_token_read(text, NOW, &t))
		return;
	PROMISE(t.token.n > 0 && t.got_ms >= 0 && t.got_ms <= NOW);
	PROMISE(t.lifetime_ms == -1 || t.lifetime_ms > 0);
	for (size_t i = 0; i < t.token.n; i++)
		PROMISE(t.token.p[i] > 0x20 && t.token.p[i] < 0x7f);
	PROMISE(login_token_timeout_s(&t) > 0 &&
		login_token_timeout_s(&t) <= LOGIN_SHARED_MS_MAX / 1000);
	login_token_serves(&t, NOW);
	login_token_write(&t, &out);
	PROMISE(out.len <= text.n + 1);
	buf_wipe(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct span text = {(const char *)data, n};

	record(text);
	token(text);
	return 0;
}
