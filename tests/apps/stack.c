/*
 * stack: how many bytes of its stack a thread needs that makes a set and counts: prints the most. usage: stack [EVENTS]
 */
#include "handed.h"

#define SIZE (128 << 10)
#define MARK 0x5a

static char *stack;
static long n_events = 1;

static void *work(void *arg)
{
	long long value[EVENTS], sum[EVENTS] = {0};
	static const char *const more[] = {"perf::TASK-CLOCK", "perf::CONTEXT-SWITCHES", "perf::CPU-MIGRATIONS"};
	int set;

	set = set_with(DEFAULT_EVENT);
	for (long i = 1; i < n_events; i++)
		must(more[i - 1], PAPI_add_named_event(set, more[i - 1]));
	for (int i = 0; i < 2; i++) {
		must("PAPI_start", PAPI_start(set));
		must("PAPI_read", PAPI_read(set, value));
		must("PAPI_accum", PAPI_accum(set, sum));
		must("PAPI_reset", PAPI_reset(set));
		must("PAPI_stop", PAPI_stop(set, i ? NULL : value));
	}
	drop_set(set);
	return arg;
}

int main(int argc, char **argv)
{
	struct counted *first;
	pthread_attr_t attr;
	pthread_t t = 0;
	long unused = 0;

	if (argc > 1)
		n_events = atol(argv[1]);
	papi_up();
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	first = counted_new(0, NULL, 1);
	make_set(first);
	stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		die("mmap");
	memset(stack, MARK, SIZE);
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, stack, SIZE) || pthread_create(&t, &attr, work, NULL))
		die("a thread");
	pthread_join(t, NULL);
	while (stack[unused] == MARK)
		unused++;
	printf("%ld\n", SIZE - unused);
	return 0;
}
