/*
 * mask.h - floor 0: what may be seen of a payload or an answer.
 *
 * Values are masked unless the profile's `show` list names their pointer;
 * keys and structure stay; a sentence, or a word over 64 bytes, is masked
 * there too: it may quote a person or a secret. `secret` and `blinded`
 * pointers never show. Bounded; the result is escaped text. Field report B130.
 */
#ifndef EDCSYNC_CORE_MASK_H
#define EDCSYNC_CORE_MASK_H

#include "core/profile.h"

/* PII-safe excerpt of an answer body, at most LIMIT_EXCERPT_BYTES. */
void mask_excerpt(const struct profile *, struct span body,
		  char out[LIMIT_EXCERPT_BYTES + 1]);
/* The same over a document already read; NULL when the body is no JSON. */
void mask_excerpt_doc(const struct profile *, const struct json *doc,
		      struct span body, char out[LIMIT_EXCERPT_BYTES + 1]);
/* Pretty-printed JSON with masked values (other payloads: size only). */
void mask_payload(const struct profile *, struct span payload,
		  struct buf *out);

#endif
