/* t-ledger-threads.c: ledger.h: threads that book for another one's set, under the application's
 * lock and without one.
 */
#include "ledger-sets.h"

#include <errno.h>
#include <pthread.h>

static __attribute__((noinline)) void book_own(enum sp_op op, int cpu, const long long *x)
{
	book(&sets[0], op, cpu, x, false);
}

static pthread_mutex_t application = PTHREAD_MUTEX_INITIALIZER;
static bool finish;
static long long shared_count[KMAX];	/* what all threads see of one running set */

static void locked_call(enum sp_op op, int cpu, bool owner)
{
	struct papi *p = &sets[0].papi;
	long long x[KMAX] = { 0 };

	pthread_mutex_lock(&application);
	if (op == SP_OP_STOP && !p->running)
		op = SP_OP_START;
	for (int e = 0; e < p->k; e++)
		papi_work(p, e, 1 + e);
	papi_call(p, op, x);
	if (owner && (!has_values(op) || cpu & 1))
		book_own(op, cpu, x);
	else if (owner)
		sp_ledger_book_parts(&sets[0].w, op, cpu, x, &parts_somewhere, 0, false);
	else
		sp_ledger_book_foreign(&sets[0].w, op, cpu, has_values(op) ? x : NULL,
				       cpu & 1 && has_values(op) ? &parts_somewhere : NULL, 0);
	pthread_mutex_unlock(&application);
}

static void *foreign_locked(void *arg)
{
	uint64_t r = (uintptr_t)arg;

	while (!sp_get(&finish)) {
		r = r * 6364136223846793005ull + 1442695040888963407ull;
		locked_call((r >> 60) < 10 ? SP_OP_READ : (enum sp_op)((r >> 40) % SP_OP_WRITE), (int)(r >> 33) & 3,
			    false);
	}
	return NULL;
}

static void end_threads(pthread_t *t, int n)
{
	sp_put(&finish, true);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void foreign_with_a_lock(void **state)
{
	pthread_t t[3];
	double end = now() + 0.5;

	(void)state;
	sp_put(&finish, false);
	open_sets(1, 3, 0, DENSE);
	locked_call(SP_OP_START, 0, true);
	for (uintptr_t i = 0; i < SP_COUNT(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, foreign_locked, (void *)(i + 1)), 0);
	while (now() < end)
		locked_call(rnd(4) ? SP_OP_READ : (enum sp_op)rnd(SP_OP_WRITE), (int)rnd(DENSE), true);
	end_threads(t, SP_COUNT(t));
	locked_call(SP_OP_READ, 0, true);
	assert_int_equal(wrong_sum(), 0);
	assert_true(sets[0].w.relation->flags & SP_RELATION_FOREIGN);
	sp_store_close(&store);
}

static void shared_values(long long *x)
{
	for (int e = 0; e < 3; e++)
		x[e] = __atomic_add_fetch(&shared_count[e], 1 + e, __ATOMIC_RELAXED);
}

static void *foreign_reads(void *arg)
{
	long long x[KMAX];

	for (unsigned n = 0; !sp_get(&finish); n++) {
		shared_values(x);
		sp_ledger_book_foreign(&sets[0].w, SP_OP_READ, (int)((uintptr_t)arg + n / 16) % DENSE, x,
				       n & 1 ? &parts_somewhere : NULL, 0);
	}
	return NULL;
}

static void read_by_handler(int sig)
{
	long long x[KMAX];
	int saved = errno;

	(void)sig;
	shared_values(x);
	book_own(SP_OP_READ, 3, x);
	errno = saved;
}

static void foreign_without_a_lock(void **state)
{
	pthread_t t[3];
	double end;
	long long x[KMAX];
	timer_t timer;

	(void)state;
	sp_put(&finish, false);
	memset(shared_count, 0, sizeof(shared_count));
	open_sets(1, 3, 0, DENSE);
	book_own(SP_OP_START, 0, NULL);
	for (unsigned n = 0; n < 1000; n++) {		/* not shared yet */
		shared_values(x);
		book_own(SP_OP_READ, 0, x);
	}
	for (uintptr_t i = 0; i < SP_COUNT(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, foreign_reads, (void *)i), 0);
	start_timer(&timer, read_by_handler, 50000, 0);
	for (end = now() + 0.5; now() < end;) {
		shared_values(x);
		book_own(SP_OP_READ, (int)rnd(DENSE), x);
	}
	timer_delete(timer);
	signal(SIGALRM, SIG_IGN);
	end_threads(t, SP_COUNT(t));
	shared_values(x);
	book_own(SP_OP_READ, 0, x);
	memcpy(sets[0].papi.handed, x, sizeof(x));
	assert_int_equal(wrong_sum(), 0);
	sp_store_close(&store);
}

/* The first foreign booking meets an owner on the fast path, again and again. */
static void *foreign_once(void *arg)
{
	long long x[KMAX];

	(void)arg;
	shared_values(x);
	sp_ledger_book_foreign(&sets[0].w, SP_OP_READ, 1, x, NULL, 0);
	sp_put(&finish, true);
	return NULL;
}

static void foreign_comes_in(void **state)
{
	(void)state;
	for (int i = 0; i < 150 / SLOW_BUILD; i++) {
		pthread_t t;
		long long x[KMAX];

		sp_put(&finish, false);
		memset(shared_count, 0, sizeof(shared_count));
		open_sets(1, 3, 0, DENSE);
		book_own(SP_OP_START, 0, NULL);
		pthread_create(&t, NULL, foreign_once, NULL);
		while (!sp_get(&finish)) {
			shared_values(x);
			book_own(SP_OP_READ, 0, x);
		}
		pthread_join(t, NULL);
		shared_values(x);
		book_own(SP_OP_READ, 0, x);
		memcpy(sets[0].papi.handed, x, sizeof(x));
		assert_int_equal(wrong_sum(), 0);
		sp_store_close(&store);
	}
}

/* It came in while the owner, who did not know yet that the set is shared, was in the middle of a booking. */
static void foreign_leaves_a_booking_alone(void **state)
{
	long long x[KMAX] = { 1, 2, 3 };
	struct sp_writer *w = &sets[0].w;
	uint64_t turn;

	(void)state;
	open_sets(1, 3, 0, DENSE);
	book_own(SP_OP_START, 0, NULL);
	w->in_flight = (UINTPTR_MAX & ~(uintptr_t)15) | SP_OP_READ;
	turn = w->relation->turn;
	sp_ledger_book_foreign(w, SP_OP_READ, 1, x, NULL, 0);
	assert_int_equal(w->relation->turn, turn);
	w->in_flight = 0;
	sp_ledger_settle(w);
	memcpy(sets[0].papi.handed, x, sizeof(x));
	assert_int_equal(wrong_sum(), 0);
	sp_store_close(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_with_a_lock),
		cmocka_unit_test(foreign_without_a_lock),
		cmocka_unit_test(foreign_comes_in),
		cmocka_unit_test(foreign_leaves_a_booking_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
