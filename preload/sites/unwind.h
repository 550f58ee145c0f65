/* unwind.h: call paths.
 *
 * Each return address has a rule (cfi.h), which is learnt when that address is first met, at any time: from unwind tables
 * that are in memory, since the object was met on the stack of an earlier start, or in a call site of an earlier run.  What
 * lies in an object that was not ends a path.  From then on a frame more is some loads and a comparison, in a signal handler,
 * too.
 */
#ifndef SP_UNWIND_H
#define SP_UNWIND_H

#include "../papi/elf.h"
#include "../sets/sets.h"
#include "cfi.h"

#define SP_PATH_MOST	4u		/* frames of a path that is found again by its rules */
#define SP_NO_RULE	UINT16_MAX

/* The rules of its frames, SP_NO_RULE behind them; none: it was not made of rules that are kept. */
struct sp_path {
	uint16_t rule[SP_PATH_MOST];
};

struct sp_rule_of {
	uintptr_t to;			/* the return address; what is no address: free, or not to be used */
	struct sp_rule is;
};
extern struct sp_rule_of *sp_rules SP_HIDDEN;

/* Memory for rules, touched; once, and in each child of fork.  False: there is none.  short_of_runtime: paths end below a frame
 * of a library that starts threads and programs (libc, OpenMP's). */
bool sp_unwind_prepare(bool short_of_runtime);

/* The tables of this object may be read from now on; while nothing counts. */
void sp_unwind_object(const struct sp_object *o);

/* Those of all objects on this stack, the innermost frames. */
void sp_unwind_learn(uint32_t frames);

/* The path to a call that returns to `caller`: up to `most` return addresses, innermost first, without ours and libpapi's.
 * Just the caller where it cannot be had.  errno kept. */
uint32_t sp_unwind(uintptr_t *frame, uint32_t most, uintptr_t caller, struct sp_path *path);

/* The words of the stack that make out this path, from the caller's stack pointer on; fp_at: where its frame pointer stands.
 * False: they are in no constant place. */
bool sp_path_words(const struct sp_path *p, int32_t fp_at, struct sp_below *below);

/* The path by known rules alone, of a call with these registers after it; else 0. */
uint32_t sp_unwind_known(uintptr_t *frame, uint32_t most, const struct sp_stack *from, struct sp_path *path);

/* Where the function begins that the call lies in, if the rule is known; else 0. */
uintptr_t sp_unwind_function(uintptr_t to);

/* Objects were unloaded. */
void sp_unwind_unloaded(void);

void sp_unwind_child(void);		/* in a child of fork */

/* Is this the path of a call that returns to `to`?  The registers are those after that. */
__attribute__((no_sanitize_address)) static inline bool sp_path_is(const struct sp_path *p, uintptr_t to, uintptr_t sp, uintptr_t fp)
{
	struct sp_stack at = { .sp = sp, .fp = fp };
	unsigned i = sp_get(&p->rule[0]), next;

	if (i == SP_NO_RULE || sp_get(&sp_rules[i].to) != to)
		return false;
	for (unsigned n = 1; n < SP_PATH_MOST && (next = sp_get(&p->rule[n])) != SP_NO_RULE; n++, i = next)
		if (!sp_rule_step(&at, &sp_rules[i].is) || at.to != sp_get(&sp_rules[next].to))
			return false;
	return true;
}

#endif
