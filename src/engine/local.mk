noinst_LIBRARIES += libengine.a
libengine_a_SOURCES = \
	src/engine/step.h \
	src/engine/wire.c src/engine/wire.h

if HAVE_CMOCKA
check_PROGRAMS += tests/test_wire
TESTS += tests/test_wire
tests_test_wire_SOURCES = tests/test_wire.c
tests_test_wire_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_wire_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_wire_LDADD = $(ENGINE_LIBS) $(TEST_LIBS)
endif
