#include "core/right.h"

#define R(right) (1u << RIGHT_##right)

#define VIEWER (R(LIST) | R(NOTE))
#define ONCALL (VIEWER | R(CHECK) | R(PAUSE) | R(RESUME) | R(PROBE) | \
		R(REPLAY_UNSENT))
#define MANAGER (ONCALL | R(REVEAL) | R(REPLAY) | R(EDIT) | R(RESOLVE) | \
		 R(DISCARD) | R(UNDISCARD) | R(FINDINGS) | R(UNCLEAR) | \
		 R(DECLARE_GAP))

/* DESIGN.md section 10. Administration carries no right over records. */
static const struct {
	enum role role;
	const char *name, *other;	/* both are understood */
	unsigned rights;
} roles[] = {
	{ROLE_VIEWER, "viewer", "viewer", VIEWER},
	{ROLE_ONCALL, "on-call", "oncall", ONCALL},
	{ROLE_MANAGER, "data-manager", "manager", MANAGER},
	{ROLE_AUDITOR, "auditor", "auditor",
	 R(LIST) | R(AUDIT) | R(REVIEW) | R(PACK)},
	{ROLE_ADMIN, "administrator", "admin",
	 R(OPERATOR) | R(CONFIGURE) | R(BACKUP)},
};

static const char *const right_names[] = {
#define X(sym, name) name,
	RIGHTS(X)
#undef X
};

_Static_assert(RIGHT_COUNT <= 32, "rights fit a set");

const char *right_name(enum right right)
{
	assert(right < RIGHT_COUNT);
	return right_names[right];
}

bool right_held(unsigned held, enum right right)
{
	assert(right < RIGHT_COUNT);
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (held & roles[i].role && roles[i].rights & 1u << right)
			return true;
	return false;
}

bool role_parse(struct span name, unsigned *role)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		if (span_is(name, roles[i].name) ||
		    span_is(name, roles[i].other)) {
			*role = roles[i].role;
			return true;
		}
	}
	return false;
}

void roles_text(unsigned held, struct buf *out)
{
	const char *comma = "";

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		if (!(held & roles[i].role))
			continue;
		buf_adds(out, comma);
		buf_adds(out, roles[i].name);
		comma = ",";
	}
}

bool reason_code_known(struct span code)
{
	static const char *const codes[] = {
#define X(code_, words) code_,
		REASON_CODES(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (span_is(code, codes[i]))
			return true;
	return false;
}
