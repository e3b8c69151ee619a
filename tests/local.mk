
# Text: golden vectors, fuzz targets and their tests.
include tests/fuzz/local.mk
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

check_PROGRAMS += tests/test_utf8
TESTS += tests/test_utf8
tests_test_utf8_SOURCES = tests/test_utf8.c
tests_test_utf8_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_utf8_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_utf8_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_filter
TESTS += tests/test_filter
tests_test_filter_SOURCES = tests/test_filter.c
tests_test_filter_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_filter_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_filter_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_json
TESTS += tests/test_json
tests_test_json_SOURCES = tests/test_json.c tests/tsv.h
tests_test_json_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_json_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_json_LDADD = $(CORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_timefmt
TESTS += tests/test_timefmt
tests_test_timefmt_SOURCES = tests/test_timefmt.c
tests_test_timefmt_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_timefmt_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_timefmt_LDADD = $(CORE_LIBS) $(TEST_LIBS)
endif
# Style, and the whole program from outside. Unit tests stand with the room
# they test.
TEST_EXTENSIONS = .sh .py
SH_LOG_COMPILER = $(SHELL)
PY_LOG_COMPILER = $(PYTHON)
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	EDCSYNC='$(abs_top_builddir)/edcsync$(EXEEXT)'; export EDCSYNC; \
	EDCSIM='$(abs_top_builddir)/edcsim$(EXEEXT)'; export EDCSIM; \
	CC='$(CC)'; export CC; PYTHONDONTWRITEBYTECODE=1; \
	export PYTHONDONTWRITEBYTECODE;

E2E = \
	tests/e2e/acts.py \
	tests/e2e/bad_input.py \
	tests/e2e/console.py \
	tests/e2e/credentials.py \
	tests/e2e/deliver.py \
	tests/e2e/demo.py \
	tests/e2e/envelopes.py \
	tests/e2e/field.py \
	tests/e2e/field_store.py \
	tests/e2e/field_wire.py \
	tests/e2e/first_run.py \
	tests/e2e/kill.py \
	tests/e2e/log_ins.py \
	tests/e2e/metrics.py \
	tests/e2e/people.py \
	tests/e2e/restore.py \
	tests/e2e/results.py \
	tests/e2e/safety.py \
	tests/e2e/scenarios.py \
	tests/e2e/vendors.py \
	tests/e2e/writers.py
TESTS += tests/lint.sh $(E2E)
EXTRA_DIST += tests/lint.sh $(E2E) tests/e2e/lib.py tests/e2e/terminal.py tests/e2e/vendor.py \
	tests/e2e/data/cdisc-pilot-ops.jsonl \
	tests/e2e/data/LICENSE-CDISC-MIT \
	tests/FIELD-REPORTS.md
$(E2E:.py=.log): edcsync$(EXEEXT) edcsim$(EXEEXT)

# Servers of others, where they are here (HACKING.md); nothing is installed.
# make check-peers PEERS="gateway fhir": some of them.
EXTRA_DIST += tests/peers/peers.py tests/peers/run.py
EXTRA_DIST += tests/peers/token_server.py tests/peers/oidc.mjs
EXTRA_DIST += tests/peers/gateway.py tests/peers/killed.py
EXTRA_DIST += tests/peers/fhir.py tests/peers/fhir.mjs tests/peers/wiremock.py
check-peers: edcsync$(EXEEXT) edcsim$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) \
	$(PYTHON) $(top_srcdir)/tests/peers/run.py $(PEERS)
.PHONY: check-peers

# What is written is what there is.
TESTS += tests/test_docs.sh
EXTRA_DIST += tests/test_docs.sh
tests/test_docs.log: edcsync$(EXEEXT) edcsim$(EXEEXT)

check_PROGRAMS += tests/act_loop
tests_act_loop_SOURCES = tests/act_loop.c
tests_act_loop_LDADD = $(STORE_LIBS)

# make bench: ratios in one run (tests/bench/bench.c says how).
EXTRA_PROGRAMS += tests/bench/bench
tests_bench_bench_SOURCES = tests/bench/bench.c tests/bench/server.c \
	tests/bench/server.h
tests_bench_bench_CPPFLAGS = -I$(top_srcdir)/tests
tests_bench_bench_CFLAGS = $(EDC_CFLAGS) $(CURL_CFLAGS)
tests_bench_bench_LDADD = $(CURL_LIBS)
# What a console's questions cost on a big store: tests/bench/view_bench.c.
EXTRA_PROGRAMS += tests/bench/view_bench
tests_bench_view_bench_SOURCES = tests/bench/view_bench.c
tests_bench_view_bench_LDADD = $(STORE_LIBS)
EXTRA_DIST += tests/bench/big_store.py
# What reading one answer costs.
EXTRA_PROGRAMS += tests/bench/classify_bench
tests_bench_classify_bench_SOURCES = tests/bench/classify_bench.c
tests_bench_classify_bench_LDADD = $(CORE_LIBS)
bench-classify: tests/bench/classify_bench$(EXEEXT)
	tests/bench/classify_bench \
	  $(top_srcdir)/share/profiles/generic-rest.json \
	  $(top_srcdir)/tests/profiles/language.json
bench: tests/bench/bench$(EXEEXT) edcsync$(EXEEXT) bench-classify
	EDCSYNC=$(abs_top_builddir)/edcsync tests/bench/bench $(BENCH_FLAGS)
