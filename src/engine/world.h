/*
 * world.h - private to the engine step: what it knows, and its parts.
 *
 *   step.c         events in, credits out, life cycle
 *   step_send.c    which durable intents start, wait, or go back
 *   step_answer.c  what an answer means for operation and endpoint
 *   step_halt.c    halts, resumes, circuits
 *   step_look.c    look-ups over pages
 *   step_cred.c    credentials: single flight, renewal, refusal
 *
 * Times are UTC ms unless a name says otherwise. All of it belongs to the
 * thread that calls engine_step.
 */
#ifndef EDCSYNC_ENGINE_WORLD_H
#define EDCSYNC_ENGINE_WORLD_H

#include "core/lookup.h"
#include "engine/step.h"

/* One request (or the pages of one look-up) on the wire. */
struct transfer {
	int id;				/* slot + 1 */
	size_t endpoint;
	enum attempt_kind kind;
	struct intent *intent;		/* owned; NULL: health, credential */
	struct request request;
	struct buf body;		/* credential requests; wiped */
	struct lookup_state lookup;
	struct transfer *next;		/* spare */
	char request_id[37];
	int64_t started_ms;
	int64_t generation;		/* of the circuit */
	int64_t token_version;
	bool token_fresh;		/* newer than one refused for this op */
	bool unbuilt;			/* we could not put it together */
	bool parked;			/* between two pages of a look-up */
	bool late;			/* too long */
	struct buf page;		/* address of the next one */
	bool probe;
};

/* An operation whose last answer was 401, and under which token. */
struct refused {
	int64_t op, version;
	int times;			/* in a row */
};

struct cred {
	bool usable;			/* header may be sent */
	bool busy;			/* the single flight */
	bool after_refusal;		/* the flight was caused by a 401 */
	int64_t refused_op;		/* of this operation, or 0 */
	bool replaces;			/* so was the present token */
	bool taken;			/* the present token was issued to
					 * another process, at any time */
	bool turn;			/* to log in is ours, among processes */
	bool idle;			/* the last one was idle for long */
	int asked;			/* times that others were about it */
	int64_t asked_ms, ask_at_ms;	/* first; next. 0: not waiting */
	size_t reading;			/* file of a `headers` credential */
	struct buf header;		/* "Name: value" lines; wiped */
	struct buf in_body;		/* form_token: put into bodies; wiped */
	struct buf partial;		/* being put together; wiped */
	uint8_t digest[32];		/* of the last static secret */
	bool digest_known;
	int64_t version, good_version;
	int64_t good_started_ms;	/* of the last attempt that got through
					 * with good_version */
	int64_t got_ms, renew_ms;	/* renew 0: rely on 401 */
	bool once;			/* lifetime 0: one refresh a minute */
	int64_t used_ms;		/* last request under it */
	int64_t log_in_ms[LOG_INS_MAX];	/* the last log-ins, or requests for
					 * tokens: as many as a minute may
					 * have */
	int log_in;			/* the oldest of them */
	int throttled;			/* "too many log-ins", in a row */
	int failures;
	int64_t retry_at_ms;		/* not before; 0 = at once */
	struct refused *refused;
	size_t refused_n;
};

struct place {				/* one endpoint */
	const struct endpoint_config *config;
	struct endpoint_state state, stored;
	struct endpoint_control control;	/* texts not kept */
	struct cred cred;
	bool dirty;			/* state has to be stored */
	struct intent *ready, **ready_tail;	/* durable, not started */
	int ready_n;
	int ready_probes;		/* of ready_n */
	int on_wire;			/* transfers of operations */
	bool recall;			/* it was just stopped or paced: what
					 * has not left is taken back */
	int looking;			/* of which look-ups: each reserves a
					 * send for its resend */
	int parked;			/* of which wait for their next page */
	bool wants_tokens;		/* credits fell short of the rate */
	int lent;			/* credits in the batch under way */
	int lent_retries, used_retries;
	bool probe_lent, probe_seen;
	int64_t probe_request;		/* a person's, to be answered */
	bool probe_waits;		/* it, for the log-in */
	int target_answer;		/* for the next batch */
	enum halt_reason alerted_halt;	/* told of, once */
	int64_t alerted_open_ms;	/* and of this opening */
	int64_t probe_idle_ms;		/* nothing to probe with; not before */
	int odd;			/* answers matching no rule in a row */
	int64_t unauthorised[CAP_UNAUTHORISED_OPS];
	int unauthorised_n;
	bool others_through;		/* since the release of halt_op */
	int64_t last_pace_ms;
	int paces;			/* in a row, without Retry-After */
	struct gauge_row gauge;
	bool gauged;
};

