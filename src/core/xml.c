#define _GNU_SOURCE			/* memmem */

#include "core/xml.h"

#include <libxml/c14n.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/utf8.h"

#define PARSE_OPTIONS (XML_PARSE_NONET | XML_PARSE_NOERROR | \
	XML_PARSE_NOWARNING | XML_PARSE_NOCDATA | XML_PARSE_IGNORE_ENC | \
	XML_PARSE_COMPACT)

struct xml_path {
	char *text;
	/* NULL where a function is called: libxml2 remembers in the compiled
	 * expression where functions are, and threads would share that. */
	xmlXPathCompExprPtr compiled;
};

struct xml {
	xmlDocPtr doc;
	xmlXPathContextPtr context;
	const struct xml_names *names;
	bool spoiled, ordered;
};

#if LIBXML_VERSION >= 21200
static void silent(void *ctx, const xmlError *error)
#else
static void silent(void *ctx, xmlErrorPtr error)
#endif
{
	(void)ctx;
	(void)error;
}

/* ---- bytes to UTF-8 ---- */

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Blanks, marks of any charset, stray bytes of a mark decoded twice. */
static struct span from_bracket(struct span s)
{
	size_t n = 0;

	while (n < s.n && n < 64 &&
	       (blank(s.p[n]) || (unsigned char)s.p[n] >= 0x80))
		n++;
	if (n < s.n && s.p[n] == '<') {
		s.p += n;
		s.n -= n;
	}
	return s;
}

bool xml_looks_like(struct span s)
{
	s = from_bracket(s);
	if (s.n > 3 && (!memcmp(s.p, "\xff\xfe<\0", 4) ||
			!memcmp(s.p, "\xfe\xff\0<", 4)))
		return true;
	return s.n > 1 && s.p[0] == '<' &&
		(s.p[1] == '!' || s.p[1] == '?' || s.p[1] == '_' ||
		 (unsigned char)s.p[1] >= 0x80 ||
		 ((s.p[1] | 0x20) >= 'a' && (s.p[1] | 0x20) <= 'z'));
}

static void from_utf16(struct span s, bool big, struct buf *out)
{
	uint32_t high = 0;

	for (size_t i = 2; i + 1 < s.n; i += 2) {
		uint32_t a = (unsigned char)s.p[i + !big];
		uint32_t unit = a << 8 | (unsigned char)s.p[i + big];

		if (high && unit >> 10 == 0x37) {
			utf8_encode(out, 0x10000 + ((high & 0x3ff) << 10) +
				    (unit & 0x3ff));
			high = 0;
			continue;
		}
		if (high)
			utf8_encode(out, 0xfffd);
		high = unit >> 10 == 0x36 ? unit : 0;
		if (!high)
			utf8_encode(out, unit >> 10 == 0x37 ? 0xfffd : unit);
	}
}

static void from_latin1(struct span s, struct buf *out)
{
	for (size_t i = 0; i < s.n; i++)
		utf8_encode(out, (unsigned char)s.p[i]);
}

/* The text as UTF-8, in place where it is that already. */
static struct span readable(struct span s, struct buf *own)
{
	bool big = s.n > 1 && !memcmp(s.p, "\xfe\xff", 2);

	if (big || (s.n > 1 && !memcmp(s.p, "\xff\xfe", 2))) {
		from_utf16(s, big, own);
		return buf_span(own);
	}
	s = from_bracket(s);
	if (utf8_valid(s))
		return s;
	from_latin1(s, own);
	return buf_span(own);
}

/* ---- bounds, counted before libxml2 sees anything ---- */

struct counts {
	size_t elements, namespaces;
};

/* The end of a tag that starts at p, behind its ">"; NULL: refused. */
static const char *tag_end(const char *p, const char *end, struct counts *c)
{
	size_t attributes = 0;
	char quote = 0;

	for (; p < end; p++) {
		if (quote) {
			quote = *p == quote ? 0 : quote;
		} else if (*p == '"' || *p == '\'') {
			quote = *p;
		} else if (*p == '=') {
			if (++attributes > XML_ATTRIBUTES_MAX)
				return NULL;
		} else if (*p == 'x' && end - p > 5 && !memcmp(p, "xmlns", 5)) {
			c->namespaces++;
		} else if (*p == '>') {
			return p + 1;
		}
	}
	return end;
}

