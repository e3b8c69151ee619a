EXTRA_DIST += src/core/utf8_table.py
noinst_LIBRARIES += libcore.a
libcore_a_SOURCES = \
	src/core/base.c src/core/base.h src/core/limits.h \
	src/core/profile.h \
	src/core/profile.c \
	src/core/profile_parse.c \
	src/core/profile_load.c \
	src/core/profile_cond.c \
	src/core/profile_part.c \
	src/core/profile_result.c \
	src/core/cond.c \
	src/core/place.c \
	src/core/place.h \
	src/core/body.c \
	src/core/body.h \
	src/core/csv.c \
	src/core/csv.h \
	src/core/items.c \
	src/core/items.h \
	src/core/xml.c \
	src/core/xml.h \
	src/core/classify.h \
	src/core/classify.c \
	src/core/classify_default.c \
	src/core/classify_poll.c \
	src/core/classify_log_in.c src/core/classify_log_in.h \
	src/core/classify_result.c \
	src/core/classify_wait.c \
	src/core/ratelimit.h \
	src/core/ratelimit.c \
	src/core/compare.h \
	src/core/compare.c \
	src/core/lookup.h \
	src/core/lookup.c \
	src/core/request.h \
	src/core/request.c \
	src/core/stored.c \
	src/core/url.c \
	src/core/token.h \
	src/core/token.c \
	src/core/session.h \
	src/core/login_record.h \
	src/core/login_record.c \
	src/core/session.c \
	src/core/config.h \
	src/core/config.c \
	src/core/config_table.c \
	src/core/config_use.c \
	src/core/config_table.h \
	src/core/mask.h \
	src/core/mask.c \
	src/core/profile_cases.h \
	src/core/profile_cases.c \
	src/core/profile_compare.c \
	src/core/op.c \
	src/core/op.h \
	src/core/settle.c \
	src/core/settle.h \
	src/core/settle_rules.h \
	src/core/settle_read.c \
	src/core/settle_acts.c \
	src/core/decide.c \
	src/core/decide.h \
	src/core/backoff.c \
	src/core/backoff.h \
	src/core/circuit.c \
	src/core/circuit.h \
	src/core/gate.c \
	src/core/gate.h \
	src/core/poll.c \
	src/core/poll.h \
	src/core/right.c \
	src/core/right.h \
	src/core/sheet.c \
	src/core/sheet.h \
	src/core/why.c \
	src/core/words.c \
	src/core/words.h \
	src/core/why.h \
	src/core/verdict.c \
	src/core/verdict.h \
	src/core/json.c \
	src/core/json.h \
	src/core/json_node.c \
	src/core/hash.c \
	src/core/hash.h \
	src/core/utf8.c \
	src/core/utf8.h \
	src/core/canon.c \
	src/core/canon.h \
	src/core/timefmt.c \
	src/core/timefmt.h \
	src/core/utf8_table.c \
	src/core/utf8_table.h \
	src/core/fingerprint.c \
	src/core/fingerprint.h \
	src/core/filter.c \
	src/core/filter_match.c \
	src/core/filter.h

# States, settling, pressure: pure tables and their tests.
if HAVE_CMOCKA
check_PROGRAMS += tests/test_op
TESTS += tests/test_op
tests_test_op_SOURCES = tests/test_op.c tests/check.h
tests_test_op_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_op_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_settle
TESTS += tests/test_settle
tests_test_settle_SOURCES = tests/test_settle.c tests/settle_scene.h \
	tests/check.h
tests_test_settle_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_settle_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_settle_read
TESTS += tests/test_settle_read
tests_test_settle_read_SOURCES = tests/test_settle_read.c \
	tests/settle_scene.h tests/check.h
tests_test_settle_read_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_settle_read_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_settle_world
TESTS += tests/test_settle_world
tests_test_settle_world_SOURCES = tests/test_settle_world.c \
	tests/settle_scene.h tests/check.h
