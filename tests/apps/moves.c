/*
 * moves: a thread that changes CPU between the readings, and knows what it did on each.
 *
 *	once A B	A pages on the first CPU, no reading, B on the second, PAPI_stop
 *	often N A B	the same N times back and forth, A on the first, B on the second
 *	reads N A B	the same with a reading after each B
 *	pushed MS N	moved by another thread every MS ms, N times; few pages at a time on the
 *			first CPU, many on the second
 *	stays N		N readings with naps in between, on one CPU
 *	again N		N readings one after the other, on one CPU
 *	pairs N		N starts and stops, on one CPU
 *	visits N	N readings on one CPU, some by PAPI_accum; before each third one some pages
 *			on another
 *	wider N		N readings, after two starts on a CPU outside the first affinity mask
 *			(taskset)
 *
 * Prints for each CPU "touched cpu=N pages=M", then "handed sum=S", the value of PAPI_stop; with
 * pushed also "unsure pages=U": those during which the CPU changed.
 * usage: moves MODE ARGUMENT...
 */
#include "handed.h"

#define CPUS 1024
#define ROUND 64

static long pages_on[CPUS], unsure;
static volatile int stop_pushing;
static pid_t pushed;
static char *round_start;
static int round_at;

/* Touches a page that faults: the same 64 again and again. */
static void fault(long page)
{
	if (round_at == ROUND) {
		madvise(round_start, ROUND * page, MADV_DONTNEED);
		round_at = 0;
	}
	*(volatile char *)(round_start + round_at++ * page) = 1;
}

static void fault_here(long page, long n)
{
	for (long i = 0; i < n; i++) {
		int before = sched_getcpu();

		fault(page);
		if (sched_getcpu() == before)
			pages_on[before]++;
		else
			unsure++;
	}
}

static void fault_on(int which, long n)
{
	long page = sysconf(_SC_PAGESIZE);
	int cpu = pin(which);

	for (long i = 0; i < n; i++)
		fault(page);
	pages_on[cpu] += n;
}

static void nap(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};

	while (nanosleep(&t, &t))
		;
}

struct push {
	long ms, n;
};

static void *push(void *arg)
{
	struct push *p = arg;
	int cpu[2] = {nth_cpu(0), nth_cpu(1)};

	for (long i = 0; i < p->n; i++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu[(i + 1) % 2], &set);
		sched_setaffinity(pushed, sizeof(set), &set);
		nap(p->ms * 1000);
	}
	stop_pushing = 1;
	return NULL;
}

/*
 * Read in between, so that one unexpected fault (the kernel takes a page of libpapi away, whose
 * fault is counted inside PAPI_stop) leaves one window unproven, not all.
 */
static void be_pushed(struct counted *c, long page)
{
	int second = nth_cpu(1);
	long long values[EVENTS];

	for (unsigned n = 1; !stop_pushing; n++) {
		fault_here(page, sched_getcpu() == second ? 30 : 3);
		for (volatile int i = 0; i < 20000; i++)
			;
		if (n % 256 == 0)
			must("PAPI_read", PAPI_read(c->id, values));
	}
}

/* Counters that were opened for the first mask's CPUs are useless there. */
static void go_elsewhere(struct counted *c)
{
	long long values[EVENTS];
	cpu_set_t mask;
	int cpu = 0, here = sched_getcpu();

	must("PAPI_stop", PAPI_stop(c->id, values));
	memset(&mask, -1, sizeof(mask));
	if (sched_setaffinity(0, sizeof(mask), &mask) || sched_getaffinity(0, sizeof(mask), &mask))
		die("affinity");
	while (cpu == here || !CPU_ISSET(cpu, &mask))
		cpu++;
	CPU_ZERO(&mask);
	CPU_SET(cpu, &mask);
	if (sched_setaffinity(0, sizeof(mask), &mask))
		die("sched_setaffinity");
	for (int i = 0; i < 2; i++) {
		must("PAPI_start", PAPI_start(c->id));
		nap(2000);
		must("PAPI_stop", PAPI_stop(c->id, values));
	}
	must("PAPI_start", PAPI_start(c->id));
}

