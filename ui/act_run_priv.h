/*
 * act_run_priv.h - floor S: what act_run.c and act_run_endpoint.c share. All
 * in the lane's thread.
 */
#ifndef EDCSYNC_UI_ACT_RUN_PRIV_H
#define EDCSYNC_UI_ACT_RUN_PRIV_H

#include "ui/act_run.h"

enum { RUN_ENDS_BYTES = 1024 };

/* Trouble: the run is over, and says so. */
void run_fail(struct act_run *, const char *words);
/* Is this person still somebody here, and may they? Else it is recorded, and
 * the run is over. */
bool run_permitted(struct act_run *, struct store *, int64_t now_ms);
/* An endpoint that the list is about. */
void run_add_endpoint(struct act_run *, const char *name);
/* Which of them stand still, and why. */
void run_find_stops(struct act_run *, const struct work_room *);
void run_judge_endpoint(struct act_run *, struct store *, struct work_room *);
void run_act_endpoint(struct act_run *, struct store *, struct work_room *);

#endif
