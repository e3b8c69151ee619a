/*
 * act_follow.h - floor S: requests (check, probe) that the holder of the
 * engine lock carries out, followed until each is answered. They are looked
 * at once a second, in the READ lane; a toast tells what came of them. A few
 * operations that were replayed are followed for some seconds, too: that they
 * came back at once is told, that all is well is not.
 */
#ifndef EDCSYNC_UI_ACT_FOLLOW_H
#define EDCSYNC_UI_ACT_FOLLOW_H

#include "ui/chosen.h"
#include "ui/session_priv.h"

/* Beyond these the answers stand in the lists, as all else. */
enum { FOLLOW_MAX = 1000, FOLLOW_OPS_MAX = 50 };

struct follow *follow_new(enum act_verb, const char *words);
/* name: of what is asked about. False: enough. */
bool follow_add(struct follow *, int64_t request, const char *name);
/* An operation that was replayed; not mixed with requests. */
bool follow_add_op(struct follow *, const char *op_id);
void follow_drop(struct follow *);	/* NULL is fine */
/* Takes it. One without requests is dropped. */
void follow_begin(struct session *, struct follow *);

#endif
