/* why.c: texts for how counts are attributed, why they are not proven, and why some are missing. */
#include <errno.h>

#include "../base/cpu-list.h"
#include "../base/out.h"
#include "model.h"

const char *sp_attribution_name(uint32_t how)
{
	static const char *const names[] = {
		[SP_BY_READING] = "reading",
		[SP_BY_RESIDENCY] = "residency",
		[SP_BY_EXACT] = "exact",
		[SP_BY_AUTO] = "auto",
		[SP_BY_APPROXIMATE] = "approximate",
	};

	return names[how < SP_COUNT(names) ? how : SP_BY_READING];
}

const char *sp_why_text(enum sp_why why)
{
	static const char *const texts[SP_WHYS] = {
		[SP_WHY_NONE] = "",
		[SP_WHY_OFF] = "SSPAPI_DESCRIPTORS=0 forbids shadow counters",
		[SP_WHY_CREDIT] =
			("shadow counters would have cost over 1 % of CPU time (to use them "
			 "anyway, set SSPAPI_ATTRIBUTION=exact)"),
		[SP_WHY_BUDGET] =
			("sspapi may not open enough descriptors (raise SSPAPI_DESCRIPTORS or "
			 "ulimit -n)"),
		[SP_WHY_DESCRIPTORS] =
			"the process or the system has no descriptor left (raise ulimit -n)",
		[SP_WHY_MEMORY] = "no memory for shadow counters",
		[SP_WHY_REFUSED] =
			("the kernel refused shadow counters (see perf_event_paranoid in sspapi "
			 "doctor)"),
		[SP_WHY_UNSEEN] =
			("PAPI's counters were unknown when they began to count (clean up the "
			 "set and add its events again)"),
		[SP_WHY_MANY] = "the event set has too many events (use at most 24 native events)",
		[SP_WHY_FORMULA] =
			"an event is not a sum of native events (count its native events)",
		[SP_WHY_MULTIPLEXED] =
			("PAPI multiplexes the set, so its counts are estimates (count fewer "
			 "events per set)"),
		[SP_WHY_OVERFLOW] =
			("in an overflow handler PAPI's counters stop, but shadow counters go "
			 "on"),
		[SP_WHY_STARVED] =
			("the processor has too few counters for two of each event (count fewer "
			 "events at once)"),
		[SP_WHY_CLOSED] = "the application closed descriptors of sspapi",
		[SP_WHY_ENDED] = "the thread ended before its last reading",
		[SP_WHY_UNWATCHED] =
			("the thread ran on a CPU without shadow counters (pin it before its "
			 "first start)"),
		[SP_WHY_EDGE] = "time passed between sspapi's read and PAPI's read",
		[SP_WHY_RUNNING] = "the counted threads kept running during the reading",
		[SP_WHY_HANDLER] =
			("a signal handler or another thread called PAPI for the set during "
			 "another call"),
		[SP_WHY_INSIDE] =
			("the thread moved or was interrupted inside a PAPI call (read less "
			 "often)"),
		[SP_WHY_SHADOW] = "shadow counters counted events that PAPI's counter did not",
		[SP_WHY_CLOCK] =
			("a shadow clock differs from PAPI's by some 100 ns per move (count "
			 "perf::TASK-CLOCK instead)"),
		[SP_WHY_OPENER] =
			("PAPI's counters were opened by another thread than the one that "
			 "started the set"),
		[SP_WHY_SWITCHED_OFF] =
			("the program disabled the thread's counters "
			 "(PR_TASK_PERF_EVENTS_DISABLE)"),
		[SP_WHY_DISPLACED] =
			("the shadow counters were in use by another event set, which PAPI "
			 "refused to start"),
		[SP_WHY_FILTER] =
			("the program installed a seccomp filter, under which sspapi opens no "
			 "counters (start the sets before it)"),
		[SP_WHY_GUEST] =
			("rseq does not report the CPU of a child that shares its parent's "
			 "thread-local storage (use pthread_create or fork)"),
		[SP_WHY_COMPONENT] = "shadow counters exist only for PAPI's component perf_event",
		[SP_WHY_SHARED] =
			("PAPI's component counts for a process, package, device or host, not "
			 "per CPU"),
	};

	return texts[why < SP_WHYS ? why : SP_WHY_NONE];
}

