#define _GNU_SOURCE			/* F_OFD_SETLK */
#include "engine/login_share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/hash.h"

#define BYTE_TURN ((off_t)1 << 30)	/* far from what the file says */
#define BYTE_USE (BYTE_TURN + 1)	/* read lock: a token is in use */
#define OPEN_TRIES 3			/* somebody tidies up meanwhile */
#define ACCOUNT_DIGITS 32		/* of the digest, in names */

struct login_share {
	sha256_hex account;
	char *folder;
	const struct login_ring *ring;
	char boot_id[40];
	int fd;				/* the file; -1: not open */
	bool turn;			/* the lock is ours */
	struct login_record record;	/* as read in this turn */
	char next[LOGIN_NAME_BYTES + 1];	/* name of the next token */
	uint8_t mac[32];		/* of this turn's secret, under it */
	char held[LOGIN_NAME_BYTES + 1];	/* of the token in hand */
	int32_t key;			/* it, in the ring; 0: not there */
	char trouble[240];
	bool told;
};

int64_t login_share_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void read_boot_id(char out[40])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	snprintf(out, 40, "-");
	if (!f)
		return;
	if (fgets(out, 40, f))
		out[strcspn(out, "\n")] = '\0';
	fclose(f);
}

struct login_share *login_share_new(const struct endpoint_config *e,
				    const char *folder,
				    const struct login_ring *ring)
{
	struct login_share *s = xcalloc(1, sizeof(*s));

	assert(ring);
	login_account(e, s->account);
	s->folder = xstrdup(folder);
	s->ring = e->credential.share == SHARE_TOKEN ? ring : &login_ring_none;
	read_boot_id(s->boot_id);
	s->fd = -1;
	return s;
}

/* ---- folder and file ---------------------------------------------------- */

static bool is_private(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & 077);
}

static bool trouble(struct login_share *s, const char *what, const char *why)
{
	if (!s->trouble[0])
		snprintf(s->trouble, sizeof(s->trouble), "log-ins are not "
			 "shared with other processes: %.100s: %.60s", what,
			 why);
	return false;
}

/* An open folder that is ours alone; -1: it is not there, or as it is it will
 * not do, which is trouble. */
static int open_folder(struct login_share *s, const char *name)
{
	struct stat st;
	int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0) {
		if (errno != ENOENT)
			trouble(s, name, strerror(errno));
		return -1;
	}
	if (!fstat(fd, &st) && is_private(&st))
		return fd;
	trouble(s, name, "it has to be this user's, with mode 0700");
	close(fd);
	return -1;
}

static int make_folder(struct login_share *s, const char *name)
{
	return mkdir(name, 0700) < 0 && errno != EEXIST ? -1 :
	       open_folder(s, name);
}

/* In a folder of the user's session. */
static int make_below(struct login_share *s, const char *base)
{
	char name[256];
	struct stat st;

	if (!base || base[0] != '/' || strlen(base) > sizeof(name) - 20 ||
	    stat(base, &st) || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid() || (st.st_mode & 022))
		return -1;
	snprintf(name, sizeof(name), "%s/edcsync", base);
	return make_folder(s, name);
}

/* The service's, if it is this account's; others have nothing to do there. */
static int open_service(struct login_share *s)
{
	static const char name[] = "/run/edcsync";
	struct stat st;

	if (lstat(name, &st) || !S_ISDIR(st.st_mode) || !is_private(&st))
		return -1;
	return open_folder(s, name);
}

static int find_folder(struct login_share *s)
{
	unsigned long uid = (unsigned long)geteuid();
	char name[64];
	int fd;

	if (s->folder) {
		fd = make_folder(s, s->folder);
	} else {
		fd = open_service(s);
		if (fd < 0 && !s->trouble[0])
			fd = make_below(s, getenv("XDG_RUNTIME_DIR"));
		snprintf(name, sizeof(name), "/run/user/%lu", uid);
		if (fd < 0 && !s->trouble[0])
			fd = make_below(s, name);
		snprintf(name, sizeof(name), "/tmp/edcsync-%lu", uid);
		if (fd < 0 && !s->trouble[0])
			fd = make_folder(s, name);
	}
	if (fd < 0)
		trouble(s, "folder", "none can be made");
	return fd;
}

static void let_go(struct login_share *s)
{
	if (s->fd >= 0)
		close(s->fd);		/* and with it every lock */
	s->fd = -1;
	s->turn = false;
}

/* The file that its name means now. One that was taken away stays ours to
 * close, not to lock. */
