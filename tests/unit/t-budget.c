/* t-budget.c: preload/process/budget.h: each answer on the budget, compared with a model that
 * keeps its own sums. Random processes of 1 to 256 threads run on 2, 16 and 128 CPUs.
 */
#include "test.h"

#include "../../preload/process/budget.h"

#define PROCESSES	300u

/* CPU time in ns, and the number of calls, per purpose. `last` is reserved for last scans. */
static struct model {
	int64_t fixed, life, opening, opens, scanning, reads, last;
} model;

static uint64_t seed;
static struct {
	unsigned all, some, one, none, follows, stays, scans, skips;
} seen;

static uint32_t below(uint64_t n)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return (uint32_t)((seed >> 11) % n);
}

static int64_t above_0(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

/* The mean of all calls and of 64 that are assumed. */
static int64_t open_cost(int64_t fds)
{
	return fds * ((64 * 6000 + model.opening) / (64 + model.opens));
}

static int64_t scan_cost(int64_t cpus)
{
	return (cpus + 3) * ((64 * 1500 + model.scanning) / (64 + model.reads));
}

/* Cost of watching CPUs: four perf fds of the thread and `each` per CPU, and two scans: after
 * the opening and at the end. */
static int64_t watch_cost(int64_t cpus, int64_t each)
{
	return open_cost(4 + cpus * each) + 2 * scan_cost(cpus);
}

static int64_t left(void)
{
	int64_t spent = model.opening + model.scanning + model.last;

	return above_0(model.fixed + model.life / 100 - spent);
}

static int64_t reserved_for_openings(void)
{
	return above_0(model.fixed / 2 - model.opening);
}

static int64_t reserved_for_scans(void)
{
	return above_0(model.fixed / 2 - model.scanning - model.last);
}

static void check_costs(const struct sp_budget *b)
{
	uint32_t cpus = below(129), fds = below(600), each = 1 + below(4);
	uint64_t ns = (uint64_t)watch_cost(cpus, each);

	assert_int_equal(sp_budget_read(b), scan_cost(-2));
	assert_int_equal(sp_budget_scan(b, cpus), scan_cost(cpus));
	assert_int_equal(sp_budget_open(b, fds), open_cost(fds));
	assert_int_equal(sp_budget_payable_cpus(b, ns, each), cpus);
	assert_int_equal(sp_budget_payable_cpus(b, ns - 1, each), cpus ? cpus - 1 : 0);
}

/* Compares the answers for the present time, and for the least that suffices. */
static void check_permissions(const struct sp_budget *b)
{
	uint32_t cpus = below(129), fds = below(600);
	int64_t scan = scan_cost(cpus) + reserved_for_openings();
	int64_t follow = open_cost(1 + fds) + reserved_for_scans();
	bool scans = left() >= scan, follows = left() >= follow;

	assert_int_equal(sp_budget_may_scan(b, (uint64_t)left(), cpus), scans);
	assert_true(sp_budget_may_scan(b, (uint64_t)scan, cpus));
	assert_false(sp_budget_may_scan(b, (uint64_t)scan - 1, cpus));
	assert_int_equal(sp_budget_may_follow(b, (uint64_t)left(), 1 + fds), follows);
	assert_true(sp_budget_may_follow(b, (uint64_t)follow, 1 + fds));
	assert_false(sp_budget_may_follow(b, (uint64_t)follow - 1, 1 + fds));
	*(scans ? &seen.scans : &seen.skips) += 1;
	*(follows ? &seen.follows : &seen.stays) += 1;
}

static void assert_most(int64_t ns, int64_t cpus, int64_t each)
{
	assert_true(watch_cost(cpus, each) <= ns);
	assert_true(watch_cost(cpus + 1, each) > ns);
}

/* CPUs that a share of the time pays for. If not all: those that the openings' time pays for, or
 * one. */
static uint32_t check_cpus(const struct sp_budget *b, uint32_t parts, uint32_t n, uint32_t each)
{
	uint32_t cpus = sp_budget_cpus(b, (uint64_t)left(), parts, n, each);
	int64_t share = left() / parts, openings = above_0(left() - reserved_for_scans()) / parts;

	if (share < watch_cost(1, each)) {
		assert_int_equal(cpus, 0);
		seen.none++;
	} else if (share >= watch_cost(n, each)) {
		assert_most(share, cpus, each);
		seen.all++;
	} else if (openings < watch_cost(2, each)) {
		assert_int_equal(cpus, 1);
		seen.one++;
	} else {
		assert_most(openings, cpus, each);
		seen.some++;
	}
	return (uint32_t)sp_min(cpus, n);
}

static void charge(struct sp_budget *b, struct sp_price *price, uint32_t calls, uint32_t each_ns)
{
	bool opens = price == &b->open;
	uint64_t ns = (uint64_t)calls * each_ns + below(1000);

	sp_budget_charge(b, price, ns, calls);
	*(opens ? &model.opening : &model.scanning) += (int64_t)ns;
	*(opens ? &model.opens : &model.reads) += calls;
}

static void run(uint32_t cpus, int64_t fixed, uint32_t threads)
{
	struct sp_budget b = { .fixed = sp_budget_fixed(cpus) };
	uint32_t open_ns = 1000 + below(30000), scan_ns = 300 + below(6000);
	uint32_t apart = 1 + below(50000000);

	model = (struct model){ .fixed = fixed };
	for (uint32_t t = 0; t < threads; t++) {
		uint32_t each = 1 + below(4), parts = 1 + below(threads - t);
		uint32_t n = check_cpus(&b, parts, 1 + below(cpus), each);

		charge(&b, &b.open, n ? n * each + 4 : 0, open_ns);
		charge(&b, &b.scan, n + 3, scan_ns);
		for (uint32_t more = below(3); n && more; more--)
			charge(&b, &b.scan, n + 3, scan_ns);
		b.used_ns += (uint64_t)scan_cost(n);
		model.last += scan_cost(n);
		model.life += below(apart);
		assert_int_equal(sp_budget_left(&b, (uint64_t)model.life), left());
		check_costs(&b);
		check_permissions(&b);
	}
}

static void model_agrees(void **state)
{
	static const struct {
		uint32_t cpus;
		int64_t fixed;
	} machines[] = { { 2, 30000000 }, { 16, 100000000 }, { 128, 100000000 } };

	for (uint32_t p = 0; p < PROCESSES; p++) {
		seed = 0x9e3779b97f4a7c15u + p * 1000003;
		run(machines[p % 3].cpus, machines[p % 3].fixed,
		    p < 3 ? 1 : p < 6 ? 256 : 1 + below(256));
	}
	print_message("CPUs: all %u, some %u, one %u, none %u; ",
		      seen.all, seen.some, seen.one, seen.none);
	print_message("followed %u, not %u; ", seen.follows, seen.stays);
	print_message("scanned %u, not %u\n", seen.scans, seen.skips);
	assert_true(seen.all && seen.some && seen.one && seen.none);
	assert_true(seen.follows && seen.stays && seen.scans && seen.skips);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(model_agrees) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
