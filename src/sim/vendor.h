/*
 * vendor.h - plays: the two dialects, as tables of functions.
 *
 * A dialect says what an answer looks like; what was committed is decided in
 * serve.c by the plan. File of each: vendor_generic.c, vendor_tag.c.
 */
#ifndef EDCSYNC_SIM_VENDOR_H
#define EDCSYNC_SIM_VENDOR_H

#include "sim/sim.h"

struct sim_vendor {
	const char *name;
	bool dedupes;			/* by key, when the scenario lets it */
	/* The answer to a send that became this record. */
	void (*stored)(struct sim *, const struct sim_request *,
		       uint32_t record, const struct sim_rule *,
		       struct sim_answer *);
	/* How far a job is, or one record. */
	void (*job)(struct sim *, uint32_t record, struct sim_answer *);
	/* One element of /items. */
	void (*item)(const struct sim *, uint32_t record, bool payload,
		     struct buf *out);
};

extern const struct sim_vendor sim_generic, sim_tag;
const struct sim_vendor *sim_vendor_named(const char *name);

/* Shared by both. */
void vendor_id(uint32_t record, bool job, struct buf *out);
void vendor_member(struct buf *out, const char *name, const char *text);
/* Look-up (op_id given) and list: {"items": [...], "next": "..."}. */
void vendor_items(struct sim *, const struct sim_request *,
		  int64_t lag_ms, struct sim_answer *);

/* /_sim/...: ledger, summary, requests, scenario, reset. control.c */
void sim_control(struct sim *, const struct sim_request *,
		 struct sim_answer *);

#endif
