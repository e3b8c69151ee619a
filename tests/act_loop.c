/*
 * act_loop.c - tests: a person who acts without pause, in a process of its
 * own. Annotates one operation again and again until standard input ends;
 * prints how many acts, how long the slowest took, and every error.
 *
 *   act_loop STORE KEY ANCHORS OP
 */
#include "config.h"

#include "store/act.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static bool input_ended(void)
{
	struct pollfd in = {STDIN_FILENO, POLLIN, 0};

	return poll(&in, 1, 0) != 0;
}

static int one_act(struct store *st, const char *op_id, int64_t now_ms)
{
	static const struct actor who = {.person = true, .id = "loop",
		.printed_name = "Act Loop", .role = "data-manager",
		.auth = "password", .session = "s", .login = "l",
		.host = "h", .tty = "t"};
	struct act act = {.verb = ACT_ANNOTATE, .actor = &who,
		.roles = ROLE_MANAGER, .reason_code = "OTHER",
		.reason = "acting at full speed"};
	struct act_item item = {.result = ACT_REFUSED};
	int rc;

	text_set(item.op_id, sizeof(item.op_id), span_of(op_id));
	rc = act_on_operations(st, &act, &item, 1, now_ms);
	/* The engine may be at it: that is an answer, not a mistake. */
	if (rc >= 0 && item.result != ACT_DONE &&
	    item.result != ACT_LOST_RACE) {
		fprintf(stderr, "act_loop: %s\n", item.words);
		return ST_ERROR;
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct store_options o = {.program = "act_loop", .key_file = NULL};
	struct store *st;
	struct buf error = BUF_INIT;
	int64_t acts = 0, errors = 0, slowest_us = 0;

	if (argc != 5)
		return 2;
	o.path = argv[1];
	o.key_file = argv[2];
	o.anchor_file = argv[3];
	o.now_ms = clock_us(CLOCK_REALTIME) / 1000;
	if (store_sqlite_open(&o, &st, &error)) {
		fprintf(stderr, "act_loop: %s\n", buf_text(&error));
		return 1;
	}
	while (!input_ended()) {
		int64_t begin = clock_us(CLOCK_MONOTONIC), took;

		if (one_act(st, argv[4], clock_us(CLOCK_REALTIME) / 1000)) {
			fprintf(stderr, "act_loop: %s\n", store_error(st));
			errors++;
		}
		took = clock_us(CLOCK_MONOTONIC) - begin;
		slowest_us = took > slowest_us ? took : slowest_us;
		acts++;
	}
	printf("{\"acts\": %" PRId64 ", \"errors\": %" PRId64
	       ", \"slowest_ms\": %.1f}\n", acts, errors,
	       (double)slowest_us / 1000);
	store_close(st);
	buf_release(&error);
	return errors != 0;
}
