#include "config.h"

#include "cli/actor.h"

#include "core/hash.h"
#include "core/timefmt.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { PASSWORD_BYTES_MIN = 4, ANSWER_BYTES_MAX = 16384, CTRL_C = 3,
       CTRL_D = 4 };

/* Reads one line; the terminal's own signals are off, so that the echo can
 * never stay off behind our back. */
static bool line_read(int fd, struct buf *out)
{
	char c;

	while (read(fd, &c, 1) == 1) {
		if (c == '\n' || c == '\r')
			return true;
		if (c == CTRL_C || (c == CTRL_D && !out->len))
			return false;
		if (c == 127 || c == 8)
			out->len -= out->len > 0;
		else if (out->len < ANSWER_BYTES_MAX)
			buf_addc(out, c);
	}
	return false;
}

bool terminal_ask(const char *prompt, bool secret, struct buf *out)
{
	struct termios before, quiet;
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	bool ok;

	if (fd < 0)
		return false;
	if (tcgetattr(fd, &before)) {
		close(fd);
		return false;
	}
	quiet = before;
	if (secret) {
		quiet.c_lflag &= ~(tcflag_t)(ECHO | ISIG | ICANON);
		quiet.c_cc[VMIN] = 1;
		quiet.c_cc[VTIME] = 0;
	}
	/* What was typed before the question is dropped, and the echo is off
	 * before it is asked: an answer given at once is not. */
	tcsetattr(fd, TCSAFLUSH, &quiet);
	dprintf(fd, "%s", prompt);
	ok = line_read(fd, out);
	tcsetattr(fd, TCSAFLUSH, &before);
	if (secret)
		dprintf(fd, "\n");
	close(fd);
	if (out->p)
		out->p[out->len] = '\0';
	return ok;
}

void person_init(struct person *p)
{
	memset(p, 0, sizeof(*p));
}

void person_release(struct person *p)
{
	operator_row_release(&p->row);
	memset(p, 0, sizeof(*p));
}

static void login_name(char *out, size_t size)
{
	struct buf text = BUF_INIT;
	uid_t uid = getuid();
	struct passwd *pw;

	/* The audit login uid survives sudo; $USER would only be a claim. */
	if (setup_read_file("/proc/self/loginuid", 32, &text) && text.len) {
		unsigned long id = strtoul(buf_text(&text), NULL, 10);

		if (id != 4294967295ul)
			uid = (uid_t)id;
	}
	buf_release(&text);
	pw = getpwuid(uid);
	if (pw)
		text_set(out, size, span_of(pw->pw_name));
	else
		snprintf(out, size, "uid %ld", (long)uid);
}

static void session_new(char out[37])
{
	uint8_t random[16];
	char hex[33];

	if (RAND_bytes(random, sizeof(random)) != 1)
		abort();
	hash_hex(random, sizeof(random), hex);
	snprintf(out, 37, "%.8s-%.4s-4%.3s-8%.3s-%.12s", hex, hex + 8, hex + 13,
		 hex + 17, hex + 20);
}

void person_claims(struct person *p)
{
	const char *ssh = getenv("SSH_CONNECTION");
	const char *tty = ttyname(STDIN_FILENO);

	login_name(p->login, sizeof(p->login));
	session_new(p->session);
	text_set(p->tty, sizeof(p->tty), span_of(tty ? tty : "none"));
	if (ssh)
		text_set(p->remote, sizeof(p->remote),
			 (struct span){ssh, strcspn(ssh, " ")});
	p->actor = (struct actor){
		.person = true, .id = p->login, .auth = "none (OS account)",
		.session = p->session, .login = p->login, .host = setup_host(),
		.tty = p->tty, .remote = p->remote[0] ? p->remote : NULL,
	};
}

static int sign_in_refused(struct cli *cli, enum sign_in how)
{
	return cli_fail(cli, EXIT_NO_PERMISSION,
			"not signed in: %s; nothing was done",
			sign_in_words(how));
}

static int check_password(struct cli *cli, struct person *p, const char *id,
			  struct buf *password, const char *auth)
{
	enum sign_in how;
	int r;

	person_claims(p);
	operator_row_release(&p->row);
	r = operator_sign_in(cli->setup.store, id, buf_span(password),
			     &p->actor, setup_now_ms(), &how, &p->row);
	buf_wipe(password);
	if (r < 0)
		return cli_fail(cli, store_exit_code(r), "cannot sign in: %s",
				store_error(cli->setup.store));
	if (how == SIGN_IN_MUST_CHANGE && !p->changing)
		return cli_fail(cli, EXIT_NO_PERMISSION,
			"the password was set by somebody else and must be "
			"changed first: edcsync operator passwd %s; nothing "
			"was done", id);
	if (how != SIGN_IN_OK && how != SIGN_IN_MUST_CHANGE)
		return sign_in_refused(cli, how);
	struct buf roles = BUF_INIT;

	roles_text(p->row.roles, &roles);
	text_set(p->role, sizeof(p->role), buf_span(&roles));
	buf_release(&roles);
	p->actor.id = p->row.id;
	p->actor.printed_name = p->row.printed_name;
	p->actor.role = p->role;
	p->actor.auth = auth;
	return 0;
}

