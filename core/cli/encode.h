/* encode.h: blocks of a merged store (format.h), made from a model.
 *
 * They depend on what is counted only, not on where in which file it stood: a process
 * read from a merged store gives the bytes that its own store gave.  Blocks go into a
 * buffer that grows; offsets in them are of the file, where the buffer's first byte
 * will stand at `origin`.
 */
#ifndef SP_ENCODE_H
#define SP_ENCODE_H

#include "../view/model.h"

struct sp_bytes {
	unsigned char *at;
	uint64_t used, room, origin;
};

void sp_bytes_clear(struct sp_bytes *b, uint64_t origin);
void sp_bytes_free(struct sp_bytes *b);

/* n bytes more, as they are. */
void sp_bytes_add(struct sp_bytes *b, const void *bytes, size_t n);

/* A new block, zeroed but for its head: its place in the buffer.  Pointers into the
 * buffer hold until the next one is made. */
uint64_t sp_bytes_block(struct sp_bytes *b, uint32_t kind, uint64_t bytes);
static inline void *sp_bytes_at(const struct sp_bytes *b, uint64_t place)
{
	return b->at + place;
}

/* Each gives the offset for others to name it by; "" and no texts: 0. */
sp_off sp_bytes_text(struct sp_bytes *b, const char *text);
sp_off sp_bytes_words(struct sp_bytes *b, const char *words, size_t bytes);	/* each closed by its NUL */
sp_off sp_bytes_texts(struct sp_bytes *b, const struct sp_image *image, sp_off list);	/* a copy */

/* A note of text and more in front of those from `before` on; a thread, its place: `threads` of them are one. */
sp_off sp_encode_note(struct sp_bytes *b, sp_off before, const char *text, const char *more);
uint64_t sp_encode_thread(struct sp_bytes *b, sp_off before, int tid, const char *name, uint64_t threads);

/* An event with its texts, and this name; its place. */
uint64_t sp_encode_event(struct sp_bytes *b, const struct sp_image *image, const struct sp_event *e, uint32_t id, const char *name);

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
