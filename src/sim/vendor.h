/*
 * vendor.h - plays: the vendors' dialects, as tables of functions.
 *
 * A dialect says what comes in, what an answer looks like and what the vendor
 * itself would not take; faults are decided in serve.c by the plan. One file
 * each, vendor_NAME.c, named like the profile that speaks to it. Which one is
 * played: the scenario's field `profile`, or edcsim --profile.
 *
 * Conventions by which a payload asks for an oddity of its vendor stand at
 * the head of the vendor's file.
 */
#ifndef EDCSYNC_SIM_VENDOR_H
#define EDCSYNC_SIM_VENDOR_H

#include "sim/sim.h"

/* What the vendor does with a send that no rule stopped. */
enum sim_judge {
	SIM_TAKES,
	SIM_HAS_IT,			/* nothing new; *record is it */
	SIM_TAKES_PARTLY,
	SIM_QUEUES,			/* as a job, though no rule said so */
	SIM_TURNS_DOWN			/* the answer is filled */
};

/* Statuses that are none, for fault(). */
#define SIM_FAULT_OUTAGE (-1)		/* down, and says so */
#define SIM_FAULT_NAMESPACES (-2)	/* the gateway lost them */

struct sim_vendor {
	const char *name;
	bool dedupes;			/* by key, when the scenario lets it */
	bool list_looks;		/* a list is a look-up, too */
	/* The answer to a send that became this record (or, with
	 * facts.again, was it already). */
	void (*stored)(struct sim *, const struct sim_request *,
		       uint32_t record, const struct sim_rule *,
		       struct sim_answer *);
	/* How far a job is, or one record. */
	void (*job)(struct sim *, uint32_t record, struct sim_answer *);
	/* One element of a list. */
	void (*item)(const struct sim *, uint32_t record, bool payload,
		     struct buf *out);

	/* The rest may be NULL: then it is as with generic-rest. */
	enum sim_kind (*kind)(struct sim *, const struct sim_request *);
	/* Tag, scope and payload of a send; fills facts, may use doc, text. */
	void (*read)(struct sim *, const struct sim_request *,
		     struct sim_intake *);
	struct span (*wanted)(struct sim *, const struct sim_request *);
	uint32_t (*polled)(struct sim *, const struct sim_request *);
	/* Has it jobs for this? Where not, `queue` ends at once. */
	bool (*queues)(struct sim *, const struct sim_request *);
	enum sim_judge (*judge)(struct sim *, const struct sim_request *,
				const struct sim_intake *, uint32_t op,
				uint32_t *record, struct sim_answer *);
	/* Look-ups, lists and probes. */
	void (*look)(struct sim *, const struct sim_request *,
		     int64_t lag_ms, struct sim_answer *);
	/* The vendor's own words for a status, or a SIM_FAULT_; the answer
	 * has the general ones. */
	void (*fault)(struct sim *, const struct sim_request *, int status,
		      struct sim_answer *);
	/* What every answer carries. */
	void (*headers)(struct sim *, const struct sim_request *,
			struct sim_answer *);
	/* May be read by anybody. */
	const char *open_path;
	/* Log-in at the address that ends so. */
	const char *login_path;
	void (*login)(struct sim *, const struct sim_request *,
		      struct sim_answer *);
};

extern const struct sim_vendor sim_generic, sim_tag, sim_rave,
	sim_rave_views, sim_castor, sim_castor_reports, sim_oracle, sim_fhir,
	sim_veeva, sim_redcap;
/* NULL: no such vendor. */
const struct sim_vendor *sim_vendor_named(const char *name);
const char *sim_vendor_name(size_t i);	/* NULL ends */

/* Shared. */
void vendor_id(uint32_t record, bool job, struct buf *out);
void vendor_member(struct buf *out, const char *name, const char *text);
/* An item of a list that tells no more than id and digest of the payload. */
void vendor_item_digest(const struct sim *, uint32_t record, bool payload,
			struct buf *out);
/* JSON with this status; the body is empty for the caller to write. */
void vendor_json(struct sim_answer *, int status);
void vendor_text(struct sim_answer *, int status, const char *type,
		 const char *text);
/* For text and attributes; what XML 1.0 cannot hold becomes "?". */
void vendor_xml_text(struct buf *out, struct span text);
/* scheme and host of the request, or nothing without a Host. */
void vendor_origin(const struct sim_request *, struct buf *out);
/* Up to and with the last slash. */
struct span vendor_folder(struct span path);
struct span vendor_last_part(struct span path);
bool vendor_ends(struct span text, const char *tail);
/* A record of the ledger that is committed, or 0. */
uint32_t vendor_committed(const struct sim *, uint32_t op);

/* A page of records: items with commas between; what came after it, 0 when
 * nothing did. tag: of one operation only; path empty: of any address. */
struct sim_page {
	struct span tag, path;
	int64_t lag_ms;
	bool committed;			/* nothing that only runs or failed */
};
uint32_t vendor_page(struct sim *, const struct sim_request *,
		     const struct sim_page *, struct buf *out);
void vendor_next(const struct sim_request *, const char *tag_name,
		 struct span tag, uint32_t record, struct buf *url);
/* Look-up (op_id given) and list: {"items": [...], "next": "..."}. */
void vendor_items(struct sim *, const struct sim_request *,
		  int64_t lag_ms, struct sim_answer *);

/* /_sim/...: ledger, summary, requests, scenario, reset. control.c */
void sim_control(struct sim *, const struct sim_request *,
		 struct sim_answer *);

#endif
