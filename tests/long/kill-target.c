/*
 * kill-target: two threads (-t) that count forever, move between two CPUs, and keep in a shared
 * file what PAPI has returned so far, for comparison after this program is killed.
 * usage: kill-target [-p FILE] [-n ROUNDS] [-t THREADS] [-s SETS] [-e END] [-q]
 *
 *	-n	ends after ROUNDS rounds per thread (0: never), and prints `handed` lines
 *	-s	event sets per thread, used in turn
 *	-e	how it ends: exit, segv, abort, bus, or a number: a thread raises that signal
 *	-q	waits for a line on stdin before it ends
 *
 * Built with -DREAL it counts page faults with the real libpapi, else EV_A and EV_B of the scripted
 * one.
 *
 * The file, in 8-byte words: 0 threads that have read something; 1, 2 the CPUs; from 8 on, 32 for
 * each of the first eight threads: turn, tid, 2 free, and two slots of 14, of which number `turn &
 * 1` is valid: seen[cpu][event], may[cpu][event], readings, 5 free. `seen` is what calls have
 * returned, `may` what the call in progress returns in addition.
 */
#ifdef REAL
#include "../apps/handed.h"
#define E 1
static const char *const names[] = {"perf::PAGE-FAULTS"};
#else
#include "../scenes/scene.h"
#define E 2
static const char *const names[] = {"EV_A", "EV_B"};
#endif
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#define CPUS 2
#define SEEN_THREADS 8
#define MOST_SETS 4096
#define PAGES 64

struct slot {
	long long seen[CPUS][E], may[CPUS][E], readings;
	long long pad[13 - 2 * CPUS * E];
};

struct seen {
	unsigned long turn;
	long tid, pad[2];
	struct slot slot[2];
};

struct page {
	long ready, cpu[CPUS], pad[5];
	struct seen of[SEEN_THREADS];
};

struct worker {
	pthread_t thread;
	int i, cpu, set, sets[MOST_SETS];
	struct seen *seen;
	long long pending[E];		/* counted, but not returned */
	long long last[E];
	char *memory;
};

static struct page *page;
static long rounds;
static int n_sets = 1;
static const char *end_by = "exit";

/* ---- what was handed out ------------------------------------------------- */

static void publish(struct worker *w, int returned)
{
	const struct slot *old = &w->seen->slot[w->seen->turn & 1];
	struct slot *new = &w->seen->slot[(w->seen->turn + 1) & 1];

	*new = *old;
	if (returned) {
		memcpy(new->seen, new->may, sizeof(new->seen));
		new->readings++;
		if (new->readings == 1)
			__atomic_fetch_add(&page->ready, 1, __ATOMIC_RELAXED);
	} else {
		for (int e = 0; e < E; e++)
			new->may[w->cpu][e] += w->pending[e];
	}
	__atomic_store_n(&w->seen->turn, w->seen->turn + 1, __ATOMIC_RELEASE);
}

static void same(struct worker *w, const char *what, const long long *got)
{
	for (int e = 0; e < E; e++) {
		if (got[e] == w->pending[e])
			continue;
		fprintf(stderr, "%s handed out %lld %s, not %lld\n", what, got[e], names[e],
			w->pending[e]);
		exit(9);
	}
}

/* values: the running ones, or NULL if PAPI returns none */
static void reading(struct worker *w, const char *what, int code, const long long *values)
{
	long long got[E];

	must(what, code);
	for (int e = 0; values && e < E; e++) {
		got[e] = values[e] - w->last[e];
		w->last[e] = values[e];
	}
	if (values)
		same(w, what, got);
	publish(w, 1);
	memset(w->pending, 0, sizeof(w->pending));
}

static void zero(struct worker *w)
{
	memset(w->pending, 0, sizeof(w->pending));
	memset(w->last, 0, sizeof(w->last));
}

/* ---- what happens --------------------------------------------------------- */

static void happen(struct worker *w, int n)
{
#ifdef REAL
	for (int i = 0; i < n % PAGES; i++)
		*(volatile char *)(w->memory + i * 4096) = 1;
	madvise(w->memory, PAGES * 4096, MADV_DONTNEED);
	w->pending[0] += n % PAGES;
#else
	fake_count("EV_A", n);
	fake_count("EV_B", 2 * n + 1);
	w->pending[0] += n;
	w->pending[1] += 2 * n + 1;
#endif
}

static void move(struct worker *w, int to)
{
	pin(to);
	w->cpu = to;
}

static void make(struct worker *w, int s)
{
	w->sets[s] = set_with_all(E, names);
}

static void turn_over(struct worker *w, int s)
{
	drop_set(w->sets[s]);
	make(w, s);
}

