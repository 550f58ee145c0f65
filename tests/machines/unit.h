/*
 * unit.h: the work of these programs, in units of UNIT instructions of a loop and PAGES page
 * faults.
 */
#ifndef UNIT_H
#define UNIT_H

#include "../apps/touch.h"

#define UNIT 1000000
#define PAGES 20

__attribute__((noinline)) static void loop(long instructions)
{
	long turns = instructions / 2;

#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(turns)::"cc");
#elif defined(__x86_64__)
	__asm__ volatile("1: dec %0\n jnz 1b" : "+r"(turns)::"cc");
#else
	while (turns--)
		__asm__ volatile("");
#endif
}

/*
 * Works @parts parts of a unit, which has PAGES of them; returns their CPU, or -1 if the thread may
 * have moved.
 */
static inline int parts_of_unit(struct arena *arena, int parts)
{
	int cpu = sched_getcpu();

	loop(UNIT / PAGES * parts);
	touch(arena, parts);
	return cpu == sched_getcpu() ? cpu : -1;
}

static inline int unit(struct arena *arena)
{
	return parts_of_unit(arena, PAGES);
}

static inline void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

#endif
