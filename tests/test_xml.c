/*
 * Foreign XML is read within bounds, and nothing in it expands (issue 4;
 * reference/vendors sections 1 and 9: marks, charsets, blanks around "=").
 */
#include "check.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/utf8.h"
#include "core/xml.h"

#define ODM "http://www.cdisc.org/ns/odm/v1.3"
#define MDSOL "http://www.mdsol.com/ns/odm/metadata"

static struct xml_ns namespaces[] = {
	{(char *)(uintptr_t)"odm", (char *)(uintptr_t)ODM},
	{(char *)(uintptr_t)"mdsol", (char *)(uintptr_t)MDSOL},
};
static const struct xml_names names = {namespaces, 2};

/* The texts that a path finds, parted by "|"; "!" when it is no XML. */
static void found(struct span text, const char *path, struct buf *out)
{
	struct buf error = BUF_INIT;
	struct xml *x = xml_open(text, &names, &error);
	struct xml_path *p = xml_path_make(path, &names, &error);
	struct xml_found f;

	check_row(p, "%s: %s", path, buf_text(&error));
	if (!x) {
		assert_true(error.len > 0);
		buf_adds(out, "!");
	} else {
		xml_find(x, p, NULL, &f);
		for (size_t i = 0; i < f.n; i++) {
			buf_adds(out, i ? "|" : "");
			xml_found_text(&f, i, out);
		}
		xml_found_release(&f);
	}
	xml_path_free(p);
	xml_free(x);
	buf_release(&error);
}

static void finds(struct span text, const char *path, const char *want)
{
	struct buf out = BUF_INIT;

	found(text, path, &out);
	check_row(!strcmp(buf_text(&out), want), "%s over %.*s: %s, not %s",
		  path, (int)text.n, text.p, buf_text(&out), want);
	buf_release(&out);
}

#define RESPONSE "<Response ReferenceNumber=\"5b1fa9a3\" " \
	"IsTransactionSuccessful = \"0\"\n\tReasonCode='RWS00024'/>"
#define FAILED "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<ODM xmlns=\"" ODM \
	"\" xmlns:m=\"" MDSOL "\" m:ErrorDescription=\"[RWS00008]\"><a>1" \
	"</a><a>2<b>3</b></a></ODM>"

