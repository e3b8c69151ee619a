/*
 * odm.h - plays: what vendors that take XML read in a document.
 */
#ifndef EDCSYNC_SIM_ODM_H
#define EDCSYNC_SIM_ODM_H

#include "sim/sim.h"

/* Study, subject, form, TransactionTypes and the number of items; op_id is
 * what FileOID says. False: no XML. Namespaces do not matter here. */
bool odm_read(struct sim *, struct span body, struct sim_intake *);
/* The document's items, each in a ClinicalData of its own, as Rave's Clinical
 * Views show them: FORM.ITEM in FORM_LOG_LINE, with repeat keys. */
void odm_view(struct span body, struct buf *out);

#endif
