/* The terminal's side of vt.h: bytes in and out, what stands on the screen,
 * and whether the child is done with what it was given. */
#define _GNU_SOURCE
#include "vt_priv.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/utf8.h"

enum { LOOK_MS = 2, LOOKS = 3, UNHEARD_MS = 1000 };

/* Written behind the last words of a child that ended: no terminal shows it,
 * and when it has come, so has everything before it. */
#define LAST_WORD "\033]vt-last\007"

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void die(const char *what)
{
	fprintf(stderr, "vt: %s: %s\n", what, strerror(errno));
	abort();
}

/* --- life --- */

/* What the terminal says to the child: keys, and answers to its questions. A
 * child that reads nothing makes no test wait. */
static void to_child(const char *p, size_t n, void *user)
{
	struct vt *vt = user;
	int64_t until = now_ms() + VT_LONG_MS;

	while (n > 0 && vt->master >= 0 && now_ms() < until) {
		ssize_t w = write(vt->master, p, n);

		if (w > 0) {
			p += w;
			n -= (size_t)w;
		} else if (w < 0 && errno == EAGAIN) {
			vt_pump(vt, LOOK_MS);
		} else if (w < 0 && errno != EINTR) {
			return;
		}
	}
}

static int on_property(VTermProp prop, VTermValue *value, void *user)
{
	struct vt *vt = user;

	if (prop == VTERM_PROP_ALTSCREEN)
		vt->alternate = value->boolean;
	else if (prop == VTERM_PROP_CURSORVISIBLE)
		vt->cursor_hidden = !value->boolean;
	else if (prop == VTERM_PROP_MOUSE)
		vt->mouse = value->number;
	return 1;
}

static int on_cursor(VTermPos at, VTermPos before, int visible, void *user)
{
	struct vt *vt = user;

	(void)before;
	(void)visible;
	vt->cursor_row = at.row;
	vt->cursor_col = at.col;
	return 1;
}

static const VTermScreenCallbacks callbacks = {
	.settermprop = on_property, .movecursor = on_cursor,
};