struct engine_world {
	const struct config *config;
	struct place *place;
	size_t places;
	struct transfer **transfer;	/* by slot; NULL = free */
	size_t transfers;
	int transfers_n;
	struct transfer *spare;		/* ended; keep their buffers */
	struct outcome *stored;		/* came back; to be filled again */
	int stored_n;
	struct clock_now now;
	int64_t started_ms;
	uint64_t random;
	struct json scratch;		/* answers are read into it */
	bool store_ok, stopping;
	void (*effect)(void *, struct effect *);
	void *effect_ctx;
};

/* step.c */
uint64_t world_random(struct engine_world *);
void world_uuid(struct engine_world *, char out[37]);
void world_log(struct engine_world *, struct place *, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
size_t place_index(const struct engine_world *, const struct place *);
bool place_paused(const struct engine_world *, const struct place *);
struct transfer *transfer_new(struct engine_world *, struct place *,
			      enum attempt_kind);
void transfer_end(struct engine_world *, struct transfer *);
/* Empty, but for its verdict's bytes behind the ends of texts. */
struct outcome *outcome_new(struct engine_world *);
/* Emits START for a transfer whose request is built. */
void transfer_start(struct engine_world *, struct transfer *);

/* step_send.c */
void send_take(struct engine_world *, struct intent *);
void send_pump(struct engine_world *, struct place *);
/* Off the wire before its first byte left: withdrawn as if never started. */
void send_take_back(struct engine_world *, struct transfer *);
void send_withdraw_all(struct engine_world *, struct place *);
/* What stands on the wire, but waits for its connection yet, goes back when
 * the endpoint is barred: by the vendor's wait, a person, a halt, a circuit. */
void send_recall(struct engine_world *, struct place *);
/* It did not leave: back to its turn, its page, or its end. */
void send_held(struct engine_world *, struct transfer *);
/* Builds the request of an operation's transfer (again, for a page). */
bool send_build(struct engine_world *, struct transfer *,
		const char *next_page, struct buf *error);

/* step_answer.c */
void answer_take(struct engine_world *, struct transfer *,
		 const struct answer *, const int *phases_us);
void answer_classify_in(struct engine_world *, struct place *,
			const struct transfer *, struct classify_in *);
/* A transfer that never got on the wire, or was cut. */
void answer_cut(struct engine_world *, struct transfer *, enum transport,
		bool left, const char *error);

/* step_halt.c */
void halt_set(struct engine_world *, struct place *, enum halt_reason,
	      int64_t until_ms, int64_t op, const char *why);
void halt_resume(struct engine_world *, struct place *);
void halt_probe_asked(struct engine_world *, struct place *, int64_t request);
void halt_probe_answer(struct engine_world *, struct place *, bool good,
		       const char *text);
void halt_tick(struct engine_world *, struct place *);
/* What an answer says of the vendor's pace, alone. */
void halt_pace(struct engine_world *, struct place *,
	       const struct verdict_out *);
/* Endpoint-wide rules over one answer; may change the verdict. */
void halt_judge(struct engine_world *, struct place *, struct transfer *,
		const struct answer *, struct verdict_out *);
void halt_circuit(struct engine_world *, struct place *,
		  const struct transfer *, enum verdict);

/* step_look.c */
/* True: another page is to be asked for, no outcome yet. */
bool look_answer(struct engine_world *, struct transfer *,
		 const struct answer *, struct verdict_out *);
/* One that was about to ask for its next page waits for its turn again. */
void look_park(struct place *, struct transfer *);
/* Asks for the pages whose turn has come. */
void look_pump(struct engine_world *, struct place *);

/* step_cred.c */
bool cred_usable(struct engine_world *, struct place *);
bool cred_waits(const struct engine_world *, const struct place *);
struct span cred_header(const struct place *);
struct span cred_in_body(const struct place *);
/* An answer that quotes what got us in: those words of it go. */
void cred_scrub(const struct place *, struct verdict_out *);
/* A request goes out under it. */
/* What an answer says of the next request's session (login.renewed). */
void cred_renewed(struct engine_world *, struct place *,
		  const struct transfer *, const struct answer *);
void cred_used(struct engine_world *, struct place *);
void cred_clock(struct cred *, int64_t delta_ms);
void cred_secret(struct engine_world *, struct place *, const struct event *);
/* It is not ours to log in: another process does, or did, or all did. */
void cred_log_in(struct engine_world *, struct place *, const struct event *);
/* Asks again whether it is our turn, when that is due. */
void cred_tick(struct engine_world *, struct place *);
void cred_answer(struct engine_world *, struct transfer *,
		 const struct answer *, const int *phases_us);
void cred_refused(struct engine_world *, struct place *,
		  const struct transfer *);
bool cred_fresh(const struct place *, int64_t op);
/* This version took the place of a refused one and nobody got through yet. */
bool cred_unproven(const struct place *, int64_t version);
int cred_times(const struct place *, int64_t op);
/* The token that this operation was refused under last; -1: none. */
int64_t cred_refused_under(const struct place *, int64_t op);
void cred_settled(struct place *, int64_t op);
void cred_forget(struct place *);
void cred_release(struct cred *);

#endif
