/* encode.h: blocks of a merged store that stand in it once: events, and what modules have. */
#ifndef SP_ENCODE_H
#define SP_ENCODE_H

#include "../../model/model.h"
#include "settled.h"

/* The texts of an event, and then itself, with this name, in front of those from `before` on. */
sp_off sp_encode_event(struct sp_bytes *b, sp_off before, const struct sp_image *image, const struct sp_event *e, uint32_t id,
		       const char *name);

/* From hexadecimal. */
void sp_encode_build_id(struct sp_module *m, const char *id);

#endif
