/* encode.c: see encode.h. */
#include <string.h>

#include "encode.h"

sp_off sp_encode_event(struct sp_bytes *b, sp_off before, const struct sp_image *image, const struct sp_event *e, uint32_t id,
		       const char *name)
{
	struct sp_event to = *e;

	to.next = before;
	to.id = id;
	to.name = sp_bytes_text(b, name);
	to.component = sp_bytes_text(b, sp_image_text(image, e->component));
	to.derived = sp_bytes_text(b, sp_image_text(image, e->derived));
	to.postfix = sp_bytes_text(b, sp_image_text(image, e->postfix));
	to.units = sp_bytes_text(b, sp_image_text(image, e->units));
	to.description = sp_bytes_text(b, sp_image_text(image, e->description));
	to.natives = sp_bytes_texts(b, image, e->natives);
	to.pmu = sp_bytes_text(b, sp_image_text(image, e->pmu));
	return sp_bytes_like(b, SP_BLOCK_EVENT, &to, sizeof(to));
}

static unsigned nibble(char c)
{
	return c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');
}

void sp_encode_build_id(struct sp_module *m, const char *id)
{
	for (m->build_id_bytes = 0; id[0] && id[1] && m->build_id_bytes < sizeof(m->build_id); id += 2)
		m->build_id[m->build_id_bytes++] = (unsigned char)(nibble(id[0]) << 4 | nibble(id[1]));
}
