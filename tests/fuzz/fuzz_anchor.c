/* Lines of an anchor file as any bytes, with and without the key. */
#include <openssl/evp.h>
#include <string.h>

#include "store/audit_priv.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static EVP_PKEY *key;
	struct span rest = {(const char *)data, n};

	if (!key)
		key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	PROMISE(key);
	while (rest.n) {
		const char *end = memchr(rest.p, '\n', rest.n);
		struct span line = {rest.p, end ? (size_t)(end - rest.p)
						: rest.n};
		struct anchor a;

		if (anchor_parse(line, NULL, &a)) {
			PROMISE(a.store_id[0] && strlen(a.store_id) < 37);
			PROMISE(strlen(a.at) < sizeof(a.at));
		}
		/* Made before the key was: no line is signed by it. */
		PROMISE(!anchor_parse(line, key, &a));
		rest.p += line.n + (end != NULL);
		rest.n -= line.n + (end != NULL);
	}
	return 0;
}
