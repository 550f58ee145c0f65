/* t-records-threads.c: store/records.h: threads that book for another one's set, under the
 * application's lock and without one.
 */
#include "record-sets.h"
#include "stepping.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

static __attribute__((noinline)) void book_own(enum sp_op op, int cpu, const long long *x)
{
	book(&sets[0], op, cpu, x, false);
}

static pthread_mutex_t application = PTHREAD_MUTEX_INITIALIZER;
static bool finish;
static long long shared_count[KMAX];	/* what all threads see of one running set */

/* who: BOOK_OWNER, or another thread. */
static void locked_call(enum sp_op op, int cpu, uint32_t who)
{
	struct papi *p = &sets[0].papi;
	struct sp_writer *w = &sets[0].w;
	long long x[KMAX] = { 0 };

	pthread_mutex_lock(&application);
	if (op == SP_OP_STOP && !p->running)
		op = SP_OP_START;
	for (int e = 0; e < p->k; e++)
		papi_work(p, e, 1 + e);
	papi_call(p, op, x);
	if (who != BOOK_OWNER)
		book_foreign(w, op, cpu, has_values(op) ? x : NULL,
			     cpu & 1 && has_values(op) ? &parts_somewhere : NULL, 0, who);
	else if (!has_values(op) || cpu & 1)
		book_own(op, cpu, x);
	else
		book_parts(w, op, cpu, x, &parts_somewhere, 0);
	pthread_mutex_unlock(&application);
}

static void *foreign_locked(void *arg)
{
	uint64_t r = (uintptr_t)arg;

	while (!load_relaxed(&finish)) {
		r = r * 6364136223846793005ull + 1442695040888963407ull;
		locked_call((r >> 60) < 10 ? SP_OP_READ : (enum sp_op)((r >> 40) % SP_OP_WRITE),
			    (int)(r >> 33) & 3, (uint32_t)(uintptr_t)arg + BOOK_OWNER);
	}
	return NULL;
}

