/* encode.h: blocks of a merged store, made from a model.
 *
 * They depend on what is counted only, not on where in which file it stood: a process
 * read from a merged store gives the bytes that its own store gave.
 */
#ifndef SP_ENCODE_H
#define SP_ENCODE_H

#include "../../model/model.h"
#include "settled.h"

/* The texts of an event, and then itself, with this name, in front of those from `before` on. */
sp_off sp_encode_event(struct sp_bytes *b, sp_off before, const struct sp_image *image, const struct sp_event *e, uint32_t id,
		       const char *name);

/* From hexadecimal. */
void sp_encode_build_id(struct sp_module *m, const char *id);

struct sp_encode {
	const uint32_t *event;		/* [the model's n_events] ids in the merged store; SP_LEFT_OUT */
	const uint32_t *call;		/* [SP_CALLS_MAX] the same of calls */
	const uint32_t *site;		/* [the model's n_callsites] the same of call sites; 0: "other" */
	uint32_t n_calls, machine;
};
#define SP_LEFT_OUT	UINT32_MAX

/* The model's one process as a struct sp_member and all that is its own, as the whole
 * buffer.  `next` is 0. */
void sp_encode_member(struct sp_bytes *b, struct sp_model *m, const struct sp_encode *with);

#endif
