/*
 * test_login_share.c - whose turn it is to log in, how often, and which token
 * all use: two or three of us at one file. Time is the test's; the ring is a
 * table, and once the kernel's.
 */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/hash.h"
#include "engine/login_share.h"

#define MINUTE INT64_C(60000)
#define T0 INT64_C(5000000)
#define BOOT "0b2c9a52-64a7-4f0f-8e25-000000000001"
#define NAME "00112233445566778899aabbccddeeff"

static struct profile vault = {.login = {.url = (char *)"{base_url}/auth"}};
static struct endpoint_config edc;
static char folder[64];

/* ---- a ring of ours ------------------------------------------------------ */

static struct {
	char name[160];			/* "" free */
	int32_t serial;			/* never used again */
	struct buf payload;
	unsigned timeout_s;
} keys[16];
static int32_t serials;

static int32_t fake_put(const char *name, struct span payload,
			unsigned timeout_s)
{
	size_t i = 0;

	while (keys[i].name[0])
		assert_true(++i < ARRAY_SIZE(keys));
	text_set(keys[i].name, sizeof(keys[i].name), span_of(name));
	buf_addspan(&keys[i].payload, payload);
	keys[i].timeout_s = timeout_s;
	return keys[i].serial = ++serials;
}

static int32_t fake_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].name, name))
			return keys[i].serial;
	return 0;
}

static bool fake_get(int32_t key, size_t max, struct buf *payload)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!keys[i].name[0] || keys[i].serial != key)
			continue;
		assert_true(keys[i].payload.len <= max);
		buf_addspan(payload, buf_span(&keys[i].payload));
		return true;
	}
	return false;
}

static void fake_drop(int32_t key)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!keys[i].name[0] || keys[i].serial != key)
			continue;
		keys[i].name[0] = '\0';
		buf_release(&keys[i].payload);
	}
}

static const struct login_ring fake = {fake_put, fake_find, fake_get,
				       fake_drop};

static int keys_n(void)
{
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		n += keys[i].name[0] != '\0';
	return n;
}

/* ---- a folder ------------------------------------------------------------ */

static int set_up(void **state)
{
	(void)state;
	edc = (struct endpoint_config){.base_url = (char *)"https://v.example",
				       .profile = &vault};
	edc.credential.kind = CRED_SESSION;
	edc.credential.user = (char *)"u";
	snprintf(folder, sizeof(folder), "/tmp/edcsync-share-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static void each_file(void (*what)(const char *))
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char path[400];

	assert_non_null(d);
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		if (e->d_name[0] != '.')
			what(path);
	}
	closedir(d);
}

static void take_away(const char *path)
{
	assert_int_equal(unlink(path), 0);
}

static int tear_down(void **state)
{
	(void)state;
	each_file(take_away);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		fake_drop(keys[i].serial);
	return rmdir(folder);
}

static struct login_share *another(void)
{
	return login_share_new(&edc, folder, &fake);
}

/* Asks; what is expected; the token that is found, or "". */
static struct login_find finding(int64_t now_ms)
{
	return (struct login_find){.secret = SPAN("hush"), .allowed = 3,
				   .now_ms = now_ms};
}

static void logs_in(struct login_share *s, const char *token, int64_t now_ms)
{
	struct login_find f = finding(now_ms);

	assert_true(login_share_turn(s, false));
	assert_int_equal(login_share_find(s, &f), LOGIN_OURS);
	login_share_granted(s, span_of(token), MINUTE, now_ms);
}

static void finds(struct login_share *s, const char *token, int64_t now_ms)
{
	struct login_find f = finding(now_ms);

	assert_true(login_share_turn(s, false));
	assert_int_equal(login_share_find(s, &f), LOGIN_TOKEN);
	assert_string_equal(buf_text(&f.token), token);
	assert_int_equal(f.lifetime_ms, MINUTE);
	buf_wipe(&f.token);
}

