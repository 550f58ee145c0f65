/*
 * proven.h: a log of page faults for the clients of proven.t, one entry for each, in order and with
 * its CPU; and the values that PAPI returned, for which the log gives the count of each CPU. It
 * does not use sspapi, except in proven_now().
 *
 * The log's owner is one thread (the walker). Another thread that reads the log meanwhile knows the
 * number of its faults to within one, and so the log position at which PAPI's values begin to
 * within a few.
 */
#ifndef PROVEN_H
#define PROVEN_H

#include "../../apps/handed.h"

#include <stdatomic.h>

#define CPUS 8			/* at most, for clients */
#define LOG (1u << 19)
#define UNSURE 255		/* a fault during which the thread moved */
#define KINDS 2			/* events of a client, at most */

/* ---- the log, in memory that forks share (story.c) ---------------- */

struct story {
	atomic_uint n;			/* faults, each entered before it happens */
	atomic_uint batch;		/* odd: some faults are not entered yet */
	atomic_int end, freed;
	atomic_uint ask, done, tid;	/* futexes */
	atomic_long noise;		/* faults without an explanation */
	unsigned char cpu[LOG];
};

extern struct story *story;
extern int quiet;			/* the walker sleeps, or is the caller */

struct walker {
	int only;			/* this CPU only, the others are visited; -1: any */
	int stays;			/* stays until story->freed */
	int wide;			/* it may be unpinned sometimes */
	int hidden;			/* its work is not counted and not entered */
	int narrow;			/* always pinned: signal handlers pin it again */
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
void walker_catch_up(struct walker *w);	/* enters faults that were not the walker's own */
void walker_end(struct walker *w);
void faults_count(void);
int fault_counter(void);
long faults_of_thread(void);
void faults_end(void);
void until_asleep(pid_t tid);
void futex_wait(atomic_uint *word, unsigned while_it_is);
void futex_wake(atomic_uint *word);

/* ---- PAPI's values (values.c) ---------------- */

enum call { START, READ, READ_TS, ACCUM, RESET, STOP };

void values_make(void);

/* Makes the call; returns its value. */
long long papi_call(int set, enum call how);

/*
 * Called in the middle of PAPI_read and PAPI_stop, before and after the kernel is called
 * (inside.c); or NULL.
 */
extern void (*inside)(void);

/* The least and the most of the walker's number of faults; call them before and after a call. */
unsigned least_now(void);
unsigned most_now(void);

/* Enters a call between the two, and its value. */
void entered(enum call how, unsigned least, long long value, unsigned most);
void value_is_nested(void);	/* the last one was a nested call's */

/*
 * Queries sspapi, if loaded, for proven counts; kept with the last value, and checked at the end.
 */
int proven_now(long long *by_cpu);
void value_asked(void);
void self_asked(struct walker *w);	/* sometimes, by the walker: the query itself is counted */

extern int nothing_can_be_proven;	/* sspapi's counts of the set */

void values_report(void);

/* ---- of all clients (main.c) ---------------- */

extern int cpus;			/* number of CPUs, at most CPUS; known by index */
int cpu_of(int k);
int index_of(int cpu);
void allow(pid_t tid, int first, int n);
void go_to(int k);
extern const char *const fault_event;
extern int fault_code;			/* PAPI's, after papi_up() */

unsigned rnd(unsigned n);
void rnd_seed(unsigned long seed);	/* of the calling thread */
void spin(unsigned n);
unsigned rnd_scale(void);		/* 3 to 300 */
void reader_moves(void);
void begin_papi(void);

/*
 * Prints the truth: for an event and a CPU (its index) the most and the least that was returned;
 * and the sum of all CPUs.
 */
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
