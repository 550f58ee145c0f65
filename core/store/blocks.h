/* blocks.h: header and topology, which processes and the command write and read alike. */
#ifndef SP_BLOCKS_H
#define SP_BLOCKS_H

#include "layout.h"

/* Set the fields that identify the format; finish writes the magic, when all else is complete. */
void sp_header_begin(struct sp_header *h);
void sp_header_finish(struct sp_header *h);

/* Checks the fields up to SP_HEADER_FIRST. 0: the header has h->bytes, which are enough;
 * -EINVAL: not a store; -EPROTO: newer version; -EPROTONOSUPPORT: version that was never
 * released. */
int sp_header_check(const struct sp_header *h);
#define SP_HEADER_FIRST offsetof(struct sp_header, end)

/* Sets fields that an older version lacks to 0. */
void sp_header_copy(struct sp_header *to, const struct sp_header *from);

/* Components of a machine and hwloc's XML; each may be empty. */
struct sp_tree {
	const struct sp_component *component;
	uint32_t n, n_cpus;
	const char *xml;
	uint64_t xml_bytes;
};

/* Size of its block; and fills in that block except for head and source. */
uint64_t sp_tree_bytes(const struct sp_tree *t);
void sp_tree_write(const struct sp_tree *t, struct sp_topology *to);

/* Reads a complete block, nothing beyond its bytes; false: the components are incomplete. */
bool sp_tree_read(struct sp_tree *t, const struct sp_topology *from);

#endif