static void has_to_log_in(struct login_share *s, struct login_find f)
{
	assert_true(login_share_turn(s, false));
	assert_int_equal(login_share_find(s, &f), LOGIN_OURS);
	assert_int_equal(f.token.len, 0);
	login_share_over(s);
}

/* ---- turns --------------------------------------------------------------- */

static void one_at_a_time(void **state)
{
	struct login_share *a = another(), *b = another();
	struct login_find f = finding(T0);

	(void)state;
	assert_true(login_share_turn(a, false));
	assert_false(login_share_turn(b, false));
	assert_int_equal(login_share_find(a, &f), LOGIN_OURS);
	assert_false(login_share_turn(b, false));
	login_share_over(a);
	assert_true(login_share_turn(b, false));
	/* who ends lets go */
	assert_false(login_share_turn(a, false));
	login_share_free(b);
	assert_true(login_share_turn(a, false));
	login_share_free(a);
}

static void another_account_is_another_turn(void **state)
{
	struct login_share *a = another(), *b;

	(void)state;
	edc.credential.user = (char *)"v";
	b = another();
	assert_true(login_share_turn(a, false));
	assert_true(login_share_turn(b, false));
	login_share_free(a);
	login_share_free(b);
}

/* Whoever lost patience shares nothing and spoils nothing. */
static void a_frozen_one_is_passed_over(void **state)
{
	struct login_share *a = another(), *b = another(), *c = another();
	struct login_find f = finding(T0);

	(void)state;
	assert_true(login_share_turn(a, false));
	assert_int_equal(login_share_find(a, &f), LOGIN_OURS);
	assert_false(login_share_turn(b, false));
	assert_true(login_share_turn(b, true));
	assert_int_equal(login_share_find(b, &f), LOGIN_OURS);
	login_share_granted(b, SPAN("B"), MINUTE, T0);
	assert_int_equal(keys_n(), 0);
	assert_false(login_share_turn(c, false));
	/* it thaws */
	login_share_granted(a, SPAN("A"), MINUTE, T0);
	finds(c, "A", T0);
	login_share_refused(b);
	finds(b, "A", T0);
	login_share_free(a);
	login_share_free(b);
	login_share_free(c);
}

/* A process that dies with the lock. */
static void the_dead_hold_nothing(void **state)
{
	struct login_share *s = another();
	int told[2], status;
	char c;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (pid == 0) {
		struct login_share *own = another();

		if (login_share_turn(own, false) && write(told[1], "x", 1))
			pause();
		_exit(1);
	}
	close(told[1]);
	assert_int_equal(read(told[0], &c, 1), 1);
	close(told[0]);
	assert_false(login_share_turn(s, false));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(login_share_turn(s, false));
	login_share_free(s);
}

/* Somebody tidies up /tmp: the old file is nobody's meeting place any more. */
static void a_file_that_was_taken_away_is_made_anew(void **state)
{
	struct login_share *a = another(), *b = another();

	(void)state;
	logs_in(a, "A", T0);
	each_file(take_away);
	has_to_log_in(b, finding(T0));
	assert_true(login_share_turn(a, false));
	assert_false(login_share_turn(b, false));
	login_share_over(a);
	login_share_free(a);
	login_share_free(b);
}

/* ---- tokens -------------------------------------------------------------- */

static void one_logs_in_and_all_are_in(void **state)
{
	struct login_share *s[3];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(s); i++)
		s[i] = another();
	logs_in(s[0], "A", T0);
	assert_int_equal(keys_n(), 1);
	for (size_t i = 1; i < ARRAY_SIZE(s); i++)
		finds(s[i], "A", T0 + 10);
	for (size_t i = 0; i < ARRAY_SIZE(s); i++)
		login_share_free(s[i]);
	assert_int_equal(keys_n(), 0);
}

