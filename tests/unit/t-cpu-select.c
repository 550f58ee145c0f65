/* t-cpu-select.c: preload/percpu/cpu-select.h: which CPUs are watched, on folders as /sys has them;
 * and how much of what threads count is proven where few are, by a model of a node: cores of two,
 * caches of eight cores, a scheduler that moves a thread within its cache nine times of ten.  What
 * is proven is window.h's.  And what `auto` can pay for of all this (budget.h), on 16 and 128 CPUs.
 *
 *	t-near table		the model's table, as sspapi-limits(7) has it
 */
#include "test.h"

#include "../../preload/process/budget.h"
#include "../../preload/percpu/cpu-select.h"
#include "../../preload/percpu/window.h"
#include "temp-dir.h"

/* ---- which CPUs --------------------------------------------------------------- */

static struct sp_cpus first(uint32_t n)
{
	struct sp_cpus s = { .word = { 0 } };

	for (uint32_t i = 0; i < n; i++)
		sp_cpus_set(&s, i, true);
	return s;
}

static void assert_order(const struct sp_cpu_neighbors *near, const struct sp_cpus *may,
			 const char *wanted)
{
	int32_t cpu[SP_MAX_CPUS];
	uint32_t n = sp_cpu_neighbors_choose(near, may, 8, cpu);
	char text[100] = "";

	for (uint32_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", i ? " " : "",
			 cpu[i]);
	assert_string_equal(text, wanted);
}

static void nearest_first(void **state)
{
	struct sp_cpus all = first(16), some = first(16);
	struct sp_cpu_neighbors near;

	memset(&near, 1, sizeof(near));
	put("cpu5/topology/thread_siblings_list", "5,13\n");
	put("cpu5/topology/core_siblings_list", "4-7,12-15\n");
	put("cpu5/cache/index2/shared_cpu_list", "5,13\n");
	put("cpu5/cache/index3/shared_cpu_list", "4-5,12-13\n");
	sp_cpu_neighbors_read(&near, dir, 5);
	assert_order(&near, &all, "5 13 12 4 6 7 14 15");
	sp_cpus_set(&some, 13, false);
	sp_cpus_set(&some, 6, false);
	assert_order(&near, &some, "5 12 4 7 14 15 8 9");
	/* A machine that tells nothing of its cores and caches. */
	sp_cpu_neighbors_read(&near, dir, 3);
	assert_order(&near, &all, "3 4 5 6 7 8 9 10");
	/* No L3. */
	put("cpu9/cache/index2/shared_cpu_list", "8-11\n");
	sp_cpu_neighbors_read(&near, dir, 9);
	assert_order(&near, &all, "9 10 11 8 12 13 14 15");
}

static void a_list_that_is_too_long(void **state)
{
	struct sp_cpus all = first(16);
	struct sp_cpu_neighbors near;
	char text[1000] = "";

	for (int i = 0; i < 200; i += 2)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d,", i);
	put("cpu0/topology/thread_siblings_list", text);
	sp_cpu_neighbors_read(&near, dir, 0);
	assert_order(&near, &all, "0 1 2 3 4 5 6 7");
}

static void shares(void **state)
{
	uint64_t left = 4096;

	assert_int_equal(sp_cpu_neighbors_share(128, 1, 0), 4);
	/* as many for each, in whatever order they come */
	for (uint32_t begun = 0; begun < 60; begun++) {
		assert_in_range(left / sp_cpu_neighbors_share(128, 64, begun), 62, 66);
		left -= 64;
	}
	assert_int_equal(sp_cpu_neighbors_share(2, 500, 0), 500);
}

/* ---- what may be spent -------------------------------------------------------------- */

/* Threads that all start at once, each at its share; what a perf fd and a CPU's scan take is
 * measured. */
struct program {
	uint32_t cpus, threads, each, fds;	/* events; descriptors of the process */
	uint64_t open_ns, scan_ns;
	uint32_t readings;			/* of each thread, every `apart` ns of its CPU
						 * time */
	uint64_t apart;
};

struct outcome {
	uint32_t least, seen;			/* CPUs watched for a thread; scans kept aside */
	uint64_t cost, life;
};

static struct outcome starts(const struct program *p, struct sp_budget *b)
{
	struct outcome o = { .least = p->cpus };
	uint32_t fds = p->fds;

	for (uint32_t t = 0; t < p->threads; t++) {
		uint32_t parts = sp_cpu_neighbors_share(p->cpus, p->threads, t), may = fds / parts;
		uint32_t pays = sp_budget_cpus(b, sp_budget_left(b, 0), parts, p->cpus, p->each);
		uint32_t n = (uint32_t)sp_min(sp_min(p->cpus, pays),
					      may > SP_OWN_FDS ? (may - SP_OWN_FDS) / p->each : 0);
		uint32_t opens = n ? n * p->each + SP_OWN_FDS : 0;

		o.least = n < o.least ? n : o.least;
		fds -= opens;
		sp_budget_charge(b, &b->open, opens * p->open_ns, opens);
		sp_budget_charge(b, &b->scan, (n + SP_OWN_READS) * p->scan_ns, n + SP_OWN_READS);
		o.cost += opens * p->open_ns + (n + SP_OWN_READS) * p->scan_ns;
		if (n && sp_budget_scan(b, n) <= sp_budget_left(b, 0)) {
			b->used_ns += sp_budget_scan(b, n);
			o.seen++;
		}
	}
	return o;
}

