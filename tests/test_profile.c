/*
 * Vendors are data (DESIGN.md section 4): the shipped profiles keep what
 * their cases promise, and a mistake in a profile names file, line and rule.
 */
#include "profiles.h"

#include "core/items.h"
#include "core/profile_cases.h"

static void print_case(void *ctx, const char *name, int line, bool ok,
		       const char *expected, const char *got)
{
	int *n = ctx;

	(*n)++;
	if (!ok)
		print_error("%d: %s\n  expected %s\n  got      %s\n", line,
			    name, expected, got);
}

static void cases(const char *name)
{
	struct profile *p = shipped(name);
	struct buf file = BUF_INIT, text = BUF_INIT;
	struct findings findings = {0};
	int n = 0, failed;

	buf_addf(&file, "profiles/cases/%s.json", name);
	read_share(buf_text(&file), &text);
	failed = profile_cases_run(buf_span(&text), buf_text(&file), p,
				   print_case, &n, &findings);
	for (size_t i = 0; i < findings.n; i++)
		print_error("%d: %s\n", findings.v[i].line,
			    findings.v[i].text);
	assert_int_equal(findings.n, 0);
	assert_int_equal(failed, 0);
	assert_true(n >= 25);
	findings_release(&findings);
	buf_release(&file);
	buf_release(&text);
	profile_free(p);
}

static void generic_rest_keeps_its_cases(void **state)
{
	(void)state;
	cases("generic-rest");
}

static void metadata_tag_keeps_its_cases(void **state)
{
	(void)state;
	cases("metadata-tag");
}

static void medidata_rave_keeps_its_cases(void **state)
{
	(void)state;
	cases("medidata-rave");
	cases("medidata-rave-views");
}

static void oracle_clinical_keeps_its_cases(void **state)
{
	(void)state;
	cases("oracle-clinical");
}

static void veeva_vault_keeps_its_cases(void **state)
{
	(void)state;
	cases("veeva-vault");
}

static void redcap_keeps_its_cases(void **state)
{
	(void)state;
	cases("redcap");
}

static void fhir_r4_keeps_its_cases(void **state)
{
	(void)state;
	cases("fhir-r4");
}

static void castor_keeps_its_cases(void **state)
{
	(void)state;
	cases("castor");
	cases("castor-reports");
}

/* tests/profiles/language.json has every word of the language. */
static void the_language_keeps_its_cases(void **state)
{
	struct buf text = BUF_INIT, answers = BUF_INIT;
	struct findings findings = {0};
	struct profile *p;
	int n = 0;

	(void)state;
	read_share("../tests/profiles/language.json", &text);
	read_share("../tests/profiles/cases/language.json", &answers);
	p = loaded(buf_span(&text), "language.json");
	assert_int_equal(profile_cases_run(buf_span(&answers), "cases", p,
					   print_case, &n, &findings), 0);
	assert_int_equal(findings.n, 0);
	assert_true(n > 40);
	profile_free(p);
	buf_release(&text);
	buf_release(&answers);
}

static void a_case_that_fails_is_told(void **state)
{
	static const char text[] = "{\"cases\": [\n{\"name\": \"x\", "
		"\"status\": 201, \"expect\": {\"verdict\": \"reject\"}}]}";
	struct profile *p = shipped("generic-rest");
	struct findings findings = {0};
	int n = 0;

	(void)state;
	assert_int_equal(1, profile_cases_run(SPAN(text), "c.json", p,
					      print_case, &n, &findings));
	assert_int_equal(n, 1);
	assert_int_equal(findings.n, 0);
	profile_free(p);
}

#define HEAD "{\"profile\": \"x\", \"version\": 1,\n"

#define RESULT HEAD "\"poll\": {\"url\": \"/x\", \"word\": " \
	"{\"json\": \"/s\"},\n\"result\": {"
