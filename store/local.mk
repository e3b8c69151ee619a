noinst_LIBRARIES += libstore.a
libstore_a_SOURCES = store/store.h
libstore_a_SOURCES += store/audit.c store/audit.h store/audit_priv.h
libstore_a_SOURCES += store/audit_body.c
libstore_a_SOURCES += store/audit_key.c
libstore_a_SOURCES += store/anchor.c
libstore_a_SOURCES += store/audit_verify.c
libstore_a_SOURCES += store/work.c store/work.h store/work_priv.h
libstore_a_SOURCES += store/work_claim.c
libstore_a_SOURCES += store/work_outcome.c
libstore_a_SOURCES += store/work_recover.c
libstore_a_SOURCES += store/work_target.c
libstore_a_SOURCES += store/lane.c
libstore_a_SOURCES += store/group.c
libstore_a_SOURCES += store/rules.c store/rules.h
libstore_a_SOURCES += store/sql_filter.c store/sql_filter.h
libstore_a_SOURCES += store/view.c store/view.h store/view_priv.h
libstore_a_SOURCES += store/view_count.c
libstore_a_SOURCES += store/view_ends.c
libstore_a_SOURCES += store/view_filter.c
libstore_a_SOURCES += store/view_find.c
libstore_a_SOURCES += store/view_gauge.c
libstore_a_SOURCES += store/view_groups.c
libstore_a_SOURCES += store/view_metrics.c
libstore_a_SOURCES += store/view_needs.c
libstore_a_SOURCES += store/view_ops.c
libstore_a_SOURCES += store/view_plan.c
libstore_a_SOURCES += store/view_row.c
libstore_a_SOURCES += store/view_trail.c
libstore_a_SOURCES += store/view_wire.c
libstore_a_SOURCES += store/db.c store/db.h
libstore_a_SOURCES += store/vfs.c store/vfs.h
libstore_a_SOURCES += store/pool.c store/pool.h
libstore_a_SOURCES += store/lock.c store/lock.h
libstore_a_SOURCES += store/migrate.c store/migrate.h
libstore_a_SOURCES += store/oprow.c store/oprow.h
libstore_a_SOURCES += store/store.c store/store_priv.h
libstore_a_SOURCES += store/sqlite.c store/sqlite.h
libstore_a_SOURCES += store/sqlite_record.c
libstore_a_SOURCES += store/sqlite_op.c
libstore_a_SOURCES += store/sqlite_queue.c
libstore_a_SOURCES += store/sqlite_group.c
libstore_a_SOURCES += store/sqlite_rows.c
libstore_a_SOURCES += store/sqlite_intake.c
libstore_a_SOURCES += store/intake.c store/intake.h store/line_priv.h
libstore_a_SOURCES += store/line.c
libstore_a_SOURCES += store/line_parts.c
libstore_a_SOURCES += store/act.c store/act.h store/act_priv.h
libstore_a_SOURCES += store/act_endpoint.c
libstore_a_SOURCES += store/act_record.c
libstore_a_SOURCES += store/act_verbs.c
libstore_a_SOURCES += store/operator.c store/operator.h store/operator_priv.h
libstore_a_SOURCES += store/adopt.c
libstore_a_SOURCES += store/mem.c store/mem.h
libstore_a_SOURCES += store/mem_record.c
libstore_a_SOURCES += store/mem_op.c
libstore_a_SOURCES += store/mem_group.c
libstore_a_SOURCES += store/mem_rows.c
libstore_a_SOURCES += store/mem_intake.c

