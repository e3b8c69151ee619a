/* A submit line as any bytes, against one endpoint that takes everything. */
#include <string.h>

#include "core/utf8.h"
#include "store/intake.h"
#include "tests/fuzz/fuzz.h"

static bool file_read(void *ctx, const char *name, struct buf *out,
		      struct buf *error)
{
	(void)ctx;
	buf_adds(*name == 'x' ? error : out, name);
	return *name != 'x';
}

static struct config *config_make(void)
{
	static const char text[] = "{\"endpoints\": {\"edc\": {\"profile\": "
		"\"generic-rest\", \"base_url\": \"https://h/a\", \"studies\": "
		"[], \"repeating_forms\": [\"AE\"]}}}";
	struct findings findings = {0};
	struct config *config = config_parse(span_of(text), "c", &findings);

	PROMISE(config);
	findings_release(&findings);
	return config;
}

static struct profile *profile_make(const struct config *config)
{
	struct findings findings = {0};
	struct buf text = BUF_INIT;
	struct profile *p;
	FILE *f = fopen(SRCDIR "/share/profiles/generic-rest.json", "rb");
	int c;

	PROMISE(f);
	while ((c = getc(f)) != EOF)
		buf_addc(&text, (char)c);
	fclose(f);
	p = profile_load(buf_span(&text), "p", NULL, NULL, &findings);
	PROMISE(p && config_bind((struct config *)config, 0, p, &findings));
	buf_release(&text);
	findings_release(&findings);
	return p;
}

static void record_check(const struct record *r)
{
	const char *const parts[] = {r->study_oid, r->subject_key, r->form_oid,
		r->event_oid, r->event_repeat, r->form_repeat, r->record_key};

	PROMISE(r->study_oid && r->subject_key && r->form_oid);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		PROMISE(!parts[i] || (utf8_valid(span_of(parts[i])) &&
				      !strpbrk(parts[i], "|\n\r\t\x1b")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct config *config;
	static struct profile *profile;
	struct intake_in in = {.endpoint = "edc", .read_file = file_read};
	struct line_result result;
	struct line line;

	if (!config) {
		config = config_make();
		profile = profile_make(config);
	}
	PROMISE(profile);
	in.config = config;
	if (line_parse(&line, (struct span){(const char *)data, n}, &in,
		       &result)) {
		record_check(&line.op.record);
		fuzz_ascii(line.op.op_id);
		PROMISE(strlen(line.op.idem_key) == 64);
		PROMISE(line.payload.len <= LIMIT_LINE_BYTES);
	} else {
		PROMISE(result.result == SUBMIT_REFUSED && result.error[0]);
	}
	line_release(&line);
	return 0;
}
