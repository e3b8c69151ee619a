#include "core/compare.h"
#include "core/lookup.h"
#include "core/request.h"
#include "core/utf8.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct looking {
	struct opened *o;
	const struct profile *profile;
	const char *tag, *payload_sha256;
	struct span payload;
	struct json sent;
	bool sent_read;			/* tried, as JSON or as XML */
	bool sent_ok;
	struct xml *sent_xml;
	bool too_costly, shows_nothing;
	bool seen_again;		/* on this page */
	struct lookup_state *state;
};

/* pointer in sent against compare_under + pointer in the item */
static bool field_equal(struct looking *l, uint32_t item, const char *pointer)
{
	const struct json *doc = l->o->doc;
	const char *under = l->profile->lookup.compare_under;
	uint32_t base = json_pointer(doc, item, span_of(under ? under : ""));
	uint32_t theirs = json_pointer(doc, base, span_of(pointer));
	uint32_t sent;

	if (!l->payload.p)
		return true;
	if (!l->sent_read) {
		l->sent_read = true;
		l->sent_ok = json_parse(&l->sent, l->payload.p, l->payload.n,
					0);
	}
	if (!l->sent_ok)
		return false;
	sent = json_pointer(&l->sent, 0, span_of(pointer));
	if (sent == JSON_NONE)		/* not sent, so nothing to compare */
		return true;
	return theirs != JSON_NONE && compare_json(&l->sent, sent, doc, theirs);
}

static void differs(struct looking *l, const char *pointer)
{
	if (l->state->differs)
		return;
	l->state->differs = true;
	text_set(l->state->differs_at, sizeof(l->state->differs_at),
		 span_of(pointer[0] ? pointer : "(whole)"));
}

static void json_compare(struct looking *l, uint32_t item)
{
	const struct profile *p = l->profile;
	struct buf hash = BUF_INIT;

	for (size_t i = 0; i < p->lookup.compare.n; i++)
		if (!field_equal(l, item, p->lookup.compare.v[i]))
			differs(l, p->lookup.compare.v[i]);
	if (p->lookup.payload_sha256 && l->payload_sha256 &&
	    l->payload_sha256[0] &&
	    json_string(l->o->doc, json_pointer(l->o->doc, item,
				span_of(p->lookup.payload_sha256)), &hash) &&
	    (hash.len != 64 || strncasecmp(hash.p, l->payload_sha256, 64)))
		differs(l, p->lookup.payload_sha256);
	buf_release(&hash);
}

static bool names_ours(const char *template)
{
	return template && (strstr(template, "{op_id}") ||
			    strstr(template, "{key}"));
}

/* Does what identifies a record name this operation, or its record alone? */
static bool tag_is_ours(const struct profile *p)
{
	return !p->lookup.tag_is || names_ours(p->lookup.tag_is);
}

/* Where the record alone is known by its tag, values have to show that it is
 * what was sent: a document without any shows nothing. */
static void xml_compare(struct looking *l, const void *item)
{
	const struct compare_paths *paths = &l->profile->lookup.compare_xml;
	bool known = l->payload.p != NULL, any = false;

	if (known && paths->n && !l->sent_read) {
		l->sent_read = true;
		l->sent_xml = xml_open(l->payload, &l->profile->xml, NULL);
	}
	for (size_t i = 0; known && i < paths->n; i++) {
		enum compared is = l->sent_xml ?
			compare_xml(&paths->v[i], l->sent_xml, l->o->xml.xml,
				    item) : COMPARED_DIFFERS;

		any = any || is != COMPARED_NOTHING;
		if (is == COMPARED_DIFFERS)
			differs(l, xml_path_text(paths->v[i].sent));
		l->too_costly = l->too_costly || is == COMPARED_TOO_COSTLY;
	}
	l->shows_nothing = l->shows_nothing ||
		(paths->n && !any && !tag_is_ours(l->profile));
}

/* A record of the list, in either kind of document. */
struct item {
	uint32_t node;
	const void *xml;
};

static struct cond_world world_of(struct looking *l, const struct item *item)
{
	struct cond_world w = classify_world(l->o);

	w.item = item->node;
	w.xml_item = item->xml;
	return w;
}

