/* why.c: how counts are told to CPUs, and why not better, in words. */
#include "model.h"

const char *sp_attribution_name(uint32_t how)
{
	static const char *const names[] = {
		[SP_BY_READING] = "reading", [SP_BY_RESIDENCY] = "residency", [SP_BY_EXACT] = "exact", [SP_BY_AUTO] = "auto",
		[SP_BY_APPROXIMATE] = "approximate",
	};

	return names[how < SP_COUNT(names) ? how : SP_BY_READING];
}

const char *sp_why_text(enum sp_why why)
{
	static const char *const texts[SP_WHYS] = {
		[SP_WHY_NONE] = "",
		[SP_WHY_OFF] = "SSPAPI_DESCRIPTORS=0",
		[SP_WHY_CREDIT] = ("counters by CPU would have cost more than 1 % of the life of the process "
				   "(SSPAPI_ATTRIBUTION=exact takes them all the same)"),
		[SP_WHY_BUDGET] = "all descriptors that sspapi may hold were in use (SSPAPI_DESCRIPTORS, ulimit -n)",
		[SP_WHY_DESCRIPTORS] = "the process, or the system, had no descriptor left (ulimit -n)",
		[SP_WHY_MEMORY] = "there was no memory for counters by CPU",
		[SP_WHY_REFUSED] = "the kernel refused counters by CPU (perf_event_paranoid, seccomp)",
		[SP_WHY_UNSEEN] = "which counters PAPI opened was not seen",
		[SP_WHY_MANY] = "the event set has too many events",
		[SP_WHY_FORMULA] = "an event is not a sum of native events",
		[SP_WHY_MULTIPLEXED] = "PAPI multiplexed the set: its counts are estimates, which counters beside them would disturb",
		[SP_WHY_OVERFLOW] = "PAPI's counters stand still in an overflow handler, counters by CPU do not",
		[SP_WHY_STARVED] = "the processor has too few counters for two of each event (count fewer events at once)",
		[SP_WHY_CLOSED] = "the application closed descriptors of sspapi's",
		[SP_WHY_ENDED] = "the thread had ended",
		[SP_WHY_ELSEWHERE] = "the thread ran on a CPU that it was not allowed to run on when its set was first started",
		[SP_WHY_BUSY] = "the thread moved faster than its counters could be read",
		[SP_WHY_RUNNING] = "the counted thread ran on, on another CPU, while its counters were read",
		[SP_WHY_DISTURBED] = "a signal handler or another thread called PAPI for the set between two readings",
		[SP_WHY_INSIDE] = ("the thread was interrupted, or counted something, while PAPI read: what came before and what after "
				   "is not known (fewer readings have less of it)"),
	};

	return texts[why < SP_WHYS ? why : SP_WHY_NONE];
}
