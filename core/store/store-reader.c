/* store-reader.c: bounds, and nothing else, between a reader and a store's bytes. */
#include <string.h>

#include "store-reader.h"
#include "region.h"

const void *sp_image_at(const struct sp_image *image, sp_off off, uint64_t len)
{
	if (off & 7)
		return NULL;
	if (image->region)
		return sp_region_at(image->region, off, len);
	if (image->part && off >= image->part_at)
		return off - image->part_at <= image->part_bytes && len <= image->part_bytes - (off - image->part_at) ?
			       image->part + (off - image->part_at) : NULL;
	if (off > image->bytes || len > image->bytes - off)
		return NULL;
	return image->base + off;
}

const void *sp_image_block(const struct sp_image *image, sp_off off, uint32_t kind, uint64_t least)
{
	const struct sp_block *b = off ? sp_image_at(image, off, sizeof(*b)) : NULL;

	if (!b || sp_acquire(&b->kind) != kind || b->bytes < least)
		return NULL;
	return sp_image_at(image, off, b->bytes);
}

const struct sp_cell *sp_image_cell(const struct sp_image *image, const struct sp_relation *r, sp_off off,
				    const struct sp_layout *l, uint32_t cells, uint32_t i, sp_off *at)
{
	const char *base = (const char *)r;
	uint64_t place = l->cell + (l->each ? 0 : i * l->cell_bytes);

	if (l->each && i + 1 < cells) {
		off = sp_acquire((const sp_off *)(base + l->blocks) + i / l->each);
		base = sp_image_block(image, off, SP_BLOCK_CELLS, sp_cells_bytes(l));
		place = sizeof(struct sp_block) + i % l->each * l->cell_bytes;
	}
	*at = off + place;
	return base ? (const struct sp_cell *)(base + place) : NULL;
}

const char *sp_image_text(const struct sp_image *image, sp_off off)
{
	const struct sp_string *s = sp_image_block(image, off, SP_BLOCK_STRING, sizeof(*s) + 1);

	if (!s || s->length >= s->b.bytes - sizeof(*s) || memchr(s->text, 0, s->length + 1) != s->text + s->length)
		return "";
	return s->text;
}

const char *sp_image_text_at(const struct sp_image *image, sp_off off, uint32_t i)
{
	const struct sp_strings *s = sp_image_block(image, off, SP_BLOCK_STRINGS, sizeof(*s));

	if (!s || i >= s->n || s->n > (s->b.bytes - sizeof(*s)) / sizeof(sp_off))
		return NULL;
	return sp_image_text(image, s->at[i]);
}
