/* test_setup.c - finding and opening: configuration, profiles, secrets. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/setup.h"

static char dir[64];

static void path_of(char out[160], const char *name)
{
	snprintf(out, 160, "%s/%s", dir, name);
}

static void put(const char *name, const char *text, mode_t mode)
{
	char path[160];
	int fd;

	path_of(path, name);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)),
			 (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void folder(const char *name)
{
	char path[160];

	path_of(path, name);
	assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
}

static const char profile[] =
	"{\"profile\":\"mine\",\"version\":1,\"send\":{\"path\":\"/records\"},"
	"\"idempotency\":{\"modes\":[\"key\",\"none\"],\"default\":\"key\"},"
	"\"rules\":[]}";
static const char config[] =
	"// a comment\n{\"store\":\"data/edc.db\",\"endpoints\":{\"a\":{"
	"\"profile\":\"mine\",\"base_url\":\"https://edc.example.org/api\","
	"\"ca_file\":\"ca.pem\",\"credential\":{\"kind\":"
	"\"oauth2_client_credentials\",\"token_url\":"
	"\"https://edc.example.org/token\",\"client_id\":\"c\","
	"\"client_secret_file\":\"secret\"}}}}";

/* What is expected to be said on stderr is not for the log of the tests. */
static int hush(void)
{
	int old = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);

	fflush(stderr);
	dup2(null, STDERR_FILENO);
	close(null);
	return old;
}

static void unhush(int old)
{
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	close(old);
}

static int start(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/edcsync-setup-XXXXXX");
	assert_non_null(mkdtemp(dir));
	folder("edcsync");
	folder("edcsync/profiles");
	folder("empty");
	folder("creds");
	put("edcsync/profiles/mine.json", profile, 0644);
	put("edcsync/edcsync.json", config, 0644);
	return 0;
}

static int end(void **state)
{
	static const char *const names[] = {
		"edcsync/profiles/mine.json", "edcsync/edcsync.json",
		"edcsync/bad.json", "secret", "link", "creds/secret",
		"audit.key", "edcsync/noprofile.json"
	};
	static const char *const folders[] = {"edcsync/profiles", "edcsync",
					      "empty", "creds", "."};
	char path[160];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		path_of(path, names[i]);
		unlink(path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		path_of(path, folders[i]);
		rmdir(path);
	}
	rmdir(dir);
	return 0;
}

static void ends_with(const char *text, const char *tail)
{
	size_t n = strlen(text), m = strlen(tail);

	check_row(n >= m && !strcmp(text + n - m, tail), "%s", text);
}

static void test_config_of_the_person(void **state)
{
	struct setup s;
	const struct endpoint_config *e;

	(void)state;
	setenv("XDG_CONFIG_HOME", dir, 1);
	setup_init(&s);
	assert_int_equal(setup_config(&s, NULL, NULL, true), 0);
	ends_with(s.config_file, "/edcsync/edcsync.json");
	ends_with(s.store_path, "/edcsync/data/edc.db");
	assert_int_equal(s.key_file[0], '/');
	assert_int_equal(s.anchor_file[0], '/');
	e = config_endpoint(s.config, SPAN("a"));
	assert_non_null(e);
	assert_string_equal(e->profile->name, "mine");
	ends_with(e->credential.secret_file, "/edcsync/secret");
	assert_int_equal(e->credential.secret_file[0], '/');
	assert_int_equal(e->ca_file[0], '/');
	setup_release(&s);
}

/* XDG: relative means unset; nothing found is an error only when needed. */
static void test_no_config(void **state)
{
	struct setup s;
	char path[160];
	int old;

	(void)state;
	path_of(path, "empty");
	setenv("HOME", path, 1);
	setenv("XDG_CONFIG_HOME", "relative", 1);
	setenv("XDG_CONFIG_DIRS", "relative:also", 1);
	setup_init(&s);
	assert_int_equal(setup_config(&s, NULL, NULL, false), 0);
	assert_null(s.config);
	assert_null(s.store_path);
	old = hush();
	assert_int_equal(setup_config(&s, NULL, NULL, true), 78);
	assert_int_equal(setup_open_view(&s), 78);
	unhush(old);
	setup_release(&s);
	path_of(path, "");
	setenv("XDG_CONFIG_DIRS", path, 1);
	setup_init(&s);
	assert_int_equal(setup_config(&s, NULL, NULL, true), 0);
	setup_release(&s);
}

static void test_store_alone(void **state)
{
	struct setup s;
	char path[160];
	int old;

	(void)state;
	path_of(path, "empty");
	setenv("HOME", path, 1);
	unsetenv("XDG_CONFIG_HOME");
	setenv("XDG_CONFIG_DIRS", "none", 1);
	path_of(path, "empty/x.db");
	setup_init(&s);
	assert_int_equal(setup_config(&s, NULL, path, false), 0);
	assert_string_equal(s.store_path, path);
	ends_with(s.key_file, "/empty/audit.key");
	ends_with(s.anchor_file, "/empty/anchors.log");
	old = hush();
	assert_int_equal(setup_open_view(&s), 66);
	assert_int_equal(setup_open_store(&s, false), 66);
	assert_int_equal(access(path, F_OK), -1);
	put("empty/x.db", "", 0600);
	assert_int_equal(setup_open_view(&s), 66);
	assert_null(s.view);
	unhush(old);
	unlink(path);
	setup_release(&s);
}

