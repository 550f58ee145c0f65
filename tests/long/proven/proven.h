/*
 * proven.h: what the clients of proven.t share: a log of page faults, one entry for each, in the
 * order in which they happened and with the CPU of each; and what PAPI handed out, from which the
 * log tells how much of it was counted on which CPU. Nothing here knows sspapi, but for
 * proven_now().
 *
 * The log's owner is one thread (the walker): who looks at the log while that runs knows the number
 * of its faults to within one, and so of what PAPI handed out, where in the log it begins, to
 * within a few.
 */
#ifndef PROVEN_H
#define PROVEN_H

#include "../../apps/handed.h"

#include <stdatomic.h>

#define CPUS 8			/* that clients go to, at most */
#define LOG (1u << 19)
#define UNSURE 255		/* a fault during which the thread moved */
#define KINDS 2			/* events of a client, at most */

/* ---- the log, in memory that forks share (story.c) ---------------- */

struct story {
	atomic_uint n;			/* faults, each entered before it happens */
	atomic_uint batch;		/* odd: there are faults that are not entered yet */
	atomic_int end, freed;
	atomic_uint ask, done, tid;	/* futexes */
	atomic_long noise;		/* faults that nobody can explain */
	unsigned char cpu[LOG];
};

extern struct story *story;
extern int quiet;			/* the walker sleeps, or it is the caller: nothing happens
					 * meanwhile */

struct walker {
	int only;			/* faults on this CPU only, the others are visited; -1:
					 * anywhere */
	int stays;			/* goes nowhere until story->freed */
	int wide;			/* it may run anywhere now and then, as far as the kernel is
					 * asked */
	int hidden;			/* what it does is not counted and not entered */
	int narrow;			/* always bound to one CPU: signal handlers bind it there
					 * again */
	unsigned stay;			/* steps between two moves, about */
	int at;
	long area_used, begun;
	unsigned entered;
	char *area;
};

void story_make(void);
void walker_make(struct walker *w, int only);
void walker_go(struct walker *w, int cpu);
void walker_touch(struct walker *w);
void walk(struct walker *w, int steps);
void walker_catch_up(struct walker *w);	/* enters the faults that were not the walker's own */
void walker_end(struct walker *w);
void faults_count(void);
int fault_counter(void);
long faults_of_thread(void);
void faults_end(void);
void until_asleep(pid_t tid);
void futex_wait(atomic_uint *word, unsigned while_it_is);
void futex_wake(atomic_uint *word);

/* ---- what PAPI handed out (values.c) ---------------- */

enum call { START, READ, READ_TS, ACCUM, RESET, STOP };

void values_make(void);

/* The call, and what it handed out. */
long long papi_call(int set, enum call how);

/* Called in the middle of PAPI_read and PAPI_stop, before and after the kernel is asked (inside.c);
 * or NULL. */
extern void (*inside)(void);

/* The walker's number of faults is at least, at most that; to be asked before a call, after a
 * call. */
unsigned least_now(void);
unsigned most_now(void);

/* A call between the two, and what it handed out. */
void entered(enum call how, unsigned least, long long value, unsigned most);
void value_is_nested(void);	/* the last one: by a call inside another one, whose counts are in
				 * the sums if later values have them */

/* What sspapi says is proven by now, if it is there; kept with the value entered last, and looked
 * at in the end. */
int proven_now(long long *by_cpu);
void value_asked(void);
void self_asked(struct walker *w);	/* now and then, by the walker: what it takes to ask is
					 * counted */

extern int nothing_can_be_proven;	/* of what sspapi has to say of the set */

void values_report(void);

/* ---- of all clients (main.c) ---------------- */

extern int cpus;			/* that there are, CPUS at most: known by an index */
int cpu_of(int k);
int index_of(int cpu);
void allow(pid_t tid, int first, int n);
void go_to(int k);
extern const char *const fault_event;
extern int fault_code;			/* PAPI's, once papi_up() */

unsigned rnd(unsigned n);
void rnd_seed(unsigned long seed);	/* of the calling thread */
void spin(unsigned n);
unsigned rnd_scale(void);		/* 3 to 300 */
void reader_moves(void);
void begin_papi(void);

/* The truth, summed: of an event on a CPU (its index) at most and at least that much was handed
 * out; and what was handed out on all. */
void true_count(int kind, int cpu, long long most, long long least);
void handed_out(int kind, const char *event, long long value);

void attach_runs(void), attach_sleeps(void), attach_freed(void), attach_forks(void),
	attach_ends(void);
void shared(void), handlers(void);
void inside_read(void), widened(void), multiplexed(void), overflown(void), filtered(void),
	closed(void), switched_off(void);
void cpu_clock(void), task_clock(void);
void inherit_threads(void), inherit_forks(void);

#endif
