/* stack-hash.h: finds the call site of a stack in a hash of return addresses.
 *
 * A step is a return address behind the steps that led to it. It says where the stack holds the
 * next return address, or, as the last one, which call site this is. So a site is found by one look
 * for each of its frames, however many sites there are.
 *
 * One table for the process, without locks: a step is written once. Where code is unloaded all are
 * cleared, and the numbers that stand in front of steps are others from then on (`sp_steps_age`):
 * who looked meanwhile finds nothing. Thread- and signal-safe. A step for which there is no place
 * is left out; the site is then found by the rules of its frames (unwind.h).
 */
#ifndef SP_STACK_HASH_H
#define SP_STACK_HASH_H

#include "../sets/sets.h"

struct sp_step {
	uint64_t key;			/* SP_STEP_KEY; what is below 65536 is none; 0: free */
	int32_t at, base;		/* struct sp_word's; or the site's number, and
					 * SP_STEP_SITE */
};

#define SP_STEP_SITE	(INT32_MIN + 2)
#define SP_STEPS	8192u		/* a power of 2 */
#define SP_STEP_TRIES	16u
#define SP_STEP_FIRST	(SP_FRAMES_MAX + 1)	/* numbers below are in front of a first step: how
						 * many frames are kept */
#define SP_STEP_AGES	4u		/* that numbers tell apart */
_Static_assert(SP_STEP_FIRST + SP_STEP_AGES * SP_STEPS <= 1 << 16, "a number has 16 bits");
#define SP_STEP_KEY(before, address) ((uint64_t)(address) << 16 | (before))
#define SP_STEP_DEAD_END \
	((uintptr_t)1)			/* in place of an address that no verified word of the stack
					 * holds */

extern struct sp_step *sp_steps SP_HIDDEN;	/* NULL: there are none */
extern uint32_t sp_steps_age SP_HIDDEN;	/* odd: they are being cleared */

/* The number of a step, for those behind it; age: from before it was found. */
static inline uint32_t sp_step_number(const struct sp_step *s, uint32_t age)
{
	return (uint32_t)(s - sp_steps) + SP_STEP_FIRST + age / 2 % SP_STEP_AGES * SP_STEPS;
}

/* Is what was found since then of one table? */
static inline bool sp_steps_are_valid(uint32_t age)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return age % 2 == 0 && load_relaxed(&sp_steps_age) == age;
}

static inline struct sp_step *sp_step_at(uint64_t key, uint32_t tries)
{
	return &sp_steps[((uint32_t)(key * 0x9e3779b97f4a7c15ull >> 51) + tries) % SP_STEPS];
}

/* NULL: there is no such step. */
const struct sp_step *sp_step_find(uint64_t key);

/* The table, in memory; in a child of fork it is empty. False: there is no memory. */
bool sp_steps_prepare(void);
void sp_steps_reset_child(void);

/* Adds a step, if it is not there. NULL: there is no place, or it leads elsewhere. */
const struct sp_step *sp_step_add(uint64_t key, int32_t at, int32_t base);

/* Removes all. Their places are free again only when they are cleared, with the lock of
 * callsites.c. */
void sp_steps_remove(void);
void sp_steps_clear(void);

#endif