static const struct {
	const char *text;
	int line;
	const char *says;
} mistakes[] = {
	{"{\"version\": 1}", 1, "a profile needs \"profile\""},
	{"{\"profile\": \"x\"}", 1, "needs \"version\""},
	{"{\"profile\": null, \"version\": 1}", 1, "needs \"profile\""},
	{"{\"profile\": \"x\", \"version\": null}", 1, "a number from 1"},
	{"{\"profile\": \"x\" \"version\"}", 1, "not a profile"},
	{"[1]", 1, "an object was expected"},
	{HEAD "\"rulez\": []}", 2,
	 "unknown member \"rulez\"; allowed here: profile"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"status\": [42]}, "
	 "\"verdict\": \"poll\"}]}", 3, "rule \"q\": a status was expected"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"status\": 200, "
	 "\"json\": \"/a\"}, \"verdict\": \"poll\"}]}", 3,
	 "rule \"q\": a condition has exactly one subject"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"json\": \"/a\"}, "
	 "\"verdict\": \"poll\"}]}", 2, "exactly one test"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"json\": \"a\", "
	 "\"exists\": true}, \"verdict\": \"poll\"}]}", 2,
	 "a JSON pointer is empty or begins with /"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"header\": \"a\", "
	 "\"regex\": \"((a+)+\"}, \"verdict\": \"poll\"}]}", 2,
	 "rule \"q\": not a POSIX extended regex"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"text_regex\": "
	 "\"(a)\\\\1\"}, \"verdict\": \"poll\"}]}", 2, "back-reference"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"text_regex\": "
	 "\"((a{99}){99}){99}\"}, \"verdict\": \"poll\"}]}", 2, "multiply"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"status\": 200}, "
	 "\"verdict\": \"still\"}]}", 2, "has no meaning here"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"all\": []}, "
	 "\"verdict\": \"commit\"}]}", 2,
	 "an empty list of conditions"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"not\": "
	 "{\"any\": []}}, \"verdict\": \"commit\"}]}", 2,
	 "an empty list of conditions"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"json\": \"/a\", "
	 "\"type\": \"int\"}, \"verdict\": \"commit\"}]}", 2,
	 "\"type\" allows: null boolean"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"header\": \"\", "
	 "\"exists\": true}, \"verdict\": \"commit\"}]}", 2,
	 "a header's name"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"header\": "
	 "\"A:\", \"exists\": true}, \"verdict\": \"commit\"}]}", 2,
	 "a header's name"},
	{HEAD "\"rules\": [{\"name\": \"two words\", \"verdict\": "
	 "\"poll\"}]}", 2,
	 "visible ASCII"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"not\": "
	 "{\"items\": \"unclear\"}}, \"verdict\": \"commit\"}]}", 1,
	 "rule \"q\" asks for items"},
	{HEAD "\"send\": {\"method\": \"GET\"}}", 1,
	 "POST, PUT, PATCH"},
	{HEAD "\"send\": {\"path\": \"records\"}}", 1,
	 "a \"path\" begins with /"},
	{"{\"profile\": \"../x\", \"version\": 1}", 1, "without /"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"verdict\": \"perhaps\"}]}", 2,
	 "a verdict is one of: commit"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"verdict\": \"halt\"}]}", 2,
	 "needs \"halt\""},
	{HEAD "\"rules\": [{\"name\": \"q\"}]}", 2, "needs a \"verdict\""},
	{HEAD "\"rules\": [{\"name\": \"q\", \"verdict\": \"reject\", "
	 "\"catch_all\": true}]}", 2, "\"catch_all\" is said of a rule"},
	{HEAD "\"poll\": {\"rules\": [{\"name\": \"q\", \"verdict\": "
	 "\"unknown\", \"catch_all\": true}]}}", 2,
	 "\"catch_all\" is said of a rule"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"verdict\": \"unknown\", "
	 "\"catch_all\": 1}]}", 2, "true or false"},
	{HEAD "\"rules\": [{\"verdict\": \"poll\"}]}", 2,
	 "a rule needs a \"name\""},
	{HEAD "\"rules\": [{\"name\": \"q\", \"verdict\": \"poll\"}, "
	 "{\"name\": \"q\", \"verdict\": \"poll\"}]}", 2, "two rules"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"if\": {\"method\": \"get\"}, "
	 "\"verdict\": \"poll\"}]}", 2, "\"method\" allows: GET"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"verdict\": \"poll\", "
	 "\"take\": {\"job_id\": {\"regex\": \"job\"}}}]}", 2, "(group)"},
	{HEAD "\"idempotency\": {\"modes\": [\"lookup\"], "
	 "\"default\": \"lookup\"}}", 1, "the mode lookup needs \"lookup\""},
	{HEAD "\"idempotency\": {\"natural\": [\"post\"]}}", 1,
	 "natural lists methods"},
	{HEAD "\"idempotency\": {\"modes\": [\"none\"], "
	 "\"default\": \"key\"}}", 1, "is not among the modes"},
	{HEAD "\"lookup\": {\"request\": \"FETCH it\"}}", 2,
	 "a request is \"GET address\""},
	{HEAD "\"lookup\": {\"compare\": [{\"sent\": \"/a\"}]}}", 2,
	 "in XML is compared"},
	{HEAD "\"lookup\": {\"compare\": [{\"sent\": \"/a[\"}]}}", 2,
	 "not an XPath 1.0"},
	{HEAD "\"lookup\": {\"compare\": [{\"by\": []}]}}", 2,
	 "a list of 1 to 16 XPaths"},
	{HEAD "\"lookup\": {\"compare\": \"/a\"}}", 2,
	 "things to compare was expected"},
	{HEAD "\"lookup\": {\"compare\": [\"a\"]}}", 2,
	 "a JSON pointer is empty or begins with /"},
	{RESULT "\"items\": [{\"json\": \"/r/*\", \"each\": \"refused\"}]}}}",
	 3, "result needs \"url\", a template, or"},
	{RESULT "\"url\": \"/l\"}}}",
	 3, "result needs \"items\" or \"rules\""},
	{RESULT "\"url\": \"/l/{result}\", \"items\": [{\"json\": \"/r/*\","
	 " \"each\": \"refused\"}]}}}",
	 3, "there is no \"from\""},
	{RESULT "\"url\": \"/l/{log}\", \"items\": [{\"json\": \"/r/*\","
	 " \"each\": \"refused\"}]}}}",
	 3, "a template knows no {log}"},
	{RESULT "\"url\": \"/l\", \"when\": [\"over\"], \"items\": "
	 "[{\"json\": \"/r/*\", \"each\": \"refused\"}]}}}",
	 3, "done, partial, failed"},
	{RESULT "\"url\": \"/l\", \"when\": [], \"items\": [{\"json\": "
	 "\"/r/*\", \"each\": \"refused\"}]}}}",
	 3, "done, partial, failed"},
	{RESULT "\"url\": \"/l\", \"absent\": \"fine\", \"items\": "
	 "[{\"json\": \"/r/*\", \"each\": \"refused\"}]}}}",
	 3, "unknown, none_refused or vanished"},
	{RESULT "\"url\": \"/l\", \"wen\": 1, \"items\": [{\"json\": "
	 "\"/r/*\", \"each\": \"refused\"}]}}}",
	 3, "unknown member \"wen\"; allowed here: url from when if"},
	{RESULT "\"url\": \"/l\", \"rules\": [{\"name\": \"q\", \"verdict\": "
	 "\"poll\"}]}}}",
	 3, "rule \"q\": the verdict"},
	{RESULT "\"url\": \"/l\", \"items\": [{\"csv\": \"::\", \"each\": "
	 "\"taken\"}]}}}",
	 3, "what stands between the columns"},
	{RESULT "\"url\": \"/l\", \"items\": [{\"csv\": \",\", \"each\": "
	 "\"taken\"}]}}}",
	 3, "which columns decide"},
	{RESULT "\"url\": \"/l\", \"items\": [{\"csv\": \",\", \"json\": "
	 "\"/a\", \"each\": \"taken\"}]}}}",
	 3, "or in the rows of \"csv\""},
	{RESULT "\"url\": \"/l\", \"items\": [{\"csv\": \",\", \"status\": "
	 "\"S\", \"failed\": [\"n\"], \"items\": []}]}}}",
	 3, "stand alone"},
	{RESULT "\"url\": \"/l\", \"items\": [{\"csv\": \",\", \"refused_if\": "
	 "{\"column\": \"S\", \"exists\": true}}]}}}",
	 3, "ask whether it is \"nonempty\""},
	{RESULT "\"url\": \"/l\", \"items\": [{\"json\": \"/a/*\", "
	 "\"refused_if\": {\"column\": \"S\", \"is\": \"n\"}}]}}}",
	 3, "\"column\" names a column"},
	{RESULT "\"url\": \"/l\", \"items\": [{\"json\": \"/a/*\", "
	 "\"status\": {\"column\": \"S\"}, \"failed\": [\"n\"]}]}}}",
	 3, "\"column\" names a column"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"verdict\": \"reject\", \"if\": "
	 "{\"csv\": \"\", \"is\": 1}}]}", 2, "names a column of the answer"},
	{HEAD "\"items\": [{\"csv\": \",\", \"refused_if\": {\"csv\": \"R\", "
	 "\"is\": 1}}]}", 2, "say \"column\""},
	{HEAD "\"poll\": {\"url\": \"/x\"}}", 1, "poll needs \"word\""},
	{HEAD "\"poll\": {\"url\": \"/x\", \"word\": {\"json\": \"/s\"}, "
	 "\"done\": [\"a\"], \"failed\": [\"a\"]}}", 1, "both done and failed"},
	{HEAD "\"send\": {\"headers\": {\"A b\": \"x\"}}}", 2,
	 "not a header name"},
	{HEAD "\"extends\": \"nobody\"}", 2, "no profile \"nobody\""},

	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"xpath\": \"/odm:O"
	 "DM\", \"exists\": true}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": the XPath uses the prefix \"odm\""},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"xpath\": \"/a[\","
	 " \"exists\": true}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": not an XPath 1.0"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"xpath\": \"id(1)"
	 "\", \"exists\": true}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": the XPath calls id()"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"xpath\": \"/a\"},"
	 " \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": a condition has exactly one subject"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"xpath\": \"/a\", "
	 "\"type\": \"number\"}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": \"type\" is asked of json only"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"json\": \"/a\", "
	 "\"above\": \"1\"}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": \"above\" takes a number"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"json\": \"/a\", "
	 "\"absent\": 1}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": \"absent\" takes true"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"text\": \"x\"}, "
	 "\"verdict\": \"reject\"}]}",
	 3, "rule \"q\": \"text\" is {\"prefix\": texts}"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"text\": {\"suffix"
	 "\": \"x\"}}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": \"text\" is {\"prefix\": texts}"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"text\": {\"regex"
	 "\": \"(\"}, \"fold\": true}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": not a POSIX extended regex"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"content_type\": {"
	 "}}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": texts, numbers or true/false"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"count\": {\"sent"
	 "\": \"/a\", \"answer\": {\"json\": \"\"}}, \"is\": \"less\"}"
	 ", \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": \"count\" is {\"sent\""},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"count\": {\"sent"
	 "\": {\"json\": \"a\"}, \"answer\": {\"json\": \"\"}}, \"is\""
	 ": \"less\"}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": a JSON pointer"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"count\": {\"sent"
	 "\": {\"json\": \"\"}, \"answer\": {\"json\": \"\"}}, \"is\":"
	 " \"fewer\"}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": \"count\" allows: equal less"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"count\": {\"sent"
	 "\": {\"json\": \"\"}, \"answer\": {\"json\": \"\"}}, \"above"
	 "\": 1}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": \"count\" goes with \"is\""},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"items\": \"some\""
	 "}, \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": \"items\" allows: none_refused"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"body\": \"yaml\"}"
	 ", \"verdict\": \"reject\"}]}",
	 3, "rule \"q\": \"body\" allows: empty json html text xml csv"},
	{HEAD "\"rules\": [\n{\"name\": \"q\", \"if\": {\"frob\": 1}, \"ver"
	 "dict\": \"reject\"}]}",
	 3, "rule \"q\": a condition is {all|any|not|status|json|xpath"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"verdict\": \"poll\", \"take"
	 "\": {\"job_id\": {\"xpath\": \"/x:a\"}}}]}",
	 2, "the prefix \"x\""},
	{HEAD "\"rules\": [{\"name\": \"q\", \"verdict\": \"poll\", \"take"
	 "\": {\"job_id\": {\"css\": \"a\"}}}]}",
	 2, "a source has one of json, xpath, header"},
	{HEAD "\"rules\": [{\"name\": \"q\", \"verdict\": \"poll\", \"take"
	 "\": {\"job_id\": {\"json\": \"/a\", \"strip\": \"(\"}}}]}",
	 2, "not a POSIX extended regex"},
	{HEAD "\"poll\": {\"url\": \"/x\", \"rules\": [{\"name\": \"q\", \""
	 "verdict\": \"look\"}]}}",
	 2, "\"look\" has no meaning here"},
	{HEAD "\"xml\": {\"ns\": {\"a b\": \"u\"}}}",
	 2, "a prefix is a name"},
	{HEAD "\"xml\": {\"ns\": [\"u\"]}}",
	 2, "{prefix: namespace}"},
	{HEAD "\"xml\": {\"nss\": {}}}",
	 2, "allowed here: ns"},
	{HEAD "\"credentials\": [\"token\"]}",
	 2, "no credential kind"},
	{HEAD "\"headers\": {\"Accept\": \"{colour}\"}}",
	 2, "a template knows no {colour}"},
	{HEAD "\"send\": {\"path\": \"/a/{payload}\"}}",
	 2, "a template knows no {payload}"},
	{HEAD "\"lookup\": {\"request\": \"GET /x?{tag}\"}}",
	 2, "a template knows no {tag}"},
	{HEAD "\"send\": {\"xml_tag\": \"/ODM/FileOID\"}}",
	 2, "\"xml_tag\" is an attribute"},
	{HEAD "\"send\": {\"xml_tag\": \"/o:ODM/@FileOID\"}}",
	 2, "\"xml_tag\" is an attribute"},
	{HEAD "\"send\": {\"body\": {\"kind\": \"soap\"}}}",
	 2, "raw, form, multipart or json_string"},
	{HEAD "\"send\": {\"body\": {\"kind\": \"form\"}}}",
	 2, "needs \"fields\""},
	{HEAD "\"send\": {\"body\": {\"kind\": \"form\", \"fields\": {\"a\""
	 ": \"x\"}}}}",
	 2, "one field of a body is \"{payload}\""},
	{HEAD "\"send\": {\"body\": {\"kind\": \"form\", \"fields\": {\"a\""
	 ": \"x{payload}\"}}}}",
	 2, "one field of a body is \"{payload}\""},
	{HEAD "\"send\": {\"body\": {\"kind\": \"form\", \"fields\": {\"t\""
	 ": \"k={secret}\", \"a\": \"{payload}\"}}}}",
	 2, "a secret field is \"{secret}\""},
	{HEAD "\"send\": {\"body\": {\"kind\": \"form\", \"fields\": {\"a\""
	 ": {\"value\": \"{payload}\", \"filename\": \"x\"}}}}}",
	 2, "go with the kind multipart"},
	{HEAD "\"send\": {\"body\": {\"kind\": \"multipart\", \"fields\": {"
	 "\"a\": {\"filename\": \"x\"}}}}}",
	 2, "a field has a name and a \"value\""},
	{HEAD "\"list\": {\"request\": \"POST /x\", \"body\": {\"kind\": \""
	 "form\", \"fields\": {\"a\": \"{payload}\"}}}}",
	 2, "a template knows no {payload}"},
	{HEAD "\"login\": {\"request\": \"POST /x\"}}",
	 1, "login needs \"request\" and \"session\""},
	{HEAD "\"login\": {\"request\": \"POST /x\", \"session\": {\"json\""
	 ": \"/s\"}, \"value\": \"Bearer\"}}",
	 2, "\"value\" holds {session}"},
	{HEAD "\"login\": {\"request\": \"POST /x\", \"session\": {\"json\""
	 ": \"/s\"}, \"body\": {\"kind\": \"form\", \"fields\": {\"a\""
	 ": \"{study}\"}}}}",
	 2, "a log-in knows {user}"},
	{HEAD "\"login\": {\"request\": \"POST /x\", \"session\": {\"json\""
	 ": \"/s\"}, \"ok\": {\"json\": \"/a\"}}}",
	 2, "exactly one test"},
	{HEAD "\"items\": {}}",
	 2, "\"items\" is a list of at most 16 levels"},
	{HEAD "\"items\": [{\"each\": \"refused\"}]}",
	 2, "a level of items is found by \"json\""},
	{HEAD "\"items\": [{\"json\": \"/a/*\"}]}",
	 2, "by one of \"status\""},
	{HEAD "\"items\": [{\"json\": \"/a/*\", \"status\": \"/s\"}]}",
	 2, "by one of \"status\""},
	{HEAD "\"items\": [{\"json\": \"/a/*\", \"status\": \"/s\", \"faile"
	 "d\": [\"x\"], \"each\": \"taken\"}]}",
	 2, "by one of \"status\""},
	{HEAD "\"items\": [{\"json\": \"/a/*\", \"each\": \"lost\"}]}",
	 2, "\"each\" is refused or taken"},
	{HEAD "\"items\": [{\"xpath\": \"/a\", \"each\": \"refused\", \"id"
	 "\": \"@o:id\"}]}",
	 2, "the prefix \"o\""},
	{HEAD "\"items\": [{\"json\": \"/a/*\", \"each\": \"taken\", \"item"
	 "s\": [{\"json\": \"b\", \"each\": \"taken\"}]}]}",
	 2, "a JSON pointer"},
};

