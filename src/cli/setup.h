/*
 * setup.h - wires: where things are, and opening them.
 *
 * Configuration: --config, else $XDG_CONFIG_HOME/edcsync/edcsync.json (XDG:
 * empty or relative = default), else XDG_CONFIG_DIRS, else sysconfdir.
 * Profiles: beside the configuration (profiles/NAME.json), then the
 * installed data folder, then the ones compiled in.
 *
 * Every path is absolute after setup_config: relative ones start at the
 * folder of the configuration file, those of the command line at the working
 * directory.
 */
#ifndef EDCSYNC_CLI_SETUP_H
#define EDCSYNC_CLI_SETUP_H

#include "cli/embedded.h"
#include "core/config.h"
#include "store/rules.h"
#include "store/store.h"
#include "store/view.h"

struct setup {
	char *config_file, *store_path, *key_file, *anchor_file;
	struct buf config_text;
	struct config *config;		/* NULL: none was found or needed */
	struct profile **profiles;	/* owned; bound to the endpoints */
	size_t profiles_n;
	struct buf *profile_texts;	/* kept: loaded profiles may borrow */
	size_t profile_texts_n;
	struct rules_text *rules;	/* see setup_rules */
	struct store *store;		/* write side, when opened */
	struct view *view;
};

void setup_init(struct setup *);
void setup_release(struct setup *);
/* Finds, reads, parses, binds. 0 or an exit code after words on stderr.
 * warnings are printed too. store_path, key and anchor paths are absolute
 * afterwards. --store alone (no configuration) fills them beside the store;
 * so does --store naming another store than the configuration's, when a key
 * of its own lies beside it. */
int setup_config(struct setup *, const char *config_file,
		 const char *store_path, bool required);
/* 0 or an exit code after one clear sentence on stderr. Opened already: 0. */
int setup_open_store(struct setup *, bool create);
/* The write side for reading only (audit verify): never creates, migrates
 * or appends. */
int setup_open_store_read(struct setup *);
/* One more write side of the same store, for another thread: NULL with a
 * sentence. setup is only read. Closed with its anchor. */
struct store *setup_store_another(const struct setup *, struct buf *error);
void setup_store_close(struct store *);
int setup_open_view(struct setup *);
/* Is there a store file? Words on stderr and 66 or 78 when not. */
int setup_need_store(const struct setup *);
/* The texts that are in force: configuration, then every profile read, with
 * parents. Owned by setup, good until the next profile is read. */
const struct rules_text *setup_rules(struct setup *, size_t *n);
/* A profile_find_fn: the text of a profile that another extends; ctx is the
 * setup. Words on stderr when there is none. */
bool setup_profile_text(void *setup, const char *name, struct span *text);
/* A profile by name or file; NULL after words on stderr. Owned by setup. */
const struct profile *setup_profile(struct setup *, const char *name);
/* The name of a profile that is compiled in; false: it is another file. */
bool embedded_profile(const struct embedded *, char name[64]);
/* Reads a whole file, bounded; false with errno set. "-" is stdin. */
bool setup_read_file(const char *name, size_t max, struct buf *out);
/* The same of a plain file only: a pipe could be waited for for ever, a device
 * has no end. */
bool setup_read_plain_file(const char *name, size_t max, struct buf *out);
/* A secret file: regular, not a link, not group- or world-readable, one
 * trailing newline dropped; $CREDENTIALS_DIRECTORY/NAME first (there the
 * service manager answers for the mode). error has one sentence, without any
 * of the content. The caller wipes out. */
bool setup_read_secret(const char *name, struct buf *out, struct buf *error);
/* Absolute form of a path: as it is, or below the folder. */
char *setup_path(const char *folder, const char *path);

/* UTC now, ms; zone of the screen in minutes. */
int64_t setup_now_ms(void);
int setup_utc_offset_min(int64_t at_ms);
const char *setup_host(void);

#endif
