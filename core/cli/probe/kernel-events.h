/* kernel-events.h: events that the kernel names itself, by libpfm4's and perf's names. They are
 * the same on all machines, even if libpfm4 does not support the CPU and PAPI has none of them. */
#pragma once

#include <linux/perf_event.h>

#include "../../base/base.h"

struct sp_kernel_event {
	const char *name;		/* libpfm4's name, without perf:: */
	const char *also;		/* another name in libpfm4; NULL */
	const char *perf, *perf_also;	/* names in perf; NULL */
	const char *units, *description;
	uint32_t type;			/* PERF_TYPE_SOFTWARE, _HARDWARE, _HW_CACHE */
	uint64_t config;
};

/* Events of the PAPI component io, which are lines of /proc/PID/io. */
#define SP_IO_EVENTS 7u
struct sp_io_event {
	const char *name, *units, *description;	/* name: without io::: */
};
extern const struct sp_io_event sp_io_events[SP_IO_EVENTS];

/* Returns event i, from 0; NULL after the last. */
const struct sp_kernel_event *sp_kernel_event(unsigned i);

/* Finds an event by libpfm4's name (with perf::) or perf's, in any case. A suffix (:u, :k, :uk)
 * sets exclude_user and exclude_kernel in a, which becomes the event's. NULL: no such event.
 * name: for the store, with the suffix; at most `room` bytes. */
const struct sp_kernel_event *sp_kernel_event_named(const char *text, struct perf_event_attr *a,
						    char *name, size_t room);

/* Is this libpfm4's name of one of these events, its own or the kernel's (perf::PERF_COUNT_...)? */
bool sp_kernel_event_is_by_libpfm4(const char *name);

/* Considers the names of all events as suggestions for `wanted`. */
struct sp_suggestions;
void sp_kernel_events_suggest(struct sp_suggestions *n, const char *wanted);

/* Does it occur only in the kernel? Counted without the kernel it is 0, which is not a count. */
bool sp_kernel_event_is_kernel_only(uint32_t type, uint64_t config);

/* Can this user count it here in its own threads, without the kernel or (all) with it? 0 or
 * -errno. */
int sp_kernel_event_try_open(const struct sp_kernel_event *e, bool all);

/* Can this user count any CPU event? 0 or -errno. */
int sp_kernel_try_counters(void);

/* Explains why an event of this PERF_TYPE_ failed with -errno; NULL: not due to the machine. */
const char *sp_kernel_event_why(uint32_t type, int error);
