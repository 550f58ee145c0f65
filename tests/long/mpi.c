/*
 * mpi.c: an MPI program that counts its own page faults with PAPI: each rank and a thread of it
 * touch pages, on any CPU; prints what PAPI returned, "handed rank= cpu= event= value=".
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <papi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int rank;

static void touch(int pages)
{
	long size = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, (size_t)(pages * size), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < pages; i++)
		p[i * size] = 1;
	munmap(p, (size_t)(pages * size));
}

static void must(int rc, const char *what)
{
	if (rc < 0) {
		fprintf(stderr, "rank %d: %s: %s\n", rank, what, PAPI_strerror(rc));
		exit(1);
	}
}

/* Touches the stack that is needed below, so that its pages are not counted. */
static void deepen(void)
{
	volatile char deep[64 * 1024];

	for (unsigned i = 0; i < sizeof(deep); i += 512)
		deep[i] = 1;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		perror("sched_setaffinity");
}

static void measure(const char *who, int pages)
{
	int set = PAPI_NULL;
	long long value, last = 0;

	deepen();
	must(PAPI_create_eventset(&set), "PAPI_create_eventset");
	must(PAPI_add_named_event(set, "perf::PAGE-FAULTS"), "PAPI_add_named_event");
	must(PAPI_start(set), "PAPI_start");
	for (int i = 0; i < 3; i++) {
		touch(pages + i);
		must(i == 2 ? PAPI_stop(set, &value) : PAPI_read(set, &value), "PAPI_read");
		printf("handed rank=%d who=%s cpu=%d event=perf::PAGE-FAULTS value=%lld\n", rank,
		       who, sched_getcpu(), value - last);
		last = value;
	}
	must(PAPI_cleanup_eventset(set), "PAPI_cleanup_eventset");
	must(PAPI_destroy_eventset(&set), "PAPI_destroy_eventset");
}

static void *thread(void *arg)
{
	(void)arg;
	pin((rank + 1) % (int)sysconf(_SC_NPROCESSORS_ONLN));
	measure("thread", 7 * rank + 3);
	PAPI_unregister_thread();
	return NULL;
}

int main(int argc, char **argv)
{
	long long pages, all = 0;
	pthread_t t;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	must(PAPI_library_init(PAPI_VER_CURRENT), "PAPI_library_init");
	must(PAPI_thread_init(pthread_self), "PAPI_thread_init");
	pin(rank % (int)sysconf(_SC_NPROCESSORS_ONLN));
	measure("main", 10 * rank + 5);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	pages = rank;
	MPI_Allreduce(&pages, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
