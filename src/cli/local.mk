bin_PROGRAMS += edcsync
edcsync_SOURCES = src/main.c