/* The first to be refused replaces it; the others find the new one. */
static void one_refusal_is_one_log_in(void **state)
{
	struct login_share *a = another(), *b = another();

	(void)state;
	logs_in(a, "A", T0);
	finds(b, "A", T0);
	login_share_refused(b);
	assert_int_equal(keys_n(), 0);
	logs_in(b, "B", T0 + 10);
	login_share_refused(a);		/* late news: B stays */
	assert_int_equal(keys_n(), 1);
	finds(a, "B", T0 + 20);
	login_share_free(a);
	login_share_free(b);
}

static void a_renewal_is_one_log_in(void **state)
{
	struct login_share *a = another(), *b = another();

	(void)state;
	logs_in(a, "A", T0);
	finds(b, "A", T0);
	/* half of it is over: nobody takes it any more */
	logs_in(a, "B", T0 + 31000);
	assert_int_equal(keys_n(), 1);
	finds(b, "B", T0 + 31000);
	login_share_free(a);
	login_share_free(b);
}

static void another_secret_finds_nothing(void **state)
{
	struct login_share *a = another(), *b = another();
	struct login_find f = finding(T0);

	(void)state;
	logs_in(a, "A", T0);
	f.secret = SPAN("hush!");
	has_to_log_in(b, f);
	finds(b, "A", T0);
	login_share_free(a);
	login_share_free(b);
}

/* A session that we did not use for long: others may have. */
static void an_idle_one_serves_if_others_use_it(void **state)
{
	struct login_share *a = another(), *b = another();
	struct login_find f = finding(T0 + 1000);

	(void)state;
	f.idle = true;
	logs_in(a, "A", T0);
	has_to_log_in(a, f);
	finds(b, "A", T0 + 1000);
	assert_true(login_share_turn(a, false));
	assert_int_equal(login_share_find(a, &f), LOGIN_TOKEN);
	assert_string_equal(buf_text(&f.token), "A");
	assert_int_equal(f.age_ms, 1000);
	buf_wipe(&f.token);
	login_share_free(a);
	login_share_free(b);
}

static void the_last_user_takes_it_away(void **state)
{
	struct login_share *a = another(), *b = another(), *c = another();

	(void)state;
	logs_in(a, "A", T0);
	finds(b, "A", T0);
	login_share_free(c);		/* never had one */
	login_share_free(a);
	assert_int_equal(keys_n(), 1);
	/* b has an older one than the last */
	c = another();
	login_share_refused(b);
	logs_in(c, "C", T0);
	login_share_free(c);
	assert_int_equal(keys_n(), 1);
	login_share_free(b);
	assert_int_equal(keys_n(), 0);
}

static void one_for_one_use_is_not_shared(void **state)
{
	struct login_share *a = another(), *b = another();
	struct login_find f = finding(T0);

	(void)state;
	assert_true(login_share_turn(a, false));
	assert_int_equal(login_share_find(a, &f), LOGIN_OURS);
	login_share_granted(a, SPAN("A"), 0, T0);
	assert_int_equal(keys_n(), 0);
	has_to_log_in(b, finding(T0));
	login_share_free(a);
	login_share_free(b);
}

/* Times in the ring, in seconds: what is left, or half a day at most. */
static void the_ring_forgets_in_time(void **state)
{
	const struct {
		int64_t lifetime_ms;
		unsigned timeout_s;
	} row[] = {{1, 1}, {1000, 1}, {59001, 60}, {-1, 43200},
		   {INT64_C(10) * 86400000, 43200}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct login_share *a = another();
		struct login_find f = finding(T0);

		f.allowed = 0;
		assert_true(login_share_turn(a, false));
		assert_int_equal(login_share_find(a, &f), LOGIN_OURS);
		login_share_granted(a, SPAN("A"), row[i].lifetime_ms, T0);
		check_row(keys[0].timeout_s == row[i].timeout_s, "%zu", i);
		login_share_free(a);
	}
}

