/*
 * xml.h - floor 0: foreign XML, bounded. The only door to libxml2.
 *
 * A document is read from memory: no network, no file, no DTD. A DOCTYPE, a
 * declaration of any kind and an entity that XML itself does not have are
 * refused, so nothing expands. Refused as well: more than XML_ELEMENTS_MAX
 * elements, XML_ATTRIBUTES_MAX attributes of one element, XML_NS_MAX
 * namespace declarations, 256 levels. (Those bounds are counted before
 * libxml2 sees a byte: its own checks are quadratic in them.)
 *
 * Charset, for reading answers: a byte order mark and a few stray bytes
 * before the first "<" are skipped; UTF-16 with a mark, then whatever is
 * valid UTF-8, is read as that, whatever the declaration or a header says;
 * anything else as ISO-8859-1.
 *
 * XPath 1.0, its core functions only (no id(), no variables). An expression
 * is checked and compiled once and may be used by any thread; a document
 * belongs to one. All evaluations over one document share a budget of
 * XML_OPS_MAX steps; what goes over it finds nothing and spoils the document
 * (xml_spoiled), because "not there" would then be a guess.
 */
#ifndef EDCSYNC_CORE_XML_H
#define EDCSYNC_CORE_XML_H

#include "core/base.h"

#define XML_ELEMENTS_MAX 200000
#define XML_ATTRIBUTES_MAX 256
#define XML_NS_MAX 1024
#define XML_OPS_MAX 1000000
#define XML_PATH_BYTES 512		/* of an expression */

struct xml_ns {
	char *prefix, *uri;		/* owned by whoever keeps the table */
};

struct xml_names {
	struct xml_ns *v;
	size_t n;
};

/* A compiled expression. NULL with a sentence in error: a mistake of its
 * syntax, a prefix that names does not declare, a function unknown here. */
struct xml_path;
struct xml_path *xml_path_make(const char *text, const struct xml_names *,
			       struct buf *error);
void xml_path_free(struct xml_path *);
const char *xml_path_text(const struct xml_path *);

/* A document; NULL with a sentence in error (which may be NULL; it quotes
 * nothing of the text). names is borrowed for its life. */
struct xml;
struct xml *xml_open(struct span bytes, const struct xml_names *,
		     struct buf *error);
void xml_free(struct xml *);
bool xml_spoiled(const struct xml *);

/* What an expression found, in document order. A number or a text is one
 * value; true is one value, "true"; false and an empty text are none. */
struct xml_found {
	void *result;			/* private */
	size_t n;
};

/* from: where a relative expression starts, NULL = the document. */
void xml_find(struct xml *, const struct xml_path *, const void *from,
	      struct xml_found *);
/* The i-th node, NULL where the result is no node set. It lives as long as
 * the document. */
const void *xml_found_node(const struct xml_found *, size_t i);
/* Text of the i-th: of an attribute its value, of an element all its text. */
void xml_found_text(const struct xml_found *, size_t i, struct buf *out);
void xml_found_release(struct xml_found *);

/* Begins like XML: "<" and a name, "!" or "?", after blanks and marks. */
bool xml_looks_like(struct span bytes);

/*
 * Exclusive C14N 1.0 without comments, appended: what an XML payload is
 * identified by (DESIGN.md section 6). Read strictly: what is declared or
 * marked as another charset than UTF-8, US-ASCII, ISO-8859-1 or UTF-16 is
 * refused, and so is invalid UTF-8.
 */
bool xml_canonical(struct span bytes, struct buf *out, struct buf *error);

/*
 * Puts an attribute into the root element's start tag, behind its name; no
 * other byte moves. root: the local name it must have. An attribute of that
 * name that is there with an empty value is filled, with another value
 * refused. The text must be readable as above and ASCII-compatible.
 */
bool xml_splice_attribute(struct span bytes, const char *root,
			  const char *attribute, const char *value,
			  struct buf *out, struct buf *error);

#endif
