/* A base address, a line end, a reference to be resolved against it. */
#include <string.h>

#include "core/request.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *text = (const char *)data;
	const char *end = n ? memchr(text, '\n', n) : NULL;
	struct span base = {text, end ? (size_t)(end - text) : n};
	struct span ref = {end ? end + 1 : NULL, end ? n - base.n - 1 : 0};
	struct buf url = BUF_INIT, why = BUF_INIT;

	if (url_resolve(base, ref, &url)) {
		struct span got = buf_span(&url);
		const char *host = strstr(buf_text(&url), "//");

		PROMISE(url.len < 8 * LIMIT_URL_BYTES);
		/* What carries a user name never counts as ours. */
		if (host && url_same_origin(base, got))
			PROMISE(!memchr(host + 2, '@',
					strcspn(host + 2, "/?#")));
	}
	buf_clear(&why);
	PROMISE(url_allowed(base, &why) == (why.len == 0));
	buf_release(&url);
	buf_release(&why);
	return 0;
}
