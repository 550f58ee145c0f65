/* compact.c: see compact.h. */
#include <errno.h>
#include <string.h>

#include "compact.h"

sp_off sp_compact_begin(struct sp_compact *c, uint32_t kind, uint64_t bytes)
{
	sp_off at = sp_compact_here(c);
	struct sp_block head = { .kind = kind, .bytes = (uint32_t)sp_align(bytes, 8) };

	if (sp_align(bytes, 8) > UINT32_MAX && !c->o->error)
		c->o->error = -EFBIG;	/* no block is that large: relations have at most 2^20 cells */
	sp_out_bytes(c->o, &head, sizeof(head));
	c->left = head.bytes - sizeof(head);
	return at;
}

void sp_compact_put(struct sp_compact *c, const void *bytes, uint64_t n)
{
	n = sp_min(n, c->left);
	c->left -= n;
	sp_out_bytes(c->o, bytes, n);
}

void sp_compact_zeros(struct sp_compact *c, uint64_t n)
{
	n = sp_min(n, c->left);
	c->left -= n;
	sp_out_repeat(c->o, '\0', n);
}

void sp_compact_end(struct sp_compact *c)
{
	sp_compact_zeros(c, c->left);
}

sp_off sp_compact_like(struct sp_compact *c, uint32_t kind, const void *like, uint64_t bytes)
{
	sp_off at = sp_compact_begin(c, kind, bytes);

	sp_compact_put(c, (const char *)like + sizeof(struct sp_block), bytes - sizeof(struct sp_block));
	sp_compact_end(c);
	return at;
}

/* ---- texts -------------------------------------------------------------- */

sp_off sp_compact_text(struct sp_compact *c, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);
	sp_off at;

	if (!n)
		return 0;
	at = sp_compact_begin(c, SP_BLOCK_STRING, sizeof(struct sp_string) + n + 1);
	sp_compact_u32(c, n);
	sp_compact_put(c, text, n);
	sp_compact_end(c);
	return at;
}

/* The texts stand behind the list, each as long as it is. */
sp_off sp_compact_texts(struct sp_compact *c, const struct sp_image *image, sp_off list)
{
	const char *text;
	uint32_t n = 0;
	sp_off at, next;

	while (sp_image_text_at(image, list, n))
		n++;
	if (!n)
		return 0;
	at = sp_compact_begin(c, SP_BLOCK_STRINGS, sizeof(struct sp_strings) + n * sizeof(sp_off));
	next = at + sizeof(struct sp_strings) + n * sizeof(sp_off);
	sp_compact_u32(c, n);
	sp_compact_u32(c, 0);
	for (uint32_t i = 0; (text = sp_image_text_at(image, list, i)) != NULL && i < n; i++) {
		sp_off is = *text ? next : 0;

		sp_compact_put(c, &is, sizeof(is));
		next += *text ? sp_align(sizeof(struct sp_string) + strlen(text) + 1, 8) : 0;
	}
	sp_compact_end(c);
	for (uint32_t i = 0; (text = sp_image_text_at(image, list, i)) != NULL && i < n; i++)
		sp_compact_text(c, text);
	return at;
}

sp_off sp_compact_event(struct sp_compact *c, const struct sp_image *image, const struct sp_event *e, sp_off before)
{
	struct sp_event to = *e;
	sp_off *const text[] = { &to.name, &to.component, &to.derived, &to.postfix, &to.units, &to.description, &to.pmu };

	to.next = before;
	for (unsigned i = 0; i < SP_COUNT(text); i++)
		*text[i] = sp_compact_text(c, sp_image_text(image, *text[i]));
	to.natives = sp_compact_texts(c, image, e->natives);
	return sp_compact_like(c, SP_BLOCK_EVENT, &to, sizeof(to));
}
