noinst_LIBRARIES += libsim.a
libsim_a_SOURCES = \
	src/sim/control.c \
	src/sim/door.c \
	src/sim/door.h \
	src/sim/intake.c \
	src/sim/intake.h \
	src/sim/ledger.c \
	src/sim/ledger.h \
	src/sim/ledger_file.c \
	src/sim/ledger_file.h \
	src/sim/odm.c \
	src/sim/odm.h \
	src/sim/scenario.c \
	src/sim/scenario.h \
	src/sim/scenario_load.c \
	src/sim/serve.c \
	src/sim/shape.c \
	src/sim/shape.h \
	src/sim/sim.h \
	src/sim/token.c \
	src/sim/token.h \
	src/sim/vendor.c \
	src/sim/vendor.h \
	src/sim/vendor_castor.c \
	src/sim/vendor_redcap.c \
	src/sim/vendor_rave.c \
	src/sim/vendor_oracle.c \
	src/sim/vendor_veeva.c \
	src/sim/vendor_fhir.c \
	src/sim/vendor_generic.c \
	src/sim/vendor_tag.c

# cJSON builds the documents of /_sim/.
SIM_LIBS = libsim.a $(CORE_LIBS) $(CJSON_LIBS)

bin_PROGRAMS += edcsim
edcsim_SOURCES = \
	src/sim/http.c \
	src/sim/http.h \
	src/sim/main_sim.c
nodist_edcsim_SOURCES = embedded.c
edcsim_LDADD = $(SIM_LIBS) $(MHD_LIBS)
