/*
 * high5: the high level of PAPI 5.x, by weak references: EV_A counts 21, 22
 * and 23. Where libpapi lacks it, what a call returns all the same (a preload
 * makes weak references resolve). usage: high5
 */
#include "scene.h"

extern int PAPI_start_counters(int *events, int n) __attribute__((weak));
extern int PAPI_read_counters(long long *values, int n) __attribute__((weak));
extern int PAPI_accum_counters(long long *values, int n) __attribute__((weak));
extern int PAPI_stop_counters(long long *values, int n) __attribute__((weak));

static void tell(const char *by, long long value)
{
	printf("handed cpu=%d event=EV_A value=%lld by=%s\n", sched_getcpu(), value, by);
}

int main(void)
{
	long long values[1] = {0};
	int code;

	up();
	if (fake_version() >= 0x0600) {
		if (PAPI_start_counters)
			printf("missing, but called: %d\n", PAPI_start_counters(&code, 1));
		return 0;
	}
	must("PAPI_event_name_to_code", PAPI_event_name_to_code("EV_A", &code));
	pin(0);
	must("PAPI_start_counters", PAPI_start_counters(&code, 1));
	fake_count("EV_A", 21);
	must("PAPI_read_counters", PAPI_read_counters(values, 1));
	tell("PAPI_read_counters", values[0]);
	fake_count("EV_A", 22);
	values[0] = 1000;
	must("PAPI_accum_counters", PAPI_accum_counters(values, 1));
	tell("PAPI_accum_counters", values[0] - 1000);
	pin(1);
	fake_count("EV_A", 23);
	must("PAPI_stop_counters", PAPI_stop_counters(values, 1));
	tell("PAPI_stop_counters", values[0]);
	return 0;
}