static void end_threads(pthread_t *t, int n)
{
	store_relaxed(&finish, true);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void foreign_with_a_lock(void **state)
{
	pthread_t t[3];
	double end = now() + 0.5;

	(void)state;
	store_relaxed(&finish, false);
	open_sets(1, 3, 0, DENSE);
	locked_call(SP_OP_START, 0, BOOK_OWNER);
	for (uintptr_t i = 0; i < SP_COUNT(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, foreign_locked, (void *)(i + 1)), 0);
	while (now() < end)
		locked_call(rnd(4) ? SP_OP_READ : (enum sp_op)rnd(SP_OP_WRITE), (int)rnd(DENSE),
			    BOOK_OWNER);
	end_threads(t, SP_COUNT(t));
	locked_call(SP_OP_READ, 0, BOOK_OWNER);
	assert_int_equal(wrong_sum(), 0);
	sp_store_close(&store);
}

static void shared_values(long long *x)
{
	for (int e = 0; e < 3; e++)
		x[e] = __atomic_add_fetch(&shared_count[e], 1 + e, __ATOMIC_RELAXED);
}

/* As the wrappers do: PAPI hands its values out while no other thread's call is under way. */
static __attribute__((noinline)) void read_own(int cpu)
{
	long long x[KMAX];

	if (!book_begin(&sets[0].w, SP_OP_READ))
		return;
	shared_values(x);
	book_end(&sets[0].w, SP_OP_READ, cpu, x, false, 0);
}

static __attribute__((noinline)) void read_foreign(int cpu, const struct sp_parts *parts,
						   uint32_t who)
{
	struct sp_writer *w = &sets[0].w;
	long long x[KMAX];

	if (!sp_records_enter(w, SP_OP_READ, BOOK_FRAME, who, false))
		return;
	shared_values(x);
	sp_records_returned(w);
	sp_records_finish(
		w, &(struct sp_papi_call){
			   .op = SP_OP_READ, .cpu = cpu, .x = x, .parts = parts, .who = who });
}

static void *foreign_reads(void *arg)
{
	for (unsigned n = 0; !load_relaxed(&finish); n++)
		read_foreign((int)((uintptr_t)arg + n / 16) % DENSE,
			     n & 1 ? &parts_somewhere : NULL, 2 + (uint32_t)(uintptr_t)arg);
	return NULL;
}

static void read_by_handler(int sig)
{
	int saved = errno;

	(void)sig;
	read_own(3);
	errno = saved;
}

static void foreign_without_a_lock(void **state)
{
	pthread_t t[3];
	double end;
	timer_t timer;

	(void)state;
	store_relaxed(&finish, false);
	memset(shared_count, 0, sizeof(shared_count));
	open_sets(1, 3, 0, DENSE);
	book_own(SP_OP_START, 0, NULL);
	for (unsigned n = 0; n < 1000; n++)		/* not shared yet */
		read_own(0);
	for (uintptr_t i = 0; i < SP_COUNT(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, foreign_reads, (void *)i), 0);
	/* else handlers alone run, and the others give up waiting */
	start_timer(&timer, read_by_handler, SLOW_BUILD > 1 ? 1000000 : 50000, 0);
	for (end = now() + 0.5; now() < end;)
		read_own((int)rnd(DENSE));
	timer_delete(timer);
	signal(SIGALRM, SIG_IGN);
	end_threads(t, SP_COUNT(t));
	read_own(0);
	for (int e = 0; e < 3; e++)
		sets[0].papi.handed[e] = shared_count[e];
	assert_int_equal(wrong_sum(), 0);
	sp_store_close(&store);
}

/* The first foreign booking meets an owner on the short way, again and again. */
static void *foreign_once(void *arg)
{
	(void)arg;
	read_foreign(1, NULL, 2);
	store_relaxed(&finish, true);
	return NULL;
}

static void foreign_comes_in(void **state)
{
	(void)state;
	for (int i = 0; i < 150 / SLOW_BUILD; i++) {
		pthread_t t;

		store_relaxed(&finish, false);
		memset(shared_count, 0, sizeof(shared_count));
		open_sets(1, 3, 0, DENSE);
		book_own(SP_OP_START, 0, NULL);
		pthread_create(&t, NULL, foreign_once, NULL);
		while (!load_relaxed(&finish))
			read_own(0);
		pthread_join(t, NULL);
		read_own(0);
		for (int e = 0; e < 3; e++)
			sets[0].papi.handed[e] = shared_count[e];
		assert_int_equal(wrong_sum(), 0);
		sp_store_close(&store);
	}
}

/* The owner is in a call of PAPI that takes long: the other one does not wait for ever, and the
 * owner's is not booked. */
static void foreign_does_not_wait_for_ever(void **state)
{
	long long x[KMAX] = { 1, 2, 3 }, y[KMAX] = { 2, 3, 4 };
	struct sp_writer *w = &sets[0].w;

	(void)state;
	open_sets(1, 3, 0, DENSE);
	book_own(SP_OP_START, 0, NULL);
	assert_true(book_begin(w, SP_OP_READ));
	book_foreign(w, SP_OP_READ, 1, y, NULL, 0, 2);
	sp_records_returned(w);
	assert_false(sp_records_finish(w, &(struct sp_papi_call){
						  .op = SP_OP_READ, .x = x, .who = BOOK_OWNER }));
	memcpy(sets[0].papi.handed, y, sizeof(y));
	assert_int_equal(wrong_sum(), 0);
	assert_true(w->relation->flags & SP_RELATION_UNSURE);
	assert_int_equal(w->in_flight, 0);
	assert_int_equal(w->recording_thread, 0);
	sp_store_close(&store);
}

static uint64_t readings_booked(void)
{
	struct sp_row row = { 0 };
	struct sp_at_cpu at;
	struct sp_model m;
	uint64_t n = 0;

	assert_int_equal(sp_model_open(&m, &store.reader), 0);
	assert_true(sp_model_next(&m, &row));
	for (uint32_t i = 0; sp_row_cell(&m, &row, i, &at); i++)
		n += at.readings;
	sp_model_close(&m);
	return n;
}

/* Another thread binds the writer anew: not while a call is in flight, and whoever comes meanwhile,
 * or has been overtaken, books nothing. */
static void bound_by_one_at_a_time(void **state)
{
	long long x[KMAX] = { 1, 2, 3 };
	struct sp_writer *w = &sets[0].w;

	(void)state;
	open_sets(1, 3, 0, DENSE);
	store_relaxed(&w->owner, BOOK_OWNER);
	book_own(SP_OP_START, 0, NULL);
	assert_true(book_begin(w, SP_OP_READ));
	assert_false(sp_records_take(w, BOOK_FRAME, 2, false));
	assert_int_equal(w->recording_thread, 0);
	book_end(w, SP_OP_READ, 0, x, false, 0);
	assert_true(sp_records_take(w, BOOK_FRAME, 2, false));
	assert_false(sp_records_enter(w, SP_OP_READ, BOOK_FRAME, 3, false));
	assert_false(book_begin(w, SP_OP_READ));
	assert_false(sp_records_take(w, BOOK_FRAME, BOOK_OWNER, true));
	sp_records_bind_taken(w, w->reader, w->off, w->k, w->cells, NULL);
	assert_int_equal(w->recording_thread, 2);
	sp_records_give(w, 2, 2);
	assert_int_equal(w->in_flight | w->slow | w->recording_thread, 0);
	assert_false(sp_records_finish(
		w,
		&(struct sp_papi_call){ .op = SP_OP_READ, .cpu = 1, .x = x, .who = BOOK_OWNER }));
	memcpy(sets[0].papi.handed, x, sizeof(x));
	assert_int_equal(wrong_sum(), 0);
	assert_int_equal(readings_booked(), 1);
	sp_store_close(&store);
}

/* The other way round. */
static void owner_does_not_wait_for_ever(void **state)
{
	long long x[KMAX] = { 1, 2, 3 }, y[KMAX] = { 2, 3, 4 };
	struct sp_writer *w = &sets[0].w;

	(void)state;
	open_sets(1, 3, 0, DENSE);
	store_relaxed(&w->owner, BOOK_OWNER);
	book_own(SP_OP_START, 0, NULL);
	assert_true(sp_records_enter(w, SP_OP_READ, BOOK_FRAME, 2, false));
	book_own(SP_OP_READ, 0, y);
	assert_true(w->relation->flags & SP_RELATION_UNSURE);
	sp_records_returned(w);
	assert_false(sp_records_finish(w, &(struct sp_papi_call){
						  .op = SP_OP_READ, .cpu = 1, .x = x, .who = 2 }));
	memcpy(sets[0].papi.handed, y, sizeof(y));
	assert_int_equal(wrong_sum(), 0);
	assert_int_equal(readings_booked(), 1);
	assert_int_equal(w->in_flight, 0);
	assert_int_equal(w->recording_thread, 0);
	sp_store_close(&store);
}

/* What it was: of a call that zeroes, and that PAPI may have done, it is said that nobody knows. */
static void foreign_gives_up_a_zeroing(void **state)
{
	static const enum sp_op zeroing[] = { SP_OP_RESET, SP_OP_ACCUM };
	long long x[KMAX] = { 10, 20, 30 }, y[KMAX] = { 2, 3, 4 };
	struct sp_writer *w = &sets[0].w;

	(void)state;
	for (unsigned i = 0; i < SP_COUNT(zeroing); i++) {
		open_sets(1, 3, 0, DENSE);
		book_own(SP_OP_START, 0, NULL);
		book_own(SP_OP_READ, 0, x);
		assert_true(book_begin(w, zeroing[i]));
		book_foreign(w, SP_OP_READ, 1, y, NULL, 0, 2);
		for (int e = 0; e < 3; e++)
			sets[0].papi.handed[e] = x[e] + y[e];
		assert_int_equal(wrong_sum(), 0);
		assert_true(w->relation->flags & SP_RELATION_UNSURE);
		sp_store_close(&store);
	}
}

static uint64_t begun, booked;		/* readings of the writer's, the n-th of which counts n, 10
					 * * n and 100 * n */

/* Never alike the one before. */
static void read_next(void)
{
	long long x[3];

	store_release(&begun, begun + 1);
	for (int e = 0; e < 3; e++)
		x[e] = (long long[]){ 1, 10, 100 }[e] * (long long)(begun * (begun + 1) / 2);
	book_own(SP_OP_READ, (int)(begun % DENSE), x);
}

/* In spurts, between which a reader may come to its end. */
static void *reads_in_spurts(void *arg)
{
	uint64_t r = (uintptr_t)arg;

	while (!load_relaxed(&finish)) {
		r = r * 6364136223846793005ull + 1442695040888963407ull;
		for (unsigned n = (r >> 33) % 128; n; n--) {
			read_next();
			store_release(&booked, begun);
		}
		for (volatile unsigned n = (r >> 50) % 1024; n; n--)
			;
	}
	return NULL;
}

/* What is read while the writer books and folds is of one moment. */
static void look_beside(struct sp_model *m, unsigned long *unsure)
{
	const uint64_t least = load_acquire(&booked);
	struct sp_row row = { 0 };
	struct sp_at_cpu at;
	int64_t sum[3] = { 0 };
	uint64_t readings = 0;

	assert_true(sp_model_next(m, &row));
	for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++) {
		readings += at.readings;
		for (int e = 0; e < 3; e++)
			sum[e] += at.total[e];
	}
	if (row.flags & SP_RELATION_UNSURE) {	/* the writer went on each time that it looked */
		++*unsure;
		return;
	}
	assert_in_range(readings, least, load_acquire(&begun));
	assert_int_equal(sum[0], readings * (readings + 1) / 2);
	assert_int_equal(sum[1], 10 * sum[0]);
	assert_int_equal(sum[2], 100 * sum[0]);
}

