/* Folders, configuration and life of a scene; see scene.h. */
#define _GNU_SOURCE
#include "scene_priv.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "store/audit.h"
#include "store/lock.h"

/*
 * In place of the C library's: every store has the same id, which goes into
 * correlation ids and the trail, and every machine has the same name. Keys and
 * salts are libcrypto's own and stay secret.
 */
static uint64_t drawn;

ssize_t getrandom(void *p, size_t n, unsigned flags)
{
	unsigned char *byte = p;

	(void)flags;
	for (size_t i = 0; i < n; i++) {
		drawn = drawn * UINT64_C(6364136223846793005) + 1442695;
		byte[i] = (unsigned char)(drawn >> 40);
	}
	return (ssize_t)n;
}

int uname(struct utsname *u)
{
	memset(u, 0, sizeof(*u));
	snprintf(u->sysname, sizeof(u->sysname), "Linux");
	snprintf(u->nodename, sizeof(u->nodename), "edc1");
	return 0;
}

int gethostname(char *name, size_t n)
{
	snprintf(name, n, "edc1");
	return 0;
}

const char *const place_names[PLACES] = {
	"rave-prod", "veeva-eu", "oracle-legacy", "rave-uat",
};

/* Rave of this study: deduplicates by our key, cannot be asked for it. */
static const char rave_web[] =
	"{\"profile\": \"rave-web\", \"version\": 3,"
	" \"title\": \"Rave Web Services of the study\",\n"
	" \"send\": {\"path\": \"/records\", \"headers\":"
	" {\"Idempotency-Key\": \"{key}\"}},\n"
	" \"idempotency\": {\"modes\": [\"key\"], \"default\": \"key\"},\n"
	" \"rules\": [\n"
	"  {\"name\": \"visit-locked\", \"if\": {\"json\": \"/code\","
	" \"in\": [\"VISIT_LOCKED\"]}, \"verdict\": \"reject\",\n"
	"   \"say\": \"The visit is locked at the vendor.\",\n"
	"   \"do\": \"Have it unlocked there, then replay.\"},\n"
	"  {\"name\": \"unknown-form\", \"if\": {\"json\": \"/code\","
	" \"in\": [\"FORM_NOT_IN_BUILD\"]}, \"verdict\": \"reject\",\n"
	"   \"say\": \"The build of the study has no such form.\",\n"
	"   \"do\": \"Correct the mapping, then edit and send.\"},\n"
	"  {\"name\": \"queued\", \"if\": {\"json\": \"/status\","
	" \"in\": [\"queued\"]}, \"verdict\": \"poll\"}\n"
	" ],\n"
	" \"poll\": {\"url\": \"{base_url}/jobs/{job_id}\","
	" \"job_id\": [{\"json\": \"/batch_id\"}],"
	" \"word\": {\"json\": \"/status\"},"
	" \"done\": [\"completed\"], \"failed\": [\"failed\"],\n"
	"  \"items\": \"/items\", \"item_status\": \"/status\","
	" \"item_failed\": [\"failed\"],\n"
	"  \"result\": {\"if\": {\"json\": \"/log\", \"exists\": true},"
	" \"from\": {\"json\": \"/log\"}, \"items\": [{\"csv\": \",\","
	" \"status\": \"Outcome\", \"failed\": [\"Failed\"],"
	" \"taken\": [\"Inserted\"]}]}},\n"
	" \"correlation\": {\"out\": [\"X-Correlation-ID\"],"
	" \"in\": [{\"header\": \"X-Request-ID\"}]},\n"
	" \"code\": [{\"json\": \"/code\"}],\n"
	" \"show\": [\"/code\", \"/error\", \"/status\"]}\n";

/* A platform that puts records in their place and can be asked for them. */
static const char veeva_vault[] =
	"{\"profile\": \"veeva-vault\", \"version\": 2,"
	" \"title\": \"Veeva Vault of the study\","
	" \"extends\": \"generic-rest\",\n"
	" \"send\": {\"content_type\": \"application/json\","
	" \"method\": \"PUT\", \"path\": \"/records\","
	" \"headers\": {\"Idempotency-Key\": null,"
	" \"X-Idempotency-Key\": null}}}\n";

static const char *const profile_names[] = {
	"generic-rest", "rave-web", "veeva-vault",
};

