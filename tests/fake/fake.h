/* fake.h: how a test tells the scripted libpapi what happens.
 *
 * All functions are exported by the fake beside PAPI's own.  A program that
 * must also run on the real libpapi declares them weak (#define FAKE_WEAK
 * before the include) and asks `if (fake_version)`.  None of them calls PAPI.
 * README.md has the verbs of FAKE_PAPI_SCRIPT, which do the same for programs
 * that nobody compiled for it.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

#ifdef FAKE_WEAK
#define FAKE_API __attribute__((weak, visibility("default")))
#else
#define FAKE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* PAPI's version of this build: 0x0700 is 7.0.  For PAPI_library_init: << 16. */
FAKE_API int fake_version(void);

/* ---- counts ------------------------------------------------------------
 *
 * A set counts what happens in the thread that opened it (the last to add an event, or to start it
 * after another set was touched) or that it is attached to; a set attached to a CPU also wants that
 * thread to be on that CPU, one of granularity SYS counts any thread.  Signal-safe, no lock.
 */

/* `n` of the event happen, here and now, in the calling thread: every running
 * set that holds the event and counts this thread adds n.  Returns the number
 * of sets that did, -1 if there is no such event. */
FAKE_API int fake_count(const char *event, long long n);
FAKE_API int fake_count_code(int code, long long n);	/* the same, faster */

/* The same of a floating-point event (data_type), of which fake_count, too, adds doubles. */
FAKE_API int fake_count_fp64(const char *event, double n);

/* The same for one set, whatever thread it counts, running or not stopped. */
FAKE_API int fake_count_set(int event_set, const char *event, long long n);

/* What PAPI hands out next for the first n events of the set: its counters if
 * it runs, its saved values if it is stopped.  Any values: negative, smaller
 * than before, the bits of a double (fake_fp64).  0, or -1 (no such set). */
FAKE_API int fake_set_values(int event_set, const long long *values, int n);

static inline long long fake_fp64(double x)
{
	long long bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* ---- what exists ------------------------------------------------------- */

struct fake_component {		/* all 0: as perf_event */
	const char *name;
	const char *short_name;		/* NULL: as name */
	int granularity;		/* PAPI_GRN_*; 0: THR */
	int granularities;		/* 0: granularity | SYS */
	bool keeps_on_start;		/* PAPI_start does not zero (io) */
	bool keeps_on_reset;		/* PAPI_reset does not (rapl) */
	bool writes;			/* PAPI_write of a running set works */
	bool no_attach, no_cpu, no_inherit, no_kernel_multiplex, fast_read;
	int disabled;			/* a PAPI error code */
	const char *pmus[8];		/* pmu_names */
};

/* Returns the component's index.  One that exists is changed. */
FAKE_API int fake_component(const struct fake_component *c);

struct fake_event {		/* all 0: a native INT64 running sum of perf_event */
	const char *component;		/* made by name if new, as events.c has it */
	const char *units, *descr;
	const char *derived, *postfix;	/* "DERIVED_PS" raises SIGFPE where PAPI does */
	const char *natives;		/* names, separated by commas */
	int data_type, value_type, timescope, update_type, update_freq, location;
	int code;			/* 0: PAPI_* the preset's code; natives at the first
					 * look-up */
};

/* Makes or changes an event.  0, or -1 if there is no room.  EV_A..EV_H and
 * PAPI_TOT_INS, TOT_CYC, FP_OPS, FP_INS, SP_OPS, REF_CYC, L1_DCM exist. */
FAKE_API int fake_event(const char *name, const struct fake_event *e);

/* ---- failures ---------------------------------------------------------- */

/* Function `name` lets `after` calls pass and then returns `code` `times`
 * times (-1: for ever) without doing anything; also when libpapi itself calls
 * it.  Functions that return no code ignore it.  0, or -1 (no such name). */
FAKE_API int fake_fail(const char *name, int code, int after, int times);
FAKE_API void fake_fail_clear(void);

/* ---- what a set is ----------------------------------------------------- */

struct fake_set {
	int state;			/* PAPI_state's bits */
	int opens;			/* how often its counters were opened */
	long long live;			/* what its first event has counted since the last
					 * zeroing */
};
/* 0 or -1; safe at any time */
FAKE_API int fake_set_info(int event_set, struct fake_set *out);
/* One line of FAKE_PAPI_SCRIPT (README.md).  0, or -1: it says what was wrong on stderr. */
FAKE_API int fake_do(const char *line);

#ifdef __cplusplus
}
#endif
#endif
