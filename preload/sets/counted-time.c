/* counted-time.c: see counted-time.h. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../../core/store/redo-log.h"
#include "../../core/store/fold.h"
#include "counted-time.h"

/* Targets of sets that count another thread or inherit; guarded by the store's lock. */
#define TARGETS	64u
#define WHOLE	0			/* in place of a tid: the process */

static struct {
	uint32_t generation;		/* of the process that owns the rest */
	uint32_t n;
	bool any;			/* a set that counts threads was started */
	bool unknown;			/* one of unknown time was started */
	struct target {
		int tid;
		uint32_t sets;		/* that count it now */
		/* CPU time counted until `since_ns`; CPU time when the first of the sets was
		 * started */
		uint64_t ns, since_ns;
	} target[TARGETS];
} others;

/* CPU time of a thread of this process, or of the process; 0: the thread has ended or is another
 * process's. */
static uint64_t cpu_ns(int tid)
{
	/* Compute the clock id as glibc's pthread_getcpuclockid does: CPUCLOCK_PERTHREAD,
	 * CPUCLOCK_SCHED. */
	long clock = tid == WHOLE ? CLOCK_PROCESS_CPUTIME_ID : (long)(~(unsigned)tid << 3 | 6);
	struct timespec t;

	if (sp_sys(SYS_clock_gettime, (int)clock, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void begin_process(void)
{
	if (others.generation == sp_process.generation)
		return;
	others.n = 0;
	store_relaxed(&others.any, false);
	store_relaxed(&others.unknown, false);
	store_release(&others.generation, sp_process.generation);
}

/* ---- a thread's own sets -------------------------------------------------------- */

static bool is_counting(const struct sp_set *s)
{
	return sp_is_recorded(s) && load_relaxed(&s->started) &&
	       load_relaxed(&s->starter) == sp_thread_state.id;
}

/* Without proof by rseq or mmap page each start and stop would read the CPU clock: read it only
 * after runs that are long in comparison. */
static bool is_clock_read_due(uint64_t ns)
{
	return sp_proof_has_mark() || ns >= 1000000;
}

static void read_clock(struct sp_ran *r)
{
	store_relaxed(&r->losses[0], sp_proof_now());
	store_relaxed(&r->known_ns, cpu_ns(sp_thread_state.tid));
	store_relaxed(&r->known, sp_ticks());
}

struct range {
	uint64_t least, most;
};

/* The CPU time since r->since, if the thread's CPU time is `now`, `ns` after that. */
static struct range cpu_time_since(const struct sp_ran *r, uint64_t now, uint64_t ns)
{
	uint64_t gap = sp_ticks_ns(r->since - r->known), ran = now - r->known_ns,
		 least = ran > gap ? ran - gap : 0;

	if (!r->known || now < r->known_ns)
		return (struct range){ 0, ns };
	return (struct range){ least, r->losses[0] == r->losses[1] ? least : sp_min(ran, ns) };
}

/* The CPU time of the thread when another one stopped its only set; 0: none did. */
static uint64_t end_cpu_ns(const struct sp_ran *r)
{
	uint64_t ns = load_acquire(&r->ended_ns);

	return ns == SP_COUNTED_UNKNOWN ? 0 : ns;
}

/* Ends a run of the thread's sets. seen: it ends right now. */
static void end_run(struct sp_ran *r, bool seen)
{
	uint64_t ns = sp_ticks_ns(sp_ticks() - r->since);
	struct range time = { 0, ns };

	if (end_cpu_ns(r)) {
		time = cpu_time_since(r, end_cpu_ns(r), ns);
		seen = true;
	} else if (sp_proof_now() == r->losses[1]) {
		time.least = ns;
	} else if (is_clock_read_due(ns)) {
		struct sp_ran before = *r;

		read_clock(r);
		time = cpu_time_since(&before, r->known_ns, ns);
	}
	store_relaxed(&r->since, 0);
	store_relaxed(&r->ns, r->ns + (seen ? time.least : 0));
	store_relaxed(&r->more_ns, sp_counted_add(r->more_ns, time.most - (seen ? time.least : 0)));
	store_relaxed(&r->ended_ns, 0);
}

/* Removes the sets that no longer count, and `but`. */
static void remove_stopped(const struct sp_set *but)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SP_COUNT(sp_thread_state.counting) && sp_thread_state.counting[i];
	     i++)
		if (sp_thread_state.counting[i] != but && is_counting(sp_thread_state.counting[i]))
			sp_thread_state.counting[n++] = sp_thread_state.counting[i];
	for (; n < SP_COUNT(sp_thread_state.counting); n++)
		sp_thread_state.counting[n] = NULL;
}

static void start_own(struct sp_set *s)
{
	struct sp_ran *r = &sp_thread_state.block->ran;
	unsigned n = 0;

	remove_stopped(s);
	if (!sp_thread_state.counting[0] && r->since)
		end_run(r, false);
	while (n < SP_COUNT(sp_thread_state.counting) && sp_thread_state.counting[n])
		n++;
	if (n == SP_COUNT(sp_thread_state.counting)) {
		store_relaxed(&r->more_ns, SP_COUNTED_UNKNOWN);
		return;
	}
	sp_thread_state.counting[n] = s;
	store_relaxed(&r->ended_ns, n ? SP_COUNTED_UNKNOWN : 0);
	if (n)
		return;
	store_relaxed(&r->losses[1], sp_proof_now());
	store_relaxed(&r->since, sp_ticks());
}

static void stop_own(struct sp_set *s)
{
	struct sp_ran *r = &sp_thread_state.block->ran;
	bool was = false;

	for (unsigned i = 0; i < SP_COUNT(sp_thread_state.counting); i++)
		was = was || sp_thread_state.counting[i] == s;
	remove_stopped(s);
	if (was && !sp_thread_state.counting[0] && r->since)
		end_run(r, true);
	else if (sp_thread_state.counting[0] && !sp_thread_state.counting[1])
		store_relaxed(&r->ended_ns, 0);	/* the end of the last set can be measured */
}

SP_COLD void sp_counting_start_slow(struct sp_set *s)
{
	int saved = errno;

	start_own(s);
	errno = saved;
}

SP_COLD void sp_counting_stop_slow(struct sp_set *s)
{
	int saved = errno;

	stop_own(s);
	errno = saved;
}

/* ---- others' ------------------------------------------------------------------- */

static struct target *get_target(int tid)
{
	for (uint32_t i = 0; i < others.n; i++)
		if (others.target[i].tid == tid)
			return &others.target[i];
	if (others.n == TARGETS)
		return NULL;
	others.target[others.n] = (struct target){ .tid = tid };
	return &others.target[others.n++];
}

static void start_other(int tid)
{
	uint64_t now = cpu_ns(tid);
	struct target *t = now ? get_target(tid) : NULL;

	if (!now)
		return;			/* another process's thread */
	if (!t)
		store_relaxed(&others.unknown, true);
	else if (!t->sets++)
		t->since_ns = now;
}

static void stop_other(int tid)
{
	uint64_t now = cpu_ns(tid);

	for (uint32_t i = 0; i < others.n; i++) {
		struct target *t = &others.target[i];

		if (t->tid != tid || !t->sets || --t->sets)
			continue;
		if (now > t->since_ns)
			t->ns += now - t->since_ns;
		else
			store_relaxed(&others.unknown, true);	/* the thread has ended */
	}
}

/* ---- a start, a stop ------------------------------------------------------------ */

/* Checks that the process was single-threaded when PAPI opened these counters: they count all
 * threads. */
static bool counts_whole(const struct sp_set *s)
{
	return load_relaxed(&s->whole) == load_relaxed(&s->perf_fds.changes) + UINT64_C(1);
}

/* Finds the thread whose time the set counts. A set on a thread of another process counts no
 * time of this process. */
static enum sp_counts kind_of(const struct sp_set *s, int *tid)
{
	uint64_t counted = load_relaxed(&s->counted);
	enum sp_counts kind = (enum sp_counts)(counted >> SP_COUNTS_SHIFT & 3);

	*tid = counted & SP_COUNTS_INHERITED ? WHOLE : (int)(uint32_t)counted;
	/* A thread of another process notes only that time is known. */
	if (counted & SP_COUNTS_ELSEWHERE &&
	    load_acquire(&others.generation) == sp_process.generation && load_relaxed(&others.any))
		return SP_COUNTS_NOTHING;
	if (counted & SP_COUNTS_INHERITED)
		return counts_whole(s) ? SP_COUNTS_OTHER : SP_COUNTS_UNKNOWN;
	if (kind == SP_COUNTS_OWN && load_relaxed(&s->starter) != sp_thread_state.id)
		return SP_COUNTS_OTHER;
	return kind;
}

/* Checks that this is the only thread, so that sets that inherit count all later ones. */
static bool is_alone(void)
{
	struct stat s;

	return sp_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &s, 0) == 0 && s.st_nlink == 3;
}

