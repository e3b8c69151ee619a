/*
 * amount.h - floor S: numbers and lengths of time as panels write them.
 * Ages, clocks and records are in core/words.h.
 */
#ifndef EDCSYNC_UI_AMOUNT_H
#define EDCSYNC_UI_AMOUNT_H

#include "core/base.h"

/* "7", "48 120"; from 10 million on "12.3M", so that six or seven cells are
 * enough. */
void amount_count(int64_t n, struct buf *);
/* A countdown, rounded up: "0:42", "1:02:03", "2d04h"; never below 0:00. */
void amount_left(int64_t ms, struct buf *);
/* How long something took: "8ms", "0.4s", "30.0s", "2m05s". */
void amount_took(int64_t ms, struct buf *);
/* "12%", "<1%", "0%"; "-" of nothing. */
void amount_share(int64_t part, int64_t whole, struct buf *);

#endif
