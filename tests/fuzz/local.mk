# Fuzz targets. `make check` replays corpus and mutations with any compiler;
# with --enable-fuzzers (and CC=clang) tests/fuzz/fuzz_* are libFuzzer
# programs: run one as  tests/fuzz/fuzz_json -max_total_time=60 CORPUS
EXTRA_DIST += \
	tests/fuzz/corpus/head/broken \
	tests/fuzz/corpus/head/lengths \
	tests/fuzz/corpus/head/plain \
	tests/fuzz/corpus/json/bom \
	tests/fuzz/corpus/json/clinical \
	tests/fuzz/corpus/json/comments \
	tests/fuzz/corpus/json/deep \
	tests/fuzz/corpus/json/duplicate \
	tests/fuzz/corpus/json/escapes \
	tests/fuzz/corpus/json/many \
	tests/fuzz/corpus/json/numbers \
	tests/fuzz/corpus/json/python \
	tests/fuzz/corpus/json/truncated \
	tests/fuzz/corpus/canon/clinical \
	tests/fuzz/corpus/canon/deep \
	tests/fuzz/corpus/canon/duplicates \
	tests/fuzz/corpus/canon/escapes \
	tests/fuzz/corpus/canon/many \
	tests/fuzz/corpus/canon/numbers \
	tests/fuzz/corpus/canon/python \
	tests/fuzz/corpus/canon/surrogates \
	tests/fuzz/corpus/filter/all \
	tests/fuzz/corpus/filter/fields \
	tests/fuzz/corpus/filter/numbers \
	tests/fuzz/corpus/filter/times \
	tests/fuzz/corpus/filter/unicode \
	tests/fuzz/corpus/filter/words \
	tests/fuzz/corpus/filter/wrong \
	tests/fuzz/corpus/time/asctime \
	tests/fuzz/corpus/time/duration \
	tests/fuzz/corpus/time/fixed \
	tests/fuzz/corpus/time/hostile \
	tests/fuzz/corpus/time/many \
	tests/fuzz/corpus/time/person \
	tests/fuzz/corpus/time/rfc3339 \
	tests/fuzz/corpus/time/rfc850 \
	tests/fuzz/corpus/time/script \
	tests/fuzz/corpus/time/seconds \
	tests/fuzz/corpus/time/utc

EXTRA_DIST += \
	tests/fuzz/corpus/csv/bom \
	tests/fuzz/corpus/csv/cut \
	tests/fuzz/corpus/csv/log \
	tests/fuzz/corpus/csv/odd \
	tests/fuzz/corpus/csv/quotes \
	tests/fuzz/corpus/csv/tabs

check_PROGRAMS += tests/fuzz/replay_csv
TESTS += tests/fuzz/replay_csv
tests_fuzz_replay_csv_SOURCES = tests/fuzz/fuzz_csv.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_csv_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/csv"'
tests_fuzz_replay_csv_LDADD = $(CORE_LIBS)

check_PROGRAMS += tests/fuzz/replay_json
TESTS += tests/fuzz/replay_json
tests_fuzz_replay_json_SOURCES = tests/fuzz/fuzz_json.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_json_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/json"'
tests_fuzz_replay_json_LDADD = $(CORE_LIBS)

check_PROGRAMS += tests/fuzz/replay_canon
TESTS += tests/fuzz/replay_canon
tests_fuzz_replay_canon_SOURCES = tests/fuzz/fuzz_canon.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_canon_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/canon"'
tests_fuzz_replay_canon_LDADD = $(CORE_LIBS)

check_PROGRAMS += tests/fuzz/replay_filter
TESTS += tests/fuzz/replay_filter
tests_fuzz_replay_filter_SOURCES = tests/fuzz/fuzz_filter.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_filter_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/filter"'
tests_fuzz_replay_filter_LDADD = $(CORE_LIBS)

check_PROGRAMS += tests/fuzz/replay_time
TESTS += tests/fuzz/replay_time
tests_fuzz_replay_time_SOURCES = tests/fuzz/fuzz_time.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_time_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/time"'
tests_fuzz_replay_time_LDADD = $(CORE_LIBS)

