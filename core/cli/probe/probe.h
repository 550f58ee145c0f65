/* probe.h: what the command asks of PAPI, of hwloc and of the loader, for `sspapi stat` and `sspapi
 * run`.
 *
 * The part of the command that knows them, each asked in a child: libpapi may be of any version,
 * and crash.
 *
 *	papi-events.c	PAPI's names of events: what each is, and what libpapi asks the kernel for
 *	machine-events.c	what PAPI counts of packages and the machine while the program runs
 *	topology.c	the machine, as hwloc reads it
 *	list.c		what PAPI can count (list.h)
 *	kernel-events.c	the events that the kernel has names for
 *	subprocess.c		in a child
 *	glibc-name.c	a name for LD_PRELOAD
 *	libpapi.c	libpapi, loaded (libpapi.h, which needs papi.h)
 */
#pragma once

#include <limits.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/types.h>

#include "../../store/blocks.h"

#define SP_STAT_EVENTS	64u
#define SP_STAT_NATIVES	128u
#define SP_STAT_TERMS	12u		/* natives of one event */
#define SP_STAT_NAME	1024u

/* What the kernel counts. */
struct sp_stat_native {
	struct perf_event_attr attr;
	char name[SP_STAT_NAME];
	uint32_t code;			/* PAPI's */
	bool as_named;			/* the name says what is excluded (:u, :k): it stays so */
};

/* What is shown: a native, or a preset of several. */
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
	bool is_machine_wide;			/* no program's: of a package or the machine (scope,
						 * place as in struct sp_event) */
	uint8_t data_type, scope, place;
	int place_id;
	const char *why_not;		/* why it is not counted; NULL: it is */
};

/* In memory that is shared with the child that asks PAPI. */
struct sp_stat_plan {
	uint32_t n_events, n_natives, n_rounds;
	struct sp_stat_event event[SP_STAT_EVENTS];
	struct sp_stat_native native[SP_STAT_NATIVES];
	char papi[PATH_MAX];		/* the libpapi that was asked; "" */
	uint32_t papi_version;
	char wrong[2 * SP_STAT_NAME];	/* why an event cannot be counted, in a line */
	char left_out[300];		/* of the usual ones, and why, in a line; "" */
};

/* Of the natives' values; a whole number, as PAPI gives them. */
static inline int64_t sp_stat_value(const struct sp_stat_event *e, const int64_t *native)
{
	long double sum = 0;

	for (uint32_t t = 0; t < e->n; t++)
		sum += (long double)e->factor[t] * (long double)native[e->native[t]];
	return (int64_t)sum;
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

/* One of the kernel's events, if the text is a name of one: in the plan, or p->wrong says why not
 * (*good false). */
bool sp_stat_plan_kernels(struct sp_stat_plan *p, const char *text, bool *good);

/* Names as they were asked for, or endings that only one has, of the libpapi p->papi; unasked: one
 * that cannot be had is left out.  False: p->wrong says why. */
bool sp_stat_query_papi(struct sp_stat_plan *p, char *const *name, unsigned n, bool by_default);

/* A child in which PAPI counts the plan's events of packages and the machine, and what it said
 * last. */
struct sp_machine_events {
	pid_t pid;			/* 0: there are none */
	int request;
	struct sp_stat_answer {
		char wrong[200];	/* why they are not counted; "": they are */
		int64_t value[SP_STAT_EVENTS];	/* by their place in the plan */
	} answer;
};
void sp_machine_events_begin(struct sp_machine_events *b, const struct sp_stat_plan *p);
/* 's': count; 'e': stop; back when that is done */
void sp_machine_events_ask(struct sp_machine_events *b, char what);
void sp_machine_events_end(struct sp_machine_events *b);

/* A child that reads the machine, and what it read: once it has ended.  No components: a flat list
 * of CPUs. */
struct sp_stat_topo {
	int fd;				/* of memory that it writes; -1 */
	pid_t pid;
	struct sp_tree tree;
	const char *source;
	void *memory;
	uint64_t bytes;
};
/* libsspapi-topo.so's path */
void sp_stat_topo_begin(struct sp_stat_topo *t, const char *library);
void sp_stat_topo_end(struct sp_stat_topo *t);

/* A library's path for LD_PRELOAD, where the loader of no other C library finds it (and ends the
 * program over it); path itself where there is no such name.  Until the next call. */
const char *sp_glibc_name(const char *path);
