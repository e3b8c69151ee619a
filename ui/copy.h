/*
 * copy.h - floor S: a text on its way to the clipboard of who sits here:
 * escaped, without a newline at its end (it may be pasted into a shell), in
 * base64, as the sequence that terminals take (OSC 52).
 */
#ifndef EDCSYNC_UI_COPY_H
#define EDCSYNC_UI_COPY_H

#include "core/base.h"

/* Appends; false: too long (TERM_COPY_BYTES_MAX), nothing was appended. */
bool copy_sequence(struct span text, struct buf *out);

#endif
