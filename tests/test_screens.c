/*
 * test_screens.c - keys in, screen out, as files (script.h).
 *
 *   test_screens                  every file of tests/screens
 *   test_screens NAME ...         only those
 *   UPDATE=1 test_screens ...     writes the records anew; look at them
 */
#define _GNU_SOURCE
#include "check.h"

#include <glob.h>
#include <stdlib.h>

#include "script.h"

static struct script_scenes *scenes;

static int begin(void **state)
{
	(void)state;
	scenes = script_scenes_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	script_scenes_free(scenes);
	return 0;
}

static void screen(void **state)
{
	struct buf trouble = BUF_INIT;

	script_run(*state, getenv("UPDATE") != NULL, scenes, &trouble);
	if (trouble.len) {	/* longer than cmocka's own words may be */
		fputs(buf_text(&trouble), stderr);
		buf_release(&trouble);
		fail();
	}
}

static bool asked_for(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(name, argv[i]))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	struct CMUnitTest *tests;
	size_t n = 0;
	glob_t found;
	int failed;

	if (glob(SRCDIR "/tests/screens/*.screen", 0, NULL, &found)) {
		fprintf(stderr, "no tests/screens/*.screen\n");
		return 1;
	}
	tests = calloc(found.gl_pathc, sizeof(*tests));
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *name = xstrdup(strrchr(found.gl_pathv[i], '/') + 1);

		name[strlen(name) - strlen(".screen")] = '\0';
		if (asked_for(name, argc, argv))
			tests[n++] = (struct CMUnitTest){.name = name,
				.test_func = screen,
				.initial_state = found.gl_pathv[i]};
		else
			free(name);
	}
	failed = _cmocka_run_group_tests("screens", tests, n, begin, end);
	for (size_t i = 0; i < n; i++)
		free((char *)tests[i].name);
	free(tests);
	globfree(&found);
	return failed;
}