static bool is_of_watching(enum sp_why why)
{
	return why == SP_WHY_UNWATCHED || why == SP_WHY_BUDGET || why == SP_WHY_DESCRIPTORS ||
	       why == SP_WHY_CREDIT;
}

void sp_unwatched_add(struct sp_unwatched *u, const struct sp_row *row)
{
	uint32_t cpu = row->times && is_of_watching(row->why) ? row->times->unwatched : 0;

	if (cpu)
		sp_cpu_put(u->cpu, sizeof(u->cpu), cpu - 1);
	u->more = u->more || cpu > SP_UNWATCHED_CPUS ||
		  (cpu && row->times->flags & SP_TIMES_UNWATCHED);
}

const char *sp_why_text_with_cpus(char text[SP_WHY_TEXT], enum sp_why why,
				  const struct sp_unwatched *u)
{
	struct sp_out o;
	char cpus[256];

	sp_memory_init(&o, cpus, sizeof(cpus));
	sp_out_cpu_list(&o, u->cpu, sizeof(u->cpu));
	sp_memory_text(&o);
	return !is_of_watching(why) || !*cpus
		       ? sp_why_text(why)
		       : sp_text_f(
				 text, SP_WHY_TEXT,
				 "%s; CPU %s%s also has the counts of CPUs without shadow counters",
				 sp_why_text(why), cpus, u->more ? " and others" : "");
}

/* Returns whether the file lacks data. A dump in the store format is complete even if the live file
 * was torn. */
bool sp_is_torn(const struct sp_model *m)
{
	return m->h.torn && !m->reader->region &&
	       (m->h.end == SP_END_NONE || m->h.end == SP_END_RECOVERED ||
		m->h.used != m->reader->bytes);
}

const char *sp_torn_text(uint64_t torn)
{
	switch (torn >> SP_TORN_SHIFT) {
	case ENOSPC:
		return "the live file's disk was full";
	case EDQUOT:
		return "the disk quota for the live file was exceeded";
	case EFBIG:
		return "the live file reached the file size limit (ulimit -f)";
	case ESTALE:
	case ENOENT:
		return "the live file was removed, replaced or truncated";
	case ENOMEM:
		return "no memory to map more of the live file";
	default:
		return "the live file could not grow";
	}
}

/* The number of killed processes of a merged store whose live file was torn. */
static uint64_t torn_members(const struct sp_model *m)
{
	uint64_t torn = 0;

	for (uint32_t i = 0; m->h.compact.members && i < m->n_processes; i++) {
		const struct sp_header *h = m->process[i].h;

		torn += h->torn && (h->end == SP_END_NONE || h->end == SP_END_RECOVERED);
	}
	return torn;
}

bool sp_missing_text(const struct sp_model *m, unsigned *i, char text[SP_MISSING_TEXT])
{
	const struct {
		uint64_t n;
		const char *noun, *rest;
	} missing[] = {
		{ m->h.dropped_readings, "reading",
		  " not recorded: their counts are missing" },
		{ m->h.dropped_relations, "event set", " missing: no memory" },
		{ sp_is_torn(m), NULL, ": later counts are missing" },
		{ torn_members(m), "process",
		  " killed, whose live file could not grow: later counts are missing" },
		{ m->tally.damaged, "block",
		  " of the store damaged: their counts are missing" },
		{ m->tally.refused, "permanent reading",
		  " counted but not stored: beyond SSPAPI_READINGS_MAX, out of memory, or "
		  "of ended threads that were combined" },
	};

	while (*i < SP_COUNT(missing) && !missing[*i].n)
		++*i;
	if (*i == SP_COUNT(missing))
		return false;
	if (missing[*i].noun)
		sp_text_f(text, SP_MISSING_TEXT, "%'lu %s%s%s", missing[*i].n, missing[*i].noun,
			  SP_MANY(missing[*i].n), missing[*i].rest);
	else
		sp_text_f(text, SP_MISSING_TEXT, "%s%s", sp_torn_text(m->h.torn), missing[*i].rest);
	++*i;
	return true;
}
