/* t-level.c: level.h: the counts of a model made by hand (stub-model.c), by each level:
 * which rows, in which order, with which sums; and nothing is lost on any level.
 */
#include "test.h"

#include <getopt.h>

#include "../../core/cli/report/report.h"
#include "../../core/cli/tool/cmd.h"
#include "stub-model.c"

enum { INS, CYC, ENERGY = 3, DAMAGED, GAUGE, BIG, ODD };

static struct sp_levels t;

static struct sp_model *model(enum stub kind)
{
	struct sp_model *m = stub_model(kind);

	for (uint32_t i = 0; i < stub_relations; i++)
		stub_relation[i].row.thread_at = (sp_off)(stub_relation[i].row.tid + 1);
	return m;
}

static void open_level(const char *name, struct sp_model *m)
{
	assert_int_equal(sp_levels_open(&t, m, sp_level_by_name(name), NULL), 0);
}

static const struct sp_level_row *row(uint32_t i)
{
	assert_true(i < t.n);
	return sp_levels_row(&t, i);
}

static const char *label_of(uint32_t i)
{
	static char text[600];
	struct sp_out o;

	sp_memory_init(&o, text, sizeof(text));
	sp_level_label(&o, &t, row(i), 72);
	return sp_memory_text(&o);
}

static void is_row(uint32_t i, const char *label, int64_t ins, int64_t cyc)
{
	assert_string_equal(label_of(i), label);
	assert_int_equal(row(i)->total[INS], ins);
	assert_int_equal(row(i)->total[CYC], cyc);
}

/* ---- names --------------------------------------------------------------------- */

static void names(void **state)
{
	struct option longs[SP_LEVEL_OPTIONS];
	unsigned n = sp_level_options(longs);

	assert_in_range(n, sp_n_levels + 2, SP_LEVEL_OPTIONS);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(strncmp(longs[i].name, "per-", 4), 0);
		assert_non_null(sp_level_by_name(longs[i].name + 4));
		assert_true(longs[i].val == SP_LEVEL_FIRST + (int)i &&
			    longs[i].has_arg == no_argument);
	}
	assert_ptr_equal(sp_level_by_name("node"), sp_level_by_name("numa"));
	assert_ptr_equal(sp_level_by_name("socket"), sp_level_by_name("package"));
	assert_null(sp_level_by_name("pack"));
	assert_null(sp_level_by_name(""));
}

/* ---- rows ------------------------------------------------------------------------ */

static void by_cpu(void **state)
{
	open_level("cpu", model(STUB_FULL));
	assert_int_equal(t.n, 6);
	is_row(0, "CPU 0 (core 0)", 12345678901, 23456789012);
	is_row(1, "CPU 1 (core 1)", 1030, 2040);
	is_row(2, "CPU 2 (core 2)", 6172839450, 0);
	is_row(3, "CPU 3 (core 3)", 3, 4);
	is_row(4, "CPU 99 (not in the topology)", 5, 0);
	is_row(5, "no known CPU", 7, 8);
	assert_int_equal(row(0)->exact[INS], 12345678901);
	assert_int_equal(row(1)->exact[INS], 0);
	assert_int_equal(row(0)->readings, 12000 + 1);
	assert_int_equal(row(0)->event_readings[INS], 12000);
	assert_int_equal(row(1)->event_readings[CYC], 33 + 4000);
	assert_int_equal(row(2)->cpu, 2);
	assert_int_equal(row(4)->component, -1);
	assert_true(row(0)->cpus == 1 && row(4)->cpus == 1 && row(5)->cpus == 0);
	/* As it is counted; not what has no counts there. */
	assert_int_equal(row(2)->total[ODD], -5);
	assert_int_equal(row(2)->total[BIG], -1);
	assert_int_equal(row(0)->total[ENERGY], JOULE);
	assert_true(row(0)->counted[DAMAGED] && !row(2)->counted[DAMAGED]);
	assert_false(row(2)->counted[CYC]);
	assert_false(row(0)->counted[GAUGE]);
	sp_levels_close(&t);
}

static void by_component(void **state)
{
	static const char *const name[] = { "core", "cache", "numa", "package", "machine" };
	static const char *const first[] = { "core 0", "L3 0", "NUMANode 0", "package 0",
					     "machine" };
	static const uint32_t n[] = { 4, 2, 2, 2, 1 };

	for (unsigned i = 0; i < SP_COUNT(name); i++) {
		open_level(name[i], model(STUB_FULL));
		assert_int_equal(t.n, n[i] + 2);
		assert_string_equal(label_of(0), first[i]);
		is_row(n[i], "CPUs not in the topology", 5, 0);
		is_row(n[i] + 1, "no known CPU", 7, 8);
		assert_int_equal(row(0)->cpus, i == 0 ? 1 : i < 4 ? 2 : 4);
		assert_int_equal(row(0)->kinds, i < 4 ? 2 : 3);
		sp_levels_close(&t);
	}
	open_level("package", model(STUB_FULL));
	is_row(0, "package 0", 12345678901 + 1030, 23456789012 + 2040);
	is_row(1, "package 1", 6172839450 + 3, 4);
	sp_levels_close(&t);
}

static void by_thread(void **state)
{
	struct sp_model *m = model(STUB_FULL);

	stub_relations = 4;	/* a thread's come one after the other */
	open_level("thread", m);
	assert_int_equal(t.n, 3);	/* "idle" has counted nothing */
	is_row(0, "4242 main", 12345678901 + 1000 + 7, 23456789012 + 2000 + 8);
	assert_string_equal(label_of(1), "4243 wo\\x1b\"rk,er\\xff");
	is_row(2, "5,000 threads that have ended", 33, 44);
	assert_int_equal(row(0)->cpus, 2);
	assert_int_equal(row(0)->tid, 4242);
	sp_levels_close(&t);
}

