/* walkf-units.c: functions of walkf.f90 that Fortran cannot express. */
#include "unit.h"

static struct arena arena;

void walk_ready(void)
{
	arena_make(&arena, 100 * PAGES);
	prefault();
}

void walk_pin(int cpu)
{
	pin_to(cpu);
}

void walk_units(int units)
{
	while (units-- > 0)
		unit(&arena);
}