static int ask_id(struct cli *cli, struct buf *id)
{
	if (!terminal_ask("Operator id: ", false, id) || !id->len)
		return cli_fail(cli, EXIT_NO_PERMISSION,
			"this needs an operator: say --actor=ID, and give the "
			"password at a terminal or by --password-file");
	return 0;
}

static int ask_password(struct cli *cli, const char *id, struct buf *out)
{
	struct buf prompt = BUF_INIT;
	bool ok;

	buf_addf(&prompt, "Password of %s: ", out_safe(&cli->out, id));
	ok = terminal_ask(buf_text(&prompt), true, out);
	buf_release(&prompt);
	if (ok)
		return 0;
	return cli_fail(cli, EXIT_NO_PERMISSION,
			"no password was given: there is no terminal to ask "
			"at, and no --password-file");
}

int person_sign_in(struct cli *cli, struct person *p)
{
	const char *file = cli_text(cli, "password-file");
	struct buf id = BUF_INIT, password = BUF_INIT, error = BUF_INIT;
	int code = 0;

	if (cli_text(cli, "actor"))
		buf_adds(&id, cli_text(cli, "actor"));
	else
		code = ask_id(cli, &id);
	if (!code && file) {
		if (!setup_read_secret(file, &password, &error))
			code = cli_fail(cli, EXIT_NO_PERMISSION, "%s",
					buf_text(&error));
	} else if (!code) {
		code = ask_password(cli, buf_text(&id), &password);
	}
	if (!code)
		code = check_password(cli, p, buf_text(&id), &password,
				      file ? "password file" : "password");
	buf_release(&id);
	buf_wipe(&password);
	buf_release(&error);
	return code;
}

static const char *meaning_of(struct cli *cli, struct buf *answer)
{
	static const char *const known[] = {"review", "approval",
					    "responsibility", "authorship"};
	const char *given = cli_text(cli, "meaning");

	if (!given && terminal_ask("Meaning (review, approval, responsibility, "
				   "authorship) [responsibility]: ",
				   false, answer))
		given = answer->len ? buf_text(answer) : "responsibility";
	for (size_t i = 0; given && i < ARRAY_SIZE(known); i++)
		if (!strcmp(given, known[i]))
			return known[i];
	return NULL;
}

int person_sign(struct cli *cli, struct person *p, const char *why)
{
	struct buf id = BUF_INIT, password = BUF_INIT, answer = BUF_INIT;
	char at[TIME_TEXT];
	int64_t now;
	int code = 0;

	if (cli_text(cli, "password-file"))
		return cli_fail(cli, EXIT_NO_PERMISSION,
			"this act needs a signature (%s), and a password file "
			"never signs: give id and password at a terminal", why);
	if (access("/dev/tty", R_OK | W_OK) || !isatty(STDIN_FILENO))
		return cli_fail(cli, EXIT_NO_PERMISSION,
			"this act needs a signature (%s), which only a person "
			"at a terminal can give", why);
	fprintf(stderr, "This act needs your signature: %s.\n", why);
	code = ask_id(cli, &id);
	if (!code)
		code = ask_password(cli, buf_text(&id), &password);
	if (!code)
		code = check_password(cli, p, buf_text(&id), &password,
				      "signature");
	if (!code && p->row.must_change)
		code = cli_fail(cli, EXIT_NO_PERMISSION,
			"a password set by somebody else never signs: change "
			"it first (edcsync operator passwd %s)", p->row.id);
	if (!code) {
		now = setup_now_ms();
		p->signature.meaning = meaning_of(cli, &answer);
		p->signature.given = p->signature.meaning != NULL;
		p->signature.at_ms = now;
		time_local(now, setup_utc_offset_min(now), at);
		if (p->signature.given)
			fprintf(stderr, "Signed: %s, %s, meaning %s.\n",
				out_safe(&cli->out, p->row.printed_name), at,
				p->signature.meaning);
		else
			code = cli_usage(cli, "the meaning is review, approval, "
					 "responsibility or authorship");
	}
	buf_release(&id);
	buf_wipe(&password);
	buf_release(&answer);
	return code;
}

int password_new(struct cli *cli, const char *id, struct buf *out)
{
	const char *file = cli_text(cli, "new-password-file");
	struct buf again = BUF_INIT, prompt = BUF_INIT, error = BUF_INIT;
	int code = 0;

	buf_addf(&prompt, "New password for %s: ", out_safe(&cli->out, id));
	if (file && !setup_read_secret(file, out, &error))
		code = cli_fail(cli, EXIT_NO_PERMISSION, "%s",
				buf_text(&error));
	else if (!file && (!terminal_ask(buf_text(&prompt), true, out) ||
			   !terminal_ask("The same again: ", true, &again)))
		code = cli_fail(cli, EXIT_NO_PERMISSION, "no password was "
				"given; say --new-password-file=FILE where "
				"there is no terminal");
	else if (!file && !span_eq(buf_span(out), buf_span(&again)))
		code = cli_fail(cli, EXIT_NO_PERMISSION,
				"the two passwords differ; nothing was done");
	else if (out->len < PASSWORD_BYTES_MIN)
		code = cli_fail(cli, EXIT_DATA, "a password has at least %d "
				"characters", PASSWORD_BYTES_MIN);
	buf_wipe(&again);
	buf_release(&prompt);
	buf_release(&error);
	return code;
}
