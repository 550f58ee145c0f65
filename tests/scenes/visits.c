/*
 * visits: another thread calls PAPI for main's running set, and main is moved to another CPU while
 * libpapi is asked: before it acts, or when it has (tests/preload/meet.c).
 *
 *	visits OP before|after	OP: read, accum, reset, stop, write
 */
#include "now.h"

#pragma weak meet_before
#pragma weak meet_after
extern void (*meet_before)(void), (*meet_after)(void);

static int set = PAPI_NULL, main_cpu, other_cpu;
static pid_t main_tid;
static bool comes, left;
static const char *op, *when;

static void move_main(void)
{
	cpu_set_t there;

	CPU_ZERO(&there);
	CPU_SET(other_cpu, &there);
	sched_setaffinity(main_tid, sizeof(there), &there);
	while (__atomic_load_n(&main_cpu, __ATOMIC_ACQUIRE) != other_cpu)
		;
}

static int visit(long long *value)
{
	long long cycles;

	switch (*op) {
	case 'a':
		return PAPI_accum(set, value);
	case 's':
		return PAPI_stop(set, value);
	case 'w':
		return PAPI_write(set, &(long long){3});
	default:
		return strcmp(op, "reset") == 0 ? PAPI_reset(set)
						: PAPI_read_ts(set, value, &cycles);
	}
}

static void *visitor(void *arg)
{
	long long value = 0;

	(void)arg;
	while (!__atomic_load_n(&comes, __ATOMIC_ACQUIRE))
		;
	*(when[0] == 'b' ? &meet_before : &meet_after) = move_main;
	must(op, visit(&value));
	if (strchr("rsa", *op) && strcmp(op, "reset") != 0)
		told(op, value - 50);
	__atomic_store_n(&left, true, __ATOMIC_RELEASE);
	return NULL;
}

int main(int argc, char **argv)
{
	struct fake_component keeps = {.name = "perf_event", .writes = true};
	long long value, before;
	pthread_t thread;

	if (argc < 3 || !&meet_before || nth_cpu(1) < 0)
		return SKIPPED;
	op = argv[1];
	when = argv[2];
	fake_component(&keeps);
	up_threads();
	main_tid = getpid();
	other_cpu = nth_cpu(1);
	set = now_set();
	pthread_create(&thread, NULL, visitor, NULL);
	now_begin(set, 50);
	if (strcmp(op, "reset") != 0 && *op != 'w')
		fake_count_set(set, "EV_A", 7);
	__atomic_store_n(&comes, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&left, __ATOMIC_ACQUIRE))
		__atomic_store_n(&main_cpu, sched_getcpu(), __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	if (*op == 's')
		must("PAPI_start", PAPI_start(set));
	must("PAPI_read", PAPI_read(set, &before));
	fake_count_set(set, "EV_A", 11);
	must("PAPI_stop", PAPI_stop(set, &value));
	told("PAPI_stop", value - before);
	return 0;
}
