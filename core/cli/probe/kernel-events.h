/* kernel-events.h: the events that the kernel has a name of its own for, by libpfm4's names and by
 * perf's.
 *
 * They are the same on every machine, also on one whose CPU libpfm4 does not know, where PAPI has
 * none of them.
 */
#pragma once

#include <linux/perf_event.h>

#include "../../base/base.h"

struct sp_kernel_event {
	const char *name;		/* as libpfm4 has it, without perf:: before it */
	const char *also;		/* another one of libpfm4's; NULL */
	const char *perf, *perf_also;	/* perf's; NULL */
	const char *units, *description;
	uint32_t type;			/* PERF_TYPE_SOFTWARE, _HARDWARE, _HW_CACHE */
	uint64_t config;
};

/* Number i, from 0 on; NULL behind the last. */
const struct sp_kernel_event *sp_kernel_event(unsigned i);

/* The event of a name of libpfm4's (with perf:: before it) or perf's, in any case, and which part
 * of the system the name leaves out (:u, :k, :uk behind it): exclude_user and exclude_kernel of a,
 * which is the event's.  NULL: it is none of them.  name: as the store has it, with what is behind
 * it: at most `room` bytes. */
const struct sp_kernel_event *sp_kernel_event_named(const char *text, struct perf_event_attr *a,
						    char *name, size_t room);

/* Is that libpfm4's name for one of them, its own or the kernel's (perf::PERF_COUNT_...)? */
bool sp_kernel_event_is_by_libpfm4(const char *name);

/* Looks at all of their names for one that is nearly `wanted`, or ends so. */
struct sp_suggestions;
void sp_kernel_events_suggest(struct sp_suggestions *n, const char *wanted);

/* Does it happen in the kernel only?  Counted without that part it is 0, which is no count. */
bool sp_kernel_event_is_inside(uint32_t type, uint64_t config);

/* Can this user count it here, of himself: without the kernel's part, or (all) with it?  0 or
 * -errno. */
int sp_kernel_event_opens(const struct sp_kernel_event *e, bool all);

/* The same of any of the CPU's own. */
int sp_kernel_counters(void);

/* Why not, for a person, of an event's PERF_TYPE_ and a -errno; NULL: it is no matter of the
 * machine. */
const char *sp_kernel_event_why(uint32_t type, int error);
