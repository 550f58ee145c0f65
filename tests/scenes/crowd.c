/*
 * crowd: threads that come and go without order. usage: crowd MODE
 *	unjoined	16 threads are in the middle of it when main returns
 *	short		2000 threads, four at a time, one measurement each
 *	destructor	thread-local destructors read and stop the thread's set
 *	handoff		a set is made by one thread, read by a second, stopped by a third
 *	leaver		threads end with their sets running; main stops some of them
 *	reuse		four threads make and drop sets as fast as they can: PAPI gives an
 *			id that one thread has just dropped to another at once
 *	dumped		short, while another thread makes one dump after the other
 *	asked		main has children, who count, while other threads ask for all relations
 *	keeps		one thread makes, uses and drops sets of four kinds 500 times
 */
#include "now.h"

#define MOST 16

static int sets[MOST];
static pthread_barrier_t met;
static pthread_key_t key;

static void *unjoined(void *arg)
{
	int i = (int)(long)arg, set = now_set();

	pin(i);
	now_begin(set, 100 + i);
	pthread_barrier_wait(&met);
	for (;;)
		pause();
	return NULL;
}

static void run_unjoined(void)
{
	pthread_t t;

	pthread_barrier_init(&met, NULL, MOST + 1);
	for (long i = 0; i < MOST; i++)
		pthread_create(&t, NULL, unjoined, (void *)i);
	pthread_barrier_wait(&met);
}

static void *one(void *arg)
{
	must("PAPI_register_thread", PAPI_register_thread());
	now((int)(long)arg);
	must("PAPI_unregister_thread", PAPI_unregister_thread());
	return NULL;
}

static void run_short(void)
{
	pthread_t t[4];

	for (long i = 0; i < 2000; i += 4) {
		for (int k = 0; k < 4; k++)
			pthread_create(&t[k], NULL, one, (void *)(i + k));
		for (int k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
	}
}

static void at_thread_exit(void *set)
{
	now_end((int)(long)set - 1, 50);
}

static void *destructor(void *arg)
{
	int set = now_set();

	now_begin(set, (int)(long)arg);
	pthread_setspecific(key, (void *)(long)(set + 1));
	return NULL;
}

static void run_destructor(void)
{
	pthread_key_create(&key, at_thread_exit);
	run_threads(8, destructor);
}

/* What is printed is where the set's thread is, not its reader: all on one CPU. */
static void *maker(void *arg)
{
	sets[0] = now_set();
	now_begin(sets[0], 5);
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&met);
	return arg;
}

static void *reader(void *arg)
{
	long long before = 5, value;

	pin(0);
	fake_count_set(sets[0], "EV_A", 6);
	must("PAPI_read", PAPI_read(sets[0], &value));
	told("PAPI_read", value - before);
	return arg;
}

static void *stopper(void *arg)
{
	pin(0);
	now_end(sets[0], 7);
	return arg;
}

static void run_handoff(void)
{
	pthread_t a;

	pthread_barrier_init(&met, NULL, 2);
	pthread_create(&a, NULL, maker, NULL);
	pthread_barrier_wait(&met);
	run_thread(NULL, reader, NULL);
	run_thread(NULL, stopper, NULL);
	pthread_barrier_wait(&met);
	pthread_join(a, NULL);
}

static void *leaver(void *arg)
{
	int i = (int)(long)arg;

	sets[i] = now_set();
	now_begin(sets[i], 10 * i);
	return NULL;
}

static void run_leaver(void)
{
	pin(0);
	for (long i = 0; i < MOST; i++)
		run_thread(NULL, leaver, (void *)i);
	for (int i = 0; i < MOST; i += 2)
		now_end(sets[i], i);
}

static void *reuse(void *arg)
{
	long long sum = 0, value;
	int set;

	pin((int)(long)arg);
	for (int i = 0; i < 1000; i++) {
		set = set_with("EV_A");
		must("PAPI_start", PAPI_start(set));
		fake_count_set(set, "EV_A", 1);
		must("PAPI_stop", PAPI_stop(set, &value));
		sum += value;
		drop_set(set);
	}
	told("PAPI_stop", sum);
	return arg;
}

static void run_reuse(void)
{
	run_threads(4, reuse);
}

int sspapi_snapshot(const char *path, const char *format) __attribute__((weak));
static volatile int short_done;

static void *snapshots(void *arg)
{
	(void)arg;
	while (!short_done)
		if (sspapi_snapshot)
			must("sspapi_snapshot", sspapi_snapshot("/dev/null", "json"));
		else
			usleep(1000);
	return NULL;
}

static void run_dumped(void)
{
	pthread_t t;

	pthread_create(&t, NULL, snapshots, NULL);
	run_short();
	short_done = 1;
	pthread_join(t, NULL);
}

int sspapi_relations(void **rels, int *n) __attribute__((weak));
static volatile int asked_done;

static void *asks(void *arg)
{
	void *rels[64];

	while (!asked_done)
		if (sspapi_relations)
			must("sspapi_relations", sspapi_relations(rels, &(int){64}));
		else
			usleep(100);
	return arg;
}

static void has_relations(int wanted)
{
	void *rels[64];
	int n = 64;

	if (!sspapi_relations)
		return;
	must("sspapi_relations", sspapi_relations(rels, &n));
	if (n != wanted)
		printf("wrong: %d relations, not %d\n", n, wanted);
}

static void asked_child(int i)
{
	has_relations(0);
	up();
	now(i);
	has_relations(1);
	exit(0);
}

static void run_asked(void)
{
	pthread_t t[2];
	int status;

	for (int i = 0; i < 20; i++)
		now(i);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, asks, NULL);
	for (int i = 0; i < 100; i++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid == 0)
			asked_child(i);
		if (waitpid(pid, &status, 0) != pid || status)
			printf("wrong: a child ended with %#x\n", status);
	}
	asked_done = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static void run_keeps(void)
{
	static const char *const events[] = {"EV_A", "EV_B", "EV_C", "EV_D"};
	long long values[4];

	for (int i = 0; i < 500; i++) {
		int set;

		pin(i);
		set = set_with_all(i % 4 + 1, events);
		must("PAPI_start", PAPI_start(set));
		fake_count_set(set, events[i % 4], i);
		must("PAPI_stop", PAPI_stop(set, values));
		printf("handed cpu=%d event=%s value=%lld by=PAPI_stop\n", sched_getcpu(),
		       events[i % 4], values[i % 4]);
		drop_set(set);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
	    {"unjoined", run_unjoined}, {"short", run_short},	{"destructor", run_destructor},
	    {"handoff", run_handoff},	{"leaver", run_leaver}, {"keeps", run_keeps},
	    {"reuse", run_reuse},	{"dumped", run_dumped}, {"asked", run_asked},
	};

	nth_cpu(0);
	up_threads();
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (argc > 1 && !strcmp(modes[i].name, argv[1])) {
			modes[i].run();
			return 0;
		}
	return 2;
}
