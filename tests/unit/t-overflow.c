/* t-overflow.c: the calls of overflow handlers (core/store/overflow.h): exact counts, the addresses
 * that were most frequent, and nothing torn by a kill.
 */
#include "test.h"

#include "../../core/store/overflow.h"

#define N 3u

static struct sp_overflow_writer w;
static uint64_t seed = 88172645463325252u;

static uint32_t dice(uint32_t sides)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % sides;
}

static int make(void **state)
{
	w.block = mmap(NULL, sp_overflows_bytes(N, SP_HITS), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	w.n = N;
	return w.block == MAP_FAILED;
}

static int drop(void **state)
{
	return munmap(w.block, sp_overflows_bytes(N, SP_HITS));
}

static void call(uint32_t at, uint64_t address)
{
	sp_overflow_count(&w, at, at, (int32_t)at + 4, 1);
	sp_overflow_hit(&w, at, 1, address, 7);
}

/* How often it was hit, as far as is known; with address 0: all of the count. */
static uint64_t hits(uint32_t at, uint64_t address)
{
	const struct sp_hit *h = sp_hits_in(w.block, N);
	uint64_t n = 0;

	for (uint32_t i = 0; i < SP_HITS; i++)
		if (h[i].of == at + 1 && (!address || h[i].address == address))
			n += sp_hit_weight(&h[i]);
	return n;
}

static uint64_t count(uint32_t at)
{
	return sp_overflow_in(w.block)[at].count;
}

/* What there is room for is exact. */
static void few(void **state)
{
	for (uint32_t i = 0; i < 10000; i++)
		call(i % 2, 0x400000 + i % 10 * 4);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(hits(i % 2, 0x400000 + i * 4), 1000);
	assert_int_equal(hits(0, 0) + hits(1, 0), 10000);
	assert_int_equal(count(0), 5000);
	assert_int_equal(sp_overflow_in(w.block)[1].event, 1);
	assert_int_equal(sp_overflow_in(w.block)[1].cpu, 5);
	assert_int_equal(count(2), 0);
}

/* A loop that comes late is found among addresses that never come again. */
static void many(void **state)
{
	uint64_t late = 0;

	for (uint32_t i = 0; i < 500000; i++) {
		bool loop = i > 100000 && dice(300) == 0;

		late += loop;
		call(2, loop ? 0x1234 : 0x400000 + (uint64_t)i * 4);
	}
	assert_int_equal(count(2), 500000);
	assert_true(hits(2, 0) <= 500000);
	assert_true(hits(2, 0x1234) <= late && hits(2, 0x1234) > late / 2);
	for (uint32_t i = 0; i < SP_HITS; i++)
		assert_true(sp_hits_in(w.block, N)[i].of == 3 &&
			    sp_hit_weight(&sp_hits_in(w.block, N)[i]) <= late);
}

/* The code of a later phase gets its places, all of which were taken by a phase before. */
static void phases(void **state)
{
	for (uint32_t i = 0; i < 50 * 1000; i++)
		call(0, 0x400000 + i % 1000 * 4);
	for (uint32_t i = 0; i < 2000 * 100; i++)
		call(0, 0x500000 + i % 100 * 4);
	for (uint32_t i = 0; i < 100; i++)
		assert_in_range(hits(0, 0x500000 + i * 4), 1500, 2000);
	assert_true(hits(0, 0) <= count(0));
}

/* One that a handler is writing, or whose writer was killed, is nobody's. */
static void busy(void **state)
{
	struct sp_hit *h = sp_hits_in(w.block, N);

	for (uint32_t i = 0; i < SP_HITS; i++)
		h[i].of = SP_HIT_BUSY;
	call(0, 0x1000);
	assert_int_equal(count(0), 1);
	assert_int_equal(hits(0, 0), 0);
}

static void go_on(void)
{
	for (;;)
		call(dice(N), 0x400000 + dice(3000));
}

/* Killed anywhere: no count has fewer calls than its hits. */
static void killed(void **state)
{
	uint64_t before = 0, now;

	for (int i = 0; i < 50; i++, before = now) {
		struct timespec t = { 0, (long)dice(2000000) };
		pid_t pid;

		seed += (uint64_t)i;
		pid = fork();
		if (!pid)
			go_on();
		while (count(0) + count(1) + count(2) == before)
			sched_yield();
		nanosleep(&t, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		now = count(0) + count(1) + count(2);
		for (uint32_t at = 0; at < N; at++)
			assert_true(hits(at, 0) <= count(at));
		assert_true(now >= before);
	}
	assert_true(before > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(few, make, drop),
		cmocka_unit_test_setup_teardown(many, make, drop),
		cmocka_unit_test_setup_teardown(phases, make, drop),
		cmocka_unit_test_setup_teardown(busy, make, drop),
		cmocka_unit_test_setup_teardown(killed, make, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
