/* clock.c: see clock.h. */
#include <string.h>

#include "../base/sys.h"
#include "clock.h"

#define HOLDS_NS	10000000u	/* how long a pace is gone on with */
#define LEAST_NS	1000000u	/* from which on a pace is measured well enough: 40 ns in a million */

#define AT_ONCE		4096u		/* ticks: a microsecond or two */

static bool trusted;

void sp_clock_set_up(void)
{
	static bool asked;
	char name[64] = "";

	if (__atomic_exchange_n(&asked, true, __ATOMIC_RELAXED))
		return;
	if (sp_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", name, sizeof(name)) > 0)
		trusted = strcmp(name, "tsc\n") == 0;
}

static uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* Both clocks at the same moment; false: the thread was held up in between each time. */
static bool look(uint64_t *ticks, uint64_t *ns)
{
	for (int tries = 0; tries < 4; tries++) {
		*ticks = ticks_now();
		*ns = sp_now_ns();
		if (ticks_now() - *ticks < AT_ONCE)
			return true;
	}
	return false;
}

/* Measures the pace since the look before.  One that differs from the last by more than
 * a thousandth is of a time in which somebody set the clock: measured again from now. */
SP_COLD uint64_t sp_clock_read(struct sp_clock *c)
{
	uint64_t ticks, now, ns, pace;

	if (!trusted)
		return sp_now_ns();
	if (!look(&ticks, &now)) {
		c->span = 0;
		return now;
	}
	ns = now - c->ns;
	if (c->ticks && ns < LEAST_NS)
		return now;		/* too early to tell */
	if (c->ticks && ticks > c->ticks && ns < (1u << 31)) {
		pace = (ns << 32) / (ticks - c->ticks);
		if (c->pace && (pace > c->pace ? pace - c->pace : c->pace - pace) > c->pace / 1024)
			pace = 0;
		c->pace = pace;
	}
	c->span = c->pace ? ((uint64_t)HOLDS_NS << 32) / c->pace : 0;
	c->ticks = ticks;
	c->ns = now;
	return now;
}
