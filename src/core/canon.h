/*
 * canon.h - floor 0: canonical JSON, key, FORM, op_id.
 *
 * Canonical text equals, byte for byte, Python's json.dumps(json.loads(x),
 * sort_keys=True, separators=(",", ":")) (reference/standards section 3,
 * vectors/). Independent of the locale.
 */
#ifndef EDCSYNC_CORE_CANON_H
#define EDCSYNC_CORE_CANON_H

#include "core/json.h"
#include "core/op.h"

/* Appends. Keys by code point; of duplicates (JSON_PYTHON) the last wins.
 * As deep as the parser lets a document be, never deeper. */
void canon_json(const struct json *, uint32_t node, struct buf *out);
/* Shortest round-trip decimal as Python's repr(float); NaN, Infinity. */
void canon_double(double, struct buf *out);

/* FORM of CONTRACT.md: form_oid, or event[er]/form[fr]. NULL = absent. */
void canon_form(const char *event_oid, const char *event_repeat,
		const char *form_oid, const char *form_repeat,
		struct buf *out);
/* Why this scope is refused ('|', control characters, bad UTF-8, brackets,
 * empty, too long); NULL when it is fine. Names the field, never its value.
 * The sentence is kept in text, which the caller releases. */
const char *canon_scope_check(const struct record *, struct buf *text);
/* hex SHA-256 of study|subject|FORM|CANONICAL[|rN]; revision 1 = plain. */
void canon_key(const char *study, const char *subject, struct span form,
	       struct span canonical, int revision, sha256_hex out);
/* First 26 base32 digits (RFC 4648, upper case) of SHA-256(endpoint|key). */
void canon_op_id(const char *endpoint, const char *key, char out[27]);

#endif
