/* unwind.h: finds the call path of a PAPI call by libunwind (preload/walker).
 *
 * A new path is walked once. The walk leaves a rule (rule.h) for each return address. By these, a
 * few loads and comparisons find the path again, also in a signal handler. A walk reads only unwind
 * tables that are in memory: of objects on the stack of an earlier start, or in call sites of an
 * earlier run. A frame of any other object ends the path.
 *
 * The stack is read only between the stack pointer and its verified end. The kernel is queried
 * whether its pages can be read, one after the other, from the page of the stack pointer upwards.
 */
#ifndef SP_UNWIND_H
#define SP_UNWIND_H

#include "../papi/elf.h"
#include "../sets/sets.h"
#include "../walker/rule.h"

#define SP_NO_RULE	UINT16_MAX
#define SP_DEAD_END (UINT16_MAX - 1)

/* The rules of a path's frames, followed by SP_NO_RULE. If the path ends early, another rule
 * comes before that: the one of a runtime library's frame, or SP_DEAD_END if the last frame's
 * return address is invalid or not on this stack. If the first rule is SP_NO_RULE, the path
 * cannot be found again. */
struct sp_path {
	uint16_t rule[SP_FRAMES_MAX];
};

/* Loads libsspapi-unwind.so once in the process, and prepares it in each child of fork, before
 * anything counts. False: paths have one frame; a note gives the reason. */
bool sp_unwind_load(void);

/* Prepares memory for rules, once and in each child of fork. False: no memory. stops_at_runtime:
 * paths end below a frame of a library that starts threads and programs (libc, OpenMP runtimes). */
bool sp_unwind_prepare(bool stops_at_runtime);

/* Lets walks read the tables of this object from now on. Called while nothing counts. */
void sp_unwind_object(const struct sp_object *o);

/* Walks the path of a call from `from` that returns to `caller`: from->to, or the program's call
 * inside which libpapi calls itself. Returns up to `most` return addresses, innermost first,
 * without frames of sspapi and libpapi. If the walk is impossible, returns only the caller and
 * adds a note to the dump. may_add_objects: nothing counts, so that unknown objects can be
 * added. Keeps errno. */
uint32_t sp_unwind(uintptr_t *frame, uint32_t most, const struct sp_stack *from, uintptr_t caller,
		   struct sp_path *path, bool may_add_objects);

/* Finds the path by known rules alone; else returns 0. */
uint32_t sp_unwind_by_rules(uintptr_t *frame, uint32_t most, const struct sp_stack *from,
			    struct sp_path *path);

/* Computes the words of the stack that identify the path of these rules, `most` at most, on the
 * stack of the last query. False: their offsets are not constant, or there are too many. */
bool sp_path_get_words(const uint16_t *rule, uint32_t most, struct sp_known_site *known);

/* Finds the site of a call by steps (stack-hash.h); 0: unknown. */
uint32_t sp_path_find_site(const struct sp_stack *from, enum sp_op op);

/* Adds the steps to a site whose path has these rules. */
void sp_path_add_steps(const uint16_t *rule, uint32_t most, const struct sp_stack *from,
		       enum sp_op op, uint32_t site);

/* The start of the function to which a call returns, if the rule is known; else 0. */
uintptr_t sp_unwind_function(uintptr_t to);

/* Lets paths end with the frame of this function from now on. Called while no path is added;
 * other threads may walk. */
void sp_unwind_end_at(uintptr_t function);

/* Checks for a call that returns to such a function. */
bool sp_unwind_ends_at(uintptr_t to);

/* Reports why walks were impossible. Called while nothing counts. */
bool sp_unwind_has_notes(void);
void sp_unwind_report_notes(void);

void sp_unwind_forget_unloaded(void);	/* objects were unloaded */
void sp_unwind_reset_child(void);	/* in a child of fork */

#endif
