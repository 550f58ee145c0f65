/* shadow-open.h: opens and closes a set's shadow counters, and switches them on and off. */
#ifndef SP_SHADOW_OPEN_H
#define SP_SHADOW_OPEN_H

#include "../../core/store/layout.h"
#include "percpu-fast.h"
#include "cpu-select.h"

/* The counts to attribute per CPU. */
struct sp_percpu_request {
	const struct sp_perf_fds *perf_fds;
	int tid;			/* the target */
	bool is_own;			/* the target is the calling thread */
	bool inherits, overflows, multiplexed;
	uint32_t k;
	const struct sp_terms *const *terms;	/* [k] */
};

/* Set up once per process, before anything counts; and in a child of fork. */
void sp_percpu_begin(void);
void sp_percpu_child(void);

/* Opens shadow counters for *want before PAPI starts the set, unless those of *p still fit. Returns
 * the method of attribution; *why: why it is less than SSPAPI_ATTRIBUTION requests. */
enum sp_attribution sp_percpu_prepare(struct sp_percpu **p, const struct sp_percpu_request *want,
				      enum sp_why *why);

/* Do they still fit PAPI's perf fds? The same events, reopened, do. The set's user calls this. */
bool sp_percpu_matches(struct sp_percpu *p, const struct sp_perf_fds *perf_fds);

/* The kernel's PMU, of one kind of cores, that counts this event, after PAPI has opened it. NULL:
 * any, or unknown. */
const char *sp_percpu_pmu(const struct sp_percpu_request *want, uint32_t event);

/* The domain of this event (target.h), after PAPI has opened it. 0: unknown. */
uint32_t sp_percpu_domain(const struct sp_percpu_request *want, uint32_t event);

/* The error margin per event of a window on several CPUs. */
void sp_percpu_error_margins(const struct sp_percpu *p, uint64_t *edge);
bool sp_percpu_counts_moves(const struct sp_percpu *p);

/* Under `auto`: reserves the time of the scan that ends the period, if available. That scan proves
 * the readings before it. */
void sp_shadow_reserve_scan(struct sp_percpu *p);

/* CPUs that the thread could run on when the shadow counters were opened, as "0-3,8". */
void sp_percpu_allowed(const struct sp_percpu *p, char *text, size_t n);

/* Watches `cpu`, to which the set's thread, the caller, has moved. If there is no room, it replaces
 * the CPU that the thread left longest ago. Reads nothing. False: impossible. The caller has taken
 * the set (percpu-lifetime.h). */
bool sp_shadow_follow(struct sp_percpu *p, const struct sp_perf_fds *perf_fds, int cpu);

/* Opens shadow counters on CPUs to which the set's thread, the caller, is about to move, as far as
 * there is room. The caller has taken the set. */
void sp_shadow_add_cpus(struct sp_percpu *p, const struct sp_perf_fds *perf_fds,
			const struct sp_cpus *more);

/* Before PAPI starts the set: switches its hardware counters on and those of the thread's other
 * sets off, and closes those that never ran. The caller has taken the set. */
void sp_shadow_before_start(struct sp_percpu *p);

#endif
