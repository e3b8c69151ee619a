/*
 * login_share.h - floor 2: one log-in for all processes of a user that log in
 * as one account: who may, how often, and what came of it.
 *
 * Turn. Each account (login_account) has a small file in a folder of the
 * user; who wants to log in takes a lock on it, by trying: it is somebody
 * else's turn, or ours. Open-file-description locks: freed by kill -9, not
 * inherited across exec, and two endpoints of one process are two. Nothing
 * here waits; a frozen holder is the caller's to lose patience with.
 *
 * Limit. The file holds the times of the last log-ins, so that a minute has
 * no more of them than the vendor allows over all processes. No secret and
 * no digest of one is ever in it.
 *
 * Token. What was granted is put into the kernel's key ring under a random
 * name that the file tells (login_ring.h): it is on no disk, and a folder of
 * somebody else's, a test's for one, never leads to it. Every token has a
 * name of its own, so dropping one never hits its successor. The payload has
 * a keyed digest of the secret that it was got with: whoever has another
 * secret (one that was just changed, one that is to be tested) logs in for
 * himself. It is dropped when it was refused, when it is replaced, when its
 * time is over (12 h at most), and by the last process that used it when that
 * ends; after kill -9 of all of them it stays for its time, and the next one
 * goes on with it. A refused log-in is not shared: everybody halts by himself,
 * within the limit.
 *
 * Folder: the first of these that is there or can be made. It has to be a
 * folder, ours, and nobody else's to read or write (an opened descriptor is
 * looked at, links are not followed), or nothing is shared:
 *   /run/edcsync            made by the service manager for the service's
 *                           account: the service, and commands by sudo or
 *                           ssh as that account, with or without a session
 *   $XDG_RUNTIME_DIR/edcsync, /run/user/UID/edcsync    of a person
 *   /tmp/edcsync-UID        else; not beside the store, because two stores
 *                           are to meet, nor TMPDIR, which differs
 * All lie in memory or are emptied at boot; what they hold is worth a minute.
 * Where none will do, or the file is not as it must be, everybody logs in for
 * himself, and trouble says why. Each log-in looks anew.
 *
 * Thread: one at a time.
 */
#ifndef EDCSYNC_ENGINE_LOGIN_SHARE_H
#define EDCSYNC_ENGINE_LOGIN_SHARE_H

#include "core/login_record.h"
#include "engine/login_ring.h"

struct login_share;

/* folder NULL: looked for, each time anew. Touches nothing yet. */
struct login_share *login_share_new(const struct endpoint_config *,
				    const char *folder,
				    const struct login_ring *);
/* The last user of a token drops it. NULL is fine. */
void login_share_free(struct login_share *);

/*
 * May we log in? False: somebody else does. True: it is our turn, until over
 * or granted; also where nothing can be shared. anyway: do not ask, and share
 * nothing this time.
 */
bool login_share_turn(struct login_share *, bool anyway);

enum login_found {
	LOGIN_OURS,			/* log in now */
	LOGIN_LATER,			/* in wait_ms; the turn is over */
	LOGIN_TOKEN			/* use this one; the turn is over */
};
struct login_find {
	struct span secret;
	int allowed;			/* log-ins a minute; 0: no limit */
	bool idle;			/* what we had was not refused, but not
					 * used for long: it serves if others
					 * use it */
	int64_t now_ms;			/* boot time */
	/* Filled. The caller wipes token. */
	struct buf token;
	int64_t age_ms, lifetime_ms;
	int64_t wait_ms;
	bool counted;			/* OURS: among those of all */
};
/* In our turn. A token that we had before is never found again. */
enum login_found login_share_find(struct login_share *, struct login_find *);
/* Our log-in is over: a token, or none. lifetime 0 (for one use): it is
 * nobody else's. */
void login_share_granted(struct login_share *, struct span token,
			 int64_t lifetime_ms, int64_t now_ms);
void login_share_over(struct login_share *);
/* The vendor does not take the token that we have. */
void login_share_refused(struct login_share *);
/* Why nothing is shared, told once; NULL: nothing new. */
const char *login_share_trouble(struct login_share *);
/* The clock that all of it goes by. */
int64_t login_share_now_ms(void);

#endif
