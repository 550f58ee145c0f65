/*
 * depth: counts its page faults on a stack of which nothing below the frame that calls PAPI has
 * been touched. usage: depth OFFSET
 * OFFSET is that frame's in its page: how far PAPI, and the loader that binds PAPI's calls at
 * their first time, reach below it without a page of stack more. Prints the faults between the
 * start and the stop, in which 10 pages are touched.
 */
#include "handed.h"

#define STACK (256 * 1024)
#define PAGES 10

static char *stack;
static struct counted *c;
static long offset;

__attribute__((noinline)) static void count(char *here)
{
	long long values[EVENTS] = {0};
	char *page = (char *)((unsigned long)__builtin_frame_address(0) & -c->arena.page);

	(void)*(volatile char *)here;
	/* The frame is in this page, or ends in the one below. */
	if (madvise(stack, page - c->arena.page - stack, MADV_DONTNEED))
		die("madvise");
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, PAGES);
	must("PAPI_stop", PAPI_stop(c->id, values));
	printf("%lld\n", values[0]);
}

static void *work(void *arg)
{
	unsigned long at = (unsigned long)__builtin_frame_address(0);

	make_set(c);
	pin(0);
	count(alloca(((at - offset) & (c->arena.page - 1)) + c->arena.page));
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t t = 0;
	int seen = 0;

	offset = argc > 1 ? atol(argv[1]) : 0;
	papi_up();
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	c = counted_new(0, NULL, PAGES);
	dl_iterate_phdr(prefault_object, &seen);
	stack = new_memory(STACK);
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, stack, STACK) || pthread_create(&t, &attr, work, NULL))
		die("stack");
	pthread_join(t, NULL);
	return 0;
}