static void without_a_ring_all_log_in_by_turns(void **state)
{
	struct login_share *a, *b;
	struct login_find f = finding(T0 + 2);

	(void)state;
	edc.credential.share = SHARE_LIMIT;
	a = another();
	b = another();
	logs_in(a, "A", T0);
	assert_int_equal(keys_n(), 0);
	logs_in(b, "B", T0 + 1);
	logs_in(a, "C", T0 + 2);
	assert_true(login_share_turn(b, false));
	assert_int_equal(login_share_find(b, &f), LOGIN_LATER);
	assert_null(login_share_trouble(b));
	login_share_free(a);
	login_share_free(b);
}

/* ---- the limit ----------------------------------------------------------- */

static void a_minute_is_everybodys(void **state)
{
	struct login_share *s[3];
	struct login_find f;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(s); i++)
		s[i] = another();
	/* refused ones count as well */
	for (int i = 0; i < 3; i++)
		has_to_log_in(s[i], finding(T0 + i * 100));
	for (int i = 0; i < 3; i++) {
		f = finding(T0 + MINUTE - 1 - i);
		assert_true(login_share_turn(s[i], false));
		assert_int_equal(login_share_find(s[i], &f), LOGIN_LATER);
		assert_int_equal(f.wait_ms, 1 + i);
	}
	has_to_log_in(s[0], finding(T0 + MINUTE));
	f = finding(T0 + MINUTE);
	assert_true(login_share_turn(s[1], false));
	assert_int_equal(login_share_find(s[1], &f), LOGIN_LATER);
	assert_int_equal(f.wait_ms, 100);
	for (size_t i = 0; i < ARRAY_SIZE(s); i++)
		login_share_free(s[i]);
}

static void sixty_a_minute_and_no_more(void **state)
{
	struct login_record r = {0};
	struct buf text = BUF_INIT;

	(void)state;
	text_set(r.token, sizeof(r.token), span_of(NAME));
	for (int i = 0; i < LOG_INS_MAX; i++)
		assert_int_equal(login_record_admit(&r, LOG_INS_MAX, T0 + i),
				 0);
	assert_int_equal(login_record_admit(&r, LOG_INS_MAX, T0 + 100),
			 MINUTE - 100);
	assert_int_equal(login_record_admit(&r, 5, T0 + 100),
			 MINUTE - 100 + LOG_INS_MAX - 5);
	/* as many as anybody likes: the oldest is forgotten */
	assert_int_equal(login_record_admit(&r, 0, T0 + 100), 0);
	assert_int_equal(r.n, LOG_INS_MAX);
	login_record_write(&r, SPAN(BOOT), &text);
	assert_true(text.len <= LOGIN_RECORD_BYTES);
	buf_release(&text);
}

/* ---- foreign bytes ------------------------------------------------------- */

#define HEAD "edcsync log-ins 1\nboot " BOOT "\n"