/* Notes that a set of this kind counts, or changes the state of target tid. Does not wait for
 * the lock between a start and its stop: the time is unknown if another thread has it. */
static void update_others(enum sp_counts kind, int tid, void (*change)(int tid))
{
	struct sp_lock_state lock_state;

	if (kind == SP_COUNTS_UNKNOWN &&
	    load_acquire(&others.generation) == sp_process.generation &&
	    load_relaxed(&others.any) && load_relaxed(&others.unknown))
		return;
	/* Before PAPI_start, so that waiting for the lock is allowed. */
	if (kind == SP_COUNTS_OWN || kind == SP_COUNTS_NOTHING) {
		sp_lock_take(&sp_store.lock, &lock_state);
	} else if (!sp_lock_try(&sp_store.lock, &lock_state, 0)) {
		store_relaxed(&others.any, true);
		store_relaxed(&others.unknown, true);
		return;
	}
	begin_process();
	if (kind != SP_COUNTS_NOTHING)
		store_relaxed(&others.any, true);
	if (kind == SP_COUNTS_UNKNOWN)
		store_relaxed(&others.unknown, true);
	if (kind == SP_COUNTS_OTHER)
		change(tid);
	sp_lock_give(&sp_store.lock, &lock_state);
}

void sp_counting_prepare(struct sp_set *s)
{
	struct sp_ran *r = sp_thread_state.block ? &sp_thread_state.block->ran : NULL;
	enum sp_counts kind;
	int tid;

	if (!r || !s || !sp_is_recorded(s))
		return;
	remove_stopped(NULL);
	if (sp_thread_state.counting[0])
		return;
	if (r->since)			/* the set was never stopped, or by another thread */
		end_run(r, false);
	if (load_relaxed(&s->counted) & SP_COUNTS_INHERITED && !counts_whole(s) && is_alone())
		store_relaxed(&s->whole, load_relaxed(&s->perf_fds.changes) + UINT64_C(1));
	kind = kind_of(s, &tid);
	if (load_acquire(&others.generation) != sp_process.generation ||
	    (kind == SP_COUNTS_OWN && !load_relaxed(&others.any)))
		update_others(kind == SP_COUNTS_OWN ? SP_COUNTS_OWN : SP_COUNTS_NOTHING, 0, NULL);
	if (kind != SP_COUNTS_OWN)
		return;
	if ((!r->known || r->losses[0] != sp_proof_now()) &&
	    is_clock_read_due(sp_ticks_ns(sp_ticks() - r->known)))
		read_clock(r);
}

