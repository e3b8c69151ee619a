/* odm.c - plays: reading an ODM document. */
#include <config.h>

#include "sim/odm.h"

#include <string.h>

#include "core/xml.h"
#include "sim/intake.h"

static const struct xml_names no_names = {NULL, 0};

/* How many there are; the first one's text goes to out, which may be NULL. */
static size_t find(struct xml *x, const char *path, struct buf *out)
{
	struct buf error = BUF_INIT;
	struct xml_path *p = xml_path_make(path, &no_names, &error);
	struct xml_found found;
	size_t n;

	assert(p);	/* the paths are ours */
	xml_find(x, p, NULL, &found);
	n = found.n;
	if (n && out)
		xml_found_text(&found, 0, out);
	xml_found_release(&found);
	xml_path_free(p);
	buf_release(&error);
	return n;
}

static struct span attribute(struct sim *sim, struct xml *x, int slot,
			     const char *path)
{
	struct buf *b = &sim->text[slot];

	buf_clear(b);
	if (!find(x, path, b))
		return (struct span){NULL, 0};
	return intake_bounded(buf_span(b));
}

bool odm_read(struct sim *sim, struct span body, struct sim_intake *in)
{
	struct sim_facts *facts = &sim->facts;
	struct xml *x = xml_open(body, &no_names, NULL);

	if (!x)
		return false;
	facts->xml = true;
	facts->named = find(x, "/*[namespace-uri() != '']", NULL);
	facts->insert = find(x, "//@TransactionType[. = 'Insert']", NULL);
	facts->update = find(x, "//@TransactionType[. = 'Update' or "
			     ". = 'Upsert']", NULL);
	facts->items = (uint32_t)find(x, "//*[local-name() = 'ItemData']",
				      NULL);
	in->op_id = attribute(sim, x, INTAKE_TAG, "/*/@FileOID");
	in->study = attribute(sim, x, INTAKE_STUDY, "//@StudyOID");
	in->subject = attribute(sim, x, INTAKE_SUBJECT, "//@SubjectKey");
	in->form = attribute(sim, x, INTAKE_FORM, "//@FormOID");
	xml_free(x);
	return true;
}
