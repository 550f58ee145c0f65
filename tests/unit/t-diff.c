/* t-diff.c: what of diff.c two stores of real programs seldom bring: positions on other
 * machines and in other jobs, threads of one name, events of one name, what only one has,
 * values of each type.  On a model made by hand (stub-model.c), as side A and, changed, as B.
 */
#include "test.h"

#include <time.h>

#include "../../core/cli/diff/diff.c"
#include "stub-model.c"

static struct sp_diff d;
static struct sp_model models[2][4];
static unsigned repeats;		/* of each side; 0: one run */
static char lines[1 << 16];
static bool any;

static struct sp_header ranks[2] = { { .process.rank = 3 }, { .process.rank = 5 } };
static struct sp_model_process process[2] = { { .h = &ranks[0] },
					      { .h = &ranks[1], .machine = 1 } };

static struct sp_model *model(void)
{
	struct sp_model *m = stub_model(STUB_FULL);

	m->process = process;
	m->n_processes = m->n_machines = 1;
	for (uint32_t i = 0; i < stub_relations; i++)
		stub_relation[i].row.thread_at = (sp_off)(i + 1);
	stub_relations = 4;	/* a thread's come one after the other */
	return m;
}

static void same(struct sp_model *m)
{
}

/* The lines of A and B by this level, where `change` made B of the same model. */
static const char *compared(const char *level, void (*both)(struct sp_model *),
			    void (*change)(struct sp_model *))
{
	struct sp_out o;

	memset(&d, 0, sizeof(d));
	d.format = SP_DIFF_CSV;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned r = 0; r < (repeats ? repeats : 1); r++) {
			struct sp_model *m = &models[i][r];

			*m = *model();
			both(m);
			if (i)
				change(m);
			assert_int_equal(sp_diff_add(&d, i, m, sp_level_by_name(level), NULL), 0);
		}
	sp_diff_index(&d);
	any = look(&d);
	sp_memory_init(&o, lines, sizeof(lines));
	compare(&d, NULL, &o);
	return sp_memory_text(&o);
}

/* Behind the lines of totals. */
static const char *places_of(const char *text)
{
	while (strncmp(text, "total,", 6) == 0)
		text = strchr(text, '\n') + 1;
	return text;
}

static void begins(const char *text, const char *start)
{
	text = places_of(text);
	if (strncmp(text, start, strlen(start)) != 0)
		fail_msg("not \"%s\":\n%s", start, text);
}

static void begins_with_total(const char *text, const char *start)
{
	if (strncmp(text, start, strlen(start)) != 0)
		fail_msg("not \"%s\":\n%s", start, text);
}

static void nothing(void **state)
{
	for (unsigned l = 0; l < sp_n_levels; l++) {
		assert_string_equal(compared(sp_level_table[l].name, same, same), "");
		assert_false(any);
	}
}

/* ---- where ------------------------------------------------------------------------------ */

static void one_more(struct sp_model *m)
{
	stub_relation[1].cell[0].total[0]++;	/* PAPI_TOT_INS on CPU 2 */
}

static void places(void **state)
{
	static const char *const want[][2] = {
		{ "cpu", "PU L#2" }, { "core", "Core L#2" }, { "cache", "L3 L#1" },
		{ "numa", "NUMANode L#1" },
		{ "package", "Package L#1" }, { "machine", "Machine L#0" },
	};

	for (unsigned i = 0; i < SP_COUNT(want); i++) {
		char line[200];
		int64_t a = i < 2   ? 6172839450
			    : i < 5 ? 6172839453
				    : 12345678901 + 1030 + 6172839453;

		snprintf(line, sizeof(line), "%s,PAPI_TOT_INS,%lld,%lld,1,+0.00,", want[i][1],
			 (long long)a, (long long)a + 1);
		begins(compared(want[i][0], same, one_more), line);
		assert_null(strchr(strchr(places_of(lines), '\n') + 1, '\n'));
		begins_with_total(lines, "total,PAPI_TOT_INS,18518519396,18518519397,1,+0.00,"
					 "18518518351,18518518351\n");
		assert_true(any);
	}
}

