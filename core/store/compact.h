/* compact.h: writes blocks of the compact form (layout.h, "the compact form") one behind the other.
 *
 * What a block names stands in front of it, so that no more is kept in memory than the output's
 * buffer.  Only what stands before its parts (the header, a machine, a process) is written again at
 * the end (sp_compact_again): the output is memory or an own file.  A block has the bytes that were
 * said when it began, whatever is put into it: what it is made of may change meanwhile.
 * Async-signal-safe, no malloc; errors are the output's.
 */
#ifndef SP_COMPACT_H
#define SP_COMPACT_H

#include "../base/out.h"
#include "blocks.h"
#include "store-reader.h"

struct sp_compact {
	struct sp_out *o;
	uint64_t left;			/* bytes of the block that is being written */
};

/* The offset of the next byte. */
static inline sp_off sp_compact_here(const struct sp_compact *c)
{
	return c->o->written + c->o->used;
}

/* A block of this kind and so many bytes, its head among them: its offset.  Then what is in it; and
 * its end, where zeros take the place of what was not put. */
sp_off sp_compact_begin(struct sp_compact *c, uint32_t kind, uint64_t bytes);
void sp_compact_write(struct sp_compact *c, const void *bytes, uint64_t n);
void sp_compact_zeros(struct sp_compact *c, uint64_t n);
void sp_compact_end(struct sp_compact *c);

static inline void sp_compact_u32(struct sp_compact *c, uint32_t v)
{
	sp_compact_write(c, &v, sizeof(v));
}

/* A whole block that is as `like` but for its head: its offset. */
sp_off sp_compact_like(struct sp_compact *c, uint32_t kind, const void *like, uint64_t bytes);

static inline void sp_compact_again(struct sp_compact *c, sp_off at, const void *bytes, uint64_t n)
{
	sp_out_overwrite(c->o, at, bytes, n);
}

/* "" and no texts: 0. */
sp_off sp_compact_text(struct sp_compact *c, const char *text);

/* Copies of what stands in the image, of an event with this name. */
sp_off sp_compact_texts(struct sp_compact *c, const struct sp_store_reader *reader, sp_off list);
sp_off sp_compact_event(struct sp_compact *c, const struct sp_store_reader *reader,
			const struct sp_event *e, const char *name, sp_off before);

/* A list of texts, each closed by its NUL; it may be empty. */
sp_off sp_compact_words(struct sp_compact *c, const char *words, size_t bytes);

/* A note of text and more. */
sp_off sp_compact_note(struct sp_compact *c, sp_off before, const char *text, const char *more);

/* A topology, but for the CPUs that a process was not allowed; and a machine that has it (source
 * NULL: it has none), whose block says those.  It stands in front of its topology, from which on a
 * reader needs no more of the store than the process that it reads. */
sp_off sp_compact_topology(struct sp_compact *c, const struct sp_tree *t, const char *source);
sp_off sp_compact_machine(struct sp_compact *c, sp_off host, const struct sp_tree *t,
			  const char *source);

/* Writes the thread `at`, if it has relations, as the newest of h's; then makes it the next one,
 * without relations. */
void sp_compact_thread(struct sp_compact *c, struct sp_header *h, struct sp_thread *at, int tid,
		       const char *name, uint64_t threads);

/* Begins the newest relation of the thread: up to its events, its cells and its times. */
void sp_compact_relation(struct sp_compact *c, struct sp_thread *of, struct sp_relation *r);

/* Begins the next chunk of a relation's readings, of k values each, of which `left` are still to
 * come: then chunk->room of them.  From { .k = k } and before 0 on. */
sp_off sp_compact_readings(struct sp_compact *c, struct sp_chunk *chunk, sp_off before,
			   uint64_t left, uint64_t first_ns);

#endif
