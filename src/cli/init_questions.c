/*
 * init_questions.c - see init.h. What is asked, in order. Rules that every
 * configuration has stand in core's table of settings, not here.
 */
#include "cli/init_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what hangs on what ------------------------------------------------- */

static bool kind_is(const struct init *in, enum cred_kind kind)
{
	const char *answer = init_given(in, Q_CREDENTIAL);

	return answer && !strcmp(answer, cred_kind_name(kind));
}

static bool is_oauth(const struct init *in)
{
	return kind_is(in, CRED_OAUTH2);
}

static bool is_session(const struct init *in)
{
	return kind_is(in, CRED_SESSION);
}

static bool has_user(const struct init *in)
{
	return kind_is(in, CRED_BASIC) || is_session(in);
}

static bool has_token(const struct init *in)
{
	return kind_is(in, CRED_BEARER) || kind_is(in, CRED_FORM_TOKEN);
}

static bool has_account(const struct init *in)
{
	return is_session(in) && in->profile && in->profile->login.account.n;
}

/* What this vendor takes; what its profile names, where it names any. */
static bool offered(const struct init *in, enum cred_kind kind)
{
	const struct profile *p = in->profile;

	return !p || (config_credential_fits(p, kind) &&
		      (!p->credentials.n ||
		       text_list_has(&p->credentials,
				     span_of(cred_kind_name(kind)), false)));
}

static bool is_headers(const struct init *in)
{
	return kind_is(in, CRED_HEADERS);
}

static bool has_choice(const struct init *in)
{
	int modes = 0;

	for (int i = 0; in->profile && i < MODE_COUNT; i++)
		modes += in->profile->modes[i];
	return modes > 1;
}

/* ---- defaults ----------------------------------------------------------- */

static void name_default(const struct init *in, struct buf *out)
{
	(void)in;
	buf_adds(out, "my-edc");
}

/* Not the setting's own default: who begins does not begin in production. */
static void environment_default(const struct init *in, struct buf *out)
{
	(void)in;
	buf_adds(out, "test");
}

static void profile_default(const struct init *in, struct buf *out)
{
	(void)in;
	buf_adds(out, "generic-rest");
}

/* OAuth 2.0, unless this vendor has something of its own. */
static void credential_default(const struct init *in, struct buf *out)
{
	static const enum cred_kind liked[] = {
		CRED_OAUTH2, CRED_SESSION, CRED_FORM_TOKEN, CRED_BASIC,
		CRED_BEARER, CRED_HEADERS,
	};
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(liked) && !offered(in, liked[i]))
		i++;
	buf_adds(out, cred_kind_name(liked[i]));
}

static void client_auth_default(const struct init *in, struct buf *out)
{
	(void)in;
	buf_adds(out, "basic");
}

static void beside_name(const struct init *in, const char *before,
			const char *ending, struct buf *out)
{
	const char *name = init_given(in, Q_NAME);

	buf_addf(out, "%s%s%s", before, name ? name : "edc", ending);
}

static void secret_default(const struct init *in, struct buf *out)
{
	beside_name(in, "", ".secret", out);
}

static void password_default(const struct init *in, struct buf *out)
{
	beside_name(in, "", ".password", out);
}

static void token_default(const struct init *in, struct buf *out)
{
	beside_name(in, "", ".token", out);
}

static void headers_default(const struct init *in, struct buf *out)
{
	beside_name(in, "X-API-Key=", ".key", out);
}

static void mode_default(const struct init *in, struct buf *out)
{
	if (in->profile)
		buf_adds(out, idem_mode_name(in->profile->mode_default));
}

/* ---- choices ------------------------------------------------------------ */

static void profile_choices(const struct init *in, struct buf *out)
{
	char name[64];

	(void)in;
	for (const struct embedded *f = embedded_files; f->name; f++)
		if (embedded_profile(f, name))
			buf_addf(out, "%s%s", out->len ? ", " : "", name);
}

static void credential_choices(const struct init *in, struct buf *out)
{
	for (int k = 0; k < CRED_KIND_COUNT; k++)
		if (offered(in, (enum cred_kind)k))
			buf_addf(out, "%s%s", out->len ? ", " : "",
				 cred_kind_name((enum cred_kind)k));
}

static void mode_choices(const struct init *in, struct buf *out)
{
	for (int i = 0; in->profile && i < MODE_COUNT; i++)
		if (in->profile->modes[i])
			buf_addf(out, "%s%s", out->len ? ", " : "",
				 idem_mode_name((enum idem_mode)i));
}

static void none_of(const struct init *in, const char *words,
		    void (*choices)(const struct init *, struct buf *),
		    struct buf *why)
{
	struct buf all = BUF_INIT;

	choices(in, &all);
	buf_addf(why, "%s%s", words, buf_text(&all));
	buf_release(&all);
}

/* ---- checks of our own -------------------------------------------------- */

static bool profile_check(struct init *in, const char *answer,
			  struct buf *why)
{
	struct buf path = BUF_INIT;
	char *kept;
	bool known;

	buf_addf(&path, "profiles/%s.json", answer);
	known = embedded_find(buf_text(&path)) != NULL;
	if (!known) {
		char *beside = setup_path(in->folder, buf_text(&path));
		struct stat st;

		known = !strchr(answer, '/') && !stat(beside, &st);
		free(beside);
	}
	buf_release(&path);
	if (!known) {
		none_of(in, "there is no such profile; there are ",
			profile_choices, why);
		return false;
	}
	/* Looked for beside the configuration to be. */
	kept = in->setup->config_file;
	in->setup->config_file = in->path;
	in->candidate = setup_profile(in->setup, answer);
	in->setup->config_file = kept;
	if (!in->candidate)
		buf_adds(why, "that profile has mistakes");
	return in->candidate != NULL;
}