static void records_are_right_or_nothing(void **state)
{
	static const struct {
		const char *text;
		bool ok;
	} row[] = {
		{HEAD "token -\nend\n", true},
		{HEAD "token " NAME "\nat 1\nat 1\nat 5000000\nend\n", true},
		{"", false},
		{HEAD, false},
		{HEAD "token -\n", false},
		{HEAD "token -\nend\nend\n", false},
		{HEAD "token -\nat 2\nat 1\nend\n", false},
		{HEAD "token -\nat 5000001\nend\n", false},
		{HEAD "token -\nat -1\nend\n", false},
		{HEAD "token -\nat \nend\n", false},
		{HEAD "token -\nat 99999999999999999999\nend\n", false},
		{HEAD "token " NAME "0\nend\n", false},
		{HEAD "token ../../../../etc/shadow0000000000\nend\n", false},
		{HEAD "token 0011\nend\n", false},
		{"edcsync log-ins 2\nboot " BOOT "\ntoken -\nend\n", false},
		{"edcsync log-ins 1\nboot 0b2c9a52-64a7-4f0f-8e25-0000000000"
		 "02\ntoken -\nend\n", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct login_record r;

		check_row(login_record_read(span_of(row[i].text), SPAN(BOOT),
					    T0, &r) == row[i].ok, "%zu", i);
		check_row(row[i].ok || (r.n == 0 && !r.token[0]), "%zu", i);
	}
}

static void records_hold_sixty_times(void **state)
{
	struct buf text = BUF_INIT;
	struct login_record r;

	(void)state;
	buf_adds(&text, HEAD "token -\n");
	for (int i = 0; i < LOG_INS_MAX; i++)
		buf_adds(&text, "at 1\n");
	buf_adds(&text, "end\n");
	assert_true(login_record_read(buf_span(&text), SPAN(BOOT), T0, &r));
	assert_int_equal(r.n, LOG_INS_MAX);
	text.len -= 4;
	buf_adds(&text, "at 1\nend\n");
	assert_false(login_record_read(buf_span(&text), SPAN(BOOT), T0, &r));
	buf_release(&text);
}

#define MAC "000102030405060708090a0b0c0d0e0f" \
	"101112131415161718191a1b1c1d1e1f"

static void tokens_are_right_or_nothing(void **state)
{
	static const struct {
		const char *text;
		bool ok;
	} row[] = {
		{"edcsync token 1 " MAC " 5000000 60000\nabc", true},
		{"edcsync token 1 " MAC " 1 -\nabc", true},
		{"edcsync token 1 " MAC " 1 0\nabc", false},
		{"edcsync token 1 " MAC " 5000001 -\nabc", false},
		{"edcsync token 1 " MAC " 1 -\n", false},
		{"edcsync token 1 " MAC " 1 -\na b", false},
		{"edcsync token 1 " MAC " 1 -\nabc\n", false},
		{"edcsync token 1 " MAC " 1 -\nabc\r\nX-Evil: 1", false},
		{"edcsync token 1 " MAC "0 1 -\nabc", false},
		{"edcsync token 1 0011 1 -\nabc", false},
		{"edcsync token 2 " MAC " 1 -\nabc", false},
		{"edcsync token 1 ", false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct login_token t;
		struct buf again = BUF_INIT;
		bool ok = login_token_read(span_of(row[i].text), T0, &t);

		check_row(ok == row[i].ok, "%zu", i);
		if (!ok)
			continue;
		assert_true(span_is(t.token, "abc"));
		assert_true(login_token_write(&t, &again));
		assert_string_equal(buf_text(&again), row[i].text);
		buf_wipe(&again);
	}
}

/* Also as what others left in the file that we meet at. */
static void spoil(const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, HEAD "token -\n%0*d", 3 * LOGIN_RECORD_BYTES, 0);
	fclose(f);
}

static void a_spoiled_file_costs_one_log_in(void **state)
{
	struct login_share *a = another(), *b = another();

	(void)state;
	logs_in(a, "A", T0);
	each_file(spoil);
	logs_in(b, "B", T0);
	finds(a, "B", T0);
	login_share_free(a);
	login_share_free(b);
}

/* ---- folders and files that are not ours --------------------------------- */

static void open_to_others(const char *path)
{
	assert_int_equal(chmod(path, 0644), 0);
}

static void second_name(const char *path)
{
	char name[420];

	snprintf(name, sizeof(name), "%s-link", path);
	assert_int_equal(link(path, name), 0);
}

static void as_link(const char *path)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
}

static void as_pipe(const char *path)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void logs_in_alone(void)
{
	struct login_share *s = another();
	struct login_find f = finding(T0);

	assert_true(login_share_turn(s, false));
	assert_int_equal(login_share_find(s, &f), LOGIN_OURS);
	login_share_granted(s, SPAN("A"), MINUTE, T0);
	assert_int_equal(keys_n(), 0);
	assert_non_null(login_share_trouble(s));
	assert_null(login_share_trouble(s));
	login_share_free(s);
}

static void what_is_not_ours_alone_is_not_used(void **state)
{
	void (*const made[])(const char *) = {open_to_others, second_name,
					      as_link, as_pipe};

	struct login_share *s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		s = another();
		logs_in(s, "A", T0);
		login_share_free(s);
		each_file(made[i]);
		logs_in_alone();
		each_file(take_away);
	}
	assert_int_equal(chmod(folder, 0750), 0);
	s = another();
	has_to_log_in(s, finding(T0));
	assert_non_null(login_share_trouble(s));
	assert_int_equal(chmod(folder, 0700), 0);
	/* mended, it is used by those who had no use for it */
	logs_in(s, "A", T0);
	assert_int_equal(keys_n(), 1);
	login_share_free(s);
}

