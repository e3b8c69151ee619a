/*
 * sim.h - plays: one simulated EDC, without any socket.
 *
 * http.c turns a request into a struct sim_request, asks sim_handle() and
 * does on the wire what the answer says. Everything that is decided is
 * decided here, with the time as an argument, so tests need no server.
 *
 * Single-threaded: one caller at a time owns a struct sim. Nothing here
 * blocks or sleeps; the only I/O is the append to the ledger's file.
 *
 * Life of a request: sim_handle, the hold_ms of its answer, then
 * sim_handle_late when `again` is set, then the answer goes out with its
 * ending.
 */
#ifndef EDCSYNC_SIM_SIM_H
#define EDCSYNC_SIM_SIM_H

#include "core/json.h"
#include "sim/ledger.h"
#include "sim/scenario.h"
#include "sim/token.h"

#define SIM_HEADERS_MAX 16
#define SIM_HEADER_TEXT 512

struct sim_request {
	struct span method, path;	/* path decoded, with leading slash */
	struct span authorization, key, op_id, request_id, content_type;
	struct span host, if_none_exist, prefer, reference;
	/* query */
	struct span q_op_id, q_cursor, q_name, q_seed, q_operations;
	struct span q_identifier;
	bool q_post_odm;		/* ?PostODMClinicalData is there */
	struct span body;
	int64_t now_ms, utc_ms;		/* monotonic; UTC */
	/* Until when this connection was told to wait: kept by http.c with
	 * it; NULL: nobody counts. Whoever sends another request on it has
	 * read the answer that said so: what comes before then is early, on
	 * however slow a machine. */
	int64_t *told_until_ms;
};

struct sim_header {
	const char *name;		/* static */
	char value[SIM_HEADER_TEXT];
};

struct sim_answer {
	int status;
	const char *content_type;	/* static; NULL none */
	struct buf body;		/* capacity is kept between uses */
	struct sim_header header[SIM_HEADERS_MAX];
	size_t headers;
	enum sim_ending ending;
	int64_t hold_ms;	/* before it goes out */
	bool again;		/* ask sim_handle_late after the hold,
					 * even when the client has left */
};

struct sim_counts {
	uint64_t requests[SIM_KINDS], control;
	uint64_t early, early_polls, unauthorised, bad, refused, replayed;
	uint64_t key_mismatch, tokens, token_refused, unknown_job;
};

struct sim_vendor;

/* What a vendor noticed in the request at hand. */
struct sim_facts {
	bool xml, named;		/* an XML document; with a namespace */
	bool insert, update;		/* TransactionTypes in it */
	bool again;			/* nothing new: it was there */
	bool early;			/* a poll before its time */
	bool result;			/* a poll of a job's result */
	uint32_t items, refused;	/* sent; not to be taken */
};

struct sim {
	struct scenario scenario;
	uint64_t *hits;			/* per rule */
	const struct sim_vendor *vendor;
	struct ledger ledger;
	struct sim_tokens tokens;
	struct sim_counts count;
	int64_t began_ms;	/* of the scenario's clock; -1 not yet */
	bool seed_given;		/* --seed wins over scenarios */
	uint64_t seed;
	const char *profile_given;	/* --profile does, too; NULL none */
	/* Kept by http.c. One thread answers, so a request that is not held
	 * is gone before the next is read: without delays what tells how
	 * much came at once is the number of open connections. */
	int in_flight, in_flight_max, connections, connections_max;
	struct json doc;		/* of the body at hand */
	/* tag, study, subject, form of it; what identifies it; its payload */
	struct buf text[6];
	struct sim_facts facts;
	int64_t burst_from_ms;		/* of a vendor that counts in bursts */
	uint32_t burst;
	/* Text of a scenario by name; may be NULL. */
	bool (*find)(void *ctx, struct span name, struct buf *text);
	void *find_ctx;
};

void sim_init(struct sim *);
void sim_release(struct sim *);
/* Takes the scenario over (and leaves the caller an empty one). */
void sim_play(struct sim *, struct scenario *, int64_t now_ms);
/* Back to the first moment: ledger, tokens, counts. */
void sim_reset(struct sim *, int64_t now_ms);

void sim_answer_clear(struct sim_answer *);
void sim_answer_header(struct sim_answer *, const char *name,
		       struct span value);
void sim_handle(struct sim *, const struct sim_request *,
		struct sim_answer *);
void sim_handle_late(struct sim *, const struct sim_request *,
		     struct sim_answer *);
/* Is the server down now? *wait_ms: how long that stays so at most. */
bool sim_down(struct sim *, int64_t now_ms, int64_t *wait_ms);
/* Counts the outage that has just begun. */
void sim_went_down(struct sim *, int64_t now_ms);

/* Milliseconds on the scenario's clock. */
int64_t sim_since(const struct sim *, int64_t now_ms);

#endif