/* Any that works; the choices are those that its profile expects. */
static bool credential_check(struct init *in, const char *answer,
			     struct buf *why)
{
	for (int k = 0; k < CRED_KIND_COUNT; k++) {
		if (strcmp(answer, cred_kind_name((enum cred_kind)k)))
			continue;
		if (!in->profile ||
		    config_credential_fits(in->profile, (enum cred_kind)k))
			return true;
		buf_addf(why, "kind %s does not go with the profile %s; ",
			 answer, in->profile->name);
		break;
	}
	none_of(in, "expected one of ", credential_choices, why);
	return false;
}

static bool file_check(struct init *in, const char *answer, struct buf *why)
{
	char *path = setup_path(in->folder, answer);
	char *slash = strrchr(path, '/');
	struct stat st;
	bool ok = true;

	if (!slash[1] || (!stat(path, &st) && !S_ISREG(st.st_mode))) {
		buf_adds(why, "this is not the name of a file");
		ok = false;
	} else if (strchr(answer, '/')) {
		*slash = '\0';
		ok = slash == path || (!stat(path, &st) &&
				       S_ISDIR(st.st_mode));
		if (!ok)
			buf_addf(why, "there is no folder %s", path);
	}
	free(path);
	return ok;
}

#define CRED "endpoints.credential."
#define FILE_WORDS "; made below if it is not there yet"

const struct question init_questions[INIT_QUESTIONS] = {
	[Q_NAME] = {"endpoint", NULL, "Endpoint",
		"a short name for this EDC system, as commands and lines use "
		"it", ANSWER_TEXT, true, NULL, name_default, NULL,
		NULL},
	[Q_TITLE] = {"title", "endpoints.title", "Title",
		"how people call it; empty: the short name", ANSWER_TEXT,
		false, NULL, NULL, NULL, NULL},
	[Q_ENVIRONMENT] = {"environment", "endpoints.environment",
		"Environment", "what it is; production is shown in red and "
		"asked about", ANSWER_TEXT, true, NULL, environment_default,
		NULL, NULL},
	[Q_PROFILE] = {"profile", "endpoints.profile", "Profile",
		"how this vendor speaks (edcsync profile list)", ANSWER_TEXT,
		true, NULL, profile_default, profile_choices, profile_check},
	[Q_BASE_URL] = {"base-url", "endpoints.base_url", "Base URL",
		"where the vendor's interface is: https, or http to this "
		"machine", ANSWER_TEXT, true, NULL, NULL, NULL, NULL},
	[Q_STUDIES] = {"study", "endpoints.studies", "Studies",
		"study OIDs it may take, commas between; empty: any",
		ANSWER_LIST, false, NULL, NULL, NULL, NULL},
	[Q_CREDENTIAL] = {"credential", CRED "kind", "Log-in",
		"how to log in there", ANSWER_TEXT, true, NULL,
		credential_default, credential_choices, credential_check},
	[Q_TOKEN_URL] = {"token-url", CRED "token_url", "Token URL",
		"where the vendor issues tokens", ANSWER_TEXT, true, is_oauth,
		NULL, NULL, NULL},
	[Q_CLIENT_ID] = {"client-id", CRED "client_id", "Client id",
		"the OAuth 2.0 client the vendor gave you", ANSWER_TEXT, true,
		is_oauth, NULL, NULL, NULL},
	[Q_CLIENT_SECRET] = {"secret-file", CRED "client_secret_file",
		"Secret file", "file that holds the client's secret"
		FILE_WORDS, ANSWER_TEXT, false, is_oauth, secret_default,
		NULL, file_check},
	[Q_CLIENT_AUTH] = {"client-auth", CRED "client_auth",
		"Client authentication", NULL, ANSWER_TEXT, false, is_oauth,
		client_auth_default, NULL, NULL},
	[Q_SCOPE] = {"scope", CRED "scope", "Scope",
		"scope to ask for, as the vendor says; empty: none",
		ANSWER_TEXT, false, is_oauth, NULL, NULL, NULL},
	[Q_USER] = {"user", CRED "user", "User", "user name at the vendor",
		ANSWER_TEXT, true, has_user, NULL, NULL, NULL},
	[Q_ACCOUNT] = {"account", CRED "account", "Account",
		"what the log-in must lead to (a vault id), as the vendor "
		"names it; empty: not compared", ANSWER_TEXT, false,
		has_account, NULL, NULL, NULL},
	[Q_PASSWORD_FILE] = {"secret-file", CRED "password_file",
		"Password file", "file that holds the password" FILE_WORDS,
		ANSWER_TEXT, false, has_user, password_default, NULL,
		file_check},
	[Q_TOKEN_FILE] = {"secret-file", CRED "token_file", "Token file",
		"file that holds the token" FILE_WORDS, ANSWER_TEXT, false,
		has_token, token_default, NULL, file_check},
	[Q_HEADER_FILES] = {"header-file", CRED "header_files", "Headers",
		"secret headers as NAME=FILE, commas between" FILE_WORDS,
		ANSWER_PAIRS, false, is_headers, headers_default, NULL, NULL},
	[Q_IDEMPOTENCY] = {"idempotency", "endpoints.idempotency",
		"Unknown outcomes", "settled by the same key, the same PUT "
		"(natural), a look-up, or a person (none)",
		ANSWER_TEXT, false, has_choice, mode_default, mode_choices,
		NULL},
};