static bool has_tag(struct looking *l, const struct item *item)
{
	const struct sources *tag = &l->profile->lookup.tag;
	struct cond_world w = world_of(l, item);
	struct buf text = BUF_INIT;
	bool has = false;

	for (size_t i = 0; i < tag->n && !has; i++) {
		struct sources one = {&tag->v[i], 1};

		buf_clear(&text);
		has = sources_find(&one, &w, &text) &&
			span_is(buf_span(&text), l->tag);
	}
	buf_release(&text);
	return has;
}

static void item_status(struct looking *l, const struct item *item,
			const char *id)
{
	const struct profile *p = l->profile;
	struct cond_world w = world_of(l, item);
	struct buf word = BUF_INIT;
	struct span s;

	if (p->lookup.status.n)
		sources_find(&p->lookup.status, &w, &word);
	s = buf_span(&word);
	if (text_list_has(&p->lookup.running, s, p->poll.fold)) {
		l->state->running = true;
		text_set(l->state->job_id, sizeof(l->state->job_id),
			 span_of(id));
	}
	if (text_list_has(&p->lookup.refused, s, p->poll.fold))
		l->state->refused = true;
	if (text_list_has(&p->lookup.gone, s, p->poll.fold))
		differs(l, "(status)");
	if (s.n)
		classify_text(l->o->out->word, sizeof(l->o->out->word), s);
	buf_release(&word);
}

static void found_item(struct looking *l, const struct item *item)
{
	struct cond_world w = world_of(l, item);
	char id[LIMIT_ID_BYTES + 1] = "";
	struct buf text = BUF_INIT;

	if (l->profile->lookup.id.n &&
	    sources_find(&l->profile->lookup.id, &w, &text))
		classify_id(id, sizeof(id), buf_span(&text));
	buf_release(&text);
	if (l->state->found && id[0] && !strcmp(id, l->state->id)) {
		l->seen_again = true;
		return;
	}
	l->state->found++;
	if (l->state->found == 1)
		text_set(l->state->id, sizeof(l->state->id), span_of(id));
	item_status(l, item, id);
	if (l->state->running || l->state->refused)
		return;
	if (l->o->doc)
		json_compare(l, item->node);
	else
		xml_compare(l, item->xml);
}

static void one_item(struct looking *l, const struct item *item)
{
	l->state->items++;
	if (!has_tag(l, item))
		return;
	l->state->ours++;
	found_item(l, item);
}

/* Is "next" among the relations of these parameters? However it is spelled:
 * a page that is overlooked would make an absence of nothing. */
static bool is_next(struct span params)
{
	bool rel = false;

	for (size_t i = 0; i < params.n; i++) {
		const char *p = params.p + i;

		if (!strchr(" \t\"=;,", i ? p[-1] : ';'))
			continue;
		if (*p == ';')
			rel = false;
		else if (params.n - i >= 3 && !strncasecmp(p, "rel", 3) &&
			 (params.n - i == 3 || strchr(" \t=", p[3])))
			rel = true;
		else if (rel && params.n - i >= 4 &&
			 !strncasecmp(p, "next", 4) && (params.n - i == 4 ||
			 strchr(" \t\";,", p[4])))
			return true;
	}
	return false;
}

/* Link: <address>; rel="next" (RFC 8288), the only relation read. */
static struct span link_next(const struct answer *a)
{
	for (size_t i = 0; i < a->headers_n; i++) {
		struct span v = a->headers[i].value;
		const char *from, *end, *stop = v.p + v.n;

		if (a->headers[i].name.n != 4 ||
		    strncasecmp(a->headers[i].name.p, "Link", 4))
			continue;
		for (; v.n && (from = memchr(v.p, '<', v.n)); v.p = end) {
			struct span params;

			end = memchr(from, '>', (size_t)(stop - from));
			if (!end)
				break;
			params = (struct span){end + 1,
					       (size_t)(stop - end - 1)};
			v.n = (size_t)(stop - end);
			if (memchr(end, '<', v.n))
				params.n = (size_t)((const char *)
					memchr(end, '<', v.n) - params.p);
			if (is_next(params))
				return (struct span){from + 1,
						     (size_t)(end - from - 1)};
		}
	}
	return (struct span){NULL, 0};
}

enum paging { LAST_PAGE, NEXT_PAGE, ODD_PAGE };

