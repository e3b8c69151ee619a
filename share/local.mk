# Compiled in, and installed below $(pkgdatadir).
EMBEDDED =

embedded.c: share/embed.sh $(addprefix $(top_srcdir)/share/,$(EMBEDDED))
	$(AM_V_GEN)$(top_srcdir)/share/embed.sh $(top_srcdir) $(EMBEDDED) >$@.tmp && mv $@.tmp $@
CLEANFILES += embedded.c
EXTRA_DIST += share/embed.sh $(addprefix share/,$(EMBEDDED))
