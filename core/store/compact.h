/* compact.h: writes blocks of the compact form (format.h, "the compact form") one behind the other.
 *
 * What a block names stands in front of it, so that no more is kept in memory than the output's buffer.  Only what stands
 * before its parts, the header and a process, is written again at the end (sp_compact_again): the output is an own file.  A block has the bytes that
 * were said when it began, whatever is put into it: what it is made of may change meanwhile.
 * Async-signal-safe, no malloc; errors are the output's.
 */
#ifndef SP_COMPACT_H
#define SP_COMPACT_H

#include "../base/out.h"
#include "image.h"

struct sp_compact {
	struct sp_out *o;
	uint64_t left;			/* bytes of the block that is being written */
};

/* The offset of the next byte. */
static inline sp_off sp_compact_here(const struct sp_compact *c)
{
	return c->o->written + c->o->used;
}

/* A block of this kind and so many bytes, its head among them: its offset.  Then what is in it; and its end, where zeros
 * take the place of what was not put. */
sp_off sp_compact_begin(struct sp_compact *c, uint32_t kind, uint64_t bytes);
void sp_compact_put(struct sp_compact *c, const void *bytes, uint64_t n);
void sp_compact_zeros(struct sp_compact *c, uint64_t n);
void sp_compact_end(struct sp_compact *c);

static inline void sp_compact_u32(struct sp_compact *c, uint32_t v)
{
	sp_compact_put(c, &v, sizeof(v));
}

/* A whole block that is as `like` but for its head: its offset. */
sp_off sp_compact_like(struct sp_compact *c, uint32_t kind, const void *like, uint64_t bytes);

static inline void sp_compact_again(struct sp_compact *c, sp_off at, const void *bytes, uint64_t n)
{
	sp_out_again(c->o, at, bytes, n);
}

/* Copies of what stands in the image; "" and no texts: 0. */
sp_off sp_compact_text(struct sp_compact *c, const char *text);
sp_off sp_compact_texts(struct sp_compact *c, const struct sp_image *image, sp_off list);
sp_off sp_compact_event(struct sp_compact *c, const struct sp_image *image, const struct sp_event *e, sp_off before);

#endif
