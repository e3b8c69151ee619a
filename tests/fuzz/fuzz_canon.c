/* Canonical text is ASCII, its own canonical text, and strict if the source
 * was. */
#include <string.h>

#include "core/canon.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *text = (const char *)data;
	struct buf once = BUF_INIT, twice = BUF_INIT;
	struct json doc = {0}, again = {0};
	bool strict = json_parse(&doc, text, n, 0);

	if (json_parse(&doc, text, n, JSON_PYTHON)) {
		canon_json(&doc, 0, &once);
		PROMISE(once.len == strlen(buf_text(&once)));
		fuzz_ascii(buf_text(&once));
		PROMISE(json_parse(&again, once.p, once.len,
				   strict ? 0 : JSON_PYTHON));
		canon_json(&again, 0, &twice);
		PROMISE(span_eq(buf_span(&once), buf_span(&twice)));
	} else {
		PROMISE(!strict);
	}
	json_release(&doc);
	json_release(&again);
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
