/* walker.h: the interface of libsspapi-unwind.so, which walks from a frame to its caller's by
 * libunwind.
 *
 * Callbacks give libunwind each word of the stack and the unwind tables of each address. So a walk
 * stays on the stack in use. One walk at a time.
 */
#ifndef SP_WALKER_H
#define SP_WALKER_H

#include "rule.h"

/* The unwind tables of one object: .eh_frame_hdr, and the readable bytes around it. */
struct sp_tables {
	uintptr_t header;		/* 0: none */
	uintptr_t low, end;
};

/* Callbacks of the walker. */
struct sp_walk_callbacks {
	bool (*is_on_stack)(uintptr_t word);	/* may this word of the stack be read? */
	const struct sp_tables *(*tables_of)(uintptr_t code);	/* NULL: unknown */
};

enum sp_walk {
	SP_WALK_ON,			/* *at is the caller's frame now, and *rule leads there */
	/* *rule leads to a return address that is 0, or not on this stack */
	SP_WALK_BEYOND,
	SP_WALK_ENDS,			/* the tables lead no further */
	SP_WALK_UNKNOWN,		/* the address has no known tables */
	SP_WALK_LOST,			/* the tables need a word that is not on this stack */
};

struct sp_walker {
	/* Begins a walk. False: no memory. */
	bool (*begin)(const struct sp_walk_callbacks *callbacks);
	/* Steps from frame *at to its caller's. */
	enum sp_walk (*step)(struct sp_stack *at, struct sp_rule *rule);
	/* Walks inside the walker, to load its code and memory. */
	void (*rehearse)(const struct sp_walk_callbacks *callbacks);
};

#define SP_WALKER_LIBRARY "libsspapi-unwind.so"
#define SP_WALKER_SYMBOL "sp_walker"

#endif
