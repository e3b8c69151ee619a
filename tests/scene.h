/*
 * scene.h - tests: a store for screens, the same in every run.
 *
 * The study is invented: ONC-301 at veeva-eu, rave-prod and oracle-legacy,
 * with a test endpoint beside them, on Sunday 2026-11-29, seen at 14:02:31
 * local time (+01:00). It is built by what builds every store: submit lines,
 * claims, answers read by the classifier, acts of people; only the clock and
 * the random numbers are the scene's. What belongs to whom stands in
 * scene_study.c, in the order in which it happened.
 *
 * A scene costs seconds (passwords); tests build one and copy it.
 */
#ifndef EDCSYNC_TESTS_SCENE_H
#define EDCSYNC_TESTS_SCENE_H

#include "core/config.h"
#include "store/store.h"

#define SCENE_NOW INT64_C(1795957351000)	/* 2026-11-29T13:02:31Z */
#define SCENE_OFFSET_MIN 60
#define SCENE_ZONE "CET-1"
#define SCENE_PASSWORD "correct horse"	/* of jdoe and msmith */
#define SCENE_STAR "01JF2C8QVB6XKZ3M5T7WERA942"	/* 1001-014 VITALS V2 */

enum scene_kind {
	SCENE_STUDY,
	SCENE_HOSTILE,			/* the same, every text an attack */
	SCENE_EMPTY			/* a new store, nobody and nothing */
};

struct engine_lock;

struct scene {
	enum scene_kind kind;
	char dir[64];
	char db[96], key[96], anchors[96];
	char file[96];			/* the configuration */
	struct config *config;		/* bound */
	struct profile *profile[3];
	struct buf profile_text[3];
	struct store *store;		/* while it is built */
	struct engine_lock *engine;
	int64_t now_ms;			/* of the story */
	uint64_t random;
	int64_t lines;
};

/* Builds it and closes the store; everything is below dir then. */
void scene_make(struct scene *, enum scene_kind);
/* Another folder with the same files, and the paths changed to it. */
void scene_copy(struct scene *to, const struct scene *from);
/* An engine seems to run: "811 edc1 service" holds the lock. */
void scene_engine(struct scene *);
/* Removes the folder. */
void scene_end(struct scene *);

/* What an attack is made of; no byte of it may reach a terminal. */
extern const char scene_attack[];
/* A thousand marks on one letter and more, 10 kB. Appends. */
void scene_marks(struct buf *);

#endif
