/* t-attach-rows.c: rows of threads that ran before they were counted
 * (core/cli/stat/stat-attach-rows.c): what those counted that were born of them stands in one
 * row. */
#include "test.h"

#include "../../core/cli/stat/stat-attach-common.h"
#include "../../core/cli/stat/stat-rows.c"

static struct sp_stat_run run;
static struct sp_fork_track forks;
static bool has_event[1] = { true }, is_partial[1];
static int64_t total[1];

static void begin(int64_t all)
{
	total[0] = all;
	run = (struct sp_stat_run){ .c = { .n_cpus = 1,
					   .n = 1,
					   .has_rows = true,
					   .has_reads = true,
					   .is_attached = true,
					   .has_event = has_event,
					   .value = total,
					   .is_partial = is_partial } };
	forks = (struct sp_fork_track){ .n_own = 3 };
}

/* A thread, the only one of its process; counted: by a counter of its own, with all that were born
 * of it; -1: it has none. */
static struct sp_task *task(int tid, int parent, int64_t counted)
{
	struct sp_task *t = sp_fork_track_add(&forks, tid, tid);

	t->parent = parent;
	snprintf(t->name, sizeof(t->name), "t%d", tid);
	if (counted >= 0) {
		t->fd = calloc(forks.n_own, sizeof(*t->fd));
		t->at = calloc(1, sizeof(*t->at));
		t->at[0] = counted;
	}
	return t;
}

/* What the kernel wrote when it ended. */
static void ended(int tid, int64_t counted)
{
	struct sp_stat_row *row = sp_stat_add_row(&run.c, &run.who, tid, tid);

	row->n_reads = 1;
	row->counts[0] = counted;
}

static void forked(int tid, int parent, uint64_t ns)
{
	struct sp_stat_who *w = &run.who;

	w->task = sp_grow_array(w->task, &w->task_room, w->n_tasks + 1, sizeof(*w->task));
	w->task[w->n_tasks++] = (struct sp_stat_task){ .type = PERF_RECORD_FORK,
						       .ns = ns,
						       .pid = tid,
						       .tid = tid,
						       .ppid = parent,
						       .ptid = parent };
}

static void assert_row(int tid, int64_t counted)
{
	const struct sp_stat_row *row = sp_stat_find_gathered(&run.who, tid, tid);

	assert_non_null(row);
	assert_true(row->has_read);
	assert_int_equal(row->counts[0], counted);
}

static void end(void)
{
	for (uint32_t i = 0; i < forks.n; i++) {	/* (they name no descriptors) */
		free(forks.task[i]->fd);
		forks.task[i]->fd = NULL;
	}
	sp_fork_track_end(&forks);
	memset(&run.who, 0, sizeof(run.who));
}

static void a_child_is_not_in_its_parents_row(void **state)
{
	begin(1000);
	task(10, 0, 1000);
	task(20, 10, -1);
	ended(20, 400);
	sp_attach_rows_compute(&run, &forks, 0);
	assert_row(10, 600);
	assert_row(20, 400);
	end();
}

/* One that was born and ended while counters were opened has no row, and its child has. */
static void nor_a_grandchild_whose_parent_has_no_row(void **state)
{
	begin(1000);
	task(10, 0, 1000);
	task(20, 10, -1);
	task(30, 20, -1);
	ended(30, 400);
	sp_attach_rows_compute(&run, &forks, 0);
	assert_row(10, 600);
	assert_row(30, 400);
	assert_string_equal(sp_stat_find_gathered(&run.who, 30, 30)->name, "t30");
	end();
}

static void a_stranger_is_nobodys_child(void **state)
{
	begin(1400);
	task(10, 0, 1000);
	task(20, 0, 400);
	ended(30, 400);			/* (born of nobody that is known) */
	sp_attach_rows_compute(&run, &forks, 0);
	assert_row(10, 1000);
	assert_row(20, 400);
	end();
}

static void assert_together(int64_t counted)
{
	int64_t rows = 0;

	for (uint32_t i = 0; i < run.who.n; i++) {
		rows += run.who.row[i].counts[0];
		assert_true(run.who.row[i].counts[0] >= 0);
	}
	assert_int_equal(total[0] - rows, counted);
}

/* Number 30 is that of a child of 10, and later of one of 20: their sum is in no one's counters. */
static void children_of_one_number(void **state)
{
	begin(1000);
	task(10, 0, 750);
	task(20, 0, 250);
	task(40, 0, 0);
	forked(30, 10, 5);
	forked(30, 20, 6);
	ended(30, 700 + 200);
	sp_attach_rows_compute(&run, &forks, 0);
	assert_row(30, 900);
	assert_row(40, 0);
	assert_int_equal(run.who.rest, 2);
	assert_together(50 + 50);
	end();
}

/* The number of a thread that ran before is that of a child of 10, of which 30 is a child. */
static void a_child_with_an_older_threads_number(void **state)
{
	begin(1000);
	task(10, 0, 995);
	task(20, 0, 5);
	forked(20, 10, 5);
	forked(30, 20, 6);
	ended(30, 15);
	sp_attach_rows_compute(&run, &forks, 0);
	assert_row(30, 15);
	assert_int_equal(run.who.rest, 2);
	assert_together(985);
	end();
}

/* A difference below 0: the children of some thread were taken for another one's. */
static void no_negative_row(void **state)
{
	begin(1000);
	task(10, 0, 995);
	task(20, 0, 5);
	task(30, 20, -1);
	ended(30, 15);
	sp_attach_rows_compute(&run, &forks, 0);
	assert_row(30, 15);
	assert_int_equal(run.who.rest, 2);
	assert_together(985);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_is_not_in_its_parents_row),
		cmocka_unit_test(nor_a_grandchild_whose_parent_has_no_row),
		cmocka_unit_test(a_stranger_is_nobodys_child),
		cmocka_unit_test(children_of_one_number),
		cmocka_unit_test(a_child_with_an_older_threads_number),
		cmocka_unit_test(no_negative_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