static int child_side(const struct vt *vt, int how)
{
	char name[64];

	if (vt->master < 0 || ptsname_r(vt->master, name, sizeof(name)))
		return -1;
	return open(name, how | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

/* What there is to be shown, and be it for the moment. */
static bool take_bytes(struct vt *vt, int wait_ms)
{
	struct pollfd p = {.fd = vt->master, .events = POLLIN};
	char bytes[16384];
	ssize_t n;

	if (vt->master < 0 || poll(&p, 1, wait_ms) <= 0)
		return false;
	n = read(vt->master, bytes, sizeof(bytes));
	if (n <= 0)
		return false;
	buf_add(&vt->raw, bytes, (size_t)n);
	vterm_input_write(vt->vterm, bytes, (size_t)n);
	return true;
}

/* A terminal hands on what was written to it when it finds the time: the
 * child's end says nothing of that. */
static void last_words(struct vt *vt)
{
	const size_t n = strlen(LAST_WORD);
	int64_t until = now_ms() + VT_LONG_MS;
	int fd = child_side(vt, O_WRONLY);
	size_t said = 0;

	while (fd >= 0 && now_ms() < until) {
		ssize_t w = said < n ? write(fd, &LAST_WORD[said], n - said)
				     : 0;

		said += w > 0 ? (size_t)w : 0;
		take_bytes(vt, LOOK_MS);
		if (said < n || vt->raw.len < n ||
		    memcmp(vt->raw.p + vt->raw.len - n, LAST_WORD, n) != 0)
			continue;
		vt->raw.len -= n;
		vt->raw.p[vt->raw.len] = '\0';
		break;
	}
	if (fd >= 0)
		close(fd);
}

static void take_word(struct vt *vt, const struct vt_word *w)
{
	if (w->what == 'b') {
		vt->pid = (pid_t)w->value;
		vt->before = w->modes;
	} else {
		vt->stopped = w->what == 'z';
		vt->ended = w->what == 'e';
		vt->status = w->value;
	}
	if (vt->ended)
		last_words(vt);
}

static bool hear(struct vt *vt, int wait_ms)
{
	struct pollfd p = {.fd = vt->up, .events = POLLIN};
	struct vt_word w;

	if (poll(&p, 1, wait_ms) <= 0)
		return false;
	if (read(vt->up, &w, sizeof(w)) != sizeof(w))
		return false;
	take_word(vt, &w);
	return true;
}

static void new_screen(struct vt *vt)
{
	vt->vterm = vterm_new(vt->rows, vt->cols);
	vterm_set_utf8(vt->vterm, 1);
	vterm_output_set_callback(vt->vterm, to_child, vt);
	vt->screen = vterm_obtain_screen(vt->vterm);
	vterm_screen_set_callbacks(vt->screen, &callbacks, vt);
	vterm_screen_enable_altscreen(vt->screen, 1);
	vterm_screen_reset(vt->screen, 1);
}

/* A test whose own input is closed would get a pipe there, and the child's
 * terminal would be laid over it. */
static void standard_ones_open(void)
{
	int fd = open("/dev/null", O_RDWR);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd > STDERR_FILENO)
		close(fd);
}

void vt_start(struct vt *vt, const struct vt_start *s)
{
	struct winsize size = {0};
	int up[2], down[2];

	memset(vt, 0, sizeof(*vt));
	vt->rows = s->rows ? s->rows : 24;
	vt->cols = s->cols ? s->cols : 80;
	size.ws_row = (unsigned short)vt->rows;
	size.ws_col = (unsigned short)vt->cols;
	standard_ones_open();
	if (pipe2(up, O_CLOEXEC) < 0 || pipe2(down, O_CLOEXEC) < 0)
		die("pipe");
	fflush(NULL);
	vt->keeper = forkpty(&vt->master, NULL, NULL, &size);
	if (vt->keeper < 0)
		die("forkpty");
	if (vt->keeper == 0) {
		close(up[0]);
		close(down[1]);
		vt_keep(s, up[1], down[0]);
	}
	close(up[1]);
	close(down[0]);
	vt->up = up[0];
	vt->down = down[1];
	fcntl(vt->master, F_SETFL, O_NONBLOCK);
	fcntl(vt->master, F_SETFD, FD_CLOEXEC);
	new_screen(vt);
	if (!hear(vt, VT_LONG_MS))
		die("the keeper did not start");
}

void vt_end(struct vt *vt)
{
	if (!vt->vterm)
		return;
	if (!vt->ended)
		kill(vt->pid, SIGKILL);
	close(vt->down);
	close(vt->up);
	waitpid(vt->keeper, NULL, 0);
	if (vt->master >= 0)
		close(vt->master);
	vterm_free(vt->vterm);
	buf_release(&vt->raw);
	memset(vt, 0, sizeof(*vt));
}

/* --- time --- */

bool vt_pump(struct vt *vt, int wait_ms)
{
	bool any = false;

	while (take_bytes(vt, any ? 0 : wait_ms))
		any = true;
	if (vt->master < 0 && wait_ms > 0)
		hear(vt, wait_ms);
	else
		hear(vt, 0);
	return any;
}

/* What a thread is at: false when it is not asleep. *ran: how often it was
 * given a processor. */
static bool thread_sleeps(pid_t pid, const char *thread, int64_t *ran)
{
	char path[96], text[4096], *at;
	bool asleep;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/status", pid,
		 thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;	/* it ended */
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "State:\t");
	asleep = !at || strchr("STtZX", at[7]);
	at = strstr(text, "\nvoluntary_ctxt_switches:\t");
	*ran += at ? strtoll(at + 26, NULL, 10) : 0;
	at = strstr(text, "\nnonvoluntary_ctxt_switches:\t");
	*ran += at ? strtoll(at + 29, NULL, 10) : 0;
	return asleep;
}

