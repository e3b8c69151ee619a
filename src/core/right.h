/*
 * right.h - floor 0: role x right, deny by default (DESIGN.md section 10).
 * Roles are a set. One table: names, help, man page and test input.
 */
#ifndef EDCSYNC_CORE_RIGHT_H
#define EDCSYNC_CORE_RIGHT_H

#include "core/base.h"

enum role { ROLE_VIEWER = 1, ROLE_ONCALL = 2, ROLE_MANAGER = 4,
	    ROLE_AUDITOR = 8, ROLE_ADMIN = 16 };

/* X(symbol, verb as on the command line) */
#define RIGHTS(X) \
	X(LIST, "list") X(NOTE, "annotate") X(CHECK, "check") \
	X(PAUSE, "pause") X(RESUME, "resume") X(PROBE, "probe") \
	X(REPLAY_UNSENT, "replay_unsent") X(REVEAL, "reveal") \
	X(REPLAY, "replay") X(EDIT, "edit") X(RESOLVE, "resolve") \
	X(DISCARD, "discard") X(UNDISCARD, "undiscard") \
	X(FINDINGS, "findings") X(UNCLEAR, "unclear") X(AUDIT, "audit") \
	X(REVIEW, "review") X(PACK, "pack") X(OPERATOR, "operator") \
	X(CONFIGURE, "configure") X(BACKUP, "backup") \
	X(DECLARE_GAP, "declare_gap")

enum right {
#define X(sym, name) RIGHT_##sym,
	RIGHTS(X)
#undef X
	RIGHT_COUNT
};

const char *right_name(enum right);
bool right_held(unsigned roles, enum right);
bool role_parse(struct span, unsigned *role);
void roles_text(unsigned roles, struct buf *out);

/* Reason codes of interventions (closed list; free text goes beside). */
#define REASON_CODES(X) \
	X("VENDOR_RECOVERED", "the vendor works again") \
	X("DATA_VERIFIED", "checked by hand against the source") \
	X("SOURCE_CORRECTED", "the source sends or sent a correction") \
	X("DUPLICATE", "the same data went another way") \
	X("TEST_DATA", "not real data") \
	X("MAINTENANCE", "planned work") \
	X("INCIDENT", "unplanned trouble") \
	X("OTHER", "see the text")
bool reason_code_known(struct span);

#endif