/* CPUs of other numbers in the same place are the same. */
static void renumber(struct sp_model *m)
{
	static struct sp_component other[STUB_COMPONENTS];

	memcpy(other, stub_component, sizeof(other));
	for (unsigned c = 0; c < STUB_COMPONENTS; c++)
		other[c].os_index += 10;
	m->component = other;
}

static void other_numbers(void **state)
{
	static const char *const level[] = { "core", "cache", "numa", "package", "machine" };

	for (unsigned i = 0; i < SP_COUNT(level); i++)
		assert_string_equal(compared(level[i], same, renumber), "");
}

static void job(struct sp_model *m)
{
	m->n_processes = m->n_machines = 2;
	stub_relation[1].row.process = 1;
}

static void in_a_job(void **state)
{
	begins(compared("package", job, one_more), "Machine L#1 Package L#1,PAPI_TOT_INS,");
	/* Alone on a machine's row: it is that machine, by its own place. */
	begins(compared("machine", job, one_more), "Machine L#0,PAPI_TOT_INS,");
	begins(compared("thread", job, one_more), "\"rank 5 thread \"\"wo");
}

/* B alone is a job on two machines: A's places are named alike. */
static void against_a_job(void **state)
{
	assert_null(strstr(compared("process", same, job), "process 0"));
	assert_non_null(strstr(lines, "rank 3,PAPI_TOT_INS,18518519396,"));
	compared("thread", same, job);
	assert_null(strstr(lines, "\n\"thread "));
	compared("package", same, job);
	assert_null(strstr(lines, "\nPackage "));
	assert_non_null(strstr(lines, "Machine L#1 Package "));
}

/* What a rank starts (a script, its program) has the rank, too. */
static void two_of_a_rank(struct sp_model *m)
{
	static struct sp_header second = { .process.rank = 3 };
	static struct sp_model_process of_rank[2] = { { .h = &ranks[0] }, { .h = &second } };

	m->process = of_rank;
	m->n_processes = 2;
	stub_relation[1].row.process = 1;
	for (unsigned i = 0; i < 2; i++)
		stub_relation[i].row.thread = "main";
}

static void one_more_in_both(struct sp_model *m)
{
	one_more(m);
	stub_relation[0].cell[0].total[0] += 2;
}

static void of_one_rank(void **state)
{
	compared("thread", two_of_a_rank, one_more_in_both);
	assert_non_null(strstr(
		lines,
		"\"rank 3 thread \"\"main\"\" #0\",PAPI_TOT_INS,12345679908,12345679910,2,"));
	assert_non_null(strstr(lines, "\"rank 3 process 1 thread \"\"main\"\" "
				      "#0\",PAPI_TOT_INS,6172839455,6172839456,1,"));
	compared("process", two_of_a_rank, one_more);
	assert_non_null(strstr(lines, "rank 3 process 1,PAPI_TOT_INS,6172839455,6172839456,1,"));
	assert_null(strstr(lines, "rank 3,"));
}

/* Two ranks of stat -r 2: each run numbers its own processes. */
static void ranks_of_repeats(void **state)
{
	static struct sp_header h[4];
	static struct sp_model_process of[4];
	struct sp_model *m = model();

	for (unsigned i = 0; i < 4; i++) {
		h[i].process.rank = i / 2;
		h[i].stat = (i % 2 + 1ull) << SP_STAT_RUN_SHIFT;
		of[i].h = &h[i];
	}
	m->process = of;
	m->n_processes = 4;
	m->h.stat = 2ull << SP_STAT_RUN_SHIFT;
	memset(&d, 0, sizeof(d));
	assert_int_equal(sp_diff_add(&d, 0, m, sp_level_by_name("process"), NULL), 0);
	assert_int_equal(d.side[0].n, 2);
	for (unsigned r = 0; r < 2; r++) {
		number_processes(&d.side[0].run[r]);
		assert_int_equal(d.side[0].run[r].nth[r], 0);
		assert_int_equal(d.side[0].run[r].nth[r + 2], 0);
	}
}

