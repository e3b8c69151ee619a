/*
 * command.c - wires: every command is one row (command.h says how to add
 * one). Help, overview, man page and completion are made from here.
 */
#include "cli/command.h"

#define OPTION_END {NULL, OPT_FLAG, NULL, NULL}

/* Who acts, and why: the same for everything that leaves a trace. */
#define ACTOR_OPTIONS \
	{"actor", OPT_TEXT, "ID", "operator id; asked at the terminal otherwise"}, \
	{"password-file", OPT_TEXT, "FILE", \
	 "password from a file (authenticates, never signs)"}

#define REASON_OPTIONS \
	{"reason", OPT_TEXT, "TEXT", "why; never empty, up to 1000 characters"}, \
	{"reason-code", OPT_TEXT, "CODE", \
	 "code beside the text, e.g. VENDOR_RECOVERED (default OTHER)"}, \
	{"meaning", OPT_TEXT, "WORD", \
	 "of a signature: review, approval, responsibility, authorship"}

#define CHOICE_OPTIONS \
	{"filter", OPT_TEXT, "FILTER", "all operations that match"}

static const struct option_row submit_options[] = {
	{"endpoint", OPT_TEXT, "NAME", "endpoint of lines that name none"},
	{"batch", OPT_TEXT, "ID", "name of this input (default: its SHA-256)"},
	OPTION_END
};

static const struct option_row run_options[] = {
	{"until-idle", OPT_FLAG, NULL,
	 "end when automation can move nothing more"},
	{"for", OPT_DURATION, "DURATION", "end after this time"},
	{"metrics", OPT_TEXT, "ADDR",
	 "serve OpenMetrics there, e.g. 127.0.0.1:9464 (port 0: a free one)"},
	OPTION_END
};

static const struct option_row status_options[] = {
	{"require-engine", OPT_FLAG, NULL, "exit 69 when no engine runs"},
	OPTION_END
};

static const struct option_row list_options[] = {
	{"limit", OPT_NUMBER, "N",
	 "at most so many (default 100, with --json all; 0 all)"},
	OPTION_END
};

static const struct option_row find_options[] = {
	{"study", OPT_TEXT, "OID", "only in this study"},
	{"words", OPT_FLAG, NULL, "say it in words one can read out"},
	OPTION_END
};

static const struct option_row check_options[] = {
	CHOICE_OPTIONS, REASON_OPTIONS, ACTOR_OPTIONS, OPTION_END
};

static const struct option_row replay_options[] = {
	CHOICE_OPTIONS, REASON_OPTIONS,
	{"dry-run", OPT_FLAG, NULL, "say what would happen; change nothing"},
	{"verified-absent", OPT_TEXT, "TEXT",
	 "evidence that the vendor does not have it"},
	{"override-stale", OPT_TEXT, "OP",
	 "send although this newer operation exists"},
	ACTOR_OPTIONS, OPTION_END
};

static const struct option_row discard_options[] = {
	CHOICE_OPTIONS, REASON_OPTIONS,
	{"evidence", OPT_TEXT, "TEXT",
	 "what proves it, when the outcome is unknown"},
	ACTOR_OPTIONS, OPTION_END
};

static const struct option_row pause_options[] = {
	REASON_OPTIONS,
	{"until", OPT_TIME, "TIME", "resume by itself then"},
	ACTOR_OPTIONS, OPTION_END
};

static const struct option_row resume_options[] = {
	REASON_OPTIONS,
	{"target", OPT_TEXT, "same|other",
	 "same or another system? Answers target_changed"},
	ACTOR_OPTIONS, OPTION_END
};

static const struct option_row reason_options[] = {
	REASON_OPTIONS, ACTOR_OPTIONS, OPTION_END
};

static const struct option_row endpoint_test_options[] = {
	{"record", OPT_TEXT, "OP", "look this operation up at the vendor, too"},
	OPTION_END
};

