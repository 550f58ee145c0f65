/* t-order.c: store/order.h against a libpapi that knows what it did: handlers, on top of each other, come between any two
 * things that a call does.  Of a fold that is sure the sum is what was handed out; and most are sure.
 */
#include "test.h"

#include "../../core/store/order.h"

#define K	2u
#define ROUNDS	2000u
#define MOST	64u			/* records */
#define DEEP	3u

/* ---- a libpapi ------------------------------------------------------------- */

static uint32_t seed;
static int64_t counts[K], fresh[K], saved[K], handed[K];
static bool running;

static uint32_t below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(seed >> 4) * n >> 28);
}

static void work(void)
{
	for (uint32_t e = 0; running && e < K; e++) {
		int64_t n = below(4) ? 1 + below(50) : 0;

		counts[e] += n;
		fresh[e] += n;
	}
}

static void papi_zero(void)
{
	memset(running ? counts : saved, 0, sizeof(counts));
	if (running)
		memset(fresh, 0, sizeof(fresh));
}

static void papi_values(int64_t *x)
{
	for (uint32_t e = 0; e < K; e++) {
		x[e] = running ? counts[e] : saved[e];
		handed[e] += running ? fresh[e] : 0;
		fresh[e] = running ? 0 : fresh[e];
	}
}

/* ---- what calls leave in the records --------------------------------------------- */

static union { struct sp_record is; int64_t room[sizeof(struct sp_record) / 8 + K]; } record[MOST];
static const struct sp_record *list[MOST];
static uint32_t n_records, in_flight;	/* as a set of ops */

static struct sp_record *new_record(uint32_t what)
{
	struct sp_record *r = &record[n_records].is;

	assert_true(n_records < MOST);
	memset(r, 0, sizeof(record[0]));
	list[n_records] = r;
	r->number = ++n_records;
	r->what = what;
	r->count = 1;
	r->cell = (int32_t)below(2);
	return r;
}

static uint32_t any_op(void)
{
	for (;;) {
		uint32_t op = (const uint32_t[]){ SP_OP_START, SP_OP_READ, SP_OP_STOP, SP_OP_ACCUM, SP_OP_RESET }[below(5)];

		/* PAPI refuses these; and what it does of two that change whether the set runs at once is no order. */
		if ((op == SP_OP_START && running) || (op == SP_OP_STOP && !running) ||
		    ((op == SP_OP_START || op == SP_OP_STOP) && (in_flight & (1u << SP_OP_START | 1u << SP_OP_STOP))))
			continue;
		return op;
	}
}

static void handlers(uint32_t deep);

/* The call does each thing when it comes to that; what a stop read is what the set hands out from then on. */
static void call(uint32_t op, uint32_t deep)
{
	uint32_t does = sp_rules_does(op), before = n_records, in_flight_before = in_flight;
	bool on_top = deep && n_records < MOST / 2 && !below(3);
	int64_t x[K] = { 0 };
	struct sp_record *r;

	in_flight |= 1u << op;
	if (on_top) {
		new_record(SP_OP_BEGIN | op << SP_RECORD_OF_SHIFT);
		handlers(deep - 1);
	}
	work();
	if (does & SP_DOES_START) {
		running = true;
		papi_zero();
	}
	if (does & SP_DOES_VALUE)
		papi_values(x);
	if (on_top)
		handlers(deep - 1);
	if (does & SP_DOES_ZERO)
		papi_zero();
	if (does & SP_DOES_STOP) {
		running = false;
		memcpy(saved, x, sizeof(saved));
	}
	if (on_top)
		handlers(deep - 1);
	in_flight = in_flight_before;
	r = new_record(op | (n_records > before ? SP_RECORD_ENDS : 0));
	memcpy(r->value, x, sizeof(x));
}

static void handlers(uint32_t deep)
{
	for (uint32_t n = below(3); n && n_records < MOST / 2; n--)
		call(any_op(), deep);
}

/* ---- a relation ----------------------------------------------------------------------- */

static union { struct sp_cell is; int64_t room[sizeof(struct sp_cell) / 8 + SP_CELL_ARRAYS * K]; } cells[3];
static union { struct sp_state is; int64_t room[sizeof(struct sp_state) / 8 + SP_STATE_ARRAYS * K]; } state;

static struct sp_cell *cell(struct sp_fold *f, int32_t i)
{
	(void)f;
	return &cells[i].is;
}

static const struct sp_cell *look(struct sp_fold *f, int32_t i)
{
	return cell(f, i);
}

static struct sp_interval *interval(struct sp_fold *f, uint32_t from, uint32_t to, int32_t at)
{
	(void)f, (void)from, (void)to, (void)at;
	return NULL;
}

static void fold(void)
{
	struct sp_fold f = { .k = K, .cells = 3, .state = &state.is, .cell = cell, .look = look, .interval = interval };

	memset(cells, 0, sizeof(cells));
	memset(&state, 0, sizeof(state));
	state.is.epoch = 1;
	state.is.cell = -1;
	for (uint32_t i = 0, n; i < n_records; i += n) {
		n = sp_order_together(list + i, n_records - i, true);
		sp_order_fold(&f, list + i, n, n_records - i, true);
	}
}

static void say(void)
{
	for (uint32_t i = 0; i < n_records; i++)
		print_message("# %u: op %u%s of %u: %ld %ld\n", i, list[i]->what & SP_RECORD_OP, list[i]->what & SP_RECORD_ENDS ? " ends" : "",
			      list[i]->what >> SP_RECORD_OF_SHIFT, (long)list[i]->value[0], (long)list[i]->value[1]);
}

static void what_is_sure_is_right(void **unused)
{
	uint32_t sure = 0, nested = 0;

	(void)unused;
	for (seed = 1; nested < ROUNDS; nested++) {
		n_records = in_flight = 0;
		running = false;
		memset(handed, 0, sizeof(handed));
		memset(saved, 0, sizeof(saved));
		for (uint32_t n = 2 + below(4); n && n_records < MOST / 4; n--) {
			call(any_op(), n_records ? DEEP : 0);
			work();
		}
		call(SP_OP_READ, 0);
		fold();
		if (state.is.flags & SP_STATE_UNSURE)
			continue;
		sure++;
		for (uint32_t e = 0; e < K; e++) {
			int64_t is = cells[0].is.at[SP_TOTAL * K + e] + cells[1].is.at[SP_TOTAL * K + e];

			if (is != handed[e])
				say();
			assert_int_equal(is, handed[e]);
		}
	}
	print_message("# %u of %u are sure\n", sure, nested);
	assert_true(sure > ROUNDS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_sure_is_right) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
