/* t-gauge.c: the values that no ledger can hold (core/store/gauge.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../core/stamp.h"
#include "../../core/store/gauge.h"

#define N 4u				/* a gauge of each type, but FP64 is a counter */
#define CELLS 3u

static struct sp_gauges *block;
static struct sp_gauge_event event[N];
static struct sp_gauge_writer w;

static long long bits(double d)
{
	long long v;

	memcpy(&v, &d, sizeof(v));
	return v;
}

static int make(void **state)
{
	static const struct sp_gauge_kind kind[N] = {
		{ 0, SP_INT64, false }, { 2, SP_UINT64, false }, { 3, SP_FP64, true }, { 5, SP_FP64, false },
	};

	(void)state;
	block = calloc(1, sp_gauges_bytes(N, CELLS));
	sp_gauges_init(block, N, CELLS, kind);
	for (uint32_t i = 0; i < N; i++)
		event[i] = (struct sp_gauge_event){ .kind = kind[i] };
	w = (struct sp_gauge_writer){ .n = N, .cells = CELLS, .at = sp_gauges_at(block, N), .event = event };
	return 0;
}

static int drop(void **state)
{
	(void)state;
	free(block);
	return 0;
}

static void book(enum sp_op op, uint32_t cell, long long i, long long u, double counter, double f)
{
	long long x[6] = { i, 11, u, bits(counter), 12, bits(f) };

	sp_gauges_book(&w, op, cell, op == SP_OP_START || op == SP_OP_RESET ? NULL : x, false);
}

static struct sp_gauge *at(uint32_t cell, uint32_t i)
{
	return &w.at[cell * N + i];
}

static void gauges(void **state)
{
	(void)state;
	book(SP_OP_READ, 0, 99, 99, 99, 99);	/* before START: nothing new */
	assert_int_equal(at(0, 0)->readings, 0);
	book(SP_OP_START, 0, 0, 0, 0, 0);
	book(SP_OP_READ, 0, -5, -1, 0, 2.5);
	book(SP_OP_READ, 0, 7, 3, 0, -2.5);
	book(SP_OP_READ, 1, 1, 1, 0, __builtin_nan(""));
	book(SP_OP_STOP, 0, 1, 8, 0, 1.5);
	book(SP_OP_READ, 0, 1000, 1000, 0, 1000);	/* of a stopped set */
	assert_int_equal(at(0, 0)->readings, 3);
	assert_int_equal(at(0, 0)->last, 1);
	assert_int_equal(at(0, 0)->min, -5);
	assert_int_equal(at(0, 0)->max, 7);
	assert_true(at(0, 0)->sum == 3.0);
	assert_int_equal(at(0, 1)->min, 3);
	assert_int_equal(at(0, 1)->max, -1);		/* as unsigned the largest */
	assert_true(at(0, 1)->sum == 18446744073709551615.0 + 11.0);
	assert_int_equal(at(0, 3)->last, bits(1.5));
	assert_int_equal(at(0, 3)->min, bits(-2.5));
	assert_int_equal(at(0, 3)->max, bits(2.5));
	assert_int_equal(at(1, 3)->readings, 0);	/* nan shows nothing */
	assert_int_equal(at(1, 0)->readings, 1);
}

static void floating(void **state)
{
	(void)state;
	book(SP_OP_START, 0, 0, 0, 0, 0);
	book(SP_OP_READ, 0, 0, 0, 1.5, 0);
	book(SP_OP_READ, 1, 0, 0, 4.0, 0);
	book(SP_OP_ACCUM, 1, 0, 0, 4.25, 0);		/* zeroes */
	book(SP_OP_READ, 0, 0, 0, 0.5, 0);
	book(SP_OP_RESET, 0, 0, 0, 0, 0);
	book(SP_OP_STOP, 9, 0, 0, 2.0, 0);		/* a cell behind the last is the last */
	assert_true(at(0, 2)->sum == 2.0);
	assert_true(at(1, 2)->sum == 2.75);
	assert_true(at(2, 2)->sum == 2.0);
	assert_true(at(0, 2)->exact == 0.0);
	book(SP_OP_START, 0, 0, 0, 0, 0);
	sp_gauges_book(&w, SP_OP_READ, 0, (long long[]){ 0, 0, 0, bits(1.0), 0, 0 }, true);
	assert_true(at(0, 2)->sum == 3.0 && at(0, 2)->exact == 1.0);
	book(SP_OP_READ, 0, 0, 0, 0.25, 0);		/* backwards: the sum stays right */
	assert_true(at(0, 2)->sum == 2.25);
}

