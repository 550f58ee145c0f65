/*
 * left: a handler jumps out of PAPI_hl_region_begin, by a fault at the region's name, or calls PAPI
 * and lets it go on. What PAPI_shutdown does by itself then is libpapi's own, and what a region
 * reads is booked. usage: left jumps|goes-on
 */
#include "now.h"
#include <setjmp.h>

static sigjmp_buf back;
static char *name;
static int set, jumps;

static void handler(int signal)
{
	long long value;

	(void)signal;
	must("PAPI_read", PAPI_read(set, &value));
	must("mprotect", mprotect(name, 4096, PROT_READ));
	if (jumps)
		siglongjmp(back, 1);
}

/* In libpapi, where it compares the name with that of the region that it has. */
static void region(void)
{
	must("mprotect", mprotect(name, 4096, PROT_NONE));
	if (!sigsetjmp(back, 1))
		must("PAPI_hl_region_begin", PAPI_hl_region_begin(name));
}

int main(int argc, char **argv)
{
	long long value;

	jumps = argc > 1 && !strcmp(argv[1], "jumps");
	setenv("PAPI_EVENTS", jumps ? "none" : "EV_B", 1);
	signal(SIGSEGV, handler);
	name = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(name, "first");
	up();
	set = now_set();
	must("PAPI_hl_region_begin", PAPI_hl_region_begin("before"));
	region();
	must("PAPI_hl_stop", jumps ? 0 : PAPI_hl_stop());
	must("PAPI_start", PAPI_start(set));
	fake_count_set(set, "EV_A", 5);
	must("PAPI_read", PAPI_read(set, &value));
	told("all", value);
	fake_count_set(set, "EV_A", 7);
	PAPI_shutdown();
	return 0;
}
