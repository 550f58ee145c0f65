/* buffer.c: see buffer.h. */
#include "buffer.h"
#include "cmd.h"

void sp_bytes_free(struct sp_bytes *b)
{
	free(b->at);
	memset(b, 0, sizeof(*b));
}

void sp_bytes_add(struct sp_bytes *b, const void *bytes, size_t n)
{
	if (!n)				/* b->at may be NULL */
		return;
	if (n > b->room - b->used) {
		b->room = sp_max(2 * b->room, b->used + n);
		b->at = sp_check_alloc(realloc(b->at, b->room));
	}
	memcpy(b->at + b->used, bytes, n);
	b->used += n;
}

static void grow(struct sp_out *o, size_t n)
{
	o->size = sp_max(2 * o->size, o->used + n);
	o->buffer = sp_check_alloc(realloc(o->buffer, o->size));
}

void sp_growing_init(struct sp_out *o)
{
	sp_out_init(o, -1, NULL, 0);
	o->grow = grow;
}