static const struct {
	const char *text, *path, *want;
} reads[] = {
	{RESPONSE, "/Response/@IsTransactionSuccessful", "0"},
	{RESPONSE, "/Response/@ReasonCode", "RWS00024"},
	{RESPONSE, "/Response/@None", ""},
	{RESPONSE, "local-name(/*)", "Response"},
	{RESPONSE, "/Response/@ReasonCode='RWS00024'", "true"},
	{RESPONSE, "/Response/@ReasonCode='RWS1'", ""},
	/* prefixes are the profile's, not the document's */
	{FAILED, "/odm:ODM/@mdsol:ErrorDescription", "[RWS00008]"},
	{FAILED, "/ODM", ""},
	{FAILED, "//odm:a", "1|23"},
	{FAILED, "//odm:b | //odm:a", "1|23|3"},
	{FAILED, "count(//odm:a)", "2"},
	{FAILED, "sum(//odm:a) div 4", "6"},
	{FAILED, "1 div 4", "0.25"},
	{FAILED, "/*/*[last()]/*", "3"},
	/* ids keep every digit */
	{"<id>9007199254740993123</id>", "/id", "9007199254740993123"},
	/* text, CDATA and the entities that XML has by itself */
	{"<a>x &lt;&amp;&#x263a; <![CDATA[<b>]]></a>", "/a",
	 "x <&\xe2\x98\xba <b>"},
	/* marks, stray bytes, wrong and missing charsets */
	{"\xef\xbb\xbf<a>\xc3\xa9</a>", "/a", "\xc3\xa9"},
	{"\xc3\xaf\xc2\xbb\xc2\xbf<a>1</a>", "/a", "1"},
	{" \r\n\t<a>1</a>\n\n", "/a", "1"},
	{"<?xml version='1.0' encoding='iso-8859-1'?><a>\xc3\xa9</a>", "/a",
	 "\xc3\xa9"},
	{"<?xml version='1.0' encoding='utf-8'?><a>\xe9\xa0</a>", "/a",
	 "\xc3\xa9\xc2\xa0"},
	{"<?xml version='1.0' encoding='EBCDIC-CP-US'?><a>1</a>", "/a", "1"},

	/* no XML */
	{"", "/a", "!"}, {"a", "/a", "!"}, {"<a>", "/a", "!"},
	{"<a></b>", "/a", "!"}, {"<a/><b/>", "/a", "!"},
	{"<a b=1/>", "/a", "!"}, {"<a b='1' b='2'/>", "/a", "!"},
	{"<a>&nbsp;</a>", "/a", "!"}, {"<a>\1</a>", "/a", "!"},
	/* nothing of a DTD, whatever it is good for */
	{"<!DOCTYPE a><a/>", "/a", "!"},
	{"<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "/a", "!"},
	{"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "/a", "!"},
	{"<!DOCTYPE a [<!ENTITY b SYSTEM 'http://h/'>]><a>&b;</a>", "/a",
	 "!"},
	{"<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML "
	 "1.0 Strict//EN' 'http://www.w3.org/x.dtd'><html/>", "/a", "!"},
	{"<a><!ENTITY b 'c'></a>", "/a", "!"},
	/* what only looks like one */
	{"<a><!-- <!DOCTYPE a> --><![CDATA[<!DOCTYPE a>]]></a>", "/a",
	 "<!DOCTYPE a>"},
};

static void texts_are_found_or_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(reads); i++)
		finds(span_of(reads[i].text), reads[i].path, reads[i].want);
	finds(SPAN("<a>x\0y</a>"), "/a", "!");
	finds(SPAN("\xff\xfe<\0a\0>\0\xe9\0<\0/\0a\0>\0"), "/a", "\xc3\xa9");
	finds(SPAN("\xfe\xff\0<\0a\0>\xd8\x3d\xde\x00\0<\0/\0a\0>"), "/a",
	      "\xf0\x9f\x98\x80");
}

/* "#" stands for the number. */
static void many(struct buf *out, const char *head, const char *one, int n,
		 const char *tail)
{
	buf_clear(out);
	buf_adds(out, head);
	for (int i = 0; i < n; i++)
		for (const char *p = one; *p; p++)
			if (*p == '#')
				buf_addi(out, i);
			else
				buf_addc(out, *p);
	buf_adds(out, tail);
}

static void bounds_hold(void **state)
{
	struct buf text = BUF_INIT;

	(void)state;
	many(&text, "<a>", "<b/>", 1000, "</a>");
	finds(buf_span(&text), "count(//b)", "1000");
	many(&text, "<a>", "<b/>", XML_ELEMENTS_MAX, "</a>");
	finds(buf_span(&text), "/a", "!");
	many(&text, "<a", " b#='='", XML_ATTRIBUTES_MAX, "/>");
	finds(buf_span(&text), "count(/a/@*)", "256");
	many(&text, "<a", " b#=''", XML_ATTRIBUTES_MAX + 1, "/>");
	finds(buf_span(&text), "/a", "!");
	many(&text, "<a>", "<b xmlns:p#='u'/>", XML_NS_MAX + 1, "</a>");
	finds(buf_span(&text), "/a", "!");
	many(&text, "", "<a>", 300, "");
	for (int i = 0; i < 300; i++)
		buf_adds(&text, "</a>");
	finds(buf_span(&text), "/a", "!");
	buf_release(&text);
}

