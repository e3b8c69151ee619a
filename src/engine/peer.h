/*
 * peer.h - floor 2: what libcurl tells in words of the other end, read without
 * libcurl. Private to the wire.
 */
#ifndef EDCSYNC_ENGINE_PEER_H
#define EDCSYNC_ENGINE_PEER_H

#include "engine/wire.h"

/* One line about its own certificate: who it is, who says so, until when.
 * Other lines change nothing. */
void peer_certificate(struct wire_peer *, const char *line, int64_t now_ms);

#endif
