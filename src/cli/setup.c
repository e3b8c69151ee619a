/* setup.c - see setup.h. Configuration, profiles, stores. */
#include "config.h"

#include "cli/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "core/utf8.h"
#include "store/audit.h"

#ifndef EDCSYNC_SYSCONFDIR
#define EDCSYNC_SYSCONFDIR "/etc"
#endif

#define STORE_NAME "edcsync.db"
#define KEY_NAME "audit.key"
#define ANCHOR_NAME "anchors.log"

void setup_init(struct setup *setup)
{
	memset(setup, 0, sizeof(*setup));
}

void setup_release(struct setup *setup)
{
	if (setup->view)
		view_close(setup->view);
	if (setup->store)
		setup_store_close(setup->store);
	config_free(setup->config);
	for (size_t i = 0; i < setup->profiles_n; i++)
		profile_free(setup->profiles[i]);
	free(setup->profiles);
	for (size_t i = 0; i < setup->profile_texts_n; i++)
		buf_release(&setup->profile_texts[i]);
	free(setup->profile_texts);
	free(setup->rules);
	buf_release(&setup->config_text);
	free(setup->config_file);
	free(setup->store_path);
	free(setup->key_file);
	free(setup->anchor_file);
	setup_init(setup);
}

/* "edcsync: text" on stderr, every byte of it visible. */
static int say(int code, const char *fmt, ...) PRINTF_LIKE(2, 3);
static int say(int code, const char *fmt, ...)
{
	struct buf raw = BUF_INIT, safe = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&raw, fmt, ap);
	va_end(ap);
	utf8_escape(&safe, buf_span(&raw), false);
	fprintf(stderr, "edcsync: %s\n", buf_text(&safe));
	buf_release(&raw);
	buf_release(&safe);
	return code;
}

static void say_findings(const struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *f = &findings->v[i];
		struct buf raw = BUF_INIT, safe = BUF_INIT;

		buf_adds(&raw, f->file);
		if (f->line)
			buf_addf(&raw, ":%d", f->line);
		buf_addf(&raw, ": %s%s", f->warning ? "warning: " : "",
			 f->text);
		utf8_escape(&safe, buf_span(&raw), false);
		fprintf(stderr, "%s\n", buf_text(&safe));
		buf_release(&raw);
		buf_release(&safe);
	}
}

/* Paths */

char *setup_path(const char *folder, const char *path)
{
	struct buf full = BUF_INIT;

	assert(folder && path);
	if (*path != '/') {
		buf_adds(&full, folder);
		if (!full.len || full.p[full.len - 1] != '/')
			buf_addc(&full, '/');
	}
	buf_adds(&full, path);
	return buf_detach(&full, NULL);
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/")
			     : xstrndup(path, (size_t)(slash - path));
}

static char *from_working_folder(const char *path)
{
	char *cwd, *full;

	if (*path == '/')
		return xstrdup(path);
	cwd = getcwd(NULL, 0);
	full = setup_path(cwd ? cwd : ".", path);
	free(cwd);
	return full;
}

static void make_absolute(char **path, const char *folder)
{
	char *full;

	if (!*path || **path == '/' || !**path)
		return;
	full = setup_path(folder, *path);
	free(*path);
	*path = full;
}

/* Finding the configuration */

/* A candidate: 1 taken, 0 not there, else an exit code. */
static int try_config(struct setup *setup, char *path)
{
	if (setup_read_file(path, LIMIT_CONFIG_BYTES, &setup->config_text)) {
		setup->config_file = path;
		return 1;
	}
	if (errno == ENOENT || errno == ENOTDIR) {
		free(path);
		return 0;
	}
	say(EX_CONFIG, "the configuration %s cannot be read: %s", path,
	    strerror(errno));
	free(path);
	return EX_CONFIG;
}

static int try_home(struct setup *setup)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	struct buf path = BUF_INIT;

	/* XDG: "must be absolute; relative ones are ignored". */
	if (xdg && *xdg == '/')
		buf_addf(&path, "%s/edcsync/edcsync.json", xdg);
	else if (home && *home == '/')
		buf_addf(&path, "%s/.config/edcsync/edcsync.json", home);
	else
		return 0;
	return try_config(setup, buf_detach(&path, NULL));
}

