/*
 * resets: a thread touches a page and reads its set, again and again; another resets that set
 * sometimes (not before 20 readings), without a lock. usage: resets READINGS
 *
 * Prints the sum of all returned values, and "lost N" if N resets had no effect: the kernel
 * zeroes a software event of a thread that runs on another CPU with a plain store, and that CPU's
 * increment may bring the old count back.
 */
#include "handed.h"

#define PAGES 4096

static int set = PAPI_NULL;
static long readings;
static long long sum;
static long have_read;
static int begun, done, finished;
static int zeroings, resets;

/*
 * Each time a page or two, so that a value that is not above the previous one counts from a reset.
 */
static void handed_out(long long value)
{
	static long long last;

	sum += value > last ? value - last : value;
	zeroings += value <= last;
	last = value;
}

static void *work(void *arg)
{
	long page = sysconf(_SC_PAGESIZE);
	char *at = new_memory(PAGES * page);
	long long value = 0;

	must("PAPI_register_thread", PAPI_register_thread());
	set = set_with(DEFAULT_EVENT);
	must("PAPI_start", PAPI_start(set));
	__atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
	for (long i = 0; i < readings; i++) {
		if (i % PAGES == 0)
			madvise(at, PAGES * page, MADV_DONTNEED);
		*(volatile char *)(at + i % PAGES * page) = 1;
		must("PAPI_read", PAPI_read(set, &value));
		handed_out(value);
		__atomic_store_n(&have_read, i, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE))
		;
	madvise(at, page, MADV_DONTNEED);
	*(volatile char *)at = 1;
	must("PAPI_read", PAPI_read(set, &value));
	handed_out(value);
	return arg;
}

int main(int argc, char **argv)
{
	long before = 0;
	pthread_t t;

	readings = argc > 1 ? atol(argv[1]) : 10000;
	papi_up_threads();
	pthread_create(&t, NULL, work, NULL);
	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		;
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		usleep(500);
		if (__atomic_load_n(&have_read, __ATOMIC_ACQUIRE) < before + 20 ||
		    __atomic_load_n(&done, __ATOMIC_ACQUIRE))
			continue;
		must("PAPI_reset", PAPI_reset(set));
		resets++;
		before = __atomic_load_n(&have_read, __ATOMIC_ACQUIRE);	/* it may have taken long */
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	if (zeroings < resets)
		printf("lost %d\n", resets - zeroings);
	printf("handed cpu=-1 event=" DEFAULT_EVENT " value=%lld by=all\n", sum);
	return 0;
}