static void round_of(struct worker *w, int set, int r)
{
	long long v[E], sum[E] = {0}, before[E], cycles;

	must("PAPI_start", PAPI_start(set));
	zero(w);
	for (int i = 0; i < 3; i++) {
		happen(w, 3 + r % 5);
		publish(w, 0);
		reading(w, "PAPI_read", PAPI_read(set, v), v);
	}
	move(w, !w->cpu);
	happen(w, 7);
	publish(w, 0);
	reading(w, "PAPI_read_ts", PAPI_read_ts(set, v, &cycles), v);
	happen(w, 1000);		/* lost by the reset, natively as well */
	must("PAPI_reset", PAPI_reset(set));
	zero(w);
	for (int i = 0; i < 2; i++) {
		happen(w, 11 + i);
		publish(w, 0);
		memcpy(before, sum, sizeof(sum));
		int rc = PAPI_accum(set, sum);

		memcpy(w->last, before, sizeof(before));
		reading(w, "PAPI_accum", rc, sum);
		zero(w);
	}
	if (r & 1)
		move(w, !w->cpu);
	happen(w, 5);
	publish(w, 0);
	if (r % 3)
		reading(w, "PAPI_stop", PAPI_stop(set, v), v);
	else
		reading(w, "PAPI_stop", PAPI_stop(set, NULL), NULL);
}

static void die_by(const char *how)
{
	if (!strcmp(how, "segv")) {
		int *volatile nowhere = NULL;

		*(volatile int *)nowhere = 1;
	} else if (!strcmp(how, "abort")) {
		abort();
	} else if (!strcmp(how, "bus")) {
		int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
		char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		*(volatile char *)p = 1;
	} else if (atoi(how)) {
		raise(atoi(how));
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->seen->tid = syscall(SYS_gettid);
	w->memory = new_memory(PAGES * 4096);
	must("PAPI_register_thread", PAPI_register_thread());
	move(w, w->i & 1);
	for (int s = 0; s < n_sets; s++)
		make(w, s);
	prefault();
	for (long r = 0; !rounds || r < rounds; r++) {
		for (int s = 0; s < n_sets; s++)
			round_of(w, w->sets[s], r);
		if (r % 8 == 7)
			turn_over(w, 0);
	}
	if (!w->i)
		die_by(end_by);
	return NULL;
}

static void map_page(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;

	if (path && (fd < 0 || ftruncate(fd, sizeof(*page))))
		die(path);
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
		    (path ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS) | MAP_POPULATE, fd, 0);
	if (page == MAP_FAILED)
		die("mmap");
	if (fd >= 0)
		close(fd);
	for (int c = 0; c < CPUS; c++)
		page->cpu[c] = nth_cpu(c);
}

static void print_seen(const struct worker *w)
{
	const struct slot *s = &w->seen->slot[w->seen->turn & 1];

	for (int c = 0; c < CPUS; c++)
		for (int e = 0; e < E; e++)
			printf("handed cpu=%ld event=%s value=%lld thread=%d\n", page->cpu[c],
			       names[e], s->seen[c][e], w->i);
}

int main(int argc, char **argv)
{
	const char *path = NULL;
	int n = 2, wait = 0, opt, version, code;
	struct worker *w;

	while ((opt = getopt(argc, argv, "p:n:t:s:e:q")) != -1) {
		if (opt == 'p')
			path = optarg;
		else if (opt == 'n')
			rounds = atol(optarg);
		else if (opt == 't')
			n = atoi(optarg);
		else if (opt == 's')
			n_sets = atoi(optarg);
		else if (opt == 'e')
			end_by = optarg;
		else
			wait = 1;
	}
	alarm(120);			/* ends even if its parent is gone */
	map_page(path);
#ifdef REAL
	version = PAPI_VER_CURRENT;
#else
	version = fake_version() << 16;
#endif
	if (PAPI_library_init(version) != version || PAPI_thread_init(pthread_self) != PAPI_OK)
		die("PAPI_library_init");
	for (int e = 0; e < E; e++)
		must(names[e], PAPI_event_name_to_code(names[e], &code));
	w = calloc(n, sizeof(*w));
	for (int i = 0; i < n; i++) {
		w[i].i = i;
		w[i].seen = i < SEEN_THREADS ? &page->of[i] : calloc(1, sizeof(*w[i].seen));
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (int i = 0; i < n; i++)
		pthread_join(w[i].thread, NULL);
	for (int i = 0; i < n; i++)
		print_seen(&w[i]);
	fflush(stdout);
	if (wait)
		getchar();
	return 0;
}
