/*
 * intake.h - plays: reading a send, whatever the vendor.
 *
 * Texts of an intake stand in the request or in sim->text, slot by slot, and
 * hold until the next request is read.
 */
#ifndef EDCSYNC_SIM_INTAKE_H
#define EDCSYNC_SIM_INTAKE_H

#include "sim/sim.h"

enum intake_slot {
	INTAKE_TAG, INTAKE_STUDY, INTAKE_SUBJECT, INTAKE_FORM, INTAKE_RECORD,
	INTAKE_PAYLOAD
};

/* Nothing of the last request is to be mistaken for this one's. */
void intake_forget(struct sim *);
/* Headers, digest, then what the vendor reads in the body. */
void intake_read(struct sim *, const struct sim_request *,
		 struct sim_intake *);
/* The first of these pointers of sim->doc that is a usable text, else the
 * empty span. NULL ends the list. */
struct span intake_text(struct sim *, int slot, const char *const *pointers);
/* Empty when it cannot serve as an id. */
struct span intake_bounded(struct span);
/* Identity for vendors that get no tag: address and digest. */
void intake_record(struct sim *, struct sim_intake *);
/* Parses into sim->doc and keeps the payload. */
bool intake_json(struct sim *, struct span text, struct sim_intake *);

#endif
