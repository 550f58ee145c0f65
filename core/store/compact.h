/* compact.h: writes the blocks of a compact store (layout.h) one after the other.
 *
 * A block is written after the blocks it names, so that only the output's buffer is in memory.
 * The header, a machine and a process precede their parts and are written again at the end
 * (sp_compact_rewrite): the output is memory or a file of our own. A block has the size announced
 * at its beginning, since its source may change meanwhile. Async-signal-safe, no malloc; errors
 * are those of the output.
 */
#ifndef SP_COMPACT_H
#define SP_COMPACT_H

#include "../base/out.h"
#include "blocks.h"
#include "store-reader.h"

struct sp_compact {
	struct sp_out *o;
	uint64_t left;			/* bytes left in the current block */
};

/* Offset of the next byte. */
static inline sp_off sp_compact_offset(const struct sp_compact *c)
{
	return c->o->written + c->o->used;
}

/* Begins a block of that size, with its head, and returns its offset. Writes go into it; the end
 * fills the rest with zeros. */
sp_off sp_compact_begin(struct sp_compact *c, uint32_t kind, uint64_t bytes);
void sp_compact_write(struct sp_compact *c, const void *bytes, uint64_t n);
void sp_compact_zeros(struct sp_compact *c, uint64_t n);
void sp_compact_end(struct sp_compact *c);

static inline void sp_compact_u32(struct sp_compact *c, uint32_t v)
{
	sp_compact_write(c, &v, sizeof(v));
}

/* Writes a complete block, equal to `like` except for its head; returns its offset. */
sp_off sp_compact_copy(struct sp_compact *c, uint32_t kind, const void *like, uint64_t bytes);

static inline void sp_compact_rewrite(struct sp_compact *c, sp_off at, const void *bytes,
				      uint64_t n)
{
	sp_out_overwrite(c->o, at, bytes, n);
}

/* Returns 0 for "" or no texts. */
sp_off sp_compact_text(struct sp_compact *c, const char *text);

/* Copy from the reader's store; the event gets this name. */
sp_off sp_compact_texts(struct sp_compact *c, const struct sp_store_reader *reader, sp_off list);
sp_off sp_compact_event(struct sp_compact *c, const struct sp_store_reader *reader,
			const struct sp_event *e, const char *name, sp_off before);

/* Writes a list of texts, each with its NUL; may be empty. */
sp_off sp_compact_words(struct sp_compact *c, const char *words, size_t bytes);

/* Writes a note: text followed by more. */
sp_off sp_compact_note(struct sp_compact *c, sp_off before, const char *text, const char *more);

/* Write a topology, and the machine that has it (source NULL: no topology). CPUs that a process
 * was not allowed are in the machine's block. After a machine and its topology, a reader needs
 * no part of the store but the process that it reads. */
sp_off sp_compact_topology(struct sp_compact *c, const struct sp_tree *t, const char *source);
sp_off sp_compact_machine(struct sp_compact *c, sp_off host, const struct sp_tree *t,
			  const char *source);

/* Writes the thread `at`, if it has relations, as the newest of h; then resets it to the next
 * thread, without relations. */
void sp_compact_thread(struct sp_compact *c, struct sp_header *h, struct sp_thread *at, int tid,
		       const char *name, uint64_t threads);

/* Begins the thread's newest relation; its events, cells and times follow. */
void sp_compact_relation(struct sp_compact *c, struct sp_thread *of, struct sp_relation *r);

/* Begins the next chunk of a relation's readings, of which `left` remain; chunk->room of them
 * follow, then their call sites if chunk->sites. The first call has only k and sites in the chunk,
 * and before 0. */
sp_off sp_compact_readings(struct sp_compact *c, struct sp_chunk *chunk, sp_off before,
			   uint64_t left, uint64_t first_ns);

#endif
