/* view-store.c: the store as the file that the sspapi command reads: its own
 * bytes, in order; but for how and when it ended, which the store of a process that was
 * killed, or goes on, does not know. */
#include <string.h>

#include "view.h"

#define PIECE	4096u	/* no seam of the store's memory lies in one */
#define HOLES	16384u	/* pieces; more than that in a row is a damaged `used` */

/* Other threads may add blocks while the first ones are written, and a block
 * written late may name one of those: so the end is looked up again each time. */
static uint64_t end_of_store(const struct sp_model *m)
{
	const struct sp_header *h = sp_image_at(m->image, 0, sizeof(*h));
	uint64_t end = m->h.used;

	if (h)
		end = sp_max(end, sp_acquire(&h->used));
	if (!m->image->region)
		end = sp_min(end, m->image->bytes);
	return end;
}

/* What of the header we know. */
static uint64_t write_header(struct sp_out *o, const struct sp_model *m)
{
	const struct sp_header *is = sp_image_at(m->image, 0, sizeof(*is));
	struct sp_header h;

	if (!is)
		return 0;
	h = *is;
	h.end = m->h.end;
	h.end_ns = m->h.end_ns;
	sp_out_bytes(o, (const char *)&h, sizeof(h));
	return sizeof(h);
}

void sp_view_store(struct sp_out *o, const struct sp_show *s)
{
	const struct sp_model *m = s->m;
	uint64_t off = write_header(o, m), end = 0, n;
	unsigned holes = 0;

	for (; !o->error && holes < HOLES && (off < end || off < (end = end_of_store(m))); off += n) {
		const void *piece;

		n = sp_min(PIECE - off % PIECE, end - off);
		piece = sp_image_at(m->image, off, n);
		holes = piece ? 0 : holes + 1;
		if (piece)
			sp_out_bytes(o, piece, n);
		else
			sp_out_repeat(o, '\0', n);
	}
}
