/*
 * session.h - floor S: who sits here. The console opens without signing in
 * and asks at the first act; with no operator in the store it offers to make
 * the first one. An idle console locks (policy idle_lock_ms): it shows
 * nothing of a subject until the same person signs in, or it is left.
 * Passwords are hashed in the ACT lane, wiped after use, shown nowhere.
 */
#ifndef EDCSYNC_UI_SESSION_H
#define EDCSYNC_UI_SESSION_H

#include "store/operator.h"

struct app;
struct session;

struct session *session_new(struct app *);
void session_free(struct session *);
/* The person signed in; NULL: nobody. */
const struct actor *session_actor(const struct session *);
unsigned session_roles(const struct session *);
const char *session_id(const struct session *);		/* or NULL */
const char *session_printed_name(const struct session *);
const char *session_role_words(const struct session *);	/* "manager" */
/* Calls `then` with somebody signed in: at once, or after the dialog; never
 * when it is cancelled. ctx is freed by free_ctx in every case. */
void session_require(struct app *, void (*then)(struct app *, void *ctx),
		     void *ctx, void (*free_ctx)(void *));
/* The first signature of a continuous session takes id and password, later
 * ones the password (21 CFR 11.200). */
bool session_signed_before(const struct session *);
void session_signed(struct session *);
void session_end(struct session *);
/* A key was pressed; time went by. Locks when idle for too long. */
void session_touch(struct session *, int64_t now_ms);
void session_tick(struct session *, int64_t now_ms);
bool session_locked(const struct session *);

#endif