static enum paging paging(struct looking *l)
{
	struct opened *o = l->o;
	const char *pointer = l->profile->lookup.next;
	uint32_t node = pointer && o->doc && json_is(o->doc, 0, JSON_OBJECT) ?
		json_seek(o->doc, 0, pointer) : JSON_NONE;
	struct span next = link_next(o->answer);
	struct buf text = BUF_INIT;
	bool ok = true;

	if (node != JSON_NONE && !json_is(o->doc, node, JSON_NULL) &&
	    !json_is(o->doc, node, JSON_FALSE)) {
		ok = json_string(o->doc, node, &text);
		if (ok && text.len)
			next = buf_span(&text);
	}
	if (ok && next.n)
		ok = classify_id(o->out->next_page, sizeof(o->out->next_page),
				 next);
	buf_release(&text);
	if (!ok)
		return ODD_PAGE;
	return o->out->next_page[0] ? NEXT_PAGE : LAST_PAGE;
}

/* Did the request ask for our tag, and is that all that came? */
static bool asked_for_ours(const struct looking *l)
{
	const struct body_template *body = &l->profile->lookup.body;
	bool asked = names_ours(l->profile->lookup.url);

	for (size_t i = 0; i < body->n && !asked; i++)
		asked = names_ours(body->v[i].value);
	return asked && l->state->ours == l->state->items;
}

/* Whether what was found is the only one is still to be seen. */
static bool may_be_another(const struct looking *l, enum paging page)
{
	const struct lookup_state *s = l->state;

	return page == NEXT_PAGE && s->pages < l->profile->lookup.pages_max &&
		!l->seen_again && asked_for_ours(l);
}

static void inconclusive(struct looking *l, enum paging page)
{
	const char *rule = page == ODD_PAGE ? "look-up-odd-page" :
		"look-up-too-many-pages";
	const char *why = "the list could not be read to its end";

	if (l->too_costly) {
		rule = "look-up-too-costly";
		why = "comparing took too many steps";
	} else if (l->shows_nothing) {
		rule = "look-up-no-values";
		why = "nothing that was sent can be compared";
	}
	classify_say(l->o, VERDICT_INCONCLUSIVE, rule, why);
}

/* One page may find it as it was sent. That the vendor refused it, or holds
 * something else, is only said by all of them: the next one may show it. */
static void conclude(struct looking *l, enum paging page)
{
	struct lookup_state *s = l->state;
	struct opened *o = l->o;
	bool believed = s->found && !may_be_another(l, page);

	o->out->complete = page == LAST_PAGE;
	assert(page != LAST_PAGE || l->state->pages > 0);
	if (l->too_costly || l->shows_nothing)
		inconclusive(l, page);
	else if (s->found > 1)
		classify_say(o, VERDICT_SEVERAL, "look-up-several",
			     "the vendor holds our tag more than once");
	else if (page == LAST_PAGE && s->found && s->refused)
		classify_say(o, VERDICT_REJECT, "look-up-refused",
			     "the vendor shows it refused");
	else if (believed && s->running && !s->refused)
		classify_say(o, VERDICT_RUNNING, "look-up-running",
			     "the vendor still works on it");
	else if (page == LAST_PAGE && s->found && s->differs)
		classify_say(o, VERDICT_DIFFERS, "look-up-differs",
			     "the vendor holds something else under our tag");
	else if (believed && !s->refused && !s->differs)
		classify_say(o, VERDICT_FOUND, "look-up-found",
			     "the vendor holds it as it was sent");
	else if (page == NEXT_PAGE && s->pages < l->profile->lookup.pages_max)
		classify_say(o, VERDICT_MORE_PAGES, "look-up-more",
			     s->found ? "found; the next page may hold "
			     "another" : "not on this page; there are more");
	else if (page == LAST_PAGE && !s->found)
		classify_say(o, VERDICT_ABSENT, "look-up-absent",
			     "not among all that the vendor listed");
	else
		inconclusive(l, page);
	if (o->out->verdict != VERDICT_MORE_PAGES)
		o->out->next_page[0] = 0;
	text_set(o->out->vendor_id, sizeof(o->out->vendor_id),
		 span_of(strlen(s->id) < sizeof(o->out->vendor_id) ?
			 s->id : ""));
	text_set(o->out->job_id, sizeof(o->out->job_id), span_of(s->job_id));
}