/* Do all threads sleep? *ran grows whenever one of them runs. */
static bool all_sleep(const struct vt *vt, int64_t *ran)
{
	char path[48];
	struct dirent *e;
	bool asleep = true;
	DIR *dir;

	*ran = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", vt->pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0])) {
			if (!thread_sleeps(vt->pid, e->d_name, ran))
				asleep = false;
			*ran += 1000003;	/* a thread more or less */
		}
	closedir(dir);
	return asleep;
}

/* Is there a key that nobody has read yet? */
static bool unread_keys(const struct vt *vt)
{
	int n = 0, fd = child_side(vt, O_RDONLY);

	if (fd < 0)
		return false;
	if (ioctl(fd, FIONREAD, &n) < 0)
		n = 0;
	close(fd);
	return n > 0;
}

bool vt_settle_for(struct vt *vt, int asleep_ms)
{
	int64_t until = now_ms() + VT_LONG_MS, since = now_ms(), ran, seen = -1;
	int looks = 0;

	while (now_ms() < until) {
		bool any = vt_pump(vt, LOOK_MS);
		int64_t looked = now_ms();

		if (vt->ended || vt->stopped)
			return vt->stopped;
		if (any || unread_keys(vt) || !all_sleep(vt, &ran) ||
		    ran != seen) {
			if (!any)
				all_sleep(vt, &seen);
			since = now_ms();
			looks = 0;
		} else if (++looks >= LOOKS && looked - since >= asleep_ms) {
			return true;
		}
	}
	return false;
}

bool vt_settle(struct vt *vt)
{
	return vt_settle_for(vt, 0);
}

/* What was written reaches the child a moment later: it has heard once a
 * thread of it ran. One that never reads is not waited for. */
static void heard(struct vt *vt, int64_t before)
{
	int64_t until = now_ms() + UNHEARD_MS, ran = before;

	while (ran == before && now_ms() < until && !vt->ended) {
		vt_pump(vt, 1);
		all_sleep(vt, &ran);
	}
}

int vt_wait_for(struct vt *vt, const char *text, int ms)
{
	int64_t until = now_ms() + ms;
	int row = vt_find(vt, text);

	while (row < 0 && now_ms() < until && !vt->ended) {
		vt_pump(vt, 10);
		row = vt_find(vt, text);
	}
	if (row < 0)
		return -1;
	vt_settle(vt);
	return vt_find(vt, text);
}

int vt_wait(struct vt *vt, const char *text)
{
	return vt_wait_for(vt, text, VT_LONG_MS);
}

bool vt_wait_end(struct vt *vt, int ms)
{
	int64_t until = now_ms() + ms;

	while (!vt->ended && now_ms() < until)
		vt_pump(vt, LOOK_MS);
	return vt->ended;
}

bool vt_wait_stop(struct vt *vt, int ms)
{
	int64_t until = now_ms() + ms;

	while (!vt->stopped && !vt->ended && now_ms() < until)
		vt_pump(vt, LOOK_MS);
	vt_pump(vt, 0);
	return vt->stopped;
}

void vt_continue(struct vt *vt)
{
	vt->stopped = false;
	if (write(vt->down, "f", 1) != 1)
		die("the keeper");
}

/* --- what a person does --- */