static int try_system(struct setup *setup)
{
	const char *dirs = getenv("XDG_CONFIG_DIRS");
	int result = 0;

	if (!dirs || !*dirs)
		dirs = "/etc/xdg";
	while (!result && *dirs) {
		size_t n = strcspn(dirs, ":");
		struct buf path = BUF_INIT;

		if (*dirs == '/') {
			buf_add(&path, dirs, n);
			buf_adds(&path, "/edcsync/edcsync.json");
			result = try_config(setup, buf_detach(&path, NULL));
		}
		dirs += n + (dirs[n] == ':');
	}
	return result ? result : try_config(setup,
		xstrdup(EDCSYNC_SYSCONFDIR "/edcsync/edcsync.json"));
}

static int find_config(struct setup *setup, const char *file)
{
	char *path;
	int result;

	if (file) {
		path = from_working_folder(file);
		result = try_config(setup, path);
		return result ? result
			      : say(EX_CONFIG, "the configuration %s does not "
				    "exist", file);
	}
	result = try_home(setup);
	return result ? result : try_system(setup);
}

/* Profiles */

static struct buf *keep_text(struct setup *setup)
{
	struct buf *text;

	setup->profile_texts = xrealloc(setup->profile_texts,
		(setup->profile_texts_n + 1) * sizeof(struct buf));
	text = &setup->profile_texts[setup->profile_texts_n++];
	*text = BUF_INIT;
	return text;
}

static bool read_profile(struct buf *text, char *path, char **where,
			 bool *trouble)
{
	bool found = setup_read_file(path, LIMIT_CONFIG_BYTES, text);

	if (found) {
		*where = path;
		return true;
	}
	if (errno != ENOENT && errno != ENOTDIR) {
		say(EX_CONFIG, "the profile %s cannot be read: %s", path,
		    strerror(errno));
		*trouble = true;
	}
	free(path);
	return false;
}

static bool read_compiled_in(struct buf *text, const char *name, char **where)
{
	struct buf path = BUF_INIT;
	const struct embedded *file;

	buf_addf(&path, "profiles/%s.json", name);
	file = embedded_find(buf_text(&path));
	if (file) {
		buf_add(text, file->p, file->n);
		*where = buf_detach(&path, NULL);
	}
	buf_release(&path);
	return file != NULL;
}

static bool plain_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

/* The text of a profile and where it was found (owned by the caller). */
static struct buf *find_profile(struct setup *setup, const char *name,
				char **where)
{
	char *folder = folder_of(setup->config_file ? setup->config_file
						    : "./x");
	struct buf *text = keep_text(setup), file = BUF_INIT;
	size_t n = strlen(name);
	bool trouble = false, found;

	*where = NULL;
	if (!plain_name(name) || (n > 5 && !strcmp(name + n - 5, ".json"))) {
		found = read_profile(text, setup_path(folder, name), where,
				     &trouble);
	} else {
		buf_addf(&file, "profiles/%s.json", name);
		found = read_profile(text, setup_path(folder, buf_text(&file)),
				     where, &trouble) ||
			(!trouble && read_profile(text,
				setup_path(EDCSYNC_DATADIR, buf_text(&file)),
				where, &trouble)) ||
			(!trouble && read_compiled_in(text, name, where));
	}
	if (!found && !trouble)
		say(EX_CONFIG, "there is no profile '%s': not in %s/profiles, "
		    "not in %s/profiles, and none of that name is compiled "
		    "in (see 'edcsync profile list')", name, folder,
		    EDCSYNC_DATADIR);
	buf_release(&file);
	free(folder);
	return found ? text : NULL;
}

bool setup_profile_text(void *ctx, const char *name, struct span *text)
{
	char *where;
	struct buf *found = find_profile(ctx, name, &where);

	free(where);
	if (found)
		*text = buf_span(found);
	return found != NULL;
}

static struct profile *known_profile(const struct setup *setup,
				     const char *name)
{
	for (size_t i = 0; i < setup->profiles_n; i++)
		if (!strcmp(setup->profiles[i]->name, name))
			return setup->profiles[i];
	return NULL;
}