static bool json_items(struct looking *l, const char *pointer)
{
	const struct json *doc = l->o->doc;
	uint32_t list = doc ? json_pointer(doc, 0, span_of(pointer)) :
		JSON_NONE;

	if (!json_is(doc, list, JSON_ARRAY))
		return false;
	for (uint32_t kid = json_child(doc, list); kid != JSON_NONE;
	     kid = json_next(doc, kid))
		one_item(l, &(struct item){kid, NULL});
	return true;
}

/* In XML an empty list and none look alike: there has to be an element. */
static bool xml_items(struct looking *l, const struct xml_path *path)
{
	struct cond_world w = classify_world(l->o);
	struct xml *xml = world_xml(&w);
	struct xml_found found;
	size_t n;

	if (!xml)
		return false;
	xml_find(xml, path, NULL, &found);
	n = found.n;
	for (size_t i = 0; i < n; i++)
		if (xml_found_node(&found, i))
			one_item(l, &(struct item){0,
				xml_found_node(&found, i)});
	xml_found_release(&found);
	return n > 0 && !xml_spoiled(xml);
}

static void read_items(struct looking *l)
{
	const struct sources *items = &l->profile->lookup.items;
	bool list = false;

	for (size_t i = 0; i < items->n && !list; i++)
		list = items->v[i].kind == SOURCE_XPATH ?
			xml_items(l, items->v[i].path) :
			items->v[i].kind == SOURCE_JSON &&
			json_items(l, items->v[i].at);
	if (!list && l->profile->lookup.empty) {
		struct cond_world w = classify_world(l->o);

		list = cond_holds(l->profile->lookup.empty, &w);
	}
	if (!list) {
		classify_say(l->o, VERDICT_INCONCLUSIVE, "look-up-odd-shape",
			     "the answer shows no list of records");
		return;
	}
	l->state->pages++;
	conclude(l, paging(l));
}

static void other_status(struct looking *l)
{
	int status = l->o->answer->status;

	if (status == 404 && l->profile->lookup.absent_404 &&
	    !l->state->pages && l->o->body != BODY_HTML) {
		l->o->out->complete = true;
		classify_say(l->o, VERDICT_ABSENT, "look-up-absent-404",
			     "the vendor answers 404 for what it has not");
	} else if (status == 503 || status == 408 || status == 425) {
		classify_say(l->o, VERDICT_RETRY, "look-up-unavailable",
			     "the vendor is not available");
	} else if (status >= 500) {
		classify_say(l->o, VERDICT_UNKNOWN, "look-up-trouble",
			     "the vendor failed to answer the look-up");
	} else {
		classify_say(l->o, VERDICT_INCONCLUSIVE, "look-up-refused-us",
			     "the look-up itself was not answered");
	}
}

const char *lookup_tag(const struct profile *p, const struct op *op,
		       struct buf *out)
{
	struct buf error = BUF_INIT;
	bool ok = request_text(p->lookup.tag_is ? p->lookup.tag_is :
			       "{op_id}", op, (struct span){NULL, 0}, out,
			       &error);

	buf_release(&error);
	return ok && out->len ? buf_text(out) : NULL;
}

void lookup_read(const struct classify_in *in, const char *tag,
		 struct span payload, const char *payload_sha256,
		 const struct answer *answer, struct lookup_state *state,
		 struct verdict_out *out)
{
	struct opened o;
	struct looking l = {.o = &o, .profile = in->profile, .tag = tag,
			    .payload_sha256 = payload_sha256,
			    .payload = payload, .state = state};

	assert(in->profile->lookup.present);
	classify_open(&o, in, answer, out);
	o.look_up = true;
	if (classify_transport(&o) ||
	    classify_envelope(&o, &in->profile->rules) ||
	    classify_access(&o)) {
		/* decided */
	} else if (!tag || !tag[0]) {
		classify_say(&o, VERDICT_INCONCLUSIVE, "look-up-no-tag",
			     "the record lacks a part by which it is known "
			     "at the vendor");
	} else if (answer->status == 200) {
		read_items(&l);
	} else {
		other_status(&l);
	}
	json_release(&l.sent);
	xml_free(l.sent_xml);
	classify_close(&o);
}