/* Calls the kernel directly, so that sspapi does not notice. */
static void go_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (syscall(SYS_sched_setaffinity, 0, sizeof(one), &one) < 0)
		die("sched_setaffinity");
}

static long long visit(struct counted *c, long page, long n)
{
	int home = nth_cpu(0), other = nth_cpu(1);
	long long values[EVENTS], sum[EVENTS] = {0};

	for (long i = 0; i < n; i++) {
		fault_here(page, 3);
		if (i % 3 == 2) {
			go_to(other);
			fault_here(page, 5);
			go_to(home);
		}
		if (i % 7 == 6)
			must("PAPI_accum", PAPI_accum(c->id, sum));
		else
			must("PAPI_read", PAPI_read(c->id, values));
	}
	return sum[0];
}

int main(int argc, char **argv)
{
	struct counted *c;
	const char *how = argc > 1 ? argv[1] : "once";
	long n = argc > 2 ? atol(argv[2]) : 0, a = argc > 3 ? atol(argv[3]) : 0,
	     b = argc > 4 ? atol(argv[4]) : 0;
	long long values[EVENTS];
	struct push p = {n, a};
	long page = sysconf(_SC_PAGESIZE), sum = 0;
	long long before = 0;
	pthread_t pusher;

	papi_up();
	c = counted_new(0, NULL, ROUND);
	round_start = c->arena.next;
	madvise(round_start, ROUND * page, MADV_NOHUGEPAGE);
	make_set(c);
	prefault();
	nth_cpu(0);
	pin(0);
	for (volatile long i = 0; i < CPUS; i++)
		pages_on[i] = 0;
	pushed = (pid_t)gettid();
	if (!strcmp(how, "pushed")) {
		cpu_set_t all;

		CPU_ZERO(&all);
		CPU_SET(nth_cpu(0), &all);
		CPU_SET(nth_cpu(1), &all);
		pthread_create(&pusher, NULL, push, &p);
		prefault_stack();
	}
	must("PAPI_start", PAPI_start(c->id));
	if (!strcmp(how, "once")) {
		fault_on(0, n);
		fault_on(1, a);
	} else if (!strcmp(how, "often") || !strcmp(how, "reads")) {
		for (long i = 0; i < n; i++) {
			fault_on(0, a);
			fault_on(1, b);
			if (*how == 'r')
				must("PAPI_read", PAPI_read(c->id, values));
		}
	} else if (!strcmp(how, "stays")) {
		for (long i = 0; i < n; i++) {
			fault_on(0, 10);
			nap(200);
			must("PAPI_read", PAPI_read(c->id, values));
		}
	} else if (!strcmp(how, "pairs")) {
		fault_here(page, 10);
		pages_on[sched_getcpu()] += 10;
		for (long i = 0; i < n; i++) {
			must("PAPI_stop", PAPI_stop(c->id, values));
			before += values[0];
			must("PAPI_start", PAPI_start(c->id));
		}
	} else if (!strcmp(how, "visits")) {
		before = visit(c, page, n);
	} else if (!strcmp(how, "again") || !strcmp(how, "wider")) {
		if (!strcmp(how, "wider"))
			go_elsewhere(c);
		fault_here(page, 10);
		pages_on[sched_getcpu()] += 10;
		for (long i = 0; i < n; i++)
			must("PAPI_read", PAPI_read(c->id, values));
	} else {
		be_pushed(c, page);
	}
	must("PAPI_stop", PAPI_stop(c->id, values));
	if (!strcmp(how, "pushed"))
		pthread_join(pusher, NULL);
	for (int i = 0; i < CPUS; i++) {
		sum += pages_on[i];
		if (pages_on[i])
			printf("touched cpu=%d pages=%ld\n", i, pages_on[i]);
	}
	printf("handed sum=%lld\n", before + values[0]);
	if (unsure)
		printf("unsure pages=%ld\n", unsure);
	return before + values[0] == sum + unsure || !strcmp(how, "pairs") ? 0 : 1;
}
