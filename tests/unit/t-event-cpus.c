/* t-event-cpus.c: preload/percpu/event-cpus.h on folders as /sys has them: which CPUs an event of
 * one kind of core is counted on. */
#include "test.h"

#include "../../preload/percpu/event-cpus.h"
#include "temp-dir.h"

static void make(const char *name, const char *type, const char *cpus)
{
	char file[100];

	snprintf(file, sizeof(file), "%s/type", name);
	put(file, type);
	snprintf(file, sizeof(file), "%s/cpus", name);
	if (cpus)
		put(file, cpus);
}

static int fresh(void **state)
{
	int r = fresh_folder(state);

	make("software", "1\n", NULL);
	return r;
}

/* Linux: general events are taken by PMU `takes`; a group is of one PMU. */
static uint32_t takes, of_leader;
static bool knows_extended, permits, mixes;
static unsigned asked;

static int open_counter(const struct perf_event_attr *a, int leader)
{
	uint32_t named = a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE
				 ? (uint32_t)(a->config >> 32)
				 : a->type;

	asked++;
	if (!permits)
		return -EACCES;
	if (a->type == PERF_TYPE_HARDWARE && named && !knows_extended)
		return -ENOENT;
	assert_true(a->disabled && a->exclude_kernel && !a->exclude_user);
	if (leader >= 0)
		return mixes || (named ? named : takes) == of_leader ? open("/dev/null", O_RDONLY)
								     : -EINVAL;
	of_leader = named ? named : takes;
	return open("/dev/null", O_RDONLY);
}

static void look(uint32_t takes_general, bool extended)
{
	takes = takes_general;
	knows_extended = extended;
	permits = true;
	asked = 0;
	sp_pmus_read(dir, open_counter);
}

static struct perf_event_attr event(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){ .type = type, .config = config, .exclude_kernel = 1 };
}

static bool on(uint32_t type, uint64_t config, int cpu)
{
	struct perf_event_attr a = event(type, config);

	return sp_pmu_is_on(&a, cpu);
}

static const char *name(uint32_t type, uint64_t config)
{
	struct perf_event_attr a = event(type, config);

	return sp_pmu_name(&a);
}

static bool known(uint32_t type, uint64_t config)
{
	struct perf_event_attr a = event(type, config);

	return sp_pmu_is_known(&a);
}

static void intel(void **state)
{
	make("cpu_core", "4\n", "0-3,6\n");
	make("cpu_atom", "10\n", "4-5,7\n");
	make("uncore_imc_0", "20\n", NULL);
	look(4, true);
	assert_true(on(PERF_TYPE_RAW, 0xc0, 6) && !on(PERF_TYPE_RAW, 0xc0, 4));
	assert_true(on(10, 0xc0, 7) && !on(10, 0xc0, 0));
	assert_true(on(PERF_TYPE_SOFTWARE, 2, 0) && on(PERF_TYPE_SOFTWARE, 2, 7) && on(20, 1, 0));
	assert_true(on(PERF_TYPE_HARDWARE, 10ull << 32 | 1, 4) &&
		    !on(PERF_TYPE_HARDWARE, 10ull << 32 | 1, 3));
	assert_string_equal(name(PERF_TYPE_RAW, 0xc0), "cpu_core");
	assert_string_equal(name(PERF_TYPE_HW_CACHE, 10ull << 32), "cpu_atom");
	assert_null(name(PERF_TYPE_SOFTWARE, 2));
	assert_null(name(20, 1));
	/* A general one is the performance cores', as Linux has it for a counter of all CPUs. */
	assert_true(known(PERF_TYPE_HARDWARE, 1) && on(PERF_TYPE_HARDWARE, 1, 3) &&
		    !on(PERF_TYPE_HARDWARE, 1, 4));
	assert_string_equal(name(PERF_TYPE_HARDWARE, 1), "cpu_core");
	assert_int_equal(asked, 0);
}

/* With names of general events for each PMU (Linux 6.6) and without. */
static void arm(void **state)
{
	int before = dup(0), after;

	make("armv8_cortex_a53", "8\n", "0-3\n");
	make("armv8_cortex_a72", "9\n", "4-5\n");
	for (uint32_t taker = 8; taker <= 9; taker++)
		for (int extended = 0; extended < 2; extended++) {
			look(taker, extended);
			assert_true(on(8, 0x11, 0) && !on(8, 0x11, 4) && on(9, 0x11, 5));
			assert_true(known(PERF_TYPE_HARDWARE, 0) &&
				    known(PERF_TYPE_HW_CACHE, 0x10002));
			assert_int_equal(on(PERF_TYPE_HARDWARE, 0, 1), taker == 8);
			assert_int_equal(on(PERF_TYPE_HARDWARE, 0, 4), taker == 9);
			assert_string_equal(name(PERF_TYPE_HW_CACHE, 0x10002),
					    taker == 8 ? "armv8_cortex_a53" : "armv8_cortex_a72");
			asked = 0;
			assert_true(known(PERF_TYPE_HARDWARE, 0));	/* it was asked before */
			assert_int_equal(asked, 0);
		}
	look(7, true);			/* none of theirs */
	assert_true(!known(PERF_TYPE_HARDWARE, 0) && on(PERF_TYPE_HARDWARE, 0, 0));
	look(8, true);
	permits = false;
	assert_true(!known(PERF_TYPE_HARDWARE, 0) && !name(PERF_TYPE_HARDWARE, 0));
	permits = true;			/* what was refused is asked again */
	assert_true(known(PERF_TYPE_HARDWARE, 0));
	look(9, true);
	mixes = true;			/* groups of two PMUs tell nothing */
	assert_false(known(PERF_TYPE_HARDWARE, 0));
	mixes = false;
	after = dup(0);
	assert_int_equal(after, before + 1);	/* none is left open */
	close(after);
	close(before);
}

static void alike(void **state)
{
	make("armv8_pmuv3", "8\n", "0-1\n");	/* of cores of one kind: what is online changes */
	look(8, true);
	assert_true(on(8, 0x11, 2) && known(PERF_TYPE_HARDWARE, 1) && !name(8, 0x11));
	assert_int_equal(asked, 0);
}

static void odd(void **state)
{
	make("cpu_core", "four\n", "0-3\n");
	make("cpu_atom", "10\n", "");
	make("cpu_lowpower", "11\n", "8-9");
	make("a-name-that-is-far-too-long-to-be-a-path-of-this-file-system-but-that-is-made-all-"
	     "the-same",
	     "12\n", "x");
	look(11, true);
	assert_true(on(10, 1, 0) && on(11, 1, 8));
	sp_pmus_read("/nowhere", open_counter);
	assert_true(on(11, 1, 0) && on(PERF_TYPE_HARDWARE, 1, 0) && known(11, 1));
	assert_false(known(PERF_TYPE_HARDWARE, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(intel, fresh, folder_gone),
		cmocka_unit_test_setup_teardown(arm, fresh, folder_gone),
		cmocka_unit_test_setup_teardown(alike, fresh, folder_gone),
		cmocka_unit_test_setup_teardown(odd, fresh, folder_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
