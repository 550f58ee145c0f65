/*
 * windows: makes many short windows, each with its own set, and the kernel's record of each.
 *
 *	windows N [busy] busy: another thread wants the same CPU, and in some windows this one
 *				yields, sleeps, or moves to another CPU and back
 *
 * Prints for each window "window set=ID inside=I around=A moved=M": the switches of the thread that
 * the kernel recorded certainly inside it, possibly around it, and inside on another CPU.
 */
#include "handed.h"

#include <linux/perf_event.h>

#define MOST 1000
#define PAGES 128

static struct perf_event_mmap_page *ring;
static volatile int stop;

struct window {
	struct counted *c;
	uint64_t before, opened, closing, after;
	int inside, around, moved;
};

static struct window windows[MOST];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void record_switches(void)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
				    .size = sizeof(a),
				    .config = PERF_COUNT_SW_DUMMY,
				    .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
				    .sample_id_all = 1,
				    .context_switch = 1,
				    .exclude_kernel = 1,
				    .use_clockid = 1,
				    .clockid = CLOCK_MONOTONIC};
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
	void *p =
		fd < 0 ? MAP_FAILED
		       : mmap(NULL, (PAGES + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		perror("the kernel's records of switches");
		exit(SKIPPED);
	}
	ring = p;
	for (int i = 0; i <= PAGES; i++)
		*((volatile char *)p + i * 4096);
}

/* Records of 24 bytes: a header, the time, the CPU. */
static void look_up(int n)
{
	struct record {
		struct perf_event_header h;
		uint64_t time;
		uint32_t cpu, reserved;
	} *r = (void *)((char *)ring + 4096);
	uint32_t home = (uint32_t)nth_cpu(0);
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), bytes = PAGES * 4096;

	if (head + 256 > bytes) {
		fprintf(stderr, "more switches than fit\n");
		exit(SKIPPED);
	}
	for (uint64_t at = 0; at < head; at += sizeof(*r))
		for (int i = 0; i < n; i++) {
			uint64_t t = r[at / sizeof(*r)].time;

			windows[i].moved += r[at / sizeof(*r)].cpu != home &&
					    t > windows[i].opened && t < windows[i].closing;
			windows[i].inside += t > windows[i].opened && t < windows[i].closing;
			windows[i].around += t > windows[i].before && t < windows[i].after;
		}
}

static void *want_cpu(void *unused)
{
	(void)unused;
	pin(0);
	while (!stop)
		;
	return NULL;
}

static void work(int i, int busy)
{
	uint64_t end = now() + 10000;

	touch(&windows[i].c->arena, 1);
	if (busy && i % 4 == 1)
		sched_yield();
	if (busy && i % 4 == 2)
		nanosleep(&(struct timespec){0, 1}, NULL);
	if (busy && i % 4 == 3) {
		pin(1);
		pin(0);
	}
	while (now() < end)
		;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100, busy = argc > 2;
	long long values[EVENTS];
	pthread_t other;

	n = n > MOST ? MOST : n;
	papi_up();
	pin(0);
	for (int i = 0; i < n; i++) {
		windows[i].c = counted_new(0, NULL, 1);
		make_set(windows[i].c);
	}
	prefault();
	record_switches();
	if (busy)
		pthread_create(&other, NULL, want_cpu, NULL);
	for (int i = 0; i < n; i++) {
		struct window *w = &windows[i];

		/*
		 * Begin at a reset: PAPI_start closes what it opened before another set was used,
		 * and close() may cause a loss before Linux 6.6 (rseq-proof.h).
		 */
		must("PAPI_start", PAPI_start(w->c->id));
		w->before = now();
		must("PAPI_reset", PAPI_reset(w->c->id));
		w->opened = now();
		work(i, busy);
		w->closing = now();
		must("PAPI_stop", PAPI_stop(w->c->id, values));
		w->after = now();
	}
	stop = 1;
	if (busy)
		pthread_join(other, NULL);
	look_up(n);
	for (int i = 0; i < n; i++)
		printf("window set=%d inside=%d around=%d moved=%d\n", windows[i].c->id,
		       windows[i].inside, windows[i].around, windows[i].moved);
	return 0;
}