static const char *after(const char *p, const char *end, const char *mark)
{
	const char *at = memmem(p, (size_t)(end - p), mark, strlen(mark));

	return at ? at + strlen(mark) : end;
}

/* NULL when it is within bounds, else why it is not read. */
static const char *out_of_bounds(struct span s)
{
	const char *p = s.p, *end = s.p + s.n;
	struct counts c = {0, 0};

	if (memchr(s.p, 0, s.n))
		return "it holds a NUL";
	while (p && (p = memchr(p, '<', (size_t)(end - p)))) {
		size_t left = (size_t)(end - p);

		if (left > 3 && !memcmp(p, "<!--", 4)) {
			p = after(p + 4, end, "-->");
		} else if (left > 8 && !memcmp(p, "<![CDATA[", 9)) {
			p = after(p + 9, end, "]]>");
		} else if (left > 1 && p[1] == '?') {
			p = after(p + 2, end, "?>");
		} else if (left > 1 && p[1] == '!') {
			return "it has a document type or other declarations";
		} else {
			c.elements += left > 1 && p[1] != '/';
			p = tag_end(p + 1, end, &c);
		}
		if (!p)
			return "an element has too many attributes";
		if (c.elements > XML_ELEMENTS_MAX)
			return "it has too many elements";
		if (c.namespaces > XML_NS_MAX)
			return "it declares too many namespaces";
	}
	return NULL;
}

/* s is UTF-8. */
static xmlDocPtr parse(struct span s, struct buf *error)
{
	const char *why = s.n ? out_of_bounds(s) : "it is empty";
	xmlParserCtxtPtr parser;
	xmlDocPtr doc = NULL;

	xmlInitParser();
	if (!why && s.n > LIMIT_LINE_BYTES)
		why = "it is over 16 MiB";
	if (!why) {
		parser = xmlNewParserCtxt();
		assert(parser);
		doc = xmlCtxtReadMemory(parser, s.p, (int)s.n, NULL, "UTF-8",
					PARSE_OPTIONS);
		if (doc && (doc->intSubset || !xmlDocGetRootElement(doc))) {
			xmlFreeDoc(doc);
			doc = NULL;
		}
		if (!doc && error)
			buf_addf(error, "not well-formed XML, line %d",
				 parser->lastError.line);
		xmlFreeParserCtxt(parser);
	} else if (error) {
		buf_addf(error, "not read as XML: %s", why);
	}
	return doc;
}

/* ---- expressions ---- */

/* May stand before a bracket and are no functions. */
static const char node_types[] = " text node comment "
	"processing-instruction and or div mod ";
static const char functions[] = " last position count local-name "
	"namespace-uri name string concat starts-with contains "
	"substring-before substring-after substring string-length "
	"normalize-space translate boolean not true false number sum floor "
	"ceiling round ";

static bool word_of(const char *words, const char *p, size_t n)
{
	char word[40];

	if (n + 3 > sizeof(word))
		return false;
	word[0] = ' ';
	memcpy(word + 1, p, n);
	memcpy(word + 1 + n, " ", 2);
	return strstr(words, word) != NULL;
}

static bool declared(const struct xml_names *names, const char *p, size_t n)
{
	if (n == 3 && !memcmp(p, "xml", 3))
		return true;
	for (size_t i = 0; i < names->n; i++)
		if (span_is((struct span){p, n}, names->v[i].prefix))
			return true;
	return false;
}

static bool name_starts(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
		(unsigned char)c >= 0x80;
}

static size_t name_length(const char *p)
{
	size_t n = 0;

	while (name_starts(p[n]) || (p[n] >= '0' && p[n] <= '9') ||
	       p[n] == '.' || p[n] == '-')
		n++;
	return n;
}

/* What the syntax alone does not show before it is evaluated: prefixes and
 * functions. */
