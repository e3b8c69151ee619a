/*
 * scene_priv.h - tests: how a scene is told, for scene_study.c and
 * scene_hostile.c. Everything aborts with words when it does not work.
 */
#ifndef EDCSYNC_TESTS_SCENE_PRIV_H
#define EDCSYNC_TESTS_SCENE_PRIV_H

#include "scene.h"

#include "store/act.h"
#include "store/work.h"

enum place { RAVE, VEEVA, ORACLE, UAT, PLACES };
extern const char *const place_names[PLACES];

/* What a vendor answers, and how long it takes. */
struct said {
	enum transport transport;
	bool never_left;		/* refused before the first byte */
	int status;
	const char *header, *value;	/* one, or NULL */
	const char *body;
	int took_ms;
};
extern const struct said CREATED, GATEWAY, RESET, UNAVAILABLE, QUEUED_JOB,
	STILL_RUNNING, NOTHING_FOUND, ACCEPTED_ONLY;

/* What is submitted; NULL parts are left out. */
struct visit {
	const char *subject, *event, *form, *repeat, *op_id, *study, *payload;
};

#define must(scene, rc) scene_must(scene, rc, __FILE__, __LINE__)
void scene_must(struct scene *, int rc, const char *file, int line);
void scene_fail(const char *fmt, ...) PRINTF_LIKE(1, 2)
	__attribute__((noreturn));
/* The story's clock: local time of the day, "11:44:08.120". Never back. */
void at(struct scene *, const char *time);
int64_t at_ms(const char *time);

int64_t submit(struct scene *, enum place, const struct visit *);
/* n subjects from 1NNN-first on, in one transaction; returns the first. */
void submit_many(struct scene *, enum place, const char *site, int first,
		 int n, const char *event, const char *form);
/* Claims what is due, up to n; they are on the wire then. */
struct intent *claim(struct scene *, enum place, int n);
/* Answers all of them alike, took_ms later, and frees them. Returns how
 * many. */
int answer(struct scene *, enum place, struct intent *, const struct said *);
/* claim and answer, of exactly n. */
void go(struct scene *, enum place, int n, const struct said *);
/* One submitted, sent and answered. */
int64_t deliver(struct scene *, enum place, const struct visit *,
		const struct said *);

int64_t place_id(struct scene *, enum place);
void load(struct scene *, int64_t op, struct op *out);
void begin(struct scene *);
void commit(struct scene *);
struct act act_of(struct scene *, enum act_verb, const char *who,
		  const char *code, const char *reason);
void act_on(struct scene *, const struct act *, const int64_t *ops, size_t n);

void scene_study(struct scene *);
void scene_people(struct scene *);
void scene_hostile(struct scene *);

#endif
