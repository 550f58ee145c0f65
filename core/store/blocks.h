/* blocks.h: what a process and the command write alike into a store, and every reader reads alike:
 * the header's first words, and a topology.
 */
#ifndef SP_BLOCKS_H
#define SP_BLOCKS_H

#include "layout.h"

/* The words by which a reader knows the form; the magic comes last, when all else is there. */
void sp_header_begin(struct sp_header *h);
void sp_header_finish(struct sp_header *h);

/* Is it one that this code reads, as its words up to SP_HEADER_FIRST tell?  0: there are to be
 * h->bytes of it, which are enough; -EINVAL no store of sspapi, -EPROTO of a newer version,
 * -EPROTONOSUPPORT of one that was never given away. */
int sp_header_check(const struct sp_header *h);
#define SP_HEADER_FIRST offsetof(struct sp_header, end)

/* Fields that an older version's header lacks are 0. */
void sp_header_copy(struct sp_header *to, const struct sp_header *from);

/* A machine's components, and hwloc's XML of them; each may be empty. */
struct sp_tree {
	const struct sp_component *component;
	uint32_t n, n_cpus;
	const char *xml;
	uint64_t xml_bytes;
};

/* The bytes of its block, and the block of so many bytes filled in, but for its head and source. */
uint64_t sp_tree_bytes(const struct sp_tree *t);
void sp_tree_write(const struct sp_tree *t, struct sp_topology *to);

/* What a block that is whole has of them, nothing of it beyond its bytes; false: not even its
 * components. */
bool sp_tree_read(struct sp_tree *t, const struct sp_topology *from);

#endif
