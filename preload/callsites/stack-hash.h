/* stack-hash.h: finds the call site of a stack in a hash of return addresses.
 *
 * A step is a return address together with the steps before it or, for the first one, the PAPI
 * function. It contains the place of the next return address on the stack or, for the last one, the
 * number of the call site. So a site takes one lookup for each of its frames, however many sites
 * there are.
 *
 * The process has one table, without locks: a step is written once. When code is unloaded or paths
 * are cut, all steps are cleared and the numbers in keys change (`sp_steps_age`): lookups of
 * that moment find nothing. Thread- and signal-safe. A step without a place in the table is left
 * out; its site is then found by rules (unwind.h).
 */
#ifndef SP_STACK_HASH_H
#define SP_STACK_HASH_H

#include "../sets/sets.h"

struct sp_step {
	uint64_t key;			/* SP_STEP_KEY; < 65536: invalid; 0: free */
	/* as in sp_stack_word; or the site's number and SP_STEP_SITE */
	int32_t at, base;
};

#define SP_STEP_SITE	(INT32_MIN + 2)
#define SP_STEPS	8192u		/* a power of 2 */
#define SP_STEP_TRIES	16u
#define SP_STEP_FIRST	16u		/* smaller numbers precede first steps: enum sp_op */
#define SP_STEP_AGES	4u		/* ages that numbers distinguish */
_Static_assert(SP_STEP_FIRST + SP_STEP_AGES * SP_STEPS <= 1 << 16, "a number has 16 bits");
#define SP_STEP_KEY(before, address) ((uint64_t)(address) << 16 | (before))
/* in place of an address that is in no verified word of the stack */
#define SP_STEP_DEAD_END	((uintptr_t)1)

extern struct sp_step *sp_steps SP_HIDDEN;	/* NULL: no memory */
extern uint32_t sp_steps_age SP_HIDDEN;	/* odd: being cleared */

/* The number of a step in the keys of the next ones. age: sp_steps_age before it was found. */
static inline uint32_t sp_step_number(const struct sp_step *s, uint32_t age)
{
	return (uint32_t)(s - sp_steps) + SP_STEP_FIRST + age / 2 % SP_STEP_AGES * SP_STEPS;
}

/* Checks that all steps found since then belong to the same table. */
static inline bool sp_steps_are_valid(uint32_t age)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return age % 2 == 0 && load_relaxed(&sp_steps_age) == age;
}

static inline struct sp_step *sp_step_at(uint64_t key, uint32_t tries)
{
	return &sp_steps[((uint32_t)(key * 0x9e3779b97f4a7c15ull >> 51) + tries) % SP_STEPS];
}

/* NULL: no such step. */
const struct sp_step *sp_step_find(uint64_t key);

/* Maps the table; empties it in a child of fork. False: no memory. */
bool sp_steps_prepare(void);
void sp_steps_reset_child(void);

/* Adds a step unless it exists. NULL: no place, or it leads elsewhere. */
const struct sp_step *sp_step_add(uint64_t key, int32_t at, int32_t base);

/* Removes all steps. sp_steps_clear(), which requires the lock of callsites.c, frees their
 * places. */
void sp_steps_remove(void);
void sp_steps_clear(void);

#endif
