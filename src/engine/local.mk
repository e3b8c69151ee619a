noinst_LIBRARIES += libengine.a
libengine_a_SOURCES = \
	src/engine/committer.c src/engine/committer.h \
	src/engine/credential.c src/engine/credential.h \
	src/engine/endpoint_test.c src/engine/endpoint_test.h \
	src/engine/endpoint_test_priv.h \
	src/engine/endpoint_test_log_in.c \
	src/engine/endpoint_test_reach.c \
	src/engine/endpoint_test_read.c \
	src/engine/engine.c src/engine/engine.h \
	src/engine/engine_priv.h \
	src/engine/engine_start.c \
	src/engine/engine_log_in.c \
	src/engine/login_ring.c src/engine/login_ring.h \
	src/engine/login_share.c src/engine/login_share.h \
	src/engine/route.c src/engine/route.h \
	src/engine/step.c src/engine/step.h \
	src/engine/step_answer.c \
	src/engine/step_cred.c \
	src/engine/step_halt.c \
	src/engine/step_look.c \
	src/engine/step_send.c \
	src/engine/head.c src/engine/head.h \
	src/engine/wire.c src/engine/wire.h \
	src/engine/peer.c src/engine/peer.h \
	src/engine/watch.c src/engine/watch.h \
	src/engine/wipe.c src/engine/wipe.h \
	src/engine/world.h

if HAVE_CMOCKA
check_PROGRAMS += tests/test_wire
TESTS += tests/test_wire
tests_test_wire_SOURCES = tests/test_wire.c tests/wire_room.h
tests_test_wire_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_wire_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_wire_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_watch
TESTS += tests/test_watch
tests_test_watch_SOURCES = tests/test_watch.c
tests_test_watch_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_watch_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_watch_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_wipe
TESTS += tests/test_wipe
tests_test_wipe_SOURCES = tests/test_wipe.c
tests_test_wipe_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_wipe_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_wipe_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_credential
TESTS += tests/test_credential
tests_test_credential_SOURCES = tests/test_credential.c tests/cred_scene.h \
	tests/profiles.h
tests_test_credential_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_credential_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_credential_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_turns
TESTS += tests/test_turns
tests_test_turns_SOURCES = tests/test_turns.c tests/cred_scene.h \
	tests/profiles.h
tests_test_turns_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_turns_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_turns_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_login_share
TESTS += tests/test_login_share
tests_test_login_share_SOURCES = tests/test_login_share.c tests/check.h
tests_test_login_share_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_login_share_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_step
TESTS += tests/test_step
tests_test_step_SOURCES = tests/test_step.c tests/step_sim.c tests/step_sim.h \
	tests/step_sim_priv.h tests/step_vendor.c
tests_test_step_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_step_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_step_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_step_result
TESTS += tests/test_step_result
tests_test_step_result_SOURCES = tests/test_step_result.c tests/step_sim.c \
	tests/step_sim.h tests/step_sim_priv.h tests/step_vendor.c
tests_test_step_result_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSRCDIR='"$(abs_top_srcdir)"'
tests_test_step_result_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_step_result_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_committer
TESTS += tests/test_committer
tests_test_committer_SOURCES = tests/test_committer.c tests/step_sim.c tests/step_sim.h \
	tests/step_sim_priv.h tests/step_vendor.c
tests_test_committer_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_committer_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_committer_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_start
TESTS += tests/test_start
tests_test_start_SOURCES = tests/test_start.c tests/room.h
tests_test_start_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_start_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_start_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
check_PROGRAMS += tests/test_engine
TESTS += tests/test_engine
tests_test_engine_SOURCES = tests/test_engine.c
tests_test_engine_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_engine_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_engine_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
endif