static const struct {
	const char *name;
	VTermKey key;
	VTermModifier mod;
} named[] = {
	{"Up", VTERM_KEY_UP, VTERM_MOD_NONE},
	{"Down", VTERM_KEY_DOWN, VTERM_MOD_NONE},
	{"Left", VTERM_KEY_LEFT, VTERM_MOD_NONE},
	{"Right", VTERM_KEY_RIGHT, VTERM_MOD_NONE},
	{"Home", VTERM_KEY_HOME, VTERM_MOD_NONE},
	{"End", VTERM_KEY_END, VTERM_MOD_NONE},
	{"PgUp", VTERM_KEY_PAGEUP, VTERM_MOD_NONE},
	{"PgDn", VTERM_KEY_PAGEDOWN, VTERM_MOD_NONE},
	{"Ins", VTERM_KEY_INS, VTERM_MOD_NONE},
	{"Del", VTERM_KEY_DEL, VTERM_MOD_NONE},
	{"Enter", VTERM_KEY_ENTER, VTERM_MOD_NONE},
	{"Tab", VTERM_KEY_TAB, VTERM_MOD_NONE},
	{"S-Tab", VTERM_KEY_TAB, VTERM_MOD_SHIFT},
	{"Esc", VTERM_KEY_ESCAPE, VTERM_MOD_NONE},
	{"Backspace", VTERM_KEY_BACKSPACE, VTERM_MOD_NONE},
};

static int64_t ran_before(const struct vt *vt)
{
	int64_t ran;

	all_sleep(vt, &ran);
	return ran;
}

void vt_bytes(struct vt *vt, const void *p, size_t n)
{
	int64_t before = ran_before(vt);

	to_child(p, n, vt);
	heard(vt, before);
}

void vt_type(struct vt *vt, const char *text)
{
	vt_bytes(vt, text, strlen(text));
}

bool vt_key(struct vt *vt, const char *name)
{
	int64_t before = ran_before(vt);
	char c, *end;

	if (!strncmp(name, "Ctrl-", 5) && name[5] && !name[6]) {
		c = name[5] & 0x1f;
		vt_bytes(vt, &c, 1);
		return true;
	}
	if (!strncmp(name, "Alt-", 4) && name[4] && !name[5]) {
		vt_bytes(vt, (char[]){'\033', name[4]}, 2);
		return true;
	}
	if (!strcmp(name, "Space"))
		name = " ";
	if (name[0] == 'F' && isdigit((unsigned char)name[1])) {
		long n = strtol(name + 1, &end, 10);

		if (*end || n < 1 || n > 12)
			return false;
		vterm_keyboard_key(vt->vterm, VTERM_KEY_FUNCTION((int)n),
				   VTERM_MOD_NONE);
		heard(vt, before);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		if (!strcmp(name, named[i].name)) {
			vterm_keyboard_key(vt->vterm, named[i].key,
					   named[i].mod);
			heard(vt, before);
			return true;
		}
	if (utf8_count(span_of(name)) != 1)
		return false;
	vt_type(vt, name);
	return true;
}

void vt_paste(struct vt *vt, const char *text)
{
	int64_t before = ran_before(vt);

	vterm_keyboard_start_paste(vt->vterm);
	to_child(text, strlen(text), vt);
	vterm_keyboard_end_paste(vt->vterm);
	heard(vt, before);
}

void vt_click(struct vt *vt, int row, int col, int button)
{
	int64_t before = ran_before(vt);

	if (!vt->mouse)
		return;
	vterm_mouse_move(vt->vterm, row, col, VTERM_MOD_NONE);
	vterm_mouse_button(vt->vterm, button, true, VTERM_MOD_NONE);
	if (button < 4)
		vterm_mouse_button(vt->vterm, button, false, VTERM_MOD_NONE);
	heard(vt, before);
}

void vt_resize(struct vt *vt, int cols, int rows)
{
	struct winsize size = {.ws_row = (unsigned short)rows,
			       .ws_col = (unsigned short)cols};
	int64_t before = ran_before(vt);

	vt_pump(vt, 0);
	vt->rows = rows;
	vt->cols = cols;
	vterm_set_size(vt->vterm, rows, cols);
	if (vt->master >= 0 && ioctl(vt->master, TIOCSWINSZ, &size) < 0)
		die("resize");
	heard(vt, before);
}

void vt_signal(struct vt *vt, int sig)
{
	if (!vt->ended)
		kill(vt->pid, sig);
}

void vt_hang_up(struct vt *vt)
{
	vt_pump(vt, 0);
	close(vt->master);
	vt->master = -1;
}