# The rules' own tests.
if HAVE_CMOCKA
check_PROGRAMS += tests/test_audit
TESTS += tests/test_audit
tests_test_audit_SOURCES = tests/test_audit.c tests/room.h
tests_test_audit_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_audit_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_audit_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_pool
TESTS += tests/test_pool
tests_test_pool_SOURCES = tests/test_pool.c tests/check.h
tests_test_pool_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_pool_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_pool_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_intake
TESTS += tests/test_intake
tests_test_intake_SOURCES = tests/test_intake.c tests/room.h
tests_test_intake_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_intake_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_intake_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_operator
TESTS += tests/test_operator
tests_test_operator_SOURCES = tests/test_operator.c tests/room.h
tests_test_operator_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_operator_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_operator_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_act
TESTS += tests/test_act
tests_test_act_SOURCES = tests/test_act.c tests/act_room.h tests/room.h
tests_test_act_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_act_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_act_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_act_list
TESTS += tests/test_act_list
tests_test_act_list_SOURCES = tests/test_act_list.c tests/act_room.h \
	tests/room.h
tests_test_act_list_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_act_list_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_needs
TESTS += tests/test_needs
tests_test_needs_SOURCES = tests/test_needs.c tests/room.h
tests_test_needs_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_needs_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_needs_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_rules
TESTS += tests/test_rules
tests_test_rules_SOURCES = tests/test_rules.c tests/room.h
tests_test_rules_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_rules_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_rules_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_work
TESTS += tests/test_work
tests_test_work_SOURCES = tests/test_work.c tests/room.h
tests_test_work_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_work_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_work_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_hard
TESTS += tests/test_hard
tests_test_hard_SOURCES = tests/test_hard.c tests/room.h
tests_test_hard_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_hard_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_hard_LDADD = $(STORE_LIBS) $(TEST_LIBS)
endif
libstore_a_SOURCES += store/fault.c

if HAVE_CMOCKA
check_PROGRAMS += tests/test_store
TESTS += tests/test_store
tests_test_store_SOURCES = tests/test_store.c tests/store_suite.h
tests_test_store_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_store_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_store_LDADD = $(STORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_store_rows
TESTS += tests/test_store_rows
tests_test_store_rows_SOURCES = tests/test_store_rows.c tests/store_suite.h
tests_test_store_rows_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_store_rows_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_store_rows_LDADD = $(STORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_lock
TESTS += tests/test_lock
tests_test_lock_SOURCES = tests/test_lock.c
tests_test_lock_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_lock_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_lock_LDADD = $(STORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_migrate
TESTS += tests/test_migrate
tests_test_migrate_SOURCES = tests/test_migrate.c
tests_test_migrate_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_migrate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_migrate_LDADD = $(STORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_sqlite
TESTS += tests/test_sqlite
tests_test_sqlite_SOURCES = tests/test_sqlite.c
tests_test_sqlite_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_sqlite_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_sqlite_LDADD = $(STORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_vfs
TESTS += tests/test_vfs
tests_test_vfs_SOURCES = tests/test_vfs.c tests/check.h
tests_test_vfs_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_vfs_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_vfs_LDADD = $(STORE_LIBS) $(TEST_LIBS)
endif

# The views' own test.
if HAVE_CMOCKA
check_PROGRAMS += tests/test_view
TESTS += tests/test_view
tests_test_view_SOURCES = tests/test_view.c tests/view_scene.h tests/check.h
tests_test_view_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_view_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_view_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_store_group
TESTS += tests/test_store_group
tests_test_store_group_SOURCES = tests/test_store_group.c tests/store_suite.h
tests_test_store_group_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_store_group_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_groups
TESTS += tests/test_groups
tests_test_groups_SOURCES = tests/test_groups.c tests/room.h
tests_test_groups_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_groups_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_view_groups
TESTS += tests/test_view_groups
tests_test_view_groups_SOURCES = tests/test_view_groups.c tests/view_scene.h
tests_test_view_groups_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_view_groups_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_view_console
TESTS += tests/test_view_console
tests_test_view_console_SOURCES = tests/test_view_console.c tests/view_scene.h
tests_test_view_console_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_view_console_LDADD = $(STORE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_view_pages
TESTS += tests/test_view_pages
tests_test_view_pages_SOURCES = tests/test_view_pages.c tests/view_scene.h
tests_test_view_pages_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_view_pages_LDADD = $(STORE_LIBS) $(TEST_LIBS)
endif
