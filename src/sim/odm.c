/* odm.c - plays: reading an ODM document. */
#include <config.h>

#include "sim/odm.h"

#include <string.h>

#include "core/xml.h"
#include "sim/intake.h"
#include "sim/vendor.h"

static const struct xml_names no_names = {NULL, 0};

/* How many there are; the first one's text goes to out, which may be NULL. */
static size_t find_from(struct xml *x, const char *path, const void *from,
			struct buf *out)
{
	struct buf error = BUF_INIT;
	struct xml_path *p = xml_path_make(path, &no_names, &error);
	struct xml_found found;
	size_t n;

	assert(p);	/* the paths are ours */
	xml_find(x, p, from, &found);
	n = found.n;
	if (n && out)
		xml_found_text(&found, 0, out);
	xml_found_release(&found);
	xml_path_free(p);
	buf_release(&error);
	return n;
}

static size_t find(struct xml *x, const char *path, struct buf *out)
{
	return find_from(x, path, NULL, out);
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

/* ---- what is read back ---- */

static void show(struct xml *x, const void *item, const char *path,
		 const char *otherwise, struct buf *out)
{
	struct buf text = BUF_INIT;

	if (!find_from(x, path, item, &text))
		buf_adds(&text, otherwise);
	vendor_xml_text(out, buf_span(&text));
	buf_release(&text);
}

/* Attributes of the item and of what is around it, between fixed texts. */
static void show_item(struct xml *x, const void *item, struct buf *out)
{
	static const struct {
		const char *before, *path, *otherwise;
	} part[] = {
		{"<ClinicalData StudyOID=\"", "../../../../../@StudyOID", ""},
		{"\" MetaDataVersionOID=\"1\"><SubjectData SubjectKey=\"",
		 "../../../../@SubjectKey", ""},
		{"\"><SiteRef LocationOID=\"MDSOL\"/><StudyEventData "
		 "StudyEventOID=\"", "../../../@StudyEventOID", ""},
		{"\" StudyEventRepeatKey=\"",
		 "../../../@StudyEventRepeatKey", "1"},
		{"\"><FormData FormOID=\"", "../../@FormOID", ""},
		{"\" FormRepeatKey=\"", "../../@FormRepeatKey", "1"},
		{"\"><ItemGroupData ItemGroupOID=\"", "../../@FormOID", ""},
		{"_LOG_LINE\" ItemGroupRepeatKey=\"",
		 "../@ItemGroupRepeatKey", "1"},
		{"\"><ItemData ItemOID=\"", "../../@FormOID", ""},
		{".", "@ItemOID", ""},
		{"\" Value=\"", "@Value", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		buf_adds(out, part[i].before);
		show(x, item, part[i].path, part[i].otherwise, out);
	}
	buf_adds(out, "\"/></ItemGroupData></FormData></StudyEventData>"
		 "</SubjectData></ClinicalData>");
}

void odm_view(struct span body, struct buf *out)
{
	struct xml *x = xml_open(body, &no_names, NULL);
	struct buf error = BUF_INIT;
	struct xml_path *items;
	struct xml_found found;

	if (!x)
		return;
	items = xml_path_make("//*[local-name() = 'ItemData']", &no_names,
			      &error);
	assert(items);
	xml_find(x, items, NULL, &found);
	for (size_t i = 0; i < found.n; i++)
		show_item(x, xml_found_node(&found, i), out);
	xml_found_release(&found);
	xml_path_free(items);
	buf_release(&error);
	xml_free(x);
}