/* Title and contact of veeva-eu can be hostile. */
static const char configuration[] =
	"// The study of the screen tests; nothing of it exists.\n"
	"{\n"
	" \"store\": \"edc.db\",\n"
	" \"audit\": {\"key_file\": \"audit.key\","
	" \"anchor_file\": \"anchors.log\"},\n"
	" \"policy\": {\"sign\": [\"discard\"], \"sign_bulk_over\": 50},\n"
	" \"endpoints\": {\n"
	"  \"rave-prod\": {\"title\": \"Rave production\","
	" \"environment\": \"production\", \"profile\": \"rave-web\",\n"
	"   \"studies\": [\"ONC-301\", \"ONC-205\"],\n"
	"   \"base_url\": \"https://rave.example.org/api\","
	" \"max_in_flight\": 16, \"rate\": {\"per_second\": 40},\n"
	"   \"urgent\": \"form:AE\", \"repeating_forms\": [\"AE\"]},\n"
	"  \"veeva-eu\": {\"title\": \"%s\","
	" \"environment\": \"production\", \"profile\": \"veeva-vault\",\n"
	"   \"studies\": [\"ONC-301\"],\n"
	"   \"base_url\": \"https://veeva.example.org/api\","
	" \"idempotency\": \"natural\", \"max_in_flight\": 64,\n"
	"   \"retry\": {\"max_attempts\": 2},"
	" \"urgent\": \"form:AE\", \"repeating_forms\": [\"AE\"],\n"
	"   \"contact\": \"%s\", \"runbook\":"
	" \"https://wiki.example.org/veeva\"},\n"
	"  \"oracle-legacy\": {\"title\": \"Oracle, until it is gone\","
	" \"environment\": \"production\", \"profile\": \"generic-rest\",\n"
	"   \"base_url\": \"https://oracle.example.org/api\","
	" \"idempotency\": \"key\","
	" \"circuit\": {\"open_wait_ms\": 36000000},\n"
	"   \"credential\": {\"kind\": \"oauth2_client_credentials\","
	" \"token_url\": \"https://oracle.example.org/token\",\n"
	"    \"client_id\": \"edc-svc\","
	" \"client_secret_file\": \"oracle.secret\"},\n"
	"   \"contact\": \"Vendor desk +49 30 555 0100\"},\n"
	"  \"rave-uat\": {\"title\": \"Rave, for trying\","
	" \"environment\": \"test\", \"profile\": \"rave-web\",\n"
	"   \"base_url\": \"https://rave-uat.example.org/api\"}\n"
	" }\n"
	"}\n";

void scene_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("scene: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}

static void set_paths(struct scene *s)
{
	snprintf(s->db, sizeof(s->db), "%s/edc.db", s->dir);
	snprintf(s->key, sizeof(s->key), "%s/audit.key", s->dir);
	snprintf(s->anchors, sizeof(s->anchors), "%s/anchors.log", s->dir);
	snprintf(s->file, sizeof(s->file), "%s/edcsync.json", s->dir);
}

static void make_dir(struct scene *s)
{
	snprintf(s->dir, sizeof(s->dir), "/tmp/edcsync-scene-XXXXXX");
	if (!mkdtemp(s->dir))
		scene_fail("mkdtemp");
	set_paths(s);
}

static void write_file(const char *path, struct span text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n ||
	    close(fd))
		scene_fail("cannot write %s", path);
}

static void read_file(const char *path, struct buf *out)
{
	char bytes[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		scene_fail("cannot read %s", path);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		buf_add(out, bytes, (size_t)n);
	close(fd);
}

static void no_findings(const struct findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		fprintf(stderr, "%s:%d: %s\n", f->v[i].file, f->v[i].line,
			f->v[i].text);
	if (f->errors)
		scene_fail("a configuration with mistakes");
}

/* A text as it stands in JSON: everything that is not plain ASCII by \u, so
 * that a parser of any strictness takes it. */
static void json_text(struct buf *out, const char *text)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == '"' || *p == '\\')
			buf_addf(out, "\\u%04x", (unsigned char)*p);
		else
			buf_addc(out, *p);
}

static void make_config(struct scene *s)
{
	struct buf text = BUF_INIT, title = BUF_INIT, contact = BUF_INIT;
	char path[128];
	bool hostile = s->kind == SCENE_HOSTILE;

	json_text(&title, hostile ? scene_attack : "Veeva Vault, Europe");
	json_text(&contact, hostile ? scene_attack :
		  "Vault desk +49 30 555 0199");
	buf_addf(&text, configuration, buf_text(&title), buf_text(&contact));
	write_file(s->file, buf_span(&text));
	snprintf(path, sizeof(path), "%s/profiles", s->dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/profiles/rave-web.json", s->dir);
	write_file(path, SPAN(rave_web));
	snprintf(path, sizeof(path), "%s/profiles/veeva-vault.json", s->dir);
	write_file(path, SPAN(veeva_vault));
	buf_release(&text);
	buf_release(&title);
	buf_release(&contact);
}

static bool find_profile(void *ctx, const char *name, struct span *text)
{
	const struct scene *s = ctx;

	*text = buf_span(&s->profile_text[0]);
	return !strcmp(name, profile_names[0]);
}

static struct profile *profile_of(struct scene *s, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(profile_names); i++)
		if (!strcmp(name, profile_names[i]))
			return s->profile[i];
	scene_fail("no profile %s", name);
}

