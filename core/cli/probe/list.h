/* list.h: what PAPI can count here, for `sspapi list`: asked in a child, told a line at a time. */
#pragma once

#include "../../base/base.h"

enum sp_listed {
	SP_LISTED_HEAD = 'h',		/* what follows is of this component */
	SP_LISTED_EVENT = 'e',
	SP_LISTED_PART = 'p',		/* a unit mask of the event before: EVENT:MASK */
	SP_LISTED_OFF = 'o',		/* cannot be counted: a component, or presets; and why */
};

#define SP_LISTED_PRESETS "PAPI's presets"
#define SP_LISTED_CPUS "PAPI's component perf_event"	/* the head of the CPU's own events */

/* papi: the libpapi that is asked, "" if there is none.  tell(arg, which, name, text) for each;
 * text: what the event counts, or why not.  word: only events in whose name or text that stands, in
 * any case, and these with their masks; NULL: all events, without masks.  NULL, or why PAPI could
 * not be asked, until the next call. */
typedef void (*sp_list_report)(void *arg, enum sp_listed which, const char *name, const char *text);
const char *sp_list_papi(const char *papi, const char *word, sp_list_report report, void *arg);
