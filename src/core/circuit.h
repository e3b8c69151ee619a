/*
 * circuit.h - floor 0: the circuit of one endpoint (DESIGN.md section 7).
 *
 * Failure = retry or unknown; commit and poll are success, and so is a read
 * that got its answer (found, absent, still running, heard but not
 * understood, ...); all else is neutral. Only attempts begun in the present
 * generation count. Durable: the struct is what the store keeps. Half-open
 * after a restart is open with a fresh timer. Field reports B021-B027.
 */
#ifndef EDCSYNC_CORE_CIRCUIT_H
#define EDCSYNC_CORE_CIRCUIT_H

#include "core/config.h"
#include "core/verdict.h"

enum circuit_state { CIRCUIT_CLOSED, CIRCUIT_OPEN, CIRCUIT_PROBING,
		     CIRCUIT_SLOW_START, CIRCUIT_STATE_COUNT };
const char *circuit_state_name(enum circuit_state);
bool circuit_state_parse(struct span, enum circuit_state *out);

struct circuit {
	enum circuit_state state;
	int64_t generation;
	int failures;			/* in a row */
	int64_t first_op, failed_ops;	/* distinct: first seen, 1 or 2 */
	int64_t opened_ms;		/* since when it is not closed */
	int64_t probe_at_ms;		/* next probe, when open */
	int64_t reset_ms;		/* present wait, doubles to the cap */
	int probe_id;			/* slot: 0 free, else running */
	int slow_limit;			/* slow start: may be in flight now */
	int slow_good;
	int64_t waited_ms;		/* open so far, time stopped by a
					 * person left out (open_wait) */
	int64_t waited_at_ms;		/* counted up to here */
};

void circuit_init(struct circuit *, const struct circuit_policy *);
/* After a restart: probing becomes open with a fresh timer. */
void circuit_restart(struct circuit *, const struct circuit_policy *,
		     int64_t now_ms);
/* May work be claimed, and how much may be in flight (max is the configured
 * limit)? 0 while open. */
int circuit_allows(const struct circuit *, int max_in_flight);
bool circuit_probe_due(const struct circuit *, int64_t now_ms);
/* Takes the only probe slot. Pressure (gate.h) binds probes too: the caller
 * asks it first. */
bool circuit_probe_begin(struct circuit *, int64_t now_ms);
/* The probe ended without an outcome (never sent, cut). */
void circuit_probe_release(struct circuit *, int64_t now_ms);
/* One outcome. op is the handle (0 for none). True when the state changed. */
bool circuit_outcome(struct circuit *, const struct circuit_policy *,
		     int64_t generation, int64_t op, bool probe,
		     enum verdict, int64_t now_ms);
/* Counts open time for open_wait; stopped: by a person, does not count.
 * Call before the state or `stopped` changes. Also clamps the probe time to
 * one wait when the clock was stepped back. */
void circuit_count(struct circuit *, bool stopped, int64_t now_ms);
/* Open time that counts for something that waits since since_ms; never more
 * than true. 0 when it is not open. */
int64_t circuit_waited_ms(const struct circuit *, int64_t since_ms);
/* A person resumes: closed through a slow start. */
void circuit_close(struct circuit *, int64_t now_ms);

#endif
