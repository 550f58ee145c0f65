/* stat-on.c: turns the counters of threads that run already on, and those of who is being born meanwhile.
 *
 * A thread that is born looks at each counter of its parent, whether it is on, and is listed among those that inherited it only
 * later (the kernel's inherit_event).  What turns the listed ones on in between misses it for ever: one CPU's counter of a
 * thread, or all of them.  (Who is born of a thread whose counters were opened is safe: both hold one lock.  But the kernel may
 * swap the counters of a thread with those of its child.)  So all is turned on again when every birth is over that had begun
 * before; and again, while somebody was born who may have been off, and may have borne others before he was on.
 */
#include <sys/prctl.h>
#include <time.h>

#include "../../base/sys.h"
#include "stat-running.h"

#define PAUSE_NS 100000
#define LOOKS_LEAST 500u		/* on a machine with much to do the wait alone is over before everybody has run */

/* Has it begun no birth before `user` ticks that may not be over?  (Where a signal would wake it, it is in none.) */
bool sp_births_clear(struct sp_task *t)
{
	struct sp_process_stat p;

	t->cleared = t->cleared || t->ended || t->bore || !sp_proc_thread(t->pid, t->tid, &p) || p.state == 'S' || p.state == 'T' ||
		     p.state == 't' || p.user > t->user;
	return t->cleared;
}

/* Those of this round are looked at from now on. */
static void begin_round(struct sp_births *b, uint32_t round)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct sp_task *t = b->task[i];
		struct sp_process_stat p;

		if (t->round != round)
			continue;
		t->bore = t->cleared = false;
		if (!t->ended && sp_proc_thread(t->pid, t->tid, &p))
			t->user = p.user;
	}
}

static uint32_t unclear(struct sp_births *b, uint32_t round)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++)
		n += b->task[i]->round == round && !sp_births_clear(b->task[i]);
	return n;
}

/* Those from number `from` to `to` have shown themselves since.  Who was born of one of this round, or of one of the next, or of
 * nobody knows whom, is of the next; where records were lost, all are.  False: nobody is. */
static bool find_next(struct sp_births *b, uint32_t from, uint32_t to, uint64_t lost, uint32_t round)
{
	bool any = false, more;

	for (uint32_t i = 0; b->lost != lost && i < b->n; i++)
		b->task[i]->round = round + 1;
	if (b->lost != lost)
		return true;

	do {
		more = false;
		for (uint32_t i = from; i < to; i++) {
			struct sp_task *t = b->task[i];
			const struct sp_task *of = t->parent ? sp_births_known(b, t->parent) : NULL;

			if (t->round > round || (of && of->round < round))
				continue;
			t->round = round + 1;
			any = more = true;
		}
	} while (more);
	return any;
}

static void drain(struct sp_stat_run *r, struct sp_births *b)
{
	sp_births_drain(b);
	if (r->c.rows)
		sp_stat_drain(&r->c, &r->who);
}

uint32_t sp_births_turn_on(struct sp_stat_run *r, struct sp_births *b, uint64_t wait_ns)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t until = sp_boot_ns() + wait_ns, lost;
	uint32_t left, from, to, round = 0, looks = 0;
	bool late;

	drain(r, b);
	to = b->n;
	do {
		from = to;
		lost = b->lost;
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
		r->child.start_ns = round ? r->child.start_ns : sp_now_ns();
		begin_round(b, round);
		do {
			left = unclear(b, round);
			late = ++looks > LOOKS_LEAST && sp_boot_ns() > until;
			if (left && !late)
				nanosleep(&pause, NULL);
			drain(r, b);
		} while (left && !late);
		/* A child's record may be read before that of its birth, which is in another ring. */
		to = b->n;
		drain(r, b);
	} while (find_next(b, from, to, lost, round++) && !late);
	if (late)
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
	return left;
}
