/* store-reader.c: see store-reader.h. */
#include <string.h>

#include "store-reader.h"
#include "region.h"

const void *sp_store_reader_at(const struct sp_store_reader *reader, sp_off off, uint64_t len)
{
	if (off & 7)
		return NULL;
	if (reader->region)
		return sp_region_at(reader->region, off, len);
	if (reader->part && off >= reader->part_at)
		return off - reader->part_at <= reader->part_bytes &&
				       len <= reader->part_bytes - (off - reader->part_at)
			       ? reader->part + (off - reader->part_at)
			       : NULL;
	if (off > reader->bytes || len > reader->bytes - off)
		return NULL;
	return reader->base + off;
}

const void *sp_store_reader_block(const struct sp_store_reader *reader, sp_off off, uint32_t kind,
				  uint64_t least)
{
	const struct sp_block *b = off ? sp_store_reader_at(reader, off, sizeof(*b)) : NULL;

	if (!b || load_acquire(&b->kind) != kind || b->bytes < least)
		return NULL;
	return sp_store_reader_at(reader, off, b->bytes);
}

const struct sp_cell *sp_store_reader_cell(const struct sp_store_reader *reader,
					   const struct sp_relation *r, sp_off off,
					   const struct sp_layout *l, uint32_t cells, uint32_t i,
					   sp_off *at)
{
	const char *base = (const char *)r;
	uint64_t place = l->cell + (l->each ? 0 : i * l->cell_bytes);

	if (l->each && i + 1 < cells) {
		off = load_acquire((const sp_off *)(base + l->blocks) + i / l->each);
		base = sp_store_reader_block(reader, off, SP_BLOCK_CELLS, sp_cells_bytes(l));
		place = sizeof(struct sp_block) + i % l->each * l->cell_bytes;
	}
	*at = off + place;
	return base ? (const struct sp_cell *)(base + place) : NULL;
}

const char *sp_store_reader_text(const struct sp_store_reader *reader, sp_off off)
{
	const struct sp_string *s =
		sp_store_reader_block(reader, off, SP_BLOCK_STRING, sizeof(*s) + 1);

	if (!s || s->length >= s->b.bytes - sizeof(*s) ||
	    memchr(s->text, 0, s->length + 1) != s->text + s->length)
		return "";
	return s->text;
}

const char *sp_store_reader_text_at(const struct sp_store_reader *reader, sp_off off, uint32_t i)
{
	const struct sp_strings *s =
		sp_store_reader_block(reader, off, SP_BLOCK_STRINGS, sizeof(*s));

	if (!s || i >= s->n || s->n > (s->b.bytes - sizeof(*s)) / sizeof(sp_off))
		return NULL;
	return sp_store_reader_text(reader, s->at[i]);
}
