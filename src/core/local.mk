noinst_LIBRARIES += libcore.a
libcore_a_SOURCES = \
	src/core/base.c src/core/base.h src/core/limits.h \
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
	src/core/timefmt.h
