/* list.h: lists events that PAPI can count here, for `sspapi list`: a child queries PAPI and
 * reports line by line. */
#pragma once

#include "../../base/base.h"

enum sp_listed {
	SP_LISTED_HEAD = 'h',		/* the component of the events that follow */
	SP_LISTED_EVENT = 'e',
	SP_LISTED_PART = 'p',		/* a unit mask of the last event: EVENT:MASK */
	SP_LISTED_OFF = 'o',		/* a component or presets that cannot be counted, and why */
};

#define SP_LISTED_PRESETS "PAPI's presets"
#define SP_LISTED_CPUS "PAPI's component perf_event"	/* the head of the CPU's own events */

/* Calls report(arg, which, name, text) for each event; text: its description, or why it cannot
 * be counted. papi: libpapi's path or "". word: only events whose name or text contains it, in
 * any case, with their masks; NULL: all events, without masks. Returns NULL, or until the next
 * call why PAPI could not be queried. */
typedef void (*sp_list_report)(void *arg, enum sp_listed which, const char *name, const char *text);
const char *sp_list_papi(const char *papi, const char *word, sp_list_report report, void *arg);
