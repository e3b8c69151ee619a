# The console: one file a line.
noinst_LIBRARIES += libui.a
libui_a_SOURCES = ui/app.h
libui_a_SOURCES += ui/acts.h
libui_a_SOURCES += ui/cell.h
libui_a_SOURCES += ui/dialog.h
libui_a_SOURCES += ui/keys.h
libui_a_SOURCES += ui/list.h
libui_a_SOURCES += ui/panel.h
libui_a_SOURCES += ui/session.h
libui_a_SOURCES += ui/term.h
libui_a_SOURCES += ui/theme.c ui/theme.h
libui_a_SOURCES += ui/work.h
UI_LIBS = libui.a $(STORE_LIBS) $(NCURSES_LIBS)
EXTRA_DIST += ui/README.md
