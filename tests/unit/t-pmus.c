/* t-pmus.c: preload/split/pmus.h on folders as /sys has them: which CPUs an event of one kind of core is counted on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "../../preload/split/pmus.h"

static char folder[] = "/tmp/sspapi-pmus.XXXXXX";

static void put(const char *name, const char *file, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", folder, name, file);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void make(const char *name, const char *type, const char *cpus)
{
	put(name, "type", type);
	if (cpus)
		put(name, "cpus", cpus);
}

static int fresh(void **state)
{
	char *made;

	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/sspapi-pmus.XXXXXX");
	made = mkdtemp(folder);
	assert_non_null(made);
	make("software", "1\n", NULL);
	return 0;
}

static int gone(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static bool on(uint32_t type, uint64_t config, int cpu)
{
	struct perf_event_attr a = { .type = type, .config = config };

	return sp_pmu_is_on(&a, cpu);
}

static void intel(void **state)
{
	struct perf_event_attr a = { .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS };

	(void)state;
	make("cpu_core", "4\n", "0-3,6\n");
	make("cpu_atom", "10\n", "4-5,7\n");
	make("uncore_imc_0", "20\n", NULL);
	sp_pmus_look(folder);
	assert_true(on(PERF_TYPE_RAW, 0xc0, 6) && !on(PERF_TYPE_RAW, 0xc0, 4));
	assert_true(on(10, 0xc0, 7) && !on(10, 0xc0, 0));
	assert_true(on(PERF_TYPE_SOFTWARE, 2, 0) && on(PERF_TYPE_SOFTWARE, 2, 7) && on(20, 1, 0));
	assert_true(on(PERF_TYPE_HARDWARE, 10ull << 32 | 1, 4) && !on(PERF_TYPE_HARDWARE, 10ull << 32 | 1, 3));
	/* A general one is the performance cores', as Linux has it for a counter of all CPUs. */
	assert_true(on(PERF_TYPE_HARDWARE, 1, 3) && !on(PERF_TYPE_HARDWARE, 1, 4));
	assert_true(sp_pmu_choose(&a));
	assert_true(a.config == (4ull << 32 | PERF_COUNT_HW_INSTRUCTIONS));
	a.config = 10ull << 32 | 1;		/* one that names its PMU stays */
	assert_true(sp_pmu_choose(&a) && a.config == (10ull << 32 | 1));
}

static void arm(void **state)
{
	struct perf_event_attr a = { .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES };

	(void)state;
	make("armv8_cortex_a53", "8\n", "0-3\n");
	make("armv8_cortex_a72", "9\n", "4-5\n");
	sp_pmus_look(folder);
	assert_true(on(8, 0x11, 0) && !on(8, 0x11, 4) && on(9, 0x11, 5));
	assert_false(sp_pmu_choose(&a));	/* whose it is Linux does not tell */
}

static void alike(void **state)
{
	struct perf_event_attr a = { .type = PERF_TYPE_HARDWARE, .config = 1 };

	(void)state;
	make("armv8_pmuv3", "8\n", "0-1\n");	/* of cores of one kind: what is online changes */
	sp_pmus_look(folder);
	assert_true(on(8, 0x11, 2) && sp_pmu_choose(&a) && a.config == 1);
}

static void odd(void **state)
{
	(void)state;
	make("cpu_core", "four\n", "0-3\n");
	make("cpu_atom", "10\n", "");
	make("cpu_lowpower", "11\n", "8-9");
	make("a-name-that-is-far-too-long-to-be-a-path-of-this-file-system-but-that-is-made-all-the-same", "12\n", "x");
	sp_pmus_look(folder);
	assert_true(on(10, 1, 0) && on(11, 1, 8));
	sp_pmus_look("/nowhere");
	assert_true(on(11, 1, 0) && on(PERF_TYPE_HARDWARE, 1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(intel, fresh, gone),
		cmocka_unit_test_setup_teardown(arm, fresh, gone),
		cmocka_unit_test_setup_teardown(alike, fresh, gone),
		cmocka_unit_test_setup_teardown(odd, fresh, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