const struct profile *setup_profile(struct setup *setup, const char *name)
{
	struct findings findings = {0};
	struct profile *profile = known_profile(setup, name);
	struct span text;
	struct buf *found;
	char *where;

	if (profile)
		return profile;
	found = find_profile(setup, name, &where);
	if (!found)
		return NULL;
	/* The list of texts may move while parents are added; bytes stay. */
	text = buf_span(found);
	profile = profile_load(text, where, setup_profile_text, setup,
			       &findings);
	say_findings(&findings);
	findings_release(&findings);
	free(where);
	if (!profile)
		return NULL;
	setup->profiles = xrealloc(setup->profiles,
		(setup->profiles_n + 1) * sizeof(*setup->profiles));
	setup->profiles[setup->profiles_n++] = profile;
	return profile;
}

const struct rules_text *setup_rules(struct setup *setup, size_t *n)
{
	size_t texts = setup->profile_texts_n;

	setup->rules = xrealloc(setup->rules,
				(texts + 1) * sizeof(*setup->rules));
	setup->rules[0] = (struct rules_text){
		"config", buf_span(&setup->config_text)};
	for (size_t i = 0; i < texts; i++)
		setup->rules[i + 1] = (struct rules_text){
			"profile", buf_span(&setup->profile_texts[i])};
	*n = texts + 1;
	return setup->rules;
}

/* Configuration into effect */

static void absolute_paths(struct setup *setup)
{
	char *folder = folder_of(setup->config_file);
	struct config *config = setup->config;

	make_absolute(&config->store, folder);
	make_absolute(&config->audit.key_file, folder);
	make_absolute(&config->audit.anchor_file, folder);
	for (size_t i = 0; i < config->endpoints; i++) {
		struct endpoint_config *e = &config->endpoint[i];
		struct cred_config *c = &e->credential;

		make_absolute(&e->ca_file, folder);
		make_absolute(&e->client_cert_file, folder);
		make_absolute(&c->secret_file, folder);
		for (size_t k = 0; k < c->header_files_n; k++)
			make_absolute(&c->header_files[k].value, folder);
	}
	free(folder);
}

static int bind_profiles(struct setup *setup)
{
	struct findings findings = {0};
	int result = 0;

	for (size_t i = 0; i < setup->config->endpoints; i++) {
		const struct endpoint_config *e = &setup->config->endpoint[i];
		const struct profile *p = setup_profile(setup, e->profile_name);

		if (!p)
			result = say(EX_CONFIG, "%s:%d: the profile '%s' of "
				     "endpoint '%s' cannot be used",
				     setup->config_file, e->line,
				     e->profile_name, e->name);
		else if (!config_bind(setup->config, i, p, &findings))
			result = EX_CONFIG;
	}
	say_findings(&findings);
	findings_release(&findings);
	return result;
}

