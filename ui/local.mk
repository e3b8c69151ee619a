# The console: one file a line.
noinst_LIBRARIES += libui.a
libui_a_SOURCES = ui/app.c ui/app.h ui/app_priv.h
libui_a_SOURCES += ui/app_key.c
libui_a_SOURCES += ui/command.c
libui_a_SOURCES += ui/digest.c
libui_a_SOURCES += ui/frame.c
libui_a_SOURCES += ui/level.c
libui_a_SOURCES += ui/panel.c
libui_a_SOURCES += ui/prompt.c
libui_a_SOURCES += ui/reconcile.c
libui_a_SOURCES += ui/status.c
libui_a_SOURCES += ui/tell.c
libui_a_SOURCES += ui/amount.c ui/amount.h
libui_a_SOURCES += ui/attempts.c ui/attempts.h
libui_a_SOURCES += ui/attempts_draw.c
libui_a_SOURCES += ui/audit.c ui/audit.h
libui_a_SOURCES += ui/audit_head.c
libui_a_SOURCES += ui/audit_load.c
libui_a_SOURCES += ui/circuit_strip.c
libui_a_SOURCES += ui/circuits.c ui/circuits.h
libui_a_SOURCES += ui/circuits_words.c
libui_a_SOURCES += ui/ends.c ui/ends.h
libui_a_SOURCES += ui/ops_list.c
libui_a_SOURCES += ui/ops_rows.c ui/ops_rows.h
libui_a_SOURCES += ui/overview.c ui/overview.h
libui_a_SOURCES += ui/overview_draw.c
libui_a_SOURCES += ui/tries.c ui/tries.h
libui_a_SOURCES += ui/act_follow.c ui/act_follow.h
libui_a_SOURCES += ui/act_command.c
libui_a_SOURCES += ui/act_form.c ui/act_form.h
libui_a_SOURCES += ui/act_run.c ui/act_run.h ui/act_run_priv.h
libui_a_SOURCES += ui/act_run_endpoint.c
libui_a_SOURCES += ui/act_words.c
libui_a_SOURCES += ui/acts.c ui/acts.h
libui_a_SOURCES += ui/cell.c ui/cell.h
libui_a_SOURCES += ui/field.c ui/field.h
libui_a_SOURCES += ui/glyph.c
libui_a_SOURCES += ui/doc.c ui/doc.h
libui_a_SOURCES += ui/inspect.c ui/inspect.h
libui_a_SOURCES += ui/inspect_line.c
libui_a_SOURCES += ui/inspect_tabs.c
libui_a_SOURCES += ui/inspector.c
libui_a_SOURCES += ui/sheet.c
libui_a_SOURCES += ui/chosen.c ui/chosen.h
libui_a_SOURCES += ui/dead.c
libui_a_SOURCES += ui/groups.c ui/groups.h
libui_a_SOURCES += ui/groups_foot.c
libui_a_SOURCES += ui/groups_load.c
libui_a_SOURCES += ui/polls.c
libui_a_SOURCES += ui/rejected.c
libui_a_SOURCES += ui/copy.c ui/copy.h
libui_a_SOURCES += ui/dialog.c ui/dialog.h ui/dialog_priv.h
libui_a_SOURCES += ui/dialog_draw.c
libui_a_SOURCES += ui/guard.c ui/guard.h
libui_a_SOURCES += ui/input.c ui/input.h
libui_a_SOURCES += ui/keys.c ui/keys.h
libui_a_SOURCES += ui/list.c ui/list.h ui/list_priv.h
libui_a_SOURCES += ui/list_answer.c
libui_a_SOURCES += ui/list_draw.c
libui_a_SOURCES += ui/list_key.c
libui_a_SOURCES += ui/pager.c
libui_a_SOURCES += ui/panel.h
libui_a_SOURCES += ui/session.c ui/session.h ui/session_priv.h
libui_a_SOURCES += ui/session_form.c
libui_a_SOURCES += ui/term.c ui/term.h
libui_a_SOURCES += ui/theme.c ui/theme.h
libui_a_SOURCES += ui/work.c ui/work.h
UI_LIBS = libui.a $(STORE_LIBS) $(NCURSES_LIBS)
EXTRA_DIST += ui/README.md

# The room's own tests.
if HAVE_CMOCKA
check_PROGRAMS += tests/test_cell
TESTS += tests/test_cell
tests_test_cell_SOURCES = tests/test_cell.c tests/check.h
tests_test_cell_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_cell_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_cell_LDADD = $(UI_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_dialog
TESTS += tests/test_dialog
tests_test_dialog_SOURCES = tests/test_dialog.c tests/ui_stub.h tests/check.h
tests_test_dialog_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_dialog_LDADD = $(UI_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_acts_ui
TESTS += tests/test_acts_ui
tests_test_acts_ui_SOURCES = tests/test_acts_ui.c tests/ui_stub.h tests/acts_world.h \
	tests/room.h tests/check.h
tests_test_acts_ui_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_acts_ui_LDADD = $(UI_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_ui_work
TESTS += tests/test_ui_work
tests_test_ui_work_SOURCES = tests/test_ui_work.c tests/check.h
tests_test_ui_work_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_ui_work_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_ui_work_LDADD = $(UI_LIBS) $(TEST_LIBS)
endif

if HAVE_VTERM
check_PROGRAMS += tests/test_term
TESTS += tests/test_term
tests_test_term_SOURCES = tests/test_term.c tests/check.h
tests_test_term_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(VTERM_CFLAGS)
tests_test_term_LDADD = $(VT_LIBS) $(UI_LIBS) $(TEST_LIBS)
endif

if HAVE_CMOCKA
check_PROGRAMS += tests/test_list
TESTS += tests/test_list
tests_test_list_SOURCES = tests/test_list.c tests/list_stub.h tests/check.h
tests_test_list_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_list_LDADD = $(UI_LIBS) $(TEST_LIBS)
endif
