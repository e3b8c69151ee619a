/* init.c - see init.h. Answers: taken, checked, put into words. */
#include "cli/init_priv.h"

#include "core/utf8.h"

#include <stdlib.h>
#include <string.h>

#define NOT_YET "https://edc.example.org/not-answered-yet"

struct init *init_new(struct setup *setup, const char *path)
{
	struct init *in = xcalloc(1, sizeof(*in));
	const char *slash = strrchr(path, '/');

	assert(path[0] == '/');
	in->setup = setup;
	in->path = xstrdup(path);
	in->folder = slash == path ? xstrdup("/")
				   : xstrndup(path, (size_t)(slash - path));
	return in;
}

static void secrets_forget(struct init *in)
{
	for (size_t i = 0; i < INIT_SECRETS; i++) {
		buf_wipe(&in->secret[i]);
		free(in->secret_file[i]);
		in->secret_file[i] = NULL;
	}
}

void init_free(struct init *in)
{
	if (!in)
		return;
	secrets_forget(in);
	for (size_t q = 0; q < INIT_QUESTIONS; q++)
		free(in->answer[q]);
	free(in->path);
	free(in->folder);
	free(in);
}

/* ---- questions ---------------------------------------------------------- */

bool init_applies(const struct init *in, size_t q)
{
	const struct question *question = &init_questions[q];

	assert(q < INIT_QUESTIONS);
	return !question->applies || question->applies(in);
}

const char *init_given(const struct init *in, size_t q)
{
	assert(q < INIT_QUESTIONS);
	return in->answer[q];
}

size_t init_next(const struct init *in)
{
	size_t q = 0;

	while (q < INIT_QUESTIONS && (in->answer[q] || !init_applies(in, q)))
		q++;
	return q;
}

void init_forget(struct init *in, size_t q)
{
	assert(q < INIT_QUESTIONS);
	free(in->answer[q]);
	in->answer[q] = NULL;
}

const char *init_explain(size_t q)
{
	const struct question *question = &init_questions[q];
	const char *words;

	if (question->explain)
		return question->explain;
	return config_help(question->key, &words);
}

void init_choices(const struct init *in, size_t q, struct buf *out)
{
	const struct question *question = &init_questions[q];
	const char *words = NULL;

	if (question->choices) {
		question->choices(in, out);
		return;
	}
	if (question->key)
		config_help(question->key, &words);
	for (; words && *words; words++) {
		if (*words == '|')
			buf_adds(out, ", ");
		else
			buf_addc(out, *words);
	}
}

void init_default(const struct init *in, size_t q, struct buf *out)
{
	if (init_questions[q].deflt)
		init_questions[q].deflt(in, out);
}

/* ---- the text ----------------------------------------------------------- */