/* Another store than the configuration's keeps its own key and anchors. */
static void test_store_beside_config(void **state)
{
	struct setup s;
	char path[160];

	(void)state;
	setenv("XDG_CONFIG_HOME", dir, 1);
	path_of(path, "other.db");
	setup_init(&s);
	assert_int_equal(setup_config(&s, NULL, path, false), 0);
	ends_with(s.key_file, "/edcsync/audit.key");
	setup_release(&s);
	put("audit.key", "x", 0600);
	setup_init(&s);
	assert_int_equal(setup_config(&s, NULL, path, false), 0);
	assert_string_equal(s.store_path, path);
	path_of(path, "audit.key");
	assert_string_equal(s.key_file, path);
	setup_release(&s);
}

static void test_mistakes_stop_everything(void **state)
{
	struct setup s;
	char path[160];
	int old;

	(void)state;
	put("edcsync/bad.json", "{\"stor\":1}", 0644);
	put("edcsync/noprofile.json", "{\"endpoints\":{\"a\":{\"profile\":"
	    "\"nosuch\",\"base_url\":\"https://x.example\"}}}", 0644);
	old = hush();
	setup_init(&s);
	path_of(path, "edcsync/bad.json");
	assert_int_equal(setup_config(&s, path, NULL, true), 78);
	setup_release(&s);
	path_of(path, "edcsync/noprofile.json");
	assert_int_equal(setup_config(&s, path, NULL, true), 78);
	setup_release(&s);
	path_of(path, "edcsync/nothing.json");
	assert_int_equal(setup_config(&s, path, NULL, false), 78);
	setup_release(&s);
	unhush(old);
}

static void secret(const char *name, mode_t mode, const char *text,
		   const char *want)
{
	struct buf out = BUF_INIT, error = BUF_INIT;
	char path[160];
	bool good;

	put(name, text, mode);
	path_of(path, name);
	good = setup_read_secret(path, &out, &error);
	check_row(good == (want != NULL), "%s: %s", name, buf_text(&error));
	if (want)
		assert_string_equal(buf_text(&out), want);
	else
		assert_true(error.len > 0 && !out.len);
	/* Nothing of the content is in the words. */
	assert_null(strstr(buf_text(&error), "hunter2"));
	buf_wipe(&out);
	buf_release(&error);
}

static void test_secrets(void **state)
{
	struct buf out = BUF_INIT, error = BUF_INIT;
	char path[160], link[160];

	(void)state;
	unsetenv("CREDENTIALS_DIRECTORY");
	secret("secret", 0600, "hunter2\n", "hunter2");
	secret("secret", 0400, "hunter2\r\n", "hunter2");
	secret("secret", 0600, "hunter2 \n\n", "hunter2 \n");
	secret("secret", 0640, "hunter2", NULL);
	secret("secret", 0604, "hunter2", NULL);
	secret("secret", 0600, "", NULL);
	secret("secret", 0600, "\n", NULL);
	put("secret", "hunter2", 0600);
	path_of(path, "secret");
	path_of(link, "link");
	assert_int_equal(symlink(path, link), 0);
	assert_false(setup_read_secret(link, &out, &error));
	assert_non_null(strstr(buf_text(&error), "link"));
	buf_clear(&error);
	assert_false(setup_read_secret(dir, &out, &error));
	buf_clear(&error);
	/* The service manager's folder comes first. */
	put("creds/secret", "from systemd", 0440);
	path_of(link, "creds");
	setenv("CREDENTIALS_DIRECTORY", link, 1);
	assert_true(setup_read_secret(path, &out, &error));
	assert_string_equal(buf_text(&out), "from systemd");
	unsetenv("CREDENTIALS_DIRECTORY");
	buf_wipe(&out);
	buf_release(&error);
}

static void test_files_are_bounded(void **state)
{
	struct buf out = BUF_INIT;
	char path[160];

	(void)state;
	put("secret", "0123456789", 0600);
	path_of(path, "secret");
	assert_true(setup_read_file(path, 10, &out));
	assert_int_equal(out.len, 10);
	buf_clear(&out);
	assert_false(setup_read_file(path, 9, &out));
	assert_int_equal(errno, EFBIG);
	assert_false(setup_read_file(dir, 10, &out));
	assert_int_equal(errno, EISDIR);
	path_of(path, "no");
	assert_false(setup_read_file(path, 10, &out));
	assert_int_equal(errno, ENOENT);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config_of_the_person),
		cmocka_unit_test(test_no_config),
		cmocka_unit_test(test_store_alone),
		cmocka_unit_test(test_store_beside_config),
		cmocka_unit_test(test_mistakes_stop_everything),
		cmocka_unit_test(test_secrets),
		cmocka_unit_test(test_files_are_bounded),
	};

	return cmocka_run_group_tests(tests, start, end);
}
