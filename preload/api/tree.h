/* tree.h: the component trees of sspapi_topology. */
#ifndef SP_API_TREE_H
#define SP_API_TREE_H

#include "api.h"

struct sspapi_component {		/* identified by its index in the tree */
	char nothing;
};

/* A tree per machine, never freed, since programs have pointers into it. */
struct tree {
	struct tree *next;
	uint64_t bytes;			/* of this block */
	uint32_t n;
	struct sp_component *component;	/* [n] in the order of a walk from the root */
	int32_t *cpu;			/* [n] OS index of a PU, else -1 */
	struct sspapi_component *at;	/* [n] */
	/* this machine's, for which the source is NULL and not "" */
	bool is_this_machine;
	char source[];
};

/* NULL if c is not a component. */
struct tree *sp_api_tree(const struct sspapi_component *c);

/* The index after the last component below *top. A NUMANode is not in the tree: *top then becomes
 * its parent. */
uint32_t sp_api_below(const struct tree *r, int32_t *top);

/* The index of the PU at or below component `top`, or -1. */
int sp_api_pu_below(const struct tree *r, int32_t top, int cpu);

#endif
