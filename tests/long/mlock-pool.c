/*
 * mlock-pool: what one user's processes may lock in memory is one pool. One process counts with
 * PAPI in many threads. Another takes all of the pool, by pages registered with io_uring and by
 * sampling buffers of perf; and counts with overflow, for which PAPI locks memory. Prints how much
 * there was, and PAPI's results.
 * usage: mlock-pool THREADS
 */
#include "../apps/handed.h"

#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/uio.h>

#define MOST_PAGES 4096
#define MOST_BUFFERS 1024

static pthread_barrier_t all;
static int code;
static volatile int overflows;

static void begin_papi(const char *event)
{
	papi_up_threads();
	may(event, PAPI_event_name_to_code(event, &code));
}

static int new_set(void)
{
	int set = new_event_set();

	must("PAPI_add_event", PAPI_add_event(set, code));
	return set;
}

static void *count(void *arg)
{
	int set = new_set();
	long long value;

	must("PAPI_start", PAPI_start(set));
	must("PAPI_read", PAPI_read(set, &value));
	pthread_barrier_wait(&all);		/* they count */
	pthread_barrier_wait(&all);
	must("PAPI_stop", PAPI_stop(set, &value));
	return arg;
}

/* Runs as the other process, until its input ends. */
static void be_the_other(int threads, int in, int out)
{
	pthread_t thread[threads];
	char word = 'r';

	begin_papi("perf::PAGE-FAULTS");
	pthread_barrier_init(&all, NULL, threads + 1);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, count, NULL))
			die("pthread_create");
	pthread_barrier_wait(&all);
	if (write(out, &word, 1) != 1 || read(in, &word, 1) != 0)
		die("the other's pipe");
	pthread_barrier_wait(&all);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	exit(0);
}

/* Prints the most pages that can be registered. */
static void by_ring(void)
{
	struct io_uring_params params = {0};
	char *memory = mmap(NULL, MOST_PAGES * 4096L, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ring = (int)syscall(SYS_io_uring_setup, 4, &params), least = 0, most = MOST_PAGES;

	printf("io_uring: %s\n", ring < 0 ? strerror(errno) : "there");
	while (ring >= 0 && most - least > 1) {
		struct iovec part = {memory, (least + most) / 2 * 4096L};

		if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &part, 1)) {
			most = (least + most) / 2;
		} else {
			least = (least + most) / 2;
			syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_BUFFERS, NULL, 0);
		}
	}
	printf("io_uring: %d pages\n", least);
	close(ring);
}

static void by_sampling(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_TASK_CLOCK,
				     .sample_period = 1000000,
				     .disabled = 1,
				     .exclude_kernel = 1 };
	int fd[MOST_BUFFERS], n = 0;

	for (; n < MOST_BUFFERS; n++) {
		fd[n] = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd[n] < 0 || mmap(NULL, 9 * 4096L, PROT_READ | PROT_WRITE, MAP_SHARED, fd[n],
				      0) == MAP_FAILED)
			break;
	}
	printf("sampling: %d buffers, then %s\n", n,
	       n < MOST_BUFFERS ? strerror(errno) : "no more were asked for");
}

static void on_overflow(int set, void *address, long long vector, void *context)
{
	(void)set, (void)address, (void)vector, (void)context;
	overflows++;
}

static void by_overflow(void)
{
	long long value;
	int set;

	begin_papi("perf::TASK-CLOCK");
	set = new_set();
	printf("overflow: %d", PAPI_overflow(set, code, 1000000, 0, on_overflow));
	printf(", start: %d", PAPI_start(set));
	for (volatile long i = 0; i < 100000000; i++)
		;
	printf(", stop: %d, %s\n", PAPI_stop(set, &value),
	       overflows > 5 ? "they came" : "none came");
}

int main(int argc, char **argv)
{
	int to[2], from[2], status;
	char word;
	pid_t pid;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc < 2 || pipe(to) || pipe(from) || (pid = fork()) < 0)
		return 2;
	if (!pid) {
		close(to[1]);
		be_the_other(atoi(argv[1]), to[0], from[1]);
	}
	close(from[1]);
	if (read(from[0], &word, 1) != 1)
		die("the other");
	by_ring();
	by_overflow();
	by_sampling();
	close(to[1]);
	waitpid(pid, &status, 0);
	printf("the other: %d\n", status);
	return 0;
}
