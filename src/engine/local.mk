noinst_LIBRARIES += libengine.a
libengine_a_SOURCES = \
	src/engine/committer.c src/engine/committer.h \
	src/engine/engine.c src/engine/engine.h \
	src/engine/engine_priv.h \
	src/engine/engine_start.c \
	src/engine/step.c src/engine/step.h \
	src/engine/step_answer.c \
	src/engine/step_cred.c \
	src/engine/step_halt.c \
	src/engine/step_look.c \
	src/engine/step_send.c \
	src/engine/wire.c src/engine/wire.h \
	src/engine/world.h

if HAVE_CMOCKA
check_PROGRAMS += tests/test_wire
TESTS += tests/test_wire
tests_test_wire_SOURCES = tests/test_wire.c
tests_test_wire_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_wire_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_wire_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
endif
