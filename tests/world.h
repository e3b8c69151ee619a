/*
 * world.h - tests: a console over a scene, in a terminal of the test's own
 * (vt.h). Clock and zone are the scene's; the clock stands unless the test
 * moves it.
 */
#ifndef EDCSYNC_TESTS_WORLD_H
#define EDCSYNC_TESTS_WORLD_H

#include "scene.h"
#include "ui/app.h"
#include "vt.h"

struct world_options {
	const struct scene *scene;
	struct term_options term;
	bool readonly, demo, no_config;
	bool engine_here;		/* three requests in flight */
	const char *panel, *filter, *op, *greeting;
	int64_t *clock_ms;		/* shared with the child; see below */
};

/* A clock that a child shares with the test; stands at SCENE_NOW. */
int64_t *world_clock(void);
/* How often it was looked at. */
int64_t world_looks(const int64_t *clock);

/* For vt_start: run it with the options as ctx. Its exit status is that of
 * app_run; a sentence goes to stderr. */
int world_run(void *options);

#endif