static void mistakes_name_file_line_and_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		struct findings findings = {0};
		bool told = false;

		check_row(!profile_load(span_of(mistakes[i].text), "v.json",
					NULL, NULL, &findings),
			  "loaded: %s", mistakes[i].text);
		for (size_t j = 0; j < findings.n; j++)
			told = told || (strstr(findings.v[j].text,
					       mistakes[i].says) &&
				findings.v[j].line == mistakes[i].line &&
				!strcmp(findings.v[j].file, "v.json"));
		check_row(told, "%s: got %d: %s", mistakes[i].says,
			  findings.v[0].line, findings.v[0].text);
		findings_release(&findings);
	}
}

#define RAVE "\"xml\": {\"ns\": {\"odm\": " \
	"\"http://www.cdisc.org/ns/odm/v1.3\", \"mdsol\": " \
	"\"http://www.mdsol.com/ns/odm/metadata\"}},\n"
#define ITEMS "\"items\": [{\"json\": \"/data/*\", \"status\": \"/s\", " \
	"\"failed\": [\"NO\"], \"taken\": [\"OK\"]}],\n"
#define SENT "[{\"record_id\":\"1\"},{\"record_id\":\"2\"}]"
#define ODM "<?xml version='1.0' encoding='utf-8'?>\n<ODM xmlns='http://" \
	"www.cdisc.org/ns/odm/v1.3' xmlns:m='http://www.mdsol.com/ns/odm/" \
	"metadata' m:ErrorDescription = 'Incorrect login. [RWS00008]'/>"
