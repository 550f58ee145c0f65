/*
 * shared.c: one set that its owner, which is counted, and two more threads read and stop, all of
 * them moving.
 */
#include "proven.h"

#define READERS 2

static struct walker owner;
static __thread int is_owner;	/* sspapi's work for the query is counted */
static int set, running, one_by_one, stops_left;

/*
 * Readings may run at the same time, if the seed selects that; calls that begin or end a window may
 * not.
 */
static pthread_rwlock_t turn = PTHREAD_RWLOCK_INITIALIZER;

static void call(enum call c)
{
	unsigned least = least_now();
	long long value = papi_call(set, c);

	entered(c, least, value, most_now());
}

/*
 * One of two simultaneous reads may return what the other had read before (PAPI has one buffer for
 * both).
 */
static void read_beside(enum call c)
{
	long long value = papi_call(set, c);

	entered(c, 0, value, most_now());
}

static void only_read(void)
{
	pthread_rwlock_rdlock(&turn);
	if (running)
		read_beside(rnd(3) ? READ : READ_TS);
	pthread_rwlock_unlock(&turn);
}

static void any_call(void)
{
	pthread_rwlock_wrlock(&turn);
	if (!running && stops_left) {
		call(START);
		running = 1;
	} else if (running && rnd(6) == 0) {
		call(STOP);
		running = 0;
		stops_left--;
	} else if (running) {
		call((enum call[]){READ, READ, READ, READ_TS, ACCUM, RESET}[rnd(6)]);
		if (!is_owner)
			value_asked();
	}
	atomic_store(&story->end, !running && !stops_left);
	pthread_rwlock_unlock(&turn);
}

static void step(void)
{
	if (one_by_one || rnd(3) == 0)
		any_call();
	else
		only_read();
}

static void *reader(void *seed)
{
	unsigned scale;

	rnd_seed((unsigned long)seed);
	scale = rnd_scale();
	prefault();
	futex_wait(&story->ask, 0);
	while (!atomic_load(&story->end)) {
		unsigned from = atomic_load(&story->n), n = rnd(scale);

		reader_moves();
		while (atomic_load(&story->n) - from < n && !atomic_load(&story->end))
			sched_yield();
		spin(rnd(2000));
		step();
	}
	return NULL;
}

/* The first use of PAPI and of sspapi. */
static void warm(void)
{
	for (int i = 0; i < 2; i++) {
		papi_call(set, START);
		for (enum call c = READ; c <= STOP; c++)
			papi_call(set, c);
	}
}

static void be_owner(void)
{
	while (!atomic_load(&story->end)) {
		walk(&owner, 1 + (int)rnd(300));
		if (rnd(3) == 0)
			step();
	}
	walker_end(&owner);
}

void shared(void)
{
	pthread_t thread[READERS];

	begin_papi();
	set = set_with(fault_event);
	warm();
	one_by_one = (int)rnd(2);
	stops_left = 1 + (int)rnd(12);
	for (int i = 0; i < READERS; i++)
		pthread_create(&thread[i], NULL, reader, (void *)(unsigned long)rnd(1u << 30));
	is_owner = 1;
	walker_make(&owner, rnd(3) ? (int)rnd(cpus) : -1);
	atomic_store(&story->ask, 1);
	futex_wake(&story->ask);
	be_owner();
	for (int i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
}