# Vendors: profiles, answers, configuration.
EXTRA_DIST += \
	tests/fuzz/corpus/profile/generic \
	tests/fuzz/corpus/profile/language \
	tests/fuzz/corpus/profile/tag \
	tests/fuzz/corpus/profile/taken-away \
	tests/fuzz/corpus/profile/words \
	tests/fuzz/corpus/answer/compared \
	tests/fuzz/corpus/answer/created \
	tests/fuzz/corpus/answer/csv-rows \
	tests/fuzz/corpus/answer/cut-head \
	tests/fuzz/corpus/answer/items \
	tests/fuzz/corpus/answer/levels \
	tests/fuzz/corpus/answer/dictionary \
	tests/fuzz/corpus/answer/limits \
	tests/fuzz/corpus/answer/link \
	tests/fuzz/corpus/answer/log-in \
	tests/fuzz/corpus/answer/looked \
	tests/fuzz/corpus/answer/polled \
	tests/fuzz/corpus/answer/queued \
	tests/fuzz/corpus/answer/result \
	tests/fuzz/corpus/answer/result-json \
	tests/fuzz/corpus/answer/result-named \
	tests/fuzz/corpus/answer/scope \
	tests/fuzz/corpus/answer/throttled \
	tests/fuzz/corpus/answer/timeout \
	tests/fuzz/corpus/answer/token \
	tests/fuzz/corpus/answer/xml \
	tests/fuzz/corpus/answer/xml-items \
	tests/fuzz/corpus/xml/charset \
	tests/fuzz/corpus/xml/entities \
	tests/fuzz/corpus/xml/namespaces \
	tests/fuzz/corpus/xml/not-a-declaration \
	tests/fuzz/corpus/xml/odm \
	tests/fuzz/corpus/xml/page \
	tests/fuzz/corpus/xml/rws \
	tests/fuzz/corpus/xml/utf16 \
	tests/fuzz/corpus/config/example \
	tests/fuzz/corpus/config/small \
	tests/fuzz/corpus/config/wrong

check_PROGRAMS += tests/fuzz/replay_profile
TESTS += tests/fuzz/replay_profile
tests_fuzz_replay_profile_SOURCES = tests/fuzz/fuzz_profile.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_profile_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSRCDIR='"$(abs_top_srcdir)"' \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/profile"'
tests_fuzz_replay_profile_LDADD = $(CORE_LIBS)

check_PROGRAMS += tests/fuzz/replay_answer
TESTS += tests/fuzz/replay_answer
tests_fuzz_replay_answer_SOURCES = tests/fuzz/fuzz_answer.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_answer_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSRCDIR='"$(abs_top_srcdir)"' \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/answer"'
tests_fuzz_replay_answer_LDADD = $(CORE_LIBS)

check_PROGRAMS += tests/fuzz/replay_xml
TESTS += tests/fuzz/replay_xml
tests_fuzz_replay_xml_SOURCES = tests/fuzz/fuzz_xml.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_xml_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/xml"'
tests_fuzz_replay_xml_LDADD = $(CORE_LIBS)

check_PROGRAMS += tests/fuzz/replay_config
TESTS += tests/fuzz/replay_config
tests_fuzz_replay_config_SOURCES = tests/fuzz/fuzz_config.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_config_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSRCDIR='"$(abs_top_srcdir)"' \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/config"'
tests_fuzz_replay_config_LDADD = $(CORE_LIBS)

if FUZZERS
FUZZ_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=all
check_LIBRARIES += tests/fuzz/libcorefuzz.a
tests_fuzz_libcorefuzz_a_SOURCES = $(libcore_a_SOURCES)
tests_fuzz_libcorefuzz_a_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) \
	-fsanitize=fuzzer-no-link

check_PROGRAMS += tests/fuzz/fuzz_json
tests_fuzz_fuzz_json_SOURCES = tests/fuzz/fuzz_json.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_json_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_json_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_json_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)