#define RWS "<Response ReferenceNumber=\"5b\" IsTransactionSuccessful = \"0\" " \
	"ReasonCode='RWS00024'><a n='1'/><a n='12.50'/></Response>"

/* What later vendors need of the language (reference/vendors section 10). */
static const struct {
	const char *cond;
	const char *body;
	bool holds;
} conditions[] = {
	{"{\"json\": \"/data/*/responseStatus\", \"in\": [\"FAILURE\"]}",
	 "{\"data\":[{\"responseStatus\":\"SUCCESS\"},"
	 "{\"responseStatus\":\"FAILURE\"}]}", true},
	{"{\"json\": \"/data/*/s\", \"in\": [\"OK\"], \"every\": true}",
	 "{\"data\":[{\"s\":\"OK\"},{\"s\":\"OK\"}]}", true},
	{"{\"json\": \"/data/*/s\", \"in\": [\"OK\"], \"every\": true}",
	 "{\"data\":[{\"s\":\"OK\"},{\"s\":\"NO\"}]}", false},
	{"{\"json\": \"/data/*/s\", \"in\": [\"OK\"], \"every\": true}",
	 "{\"data\":[]}", false},
	{"{\"json\": \"/f/*/i/*/s\", \"is\": \"x\"}",
	 "{\"f\":[{\"i\":[]},{\"i\":[{\"s\":\"y\"},{\"s\":\"x\"}]}]}", true},
	{"{\"json\": \"/responseStatus\", \"is\": \"success\", "
	 "\"fold\": true}", "{\"responseStatus\":\"SUCCESS\"}", true},
	{"{\"json\": \"/error\", \"exists\": false}", "{\"count\":1}", true},
	{"{\"json\": \"/error\", \"exists\": false}", "not json", false},
	{"{\"json\": \"/count\", \"type\": \"number\"}", "{\"count\":1}",
	 true},
	{"{\"json\": \"/n\", \"is\": 9007199254740993}",
	 "{\"n\":9007199254740993}", true},
	{"{\"json\": \"/n\", \"is\": 9007199254740993}",
	 "{\"n\":9007199254740992}", false},
	{"{\"json\": \"/x\", \"not_in\": [\"a\"]}", "{\"x\":\"b\"}", true},
	{"{\"json\": \"/x\", \"prefix\": \"RWS\"}", "{\"x\":\"RWS00024\"}",
	 true},
	{"{\"text_prefix\": \"errorcode.\", \"fold\": true}",
	 "  errorCode.studyNotExist", true},
	{"{\"text_regex\": \"\\\\[RWS[0-9]+\\\\]\"}",
	 "Incorrect login [RWS00008]", true},
	{"{\"body\": \"array\"}", "[1]", true},
	{"{\"body\": [\"text\", \"empty\"]}", "plain", true},
	{"{\"not\": {\"body\": \"html\"}}", "<HTML>", false},
	{"{\"header\": \"x-status\", \"regex\": \"^(ok|fine)$\"}", "", true},
	{"{\"all\": [{\"method\": \"POST\"}, {\"mode\": \"key\"}, "
	 "{\"status\": \"200-201\"}]}", "", true},

	/* XML: attributes as such, namespaces by the profile's prefixes */
	{"{\"xpath\": \"/Response/@IsTransactionSuccessful\", \"is\": 0}",
	 "\xef\xbb\xbf" RWS, true},
	{"{\"xpath\": \"/Response/@ReasonCode\", \"prefix\": \"rws\", "
	 "\"fold\": true}", " \r\n" RWS, true},
	{"{\"xpath\": \"/odm:ODM/@mdsol:ErrorDescription\", \"regex\": "
	 "\"\\\\[RWS00008\\\\]\"}", ODM, true},
	{"{\"xpath\": \"/ODM\", \"exists\": true}", ODM, false},
	{"{\"xpath\": \"/Response/b\", \"absent\": true}", RWS, true},
	{"{\"xpath\": \"/Response/b\", \"absent\": true}", "{}", false},
	{"{\"xpath\": \"/Response/b\", \"absent\": true}", "<Respo", false},
	{"{\"xpath\": \"count(/Response/a)\", \"above\": 1}", RWS, true},
	{"{\"xpath\": \"/Response/a/@n\", \"above\": 12.4}", RWS, true},
	{"{\"xpath\": \"/Response/a/@n\", \"above\": 12.4, \"every\": true}",
	 RWS, false},
	{"{\"xpath\": \"/Response/a/@n\", \"below\": 13, \"every\": true}",
	 RWS, true},
	{"{\"xpath\": \"/Response/@ReasonCode\", \"not_in\": [\"x\"]}", RWS,
	 true},
	{"{\"xpath\": \"/Response[@ReasonCode='RWS00024']\", \"exists\": "
	 "true}", RWS, true},
	{"{\"xpath\": \"//a\", \"nonempty\": true}", RWS, false},
	{"{\"xpath\": \"//a\", \"exists\": true}",
	 "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", false},
	{"{\"body\": \"xml\"}", RWS, true},
	{"{\"body\": \"xml\"}", "<Response>", false},
	{"{\"body\": \"text\"}", "<Response>", true},
	{"{\"body\": \"html\"}", "<?xml version='1.0'?> <HTML/>", true},
	{"{\"body\": \"csv\"}", "id,code\n1,Failed\n", true},
	{"{\"body\": \"csv\"}", "no, not at all\nmore", false},
	{"{\"body\": \"number\"}", "3", true},

	/* nested and root arrays; every one of them */
	{"{\"json\": \"/*/*/s\", \"is\": \"x\"}",
	 "[[{\"s\":\"y\"}],[{},{\"s\":\"x\"}]]", true},
	{"{\"json\": \"/data/*/s\", \"is\": \"OK\", \"every\": true}",
	 "{\"data\":[{\"s\":\"OK\"},{}]}", false},
	{"{\"json\": \"/data/*/s\", \"absent\": true}",
	 "{\"data\":[{},{}]}", true},
	{"{\"json\": \"/n\", \"above\": 0}", "{\"n\":1}", true},
	{"{\"json\": \"/n\", \"below\": 0.5}", "{\"n\":\"0.25\"}", true},
	{"{\"json\": \"/n\", \"above\": 0}", "{\"n\":\"1 of 2\"}", false},
	{"{\"json\": \"/n\", \"contains\": \"LOCK\", \"fold\": true}",
	 "{\"n\":\"user_locked_out\"}", true},

	/* headers, text, types */
	{"{\"header\": \"X-Left\", \"below\": 20}", "", true},
	{"{\"header\": \"X-Left\", \"above\": 20}", "", false},
	{"{\"header\": \"X-None\", \"absent\": true}", "", true},
	{"{\"text\": {\"prefix\": \"error:\"}, \"fold\": true}",
	 "\xef\xbb\xbf ERROR: no such field", true},
	{"{\"text\": {\"prefix\": \"error:\"}}", "ERROR: x", false},
	{"{\"text\": {\"contains\": [\"a\", \"MySQL server\"]}}",
	 "could not connect to the MySQL server", true},
	{"{\"text\": {\"regex\": \"^job uuid\"}, \"fold\": true}",
	 "Job UUID: 1", true},
	{"{\"content_type\": [\"text/xml\"]}", "", true},
	{"{\"content_type\": \"text/*\"}", "", true},
	{"{\"content_type\": [\"application/json\", \"+json\"]}", "", false},

	/* sent against processed: two records were sent */
	{"{\"count\": {\"sent\": {\"json\": \"\"}, \"answer\": {\"json\": "
	 "\"/count\"}}, \"is\": \"equal\"}", "{\"count\": 2}", true},
	{"{\"count\": {\"sent\": {\"json\": \"/*\"}, \"answer\": [{\"json\": "
	 "\"/count\"}, {\"json\": \"\"}]}, \"is\": \"less\"}", "\"1\"", true},
	{"{\"count\": {\"sent\": {\"json\": \"\"}, \"answer\": {\"xpath\": "
	 "\"/count\"}}, \"in\": [\"equal\", \"more\"]}",
	 "<count>3</count>", true},
	{"{\"count\": {\"sent\": {\"json\": \"/none\"}, \"answer\": "
	 "{\"json\": \"/count\"}}, \"is\": \"unknown\"}", "{}", true},

	/* what the items came to */
	{"{\"csv\": \"R\", \"is\": \"no\"}", "oid;R\nA;ok\nB;no\n", true},
	{"{\"csv\": \"R\", \"is\": \"no\"}", "oid,R\r\nA,ok\r\n", false},
	{"{\"csv\": \"R\", \"is\": \"a,\\\"b\\\"\"}",
	 "oid,R\nA,\"a,\"\"b\"\"\"\n", true},
	{"{\"csv\": \"R\", \"in\": [\"ok\", \"new\"], \"every\": true}",
	 "\xef\xbb\xbfoid|R\nA|ok\nB|new", true},
	{"{\"csv\": \"R\", \"is\": \"ok\", \"every\": true}",
	 "oid,R\nA,ok\nB,no\n", false},
	{"{\"csv\": \"R\", \"is\": \"ok\", \"every\": true}",
	 "oid,R\nA,ok\nB\n", false},
	{"{\"csv\": \"R\", \"is\": \"ok\", \"every\": true}",
	 "oid,R\nA,ok\nB,\"ok\n", false},
	{"{\"csv\": \"R\", \"is\": \"ok\", \"every\": true}", "oid,R\n",
	 false},
	{"{\"csv\": \"R\", \"nonempty\": true}", "R\tx\n\t1\n", false},
	{"{\"csv\": \"n\", \"above\": 4}", "oid;n\nA;3\nB;5\n", true},
	{"{\"csv\": \"R\", \"absent\": true}", "oid;n\nA;3\n", true},
	{"{\"csv\": \"R\", \"absent\": true}", "oid;R\nA;3\n", false},
	{"{\"csv\": \"R\", \"absent\": true}", "<html>;</html>", false},
	{"{\"csv\": \"R\", \"exists\": true}", "[\"oid;R\"]", false},
	{"{\"items\": \"some_refused\"}",
	 "{\"data\":[{\"s\":\"OK\"},{\"s\":\"NO\"}]}", true},
	{"{\"items\": \"all_refused\"}", "{\"data\":[{\"s\":\"NO\"}]}", true},
	{"{\"items\": \"none_refused\"}", "{\"data\":[{\"s\":\"OK\"}]}",
	 true},
	{"{\"items\": [\"unclear\"]}", "{\"data\":[{\"s\":\"Hm\"}]}", true},
	{"{\"items\": \"absent\"}", "{\"data\":[]}", true},
};