/* "Not there" is not said of what was not looked through. */
static void work_is_bounded_and_told(void **state)
{
	struct buf text = BUF_INIT, error = BUF_INIT;
	struct xml_path *dear, *cheap;
	struct xml_found f;
	struct xml *x;

	(void)state;
	many(&text, "<a>", "<b/>", 20000, "</a>");
	dear = xml_path_make("//b[count(//b) = 1]", &names, &error);
	cheap = xml_path_make("/a/c", &names, &error);
	x = xml_open(buf_span(&text), &names, &error);
	assert_true(x && dear && cheap);
	xml_find(x, cheap, NULL, &f);
	assert_false(xml_spoiled(x));
	xml_found_release(&f);
	xml_find(x, dear, NULL, &f);
	assert_int_equal(f.n, 0);
	assert_true(xml_spoiled(x));
	xml_found_release(&f);
	xml_path_free(dear);
	xml_path_free(cheap);
	xml_free(x);
	buf_release(&text);
	buf_release(&error);
}

static const struct {
	const char *path, *says;
} mistakes[] = {
	{"", "1 to 512 bytes"}, {"/a[", "not an XPath"}, {"a b", "not an XP"},
	{"/x:a", "prefix \"x\""}, {"/odm:a/@x:b", "prefix \"x\""},
	{"id('a')", "calls id()"}, {"document('x')", "calls document()"},
	{"$a", "no variables"}, {"/a[frob (.)]", "calls frob()"},
};

static void mistakes_of_paths_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		struct buf error = BUF_INIT;

		check_row(!xml_path_make(mistakes[i].path, &names, &error) &&
			  strstr(buf_text(&error), mistakes[i].says),
			  "%s: %s", mistakes[i].path, buf_text(&error));
		buf_release(&error);
	}
	/* What looks like a prefix or a function, and is none. */
	finds(SPAN("<a b='x:y()'/>"),
	      "/child::a[not (@b = 'z:f()') and (1 or 2)]/attribute::b/"
	      "parent::node()/@xml:lang | /a/@b", "x:y()");
}

static void nodes_are_places_to_start_from(void **state)
{
	struct buf error = BUF_INIT, text = BUF_INIT;
	struct xml *x = xml_open(SPAN("<r><i s='1'><k/></i><i s='2'/></r>"),
				 &names, &error);
	struct xml_path *items = xml_path_make("/r/i", &names, &error);
	struct xml_path *inside = xml_path_make("@s", &names, &error);
	struct xml_found f, g;

	(void)state;
	xml_find(x, items, NULL, &f);
	assert_int_equal(f.n, 2);
	xml_find(x, inside, xml_found_node(&f, 1), &g);
	assert_int_equal(g.n, 1);
	xml_found_text(&g, 0, &text);
	assert_string_equal(buf_text(&text), "2");
	xml_found_release(&g);
	xml_found_release(&f);
	xml_path_free(items);
	xml_path_free(inside);
	xml_free(x);
	buf_release(&text);
	buf_release(&error);
}

/* One compiled expression, several threads, each with a document. */
static void *evaluate(void *path)
{
	size_t n = 0;

	for (int i = 0; i < 200; i++) {
		struct xml *x = xml_open(SPAN(FAILED), &names, NULL);
		struct xml_found f;

		xml_find(x, path, NULL, &f);
		n += f.n;
		xml_found_release(&f);
		xml_free(x);
	}
	return (void *)(uintptr_t)n;
}

static void a_path_is_for_any_thread(void **state)
{
	static const char *const paths[] = {"//odm:a", "//odm:a[last() = 2]"};
	struct buf error = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct xml_path *p = xml_path_make(paths[i], &names, &error);
		pthread_t thread[3];
		void *n;

		for (int t = 0; t < 3; t++)
			assert_int_equal(pthread_create(&thread[t], NULL,
							evaluate, p), 0);
		for (int t = 0; t < 3; t++) {
			pthread_join(thread[t], &n);
			assert_int_equal((uintptr_t)n, 400);
		}
		xml_path_free(p);
	}
}