check_PROGRAMS += tests/fuzz/fuzz_canon
tests_fuzz_fuzz_canon_SOURCES = tests/fuzz/fuzz_canon.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_canon_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_canon_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_canon_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)

check_PROGRAMS += tests/fuzz/fuzz_filter
tests_fuzz_fuzz_filter_SOURCES = tests/fuzz/fuzz_filter.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_filter_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_filter_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_filter_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)

check_PROGRAMS += tests/fuzz/fuzz_time
tests_fuzz_fuzz_time_SOURCES = tests/fuzz/fuzz_time.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_time_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_time_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_time_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)

check_PROGRAMS += tests/fuzz/fuzz_profile
tests_fuzz_fuzz_profile_SOURCES = tests/fuzz/fuzz_profile.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_profile_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSRCDIR='"$(abs_top_srcdir)"'
tests_fuzz_fuzz_profile_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_profile_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_profile_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)

check_PROGRAMS += tests/fuzz/fuzz_answer
tests_fuzz_fuzz_answer_SOURCES = tests/fuzz/fuzz_answer.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_answer_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSRCDIR='"$(abs_top_srcdir)"'
tests_fuzz_fuzz_answer_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_answer_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_answer_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)

check_PROGRAMS += tests/fuzz/fuzz_csv
tests_fuzz_fuzz_csv_SOURCES = tests/fuzz/fuzz_csv.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_csv_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_csv_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_csv_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)

check_PROGRAMS += tests/fuzz/fuzz_xml
tests_fuzz_fuzz_xml_SOURCES = tests/fuzz/fuzz_xml.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_xml_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_xml_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_xml_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)

check_PROGRAMS += tests/fuzz/fuzz_config
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_config_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSRCDIR='"$(abs_top_srcdir)"'
tests_fuzz_fuzz_config_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_config_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_config_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)
# Every fuzzer for a while, from its corpus; new inputs go to a folder of the
# build, never to the source tree.
FUZZ_SECONDS = 20
fuzz: $(check_PROGRAMS)
	@set -e; for f in tests/fuzz/fuzz_*; do \
	  case $$f in *.o|*.c) continue ;; esac; \
	  name=$${f##*fuzz_}; mkdir -p fuzz-corpus/$$name; \
	  echo "fuzz $$name for $(FUZZ_SECONDS) s"; \
	  $$f -max_total_time=$(FUZZ_SECONDS) -verbosity=0 \
	    -artifact_prefix=fuzz-corpus/ -print_final_stats=1 \
	    fuzz-corpus/$$name $(abs_top_srcdir)/tests/fuzz/corpus/$$name \
	    >fuzz-corpus/$$name.log 2>&1 || \
	    { cat fuzz-corpus/$$name.log; exit 1; }; \
	  grep number_of_executed fuzz-corpus/$$name.log; \
	done
endif

# The simulated EDC.
EXTRA_DIST += \
	tests/fuzz/corpus/sim/veeva-setdata \
	tests/fuzz/corpus/sim/veeva-query \
	tests/fuzz/corpus/sim/veeva-job \
	tests/fuzz/corpus/sim/redcap-import \
	tests/fuzz/corpus/sim/redcap-export \
	tests/fuzz/corpus/sim/rave-rws \
	tests/fuzz/corpus/sim/rave-refused \
	tests/fuzz/corpus/sim/oracle-queue \
	tests/fuzz/corpus/sim/fhir-search \
	tests/fuzz/corpus/sim/fhir-create \
	tests/fuzz/corpus/sim/fhir-batch \
	tests/fuzz/corpus/sim/castor-reports \
	tests/fuzz/corpus/sim/castor-points \
	tests/fuzz/corpus/sim/chaos-poll \
	tests/fuzz/corpus/sim/chaos-send \
	tests/fuzz/corpus/sim/chaos-token \
	tests/fuzz/corpus/sim/queued-poll \
	tests/fuzz/corpus/sim/queued-send \
	tests/fuzz/corpus/sim/tokens-token

check_PROGRAMS += tests/fuzz/replay_sim
TESTS += tests/fuzz/replay_sim
tests_fuzz_replay_sim_SOURCES = tests/fuzz/fuzz_sim.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_sim_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/sim"'
tests_fuzz_replay_sim_LDADD = $(SIM_LIBS)

# Submit lines, anchors, scenarios, addresses.
EXTRA_DIST += \
	tests/fuzz/corpus/anchor/one \
	tests/fuzz/corpus/anchor/wrong \
	tests/fuzz/corpus/line/file \
	tests/fuzz/corpus/line/json \
	tests/fuzz/corpus/line/text \
	tests/fuzz/corpus/line/wrong \
	tests/fuzz/corpus/scenario/first \
	tests/fuzz/corpus/scenario/largest \
	tests/fuzz/corpus/scenario/wrong \
	tests/fuzz/corpus/url/authority \
	tests/fuzz/corpus/url/query \
	tests/fuzz/corpus/url/relative \
	tests/fuzz/corpus/url/six \
	tests/fuzz/corpus/url/trick

check_PROGRAMS += tests/fuzz/replay_anchor
TESTS += tests/fuzz/replay_anchor
tests_fuzz_replay_anchor_SOURCES = tests/fuzz/fuzz_anchor.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_anchor_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/anchor"'
tests_fuzz_replay_anchor_LDADD = $(STORE_LIBS)

check_PROGRAMS += tests/fuzz/replay_line
TESTS += tests/fuzz/replay_line
tests_fuzz_replay_line_SOURCES = tests/fuzz/fuzz_line.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_line_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSRCDIR='"$(abs_top_srcdir)"' \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/line"'
tests_fuzz_replay_line_LDADD = $(STORE_LIBS)

check_PROGRAMS += tests/fuzz/replay_scenario
TESTS += tests/fuzz/replay_scenario
tests_fuzz_replay_scenario_SOURCES = tests/fuzz/fuzz_scenario.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_scenario_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/scenario"'
tests_fuzz_replay_scenario_LDADD = $(SIM_LIBS)

check_PROGRAMS += tests/fuzz/replay_head
TESTS += tests/fuzz/replay_head
tests_fuzz_replay_head_SOURCES = tests/fuzz/fuzz_head.c src/engine/head.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_head_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/head"'
tests_fuzz_replay_head_LDADD = $(CORE_LIBS)

if FUZZERS
check_PROGRAMS += tests/fuzz/fuzz_head
tests_fuzz_fuzz_head_SOURCES = tests/fuzz/fuzz_head.c src/engine/head.c \
	tests/fuzz/fuzz.h
tests_fuzz_fuzz_head_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_head_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_head_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)
endif

