/* story.c: a thread that touches pages and migrations between CPUs, and its log. */
#include "proven.h"

#include <linux/futex.h>
#include <linux/perf_event.h>

#define AREA 512

struct story *story;
int quiet;

static const long page = 4096;		/* or a part of one: see walker_touch() */

void story_make(void)
{
	story = ready_memory(sizeof(*story), MAP_SHARED);
}

static __thread int counter = -1;

/*
 * Counts as PAPI does, for a thread and for a child that drops its parent's: getrusage(2) includes
 * the kernel's faults.
 */
void faults_count(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_PAGE_FAULTS,
				     .exclude_kernel = 1,
				     .exclude_hv = 1 };

	counter = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (counter < 0)
		die("perf_event_open");
}

void faults_end(void)
{
	close(counter);
}

int fault_counter(void)
{
	return counter;
}

long faults_of_thread(void)
{
	long n;

	if (syscall(SYS_read, counter, &n, sizeof(n)) != sizeof(n))
		die("the counter of faults");
	return n;
}

/* A process must touch the shared pages once before it uses them. */
static void look_at_story(void)
{
	for (unsigned i = 0; i < sizeof(*story); i += page)
		atomic_fetch_add((atomic_uchar *)story + i, 0);
}

/* Make all later actions once, so that none of them faults while counting. */
void walker_make(struct walker *w, int only)
{
	*w = (struct walker){.only = only, .stay = rnd_scale()};
	prefault();
	look_at_story();
	faults_count();
	w->area = new_memory(AREA * sysconf(_SC_PAGESIZE));
	w->area_used = AREA;
	walker_go(w, only < 0 ? 0 : only);
	walk(w, 2 * AREA);
	faults_of_thread();
	w->begun = faults_of_thread();
	w->entered = atomic_load(&story->n);
}

void walker_go(struct walker *w, int cpu)
{
	w->at = cpu;
	w->wide = 0;
	go_to(cpu);
}

/* Lets the kernel move it, or not. */
static void be_free(struct walker *w)
{
	w->wide = 1;
	allow(0, 0, cpus);
}

static void enter(int cpu)
{
	unsigned n = atomic_load(&story->n);

	if (n + 1 >= LOG) {
		fprintf(stderr, "the log is full\n");
		exit(1);
	}
	story->cpu[n] = (unsigned char)cpu;
	atomic_store(&story->n, n + 1);
}

static void fault(struct walker *w)
{
	const long size = sysconf(_SC_PAGESIZE);

	if (w->area_used == AREA) {
		madvise(w->area, AREA * size, MADV_DONTNEED);
		w->area_used = 0;
	}
	*(volatile char *)(w->area + size * w->area_used++) = 1;
}

void walker_touch(struct walker *w)
{
	int cpu = w->wide ? index_of(sched_getcpu()) : w->at;
	unsigned n = atomic_load(&story->n);

	if (w->hidden) {
		fault(w);
		return;
	}
	if (w->wide && w->only >= 0 && cpu != w->only)
		return;
	enter(cpu);
	fault(w);
	if (w->wide && index_of(sched_getcpu()) != cpu)
		story->cpu[n] = UNSURE;
}

static void move(struct walker *w)
{
	if (w->stays && !atomic_load(&story->freed))
		return;
	if (w->only < 0) {
		rnd(4) || w->narrow ? walker_go(w, (int)rnd(cpus)) : be_free(w);
		return;
	}
	walker_go(w, (int)rnd(cpus));
	spin(rnd(300));
	walker_go(w, w->only);
}

void walk(struct walker *w, int steps)
{
	while (steps-- > 0) {
		if (rnd(w->stay) == 0)
			move(w);
		if (rnd(4))
			walker_touch(w);
		if (rnd(200) == 0)
			spin(rnd(3000));
	}
}

/*
 * On its current CPU: the caller has stayed there since the last call, or may have been moved by
 * the kernel.
 */
void walker_catch_up(struct walker *w)
{
	long more = faults_of_thread() - w->begun - (atomic_load(&story->n) - w->entered);

	while (more-- > 0)
		enter(w->wide ? UNSURE : w->at);
}

void walker_end(struct walker *w)
{
	long more = faults_of_thread() - w->begun - (atomic_load(&story->n) - w->entered);

	atomic_fetch_add(&story->noise, more < 0 ? -more : more);
}

/* ---- sleeping ---------------- */

void futex_wait(atomic_uint *word, unsigned while_it_is)
{
	while (atomic_load(word) == while_it_is)
		syscall(SYS_futex, word, FUTEX_WAIT, while_it_is, NULL, NULL, 0);
}

void futex_wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1000, NULL, NULL, 0);
}

/* A thread is not asleep as soon as it was told to sleep. */
void until_asleep(pid_t tid)
{
	char path[64], text[256], *end;
	int stat, asleep = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	stat = open(path, O_RDONLY | O_CLOEXEC);
	while (!asleep) {
		ssize_t n = pread(stat, text, sizeof(text) - 1, 0);

		if (n <= 0)
			die(path);
		text[n] = '\0';
		end = strrchr(text, ')');
		asleep = end && end[2] == 'S';
		sched_yield();
	}
	close(stat);
}
