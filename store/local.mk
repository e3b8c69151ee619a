noinst_LIBRARIES += libstore.a
libstore_a_SOURCES = store/store.h
libstore_a_SOURCES += store/audit.c store/audit.h store/audit_priv.h
libstore_a_SOURCES += store/audit_body.c
libstore_a_SOURCES += store/audit_key.c
libstore_a_SOURCES += store/anchor.c