/* ---- threads ------------------------------------------------------------------------------ */

static void all_main(struct sp_model *m)
{
	for (unsigned i = 0; i < 3; i++) {
		stub_relation[i].row.thread = "main";
		stub_relation[i].row.tid = (int32_t)(i + 1);
	}
	stub_relation[2].row.intervals = 0;
}

static void other_tids(struct sp_model *m)
{
	for (unsigned i = 0; i < 3; i++)
		stub_relation[i].row.tid += 1000;
}

static void ended(struct sp_model *m)
{
	stub_relation[1].row.tid = 0;
}

static void threads(void **state)
{
	/* By name and order, whatever their numbers. */
	assert_string_equal(compared("thread", all_main, other_tids), "");
	begins(compared("thread", all_main, one_more), "\"thread \"\"main\"\" #1\",PAPI_TOT_INS,");
	/* What was added together when its thread had ended is not the thread. */
	assert_non_null(strstr(compared("thread", all_main, ended),
			       "\"threads that have ended \"\"main\"\" #0\",PAPI_TOT_INS,,"));
}

/* 100,000 ranks, and as many threads of one name: not each compared with all before it. */
static void many_rows(void **state)
{
	enum { MANY = 100000 };
	static struct sp_header header[MANY];
	static struct sp_model_process of[MANY];
	static struct sp_level_row rows[MANY];

	for (unsigned threads = 0; threads < 2; threads++) {
		struct sp_model *m = model();
		struct sp_diff_run run = {
			.levels = { .level = sp_level_by_name(threads ? "thread" : "process"),
				    .m = m,
				    .n = MANY,
				    .row = rows }
		};
		clock_t begin;

		memset(&d, 0, sizeof(d));
		d.any_job = !threads;
		m->process = of;
		m->n_processes = threads ? 1 : MANY;
		for (int32_t i = 0; i < MANY; i++) {
			header[i].process.rank = i;
			of[i].h = &header[i];
			rows[i] = (struct sp_level_row){ .component = -1,
							 .process = threads ? 0 : i,
							 .tid = i + 1,
							 .thread = "main" };
		}
		begin = clock();
		place_rows(&d, &run);
		assert_true(clock() - begin < 4 * CLOCKS_PER_SEC);
		assert_int_equal(d.positions.n, MANY);
		assert_string_equal(d.positions.name[MANY - 1].key,
				    threads ? "thread \"main\" #99999" : "rank 99999");
	}
}

/* ---- events ------------------------------------------------------------------------------- */

static void second_of_its_name(struct sp_model *m)
{
	stub_event[6].name = T_INS;	/* BIG */
}

static void other_big(struct sp_model *m)
{
	stub_relation[1].cell[0].total[1] = -2;
}

static void events(void **state)
{
	assert_string_equal(places_of(compared("cpu", same, other_big)),
			    "PU L#2,BIG,18446744073709551615,18446744073709551614,-1,-0.00,0,0\n");
	assert_string_equal(
		places_of(compared("cpu", second_of_its_name, other_big)),
		"PU L#2,PAPI_TOT_INS#1,18446744073709551615,18446744073709551614,-1,-0.00,0,0\n");
	stub_event[6].name = T_BIG;
}