static int parse_config(struct setup *setup)
{
	struct findings findings = {0};

	setup->config = config_parse(buf_span(&setup->config_text),
				     setup->config_file, &findings);
	say_findings(&findings);
	findings_release(&findings);
	if (!setup->config)
		return say(EX_CONFIG, "the configuration %s has mistakes; "
			   "nothing was started", setup->config_file);
	absolute_paths(setup);
	return bind_profiles(setup);
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	if (!strcmp(a, b))
		return true;
	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

static char *beside(const char *path, const char *name)
{
	char *folder = folder_of(path), *full = setup_path(folder, name);

	free(folder);
	return full;
}

static void place_files(struct setup *setup, const char *store_path)
{
	const struct config *config = setup->config;
	char *key;
	bool own;

	if (config) {
		setup->store_path = config->store ? xstrdup(config->store)
				: beside(setup->config_file, STORE_NAME);
		setup->key_file = config->audit.key_file
				? xstrdup(config->audit.key_file)
				: beside(setup->config_file, KEY_NAME);
		setup->anchor_file = config->audit.anchor_file
				? xstrdup(config->audit.anchor_file)
				: beside(setup->config_file, ANCHOR_NAME);
	}
	if (!store_path)
		return;
	own = setup->store_path && same_file(store_path, setup->store_path);
	free(setup->store_path);
	setup->store_path = from_working_folder(store_path);
	key = beside(setup->store_path, KEY_NAME);
	if (!config || (!own && access(key, F_OK) == 0)) {
		free(setup->key_file);
		free(setup->anchor_file);
		setup->key_file = key;
		setup->anchor_file = beside(setup->store_path, ANCHOR_NAME);
		return;
	}
	free(key);
}

int setup_config(struct setup *setup, const char *config_file,
		 const char *store_path, bool required)
{
	int result = find_config(setup, config_file);

	if (result > 1)
		return result;
	if (result == 1)
		result = parse_config(setup);
	else if (required)
		return say(EX_CONFIG, "there is no configuration: 'edcsync "
			   "init' makes one; one elsewhere is named with "
			   "--config FILE");
	if (result)
		return result;
	place_files(setup, store_path);
	return 0;
}

/* Stores */

int setup_need_store(const struct setup *setup)
{
	struct stat st;

	if (!setup->store_path)
		return say(EX_CONFIG, "there is no configuration and no store "
			   "is named: 'edcsync init' makes a configuration; "
			   "one elsewhere is named with --config FILE or "
			   "--store FILE");
	if (stat(setup->store_path, &st) == 0)
		return S_ISREG(st.st_mode) ? 0 :
		       say(EX_NOINPUT, "the store %s is no plain file",
			   setup->store_path);
	if (errno == ENOENT || errno == ENOTDIR)
		return say(EX_NOINPUT, "there is no store at %s; 'edcsync "
			   "submit' makes one", setup->store_path);
	return say(errno == EACCES ? EX_NOPERM : EX_IOERR,
		   "the store %s cannot be reached: %s", setup->store_path,
		   strerror(errno));
}

static int store_open(const struct setup *setup, bool create, bool read_only,
		      struct store **out, struct buf *error)
{
	const struct config *config = setup->config;
	struct store_options options = {
		.path = setup->store_path,
		.key_file = setup->key_file,
		.anchor_file = setup->anchor_file,
		.anchor_every_ms = config ? config->audit.anchor_every_ms
					  : 60000,
		.program = PACKAGE_NAME " " PACKAGE_VERSION,
		.config_sha256 = config ? config->sha256 : NULL,
		.create = create,
		.read_only = read_only,
		.now_ms = setup_now_ms(),
	};

	return store_sqlite_open(&options, out, error);
}

struct store *setup_store_another(const struct setup *setup,
				  struct buf *error)
{
	struct store *store = NULL;

	return store_open(setup, false, false, &store, error) == 0 ? store
								   : NULL;
}

void setup_store_close(struct store *store)
{
	/* Every writing process anchors what it appended. */
	if (store->tx == TX_IDLE)
		audit_anchor(store, true, setup_now_ms());
	store_close(store);
}

static int open_store(struct setup *setup, bool create, bool read_only)
{
	struct buf error = BUF_INIT;
	int result;

	if (setup->store)
		return 0;
	if (!create || !setup->store_path ||
	    access(setup->store_path, F_OK) == 0) {
		result = setup_need_store(setup);
		if (result)
			return result;
	}
	result = store_open(setup, create, read_only, &setup->store, &error);
	if (result)
		result = say(store_exit_code(result), "%s", buf_text(&error));
	buf_release(&error);
	return result;
}

int setup_open_store(struct setup *setup, bool create)
{
	return open_store(setup, create, false);
}

int setup_open_store_read(struct setup *setup)
{
	return open_store(setup, false, true);
}

int setup_open_view(struct setup *setup)
{
	struct buf error = BUF_INIT;
	int result = 0;

	if (setup->view)
		return 0;
	result = setup_need_store(setup);
	if (result)
		return result;
	setup->view = view_open(setup->store_path, &error, &result);
	/* An empty file: somebody is just about to make the store. */
	if (!setup->view)
		result = say(result == ST_NONE ? EX_NOINPUT
					       : store_exit_code(result),
			     "%s", buf_text(&error));
	assert(!setup->view == (result != 0));
	buf_release(&error);
	return result;
}
