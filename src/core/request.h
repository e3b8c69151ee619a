/*
 * request.h - floor 0: builds requests from profile, operation, credential.
 *
 * Nothing is sent here. Addresses are resolved by RFC 3986 and never leave
 * the origin of base_url with credentials: an address of another origin is
 * refused in words.
 */
#ifndef EDCSYNC_CORE_REQUEST_H
#define EDCSYNC_CORE_REQUEST_H

#include "core/config.h"
#include "core/op.h"
#include "core/profile.h"

struct request {
	char *method, *url;		/* owned */
	struct buf headers;		/* "Name: value\n" lines */
	struct span body;		/* borrowed from the caller, or own */
	struct buf own;			/* body of a read, or one with the
					 * credential in it; wiped */
	bool write;			/* may change something there */
	bool secret_answer;		/* the answer holds a token: whoever
					 * keeps its bytes wipes them */
};

void request_init(struct request *);
void request_release(struct request *);	/* wipes: headers hold a token */
void request_clear(struct request *);	/* wipes, keeps the headers' room */

/* What the attempt carries of its own. */
struct request_ids {
	char request_id[37];		/* UUID, new each attempt */
	char span_id[17];		/* traceparent's second part */
	struct span secret;		/* form_token: goes into the body where
					 * the profile has a place for it, now
					 * and never earlier; borrowed */
};

/* The path of a new operation whose line names none: the profile's template
 * with the record's parts. False when the profile has none, or one of its
 * variables is absent in the record. */
bool request_path(const struct profile *, const struct op *, struct buf *out,
		  struct buf *error);
/* token: header line text for the credential ("Authorization: Bearer x"),
 * or empty. Each returns false with a sentence in error. */
bool request_send(struct request *, const struct endpoint_config *,
		  const struct op *, struct span payload, struct span token,
		  const struct request_ids *, struct buf *error);
bool request_look_up(struct request *, const struct endpoint_config *,
		     const struct op *, const char *next_page,
		     struct span token, const struct request_ids *,
		     struct buf *error);
bool request_poll(struct request *, const struct endpoint_config *,
		  const struct op *, const char *job_id, const char *poll_url,
		  struct span token, const struct request_ids *,
		  struct buf *error);
/* The result of a job that has ended. result: what the poll's answer named,
 * an address (resolved against the poll's own) or a part of the profile's
 * template; NULL or "": none. */
bool request_result(struct request *, const struct endpoint_config *,
		    const struct op *, const char *job_id,
		    const char *poll_url, const char *result,
		    struct span token, const struct request_ids *,
		    struct buf *error);
/* Probe by a read; false without error text when the profile has none. */
bool request_health(struct request *, const struct endpoint_config *,
		    struct span token, const struct request_ids *,
		    struct buf *error);

/* Credential kind session_login: by the profile, or to token_url where the
 * endpoint names one. The body is built into the caller's buf, who wipes it
 * when the request is over. What comes back: session.h. */
bool request_log_in(struct request *, const struct endpoint_config *,
		    struct span secret, const struct request_ids *,
		    struct buf *body, struct buf *error);

/* Every record of one path, for reconciliation; next_page as above. */
bool request_list(struct request *, const struct endpoint_config *,
		  const char *path, const char *next_page, struct span token,
		  const struct request_ids *, struct buf *error);

/* RFC 3986 5.2 against base; false: not resolvable. */
bool url_resolve(struct span base, struct span reference, struct buf *out);
/* Same scheme, host and port (default ports count). */
bool url_same_origin(struct span a, struct span b);
void url_encode(struct buf *out, struct span text);
/* application/x-www-form-urlencoded, one name or value, and back. */
void url_form_encode(struct buf *out, struct span text);
void url_form_decode(struct buf *out, struct span text);
/* A template as plain text, for bodies; {payload} is the payload's bytes. */
bool request_text(const char *template, const struct op *, struct span payload,
		  struct buf *out, struct buf *error);
/* https, or http to a loopback literal (127.0.0.0/8, ::1, localhost). */
bool url_allowed(struct span url, struct buf *error);
/* Of that only this: not too long, and no character that must be encoded. */
bool url_plain(struct span url);

/*
 * What is stored and sent instead of a line's payload, made once: tag
 * (JSON pointer or XML attribute, as the payload's type has it) and body.
 * content_type: of the payload, NULL = JSON. Nothing to do: out stays empty.
 */
bool request_stored(const struct profile *, const struct op *,
		    const char *content_type, struct span payload,
		    struct buf *out, struct buf *error);
/* By its name: application/xml, text/xml, +xml. */
bool type_is_xml(const char *content_type);

/* Splices "metadata": {"op_id": ...} (the profile's tag_pointer) into a JSON
 * object payload, leaving every other byte as it is. False: another kind
 * of payload, or one that has the tag already. */
bool request_splice_tag(const struct profile *, struct span payload,
			const char *op_id, struct buf *out, struct buf *error);

#endif