static bool check_names(const char *text, const struct xml_names *names,
			bool *calls, struct buf *error)
{
	for (const char *p = text; *p; ) {
		size_t n = name_starts(*p) ? name_length(p) : 0;
		const char *next = p + n;

		if (*p == '"' || *p == '\'') {
			next = strchr(p + 1, *p);
			p = next ? next + 1 : p + strlen(p);
			continue;
		}
		if (*p == '$') {
			buf_adds(error, "an XPath here has no variables");
			return false;
		}
		if (!n) {
			p++;
			continue;
		}
		if (next[0] == ':' && next[1] != ':') {
			if (!declared(names, p, n)) {
				buf_addf(error, "the XPath uses the prefix "
					 "\"%.*s\", which \"xml\": {\"ns\": "
					 "{...}} does not declare", (int)n, p);
				return false;
			}
			p = next + 1;
			continue;
		}
		while (blank(*next))
			next++;
		if (*next == '(' && !word_of(node_types, p, n)) {
			if (!word_of(functions, p, n)) {
				buf_addf(error, "the XPath calls %.*s(); "
					 "known are:%s", (int)n, p, functions);
				return false;
			}
			*calls = true;
		}
		p += n;
	}
	return true;
}

/* Needs no names: they are looked up when it is evaluated. */
static xmlXPathCompExprPtr compile(const char *text)
{
	xmlXPathContextPtr context = xmlXPathNewContext(NULL);
	xmlXPathCompExprPtr compiled;

	assert(context);
	context->error = silent;
	compiled = xmlXPathCtxtCompile(context, (const xmlChar *)text);
	xmlXPathFreeContext(context);
	return compiled;
}

struct xml_path *xml_path_make(const char *text, const struct xml_names *names,
			       struct buf *error)
{
	struct xml_path *path;
	bool calls = false;

	xmlInitParser();
	if (!text[0] || strlen(text) > XML_PATH_BYTES ||
	    !utf8_valid(span_of(text))) {
		buf_addf(error, "an XPath has 1 to %d bytes of UTF-8",
			 XML_PATH_BYTES);
		return NULL;
	}
	if (!check_names(text, names, &calls, error))
		return NULL;
	path = xcalloc(1, sizeof(*path));
	path->text = xstrdup(text);
	path->compiled = compile(text);
	if (!path->compiled) {
		buf_adds(error, "not an XPath 1.0 expression");
		xml_path_free(path);
		return NULL;
	}
	if (calls) {
		xmlXPathFreeCompExpr(path->compiled);
		path->compiled = NULL;
	}
	return path;
}

void xml_path_free(struct xml_path *path)
{
	if (!path)
		return;
	if (path->compiled)
		xmlXPathFreeCompExpr(path->compiled);
	free(path->text);
	free(path);
}

const char *xml_path_text(const struct xml_path *path)
{
	return path->text;
}

/* ---- documents ---- */

struct xml *xml_open(struct span bytes, const struct xml_names *names,
		     struct buf *error)
{
	struct buf own = BUF_INIT;
	xmlDocPtr doc = parse(readable(bytes, &own), error);
	struct xml *x;

	buf_release(&own);
	if (!doc)
		return NULL;
	x = xcalloc(1, sizeof(*x));
	x->doc = doc;
	x->names = names;
	return x;
}

void xml_free(struct xml *x)
{
	if (!x)
		return;
	xmlXPathFreeContext(x->context);
	xmlFreeDoc(x->doc);
	free(x);
}

bool xml_spoiled(const struct xml *x)
{
	return x && x->spoiled;
}

static xmlXPathContextPtr context_of(struct xml *x)
{
	if (x->context)
		return x->context;
	x->context = xmlXPathNewContext(x->doc);
	assert(x->context);
	x->context->error = silent;
	x->context->opLimit = XML_OPS_MAX;
	for (size_t i = 0; x->names && i < x->names->n; i++)
		xmlXPathRegisterNs(x->context,
				   (const xmlChar *)x->names->v[i].prefix,
				   (const xmlChar *)x->names->v[i].uri);
	return x->context;
}

static size_t how_many(const xmlXPathObject *o)
{
	switch (o->type) {
	case XPATH_NODESET:
		return o->nodesetval ? (size_t)o->nodesetval->nodeNr : 0;
	case XPATH_BOOLEAN:
		return o->boolval ? 1 : 0;
	case XPATH_NUMBER:
		return 1;
	case XPATH_STRING:
		return o->stringval && o->stringval[0] ? 1 : 0;
	default:
		return 0;
	}
}