/* Names are compared to their end, even if they are long or need escapes. */
static void long_names(void **state)
{
	static const unsigned bytes[] = { 600, 600, 3 };
	static const char each[] = { 'x', '\n', '\n' };
	static char name[2][700];
	const char *before[] = { stub_text[T_INS], stub_text[T_BIG] };
	uint32_t n;

	compared("cpu", same, same);
	n = d.names.n;
	for (unsigned i = 0; i < SP_COUNT(bytes); i++) {
		for (unsigned k = 0; k < 2; k++) {
			memset(name[k], each[i], bytes[i]);
			strcpy(name[k] + bytes[i], k ? "2" : "1");
			stub_text[k ? T_BIG : T_INS] = name[k];
		}
		compared("cpu", same, other_big);
		assert_int_equal(d.names.n, n);
		assert_non_null(strstr(lines, "2,18446744073709551615,18446744073709551614,-1,"));
	}
	stub_text[T_INS] = before[0];
	stub_text[T_BIG] = before[1];
}

/* ---- values --------------------------------------------------------------------------------- */

static void joules(struct sp_model *m)
{
	stub_relation[0].cell[0].total[3] = HALF;	/* on CPU 0 */
}

static void gone(struct sp_model *m)
{
	stub_relation[1].row.cells = 1;		/* nothing of CPU 99 */
}

static void unsigned_as_signed(struct sp_model *m)
{
	static const struct sp_event *event[8];
	static struct sp_event big;

	memcpy(event, stub_events, sizeof(event));
	big = stub_event[6];
	big.data_type = SP_INT64;
	event[6] = &big;
	m->event = event;
}

static void values(void **state)
{
	const char *text;

	begins(compared("cpu", same, joules),
	       "PU L#0,rapl:::PACKAGE_ENERGY:PACKAGE0,1234,0.5,-1233.5,-99.96,1234,1234\n");
	/* What one side lacks is no 0: a line with nothing there, even where the other has 0. */
	text = compared("cpu", same, gone);
	assert_non_null(
		strstr(text, "CPU 99 (not in the topology),PAPI_TOT_INS,5,,-5,-100.00,0,\n"));
	assert_non_null(strstr(text, "CPU 99 (not in the topology),BIG,0,,0,,0,\n"));
	text = compared("cpu", gone, same);
	assert_string_equal(text, "");
	/* The same bits in another type are another value. */
	text = compared("cpu", same, unsigned_as_signed);
	begins(text, "PU L#2,BIG,18446744073709551615,-1,-1.8446744073709552e19,-100.00,");
}

static void new_value(void **state)
{
	struct value none = { .type = SP_INT64 }, zero = { .there = true, .type = SP_INT64 },
		     four = { .there = true, .type = SP_INT64, .v = 4 },
		     least = { .there = true, .type = SP_INT64, .v = INT64_MIN };
	char buf[48];

	assert_string_equal(percent(buf, &none, &four, 4, false), "new");
	assert_string_equal(percent(buf, &zero, &four, 4, false), "new");
	assert_string_equal(percent(buf, &zero, &none, 0, false), "gone");
	assert_string_equal(percent(buf, &four, &four, -1, false), "-25.00");
	assert_string_equal(percent(buf, &four, &four, 8, false), "+200.00");
	assert_string_equal(percent(buf, &four, &four, 396, false), "x 100.0");
	assert_string_equal(percent(buf, &four, &four, 396, true), "+9900.00");
	assert_true(difference(&none, &four, SP_INT64).size == 4 &&
		    !difference(&none, &four, SP_INT64).less);
	assert_true(difference(&four, &none, SP_INT64).size == 4 &&
		    difference(&four, &none, SP_INT64).less);
	/* more than 2^63: unsigned */
	assert_true((uint64_t)difference(&least, &four, SP_INT64).size == (1ull << 63) + 4 &&
		    !difference(&least, &four, SP_INT64).less);
	assert_true(difference(&least, &four, SP_UINT64).less);
}

/* ---- call sites
 * -------------------------------------------------------------------------------- */

static void other_interval(struct sp_model *m)
{
	stub_relation[2].cell[0].total[0] += 1000000000;
}