SP_COLD void sp_counting_start(struct sp_set *s)
{
	enum sp_counts kind;
	int tid;

	if (!sp_is_recorded(s) || !sp_thread_state.block)
		return;
	kind = kind_of(s, &tid);
	if (kind == SP_COUNTS_OWN)
		start_own(s);
	else if (kind != SP_COUNTS_NOTHING)
		update_others(kind, tid, start_other);
	store_relaxed(&s->other, kind == SP_COUNTS_OTHER ? tid + 1 : 0);
}

/* Notes in the thread's block that another thread stopped its set. */
static bool end_other_run(const struct sp_set *s)
{
	const struct sp_relation *r = load_acquire(&s->writer.relation);
	struct sp_thread *t = r ? sp_store_thread_at(&sp_store, r->thread) : NULL;
	uint64_t now = t && t->tid ? cpu_ns(t->tid) : 0, none = 0;

	return t && (!load_relaxed(&t->ran.since) || (now && sp_cas(&t->ran.ended_ns, &none, now)));
}

SP_COLD void sp_counting_stop(struct sp_set *s)
{
	int other = __atomic_exchange_n(&s->other, 0, __ATOMIC_RELAXED), tid;

	if (other)
		update_others(SP_COUNTS_OTHER, other - 1, stop_other);
	if (other || !sp_is_recorded(s) || !sp_thread_state.block)
		return;
	if (load_relaxed(&s->starter) == sp_thread_state.id)
		stop_own(s);
	else if (kind_of(s, &tid) != SP_COUNTS_NOTHING && !end_other_run(s))
		update_others(SP_COUNTS_UNKNOWN, 0, NULL);
}

SP_COLD void sp_counting_note_lost(struct sp_set *s)
{
	if (load_relaxed(&s->other))
		update_others(SP_COUNTS_UNKNOWN, 0, NULL);
}

/* ---- the sum --------------------------------------------------------------------- */