static void reader_beside(void **state)
{
	unsigned long looks = 0, unsure = 0;
	double end = now() + 1;
	struct sp_model m;
	pthread_t t;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();		/* the reader reads what another thread writes, as another process does, and
			 * then looks whether that was of one moment */
#endif
	store_relaxed(&finish, false);
	begun = booked = 0;
	open_sets(1, 3, 0, DENSE);
	book_own(SP_OP_START, 0, NULL);
	assert_int_equal(sp_model_open(&m, &store.reader), 0);
	assert_int_equal(pthread_create(&t, NULL, reads_in_spurts, (void *)7), 0);
	for (; now() < end; looks++)
		look_beside(&m, &unsure);
	end_threads(&t, 1);
	sp_model_close(&m);
	print_message("%lu looks, %lu of no one moment\n", looks, unsure);
	assert_true(unsure < looks);
	sp_store_close(&store);
}

#if STEPS
/* The same with a writer that waited, and goes on for several folds at one of the reader's looks at
 * a page. */
static void *page;
static unsigned looks, goes_on_at;

static void protect(int how)
{
	assert_int_equal(mprotect(page, 4096, how), 0);
}

static void go_on(void)
{
	for (unsigned n = 0; n < 100; n++)
		read_next();
}

static void looked(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	protect(PROT_READ | PROT_WRITE);
	if (++looks == goes_on_at)
		go_on();
	else
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= 0x100;
}

