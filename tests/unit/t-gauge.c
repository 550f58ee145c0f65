/* t-gauge.c: values that are no counts (core/store/gauge.h). */
#include "test.h"

#include "../../core/store/gauge.h"
#include "../../core/store/rules.h"
#include "../../core/store/timestamp.h"
#include "stepping.h"
#include "stores.h"

#define N 3u				/* a gauge of each type */
#define CELLS 3u

static struct sp_gauges *block;
static struct sp_gauge_kind kind[N] = { { 0, SP_INT64 }, { 2, SP_UINT64 }, { 5, SP_FP64 } };
static struct sp_gauge_writer w;

static long long bits(double d)
{
	long long v;

	memcpy(&v, &d, sizeof(v));
	return v;
}

static int make(void **state)
{
	block = calloc(1, sp_gauges_bytes(N, CELLS));
	sp_gauges_init(block, N, CELLS, kind);
	w = (struct sp_gauge_writer){
		.n = N, .cells = CELLS, .at = sp_gauges_at(block, N), .kind = kind
	};
	return 0;
}

static int drop(void **state)
{
	free(block);
	return 0;
}

static void book(enum sp_op op, uint32_t cell, long long i, long long u, double f)
{
	static uint64_t ns;
	long long x[6] = { i, 11, u, 13, 12, bits(f) };

	sp_gauges_record(&w, op, cell, op == SP_OP_START || op == SP_OP_RESET ? NULL : x, ++ns);
}

static struct sp_gauge *at(uint32_t cell, uint32_t i)
{
	return &w.at[cell * N + i];
}

static void gauges(void **state)
{
	book(SP_OP_READ, 0, 99, 99, 99);	/* before START: nothing new */
	assert_int_equal(at(0, 0)->readings, 0);
	book(SP_OP_START, 0, 0, 0, 0);
	book(SP_OP_READ, 0, -5, -1, 2.5);
	book(SP_OP_READ, 0, 7, 3, -2.5);
	book(SP_OP_RESET, 0, 0, 0, 0);
	book(SP_OP_READ, 1, 1, 1, __builtin_nan(""));
	book(SP_OP_STOP, 0, 1, 8, 1.5);
	book(SP_OP_READ, 0, 1000, 1000, 1000);	/* of a stopped set */
	assert_int_equal(at(0, 0)->readings, 3);
	assert_int_equal(at(0, 0)->last, 1);
	assert_int_equal(at(0, 0)->min, -5);
	assert_int_equal(at(0, 0)->max, 7);
	assert_true(at(0, 0)->sum == 3.0);
	assert_int_equal(at(0, 1)->min, 3);
	assert_int_equal(at(0, 1)->max, -1);		/* as unsigned the largest */
	assert_true(at(0, 1)->sum == 18446744073709551615.0 + 11.0);
	assert_int_equal(at(0, 2)->last, bits(1.5));
	assert_int_equal(at(0, 2)->min, bits(-2.5));
	assert_int_equal(at(0, 2)->max, bits(2.5));
	assert_int_equal(at(1, 2)->readings, 0);	/* nan shows nothing */
	assert_int_equal(at(1, 0)->readings, 1);
	book(SP_OP_START, 0, 0, 0, 0);
	book(SP_OP_READ, 9, 4, 4, 4);			/* a cell behind the last is the last */
	assert_int_equal(at(CELLS - 1, 0)->readings, 1);
}

static void fold(void **state)
{
	struct sp_gauge other[N];

	book(SP_OP_START, 0, 0, 0, 0);
	book(SP_OP_READ, 0, 5, -2, -1.0);
	memcpy(other, at(0, 0), sizeof(other));
	book(SP_OP_READ, 1, 9, 4, -3.0);
	sp_gauges_add(at(1, 0), other, N);
	assert_int_equal(at(1, 0)->readings, 2);
	assert_int_equal(at(1, 0)->last, 9);		/* the later one */
	assert_int_equal(at(1, 0)->min, 5);
	assert_int_equal(at(1, 1)->max, -2);
	assert_int_equal(at(1, 2)->min, bits(-3.0));
	assert_int_equal(at(1, 2)->max, bits(-1.0));
	sp_gauges_add(other, at(2, 0), N);		/* nothing there */
	assert_int_equal(other[0].min, 5);
	assert_int_equal(other[2].max, bits(-1.0));
}