static void sites(void **state)
{
	const char *text = compared("callsite", same, other_interval);

	assert_non_null(strstr(text, " -> "));
	assert_non_null(strstr(text, "matmul+0x1010"));	/* by module and offset, as in the CSV */
	assert_non_null(strstr(text, ",PAPI_TOT_CYC,42,1000000042,1000000000,+2380952380.95,"));
	text = places_of(text);
	assert_null(strchr(strchr(text, '\n') + 1, '\n'));
}

/* Site 1 to 1 and 1 to 2, which differ in their calls only: no row takes the other's place. */
static void calls_from_one_place(void **state)
{
	const char *text;

	stub_twins = true;
	stub_twin_call[1] = SP_SITE_PAPI + SP_OP_READ;
	stub_twin_call[2] = SP_SITE_PAPI + SP_OP_STOP;
	text = places_of(compared("callsite", same, other_interval));
	stub_twins = false;
	memset(stub_twin_call, 0, sizeof(stub_twin_call));
	assert_int_equal(strncmp(text, "PAPI_read;matmul+0x1000;", 24), 0);
	assert_non_null(strstr(text, " -> PAPI_read;matmul+0x1000;"));
	assert_non_null(strstr(text, ",PAPI_TOT_CYC,42,1000000042,1000000000,+2380952380.95,"));
	assert_null(strchr(strchr(text, '\n') + 1, '\n'));
}

/* ---- repeats
 * ------------------------------------------------------------------------------------- */

static int64_t more;

/* As many more as this is of how often it was called: 0 to 3, and what `more` says. */
static void spread(struct sp_model *m)
{
	static unsigned n;

	stub_relation[2].cell[0].total[0] += n++ % 4;
}

static void shifted(struct sp_model *m)
{
	stub_relation[2].cell[0].total[0] += more;
}

static void of_repeats(void **state)
{
	repeats = 4;
	more = 1;			/* two runs of four would have it by chance */
	assert_string_equal(compared("machine", spread, shifted), "");
	assert_false(any);
	more = 30;
	begins_with_total(compared("machine", spread, shifted),
			  "total,PAPI_TOT_CYC,23456791066,23456791096,30,");
	assert_true(any);
	/* Two of 5 and two of 6 prove nothing: counts are rounded. */
	repeats = 2;
	more = 1;
	assert_string_equal(compared("machine", same, shifted), "");
	more = 1000;
	assert_string_not_equal(compared("machine", same, shifted), "");
	repeats = 0;
}

/* Of tables of Student's t. */
static void chance_of_t(void **state)
{
	static const struct { double t; unsigned df; double p; } known[] = {
		{ 63.657, 1, 0.01 }, { 9.925, 2, 0.01 }, { 4.032, 5, 0.01 }, { 2.845, 20, 0.01 },
		{ 2.101, 18, 0.05 }, { 3.922, 18, 0.001 },
		{ -3.922, 18, 0.001 }, { 636.62, 1, 0.001 },
	};

	for (unsigned i = 0; i < SP_COUNT(known); i++) {
		double p = sp_chance_of_t(known[i].t, known[i].df);

		assert_true(p > known[i].p * 0.998 && p < known[i].p * 1.002);
	}
	assert_true(sp_chance_of_t(0.5, 7) == 1.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),	 cmocka_unit_test(places),
		cmocka_unit_test(other_numbers), cmocka_unit_test(in_a_job),
		cmocka_unit_test(threads),	 cmocka_unit_test(events),
		cmocka_unit_test(values),	 cmocka_unit_test(new_value),
		cmocka_unit_test(sites),	 cmocka_unit_test(of_one_rank),
		cmocka_unit_test(of_repeats),	 cmocka_unit_test(chance_of_t),
		cmocka_unit_test(calls_from_one_place), cmocka_unit_test(many_rows),
		cmocka_unit_test(long_names),
		cmocka_unit_test(ranks_of_repeats), cmocka_unit_test(against_a_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
