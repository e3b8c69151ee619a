/*
 * login_ring.h - floor 2: the kernel's key ring of this user, by syscall
 * alone (add_key(2), keyctl(2)); a table, so that tests can be without one.
 *
 * A key is memory of the kernel: no file, no swap file of ours, in no core
 * dump, gone with the machine, with its time, or when it is dropped. Its
 * rights are the user's and nobody else's: whoever reads it could have read
 * the secret file, and needs to be no debugger for it. It hangs in the user
 * ring, which sessions, sudo and services of one user have in common; other
 * user namespaces (containers, PrivateUsers= of a service) have another one.
 *
 * Nothing here blocks or retries. Every slot fails quietly: without a ring
 * (ENOSYS, EPERM of a container, a full quota) everybody logs in for himself.
 *
 * Thread: any.
 */
#ifndef EDCSYNC_ENGINE_LOGIN_RING_H
#define EDCSYNC_ENGINE_LOGIN_RING_H

#include "core/base.h"

struct login_ring {
	/* Puts a payload under a name that nobody has; 0: it cannot be, and
	 * nothing of it stays. */
	int32_t (*put)(const char *name, struct span payload,
		       unsigned timeout_s);
	/* 0: there is none. */
	int32_t (*find)(const char *name);
	/* Appends the payload; false: gone, or longer than max. */
	bool (*get)(int32_t key, size_t max, struct buf *payload);
	/* Nobody finds or reads it any more, at once. */
	void (*drop)(int32_t key);
};

extern const struct login_ring login_ring_kernel;
/* Where nothing can be put. */
extern const struct login_ring login_ring_none;

#endif
