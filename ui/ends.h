/*
 * ends.h - floor S: endpoints as several panels show them.
 *
 * A copy of what the store says of each endpoint, its last hour and its last
 * failures, read in a job; and the words for every stop of it at once,
 * computed at paint from durable times. Nothing here asks the store on the
 * main thread.
 */
#ifndef EDCSYNC_UI_ENDS_H
#define EDCSYNC_UI_ENDS_H

#include "ui/app.h"

enum { END_FAILS = 5, END_MINUTES = 60 };

struct end_fail {
	int64_t at_ms, took_ms;
	enum layer layer;
	enum verdict verdict;
	int status;
	char why[160];
	char op_id[LIMIT_OP_ID_BYTES + 1];	/* "" none */
};

struct end {
	int64_t id;
	char *name, *environment;	/* owned */
	struct endpoint_state state;
	bool paused;
	char *paused_by, *paused_reason;	/* owned; NULL: not paused */
	int64_t paused_ms, paused_until_ms;
	int64_t count[OP_STATE_COUNT];
	int64_t in_flight, oldest_ms, ok_per_min;
	/* The last hour. */
	int64_t done, failed, retried;
	int64_t done_per_min[END_MINUTES];	/* oldest first */
	int64_t p50_ms, p99_ms;
	/* The last failures, newest first; known: they were asked for. */
	bool fails_known;
	struct end_fail fail[END_FAILS];
	int fails;
};

struct ends {
	struct end *v;			/* owned */
	size_t n;
	int64_t read_ms;
};

enum { ENDS_HOUR = 1, ENDS_FAILURES = 2 };	/* what to read besides */
/* In a lane's thread. *ends was init'ed with {0}; what it held is lost. */
int ends_read(struct view *, int64_t now_ms, unsigned what, struct ends *);
void ends_release(struct ends *);
/* Takes the answer; keeps the failures known before where it has none. */
void ends_take(struct ends *into, struct ends *answer);
const struct end *ends_find(const struct ends *, const char *name);
const struct end *ends_by_id(const struct ends *, int64_t id);

/* The question as a job of the READ lane; done finds the answer there. */
struct ends_job {
	struct job job;
	unsigned what;
	struct ends ends;
	char *error;			/* owned; NULL: it was answered */
	bool interrupted;
};
void ends_ask(struct app *, const void *owner, int topic, unsigned what,
	      void (*done)(struct job *, void *owner));

/* What trouble a job had, as a sentence to keep; NULL: none worth telling.
 * room without a view, or a result below 0. */
char *job_trouble(const struct work_room *, int64_t result);

/* One thing that stops or slows an endpoint. */
struct stop {
	enum ui_glyph glyph;
	enum ui_role role;
	bool stops;			/* false: it goes, or is slow */
	char text[200];			/* raw: may hold foreign words */
};
enum { STOPS_MAX = 6 };
/* All of them, the hardest first; with none, one that says how it is. At
 * least 1. now_ms: of the screen. */
int end_stops(const struct app *, const struct end *, int64_t now_ms,
	      struct stop out[STOPS_MAX]);
/* Nothing is on the wire, and nothing waits to be. */
bool end_at_rest(const struct end *);
/* When the oldest that waits for the open circuit becomes a dead letter.
 * 0: none will; < 0: not while a person stops it, or without an engine. */
int64_t end_gives_up_ms(const struct end *, const struct endpoint_config *,
			bool engine, int64_t now_ms);
/* Its configuration; NULL: none. */
const struct endpoint_config *end_config(const struct app *,
					 const struct end *);

/* circuits.c: puts the cursor of that panel there. */
void circuits_at(struct panel *, const char *endpoint);
/* circuit_strip.c: the last 24 hours of one endpoint. */
struct panel *strip_new(struct app *, int64_t endpoint, const char *name);

#endif
