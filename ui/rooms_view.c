/*
 * rooms_view.c - floor S: answers of nothing in place of questions that the
 * store cannot answer yet. Linked behind the store.
 */
#include "store/view.h"

#define ROOM __attribute__((weak))
#define NOTHING(name, ...) \
	ROOM int name(__VA_ARGS__); \
	ROOM int name(__VA_ARGS__) { return 0; }

NOTHING(view_next, struct view *v, const struct view_page *p,
	int (*each)(void *, const struct view_op *), void *c)
NOTHING(view_gauge, struct view *v, int64_t endpoint, int64_t minute,
	int (*each)(void *, const struct gauge_row *), void *c)
NOTHING(view_failures, struct view *v, int64_t endpoint, int limit,
	int (*each)(void *, const struct view_attempt *), void *c)
NOTHING(view_recent, struct view *v, int64_t after_id, int limit,
	int (*each)(void *, const struct view_attempt *), void *c)
NOTHING(view_live, struct view *v, const struct config *config,
	int (*each)(void *, const struct view_live *), void *c)
NOTHING(view_trail_of, struct view *v, int64_t op,
	int (*each)(void *, const struct audit_row *), void *c)
NOTHING(view_trail, struct view *v, const struct view_trail *t,
	struct view_trail_end *e,
	int (*each)(void *, const struct audit_row *), void *c)
NOTHING(view_group_notes, struct view *v, int64_t group,
	int (*each)(void *, const struct view_note *), void *c)
NOTHING(view_ages, struct view *v, enum op_state s, int64_t now_ms,
	int (*each)(void *, const struct view_ages *), void *c)
NOTHING(view_groups, struct view *v, enum op_state s, enum view_group_by by,
	const struct view_page *p,
	int (*each)(void *, const struct view_group *), void *c)

ROOM int64_t gauge_percentile_ms(const uint32_t histogram[24], int percent)
{
	(void)histogram;
	(void)percent;
	return 0;
}

ROOM int64_t view_polls(struct view *v, const struct view_page *p,
			bool unwatched,
			int (*each)(void *, const struct view_poll *),
			void *ctx)
{
	(void)v;
	(void)p;
	(void)unwatched;
	(void)each;
	(void)ctx;
	return 0;
}

ROOM const char *trail_preset_name(enum trail_preset preset)
{
	(void)preset;
	return "all";
}