static struct outcome runs(const struct program *p)
{
	struct sp_budget b = { .fixed = sp_budget_fixed(p->cpus) };
	struct outcome o = starts(p, &b);

	for (uint32_t r = 0; r < p->readings; r++)
		for (uint32_t t = 0; t < p->threads; t++) {
			o.life += p->apart;
			if (!sp_budget_may_scan(&b, sp_budget_left(&b, o.life), o.least))
				continue;
			sp_budget_charge(&b, &b.scan, (o.least + SP_OWN_READS) * p->scan_ns,
					 o.least + SP_OWN_READS);
			o.cost += (o.least + SP_OWN_READS) * p->scan_ns;
		}
	o.cost += (uint64_t)o.seen * (o.least + SP_OWN_READS) * p->scan_ns;
	o.life += o.cost;
	assert_true(o.cost <= b.fixed + o.life / 100 + sp_budget_scan(&b, o.least));
	return o;
}

/* calm and omp: every thread has a scan for its stop, which proves all that it counted on watched
 * CPUs; and the whole costs a hundredth beside the fixed part. */
static void budget(void **state)
{
	static const struct program programs[] = {
		{ 16, 16, 2, 4096, 6000, 1500, 60, 50000000 },
		{ 16, 64, 2, 4096, 6000, 1500, 60, 12000000 },
		{ 16, 64, 2, 4096, 12000, 6000, 100, 100000 },
		{ 16, 256, 1, 5200, 12000, 3000, 100, 100000 },
		{ 128, 64, 1, 16384, 6000, 1500, 100, 1000000 },
		{ 2, 200, 2, 4096, 11000, 3000, 30, 100000 },
	};

	for (unsigned i = 0; i < SP_COUNT(programs); i++) {
		struct outcome o = runs(&programs[i]);

		assert_int_equal(o.seen, programs[i].threads);
		assert_int_equal(o.least, programs[i].cpus);
	}
}

/* Prices that are far off at first, or rise, do not shut out the threads that come later. */
static void dear_at_first(void **state)
{
	struct sp_budget b = { .fixed = sp_budget_fixed(2) };

	sp_budget_charge(&b, &b.open, 7 * 40000, 7);
	assert_true(sp_budget_open(&b, 1) < 2 * SP_OPEN_NS);
	for (int i = 0; i < 1000; i++)
		sp_budget_charge(&b, &b.open, 20000, 1);
	assert_in_range(sp_budget_open(&b, 1), 18000, 20000);
}

/* Scans leave half of the fixed part to those who start later. */
static void scans_leave_half(void **state)
{
	struct sp_budget b = { .fixed = sp_budget_fixed(16) };

	while (sp_budget_may_scan(&b, sp_budget_left(&b, 0), 16))
		sp_budget_charge(&b, &b.scan, (16 + SP_OWN_READS) * 2000, 16 + SP_OWN_READS);
	assert_in_range(sp_budget_left(&b, 0), b.fixed / 2, b.fixed / 2 + 100000);
	assert_true(sp_budget_may_scan(&b, sp_budget_left(&b, 100000000), 16));
	assert_true(sp_budget_cpus(&b, sp_budget_left(&b, 0), sp_cpu_neighbors_share(16, 64, 0), 16,
				   2) >= 16);
}

/* ---- how much is proven --------------------------------------------------------- */

#define CPUS	128u
#define CACHE	16u			/* CPUs of one: CPU c's sibling is c + 64 */

static uint64_t seed = 1;
static uint64_t below(uint64_t n)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return (seed >> 11) % n;
}

static uint32_t cache_of(uint32_t cpu)
{
	return cpu % 64 / (CACHE / 2);
}

static uint32_t moved_from(uint32_t cpu)
{
	bool near = below(10) != 0;
	uint32_t to;

	do
		to = (uint32_t)below(CPUS);
	while (to == cpu || (near && cache_of(to) != cache_of(cpu)));
	return to;
}

static struct sp_cpu_neighbors near_of(uint32_t cpu)
{
	uint32_t core = cpu % 64, from = cache_of(cpu) * (CACHE / 2), package = core < 32 ? 0 : 32;
	struct sp_cpu_neighbors near = { .cpu = cpu };

	snprintf(near.level[0], sizeof(near.level[0]), "%u,%u", core, core + 64);
	snprintf(near.level[1], sizeof(near.level[1]), "%u-%u,%u-%u", from, from + 7, from + 64,
		 from + 71);
	snprintf(near.level[2], sizeof(near.level[2]), "%u-%u,%u-%u", package, package + 31,
		 package + 64, package + 95);
	return near;
}

