# Compiled in, and installed below $(pkgdatadir).
EMBEDDED =
EMBEDDED += edcsync.example.json
EMBEDDED += profiles/castor.json
EMBEDDED += profiles/castor-reports.json
EMBEDDED += profiles/fhir-r4.json
EMBEDDED += profiles/generic-rest.json
EMBEDDED += profiles/medidata-rave.json
EMBEDDED += profiles/medidata-rave-views.json
EMBEDDED += profiles/metadata-tag.json
EMBEDDED += profiles/oracle-clinical.json
EMBEDDED += profiles/profile.schema.json
EMBEDDED += profiles/redcap.json
EMBEDDED += profiles/veeva-vault.json
EMBEDDED += profiles/cases/castor.json
EMBEDDED += profiles/cases/castor-reports.json
EMBEDDED += profiles/cases/fhir-r4.json
EMBEDDED += profiles/cases/generic-rest.json
EMBEDDED += profiles/cases/medidata-rave.json
EMBEDDED += profiles/cases/medidata-rave-views.json
EMBEDDED += profiles/cases/metadata-tag.json
EMBEDDED += profiles/cases/oracle-clinical.json
EMBEDDED += profiles/cases/redcap.json
EMBEDDED += profiles/cases/veeva-vault.json
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
EXTRA_DIST += share/demo/make-visits.py ui/README.md .ci/run \
	share/profiles/README.md

# What is compiled in is installed, too: a file there can be changed.
EMBEDDED_FILES = $(addprefix share/,$(EMBEDDED))
casesdir = $(pkgdatadir)/profiles/cases
cases_DATA = $(filter share/profiles/cases/%,$(EMBEDDED_FILES))
profilesdir = $(pkgdatadir)/profiles
profiles_DATA = $(filter-out $(cases_DATA),$(filter share/profiles/%,$(EMBEDDED_FILES)))
scenariosdir = $(pkgdatadir)/scenarios
scenarios_DATA = $(filter share/scenarios/%,$(EMBEDDED_FILES))
demodir = $(pkgdatadir)/demo
demo_DATA = $(filter share/demo/%,$(EMBEDDED_FILES))

# Man pages come from the program's tables. A cross build cannot run what it
# made: it takes the pages of a distribution, or a native edcsync named by
# make EDCSYNC_RUN=/usr/bin/edcsync
EDCSYNC_RUN = ./edcsync$(EXEEXT)
dist_man_MANS += share/man/edcsync.1 share/man/edcsync.json.5 share/man/edcsim.1
MAN_MAKE = $(MKDIR_P) share/man && { $(EDCSYNC_RUN) --man=$$section >$@.tmp || \
	cp $(srcdir)/$@ $@.tmp || { rm -f $@.tmp; \
	echo "$(EDCSYNC_RUN) does not run here: see EDCSYNC_RUN in share/local.mk" >&2; \
	exit 1; }; } && mv $@.tmp $@
share/man/edcsync.1: edcsync$(EXEEXT)
	$(AM_V_GEN)section=1; $(MAN_MAKE)
share/man/edcsync.json.5: edcsync$(EXEEXT)
	$(AM_V_GEN)section=5; $(MAN_MAKE)

# Completions ask the program; bash finds them by the command's name.
bashcompletiondir = $(datadir)/bash-completion/completions
bashcompletion_DATA = share/completions/edcsync
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = share/completions/_edcsync
share/completions/edcsync: share/completions/edcsync.bash
	$(AM_V_GEN)$(MKDIR_P) share/completions && \
	cp $(top_srcdir)/share/completions/edcsync.bash $@
EXTRA_DIST += share/completions/edcsync.bash
CLEANFILES += share/completions/edcsync

# Below the prefix, whatever systemd says (make systemdsystemunitdir=...).
systemdsystemunitdir = $(prefix)/lib/systemd/system
systemdsystemunit_DATA = share/systemd/edcsync.service
examplesdir = $(pkgdatadir)/examples
examples_DATA = share/examples/sudoers share/examples/sshd_config
dist_examples_DATA = share/edcsync.example.json share/examples/anchors.md \
	share/examples/first-run.md share/examples/logrotate \
	share/examples/metrics.md
examples_SCRIPTS = share/examples/edcsync-login
TAILORED = $(systemdsystemunit_DATA) $(examples_DATA) $(examples_SCRIPTS)
$(TAILORED): share/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SED) \
	-e 's|[@]bindir[@]|$(bindir)|g' \
	-e 's|[@]sysconfdir[@]|$(sysconfdir)|g' \
	-e 's|[@]examplesdir[@]|$(examplesdir)|g' \
	$(top_srcdir)/$@.in >$@.tmp && mv $@.tmp $@
share/systemd/edcsync.service: share/systemd/edcsync.service.in
share/examples/sudoers: share/examples/sudoers.in
share/examples/sshd_config: share/examples/sshd_config.in
share/examples/edcsync-login: share/examples/edcsync-login.in
EXTRA_DIST += $(TAILORED:=.in)
CLEANFILES += $(TAILORED)

# Generated in the build folder; in a source folder they were distributed.
distclean-local:
	test '$(srcdir)' = . || \
	rm -f share/man/edcsync.1 share/man/edcsync.json.5
uninstall-hook:
	-for d in '$(casesdir)' '$(profilesdir)' '$(scenariosdir)' \
	'$(demodir)' '$(examplesdir)' '$(pkgdatadir)'; do \
	rmdir "$(DESTDIR)$$d" 2>/dev/null || :; done

# The pictures of README (make screenshots).
EXTRA_DIST += share/screenshots/attempts.svg \
	share/screenshots/inspector.svg share/screenshots/overview.svg \
	share/screenshots/dead.svg
