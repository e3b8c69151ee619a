noinst_LIBRARIES += libcore.a
libcore_a_SOURCES = \
	src/core/base.c src/core/base.h src/core/limits.h
