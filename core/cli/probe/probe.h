/* probe.h: queries PAPI, hwloc and the loader for `sspapi stat` and `sspapi run`.
 *
 * The libraries are loaded in children only: libpapi may be of any version, and crash.
 *	papi-events.c	resolves PAPI's event names into perf events
 *	machine-events.c	counts events of packages, devices and the machine with PAPI
 *	topology.c	reads the machine with hwloc
 *	list.c		lists what PAPI can count (list.h)
 *	kernel-events.c	the kernel's own events
 *	subprocess.c	runs a function in a child
 *	glibc-name.c	a name for LD_PRELOAD
 *	libpapi.c	loads libpapi (libpapi.h, which needs papi.h)
 */
#pragma once

#include <limits.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/types.h>

#include "../../store/blocks.h"
#include "../../store/gauge.h"

#define SP_STAT_EVENTS	64u
#define SP_STAT_NATIVES	128u
#define SP_STAT_TERMS	12u		/* natives per event */
#define SP_STAT_NAME	1024u

/* An event as the kernel counts it. */
struct sp_stat_native {
	struct perf_event_attr attr;
	char name[SP_STAT_NAME];
	uint32_t code;			/* PAPI's code */
	bool as_named;			/* the name gives the modes (:u, :k), which then stay */
};

/* An event as it is shown: a native, or a preset of several. */
struct sp_stat_event {
	char name[SP_STAT_NAME], component[128], derived[64], postfix[SP_STAT_NAME], units[64],
		description[SP_STAT_NAME];
	uint32_t code, n;
	uint32_t native[SP_STAT_TERMS];
	double factor[SP_STAT_TERMS];	/* how often it has each */
	bool formula;			/* no sum of them: they are events themselves, and it is
					 * computed where they are shown */
	/* below the plan's n_rounds; otherwise the event is not counted */
	uint32_t round;
	/* has no counts per CPU: of a package, a device or the machine, counted by PAPI (scope,
	 * place as in struct sp_event); or io of the program */
	bool is_machine_wide;
	uint8_t io_line;		/* line of /proc/PID/io, from 1; 0: no io */
	bool keeps_on_start;			/* PAPI_start does not zero it */
	bool is_gauge;				/* only if is_machine_wide */
	uint8_t data_type, scope, place;
	int place_id;
	const char *why_not;		/* why it is not counted; NULL: it is */
};

/* Shared memory with the child that queries PAPI. */
struct sp_stat_plan {
	uint32_t n_events, n_natives, n_rounds;
	struct sp_stat_event event[SP_STAT_EVENTS];
	struct sp_stat_native native[SP_STAT_NATIVES];
	char papi[PATH_MAX];		/* path of libpapi; "" */
	uint32_t papi_version;
	char wrong[2 * SP_STAT_NAME];	/* why an event cannot be counted: one line */
	char left_out[300];		/* default events that are left out, and why: one line;
					 * "" */
};

/* Value of the event from those of its natives, as an integer, like PAPI's. */
static inline int64_t sp_stat_value(const struct sp_stat_event *e, const int64_t *native)
{
	long double sum = 0;

	for (uint32_t t = 0; t < e->n; t++)
		sum += (long double)e->factor[t] * (long double)native[e->native[t]];
	return (int64_t)sum;
}

static inline bool sp_stat_is_of_papi(const struct sp_stat_event *e)
{
	return e->is_machine_wide && !e->io_line;
}

/* Difference of two values of a machine-wide event, which may be doubles. */
static inline int64_t sp_stat_minus(const struct sp_stat_event *e, int64_t a, int64_t b)
{
	return e->data_type == SP_FP64 ? sp_float_bits(sp_float(a) - sp_float(b))
				       : (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline bool sp_stat_is_planned(const struct sp_stat_plan *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_events; i++)
		if (strcmp(p->event[i].name, name) == 0)
			return true;
	return false;
}

static inline bool sp_stat_is_in_round(const struct sp_stat_plan *p, uint32_t native,
				       uint32_t round)
{
	for (uint32_t e = 0; e < p->n_events; e++)
		for (uint32_t t = 0; p->event[e].round == round && t < p->event[e].n; t++)
			if (p->event[e].native[t] == native)
				return true;
	return false;
}

/* Adds a kernel event to the plan if the text names one; if it cannot be counted, *good is false
 * and p->wrong says why. */
bool sp_stat_plan_kernels(struct sp_stat_plan *p, const char *text, bool *good);

/* Resolves names, or unique endings, with the libpapi p->papi. by_default: leaves out events
 * that cannot be counted. False: p->wrong says why. */
bool sp_stat_query_papi(struct sp_stat_plan *p, char *const *name, unsigned n, bool by_default);

/* Child in which PAPI counts the plan's events of packages, devices and the machine, and its last
 * answer. It reads gauges every 100 ms, or less often so that this takes at most a twentieth of
 * its time. */
struct sp_machine_events {
	pid_t pid;			/* 0: no child */
	int request;
	const struct sp_stat_plan *plan;
	struct sp_stat_answer {
		char wrong[SP_STAT_EVENTS][160];	/* "not counted: " and why; "" */
		/* not counted; ended_early: a gauge that could be read for some time only */
		bool failed[SP_STAT_EVENTS], ended_early[SP_STAT_EVENTS];
		/* in the order of the plan; doubles as their bits; of gauges the last value */
		int64_t value[SP_STAT_EVENTS];
		struct sp_gauge gauge[SP_STAT_EVENTS];
	} answer;
};
void sp_machine_events_begin(struct sp_machine_events *b, const struct sp_stat_plan *p);
/* 's': start, 'r': read, 'e': stop; returns when that is done */
void sp_machine_events_request(struct sp_machine_events *b, char what);
void sp_machine_events_end(struct sp_machine_events *b);

/* Child that reads the machine, and its result once it has ended. No components: a flat list of
 * CPUs. */
struct sp_stat_topo {
	int fd;				/* of the memory that it writes; -1 */
	pid_t pid;
	struct sp_tree tree;
	const char *source;
	void *memory;
	uint64_t bytes;
};
/* path of libsspapi-topo.so */
void sp_stat_topo_begin(struct sp_stat_topo *t, const char *library);
void sp_stat_topo_end(struct sp_stat_topo *t);

/* Returns a name for LD_PRELOAD that loaders of other C libraries do not find (and so do not
 * fail on); else path. Valid until the next call. */
const char *sp_glibc_name(const char *path);