static bool open_file(struct login_share *s, int folder)
{
	char name[ACCOUNT_DIGITS + 8];
	struct stat is, named;
	int fd;

	snprintf(name, sizeof(name), "%.*s", ACCOUNT_DIGITS, s->account);
	if (s->fd >= 0 && !fstat(s->fd, &is) &&
	    !fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) &&
	    is.st_dev == named.st_dev && is.st_ino == named.st_ino)
		return true;
	let_go(s);
	fd = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC |
		    O_NONBLOCK, 0600);
	if (fd < 0)
		return trouble(s, name, strerror(errno));
	if (fstat(fd, &is) || !S_ISREG(is.st_mode) || !is_private(&is) ||
	    is.st_nlink > 1) {
		close(fd);
		return trouble(s, name, "a plain file of this user's, with "
			       "mode 0600, should be there");
	}
	s->fd = fd;
	return true;
}

/* ---- locks -------------------------------------------------------------- */

static bool lock_byte(int fd, short type, off_t byte)
{
	struct flock fl = {.l_type = type, .l_whence = SEEK_SET,
			   .l_start = byte, .l_len = 1};
	int rc;

	do
		rc = fcntl(fd, F_OFD_SETLK, &fl);
	while (rc && errno == EINTR);
	return rc == 0;
}

/* Does anybody but us hold a read lock there? */
static bool others_use(const struct login_share *s)
{
	struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET,
			   .l_start = BYTE_USE, .l_len = 1};

	return !fcntl(s->fd, F_OFD_GETLK, &fl) && fl.l_type != F_UNLCK;
}

static void turn_over(struct login_share *s)
{
	if (s->turn)
		lock_byte(s->fd, F_UNLCK, BYTE_TURN);
	s->turn = false;
}

/* The file is there and the lock is ours; false with *busy, or nothing can
 * be shared. */
static bool take_turn(struct login_share *s, bool *busy)
{
	int folder;

	*busy = false;
	s->trouble[0] = '\0';		/* may have been mended */
	folder = find_folder(s);
	for (int i = 0; folder >= 0 && i < OPEN_TRIES; i++) {
		int was;

		if (!open_file(s, folder))
			break;
		was = s->fd;
		s->turn = lock_byte(s->fd, F_WRLCK, BYTE_TURN);
		*busy = !s->turn && (errno == EAGAIN || errno == EACCES);
		if (!s->turn && !*busy)
			trouble(s, "lock", strerror(errno));
		if (!s->turn)
			break;
		/* Is it still the one that others will open? */
		if (open_file(s, folder) && s->fd == was && s->turn)
			break;
	}
	if (folder >= 0)
		close(folder);
	return s->turn;
}

/* ---- what is in the file ------------------------------------------------ */

static void read_record(struct login_share *s, int64_t now_ms)
{
	char text[LOGIN_RECORD_BYTES + 1];
	ssize_t n = pread(s->fd, text, sizeof(text), 0);

	login_record_read((struct span){text, n > 0 ? (size_t)n : 0},
			  span_of(s->boot_id), now_ms, &s->record);
}

/* Half of it written is as good as nothing (login_record.h). */
static void write_record(struct login_share *s)
{
	struct buf text = BUF_INIT;

	login_record_write(&s->record, span_of(s->boot_id), &text);
	if (pwrite(s->fd, text.p, text.len, 0) != (ssize_t)text.len ||
	    ftruncate(s->fd, (off_t)text.len))
		trouble(s, "its file", strerror(errno));
	buf_release(&text);
}

static bool random_name(char name[LOGIN_NAME_BYTES + 1])
{
	uint8_t bytes[LOGIN_NAME_BYTES / 2];

	name[0] = '\0';
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	hash_hex(bytes, sizeof(bytes), name);
	return true;
}

/* ---- the ring ----------------------------------------------------------- */

#define KEY_NAME_BYTES (ACCOUNT_DIGITS + LOGIN_NAME_BYTES + 16)

static void key_name(const struct login_share *s, const char *token,
		     char out[KEY_NAME_BYTES])
{
	snprintf(out, KEY_NAME_BYTES, "edcsync:%.*s:%s", ACCOUNT_DIGITS,
		 s->account, token);
}

static int32_t find_key(const struct login_share *s, const char *token)
{
	char name[KEY_NAME_BYTES];

	if (!token[0])
		return 0;
	key_name(s, token, name);
	return s->ring->find(name);
}

static void drop_key(const struct login_share *s, const char *token)
{
	int32_t key = find_key(s, token);

	if (key)
		s->ring->drop(key);
}

/* Ours from now on. Others see that it is in use. */
static void hold(struct login_share *s, const char *token, int32_t key)
{
	text_set(s->held, sizeof(s->held), span_of(token));
	s->key = key;
	if (key)
		lock_byte(s->fd, F_RDLCK, BYTE_USE);
}

