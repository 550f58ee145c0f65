/* store-reader.h: the bytes of a store, wherever they are.
 *
 * In the process they are the mapped segments of its region; in the command, a
 * file that was read whole.  Either way every access asks here, with a length,
 * and gets NULL for what is not inside: stores come from strangers.
 */
#ifndef SP_STORE_READER_H
#define SP_STORE_READER_H

#include "layout.h"

struct sp_region;

struct sp_store_reader {
	const struct sp_region *region;	/* or, if NULL: */
	const unsigned char *base;
	uint64_t bytes;
	const unsigned char *part;	/* of a merged store, of which base is only the
					 * beginning: */
	sp_off part_at;			/* one of its processes, and where it stands in the file */
	uint64_t part_bytes;
};

/* The len bytes at off, or NULL if they are not all inside the store (or not
 * aligned to 8). */
const void *sp_store_reader_at(const struct sp_store_reader *reader, sp_off off, uint64_t len);

/* The block of this kind at off, whole, or NULL; at least `least` bytes. */
const void *sp_store_reader_block(const struct sp_store_reader *reader, sp_off off, uint32_t kind,
				  uint64_t least);

/* Cell i of the `cells` of the relation at off, whose block has room for all of l, and *at: where
 * it is in the store.  NULL: nothing was booked near it yet. */
const struct sp_cell *sp_store_reader_cell(const struct sp_store_reader *reader,
					   const struct sp_relation *r, sp_off off,
					   const struct sp_layout *l, uint32_t cells, uint32_t i,
					   sp_off *at);

/* The text of the string at off; "" for 0 and for anything that is not one.
 * It ends with NUL and holds no other. */
const char *sp_store_reader_text(const struct sp_store_reader *reader, sp_off off);

/* String number i of the list at off; NULL behind the last. */
const char *sp_store_reader_text_at(const struct sp_store_reader *reader, sp_off off, uint32_t i);

#endif