static void add_thread(const struct sp_thread *t, uint64_t *least, uint64_t *more)
{
	struct range time = { 0, 0 };
	struct sp_ran r;
	uint64_t now;

	sp_copy_words((sp_word *)&r, (const sp_word *)&t->ran, sizeof(r) / 8);
	now = !r.since ? 0 : end_cpu_ns(&r) ? end_cpu_ns(&r) : cpu_ns(t->tid);

	if (r.since && !now)
		time.most = SP_COUNTED_UNKNOWN;
	else if (r.since)
		time = cpu_time_since(&r, now, sp_ticks_ns(sp_ticks() - r.since));
	*least += r.ns + time.least;
	*more = sp_counted_add(sp_counted_add(*more, r.more_ns), time.most - time.least);
}

/* Checks whether the thread's own sets also count its time. */
static bool has_own_counts(int tid)
{
	uint64_t left = sp_store_most_blocks(&sp_store);
	const struct sp_thread *t;

	for (sp_off off = sp_store.header->lists.threads;
	     left-- && (t = sp_store_thread_at(&sp_store, off)) != NULL; off = t->next)
		if ((tid == WHOLE || t->tid == tid) &&
		    (load_relaxed(&t->ran.ns) || load_relaxed(&t->ran.more_ns) ||
		     load_relaxed(&t->ran.since)))
			return true;
	return false;
}

static void add_target(const struct target *t, uint64_t *least, uint64_t *more)
{
	uint64_t now = t->sets ? cpu_ns(t->tid) : 0, ns = t->ns;

	if (t->sets && now < t->since_ns)
		*more = SP_COUNTED_UNKNOWN;
	else if (t->sets)
		ns += now - t->since_ns;
	if (!has_own_counts(t->tid))
		*least += ns;
	else
		*more = sp_counted_add(*more, ns);
}

/* The calls that a thread makes while its sets count. */
static const enum sp_call readings[] = { SP_CALL_PAPI_read,  SP_CALL_PAPI_read_ts,
					 SP_CALL_PAPI_accum, SP_CALL_PAPI_reset,
					 SP_CALL_papif_read, SP_CALL_papif_accum,
					 SP_CALL_papif_reset };

/* Estimates sspapi's own time in all calls, or in readings, from the timed ones (self_ns). */
static uint64_t estimate_own_ns(bool all)
{
	const struct sp_header *h = sp_store.header;
	uint64_t left = sp_store_most_blocks(&sp_store), calls = 0,
		 timed = load_relaxed(&h->self_calls);
	const struct sp_thread *t;

	for (sp_off off = h->lists.threads;
	     left-- && (t = sp_store_thread_at(&sp_store, off)) != NULL; off = t->next) {
		for (unsigned i = 0; all && i < SP_CALLS_MAX; i++)
			calls += load_relaxed(&t->calls[i]);
		for (unsigned i = 0; !all && i < SP_COUNT(readings); i++)
			calls += load_relaxed(&t->calls[readings[i]]);
	}
	return timed ? (uint64_t)((double)load_relaxed(&h->self_ns) / (double)timed * (double)calls)
		     : 0;
}

static uint64_t subtract(uint64_t ns, uint64_t own)
{
	return ns > own ? ns - own : 0;
}

void sp_counting_store_sum(void)
{
	struct sp_header *h = sp_store.header;
	uint64_t left = sp_store_most_blocks(&sp_store), cpu = cpu_ns(WHOLE), least = 0, more = 0;
	bool known = load_acquire(&others.generation) == sp_process.generation &&
		     load_relaxed(&others.any) && !load_relaxed(&others.unknown);
	const struct sp_thread *t;

	remove_stopped(NULL);
	if (sp_thread_state.block && sp_thread_state.generation == sp_process.generation &&
	    !sp_thread_state.counting[0] && sp_thread_state.block->ran.since)
		end_run(&sp_thread_state.block->ran, false);
	for (sp_off off = h->lists.threads;
	     left-- && (t = sp_store_thread_at(&sp_store, off)) != NULL; off = t->next)
		add_thread(t, &least, &more);
	for (uint32_t i = 0; known && i < others.n; i++)
		add_target(&others.target[i], &least, &more);
	cpu = subtract(cpu, load_relaxed(&h->time.prepare_ns) + estimate_own_ns(true));
	least = subtract(least, estimate_own_ns(false));
	store_relaxed(&h->time.cpu_ns, cpu);
	store_relaxed(&h->time.counted_ns, sp_min(least, cpu));
	store_relaxed(&h->time.counted_more_ns,
		      known ? sp_min(more, cpu - sp_min(least, cpu)) : SP_COUNTED_UNKNOWN);
}