static void conditions_hold_where_they_should(void **state)
{
	static const struct header headers[] = {
		{SPAN("X-Status"), SPAN("fine")}, {SPAN("X-Left"), SPAN("12")},
		{SPAN("Content-Type"), SPAN("Text/XML; charset=utf-8")}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(conditions); i++) {
		struct buf text = BUF_INIT;
		struct json doc = {0};
		struct answer answer = {.status = 200, .headers = headers,
			.headers_n = ARRAY_SIZE(headers),
			.body = span_of(conditions[i].body)};
		struct profile *p;
		struct xml_lazy xml = {0};
		struct payload_lazy sent = {0};
		struct items_seen seen = {0};
		struct cond_world w = {.answer = &answer, .method = "POST",
				       .mode = MODE_KEY, .xml = &xml,
				       .items = &seen, .payload = SPAN(SENT),
				       .sent = &sent};

		buf_addf(&text, HEAD RAVE ITEMS "\"rules\": [{\"name\": \"q\", "
			 "\"if\": %s, \"verdict\": \"commit\"}]}",
			 conditions[i].cond);
		p = loaded(buf_span(&text), "cond.json");
		xml.names = &p->xml;
		w.levels = &p->items;
		if (json_parse(&doc, answer.body.p, answer.body.n, 0))
			w.doc = &doc;
		check_row(cond_holds(&p->rules.v[0].when, &w) ==
			  conditions[i].holds, "%s over %s",
			  conditions[i].cond, conditions[i].body);
		payload_lazy_release(&sent);
		xml_lazy_release(&xml);
		json_release(&doc);
		buf_release(&text);
		profile_free(p);
	}
}

