# Compiled in, and installed below $(pkgdatadir).
EMBEDDED =
EMBEDDED += edcsync.example.json
EMBEDDED += profiles/generic-rest.json
EMBEDDED += profiles/metadata-tag.json
EMBEDDED += profiles/profile.schema.json
EMBEDDED += profiles/cases/generic-rest.json
EMBEDDED += profiles/cases/metadata-tag.json
EMBEDDED += demo/visits.jsonl
EMBEDDED += scenarios/chaos.json
EMBEDDED += scenarios/forgetful.json
EMBEDDED += scenarios/gateway.json
EMBEDDED += scenarios/html.json
EMBEDDED += scenarios/lag.json
EMBEDDED += scenarios/outage.json
EMBEDDED += scenarios/plain.json
EMBEDDED += scenarios/queued.json
EMBEDDED += scenarios/refuse.json
EMBEDDED += scenarios/revoked.json
EMBEDDED += scenarios/stall.json
EMBEDDED += scenarios/throttle.json
EMBEDDED += scenarios/tokens.json
EMBEDDED += scenarios/truncated.json

embedded.c: share/embed.sh $(addprefix $(top_srcdir)/share/,$(EMBEDDED))
	$(AM_V_GEN)$(top_srcdir)/share/embed.sh $(top_srcdir) $(EMBEDDED) >$@.tmp && mv $@.tmp $@
CLEANFILES += embedded.c
EXTRA_DIST += share/embed.sh $(addprefix share/,$(EMBEDDED))
EXTRA_DIST += share/demo/make-visits.py