static struct span trim(struct span s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s.p++, s.n--;
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

void init_parts(const char *answer, void (*each)(void *, struct span),
		void *ctx)
{
	const char *stop = strchr(answer, '\n') ? "\n" : ",";

	while (*answer) {
		size_t n = strcspn(answer, stop);
		struct span part = trim((struct span){answer, n});

		if (part.n)
			each(ctx, part);
		answer += n + (answer[n] != '\0');
	}
}

/* As a person would write it: only what must be is escaped. */
static void add_json(struct buf *out, struct span text)
{
	bool plain = utf8_valid(text);

	for (size_t i = 0; i < text.n; i++)
		plain = plain && (unsigned char)text.p[i] >= 0x20;
	if (!plain) {
		json_quote(out, text);
		return;
	}
	buf_addc(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"' || text.p[i] == '\\')
			buf_addc(out, '\\');
		buf_addc(out, text.p[i]);
	}
	buf_addc(out, '"');
}

struct listing {
	struct buf *out;
	bool pairs, any;
};

static void add_part(void *ctx, struct span part)
{
	struct listing *l = ctx;
	const char *equals = l->pairs ? memchr(part.p, '=', part.n) : NULL;
	size_t n = equals ? (size_t)(equals - part.p) : part.n;

	buf_adds(l->out, l->any ? ", " : "");
	l->any = true;
	add_json(l->out, trim((struct span){part.p, n}));
	if (!l->pairs)
		return;
	buf_adds(l->out, ": ");
	add_json(l->out, equals ? trim((struct span){equals + 1,
						     part.n - n - 1})
				: SPAN(""));
}

static void add_value(struct buf *out, enum answer_kind kind,
		      const char *answer)
{
	struct listing l = {out, kind == ANSWER_PAIRS, false};

	if (kind == ANSWER_TEXT) {
		add_json(out, span_of(answer));
		return;
	}
	buf_addc(out, l.pairs ? '{' : '[');
	init_parts(answer, add_part, &l);
	buf_addc(out, l.pairs ? '}' : ']');
}

static const char credential[] = "endpoints.credential";

struct writing {
	struct buf *out;
	bool first;			/* in the object that is open */
	bool inside;			/* the credential is open */
};

static void comment(struct buf *out, const char *indent, const char *key)
{
	const char *words, *help = config_help(key, &words);

	buf_addf(out, "%s// %s", indent, help);
	for (const char *p = words; p && *p; p++) {
		buf_adds(out, p == words ? " (" : "");
		if (*p == '|')
			buf_adds(out, ", ");
		else
			buf_addc(out, *p);
	}
	buf_adds(out, words ? ")\n" : "\n");
}

static void credential_close(struct writing *w)
{
	if (w->inside)
		buf_adds(w->out, "\n      }");
	w->inside = false;
}

static void add_setting(struct writing *w, const struct question *q,
			const char *answer)
{
	bool inside = !strncmp(q->key, credential, sizeof(credential) - 1);
	const char *indent = inside ? "        " : "      ";

	if (!inside)
		credential_close(w);
	if (!w->first)
		buf_adds(w->out, ",\n");
	w->first = false;
	if (inside && !w->inside) {
		comment(w->out, "      ", credential);
		buf_adds(w->out, "      \"credential\": {\n");
		w->inside = true;
	}
	comment(w->out, indent, q->key);
	buf_addf(w->out, "%s\"%s\": ", indent, strrchr(q->key, '.') + 1);
	add_value(w->out, q->kind, answer);
}

/* complete: what was not answered yet gets something harmless, so that what
 * was answered can be checked. */
static void render(const struct init *in, bool complete, struct buf *out)
{
	struct writing w = {out, true, false};
	const char *name = in->answer[Q_NAME];

	buf_adds(out, "// edcsync configuration, begun by edcsync init. All "
		 "settings and their\n// defaults: edcsync config example. "
		 "After a change: edcsync config check\n{\n");
	comment(out, "  ", "store");
	buf_adds(out, "  \"store\": \"edcsync.db\",\n");
	comment(out, "  ", "endpoints");
	buf_adds(out, "  \"endpoints\": {\n    ");
	add_json(out, span_of(name ? name : "edc"));
	buf_adds(out, ": {\n");
	for (size_t q = Q_NAME + 1; q < INIT_QUESTIONS; q++) {
		const struct question *row = &init_questions[q];
		struct buf text = BUF_INIT;

		/* No log-in is complete as it is; another one is not. */
		if (!init_applies(in, q) ||
		    (q == Q_CREDENTIAL && !in->answer[q]))
			continue;
		buf_adds(&text, in->answer[q] ? in->answer[q] : "");
		if (complete && !in->answer[q])
			init_default(in, q, &text);
		if (complete && !text.len && row->required)
			buf_adds(&text, NOT_YET);
		if (text.len)
			add_setting(&w, row, buf_text(&text));
		buf_release(&text);
	}
	credential_close(&w);
	buf_adds(out, "\n    }\n  }\n}\n");
}

void init_text(const struct init *in, struct buf *out)
{
	assert(init_next(in) == INIT_QUESTIONS);
	render(in, false, out);
}

/* ---- answers ------------------------------------------------------------ */

/* What a finding says, behind the name of the setting. */
static void reason(const struct findings *findings, struct buf *why)
{
	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *f = &findings->v[i];
		const char *colon = strstr(f->text, ": ");

		if (f->warning)
			continue;
		buf_adds(why, colon ? colon + 2 : f->text);
		return;
	}
}

/* By the very code that reads a configuration. */
static bool would_do(struct init *in, struct buf *why)
{
	struct findings findings = {0};
	struct buf text = BUF_INIT;
	struct config *config;
	bool ok;

	render(in, true, &text);
	config = config_parse(buf_span(&text), "answer", &findings);
	/* Until it is said how to log in, none would be meant. */
	if (config && in->candidate && in->answer[Q_CREDENTIAL])
		config_bind(config, 0, in->candidate, &findings);
	reason(&findings, why);
	ok = config && !findings.errors;
	config_free(config);
	findings_release(&findings);
	buf_release(&text);
	return ok;
}

static void part_check(void *ctx, struct span part)
{
	int *bad = ctx;
	const char *equals = memchr(part.p, '=', part.n);

	*bad += !equals || equals == part.p || equals == part.p + part.n - 1;
}

/* What the settings' rules do not look at: a line is a line. */
static bool form_check(const struct question *q, const struct buf *text,
		       struct buf *why)
{
	int bad = 0;