/* The token that the file names, if it is one for us. */
static bool adopt(struct login_share *s, struct login_find *f)
{
	bool same = strcmp(s->record.token, s->held) == 0;
	struct buf payload = BUF_INIT;
	struct login_token t;
	uint8_t mac[32];
	int32_t key = 0;
	bool ok = false;

	if (!same || (f->idle && others_use(s)))
		key = find_key(s, s->record.token);
	if (key && s->ring->get(key, LOGIN_TOKEN_BYTES, &payload) &&
	    login_token_read(buf_span(&payload), f->now_ms, &t) &&
	    login_token_serves(&t, f->now_ms)) {
		login_secret_mac(s->record.token, f->secret, mac);
		ok = memcmp(mac, t.secret_mac, sizeof(mac)) == 0;
	}
	if (ok) {
		buf_reserve(&f->token, t.token.n + 1);
		buf_addspan(&f->token, t.token);
		f->age_ms = f->now_ms - t.got_ms;
		f->lifetime_ms = t.lifetime_ms;
		hold(s, s->record.token, key);
	}
	buf_wipe(&payload);
	return ok;
}

/* ---- the door ----------------------------------------------------------- */

bool login_share_turn(struct login_share *s, bool anyway)
{
	bool busy;

	assert(!s->turn);
	if (anyway || take_turn(s, &busy))
		return true;
	return !busy;
}

enum login_found login_share_find(struct login_share *s, struct login_find *f)
{
	assert(f->now_ms >= 0 && f->token.len == 0);
	if (!s->turn)
		return LOGIN_OURS;	/* alone */
	read_record(s, f->now_ms);
	if (adopt(s, f)) {
		turn_over(s);
		return LOGIN_TOKEN;
	}
	f->wait_ms = login_record_admit(&s->record, f->allowed, f->now_ms);
	if (f->wait_ms > 0) {
		turn_over(s);
		return LOGIN_LATER;
	}
	/* Counted before it is begun: who is killed in it has tried. */
	write_record(s);
	f->counted = true;
	if (random_name(s->next))
		login_secret_mac(s->next, f->secret, s->mac);
	return LOGIN_OURS;
}

/* 0: it is not to be had by others. */
static int32_t put_key(struct login_share *s, struct span token,
		       int64_t lifetime_ms, int64_t now_ms)
{
	struct login_token t = {.got_ms = now_ms, .lifetime_ms = lifetime_ms,
				.token = token};
	struct buf payload = BUF_INIT;
	char name[KEY_NAME_BYTES];
	int32_t key = 0;

	if (!s->next[0] || lifetime_ms == 0)
		return 0;
	memcpy(t.secret_mac, s->mac, sizeof(t.secret_mac));
	key_name(s, s->next, name);
	if (login_token_write(&t, &payload))
		key = s->ring->put(name, buf_span(&payload),
				   login_token_timeout_s(&t));
	buf_wipe(&payload);
	return key;
}

void login_share_granted(struct login_share *s, struct span token,
			 int64_t lifetime_ms, int64_t now_ms)
{
	int32_t key;

	if (!s->turn) {
		hold(s, "", 0);
		return;
	}
	key = put_key(s, token, lifetime_ms, now_ms);
	drop_key(s, s->record.token);
	text_set(s->record.token, sizeof(s->record.token),
		 span_of(key ? s->next : ""));
	write_record(s);
	hold(s, s->record.token, key);
	turn_over(s);
}

void login_share_over(struct login_share *s)
{
	turn_over(s);
}

void login_share_refused(struct login_share *s)
{
	if (s->key)
		s->ring->drop(s->key);
	s->key = 0;			/* its name is kept: not that one */
}

const char *login_share_trouble(struct login_share *s)
{
	if (!s->trouble[0] || s->told)
		return NULL;
	s->told = true;
	return s->trouble;
}

/* Whoever came by a token uses it until he ends. If nobody is left, the one
 * that the file names goes; while somebody logs in, it is his to replace. */
static void last_one_out(struct login_share *s)
{
	if (s->fd < 0 || !s->held[0] ||
	    !lock_byte(s->fd, F_WRLCK, BYTE_USE) ||
	    !lock_byte(s->fd, F_WRLCK, BYTE_TURN))
		return;
	s->turn = true;
	read_record(s, login_share_now_ms());
	drop_key(s, s->record.token);
}

void login_share_free(struct login_share *s)
{
	if (!s)
		return;
	turn_over(s);
	last_one_out(s);
	let_go(s);
	free(s->folder);
	free(s);
}