/* One thread and its set, which it starts again each `starts` windows; a count each ms. */
struct life {
	uint32_t watched;		/* CPUs */
	uint32_t window;		/* ms */
	uint32_t moves;			/* a second */
	uint32_t starts;
};

struct run {
	const struct life *life;
	int32_t cpu[CPUS];		/* watched, */
	struct sp_window_cpu at[CPUS];
	struct sp_window w;
	int64_t copy[CPUS], low[CPUS];
	uint32_t here;
	int64_t all, proven;
};

static uint32_t index_of(const struct run *r, uint32_t cpu)
{
	uint32_t i = 0;

	while (i < r->life->watched && r->cpu[i] != (int32_t)cpu)
		i++;
	return i;
}

static void watch(struct run *r)
{
	struct sp_cpus all = first(CPUS);
	struct sp_cpu_neighbors near = near_of(r->here);

	assert_int_equal(sp_cpu_neighbors_choose(&near, &all, r->life->watched, r->cpu),
			 r->life->watched);
	sp_window_init(&r->w, r->at, r->life->watched, false);
	memset(r->copy, 0, sizeof(r->copy));
}

static int64_t told(const struct run *r)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < r->life->watched; i++)
		sum += r->at[i].reported;
	return sum;
}

static void window(struct run *r, int64_t *value)
{
	uint32_t from = r->here, n = r->life->watched;
	int64_t total[CPUS + 1], proven[CPUS + 1], before = told(r);
	bool moved = false, away = false;

	for (uint32_t ms = 0; ms < r->life->window; ms++) {
		uint32_t i;

		if (below(1000) < r->life->moves) {
			r->here = moved_from(r->here);
			moved = true;
		}
		i = index_of(r, r->here);
		away = away || i == n;
		if (i < n)
			r->copy[i]++;
		++*value;
	}
	r->all += r->life->window;
	if (!moved) {
		sp_window_attribute_stayed(&r->w, *value, index_of(r, from));
		r->proven += r->life->window;
		return;
	}
	sp_window_attribute(&r->w,
			&(struct sp_window_reading){ .value = *value,
						  .low = r->copy,
						  .high = away ? NULL : r->copy,
						  .now = r->copy,
						  .at = index_of(r, r->here) },
			&(struct sp_window_shares){ total, proven });
	r->proven += told(r) - before;
}

static double percent_proven(const struct life *life)
{
	struct run r = { .life = life };

	seed = 88172645463325252u;
	for (int thread = 0; thread < 64; thread++) {
		r.here = (uint32_t)below(CPUS);
		watch(&r);
		for (uint32_t start = 0; start < 8000 / life->window / life->starts + 1; start++) {
			int64_t value = 0;

			/* what it counts is not watched: around where it is, then */
			if (index_of(&r, r.here) == life->watched)
				watch(&r);
			sp_window_begin(&r.w, r.copy, 0, index_of(&r, r.here));
			for (uint32_t i = 0; i < life->starts; i++)
				window(&r, &value);
		}
	}
	return 100 * (double)r.proven / (double)r.all;
}

/* 64 threads, 128 CPUs, sets of one event: what a quarter of 1024, 4096, 16384 descriptors watches,
 * and all. */
static const uint32_t watched[] = { 1, 13, 61, 128 };
static const struct { uint32_t window, moves, starts; } shapes[] = {
	{ 1, 10, 1 }, { 10, 10, 1 }, { 100, 10, 1 }, { 100, 10, 10 }, { 1000, 10, 1 },
};

static double percent(unsigned shape, uint32_t n)
{
	return percent_proven(&(struct life){ n, shapes[shape].window, shapes[shape].moves,
					      shapes[shape].starts });
}

static void model(void **state)
{
	for (unsigned i = 0; i < SP_COUNT(shapes); i++) {
		double part[SP_COUNT(watched)];

		for (unsigned n = 0; n < SP_COUNT(watched); n++)
			part[n] = percent(i, watched[n]);
		assert_true(part[3] > 99.99);
		assert_true(part[0] <= part[1] && part[1] <= part[2]);
		/* The cache is watched, or windows are short beside the time between two moves. */
		assert_true(part[2] > (shapes[i].window <= 100 && shapes[i].starts == 1 ? 90 : 60));
		assert_true(shapes[i].window > 10 || part[0] > 90);
	}
}

static int table(void)
{
	printf("window ms\twindows a start\t1 CPU\t13\t61\t128 watched\n");
	for (unsigned i = 0; i < SP_COUNT(shapes); i++) {
		printf("%u\t%u", shapes[i].window, shapes[i].starts);
		for (unsigned n = 0; n < SP_COUNT(watched); n++)
			printf("\t%.1f", percent(i, watched[n]));
		printf("\n");
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nearest_first, fresh_folder, folder_gone),
		cmocka_unit_test_setup_teardown(a_list_that_is_too_long, fresh_folder, folder_gone),
		cmocka_unit_test(shares),
		cmocka_unit_test(budget),
		cmocka_unit_test(dear_at_first),
		cmocka_unit_test(scans_leave_half),
		cmocka_unit_test(model),
	};

	if (argc > 1 && strcmp(argv[1], "table") == 0)
		return table();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