static const struct {
	const char *text, *canonical, *says;
} canonicals[] = {
	{"<?xml version='1.0'?>\n<a  b = '1'\n a=\"2\"/>\n", "<a a=\"2\" b=\"1\"></a>",
	 NULL},
	{"<a><!-- no --><b>&#x41;<![CDATA[<]]></b>\r\n</a>",
	 "<a><b>A&lt;</b>\n</a>", NULL},
	/* exclusive: a prefix stands where it is used */
	{"<x:a xmlns:x='u:x' xmlns:y='u:y'><y:b/></x:a>",
	 "<x:a xmlns:x=\"u:x\"><y:b xmlns:y=\"u:y\"></y:b></x:a>", NULL},
	{"<a xmlns='u:a'><b/></a>", "<a xmlns=\"u:a\"><b></b></a>", NULL},
	{"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>",
	 "<a>\xc3\xa9</a>", NULL},
	{"\xef\xbb\xbf<a/>", "<a></a>", NULL},
	{"<?pi x?><a/>", "<?pi x?>\n<a></a>", NULL},
	{"<a>", NULL, "well-formed"}, {"<!DOCTYPE a><a/>", NULL, "document"},
	{"<a>\xe9</a>", NULL, "UTF-8"},
	{"<?xml version='1.0' encoding='koi8-r'?><a>\xc1</a>", NULL,
	 "charset"},
	{"", NULL, "empty"},
};

static void payloads_have_one_canonical_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(canonicals); i++) {
		struct buf out = BUF_INIT, error = BUF_INIT;
		bool ok = xml_canonical(span_of(canonicals[i].text), &out,
					&error);

		check_row(ok == (canonicals[i].canonical != NULL), "%s: %s",
			  canonicals[i].text, buf_text(&error));
		if (ok)
			assert_string_equal(buf_text(&out),
					    canonicals[i].canonical);
		else
			check_row(strstr(buf_text(&error),
					 canonicals[i].says), "%s: %s",
				  canonicals[i].text, buf_text(&error));
		buf_release(&out);
		buf_release(&error);
	}
}

static const struct {
	const char *text, *out, *says;
} splices[] = {
	{"<ODM/>", "<ODM FileOID=\"OP1\"/>", NULL},
	{"<?xml version='1.0'?>\n<!-- <x> -->\n<ODM\n a='>'>1</ODM>",
	 "<?xml version='1.0'?>\n<!-- <x> -->\n<ODM FileOID=\"OP1\"\n a='>'>1"
	 "</ODM>", NULL},
	{"<o:ODM xmlns:o='u'></o:ODM>",
	 "<o:ODM FileOID=\"OP1\" xmlns:o='u'></o:ODM>", NULL},
	{"<ODM a='x' FileOID = ''/>", "<ODM a='x' FileOID = 'OP1'/>", NULL},
	{"<ODM XFileOID='1' b='FileOID'/>",
	 "<ODM FileOID=\"OP1\" XFileOID='1' b='FileOID'/>", NULL},
	{"<ODM FileOID='theirs'/>", NULL, "has a value"},
	{"<odm/>", NULL, "root element is not ODM"},
	{"<ODM>", NULL, "well-formed"},
	{"\xff\xfe<\0", NULL, "UTF-16"},
};

static void a_tag_goes_into_the_root(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(splices); i++) {
		struct buf out = BUF_INIT, error = BUF_INIT;
		bool ok = xml_splice_attribute(span_of(splices[i].text), "ODM",
					       "FileOID", "OP1", &out,
					       &error);

		check_row(ok == (splices[i].out != NULL), "%s: %s",
			  splices[i].text, buf_text(&error));
		if (ok)
			assert_string_equal(buf_text(&out), splices[i].out);
		else
			check_row(strstr(buf_text(&error), splices[i].says),
				  "%s: %s", splices[i].text,
				  buf_text(&error));
		buf_release(&out);
		buf_release(&error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_found_or_refused),
		cmocka_unit_test(bounds_hold),
		cmocka_unit_test(work_is_bounded_and_told),
		cmocka_unit_test(mistakes_of_paths_are_told),
		cmocka_unit_test(nodes_are_places_to_start_from),
		cmocka_unit_test(a_path_is_for_any_thread),
		cmocka_unit_test(payloads_have_one_canonical_form),
		cmocka_unit_test(a_tag_goes_into_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