tests_test_settle_world_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_settle_world_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_session
TESTS += tests/test_session
tests_test_session_SOURCES = tests/test_session.c tests/profiles.h
tests_test_session_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_session_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_session_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_backoff
TESTS += tests/test_backoff
tests_test_backoff_SOURCES = tests/test_backoff.c tests/check.h
tests_test_backoff_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_backoff_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_circuit
TESTS += tests/test_circuit
tests_test_circuit_SOURCES = tests/test_circuit.c tests/check.h
tests_test_circuit_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_circuit_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_gate
TESTS += tests/test_gate
tests_test_gate_SOURCES = tests/test_gate.c tests/check.h
tests_test_gate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_gate_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_poll
TESTS += tests/test_poll
tests_test_poll_SOURCES = tests/test_poll.c tests/check.h
tests_test_poll_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_poll_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_csv
TESTS += tests/test_csv
tests_test_csv_SOURCES = tests/test_csv.c tests/check.h
tests_test_csv_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_csv_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_decide
TESTS += tests/test_decide
tests_test_decide_SOURCES = tests/test_decide.c tests/check.h
tests_test_decide_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_decide_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_why
TESTS += tests/test_why
tests_test_why_SOURCES = tests/test_why.c tests/check.h
tests_test_why_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_why_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_fingerprint
TESTS += tests/test_fingerprint
tests_test_fingerprint_SOURCES = tests/test_fingerprint.c tests/check.h
tests_test_fingerprint_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_fingerprint_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_right
TESTS += tests/test_right
tests_test_right_SOURCES = tests/test_right.c tests/check.h
tests_test_right_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_right_LDADD = $(CORE_LIBS) $(TEST_LIBS)
endif

# Vendors: profiles, classification, requests, configuration.
EXTRA_DIST += tests/profiles/language.json tests/profiles/cases/language.json
if HAVE_CMOCKA
check_PROGRAMS += tests/test_profile
TESTS += tests/test_profile
tests_test_profile_SOURCES = tests/test_profile.c tests/profiles.h tests/check.h
tests_test_profile_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_profile_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_profile_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_shipped
TESTS += tests/test_shipped
tests_test_shipped_SOURCES = tests/test_shipped.c tests/profiles.h tests/check.h
tests_test_shipped_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_shipped_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_shipped_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_extends
TESTS += tests/test_extends
tests_test_extends_SOURCES = tests/test_extends.c tests/profiles.h tests/check.h
tests_test_extends_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_extends_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_extends_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_body
TESTS += tests/test_body
tests_test_body_SOURCES = tests/test_body.c tests/profiles.h tests/check.h
tests_test_body_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_body_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_body_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_xml
TESTS += tests/test_xml
tests_test_xml_SOURCES = tests/test_xml.c tests/check.h
tests_test_xml_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_xml_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_classify
TESTS += tests/test_classify
tests_test_classify_SOURCES = tests/test_classify.c tests/profiles.h tests/check.h
tests_test_classify_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_classify_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_classify_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_lookup
TESTS += tests/test_lookup
tests_test_lookup_SOURCES = tests/test_lookup.c tests/profiles.h tests/check.h
tests_test_lookup_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_lookup_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_lookup_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_request
TESTS += tests/test_request
tests_test_request_SOURCES = tests/test_request.c tests/profiles.h tests/check.h
tests_test_request_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_request_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_request_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_token
TESTS += tests/test_token
tests_test_token_SOURCES = tests/test_token.c tests/profiles.h tests/check.h
tests_test_token_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_token_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_token_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_config
TESTS += tests/test_config
tests_test_config_SOURCES = tests/test_config.c tests/profiles.h tests/check.h
tests_test_config_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_config_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_config_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_mask
TESTS += tests/test_mask
tests_test_mask_SOURCES = tests/test_mask.c tests/profiles.h tests/check.h
tests_test_mask_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_mask_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_mask_LDADD = $(CORE_LIBS) $(TEST_LIBS)
endif
