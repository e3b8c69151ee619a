/*
 * body.h - floor 0: what goes around a payload on the wire.
 *
 * A profile's "send": {"body": ...} is built once, when a line is submitted:
 * what comes of it is stored and sent on every attempt, and sent_sha256 is
 * of it. Only the credential is not in it: a secret field is put in front
 * when the request is made (body_secret), so that stored bytes never hold
 * one and need not be searched.
 */
#ifndef EDCSYNC_CORE_BODY_H
#define EDCSYNC_CORE_BODY_H

#include "core/op.h"
#include "core/profile.h"

/* Appends what is stored and sent; kind raw: the payload as it is. False
 * with a sentence in error. op needs its op_id and record. */
bool body_build(const struct body_template *, const struct op *,
		struct span payload, struct buf *out, struct buf *error);
/* The reverse: the payload inside what was built, in own where it has to be
 * decoded. An empty span with p NULL: not such a body. */
struct span body_payload(const struct body_template *, const struct op *,
			 struct span sent, struct buf *own);
/* The Content-Type of what was built, appended; false for kind raw, whose
 * type is that of the payload. */
bool body_content_type(const struct body_template *, const struct op *,
		       struct buf *out);

/* The type of a payload that goes as it is: that of its line. Where the profile
 * names the same one with a charset, and the bytes are of it, that is sent.
 * Inline JSON, which has none of its own, goes as the profile's unless that is
 * of XML. */
const char *body_raw_type(const struct profile *, const struct op *,
			  struct span payload);

bool body_has_secret(const struct body_template *);
/* What was stored with the credential in front; the caller wipes out. */
void body_secret(const struct body_template *, const struct op *,
		 struct span stored, struct span secret, struct buf *out);

/* A body without payload, for a log-in: {user} and {secret} are given, and
 * nothing of it is stored. The caller wipes out. */
void body_login(const struct body_template *, const char *user,
		struct span secret, struct buf *out);
bool body_login_type(const struct body_template *, struct buf *out);

#endif
