/*
 * XML as any bytes: the first line is an XPath, the rest the document. Read
 * leniently, as an answer is; canonicalised and tagged, as a payload is.
 */
#include <string.h>

#include "core/utf8.h"
#include "core/xml.h"
#include "tests/fuzz/fuzz.h"

static struct xml_ns namespaces[] = {
	{(char *)(uintptr_t)"odm",
	 (char *)(uintptr_t)"http://www.cdisc.org/ns/odm/v1.3"},
};
static const struct xml_names names = {namespaces, 1};

static void read_it(struct span path, struct span text)
{
	struct buf expression = BUF_INIT, out = BUF_INIT, error = BUF_INIT;
	struct xml_path *p;
	struct xml *x;

	buf_addspan(&expression, path);
	p = xml_path_make(buf_text(&expression), &names, &error);
	PROMISE((p != NULL) == (error.len == 0));
	buf_clear(&error);
	x = xml_open(text, &names, &error);
	PROMISE((x != NULL) == (error.len == 0));
	if (p && x) {
		struct xml_found f;

		xml_find(x, p, NULL, &f);
		PROMISE(!xml_spoiled(x) || !f.n);
		for (size_t i = 0; i < f.n && i < 100; i++)
			xml_found_text(&f, i, &out);
		PROMISE(utf8_valid(buf_span(&out)));
		xml_found_release(&f);
	}
	xml_path_free(p);
	xml_free(x);
	buf_release(&expression);
	buf_release(&out);
	buf_release(&error);
}

/* The canonical form is its own canonical form. */
static void canonical(struct span text)
{
	struct buf once = BUF_INIT, twice = BUF_INIT, error = BUF_INIT;

	if (xml_canonical(text, &once, &error)) {
		PROMISE(xml_canonical(buf_span(&once), &twice, &error));
		PROMISE(span_eq(buf_span(&once), buf_span(&twice)));
	} else {
		PROMISE(error.len > 0 && once.len == 0);
	}
	buf_release(&once);
	buf_release(&twice);
	buf_release(&error);
}

static void splice(struct span text)
{
	struct buf out = BUF_INIT, again = BUF_INIT, error = BUF_INIT;

	if (xml_splice_attribute(text, "ODM", "FileOID", "OP1", &out,
				 &error)) {
		PROMISE(out.len > text.n);
		/* Well-formed still, and it is there. */
		PROMISE(!xml_splice_attribute(buf_span(&out), "ODM",
					      "FileOID", "OP1", &again,
					      &error));
		PROMISE(strstr(buf_text(&error), "has a value"));
	} else {
		PROMISE(error.len > 0 && out.len == 0);
	}
	buf_release(&out);
	buf_release(&again);
	buf_release(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct span text = {(const char *)data, n}, path = {NULL, 0};
	const char *end = n ? memchr(data, '\n', n) : NULL;

	if (end) {
		path = (struct span){text.p, (size_t)(end - text.p)};
		text = (struct span){end + 1, n - path.n - 1};
	}
	read_it(path, text);
	canonical(text);
	splice(text);
	return 0;
}
