/* unwind.h: call paths, by libunwind (preload/walker).
 *
 * A path is walked when it is first met. What the walk finds out about each return address is kept
 * as a rule (rule.h), by which the path is found again by some loads and comparisons, in a signal
 * handler, too. A walk reads unwind tables that are in memory: of objects that were met on the
 * stack of an earlier start, or in a call site of an earlier run. A frame of another object ends a
 * path.
 *
 * All reads of the stack are between the stack pointer and the verified end of the stack in use: of
 * its pages the kernel was asked whether they can be read, one after the other, from that of the
 * stack pointer on.
 */
#ifndef SP_UNWIND_H
#define SP_UNWIND_H

#include "../papi/elf.h"
#include "../sets/sets.h"
#include "../walker/rule.h"

#define SP_NO_RULE	UINT16_MAX
#define SP_DEAD_END (UINT16_MAX - 1)

/* The rules of its frames. Behind them, where the path ends before it has as many frames as are
 * kept: the rule of the frame of a runtime library, or SP_DEAD_END: the last frame's return
 * address is none, or not on this stack. Then SP_NO_RULE. First SP_NO_RULE: the path is not found
 * again. */
struct sp_path {
	uint16_t rule[SP_FRAMES_MAX];
};

/* Loads libsspapi-unwind.so, once in a process, and makes it ready in each child of fork; before
 * anything counts. False: paths have one frame; a note says why. */
bool sp_unwind_load(void);

/* Memory for rules, touched; once, and in each child of fork. False: there is none.
 * short_of_runtime: paths end below a frame of a library that starts threads and programs (libc,
 * OpenMP's). */
bool sp_unwind_prepare(bool stops_at_runtime);

/* The tables of this object may be read from now on; while nothing counts. */
void sp_unwind_object(const struct sp_object *o);

/* The path of a call from `from` that returns to `caller` (from->to; or the program's call inside
 * which libpapi calls itself): up to `most` return addresses, innermost first, without ours and
 * libpapi's. Just the caller where the path cannot be had; the dump then has a note. learn: nothing
 * counts, so that objects that are not known can be looked for. errno kept. */
uint32_t sp_unwind(uintptr_t *frame, uint32_t most, const struct sp_stack *from, uintptr_t caller,
		   struct sp_path *path, bool may_add_objects);

/* The path by known rules alone; else 0. */
uint32_t sp_unwind_by_rules(uintptr_t *frame, uint32_t most, const struct sp_stack *from,
			    struct sp_path *path);

/* The words of the stack that make out the path of these rules, of which there are so many at most.
 * The stack is that of the last question. False: they are in no constant place, or too many. */
bool sp_path_get_words(const uint16_t *rule, uint32_t most, struct sp_known_site *known);

/* The site of a call from there, by steps (stack-hash.h), where paths have so many frames; 0: it is
 * not known. */
uint32_t sp_path_find_site(const struct sp_stack *from, uint32_t frames);

/* Adds the steps to a site, whose path is that of these rules. */
void sp_path_add_steps(const uint16_t *rule, uint32_t most, const struct sp_stack *from,
		       uint32_t frames, uint32_t site);

/* Where the function begins that the call lies in, if the rule is known; else 0. */
uintptr_t sp_unwind_function(uintptr_t to);

/* Notes of paths that could not be had; at leisure. */
bool sp_unwind_has_notes(void);
void sp_unwind_report_notes(void);

void sp_unwind_forget_unloaded(void);	/* objects were unloaded */
void sp_unwind_reset_child(void);	/* in a child of fork */

#endif