void xml_find(struct xml *x, const struct xml_path *path, const void *from,
	      struct xml_found *found)
{
	xmlXPathContextPtr context = context_of(x);
	xmlXPathCompExprPtr own = path->compiled ? NULL : compile(path->text);
	xmlXPathObjectPtr o;

	context->node = from ? (xmlNodePtr)(uintptr_t)from :
		(xmlNodePtr)x->doc;
	o = xmlXPathCompiledEval(own ? own : path->compiled, context);
	if (own)
		xmlXPathFreeCompExpr(own);
	*found = (struct xml_found){o, o ? how_many(o) : 0};
	x->spoiled = x->spoiled || !o;
	if (found->n < 2)
		return;
	if (!x->ordered)
		xmlXPathOrderDocElems(x->doc);
	x->ordered = true;
	xmlXPathNodeSetSort(o->nodesetval);
}

const void *xml_found_node(const struct xml_found *found, size_t i)
{
	const xmlXPathObject *o = found->result;

	assert(i < found->n);
	if (o->type != XPATH_NODESET ||
	    o->nodesetval->nodeTab[i]->type == XML_NAMESPACE_DECL)
		return NULL;
	return o->nodesetval->nodeTab[i];
}

void xml_found_text(const struct xml_found *found, size_t i, struct buf *out)
{
	xmlXPathObjectPtr o = found->result;
	xmlChar *text;

	assert(i < found->n);
	if (o->type == XPATH_NUMBER && o->floatval == floor(o->floatval) &&
	    fabs(o->floatval) < 1e15) {
		buf_addi(out, (int64_t)o->floatval);
		return;
	}
	text = o->type == XPATH_NODESET ?
		xmlXPathCastNodeToString(o->nodesetval->nodeTab[i]) :
		xmlXPathCastToString(o);
	if (text)
		buf_adds(out, (const char *)text);
	xmlFree(text);
}

void xml_found_release(struct xml_found *found)
{
	if (found->result)
		xmlXPathFreeObject(found->result);
	*found = (struct xml_found){NULL, 0};
}

/* ---- payloads ---- */

/* The encoding that the XML declaration names; empty when it names none. */
static struct span declared_charset(struct span s)
{
	const char *end, *at;
	size_t n = 0;

	if (s.n < 6 || memcmp(s.p, "<?xml", 5) || !blank(s.p[5]))
		return (struct span){NULL, 0};
	end = after(s.p, s.p + s.n, "?>");
	at = memmem(s.p, (size_t)(end - s.p), "encoding", 8);
	if (!at)
		return (struct span){NULL, 0};
	for (at += 8; at < end && (blank(*at) || *at == '='); at++)
		;
	if (at == end || (*at != '"' && *at != '\''))
		return (struct span){NULL, 0};
	at++;
	while (at + n < end && at[n] != '"' && at[n] != '\'')
		n++;
	return (struct span){at, n};
}

static bool charset_is(struct span charset, const char *name)
{
	return charset.n == strlen(name) &&
		!xmlStrncasecmp((const xmlChar *)charset.p,
				(const xmlChar *)name, (int)charset.n);
}

/* A payload is ours: what it says of its charset has to be so. */
static bool strict_utf8(struct span bytes, struct buf *own, struct span *text,
			struct buf *error)
{
	struct span charset;

	*text = bytes;
	if (bytes.n > 1 && (!memcmp(bytes.p, "\xfe\xff", 2) ||
			    !memcmp(bytes.p, "\xff\xfe", 2))) {
		*text = readable(bytes, own);
		return true;
	}
	if (span_starts(bytes, "\xef\xbb\xbf"))
		*text = (struct span){bytes.p + 3, bytes.n - 3};
	charset = declared_charset(*text);
	if (charset_is(charset, "iso-8859-1")) {
		from_latin1(*text, own);
		*text = buf_span(own);
		return true;
	}
	if (charset.n && !charset_is(charset, "utf-8") &&
	    !charset_is(charset, "us-ascii")) {
		buf_adds(error, "its charset is not read here; use UTF-8");
		return false;
	}
	if (utf8_valid(*text))
		return true;
	buf_adds(error, "it is not valid UTF-8");
	return false;
}

