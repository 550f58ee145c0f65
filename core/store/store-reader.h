/* store-reader.h: checked access to the bytes of a store.
 *
 * In the process the bytes are the mapped pieces of its region; in the command, a file read into
 * memory. Every access goes through here, with a length, and returns NULL outside the store: the
 * store may be anyone's.
 */
#ifndef SP_STORE_READER_H
#define SP_STORE_READER_H

#include "layout.h"

struct sp_region;

struct sp_store_reader {
	const struct sp_region *region;	/* or, if NULL: */
	const unsigned char *base;
	uint64_t bytes;
	const unsigned char *part;	/* with base only the beginning of a merged store: one of
					 * its processes */
	sp_off part_at;			/* its offset in the file */
	uint64_t part_bytes;
};

/* Returns the len bytes at off, or NULL if they are not inside the store, or not aligned to 8. */
const void *sp_store_reader_at(const struct sp_store_reader *reader, sp_off off, uint64_t len);

/* Returns the complete block of this kind at off, of at least `least` bytes, or NULL. */
const void *sp_store_reader_block(const struct sp_store_reader *reader, sp_off off, uint32_t kind,
				  uint64_t least);

/* Returns cell i of the relation at off, with its offset in *at. The relation's block must have
 * room for all of l. NULL: the cell's block was not needed yet. */
const struct sp_cell *sp_store_reader_cell(const struct sp_store_reader *reader,
					   const struct sp_relation *r, sp_off off,
					   const struct sp_layout *l, uint32_t cells, uint32_t i,
					   sp_off *at);

/* Returns the string at off, which ends with its only NUL; "" for 0 or anything that is not a
 * string. */
const char *sp_store_reader_text(const struct sp_store_reader *reader, sp_off off);

/* Returns string i of the list at off; NULL after the last. */
const char *sp_store_reader_text_at(const struct sp_store_reader *reader, sp_off off, uint32_t i);

#endif