static const struct option_row key_options[] = {
	{"study", OPT_TEXT, "OID", "study_oid"},
	{"subject", OPT_TEXT, "KEY", "subject_key"},
	{"form", OPT_TEXT, "OID", "form_oid"},
	{"event", OPT_TEXT, "OID", "event_oid"},
	{"event-repeat", OPT_TEXT, "N", "event_repeat"},
	{"form-repeat", OPT_TEXT, "N", "form_repeat"},
	{"canonical", OPT_FLAG, NULL, "print the canonical bytes instead"},
	OPTION_END
};

static const struct option_row classify_options[] = {
	{"profile", OPT_TEXT, "NAME", "profile, by name or file"},
	{"status", OPT_NUMBER, "N", "HTTP status of the answer"},
	{"method", OPT_TEXT, "M", "method of the request (default POST)"},
	{"idempotency", OPT_TEXT, "MODE", "key, natural, lookup or none"},
	{"transport", OPT_TEXT, "WORD",
	 "ok, timeout, reset, refused, dns, tls or truncated"},
	{"header", OPT_LIST, "K: V", "a header of the answer; may be repeated"},
	{"body", OPT_TEXT, "FILE", "body of the answer, - for standard input"},
	{"payload", OPT_TEXT, "FILE", "what was submitted, for profiles that count"},
	{"kind", OPT_TEXT, "WORD",
	 "send (default), poll, result, look_up, probe, log_in or token"},
	{"job", OPT_TEXT, "WORD",
	 "how the job of a result ended: done (default), partial or failed"},
	{"account", OPT_TEXT, "NAME", "where a log-in should lead"},
	{"scope", OPT_TEXT, "WORDS", "what was asked of a token endpoint"},
	{"op-id", OPT_TEXT, "ID", "the tag that a look-up was for"},
	{"now", OPT_TIME, "TIME", "the present, for dates in headers"},
	OPTION_END
};

static const struct option_row policy_options[] = {
	{"endpoint", OPT_TEXT, "NAME", "whose policy"},
	{"seed", OPT_NUMBER, "N", "seed of the jitter (default 1)"},
	OPTION_END
};

static const struct option_row verify_options[] = {
	{"anchors", OPT_TEXT, "FILE", "anchor file (default: configured)"},
	{"public-key", OPT_TEXT, "FILE", "PEM file (default: beside the key)"},
	OPTION_END
};

static const struct option_row audit_list_options[] = {
	{"op", OPT_TEXT, "OP", "records of this operation"},
	{"from", OPT_NUMBER, "SEQ", "from this record on"},
	{"limit", OPT_NUMBER, "N",
	 "at most so many (default 100, with --json all; 0 all)"},
	OPTION_END
};

static const struct option_row operator_add_options[] = {
	{"name", OPT_TEXT, "NAME", "printed name, as on a signature"},
	{"organisation", OPT_TEXT, "TEXT", "where the person works"},
	{"role", OPT_LIST, "ROLE",
	 "viewer, on-call, data-manager, auditor, administrator; repeatable"},
	{"new-password-file", OPT_TEXT, "FILE",
	 "the new operator's password (asked otherwise)"},
	ACTOR_OPTIONS, OPTION_END
};

static const struct option_row operator_passwd_options[] = {
	{"new-password-file", OPT_TEXT, "FILE", "new password (asked otherwise)"},
	ACTOR_OPTIONS, OPTION_END
};

static const struct option_row demo_options[] = {
	{"headless", OPT_FLAG, NULL,
	 "no console: run to the end and print the summary"},
	{"scenario", OPT_TEXT, "NAME",
	 "what the simulated EDC does (outage; plain in a folder played before)"},
	{"seed", OPT_NUMBER, "N", "seed of its faults (default 7)"},
	{"for", OPT_DURATION, "DURATION", "give up after this time (2m)"},
	{"dir", OPT_TEXT, "DIR", "keep everything there"},
	OPTION_END
};

