/*
 * operator_priv.h - floor 1, private to operator.c and act*.c: rows of people
 * stand in SQLite only.
 */
#ifndef EDCSYNC_STORE_OPERATOR_PRIV_H
#define EDCSYNC_STORE_OPERATOR_PRIV_H

#include "store/store.h"

/* NULL with words in the store's error for another back-end. */
struct db *people_db(struct store *);
/* Words for a refusal by data; returns ST_CONFLICT. */
int people_refuse(struct store *, const char *words);
/* Ends the transaction: commit when rc is ST_OK, else rollback (keeping the
 * words). Returns what came of it. */
int people_end(struct store *, int rc);

#endif
