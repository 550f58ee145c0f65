/*
 * stay: page faults of a program that is not ours are the same in each run on a machine of several
 * memory nodes, too.
 */
#include "../apps/touch.h"

__attribute__((constructor)) static void at_start(void)
{
	stay_mapped();
}