static const struct option_row init_options[] = {
	{"dir", OPT_TEXT, "DIR", "folder of the configuration (or --config)"},
	{"endpoint", OPT_TEXT, "NAME", "short name of the EDC system"},
	{"title", OPT_TEXT, "TEXT", "how people call it"},
	{"environment", OPT_TEXT, "WORD", "production, test or training"},
	{"profile", OPT_TEXT, "NAME", "how this vendor speaks"},
	{"base-url", OPT_TEXT, "URL", "where the vendor's interface is"},
	{"study", OPT_LIST, "OID", "a study it may take; may be repeated"},
	{"credential", OPT_TEXT, "KIND",
	 "none, basic, headers, bearer, oauth2_client_credentials, "
	 "session_login or form_token"},
	{"token-url", OPT_TEXT, "URL", "where the vendor issues tokens"},
	{"client-id", OPT_TEXT, "ID", "OAuth 2.0 client"},
	{"secret-file", OPT_TEXT, "FILE",
	 "file of the secret, password or token"},
	{"client-auth", OPT_TEXT, "WORD", "basic or post"},
	{"scope", OPT_TEXT, "TEXT", "scope to ask for"},
	{"user", OPT_TEXT, "NAME", "user name at the vendor"},
	{"account", OPT_TEXT, "ID", "what the log-in must lead to"},
	{"header-file", OPT_LIST, "NAME=FILE",
	 "secret header and its file; may be repeated"},
	{"idempotency", OPT_TEXT, "MODE", "key, natural, lookup or none"},
	OPTION_END
};

static const struct option_row console_options[] = {
	{"attach", OPT_FLAG, NULL, "start no engine in this window"},
	{"readonly", OPT_FLAG, NULL, "look only: no acts, no engine"},
	{"panel", OPT_TEXT, "PANEL",
	 "where to begin: overview, attempts, circuits, polls, reconcile, "
	 "dead, rejected, audit"},
	{"filter", OPT_TEXT, "FILTER", "of the panel it begins with"},
	{"theme", OPT_TEXT, "NAME", "safe, dark, light or mono"},
	{"ascii", OPT_FLAG, NULL, "plain ASCII only"},
	{"no-mouse", OPT_FLAG, NULL, "leave the mouse to the terminal"},
	OPTION_END
};

static const struct option_row no_options[] = {OPTION_END};

static const struct option_row check_profile_options[] = {
	{"replay-stored", OPT_FLAG, NULL,
	 "list stored answers that mean something else under it"},
	OPTION_END
};

static const char ids_words[] =
	"Operations are named by IDS, by --filter, or by - for ids on standard\n"
	"input, one a line. With --json: one object an id.";