	if (!text->len && q->required)
		buf_adds(why, "an answer is needed");
	else if (!utf8_valid(buf_span(text)))
		buf_adds(why, "it is no valid UTF-8");
	for (size_t i = 0; i < text->len && !why->len; i++) {
		unsigned char c = (unsigned char)text->p[i];

		if ((c < 0x20 && (c != '\n' || q->kind == ANSWER_TEXT)) ||
		    c == 0x7f)
			buf_adds(why, "it holds a control character");
	}
	if (q->kind == ANSWER_PAIRS && !why->len) {
		init_parts(buf_text(text), part_check, &bad);
		if (bad)
			buf_adds(why, "each is NAME=FILE");
	}
	return !why->len;
}

/* The log-in that was chosen is none with this profile. */
static bool unfit(const struct init *in)
{
	const char *kind = in->answer[Q_CREDENTIAL];

	for (int k = 0; kind && in->candidate && k < CRED_KIND_COUNT; k++)
		if (!strcmp(kind, cred_kind_name((enum cred_kind)k)))
			return !config_credential_fits(in->candidate,
						       (enum cred_kind)k);
	return false;
}

/* Another profile, another log-in: what was said of the old one is void. */
static void forget_dependents(struct init *in, size_t q)
{
	if (q == Q_PROFILE && unfit(in))
		init_forget(in, Q_CREDENTIAL);
	for (size_t k = q + 1; k < INIT_QUESTIONS; k++)
		if (init_questions[k].applies)
			init_forget(in, k);
}

bool init_answer(struct init *in, size_t q, struct span answer,
		 struct buf *why)
{
	const struct question *row = &init_questions[q];
	struct buf text = BUF_INIT;
	char *old = in->answer[q], *new;
	bool ok, changed;

	assert(q < INIT_QUESTIONS && init_applies(in, q) && !why->len);
	buf_addspan(&text, trim(answer));
	if (!text.len)
		init_default(in, q, &text);
	in->candidate = in->profile;
	if (!form_check(row, &text, why) ||
	    (row->check && !row->check(in, buf_text(&text), why))) {
		buf_release(&text);
		return false;
	}
	new = text.len ? buf_detach(&text, NULL) : xstrdup("");
	buf_release(&text);
	changed = !old || strcmp(old, new);
	if (changed && (q == Q_PROFILE || q == Q_CREDENTIAL))
		forget_dependents(in, q);
	in->answer[q] = new;
	ok = would_do(in, why);
	if (ok && changed && row->key &&
	    !strncmp(row->key, credential, sizeof(credential) - 1))
		secrets_forget(in);
	if (ok)
		in->profile = in->candidate;
	else
		in->answer[q] = old;
	free(ok ? old : new);
	return ok;
}

/* ---- secrets ------------------------------------------------------------ */

/* Two headers may name one file: it is asked for and written once. */
static bool listed(const struct init *in, const char *path)
{
	for (size_t i = 0; i < INIT_SECRETS && in->secret_file[i]; i++)
		if (!strcmp(in->secret_file[i], path))
			return true;
	return false;
}

static void secrets_find(struct init *in)
{
	struct findings findings = {0};
	struct buf text = BUF_INIT;
	struct config *config;
	size_t n = 0;

	init_text(in, &text);
	config = config_parse(buf_span(&text), in->path, &findings);
	for (size_t i = 0; config && n < INIT_SECRETS; i++) {
		const char *file = credential_file(
			&config->endpoint[0].credential, i);
		char *path = file ? setup_path(in->folder, file) : NULL;

		if (!path)
			break;
		if (listed(in, path))
			free(path);
		else
			in->secret_file[n++] = path;
	}
	config_free(config);
	findings_release(&findings);
	buf_release(&text);
}

const char *init_secret_file(struct init *in, size_t i)
{
	if (!in->secret_file[0])
		secrets_find(in);
	return i < INIT_SECRETS ? in->secret_file[i] : NULL;
}

bool init_secret(struct init *in, size_t i, struct span secret,
		 struct buf *why)
{
	assert(i < INIT_SECRETS && in->secret_file[i]);
	for (size_t k = 0; k < secret.n; k++)
		if ((unsigned char)secret.p[k] < 0x20 || secret.p[k] == 0x7f)
			buf_adds(why, "a secret is one line without control "
				 "characters");
	if (!secret.n)
		buf_adds(why, "it is empty");
	if (why->len)
		return false;
	buf_wipe(&in->secret[i]);
	buf_addspan(&in->secret[i], secret);
	return true;
}

bool init_secret_given(const struct init *in, size_t i)
{
	return i < INIT_SECRETS && in->secret[i].len > 0;
}