static void has_looked(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	protect(PROT_NONE);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
}

static void reader_meets_folds(void **state)
{
	struct sigaction fault = { .sa_sigaction = looked, .sa_flags = SA_SIGINFO }, old_fault,
			 trap = { .sa_sigaction = has_looked, .sa_flags = SA_SIGINFO }, old_trap;
	unsigned long met = 0, unsure = 0;
	struct sp_model m;

	(void)state;
	begun = booked = 0;
	open_sets(1, 3, 0, DENSE);
	book_own(SP_OP_START, 0, NULL);
	go_on();
	assert_int_equal(sp_model_open(&m, &store.reader), 0);
	sigaction(SIGSEGV, &fault, &old_fault);
	sigaction(SIGTRAP, &trap, &old_trap);
	for (page = (void *)((uintptr_t)sets[0].w.relation & -4096ul);
	     (char *)page < (char *)sets[0].w.relation + sets[0].w.layout.bytes;
	     page = (char *)page + 4096)
		for (goes_on_at = 1; goes_on_at == 1 || looks >= goes_on_at - 1;
		     goes_on_at++, met++) {
			looks = 0;
			booked = begun;
			protect(PROT_NONE);
			look_beside(&m, &unsure);
			protect(PROT_READ | PROT_WRITE);
		}
	sigaction(SIGSEGV, &old_fault, NULL);
	sigaction(SIGTRAP, &old_trap, NULL);
	sp_model_close(&m);
	print_message("%lu looks\n", met);
	assert_true(met > 100);
	assert_int_equal(unsure, 0);
	sp_store_close(&store);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_with_a_lock),
		cmocka_unit_test(foreign_without_a_lock),
		cmocka_unit_test(foreign_comes_in),
		cmocka_unit_test(foreign_does_not_wait_for_ever),
		cmocka_unit_test(foreign_gives_up_a_zeroing),
		cmocka_unit_test(bound_by_one_at_a_time),
		cmocka_unit_test(owner_does_not_wait_for_ever),
		cmocka_unit_test(reader_beside),
#if STEPS
		cmocka_unit_test(reader_meets_folds),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
