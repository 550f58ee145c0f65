/* percpu-lifetime.h: owns clocks and struct sp_percpu: a thread its clock, a clock the sets that
 * use it, a scan the set that it reads.
 *
 * Other threads free the clocks of ended threads and drop other threads' sets at any time, except
 * those that are taken.
 */
#ifndef SP_PERCPU_LIFETIME_H
#define SP_PERCPU_LIFETIME_H

#include "../../core/base/base.h"

struct sp_clock;
struct sp_percpu;

/* In taken_by: the set is not needed any more, and the thread that has taken it frees it. */
#define SP_DROPPED	0x80000000u

/* Takes the set. False: another function has it, perhaps one that the current handler interrupted.
 * If a handler has jumped out of that function, the set is free. frame: the caller's. */
bool sp_percpu_take(struct sp_percpu *p, uintptr_t frame);
#define sp_percpu_take_here(p) sp_percpu_take((p), (uintptr_t)__builtin_frame_address(0))

/* Gives the set back, which may free it. */
void sp_percpu_give(struct sp_percpu *p);

/* Drops a set that is not needed any more; NULL is ignored. Its memory remains a struct sp_percpu
 * without a clock, since a call that a handler has interrupted may still read it. */
void sp_percpu_drop(struct sp_percpu **p);

/* Allocates a zeroed struct sp_percpu of this size. NULL: no memory. */
void *sp_lifetime_alloc(uint64_t bytes);

/* Returns the calling thread's clock for sets with `fds_per_cpu` perf fds per CPU. Makes one if
 * missing or stale (with its CPUs). NULL: *error is the reason. */
struct sp_clock *sp_lifetime_own_clock(uint32_t fds_per_cpu, int *error);

/* Makes a clock for another thread, or for one with its children. The caller owns it. */
struct sp_clock *sp_lifetime_other_clock(int tid, bool inherits, uint32_t fds_per_cpu, int *error);
void sp_lifetime_drop_clock(struct sp_clock *c);

/* How many CPUs such a clock would watch. */
uint32_t sp_lifetime_count_cpus(int tid, uint32_t fds_per_cpu);

/* Returns the method that `auto` has the budget for, for a set: SP_BY_EXACT (perhaps on the nearest
 * CPUs only), SP_BY_RESIDENCY or SP_BY_READING. *limit: why no better. */
enum sp_attribution sp_lifetime_affordable(int tid, bool own, uint32_t fds_per_cpu,
					   enum sp_why *limit);

/* Adds a set to those that use the clock; and counts them. */
void sp_lifetime_add_percpu(struct sp_clock *c, struct sp_percpu *p);
uint32_t sp_lifetime_count_percpu(struct sp_clock *c);

/* Notes that p's hardware counters are on (NULL: none are). Returns the previous such set, taken;
 * or NULL. */
struct sp_percpu *sp_lifetime_set_counting(struct sp_clock *c, struct sp_percpu *p);

/* Closes the shadow counters of one group (enum sp_group; -1: all). */
void sp_lifetime_close(struct sp_percpu *p, int group);

/* Closes the shadow counters of the thread's set that was started longest ago, except *but. False:
 * no such set. */
bool sp_lifetime_close_oldest(struct sp_clock *c, const struct sp_percpu *but);

void sp_lifetime_child(void);		/* in a child of fork: forgets all clocks and sets */

#endif