static void by_callsite(void **state)
{
	uint64_t readings = 0;

	open_level("callsite", model(STUB_FULL));
	/* Relation 2 has intervals; what the others have is between no calls that are known. */
	assert_int_equal(t.n, 3);
	for (uint32_t i = 0; i < t.n; i++)
		readings += row(i)->readings;
	assert_int_equal(readings, 12034 + 3 + 5000 + 2);
	assert_true(row(0)->from == 0 && row(0)->to == 1);
	assert_int_equal(row(0)->total[CYC], 40 + 4 - 2);
	assert_true(row(1)->from == 1 && row(1)->to == 2);
	assert_int_equal(row(1)->total[CYC], 2);
	assert_true(row(2)->from == 0 && row(2)->to == 0);	/* "other" is last */
	sp_levels_close(&t);
}

/* What is counted on a package is the package's, wherever it was read. */
static void placed(void **state)
{
	static const int32_t place[4] = { -1, 1, -1, -1 };
	struct sp_model *m = model(STUB_FULL);

	stub_relation[0].row.place = place;
	open_level("cpu", m);
	is_row(0, "package 0", 0, 23456789012 + 2000 + 8);
	is_row(1, "CPU 0 (core 0)", 12345678901, 0);
	is_row(2, "CPU 1 (core 1)", 1030, 40);
	assert_int_equal(row(0)->readings, 12034);
	assert_int_equal(row(0)->cpus, 0);
	assert_false(row(0)->counted[INS]);
	assert_false(row(1)->counted[CYC]);
	sp_levels_close(&t);
	/* A package is in no memory, and in a machine. */
	open_level("numa", m);
	assert_string_equal(label_of(0), "package 0");
	assert_string_equal(label_of(1), "NUMANode 0");
	sp_levels_close(&t);
	open_level("machine", m);
	is_row(0, "machine", 12345678901 + 1030 + 6172839450 + 3, 23456789012 + 2000 + 8 + 40 + 4);
	sp_levels_close(&t);
}

/* A CPU is one, even if several threads of a row counted there, with others' rows between. */
static void cpus_of_threads(void **state)
{
	struct sp_model *m = model(STUB_FULL);

	/* set 0: CPUs 0 and 1; set 3: CPUs 2 and 99, then 1 and 3; set 0: CPUs 0 and 1 */
	for (uint32_t i = 0; i < stub_relations; i++) {
		stub_relation[i].row.event_set = i == 1 || i == 2 ? 3 : 0;
		stub_relation[i].row.k = 1;
		stub_relation[i].event[0] = INS;
	}
	open_level("set", m);
	assert_int_equal(t.n, 2);
	assert_int_equal(row(0)->cpus, 2);
	assert_int_equal(row(1)->cpus, 4);
	sp_levels_close(&t);
	open_level("process", m);
	assert_int_equal(row(0)->cpus, 5);
	sp_levels_close(&t);
}

/* ---- all of them ------------------------------------------------------------------ */

static void nothing_lost(void **state)
{
	for (enum stub kind = STUB_FULL; kind <= STUB_BARE; kind++)
		for (unsigned l = 0; l < sp_n_levels; l++) {
			struct sp_model *m = model(kind);

			open_level(sp_level_table[l].name, m);
			for (uint32_t e = 0; e < m->n_events; e++) {
				int64_t total = 0, exact = 0;

				for (uint32_t i = 0; i < t.n; i++) {
					stub_add(e, &total, row(i)->total[e]);
					stub_add(e, &exact, row(i)->exact[e]);
				}
				if (e == DAMAGED)
					continue;
				assert_int_equal(total, m->sums.total[e]);
				assert_int_equal(exact, m->sums.total_exact[e]);
			}
			sp_levels_close(&t);
		}
}

static void sorted(void **state)
{
	static const char *const by_odd[] = { "CPU 99", "CPU 0",    "CPU 1",
					      "CPU 3",	"no known", "CPU 2" };

	open_level("cpu", model(STUB_FULL));
	sp_levels_sort(&t, INS);
	for (uint32_t i = 1; i < t.n; i++)
		assert_true(row(i - 1)->total[INS] >= row(i)->total[INS]);
	sp_levels_sort(&t, SP_SORT_READINGS);
	for (uint32_t i = 1; i < t.n; i++)
		assert_true(row(i - 1)->readings >= row(i)->readings);
	/* Below zero is least; what is the same stays as the machine has it. */
	sp_levels_sort(&t, ODD);
	for (uint32_t i = 0; i < t.n; i++)
		assert_int_equal(strncmp(label_of(i), by_odd[i], strlen(by_odd[i])), 0);
	/* All bits set of an unsigned event are the most that there can be. */
	sp_levels_sort(&t, BIG);
	assert_int_equal(row(0)->cpu, 2);
	sp_levels_sort(&t, 1000);	/* no such event: as they are */
	assert_int_equal(row(0)->cpu, 2);
	sp_levels_sort(&t, SP_SORT_PLACE);
	assert_int_equal(row(0)->cpu, 0);
	sp_levels_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),	cmocka_unit_test(by_cpu),
		cmocka_unit_test(by_component), cmocka_unit_test(by_thread),
		cmocka_unit_test(by_callsite),	cmocka_unit_test(placed),
		cmocka_unit_test(nothing_lost), cmocka_unit_test(sorted),
		cmocka_unit_test(cpus_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
