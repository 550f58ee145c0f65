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
		[SP_WHY_OFF] = "sspapi was told to open no counters (SSPAPI_DESCRIPTORS=0)",
		[SP_WHY_CREDIT] =
			("counters by CPU would have cost more than 1 % of the life of the process "
			 "(SSPAPI_ATTRIBUTION=exact takes them all the same)"),
		[SP_WHY_BUDGET] = "the descriptors that sspapi may hold do not suffice "
				  "(SSPAPI_DESCRIPTORS, ulimit -n)",
		[SP_WHY_DESCRIPTORS] =
			"the process, or the system, had no descriptor left (ulimit -n)",
		[SP_WHY_MEMORY] = "there was no memory for counters by CPU",
		[SP_WHY_REFUSED] = "the kernel refused counters by CPU (perf_event_paranoid)",
		[SP_WHY_UNSEEN] = "which counters PAPI uses was not known when they began to count",
		[SP_WHY_MANY] = "the event set has too many events",
		[SP_WHY_FORMULA] = "an event is not a sum of native events",
		[SP_WHY_MULTIPLEXED] = "PAPI multiplexed the set: its counts are estimates, which "
				       "counters beside them would disturb",
		[SP_WHY_OVERFLOW] = "PAPI's counters stand still in an overflow handler, counters "
				    "by CPU do not",
		[SP_WHY_STARVED] = "the processor has too few counters for two of each event "
				   "(count fewer events at once)",
		[SP_WHY_CLOSED] = "the application closed descriptors of sspapi's",
		[SP_WHY_ENDED] = "the thread had ended",
		[SP_WHY_UNWATCHED] = "the thread ran on a CPU for which sspapi had no counter",
		[SP_WHY_EDGE] = "counting went on between sspapi's look at the counters and PAPI's",
		[SP_WHY_RUNNING] = "the counted threads ran on while their counters were read",
		[SP_WHY_HANDLER] = "a signal handler, or another thread, called PAPI for the set "
				   "inside another call",
		[SP_WHY_INSIDE] = "the thread moved, or was interrupted, inside a call of PAPI "
				  "(fewer readings have less of it)",
		[SP_WHY_SHADOW] = "counters by CPU counted what PAPI's own counter did not",
		[SP_WHY_CLOCK] = "a clock by CPU differs from PAPI's by some 100 ns a move "
				 "(perf::TASK-CLOCK does not)",
		[SP_WHY_OPENER] =
			"another thread than the one that started the set opened PAPI's counters",
		[SP_WHY_SWITCHED_OFF] = "the program switched the thread's counters off "
					"(PR_TASK_PERF_EVENTS_DISABLE)",
		[SP_WHY_DISPLACED] =
			"the counters by CPU had gone to another event set, which PAPI "
			"refused to start",
		[SP_WHY_FILTER] = "the program installed a seccomp filter, under which sspapi "
				  "opens no counters",
		[SP_WHY_GUEST] = ("rseq does not report the CPU of a child that shares the "
				  "thread-local storage of its parent "
				  "(count in a thread of pthread_create, or in a child of fork)"),
		[SP_WHY_COMPONENT] = "counters by CPU can stand beside those of PAPI's component "
				     "perf_event only",
		[SP_WHY_SHARED] = "what PAPI's component counts is the process's, a package's, a "
				  "device's or the host's, and no CPU's",
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
		       : sp_text_f(text, SP_WHY_TEXT,
				   "%s; counts from CPUs without a counter are shown on CPU %s%s",
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
		return "the user's quota on the live file's disk was used up";
	case EFBIG:
		return "the live file had reached the limit on the size of files (ulimit -f)";
	case ESTALE:
	case ENOENT:
		return "somebody removed, exchanged or cut the live file";
	case ENOMEM:
		return "there was no memory to map more of the live file";
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
		  " could not be booked: what they counted is missing here" },
		{ m->h.dropped_relations, "event set", " missing: there was no memory for them" },
		{ sp_is_torn(m), NULL, ": what came later is missing here" },
		{ torn_members(m), "process",
		  " killed whose live file could not grow: what came later is missing here" },
		{ m->tally.damaged, "block",
		  " of the store damaged: what was in them is missing here" },
		{ m->tally.refused, "permanent reading",
		  " counted, not kept: past SSPAPI_READINGS_MAX, no memory, or of "
		  "threads that have ended and were added together" },
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
