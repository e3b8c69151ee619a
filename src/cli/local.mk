# Everything of the cli floor but main(): one file a line.
noinst_LIBRARIES += libcli.a
libcli_a_CPPFLAGS = $(AM_CPPFLAGS) -DEDCSYNC_SYSCONFDIR='"$(sysconfdir)"'
libcli_a_SOURCES = \
	src/cli/command.h \
	src/cli/actor.c \
	src/cli/actor.h \
	src/cli/choice.c \
	src/cli/choice.h \
	src/cli/cmd_act.c \
	src/cli/cmd_console.c \
	src/cli/console.h \
	src/cli/console_verify.c \
	src/cli/cmd_classify.c \
	src/cli/demo_parts.c \
	src/cli/demo.h \
	src/cli/cmd_demo.c \
	src/cli/cmd_config.c \
	src/cli/cmd_endpoint_act.c \
	src/cli/cmd_endpoint_test.c \
	src/cli/endpoint_try.h \
	src/cli/cmd_init.c \
	src/cli/cmd_key.c \
	src/cli/config_check.h \
	src/cli/init.c \
	src/cli/init.h \
	src/cli/init_priv.h \
	src/cli/init_questions.c \
	src/cli/init_write.c \
	src/cli/cmd_operator.c \
	src/cli/cmd_policy.c \
	src/cli/status.h \
	src/cli/requests.c \
	src/cli/engine_run.h \
	src/cli/cmd_run.c \
	src/cli/signals.c \
	src/cli/cmd_profile.c src/cli/profile_replay.c src/cli/profile_replay.h \
	src/cli/cmd_submit.c \
	src/cli/cmd_unclear.c \
	src/cli/command.c \
	src/cli/help.c \
	src/cli/lines.c \
	src/cli/lines.h \
	src/cli/manual.c \
	src/cli/metrics.c \
	src/cli/metrics.h \
	src/cli/metrics_http.c \
	src/cli/metrics_text.c \
	src/cli/options.c \
	src/cli/options.h \
	src/cli/requests.h \
	src/cli/embedded.h \
	src/cli/files.c \
	src/cli/out.c \
	src/cli/out.h \
	src/cli/cmd_list.c \
	src/cli/cmd_show.c \
	src/cli/say.c \
	src/cli/say.h \
	src/cli/cmd_audit.c \
	src/cli/cmd_find.c \
	src/cli/cmd_status.c \
	src/cli/status.h \
	src/cli/setup.c \
	src/cli/setup.h \
	src/cli/table.c
nodist_libcli_a_SOURCES = embedded.c
CLI_LIBS = libcli.a libui.a $(ENGINE_LIBS) $(NCURSES_LIBS)

bin_PROGRAMS += edcsync
edcsync_SOURCES = src/main.c
edcsync_LDADD = $(CLI_LIBS)

# The floor's own tests.
if HAVE_CMOCKA
check_PROGRAMS += tests/test_out
TESTS += tests/test_out
tests_test_out_SOURCES = tests/test_out.c tests/check.h
tests_test_out_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_out_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_out_LDADD = $(CLI_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_metrics
TESTS += tests/test_metrics
tests_test_metrics_SOURCES = tests/test_metrics.c tests/check.h
tests_test_metrics_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_metrics_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_metrics_LDADD = $(CLI_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_init
TESTS += tests/test_init
tests_test_init_SOURCES = tests/test_init.c tests/check.h
tests_test_init_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_init_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_init_LDADD = $(CLI_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_setup
TESTS += tests/test_setup
tests_test_setup_SOURCES = tests/test_setup.c tests/check.h
tests_test_setup_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_setup_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_setup_LDADD = $(CLI_LIBS) $(TEST_LIBS)
endif
