/* A configuration: refused with words, or whole and within its ranges. */
#include <string.h>

#include "core/config.h"
#include "core/utf8.h"
#include "tests/fuzz/fuzz.h"

static void endpoint_check(const struct config *c,
			   const struct endpoint_config *e)
{
	sha256_hex target;

	PROMISE(e->name[0] && e->base_url && e->profile_name);
	PROMISE(config_endpoint(c, span_of(e->name)));
	PROMISE(e->retry.base_ms >= 1 && e->retry.base_ms <= e->retry.cap_ms);
	PROMISE(e->retry.multiplier >= 1 && e->retry.max_attempts >= 1);
	PROMISE(e->circuit.open_wait_ms >= -1);
	PROMISE(e->max_in_flight >= 1);
	PROMISE(!e->urgent_text == !e->urgent);
	PROMISE((size_t)e->credential.kind < CRED_KIND_COUNT);
	for (size_t i = 0; i < e->headers_n; i++)
		PROMISE(!strpbrk(e->headers[i].value, "\r\n"));
	config_target(e, target);
	PROMISE(strlen(target) == 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct span text = {(const char *)data, n};
	struct findings findings = {0};
	struct config *c = config_parse(text, "fuzz.json", &findings);

	PROMISE((c != NULL) == (findings.errors == 0));
	for (size_t i = 0; i < findings.n; i++) {
		PROMISE(utf8_valid(span_of(findings.v[i].text)));
		PROMISE(!strpbrk(findings.v[i].text, "\n\r\x1b"));
	}
	for (size_t i = 0; c && i < c->endpoints; i++)
		endpoint_check(c, &c->endpoint[i]);
	config_free(c);
	findings_release(&findings);
	return 0;
}