check_PROGRAMS += tests/fuzz/replay_url
TESTS += tests/fuzz/replay_url
tests_fuzz_replay_url_SOURCES = tests/fuzz/fuzz_url.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_url_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/url"'
tests_fuzz_replay_url_LDADD = $(CORE_LIBS)

if FUZZERS
check_PROGRAMS += tests/fuzz/fuzz_url
tests_fuzz_fuzz_url_SOURCES = tests/fuzz/fuzz_url.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_url_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_url_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_url_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)
endif

# Log-ins of other processes.
EXTRA_DIST += \
	tests/fuzz/corpus/login/empty \
	tests/fuzz/corpus/login/full \
	tests/fuzz/corpus/login/session \
	tests/fuzz/corpus/login/three \
	tests/fuzz/corpus/login/token
check_PROGRAMS += tests/fuzz/replay_login
TESTS += tests/fuzz/replay_login
tests_fuzz_replay_login_SOURCES = tests/fuzz/fuzz_login.c \
	tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_replay_login_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/login"'
tests_fuzz_replay_login_LDADD = $(CORE_LIBS)
if FUZZERS
check_PROGRAMS += tests/fuzz/fuzz_login
tests_fuzz_fuzz_login_SOURCES = tests/fuzz/fuzz_login.c tests/fuzz/fuzz.h
tests_fuzz_fuzz_login_CFLAGS = $(AM_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_login_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_login_LDADD = tests/fuzz/libcorefuzz.a $(CRYPTO_LIBS) $(LIBXML_LIBS)
endif
