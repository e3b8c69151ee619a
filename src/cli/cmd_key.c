/*
 * cmd_key.c - wires: `edcsync key`. Computes what the Python recipe computes,
 * so that a pipeline can know a key before it submits.
 */
#include "cli/command.h"
#include "core/canon.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/xml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void key_print(struct cli *cli, struct span canonical, struct span raw,
		      const char *key)
{
	sha256_hex payload;

	if (cli->json) {
		hash_sha256_hex(raw, payload);
		out_open(&cli->out, NULL, '{');
		out_span(&cli->out, "canonical", canonical);
		out_text(&cli->out, "idempotency_key", key);
		out_text(&cli->out, "payload_sha256", payload);
		out_close(&cli->out, '}');
	} else if (cli_flag(cli, "canonical")) {
		fwrite(canonical.p, 1, canonical.n, stdout);
	} else {
		printf("%s\n", key);
	}
}

/* The payload is the value's bytes: white space around it is not part. */
static struct span trimmed(struct span s)
{
	while (s.n && strchr(" \t\r\n", s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]))
		s.n--;
	return s;
}

/* XML by its canonical form, as `submit` takes payload_text and _file. */
static bool canonical_of(struct cli *cli, struct span text,
			 struct buf *canonical, int *code)
{
	struct json doc = {0};
	struct buf error = BUF_INIT;
	bool ok;

	if (xml_looks_like(text)) {
		ok = xml_canonical(text, canonical, &error);
		if (!ok)
			*code = cli_fail(cli, EXIT_DATA, "payload: %s",
					 buf_text(&error));
		buf_release(&error);
		return ok;
	}
	ok = json_parse(&doc, text.p, text.n, JSON_PYTHON);
	if (ok)
		canon_json(&doc, 0, canonical);
	else
		*code = cli_fail(cli, EXIT_DATA, "payload, line %d, column "
				 "%d: %s", doc.error.line, doc.error.column,
				 doc.error.text);
	json_release(&doc);
	return ok;
}

static int key_compute(struct cli *cli, struct span text,
		       const struct record *scope)
{
	struct buf canonical = BUF_INIT, form = BUF_INIT;
	sha256_hex key;
	int code = EXIT_DONE;

	if (canonical_of(cli, text, &canonical, &code)) {
		canon_form(scope->event_oid, scope->event_repeat,
			   scope->form_oid, scope->form_repeat, &form);
		canon_key(scope->study_oid, scope->subject_key,
			  buf_span(&form), buf_span(&canonical), 1, key);
		key_print(cli, buf_span(&canonical), xml_looks_like(text) ?
			  text : trimmed(text), key);
	}
	buf_release(&canonical);
	buf_release(&form);
	return code;
}

int cmd_key(struct cli *cli)
{
	struct record scope = {
		.study_oid = (char *)cli_text(cli, "study"),
		.subject_key = (char *)cli_text(cli, "subject"),
		.form_oid = (char *)cli_text(cli, "form"),
		.event_oid = (char *)cli_text(cli, "event"),
		.event_repeat = (char *)cli_text(cli, "event-repeat"),
		.form_repeat = (char *)cli_text(cli, "form-repeat"),
	};
	const char *file = cli->args_n ? cli->args[0] : "-";
	struct buf text = BUF_INIT, words = BUF_INIT;
	const char *wrong;
	int code;

	if (!scope.study_oid || !scope.subject_key || !scope.form_oid)
		return cli_usage(cli, "--study, --subject and --form are needed");
	if (cli->args_n > 1)
		return cli_usage(cli, "one file at most");
	wrong = canon_scope_check(&scope, &words);
	if (wrong)
		code = cli_fail(cli, EXIT_DATA, "%s", wrong);
	else if (!setup_read_file(file, LIMIT_LINE_BYTES, &text))
		code = cli_fail(cli, EXIT_NO_INPUT, "cannot read '%s': %s",
				out_safe(&cli->out, file), strerror(errno));
	else
		code = key_compute(cli, buf_span(&text), &scope);
	buf_release(&text);
	buf_release(&words);
	return code;
}
