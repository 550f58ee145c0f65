/* walker.h: what libsspapi-unwind.so does: libunwind's steps from a frame to its caller's.
 *
 * libunwind reads nothing by itself. It asks for each word of the stack and for the unwind tables
 * of each address, so a walk stays on the stack in use. One walk at a time.
 */
#ifndef SP_WALKER_H
#define SP_WALKER_H

#include "rule.h"

/* The unwind tables of one object: .eh_frame_hdr, and the bytes around it that may be read. */
struct sp_tables {
	uintptr_t header;		/* 0: none */
	uintptr_t low, end;
};

/* What the walker asks its caller. */
struct sp_walk_callbacks {
	bool (*is_on_stack)(uintptr_t word);	/* may this word of the stack be read? */
	const struct sp_tables *(*tables_of)(uintptr_t code);	/* NULL: not known */
};

enum sp_walk {
	SP_WALK_ON,			/* *at is the caller's frame now, and *rule leads there */
	SP_WALK_BEYOND,			/* *rule leads to a return address that is not on this
					 * stack, or is 0 */
	SP_WALK_ENDS,			/* the tables lead no further */
	SP_WALK_UNKNOWN,		/* the address's tables are not known */
	SP_WALK_LOST,			/* the tables ask for a word that is not on this stack */
};

struct sp_walker {
	/* A walk. False: there is no memory for one. */
	bool (*begin)(const struct sp_walk_callbacks *callbacks);
	/* From this frame. */
	enum sp_walk (*step)(struct sp_stack *at, struct sp_rule *rule);
	/* A walk inside the walker, so that its code and memory are there. */
	void (*rehearse)(const struct sp_walk_callbacks *callbacks);
};

#define SP_WALKER_LIBRARY "libsspapi-unwind.so"
#define SP_WALKER_SYMBOL "sp_walker"

#endif
