/*
 * clocks.c: clocks of a thread that moves thousands of times in one window. TASK-CLOCK: the
 * kernel's own per-CPU counters, which the test opens, count on each CPU the same ns as PAPI's.
 * CPU-CLOCK: such counters differ from PAPI's by up to some us per move, so that windows with moves
 * prove nothing.
 */
#include "proven.h"

#include <linux/perf_event.h>

#define MOST_MOVES 2000

static int set, by_cpu[CPUS], moved, at, unmoved_only;
static const char *event;
static long long last, began[CPUS], earlier[CPUS];

static void open_by_cpu(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_TASK_CLOCK };

	a.exclude_kernel = a.exclude_hv = 1;
	for (int k = 0; k < cpus; k++) {
		by_cpu[k] = (int)syscall(SYS_perf_event_open, &a, 0, cpu_of(k), -1,
					 PERF_FLAG_FD_CLOEXEC);
		if (by_cpu[k] < 0)
			die("perf_event_open");
	}
}

static long long clock_of(int k)
{
	long long ns;

	if (read(by_cpu[k], &ns, sizeof(ns)) != sizeof(ns))
		die("a clock");
	return ns;
}

static void look(long long *clock)
{
	for (int k = 0; k < cpus; k++)
		clock[k] = clock_of(k);
}

static void window_ends(void)
{
	for (int k = 0; k < cpus && !unmoved_only; k++)
		true_count(0, k, earlier[k], 0);
	handed_out(0, event, last);
	memset(earlier, 0, sizeof(earlier));
	last = 0;
}

/* From before the call that began the window until now: no less than PAPI has. */
static void value(long long v)
{
	for (int k = 0; k < cpus; k++)
		earlier[k] = clock_of(k) - began[k];
	if (unmoved_only && !moved)
		true_count(0, at, v - last, 0);
	last = v;
	moved = 0;
}

static void call(enum call c)
{
	long long v, before[CPUS];

	look(before);
	v = papi_call(set, c);
	if (c != START && c != RESET)
		value(v);
	if (c != START && c != RESET && c != ACCUM)
		return;
	window_ends();
	memcpy(began, before, sizeof(began));
	moved = 0;
}

/* Short visits, and longer ones to one CPU. */
static void move_about(int moves)
{
	int home = (int)rnd(cpus);

	while (moves-- > 0) {
		int to = moves % 2 ? home : (int)rnd(cpus);

		moved |= to != at;
		at = to;
		go_to(to);
		spin(rnd(to == home ? 3000 : 300));
	}
}

static void count_once(void)
{
	call(START);
	for (int i = (int)rnd(6); i > 0; i--) {
		rnd(2) ? move_about((int)rnd(rnd(2) ? MOST_MOVES : 5)) : spin(rnd(100000));
		call((enum call[]){READ, READ, READ_TS, ACCUM, READ, RESET}[rnd(6)]);
	}
	move_about((int)rnd(MOST_MOVES));
	call(STOP);
}

static void clocks(const char *name)
{
	event = name;
	begin_papi();
	set = set_with(event);
	open_by_cpu();
	go_to(0);
	for (int i = 1 + (int)rnd(3); i > 0; i--)
		count_once();
	window_ends();
}

void task_clock(void)
{
	clocks("perf::TASK-CLOCK");
}

void cpu_clock(void)
{
	unmoved_only = 1;
	clocks("perf::CPU-CLOCK");
}
