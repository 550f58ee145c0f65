/* buffer.h: a growing buffer of bytes. */
#pragma once

#include "../../base/out.h"

struct sp_bytes {
	unsigned char *at;
	uint64_t used, room;
};

void sp_bytes_free(struct sp_bytes *b);
void sp_bytes_add(struct sp_bytes *b, const void *bytes, size_t n);

/* Makes output go into growing memory; the caller frees o->buffer. */
void sp_growing_init(struct sp_out *o);