/* io and its like: neither START nor RESET zeroes. */
static void keeps(void **state)
{
	(void)state;
	w.component = SP_KEEPS_ON_START | SP_KEEPS_ON_RESET;
	book(SP_OP_START, 0, 0, 0, 0, 0);
	book(SP_OP_READ, 0, 0, 0, 100.0, 0);		/* where counting starts */
	book(SP_OP_ACCUM, 0, 0, 0, 101.0, 0);
	book(SP_OP_RESET, 0, 0, 0, 0, 0);
	book(SP_OP_STOP, 0, 0, 0, 103.0, 0);
	assert_true(at(0, 2)->sum == 3.0);
	book(SP_OP_START, 0, 0, 0, 0, 0);
	book(SP_OP_STOP, 0, 0, 0, 200.0, 0);
	assert_true(at(0, 2)->sum == 3.0);
}

static void kinds(void **state)
{
	uint8_t is[6];

	(void)state;
	sp_gauge_kinds(is, 6, (const struct sp_gauge_kind[]){ { 0, SP_INT64, false }, { 3, SP_FP64, true } }, 2);
	assert_memory_equal(is, ((uint8_t[]){ SP_SHOWS, 0, 0, SP_FLOATS, 0, 0 }), sizeof(is));
}

/* As of the relation's cells, which are as many or one: that of no known CPU, the last. */
static void sums(void **state)
{
	double total, exact;

	(void)state;
	book(SP_OP_START, 0, 0, 0, 0, 0);
	book(SP_OP_READ, 1, 0, 0, 1.5, 0);
	sp_gauges_sum(&w, 2, 1, CELLS, &total, &exact);
	assert_true(total == 1.5 && exact == 0);
	sp_gauges_sum(&w, 2, 0, CELLS, &total, &exact);
	assert_true(total == 0);
	sp_gauges_sum(&w, 2, CELLS, CELLS + 1, &total, &exact);
	assert_true(total == 0);
	w.cells = 1;
	book(SP_OP_READ, 5, 0, 0, 2.0, 0);
	sp_gauges_sum(&w, 2, 0, CELLS, &total, &exact);
	assert_true(total == 0);
	sp_gauges_sum(&w, 2, CELLS - 1, CELLS, &total, &exact);
	assert_true(total == 0.5);
}

static void fold(void **state)
{
	struct sp_gauge other[N];

	(void)state;
	book(SP_OP_START, 0, 0, 0, 0, 0);
	book(SP_OP_READ, 0, 5, -2, 1.5, -1.0);
	memcpy(other, at(0, 0), sizeof(other));
	book(SP_OP_READ, 1, 9, 4, 2.0, -3.0);
	sp_gauges_add(at(1, 0), other, N);
	assert_int_equal(at(1, 0)->readings, 2);
	assert_int_equal(at(1, 0)->last, 9);		/* the later one */
	assert_int_equal(at(1, 0)->min, 5);
	assert_int_equal(at(1, 1)->max, -2);
	assert_true(at(1, 2)->sum == 2.0);
	assert_int_equal(at(1, 3)->min, bits(-3.0));
	assert_int_equal(at(1, 3)->max, bits(-1.0));
	sp_gauges_add(other, at(2, 0), N);		/* nothing there */
	assert_int_equal(other[0].min, 5);
	assert_int_equal(other[3].max, bits(-1.0));
}

static void stamps(void **state)
{
	uint64_t last = sp_stamp_ns();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t now = sp_stamp_ns();

		assert_true(now > last);
		last = now;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gauges, make, drop), cmocka_unit_test_setup_teardown(floating, make, drop),
		cmocka_unit_test_setup_teardown(keeps, make, drop), cmocka_unit_test_setup_teardown(kinds, make, drop),
		cmocka_unit_test_setup_teardown(sums, make, drop),
		cmocka_unit_test_setup_teardown(fold, make, drop), cmocka_unit_test(stamps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