# Everything that the tests need, without running them.
# After all, never beside it: both would make the same files.
check-build: all
	$(MAKE) $(AM_MAKEFLAGS) $(check_PROGRAMS) $(check_LIBRARIES)
.PHONY: bench bench-classify bench-console fuzz check-build screenshots
CLEANFILES += $(EXTRA_PROGRAMS)

# The simulated EDC.
if HAVE_CMOCKA
check_PROGRAMS += tests/test_sim tests/test_sim_http tests/test_sim_vendors
TESTS += tests/test_sim tests/test_sim_http tests/test_sim_vendors
tests_test_sim_SOURCES = tests/test_sim.c tests/check.h
tests_test_sim_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests \
	-DSRCDIR='"$(abs_top_srcdir)"'
tests_test_sim_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_sim_LDADD = $(SIM_LIBS) $(TEST_LIBS)

tests_test_sim_vendors_SOURCES = tests/test_sim_vendors.c tests/check.h
tests_test_sim_vendors_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_test_sim_vendors_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_sim_vendors_LDADD = $(SIM_LIBS) $(TEST_LIBS)

tests_test_sim_http_SOURCES = tests/test_sim_http.c tests/check.h
tests_test_sim_http_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests \
	-DSRCDIR='"$(abs_top_srcdir)"'
tests_test_sim_http_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_sim_http_LDADD = $(CORE_LIBS) $(TEST_LIBS)
endif

# The terminal that screens are tested with.
if HAVE_VTERM
check_LIBRARIES += libvt.a
libvt_a_SOURCES = tests/vt.c tests/vt.h tests/vt_priv.h
libvt_a_SOURCES += tests/vt_keeper.c
libvt_a_SOURCES += tests/vt_lint.c
libvt_a_SOURCES += tests/vt_screen.c
libvt_a_CFLAGS = $(AM_CFLAGS) $(VTERM_CFLAGS)
VT_LIBS = libvt.a $(VTERM_LIBS)

check_PROGRAMS += tests/test_vt
TESTS += tests/test_vt
tests_test_vt_SOURCES = tests/test_vt.c tests/check.h
tests_test_vt_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(VTERM_CFLAGS)
tests_test_vt_LDADD = $(VT_LIBS) $(CORE_LIBS) $(TEST_LIBS)

# A store for screens.
check_LIBRARIES += libscene.a
libscene_a_SOURCES = tests/scene.c tests/scene.h tests/scene_priv.h
libscene_a_SOURCES += tests/scene_tell.c
libscene_a_SOURCES += tests/scene_study.c
libscene_a_SOURCES += tests/scene_hostile.c
libscene_a_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'

check_PROGRAMS += tests/test_scene
TESTS += tests/test_scene
tests_test_scene_SOURCES = tests/test_scene.c tests/check.h
tests_test_scene_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_scene_LDADD = libscene.a $(STORE_LIBS) $(TEST_LIBS)

check_PROGRAMS += tests/test_panels
TESTS += tests/test_panels
tests_test_panels_SOURCES = tests/test_panels.c tests/panel_app.h
tests_test_panels_SOURCES += tests/check.h
tests_test_panels_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_panels_LDADD = libscene.a $(UI_LIBS) $(TEST_LIBS)
endif

# The pictures of README, of the real program.
if HAVE_VTERM
EXTRA_PROGRAMS += tests/screenshot
tests_screenshot_SOURCES = tests/screenshot.c
tests_screenshot_CFLAGS = $(AM_CFLAGS) $(VTERM_CFLAGS)
tests_screenshot_LDADD = $(VT_LIBS) $(CORE_LIBS)

# How quick the console is on a store that is there (big_store.py makes one):
# make bench-console BENCH_STORE=FILE of a configuration.
EXTRA_PROGRAMS += tests/bench/console
tests_bench_console_SOURCES = tests/bench/console.c
tests_bench_console_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_bench_console_CFLAGS = $(AM_CFLAGS) $(VTERM_CFLAGS)
tests_bench_console_LDADD = $(VT_LIBS) $(CORE_LIBS)
bench-console: edcsync tests/bench/console
	EDCSYNC=./edcsync tests/bench/console --config $(BENCH_STORE)

screenshots: edcsync edcsim tests/screenshot
	EDCSYNC=./edcsync tests/screenshot $(top_srcdir)/share/screenshots

# Screens: keys in, text out.
check_PROGRAMS += tests/test_screens
TESTS += tests/test_screens
tests_test_screens_SOURCES = tests/test_screens.c tests/check.h
tests_test_screens_SOURCES += tests/script.c tests/script.h
tests_test_screens_SOURCES += tests/world.c tests/world.h
tests_test_screens_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_screens_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(VTERM_CFLAGS)
tests_test_screens_LDADD = libscene.a $(VT_LIBS) $(UI_LIBS) $(TEST_LIBS)

# The console and its terminal.
check_PROGRAMS += tests/test_terminal
TESTS += tests/test_terminal
tests_test_terminal_SOURCES = tests/test_terminal.c tests/check.h
tests_test_terminal_SOURCES += tests/world.c tests/world.h
tests_test_terminal_CPPFLAGS = $(AM_CPPFLAGS) -DSRCDIR='"$(abs_top_srcdir)"'
tests_test_terminal_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(VTERM_CFLAGS)
tests_test_terminal_LDADD = libscene.a $(VT_LIBS) $(UI_LIBS) $(TEST_LIBS)
EXTRA_tests_test_terminal_DEPENDENCIES = edcsync$(EXEEXT)
endif
EXTRA_DIST += tests/screens
