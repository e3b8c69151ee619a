/*
 * What reading an answer costs (issue 4): a JSON answer of 1 KiB under
 * generic-rest, an XML one of 10 KiB under a profile of XPath rules. The best
 * of several rounds, because other programs only ever make it slower.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/classify.h"

#define ROUNDS 20

static struct profile *load(const char *path)
{
	struct findings findings = {0};
	struct buf text = BUF_INIT;
	FILE *f = fopen(path, "rb");
	struct profile *p;
	int c;

	if (!f) {
		perror(path);
		exit(1);
	}
	while ((c = getc(f)) != EOF)
		buf_addc(&text, (char)c);
	fclose(f);
	p = profile_load(buf_span(&text), path, NULL, NULL, &findings);
	if (!p) {
		fprintf(stderr, "%s: %s\n", path, findings.v[0].text);
		exit(1);
	}
	buf_release(&text);
	return p;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Microseconds for one answer. */
static double measure(const struct profile *p, const struct answer *a,
		      int times, struct verdict_out *v)
{
	struct json scratch = {0};
	struct classify_in in = {.profile = p, .method = "POST",
				 .mode = p->mode_default, .scratch = &scratch};
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double from = seconds(), took;

		for (int i = 0; i < times; i++)
			classify_send(&in, a, v);
		took = (seconds() - from) * 1e6 / times;
		best = took < best ? took : best;
	}
	json_release(&scratch);
	return best;
}

static int judge(const char *what, double us, double limit,
		 const struct verdict_out *v)
{
	printf("classify %-24s %8.2f us (limit %.0f), %s by %s\n", what, us,
	       limit, verdict_name(v->verdict), v->rule);
	return us > limit;
}

int main(int argc, char **argv)
{
	struct profile *generic, *language;
	struct buf json = BUF_INIT, xml = BUF_INIT;
	struct answer a = {.status = 201};
	struct verdict_out v;
	int over = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: %s GENERIC-REST XML-PROFILE\n",
			argv[0]);
		return 2;
	}
	generic = load(argv[1]);
	language = load(argv[2]);
	buf_adds(&json, "{\"id\":\"R-1\",\"status\":\"stored\",\"items\":[");
	while (json.len < 1000)
		buf_adds(&json, "{\"item\":\"VS.SYSBP\",\"value\":120.5},");
	buf_adds(&json, "{}]}");
	a.body = buf_span(&json);
	over |= judge("JSON, 1 KiB", measure(generic, &a, 5000, &v), 5, &v);
	buf_adds(&xml, "<?xml version=\"1.0\"?><Response ReferenceNumber=\""
		 "5b1fa9a3\" IsTransactionSuccessful=\"1\"><Log>");
	while (xml.len < 10 * 1024)
		buf_addf(&xml, "<Item oid=\"VS.%zu\" state=\"yes\">taken"
			 "</Item>", xml.len);
	buf_adds(&xml, "</Log></Response>");
	a.status = 200;
	a.body = buf_span(&xml);
	over |= judge("XML, 10 KiB", measure(language, &a, 200, &v), 200, &v);
	profile_free(generic);
	profile_free(language);
	buf_release(&json);
	buf_release(&xml);
	return over;
}
