/* The head of an answer, cut into fields; what its lengths say. */
#include <string.h>

#include "engine/head.h"
#include "tests/fuzz/fuzz.h"

static void inside(struct span part, struct span whole)
{
	PROMISE(part.n == 0 || (part.p >= whole.p &&
				part.p + part.n <= whole.p + whole.n));
	PROMISE(part.n == 0 || (part.p[0] != ' ' && part.p[part.n - 1] != ' '));
}

/* Not absurd: every length begins with digits, and all with the same ones. */
static void one_length(const struct header *header, size_t n)
{
	struct span first = {NULL, 0};

	for (size_t i = 0; i < n; i++) {
		struct span value = header[i].value;

		if (!head_named(&header[i], "Content-Length"))
			continue;
		value.n = 0;
		while (value.n < header[i].value.n &&
		       value.p[value.n] >= '0' && value.p[value.n] <= '9')
			value.n++;
		PROMISE(value.n > 0 && value.n <= 18);
		PROMISE(!first.p || span_eq(first, value));
		first = value;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct span head = {(const char *)data, n};
	struct header header[HEADERS_MAX];
	size_t fields = head_split(head, header);

	PROMISE(fields <= HEADERS_MAX);
	for (size_t i = 0; i < fields; i++) {
		inside(header[i].name, head);
		inside(header[i].value, head);
	}
	if (!head_length_absurd(header, fields))
		one_length(header, fields);
	return 0;
}