/* However many rules count what was sent: the second one does not look at
 * the bytes again. */
static void a_payload_is_read_once_for_all_rules(void **state)
{
	static const char text[] = HEAD RAVE "\"rules\": ["
		"{\"name\": \"q\", \"verdict\": \"commit\", \"if\": {\"count\": "
		"{\"sent\": {\"json\": \"\"}, \"answer\": {\"json\": \"/n\"}}, "
		"\"is\": \"equal\"}}, "
		"{\"name\": \"r\", \"verdict\": \"commit\", \"if\": {\"count\": "
		"{\"sent\": {\"xpath\": \"//i\"}, \"answer\": {\"json\": \"/n\"}}, "
		"\"is\": \"equal\"}}]}";
	static const char *const payloads[] = {"[1,2]", "<a><i/><i/></a>"};
	struct profile *p = loaded(SPAN(text), "x.json");
	struct json doc = {0};
	struct answer answer = {.status = 200, .body = SPAN("{\"n\":2}")};

	(void)state;
	assert_true(json_parse(&doc, answer.body.p, answer.body.n, 0));
	for (size_t i = 0; i < ARRAY_SIZE(payloads); i++) {
		char bytes[20];
		struct payload_lazy sent = {0};
		struct xml_lazy xml = {.names = &p->xml};
		struct cond_world w = {.answer = &answer, .doc = &doc,
			.method = "POST", .xml = &xml, .sent = &sent,
			.payload = {bytes, strlen(payloads[i])}};

		memcpy(bytes, payloads[i], w.payload.n);
		assert_true(cond_holds(&p->rules.v[i].when, &w));
		memset(bytes, '?', w.payload.n);
		assert_true(cond_holds(&p->rules.v[i].when, &w));
		payload_lazy_release(&sent);
		assert_false(cond_holds(&p->rules.v[i].when, &w));
		payload_lazy_release(&sent);
	}
	json_release(&doc);
	profile_free(p);
}