#if STEPS
#if defined(__SANITIZE_ADDRESS__)
#define EACH	101			/* of many more instructions */
#else
#define EACH	3
#endif

static int instruction, handled_at;

static void book_on_top(int sig)
{
	(void)sig;
	if (instruction++ == handled_at) {
		book(SP_OP_READ, 0, 1, 1, 1);
		book(SP_OP_READ, 0, 9, 9, 9);
	}
}

/* A handler books at any instruction of a booking: neither's values are lost, whichever are stored
 * last. */
static void handler(void **state)
{
	struct sigaction a = { .sa_handler = book_on_top }, old;

	sigaction(SIGTRAP, &a, &old);
	for (handled_at = 0, instruction = EACH + 1; handled_at < instruction - EACH;
	     handled_at += EACH) {
		make(state);
		book(SP_OP_START, 0, 0, 0, 0);
		book(SP_OP_READ, 0, 5, 5, 5);
		instruction = 0;
		STEP_ON();
		book(SP_OP_READ, 0, 4, 4, 4);
		book(SP_OP_READ, 0, 6, 6, 6);
		STEP_OFF();
		/* (The booking before may have had more instructions: what came on top of it
		 * changed what it met.) */
		for (uint32_t i = 0; i < N && handled_at < instruction; i++) {
			const struct sp_gauge *g = at(0, i);

			assert_int_equal(g->readings, 5);
			assert_true(g->sum == 25.0);
			assert_int_equal(g->min, i == 2 ? bits(1) : 1);
			assert_int_equal(g->max, i == 2 ? bits(9) : 9);
		}
		drop(state);
	}
	assert_true(handled_at > 100);
	sigaction(SIGTRAP, &old, NULL);
}
#endif

static void stamps(void **state)
{
	uint64_t last = sp_stamp_ns();

	for (int i = 0; i < 100000; i++) {
		uint64_t now = sp_stamp_ns();

		assert_true(now > last);
		last = now;
	}
}

/* PAPI_accum from one place: a gauge is added to nothing, whether the set is placed or not. */
static void accum(void **state)
{
	static const uint8_t shows = SP_GAUGE_VALUES;
	struct sp_event_text gauge = { .name = "GAUGE", .kind = SP_GAUGE };
	struct sp_relation_key key = { .k = 1, .event = (const uint32_t[]){ 0 } };

	for (int placed = 0; placed < 2; placed++) {
		struct sp_writer writer = { 0 };
		struct sp_at_cpu cell = { 0 };
		struct sp_row row;
		struct sp_model m;
		sp_off thread;

		assert_int_equal(open_store(state), 0);
		flat_machine(2);
		assert_int_equal(sp_store_event(&store, &gauge), 0);
		assert_non_null(sp_store_thread(&store, 1, "t", &thread));
		bind_new(&store, thread, &key, &writer, &shows);
		writer.precise = true;
		assert_true(!placed || sp_records_place(&writer, 0));
		book_call(&writer, SP_OP_START, 0, NULL, false, 0);
		for (long long shown[2] = { 40 }; shown[0] < 43; shown[0]++)
			book_call(&writer, SP_OP_ACCUM, 0, shown, placed, 1);
		open_first(&m, &row);
		assert_true(sp_row_cell(&m, &row, 0, &cell));
		assert_int_equal(cell.readings, 3);
		assert_int_equal(cell.entry[0], 42);
		sp_model_close(&m);
		close_store(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gauges, make, drop),
		cmocka_unit_test_setup_teardown(fold, make, drop),
#if STEPS
		cmocka_unit_test(handler),
#endif
		cmocka_unit_test(stamps),
		cmocka_unit_test(accum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