static xmlDocPtr parse_payload(struct span bytes, struct buf *error)
{
	struct buf own = BUF_INIT;
	struct span text;
	xmlDocPtr doc = NULL;

	if (strict_utf8(bytes, &own, &text, error))
		doc = parse(text, error);
	buf_release(&own);
	return doc;
}

bool xml_canonical(struct span bytes, struct buf *out, struct buf *error)
{
	xmlDocPtr doc = parse_payload(bytes, error);
	xmlChar *text = NULL;
	int n;

	if (!doc)
		return false;
	xmlSetStructuredErrorFunc(NULL, silent);
	n = xmlC14NDocDumpMemory(doc, NULL, XML_C14N_EXCLUSIVE_1_0, NULL, 0,
				 &text);
	xmlSetStructuredErrorFunc(NULL, NULL);
	xmlFreeDoc(doc);
	if (n < 0) {
		buf_adds(error, "it has no canonical form: is a namespace a "
			 "relative address?");
		return false;
	}
	buf_add(out, text, (size_t)n);
	xmlFree(text);
	return true;
}

/* Behind the name of the root's start tag in a document that was parsed. */
static const char *root_name_end(struct span s, const char **name)
{
	const char *p = s.p, *end = s.p + s.n;

	while ((p = memchr(p, '<', (size_t)(end - p)))) {
		if (end - p > 4 && !memcmp(p, "<!--", 4))
			p = after(p + 4, end, "-->");
		else if (end - p > 1 && p[1] == '?')
			p = after(p + 2, end, "?>");
		else
			break;
	}
	assert(p);
	*name = ++p;
	while (p < end && !blank(*p) && *p != '>' && *p != '/')
		p++;
	return p;
}

/* The value of an attribute between its quotes, or NULL. */
static const char *attribute_at(const char *p, const char *end,
				const char *attribute, size_t *n)
{
	size_t length = strlen(attribute);

	while (p < end && *p != '>') {
		const char *name, *from;
		bool same;

		while (p < end && (blank(*p) || *p == '/'))
			p++;
		name = p;
		while (p < end && !blank(*p) && *p != '=' && *p != '>')
			p++;
		same = (size_t)(p - name) == length &&
			!memcmp(name, attribute, length);
		while (p < end && *p != '"' && *p != '\'' && *p != '>')
			p++;
		if (p == end || *p == '>')
			break;
		from = p + 1;
		p = memchr(from, *p, (size_t)(end - from));
		if (!p)
			break;
		*n = (size_t)(p - from);
		if (same)
			return from;
		p++;
	}
	return NULL;
}

static bool root_is(const char *name, const char *end, const char *root)
{
	const char *colon = memchr(name, ':', (size_t)(end - name));

	if (colon)
		name = colon + 1;
	return span_is((struct span){name, (size_t)(end - name)}, root);
}

/* XML attribute values that we put in are op ids: nothing to escape. */
static bool splice(struct span s, const char *root, const char *attribute,
		   const char *value, struct buf *out, struct buf *error)
{
	const char *name, *end = s.p + s.n, *at, *held;
	size_t n = 0;

	at = root_name_end(s, &name);
	if (!root_is(name, at, root)) {
		buf_addf(error, "its root element is not %s, where the "
			 "profile puts its tag", root);
		return false;
	}
	held = attribute_at(at, end, attribute, &n);
	if (held && n) {
		buf_addf(error, "it has a value in %s/@%s, where the profile "
			 "puts its tag", root, attribute);
		return false;
	}
	if (held)
		at = held;
	buf_add(out, s.p, (size_t)(at - s.p));
	if (held)
		buf_adds(out, value);
	else
		buf_addf(out, " %s=\"%s\"", attribute, value);
	buf_add(out, at, (size_t)(end - at));
	return true;
}

bool xml_splice_attribute(struct span bytes, const char *root,
			  const char *attribute, const char *value,
			  struct buf *out, struct buf *error)
{
	xmlDocPtr doc;

	if (bytes.n > 1 && (!memcmp(bytes.p, "\xfe\xff", 2) ||
			    !memcmp(bytes.p, "\xff\xfe", 2))) {
		buf_adds(error, "it is UTF-16, into which no tag is put");
		return false;
	}
	doc = parse_payload(bytes, error);
	if (!doc)
		return false;
	xmlFreeDoc(doc);
	return splice(bytes, root, attribute, value, out, error);
}