/* ---- who is whom --------------------------------------------------------- */

static void accounts_differ_in_what_matters(void **state)
{
	struct endpoint_config e[8];
	sha256_hex digest[8];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(e); i++)
		e[i] = edc;
	e[1].credential.user = (char *)"v";
	e[2].credential.account = (char *)"7";
	e[3].base_url = (char *)"https://other.example";
	e[4].credential.token_url = (char *)"https://v.example/auth";
	e[5].client_cert_file = (char *)"/x.pem";
	e[6].credential.kind = CRED_OAUTH2;
	e[7].credential.scope = (char *)"7";
	for (size_t i = 0; i < ARRAY_SIZE(e); i++) {
		login_account(&e[i], digest[i]);
		for (size_t j = 0; j < i; j++)
			check_row(strcmp(digest[i], digest[j]), "%zu %zu", i,
				  j);
	}
	/* what does not */
	e[0].name = (char *)"another";
	e[0].credential.secret_file = (char *)"/secret";
	login_account(&e[0], digest[1]);
	assert_string_equal(digest[0], digest[1]);
}

/* ---- the kernel's -------------------------------------------------------- */

static void the_kernel_keeps_it(void **state)
{
	const struct login_ring *r = &login_ring_kernel;
	struct buf payload = BUF_INIT;
	char name[80];
	int32_t key;
	int status;
	pid_t pid;

	(void)state;
	snprintf(name, sizeof(name), "edcsync:test:%s", folder);
	assert_int_equal(r->find(name), 0);
	key = r->put(name, SPAN("payload"), 60);
	if (!key) {
		print_message("no key ring here: not tried\n");
		return;
	}
	assert_int_equal(r->find(name), key);
	assert_false(r->get(key, 6, &payload));
	/* in another process */
	pid = fork();
	if (pid == 0) {
		bool same = r->find(name) == key && r->get(key, 7, &payload) &&
			    span_is(buf_span(&payload), "payload");

		r->drop(key);
		buf_wipe(&payload);
		_exit(same ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(r->find(name), 0);
	assert_false(r->get(key, 100, &payload));
	r->drop(key);			/* twice is fine */
	buf_wipe(&payload);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(one_at_a_time),
		IN_FOLDER(another_account_is_another_turn),
		IN_FOLDER(a_frozen_one_is_passed_over),
		IN_FOLDER(the_dead_hold_nothing),
		IN_FOLDER(a_file_that_was_taken_away_is_made_anew),
		IN_FOLDER(one_logs_in_and_all_are_in),
		IN_FOLDER(one_refusal_is_one_log_in),
		IN_FOLDER(a_renewal_is_one_log_in),
		IN_FOLDER(another_secret_finds_nothing),
		IN_FOLDER(an_idle_one_serves_if_others_use_it),
		IN_FOLDER(the_last_user_takes_it_away),
		IN_FOLDER(one_for_one_use_is_not_shared),
		IN_FOLDER(the_ring_forgets_in_time),
		IN_FOLDER(without_a_ring_all_log_in_by_turns),
		IN_FOLDER(a_minute_is_everybodys),
		cmocka_unit_test(sixty_a_minute_and_no_more),
		cmocka_unit_test(records_are_right_or_nothing),
		cmocka_unit_test(records_hold_sixty_times),
		cmocka_unit_test(tokens_are_right_or_nothing),
		IN_FOLDER(a_spoiled_file_costs_one_log_in),
		IN_FOLDER(what_is_not_ours_alone_is_not_used),
		IN_FOLDER(accounts_differ_in_what_matters),
		IN_FOLDER(the_kernel_keeps_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