const struct command commands[] = {
	{"console", "[--attach] [--readonly] [--panel=PANEL] [OP]",
	 "See it live, find why, repair it",
	 "What edcsync does without a command. Runs an engine in the window, or\n"
	 "attaches to the one that runs; asks first where an endpoint is production,\n"
	 "because an engine in a window stops with it. OP opens that operation.\n"
	 "Exit 2 without a terminal.",
	 console_options, cmd_console, 0},
	{"submit", "[--endpoint=E] [--batch=ID] FILE...|-",
	 "Take operations in from JSON lines",
	 "Each line is one operation. What is already known is said and not added;\n"
	 "a line that cannot be taken is refused with file, line and reason while\n"
	 "the others go in. The same command again adds nothing.\n"
	 "Needed: study_oid, subject_key, form_oid, and payload (any JSON value)\n"
	 "or payload_text or payload_file with content_type; endpoint unless\n"
	 "--endpoint names it. Optional: event_oid, event_repeat, form_repeat,\n"
	 "site_oid, record_key, method, path, op_id, source_created_at,\n"
	 "source_author, source_system, source_record_id.\n"
	 "Exit: 65 if a line was refused, else 1 if one needs a person, else 0.",
	 submit_options, cmd_submit, NEED_CONFIG},
	{"unclear list", "", "Lines kept for a person to decide",
	 NULL, no_options, cmd_unclear, NEED_STORE},
	{"unclear accept", "ID... --reason=TEXT", "Queue lines that were kept",
	 NULL, reason_options, cmd_unclear, NEED_CONFIG | NEED_STORE},
	{"unclear refuse", "ID... --reason=TEXT", "Close lines that were kept",
	 NULL, reason_options, cmd_unclear, NEED_CONFIG | NEED_STORE},
	{"run", "[--until-idle] [--for=DURATION]",
	 "Run the engine: deliver what is queued",
	 "Runs until SIGTERM or SIGINT, which end it within two seconds whatever a\n"
	 "vendor does. With --until-idle: exit 0 when all is settled, 1 when\n"
	 "something needs a person; prints the summary of `status`.\n"
	 "Exit 75 when another engine holds the store.",
	 run_options, cmd_run, NEED_CONFIG},
	{"status", "[--require-engine]",
	 "Does anything need me, and is it well?",
	 NULL, status_options, cmd_status, NEED_STORE},
	{"list", "[FILTER] [--limit=N]", "List operations, newest first",
	 "FILTER: words match error, subject, form, event, site and notes;\n"
	 "field:value for state, endpoint, study, site, subject, event, form,\n"
	 "error, status, actor, assigned, reason, flag, group, run, batch, source,\n"
	 "evidence, op, key, corr, vendor, ticket; comma for or, - for not, * as\n"
	 "wildcard at the end, quotes for spaces; age>2h, attempts>=3,\n"
	 "since:TIME, until:TIME. Example: edcsync list state:dead age>2h",
	 list_options, cmd_list, NEED_STORE},
	{"find", "TEXT [--study=S] [--words]",
	 "A subject's sheet, or the operation behind an id", NULL,
	 find_options, cmd_find, NEED_STORE},
	{"show", "OP", "Everything about one operation",
	 NULL, no_options, cmd_show, NEED_STORE},
	{"check", "[IDS...|-|--filter=F]",
	 "Look at the vendor; write nothing there",
	 ids_words, check_options, cmd_act, NEED_CONFIG | NEED_STORE},
	{"replay", "[IDS...|-|--filter=F] --reason=TEXT",
	 "Send again: same key, fresh budget, looked up first", ids_words,
	 replay_options, cmd_act, NEED_CONFIG | NEED_STORE},
	{"annotate", "[IDS...|-|--filter=F] --reason=TEXT",
	 "Add a note; the text is the note",
	 ids_words, check_options, cmd_act, NEED_CONFIG | NEED_STORE},
	{"discard", "[IDS...|-|--filter=F] --reason=TEXT",
	 "Decide that it is not to be sent (signed; can be undone)", ids_words,
	 discard_options, cmd_act, NEED_CONFIG | NEED_STORE},
	{"undiscard", "[IDS...|-|--filter=F] --reason=TEXT",
	 "Undo a discard", ids_words, check_options, cmd_act,
	 NEED_CONFIG | NEED_STORE},
	{"pause", "ENDPOINT --reason=TEXT [--until=TIME]",
	 "Stop sending to an endpoint, at once", NULL, pause_options,
	 cmd_endpoint_act, NEED_CONFIG | NEED_STORE},
	{"resume", "ENDPOINT --reason=TEXT [--target=same|other]",
	 "Start again whatever stopped it",
	 "Lifts pause, halt, open circuit and vendor wait in the order that works,\n"
	 "reads secrets again, probes, and starts slowly.",
	 resume_options, cmd_endpoint_act, NEED_CONFIG | NEED_STORE},
	{"probe", "ENDPOINT [--reason=TEXT]",
	 "Ask the endpoint now whether it works", NULL,
	 reason_options, cmd_endpoint_act, NEED_CONFIG | NEED_STORE},
	{"endpoint test", "ENDPOINT [--record=OP]",
	 "Try an endpoint step by step; write nothing there",
	 "Name, proxy, connection, certificate, answer, clock, log-in, scope, and a\n"
	 "look-up of a random tag, which must be absent. What failed says what to\n"
	 "do next, and the steps behind it are skipped. Needs no engine, disturbs\n"
	 "none; is recorded in the audit trail where there is a store.\n"
	 "Exit: 0 all well, 1 warnings (clock off by more than 5 s, certificate\n"
	 "ending within 14 days) or odd answers, 69 unreachable, 77 credentials\n"
	 "refused, 78 a secret or setting that cannot be used.",
	 endpoint_test_options, cmd_endpoint_test, NEED_CONFIG},
	{"key", "--study=S --subject=U --form=F [FILE|-]",
	 "Compute an idempotency key; needs no configuration", NULL,
	 key_options, cmd_key, 0},
	{"classify", "--profile=P --status=N [--body=FILE|-]",
	 "What would this answer mean?", NULL,
	 classify_options, cmd_classify, 0},
	{"policy", "--endpoint=E [--seed=N]", "When would we try again?",
	 NULL, policy_options, cmd_policy, NEED_CONFIG},
	{"profile list", "", "Vendor profiles at hand", NULL, no_options,
	 cmd_profile, 0},
	{"profile show", "NAME", "Print a profile", NULL, no_options,
	 cmd_profile, 0},
	{"profile check", "[NAME|FILE]...", "Check profiles", NULL,
	 check_profile_options, cmd_profile, 0},
	{"profile test", "[NAME|FILE]...",
	 "Run the cases of profiles: answer in, verdict out", NULL,
	 no_options, cmd_profile, 0},
	{"audit verify", "[--anchors=FILE] [--public-key=FILE]",
	 "Prove that the audit trail is whole",
	 "Exit: 0 intact, 65 broken, 1 not anchored, 66 empty, 74 unreadable.",
	 verify_options, cmd_audit_verify, NEED_STORE},
	{"audit list", "[--op=OP] [--from=SEQ] [--limit=N]",
	 "Audit records, newest first (from SEQ on: oldest first)", NULL,
	 audit_list_options, cmd_audit_list, NEED_STORE},
	{"audit declare-gap", "--reason=TEXT",
	 "Release a restored store; signed at the terminal", NULL,
	 reason_options, cmd_audit_declare_gap, NEED_CONFIG | NEED_STORE},
	{"config check", "", "Check the configuration", NULL, no_options,
	 cmd_config_check, 0},
	{"config example", "", "Print a commented configuration with every setting",
	 NULL, no_options, cmd_config_check, 0},
	{"operator add", "ID --name=NAME [--role=ROLE]...",
	 "Add an operator; the first one needs no actor", NULL,
	 operator_add_options, cmd_operator, NEED_CONFIG},
	{"operator passwd", "ID", "Set a password", NULL,
	 operator_passwd_options, cmd_operator, NEED_CONFIG | NEED_STORE},
	{"operator list", "", "List operators", NULL, no_options,
	 cmd_operator, NEED_STORE},
	{"init", "[--dir=DIR] [--endpoint=NAME] [--profile=NAME] ...",
	 "Make a first configuration, question by question",
	 "At a terminal it asks what the options did not say, explains each\n"
	 "question, refuses a wrong answer at once, shows the whole, and writes\n"
	 "only then: a commented configuration, and files for secrets that were\n"
	 "typed in hidden. Then it checks what it wrote and offers to test the\n"
	 "endpoint. Without a terminal the options have to say everything: endpoint,\n"
	 "environment, profile, base-url, credential and what that needs; secret\n"
	 "files are not made. An existing configuration is never touched (exit 73).\n"
	 "Exit: 0 done, 1 written, but the check found something to mend.",
	 init_options, cmd_init, 0},
	{"demo", "[--headless] [--scenario=NAME] [--seed=N] [--dir=DIR]",
	 "A simulated study through a misbehaving EDC", NULL,
	 demo_options, cmd_demo, 0},
	{NULL, NULL, NULL, NULL, NULL, NULL, 0}
};
