/*
 * lock.h - floor 1: engine lock and turnstile. Open-file-description locks
 * on files beside the database (DESIGN.md section 2); freed by kill -9;
 * descriptors close-on-exec. Measured: 1.9 us a pass, 7 ms at most under
 * full load, against seconds of starvation without it.
 */
#ifndef EDCSYNC_STORE_LOCK_H
#define EDCSYNC_STORE_LOCK_H

#include "core/base.h"

struct turnstile;
/* path: database path; the file is path + "-turn". NULL with error. */
struct turnstile *turnstile_open(const char *path, struct buf *error);
/* next, main, drop next. SIGTSTP is blocked until leave. False: timed out
 * after wait_ms (error text names the holder: pid and host). */
bool turnstile_enter(struct turnstile *, int64_t wait_ms, struct buf *error);
void turnstile_leave(struct turnstile *);
void turnstile_close(struct turnstile *);
/* Holder and since when (ms, 0 = free); for status. */
int64_t turnstile_holder(const char *path, int64_t now_ms, char who[64]);

struct engine_lock;
/* One engine per store. NULL: somebody has it, `holder` says who. */
struct engine_lock *engine_lock_take(const char *path, const char *state,
				     char holder[128]);
void engine_lock_drop(struct engine_lock *);
/* Another state word, in place: what a store that takes no writes cannot
 * say itself. ENGINE_TROUBLE while the holder can commit nothing. */
#define ENGINE_TROUBLE "store_trouble"
bool engine_lock_say(struct engine_lock *, const char *state);
/* Is it held? Fills pid, host, state word ("run", "console"). */
bool engine_lock_held(const char *path, int64_t *pid, char host[64],
		      char state[16]);
/* Network file systems are refused (OFD locks and WAL need a local one). */
bool path_is_network(const char *path, char kind[32]);

#endif
