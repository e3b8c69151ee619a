#define _GNU_SOURCE			/* syscall */
#include "engine/login_ring.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KIND "user"
/* Who holds it and who is of its user may view, read, write, search and set
 * attributes (linux/key.h keeps these to the kernel); no group, no other. */
#define RIGHTS 0x3f2f0000u

static long keyctl(int what, unsigned long a, unsigned long b,
		   unsigned long c, unsigned long d)
{
	return syscall(SYS_keyctl, what, a, b, c, d);
}

static unsigned long ring(int special)
{
	return (unsigned long)(long)special;
}

static void ring_drop(int32_t key)
{
	unsigned long k = ring(key);

	if (key <= 0)
		return;
	/* Revoked ones are still counted for a while. */
	if (keyctl(KEYCTL_INVALIDATE, k, 0, 0, 0) < 0)
		keyctl(KEYCTL_REVOKE, k, 0, 0, 0);
}

/*
 * Made in the thread's own ring, where it is ours whatever session we are of,
 * and hung into the user's when its rights and its time are set: at no time
 * does anybody find one that never ends.
 */
static int32_t ring_put(const char *name, struct span payload,
			unsigned timeout_s)
{
	unsigned long own = ring(KEY_SPEC_THREAD_KEYRING), k;
	long key = syscall(SYS_add_key, KIND, name, payload.p, payload.n,
			   own);

	if (key <= 0)
		return 0;
	k = (unsigned long)key;
	if (keyctl(KEYCTL_SET_TIMEOUT, k, timeout_s, 0, 0) < 0 ||
	    keyctl(KEYCTL_SETPERM, k, RIGHTS, 0, 0) < 0 ||
	    keyctl(KEYCTL_LINK, k, ring(KEY_SPEC_USER_KEYRING), 0, 0) < 0) {
		ring_drop((int32_t)key);
		return 0;
	}
	keyctl(KEYCTL_UNLINK, k, own, 0, 0);
	return (int32_t)key;
}

static int32_t ring_find(const char *name)
{
	long key = keyctl(KEYCTL_SEARCH, ring(KEY_SPEC_USER_KEYRING),
			  (unsigned long)KIND, (unsigned long)name, 0);

	return key > 0 ? (int32_t)key : 0;
}

static bool ring_get(int32_t key, size_t max, struct buf *payload)
{
	long n = keyctl(KEYCTL_READ, ring(key), 0, 0, 0);
	size_t room;

	if (n <= 0 || (size_t)n > max)
		return false;
	room = (size_t)n;
	buf_reserve(payload, room + 1);
	n = keyctl(KEYCTL_READ, ring(key),
		   (unsigned long)(payload->p + payload->len), room, 0);
	if (n <= 0 || (size_t)n > room)
		return false;
	payload->len += (size_t)n;
	payload->p[payload->len] = '\0';
	return true;
}

const struct login_ring login_ring_kernel = {ring_put, ring_find, ring_get,
					     ring_drop};

static int32_t none_put(const char *name, struct span payload,
			unsigned timeout_s)
{
	(void)name;
	(void)payload;
	(void)timeout_s;
	return 0;
}

static int32_t none_find(const char *name)
{
	(void)name;
	return 0;
}

static bool none_get(int32_t key, size_t max, struct buf *payload)
{
	(void)key;
	(void)max;
	(void)payload;
	return false;
}

static void none_drop(int32_t key)
{
	assert(key == 0);
	(void)key;
}

const struct login_ring login_ring_none = {none_put, none_find, none_get,
					   none_drop};
