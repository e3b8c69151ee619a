# Everything of the cli floor but main(): one file a line.
noinst_LIBRARIES += libcli.a
libcli_a_CPPFLAGS = $(AM_CPPFLAGS) -DEDCSYNC_SYSCONFDIR='"$(sysconfdir)"'
libcli_a_SOURCES = \
	src/cli/command.h \
	src/cli/embedded.h \
	src/cli/files.c \
	src/cli/out.c \
	src/cli/out.h \
	src/cli/setup.c \
	src/cli/setup.h \
	src/cli/table.c
nodist_libcli_a_SOURCES = embedded.c
CLI_LIBS = libcli.a $(ENGINE_LIBS)

bin_PROGRAMS += edcsync
edcsync_SOURCES = src/main.c
