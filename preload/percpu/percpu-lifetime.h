/* percpu-lifetime.h: who has what: a thread its clock, a clock the splits that go by it, a scan the
 * split that it reads.
 *
 * Other threads clear away what a thread held that has ended, and drop sets of others, at any time:
 * but not what is taken.
 */
#ifndef SP_PERCPU_LIFETIME_H
#define SP_PERCPU_LIFETIME_H

#include "../../core/base/base.h"

struct sp_clock;
struct sp_percpu;

/* Whoever has it taken is the one who frees it: the set does not need it any more. */
#define SP_DROPPED	0x80000000u

/* False: somebody has it, perhaps this very thread, under the handler that we run in.  What a
 * handler jumped out of has it no more.  `frame`: the caller's. */
bool sp_percpu_take(struct sp_percpu *p, uintptr_t frame);
#define sp_percpu_take_here(p) sp_percpu_take((p), (uintptr_t)__builtin_frame_address(0))

/* From here on it may be gone. */
void sp_percpu_give(struct sp_percpu *p);

/* They are not needed any more; NULL is none.  Their memory stays a split's, of no clock: a call on
 * which a handler stands that drops them still looks there. */
void sp_percpu_drop(struct sp_percpu **p);

/* For a split; NULL: there is none. */
void *sp_lifetime_alloc(uint64_t bytes);

/* The calling thread's clock for sets that take so many descriptors a CPU, made if need be (anew,
 * with the CPUs that it had, where it is stale); NULL: *error is why. */
struct sp_clock *sp_lifetime_own_clock(uint32_t each, int *error);

/* Another thread's, or with its children: the caller's. */
struct sp_clock *sp_lifetime_other_clock(int tid, bool inherits, uint32_t each, int *error);
void sp_lifetime_drop_clock(struct sp_clock *c);

/* How many CPUs these will have. */
uint32_t sp_lifetime_count_cpus(int tid, uint32_t each);

/* What auto can pay for a set that takes so many descriptors a CPU: SP_BY_EXACT, perhaps on the
 * nearest CPUs alone, or SP_BY_RESIDENCY, or SP_BY_READING. *limit: why no more. */
enum sp_attribution sp_lifetime_affordable(int tid, bool own, uint32_t each, enum sp_why *limit);

/* The split goes by this clock from now on; how many do. */
void sp_lifetime_add_percpu(struct sp_clock *c, struct sp_percpu *p);
uint32_t sp_lifetime_count_percpu(struct sp_clock *c);

/* The hardware counters of p are on from now on (NULL: nobody's); the one whose were, taken, or
 * NULL. */
struct sp_percpu *sp_lifetime_set_counting(struct sp_clock *c, struct sp_percpu *p);

/* Closes the counters of one group (enum sp_group; -1: of all). */
void sp_lifetime_close(struct sp_percpu *p, int group);

/* The set of this thread that was started longest ago, but not this one.  False: there is none. */
bool sp_lifetime_close_oldest(struct sp_clock *c, const struct sp_percpu *but);

void sp_lifetime_child(void);		/* in a child of fork: there are none */

#endif
