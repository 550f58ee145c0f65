/* settled.h: the one writer of the settled form (format.h, merged stores): of what was merged, and of what `sspapi stat`
 * counted.
 *
 * Blocks go into a buffer that grows; offsets in them are of the file, where the buffer's first byte will stand at
 * `origin`.  Pointers into the buffer hold until the next block is made.
 */
#ifndef SP_SETTLED_H
#define SP_SETTLED_H

#include "../../store/blocks.h"
#include "../../store/image.h"

struct sp_bytes {
	unsigned char *at;
	uint64_t used, room, origin;
};

void sp_bytes_clear(struct sp_bytes *b, uint64_t origin);
void sp_bytes_free(struct sp_bytes *b);

/* n bytes more, as they are. */
void sp_bytes_add(struct sp_bytes *b, const void *bytes, size_t n);

/* A new block, zeroed but for its head: its place in the buffer. */
uint64_t sp_bytes_block(struct sp_bytes *b, uint32_t kind, uint64_t bytes);
static inline void *sp_bytes_at(const struct sp_bytes *b, uint64_t place)
{
	return b->at + place;
}

/* A new block that is as `like` but for its head: its offset. */
sp_off sp_bytes_like(struct sp_bytes *b, uint32_t kind, const void *like, uint64_t bytes);

/* Each gives the offset for others to name it by; "" and no texts: 0. */
sp_off sp_bytes_text(struct sp_bytes *b, const char *text);
sp_off sp_bytes_words(struct sp_bytes *b, const char *words, size_t bytes);	/* each closed by its NUL */
sp_off sp_bytes_texts(struct sp_bytes *b, const struct sp_image *image, sp_off list);	/* a copy */

/* A note of text and more in front of those from `before` on. */
sp_off sp_settled_note(struct sp_bytes *b, sp_off before, const char *text, const char *more);

/* A machine without a topology yet, with so many words for what is disallowed; it stands in front of its topology, from
 * which on a reader needs no more of the store than the process that it reads.  Its place; the topology's offset. */
uint64_t sp_settled_machine(struct sp_bytes *b, const char *host, uint32_t words);
sp_off sp_settled_topology(struct sp_bytes *b, const struct sp_tree *tree, const char *source);

/* A thread, its place: `threads` of them are one. */
uint64_t sp_settled_thread(struct sp_bytes *b, sp_off before, int tid, const char *name, uint64_t threads);

/* The thread's newest relation, with these numbers (of which k and cells say how long it is) and events: its place. */
uint64_t sp_settled_relation(struct sp_bytes *b, uint64_t thread, const struct sp_relation *like, const uint32_t *event);

/* One reading more of a relation, by its place, in the order of their times; its values [k] are to be filled in at once. */
struct sp_settled_readings {
	uint64_t relation, chunk, n;	/* chunk, n: private, from 0 on */
};
int64_t *sp_settled_reading(struct sp_bytes *b, struct sp_settled_readings *log, uint64_t ns, int32_t cpu);

/* Those of a relation: its cell i, and its times. */
struct sp_cell *sp_settled_cell(struct sp_relation *r, uint32_t i);
struct sp_times *sp_settled_times(struct sp_relation *r);

/* The process whose block stands at `member` has its header, and nothing more comes. */
void sp_settled_end(struct sp_bytes *b, uint64_t member);

#endif
