/*
 * intake.h - floor 1: submit lines into operations (CONTRACT.md "Submit
 * lines"; DESIGN.md section 6). Parsing is pure and bounded; storing happens
 * inside the caller's transaction (1000 lines each).
 */
#ifndef EDCSYNC_STORE_INTAKE_H
#define EDCSYNC_STORE_INTAKE_H

#include "core/decide.h"
#include "store/store.h"

/* One parsed line. */
struct line {
	struct op op;			/* identity, method, path, digests */
	char *endpoint;
	struct buf payload, sent;	/* sent empty when not spliced */
	struct buf canonical;
	bool op_id_given;
	sha256_hex content_sha256;	/* endpoint, method, path, record,
					 * canonical: "same content" */
	struct span text;		/* the line itself, borrowed */
};

struct intake_in {
	const struct config *config;
	const char *endpoint;		/* --endpoint, or NULL */
	/* Reads payload_file (relative to the line's file). False: error. */
	bool (*read_file)(void *ctx, const char *name, struct buf *out,
			  struct buf *error);
	void *ctx;
};

struct line_result {
	enum submit_result result;
	enum submit_why why;
	char op_id[LIMIT_OP_ID_BYTES + 1];
	sha256_hex idem_key;
	enum op_state state;
	bool needs_person;		/* exists in a state that does */
	char error[400];		/* refused, unclear: what, what to do */
	int error_column;
};

/* False: refused; result->error says why (never a payload value). */
bool line_parse(struct line *, struct span text, const struct intake_in *,
		struct line_result *);
void line_release(struct line *);
/* Applies the rules of "submitting again" and inserts. */
int line_store(struct store *, struct line *, const struct intake_in *,
	       const struct submission_row *, int64_t line_number,
	       int64_t now_ms, struct line_result *);
/* A person accepts or refuses a kept line. */
int unclear_decide(struct store *, int64_t id, bool accept,
		   const struct config *, int64_t now_ms,
		   struct line_result *);

#endif
