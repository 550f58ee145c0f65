/* t-rest.c: preload/percpu/home-off.h: another thread switches the counters on that rest while the
 * one whose they are may switch off all of its own (prctl), at any moment between two system calls.
 */
#include "test.h"

#include "../../preload/percpu/shadow-fds.h"
#include "../../preload/percpu/home-off.h"
#include "../../preload/percpu/shadow-read.h"

struct sp_process sp_process;
__thread struct sp_thread_state sp_thread_state;
uint64_t sp_tick_ns;

/* ---- the kernel, and the thread that is counted -------------------------------------- */

enum { BEFORE, FIRST, DONE };		/* of the prctl: it has switched off nothing, the clock's
					 * event, ours behind it, too */

static struct {
	unsigned when;			/* two bits for each system call: how far the prctl is by
					 * then */
	int prctl;
	bool runs;			/* the thread does */
	bool clock, home;		/* these events are on */
	uint64_t ran;			/* home's */
	bool falsely;			/* it counted when PAPI's counters did not */
} world;

static void advance(void)
{
	int to = (int)(world.when & 3);

	world.when >>= 2;
	world.prctl = to > world.prctl ? to : world.prctl;
	world.clock = world.prctl < FIRST;
	world.home = world.home && world.prctl < DONE;
}

/* Between two calls: who is inside the prctl counts nothing. */
static void pass(void)
{
	if (!world.runs || !world.home || world.prctl == FIRST)
		return;
	world.ran++;
	world.falsely |= world.prctl == DONE;
}

bool sp_counter_switch(int fd, bool on)
{
	(void)fd;
	advance();
	world.home = on;
	pass();
	return true;
}

bool sp_clock_is_counting(const struct sp_clock *c)
{
	(void)c;
	advance();
	pass();
	return world.runs && world.clock;
}

bool sp_scan_read_group(struct sp_percpu *p, struct sp_percpu_cpu *c, enum sp_group g,
			uint64_t *count)
{
	(void)p;
	(void)count;
	advance();
	c->now.ran[g] = world.ran;
	return true;
}

bool sp_residency_read(const struct sp_residency_at *t, struct sp_clock_sample *l)
{
	(void)t;
	*l = (struct sp_clock_sample){ .ran = 0 };
	return true;
}

/* ---- who switches ---------------------------------------------------------------------- */

static struct sp_percpu_cpu cpu;
static struct sp_window_cpu part;
static struct sp_window window;
static struct sp_clock clock_of;
static struct sp_percpu split;

static bool wake(unsigned when, bool runs, int caller)
{
	int fd = 3;

	memset(&world, 0, sizeof(world));
	world.when = when;
	world.runs = runs;
	world.clock = true;
	cpu = (struct sp_percpu_cpu){ .fd = &fd };
	part = (struct sp_window_cpu){ .anchor = 0 };
	window = (struct sp_window){ .n = 1, .is_sound = true, .cpu = &part };
	split = (struct sp_percpu){ .clock = &clock_of,
				    .target.is_own = true,
				    .sharing.is_shared = true,
				    .target.tid = 1,
				    .k = 1,
				    .n = 1,
				    .period.home = -1,
				    .shadow.leader = { -1, 0 },
				    .cpu = &cpu,
				    .window = &window };
	sp_thread_state.tid = caller;
	return sp_home_off_switch_on(&split);
}

static void prctl_at_any_time(void **state)
{
	unsigned woken = 0;

	for (unsigned when = 0; when < 1u << 8; when++)
		for (int runs = 0; runs < 2; runs++) {
			bool is = wake(when, runs, 2);

			woken += is;
			assert_true(is == (split.home_off.index < 0));
			world.when = world.prctl == FIRST ? DONE : world.prctl;
			advance();
			if (world.prctl == DONE)
				assert_false(world.home);
			else
				assert_true(world.home == is);
			if (world.falsely)
				assert_false(window.is_sound);
		}
	assert_true(woken);
}

static void nobody_switches(void **state)
{
	assert_true(wake(0, true, 2));
	assert_true(window.is_sound);
	assert_false(wake(0, false, 2));		/* of one that sleeps nothing is known */
	assert_true(window.is_sound && split.home_off.index == 0 && !world.home);
	assert_false(wake(0, true, 1));			/* its own clock did not run */
	assert_true(split.home_off.index == 0 && !world.home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prctl_at_any_time),
		cmocka_unit_test(nobody_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