static void values_are_taken_by_regex(void **state)
{
	static const char text[] = HEAD "\"rules\": [{\"name\": \"q\", "
		"\"verdict\": \"poll\", \"take\": {\"job_id\": [{\"json\": "
		"\"/none\"}, {\"regex\": \"job uuid: ([0-9a-f-]+)\"}], "
		"\"poll_url\": {\"header\": \"Location\", \"regex\": "
		"\"^(.*)/_history\"}}}]}";
	static const struct header headers[] = {
		{SPAN("location"), SPAN("/Patient/7/_history/1")}};
	struct answer answer = {.status = 200, .headers = headers,
		.headers_n = 1, .body = SPAN("job uuid: d016-4b0f\n")};
	struct profile *p = loaded(SPAN(text), "r.json");
	struct buf out = BUF_INIT;

	(void)state;
	assert_true(sources_take(&p->rules.v[0].job_id, &answer, NULL, &out));
	assert_string_equal(buf_text(&out), "d016-4b0f");
	buf_clear(&out);
	assert_true(sources_take(&p->rules.v[0].poll_url, &answer, NULL,
				 &out));
	assert_string_equal(buf_text(&out), "/Patient/7");
	buf_release(&out);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generic_rest_keeps_its_cases),
		cmocka_unit_test(metadata_tag_keeps_its_cases),
		cmocka_unit_test(medidata_rave_keeps_its_cases),
		cmocka_unit_test(oracle_clinical_keeps_its_cases),
		cmocka_unit_test(veeva_vault_keeps_its_cases),
		cmocka_unit_test(redcap_keeps_its_cases),
		cmocka_unit_test(fhir_r4_keeps_its_cases),
		cmocka_unit_test(castor_keeps_its_cases),
		cmocka_unit_test(the_language_keeps_its_cases),
		cmocka_unit_test(a_case_that_fails_is_told),
		cmocka_unit_test(mistakes_name_file_line_and_rule),
		cmocka_unit_test(conditions_hold_where_they_should),
		cmocka_unit_test(a_payload_is_read_once_for_all_rules),
		cmocka_unit_test(values_are_taken_by_regex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
