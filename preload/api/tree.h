/* tree.h: the trees that sspapi_topology gives. */
#ifndef SP_API_TREE_H
#define SP_API_TREE_H

#include "api.h"

struct sspapi_component {		/* the tree's own index says which */
	char nothing;
};

/* One for each machine that was asked for; they stay, since a program keeps pointers. */
struct tree {
	struct tree *next;
	uint64_t bytes;			/* of this block of memory */
	uint32_t n;
	struct sp_component *component;	/* [n] in the order of a walk from the root */
	int32_t *cpu;			/* [n] of a PU; -1 */
	struct sspapi_component *at;	/* [n] */
	bool here;			/* this machine's: source NULL, which is not "" */
	char source[];
};

/* NULL: c is no component. */
struct tree *sp_api_tree(const struct sspapi_component *c);

/* Behind the last component below number `top`; of a NUMANode, which stands beside the tree, *top
 * becomes what it hangs from. */
uint32_t sp_api_below(const struct tree *r, int32_t *top);

/* The PU at or below component number `top`, or -1. */
int sp_api_pu_below(const struct tree *r, int32_t top, int cpu);

#endif
