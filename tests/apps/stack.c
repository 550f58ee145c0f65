/*
 * stack: a thread on its own stack makes a set and counts.
 *
 *	least		on the smallest that Linux allows (16 kB), after main has made a set
 *	needs [EVENTS]	prints the most bytes of it that were written
 *	depth OFFSET	nothing below the frame that calls PAPI has been touched. OFFSET is that
 *			frame's in its page: how far PAPI, and the loader when it binds PAPI's
 *			calls, use the stack below it without another page. Prints the faults
 *			between the start and the stop, in which 10 pages are touched.
 *
 * usage: stack MODE [ARGUMENT]
 */
#include "calls.h"

#define SIZE (128 << 10)
#define DEEP (256 << 10)
#define MARK 0x5a
#define PAGES 10

static char *stack;
static struct counted *c;
static long number;

static void *on_the_least(void *arg)
{
	must("PAPI_create_eventset", PAPI_create_eventset(&c->id));
	add_events(c);
	begin(c);
	touch(&c->arena, 100);
	end(c);
	return arg;
}

static void least(pthread_attr_t *attr)
{
	papi_up_threads();
	make_set(counted_new(0, NULL, 1));
	c = counted_new(0, NULL, 200);
	c->id = PAPI_NULL;
	if (pthread_attr_setstacksize(attr, 16384))
		die("a stack of 16 kB");
	run_thread(attr, on_the_least, NULL);
	print_handed(c, "");
}

static void *calls(void *arg)
{
	static const char *const more[] = { "perf::TASK-CLOCK", "perf::CONTEXT-SWITCHES",
					    "perf::CPU-MIGRATIONS" };
	long long value[EVENTS], sum[EVENTS] = {0};
	int set = set_with(DEFAULT_EVENT);

	for (long i = 1; i < number; i++)
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

static void needs(pthread_attr_t *attr)
{
	long unused = 0;

	papi_up_threads();
	make_set(counted_new(0, NULL, 1));
	stack = new_memory(SIZE);
	memset(stack, MARK, SIZE);
	if (pthread_attr_setstack(attr, stack, SIZE))
		die("stack");
	run_thread(attr, calls, NULL);
	while (stack[unused] == MARK)
		unused++;
	printf("%ld\n", SIZE - unused);
}

__attribute__((noinline)) static void count(char *here)
{
	long long values[EVENTS] = {0};
	char *page = (char *)((unsigned long)__builtin_frame_address(0) & -c->arena.page);

	(void)*(volatile char *)here;
	/* The frame is in this page, or ends in the next lower one. */
	if (madvise(stack, page - c->arena.page - stack, MADV_DONTNEED))
		die("madvise");
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, PAGES);
	must("PAPI_stop", PAPI_stop(c->id, values));
	printf("%lld\n", values[0]);
}

static void *at_offset(void *arg)
{
	unsigned long at = (unsigned long)__builtin_frame_address(0);

	make_set(c);
	pin(0);
	count(alloca(((at - number) & (c->arena.page - 1)) + c->arena.page));
	return arg;
}

static void depth(pthread_attr_t *attr)
{
	int seen = 0;

	papi_up_threads();
	c = counted_new(0, NULL, PAGES);
	dl_iterate_phdr(prefault_object, &seen);
	stack = new_memory(DEEP);
	if (pthread_attr_setstack(attr, stack, DEEP))
		die("stack");
	run_thread(attr, at_offset, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "needs";
	pthread_attr_t attr;

	number = argc > 2 ? atol(argv[2]) : 0;
	pthread_attr_init(&attr);
	(!strcmp(how, "least") ? least : !strcmp(how, "depth") ? depth : needs)(&attr);
	return 0;
}
