# filled by its room

# Text: golden vectors and their tests.
EXTRA_DIST += \
	tests/vectors/bytes_vectors.tsv \
	tests/vectors/canonical_vectors.tsv \
	tests/vectors/float_traps.tsv \
	tests/vectors/idempotency_vectors.tsv \
	tests/vectors/reject_vectors.tsv

if HAVE_CMOCKA
check_PROGRAMS += tests/test_canon
TESTS += tests/test_canon
tests_test_canon_SOURCES = tests/test_canon.c tests/tsv.h
tests_test_canon_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_canon_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_canon_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_timefmt
TESTS += tests/test_timefmt
tests_test_timefmt_SOURCES = tests/test_timefmt.c
tests_test_timefmt_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_timefmt_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_timefmt_LDADD = $(CORE_LIBS) $(TEST_LIBS)
endif
