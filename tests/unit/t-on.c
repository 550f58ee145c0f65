/* t-on.c: turning counters on while threads are born (core/cli/stat/stat-on.c), by a kernel of this file that does what the script
 * says, in that order: whoever begins to be born looks whether its parent is on, and is listed when its birth is over. */
#include <stdarg.h>
#include <sys/prctl.h>

#include "test.h"

#include "../../core/cli/stat/stat-running.h"

#define THREADS 6

static struct sp_stat_run run;
static struct sp_births births;
static struct thread {
	bool listed, on, saw_on, told;
	int parent, ends_after;		/* its birth is over after so many looks at its parent; 0: it is over */
} thread[THREADS];
static int tries, looks;

int prctl(int option, ...)
{
	assert_int_equal(option, PR_TASK_PERF_EVENTS_ENABLE);
	tries++;
	for (int i = 0; i < THREADS; i++)
		thread[i].on = thread[i].on || thread[i].listed;
	return 0;
}

/* The command looks at /proc. */
bool sp_proc_thread(int pid, int tid, struct sp_process_stat *p)
{
	bool bears = false;

	looks++;
	for (int i = 0; i < THREADS; i++) {
		struct thread *t = &thread[i];

		if (t->parent != tid || t->listed || !thread[tid].listed)
			continue;
		bears = true;
		if (--t->ends_after > 0)
			continue;
		t->listed = true;
		t->on = t->saw_on;
	}
	*p = (struct sp_process_stat){ .state = bears ? 'R' : 'S' };
	return true;
}

void sp_births_drain(struct sp_births *b)
{
	for (int i = 0; i < THREADS; i++) {
		struct thread *t = &thread[i];

		if (!t->listed || t->told)
			continue;
		t->told = true;
		sp_births_task(b, 1, i)->parent = t->parent;
		if (t->parent)
			sp_births_task(b, 1, t->parent)->bore = true;
		/* It bears the next one at once, of which it is not known yet whether anybody turns it on meanwhile. */
		for (int k = 0; k < THREADS; k++)
			if (thread[k].parent == i)
				thread[k].saw_on = t->on;
	}
}

struct sp_task *sp_births_known(const struct sp_births *b, int tid)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->task[i]->tid == tid)
			return b->task[i];
	return NULL;
}

struct sp_task *sp_births_task(struct sp_births *b, int pid, int tid)
{
	static struct sp_task *list[THREADS], of[THREADS];

	b->task = list;
	if (!sp_births_known(b, tid)) {
		of[b->n] = (struct sp_task){ .pid = pid, .tid = tid };
		list[b->n] = &of[b->n];
		b->n++;
	}
	return sp_births_known(b, tid);
}

void sp_stat_drain(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	fail();
}

static void begin(void)
{
	births = (struct sp_births){ 0 };
	run = (struct sp_stat_run){ 0 };
	memset(thread, 0, sizeof(thread));
	tries = looks = 0;
	thread[1].listed = true;
}

static void all_are_on(int n)
{
	assert_int_equal(sp_births_turn_on(&run, &births, UINT64_MAX / 4), 0);
	for (int i = 1; i <= n; i++)
		assert_true(thread[i].listed && thread[i].on);
	assert_true(run.child.start_ns > 0);
}

static void nobody_is_born(void **state)
{
	begin();
	all_are_on(1);
	assert_int_equal(tries, 1);
}

/* Its birth began before all was turned on, and is over when a thread that sleeps would long be counted. */
static void in_the_middle(void **state)
{
	begin();
	thread[2] = (struct thread){ .parent = 1, .ends_after = 50 };
	all_are_on(2);
	assert_true(looks >= 50);
}

/* And it bears another, before it is turned on itself, which bears another. */
static void one_after_the_other(void **state)
{
	begin();
	for (int i = 2; i < 5; i++)
		thread[i] = (struct thread){ .parent = i - 1, .ends_after = 50 };
	all_are_on(4);
}

/* Who has been told of since has begun no birth before. */
static void told(void **state)
{
	begin();
	thread[2] = (struct thread){ .parent = 1, .ends_after = 1 };
	all_are_on(2);
	assert_int_equal(tries, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_is_born), cmocka_unit_test(in_the_middle), cmocka_unit_test(one_after_the_other), cmocka_unit_test(told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