/* What setup does in the program: from the files, bound. */
static void read_config(struct scene *s)
{
	struct findings f = {0};
	struct buf text = BUF_INIT;
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(profile_names); i++) {
		snprintf(path, sizeof(path), "%s/%sprofiles/%s.json",
			 i ? s->dir : SRCDIR, i ? "" : "share/",
			 profile_names[i]);
		read_file(path, &s->profile_text[i]);
		s->profile[i] = profile_load(buf_span(&s->profile_text[i]),
					     path, find_profile, s, &f);
		no_findings(&f);
	}
	read_file(s->file, &text);
	s->config = config_parse(buf_span(&text), s->file, &f);
	no_findings(&f);
	for (size_t i = 0; i < s->config->endpoints; i++)
		config_bind(s->config, i, profile_of(s,
			    s->config->endpoint[i].profile_name), &f);
	no_findings(&f);
	findings_release(&f);
	buf_release(&text);
}

static void open_store(struct scene *s)
{
	struct store_options o = {.path = s->db, .key_file = s->key,
		.anchor_file = s->anchors, .anchor_every_ms = 60000,
		.program = "edcsync 0.1.0", .create = true,
		.now_ms = s->now_ms,
		.config_sha256 = s->config->sha256};
	struct buf error = BUF_INIT;

	if (store_sqlite_open(&o, &s->store, &error))
		scene_fail("%s", buf_text(&error));
	buf_release(&error);
}

void scene_make(struct scene *s, enum scene_kind kind)
{
	memset(s, 0, sizeof(*s));
	s->kind = kind;
	s->random = 42;
	drawn = 1;
	setenv("TZ", SCENE_ZONE, 1);
	tzset();
	make_dir(s);
	make_config(s);
	read_config(s);
	at(s, "02:00:00");
	open_store(s);
	if (kind != SCENE_EMPTY) {
		scene_people(s);
		scene_study(s);
	}
	if (kind == SCENE_HOSTILE)
		scene_hostile(s);
	audit_anchor(s->store, true, s->now_ms);
	store_close(s->store);
	s->store = NULL;
}

static void copy_file(const char *from, const char *to, const char *name)
{
	struct buf bytes = BUF_INIT;
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", from, name);
	read_file(path, &bytes);
	snprintf(path, sizeof(path), "%s/%s", to, name);
	write_file(path, buf_span(&bytes));
	buf_release(&bytes);
}

/* Calls for each plain file of the folder, and of the one below it. */
static void each_file(const char *dir, const char *other,
		      void (*call)(const char *dir, const char *other,
				   const char *name))
{
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d)))
		if (e->d_type == DT_REG)
			call(dir, other, e->d_name);
	if (d)
		closedir(d);
}

static void remove_file(const char *dir, const char *other, const char *name)
{
	char path[400];

	(void)other;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

void scene_copy(struct scene *to, const struct scene *from)
{
	char a[128], b[128];

	memset(to, 0, sizeof(*to));
	to->kind = from->kind;
	make_dir(to);
	snprintf(a, sizeof(a), "%s/profiles", from->dir);
	snprintf(b, sizeof(b), "%s/profiles", to->dir);
	mkdir(b, 0700);
	each_file(from->dir, to->dir, copy_file);
	each_file(a, b, copy_file);
	read_config(to);
}

/* The place where the holder says who it is is for people only: the lock
 * itself is the test's, the words are the scene's. */
void scene_engine(struct scene *s)
{
	char path[128], line[96], holder[128];
	int fd;

	s->engine = engine_lock_take(s->db, "service", holder);
	if (!s->engine)
		scene_fail("the engine's lock: %s", holder);
	snprintf(path, sizeof(path), "%s-engine", s->db);
	snprintf(line, sizeof(line), "%-63s", "811 edc1 1795900000000 service");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, line, 63, 0) != 63 || close(fd))
		scene_fail("cannot write %s", path);
}

void scene_end(struct scene *s)
{
	char sub[128];

	if (s->engine)
		engine_lock_drop(s->engine);
	config_free(s->config);
	for (size_t i = 0; i < ARRAY_SIZE(profile_names); i++) {
		profile_free(s->profile[i]);
		buf_release(&s->profile_text[i]);
	}
	if (s->dir[0]) {
		snprintf(sub, sizeof(sub), "%s/profiles", s->dir);
		each_file(sub, NULL, remove_file);
		rmdir(sub);
		each_file(s->dir, NULL, remove_file);
		rmdir(s->dir);
	}
	memset(s, 0, sizeof(*s));
}
