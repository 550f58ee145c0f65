/* sets.h: the application's event sets, as sspapi knows them.
 *
 * PAPI's id is the index; ids are reused at once, and sets vanish without being
 * destroyed (by PAPI_unregister_thread, PAPI_shutdown), so a set is looked at afresh whenever
 * it is created, and bound to a relation at the start of each run that changed
 * anything.  Private memory; mapped in chunks that stay.
 */
#ifndef SP_SETS_H
#define SP_SETS_H

#include "../../core/store/records.h"
#include "../process/process.h"
#include "../percpu/target.h"
#include "../percpu/percpu-fast.h"

struct sp_cpus;

#define SP_SETS_CHUNK	64
#define SP_SETS_CHUNKS	1024

/* A call site that a set is mostly called from (callsites.h): by the return address, and where
 * callers are kept by the words of the stack that hold their return addresses. These are on the
 * stack whose end was verified, as long as the stack pointer after the call is one of the `span` up
 * to `limit`. */
#define SP_WORDS	3u
#define SP_SAME_BASE	INT32_MIN
#define SP_FIRST_FP	(INT32_MIN + 1)
struct sp_known {
	uintptr_t to;			/* 0: none */
	uint32_t site;
	uint32_t last_site;			/* the site that was met last and may be the next
						 * one here */
	uint32_t misses;		/* calls from other sites than the known one, so far */
	uintptr_t limit, span;
	bool by_fp;			/* some base is not SP_SAME_BASE */
	bool nowhere;			/* the last word holds no return address */
	bool writing;			/* its thread is: a handler that comes then writes
					 * nothing */
	struct sp_word {
		int32_t at;		/* from the stack pointer after the call on, or from the
					 * last base */
		int32_t base;		/* the frame pointer that stands here, from the last base
					 * on, is the base of this word and of those behind it;
					 * SP_FIRST_FP: the caller's */
		uintptr_t to;		/* 0: there are no more; if not by_fp, the first one fills
					 * up SP_WORDS instead */
	} word[SP_WORDS + 1];
};

/* Calls that come from different places, mostly. */
enum sp_seen { SP_SEEN_START, SP_SEEN_STOP, SP_SEEN_READ, SP_SEEN_ZERO, SP_SEEN };

static inline enum sp_seen sp_seen_by(enum sp_op op)
{
	return op == SP_OP_START ? SP_SEEN_START : op == SP_OP_STOP ? SP_SEEN_STOP :
	       op == SP_OP_RESET || op == SP_OP_ACCUM ? SP_SEEN_ZERO : SP_SEEN_READ;
}

/* The CPU time that a set counts (counted-time.h). `counted` packs the target's tid, the kind and
 * two flags into one word: other threads read it while one binds the set. */
enum sp_counts { SP_COUNTS_NOTHING, SP_COUNTS_OWN, SP_COUNTS_OTHER, SP_COUNTS_UNKNOWN };
#define SP_COUNTS_SHIFT		32
#define SP_COUNTS_INHERITED	(UINT64_C(1) << 62)
#define SP_COUNTS_ELSEWHERE	(UINT64_C(1) << 63)	/* a thread of another process */

/* Threads write to their sets at every reading: neighbours must not share a cache line
 * (two threads that read at once: 22 ns added instead of 5), nor a pair of lines, which
 * the processor fetches together. */
struct __attribute__((aligned(128))) sp_set {
	/* A line of cache, with those of the writer's: what a start and its stop use. */
	/* Threads by sp_thread_state.id; 0: none. */
	uint32_t fast_thread;		/* may book on the fast path: started the set, and is the
					 * one counted, or the set is placed */
	/* Also read by threads that have nothing to do with the set. */
	uint32_t alive;			/* PAPI holds it, as far as we know: a number that no other
					 * set ever had; 0 */
	uint32_t creator;		/* the thread that PAPI has it under; 0: PAPI_attach took it
					 * away */
	int32_t number;			/* PAPI's, once a thread takes the fast path for it
					 * (fast.h) */
	bool is_bound;			/* the writer has a relation */
	bool changed;			/* events, target or component may differ from the
					 * relation's */
	bool started;			/* PAPI says it runs */
	uint64_t counted;		/* the CPU time that it counts (enum sp_counts) */
	struct sp_writer writer __attribute__((aligned(64)));
	struct sp_percpu *percpu;		/* counters of ours beside PAPI's; NULL: none */
	struct sp_times *times;		/* of the relation */
	struct sp_overflow_writer overflows;	/* of the relation, if the set overflows */
	sp_off relation;
	struct sp_perf_fds perf_fds;	/* what PAPI has open for it */
	struct sp_set_page *page;	/* what most sets need, there since the first with this id
					 * was made */
	struct {
		long long *values;	/* for k, for PAPI_stop(set, NULL) */
		uint32_t *slots;	/* for the writer's intervals */
		uint32_t n_values, n_slots;
	} room;				/* stays with the id */
	struct sp_gauge_writer gauges;	/* n 0: none of its events is a gauge; gauges.kind stays
					 * with the id */
	uint64_t gauges_bytes;		/* of the room for gauges.kind, and behind that for the
					 * kinds of all events */
	uint32_t start_site;		/* of the PAPI_start under way, with more frames than one */
	struct sp_known known[SP_SEEN];	/* call sites (callsites.h), by what was called */
	/* From here on 0 in a new set. */
	uint32_t starter;		/* whose relation the writer writes */
	uint32_t generation;		/* of the process that knows it; another: never seen */
	uint32_t k;
	int id;				/* PAPI's */
	struct sp_count_target target;	/* whose counts it holds, as it is bound; what nobody saw
					 * being opened, as PAPI tells */
	int last_cpu;			/* of another thread's counts: where that was seen last;
					 * SP_NO_CPU */
	int book_on;			/* the CPU of a set that counts on one only; SP_NO_CPU */
	uint32_t bound_changes;		/* opened.changes when it was bound */
	uint64_t misread;		/* and, + 1, when PAPI_INHERIT was changed for counters that
					 * are open; 0: it was not */
	bool multiplexed;		/* PAPI estimates the counts */
	bool only_grows;		/* the kernel's counts, of which none is subtracted: they
					 * fall only if somebody zeroes them */
	bool has_histograms;		/* PAPI_profil's (preload/calls/histograms.h) */
	bool unseen;			/* who opened it is not known: made before fork, or libpapi
					 * is in front of us */
	uint64_t held_value;			/* of such a one: what it held when it was started
						 * last (preload/api/count.c) */
	struct sp_log log;		/* of permanent readings, where SSPAPI_READINGS or sspapi.h
					 * says so */
	uint64_t whole;			/* opened.changes + 1: they inherit, and all threads made
					 * since then are counted; or 0 */
	int other;			/* + 1: the thread whose CPU time it counts where that is
					 * not the starter's, or 0 (counted-time.h); 0: none */
	uintptr_t arrays[4];		/* pages that PAPI_accum's array was in, by their numbers */
	struct sspapi_relation *wanted;	/* sspapi_start: whose part is to be bound
					 * (preload/handles/relations.h) */
};

/* A set with more maps memory of its own for it. */
#define SP_PAGE_VALUES	16u
#define SP_PAGE_SLOTS	64u
#define SP_PAGE_NATIVES	4u

struct __attribute__((aligned(128))) sp_set_page {
	long long values[SP_PAGE_VALUES];
	uint32_t slot[SP_PAGE_SLOTS];
	struct sp_native native[SP_PAGE_NATIVES];
};

extern struct sp_set *sp_sets[SP_SETS_CHUNKS] SP_HIDDEN;
extern bool sp_sets_lost;		/* there was no memory for a set's record */

/* The set with this id, or NULL: never seen. */
static inline struct sp_set *sp_set_of(int id)
{
	struct sp_set *chunk;

	if (SP_UNLIKELY((unsigned)id >= SP_SETS_CHUNK * SP_SETS_CHUNKS))
		return NULL;
	chunk = load_acquire(&sp_sets[(unsigned)id / SP_SETS_CHUNK]);
	return SP_LIKELY(chunk != NULL) ? &chunk[id % SP_SETS_CHUNK] : NULL;
}

/* Is what PAPI hands out for it booked? */
static inline bool sp_booked(const struct sp_set *s)
{
	return s && load_relaxed(&s->is_bound) && load_relaxed(&s->alive) &&
	       load_relaxed(&s->generation) == sp_process.generation;
}

/* Makes room for the id; a set that was there before is forgotten. */
struct sp_set *sp_set_new(int id);

/* The set, if it is alive in this process; one that we did not see being made is
 * taken up if PAPI knows it.  NULL: none. */
struct sp_set *sp_set_known(int id);

/* Binds the set to the calling thread's relation for what it now holds; calls PAPI
 * only if something changed.  Called before PAPI_start. */
void sp_set_prepare(struct sp_set *s, int id);

/* The same inside PAPI_start, which has opened its counters again: others than those that it was
 * bound for. */
void sp_set_prepare_again(struct sp_set *s, int id);

/* PAPI has opened its counters, some time before it is started. */
void sp_set_bind_perf_fds(struct sp_set *s, int id);

/* Sets `counted` from the current target. The caller has taken the writer. */
void sp_set_note_counted(struct sp_set *s);

/* Its events' texts are fetched now if they are new. */
void sp_set_learn(int id);

/* From now on every reading takes the slow path (preload/lifecycle/exit.c). */
void sp_sets_disable_fast_path(void);

/* Of the sets that other threads have started: does one run; how many bookings are under way? */
bool sp_sets_others_running(void);
unsigned sp_sets_others_booking(void);

/* Is a set other than `but` bound to this relation? */
bool sp_set_has_relation(sp_off relation, void *but);

void sp_sets_each(void (*with)(struct sp_set *s));

/* A call site's address may be another's code by now. */
void sp_sets_forget_sites(void);

/* This thread is about to go to these CPUs (sched_setaffinity); it went. */
void sp_sets_before_affinity(const struct sp_cpus *to);
void sp_sets_after_affinity(const struct sp_cpus *to);

/* Does a set that this thread started run? */
bool sp_sets_running(uint32_t thread);

/* sspapi_stop: the next run is another's. */
void sp_set_release(struct sp_set *s);

/* False: another thread's call for the set is in flight, or the caller is nested in one: that goes
 * on with what the set is bound to.  Until the next start by itself nothing of the set is
 * booked. */
bool sp_set_unbind(struct sp_set *s);

/* PAPI holds this one no more; nothing happens if the id is another set's by now. */
void sp_set_forget(struct sp_set *s, uint32_t alive);
void sp_sets_forget(uint32_t creator);	/* all that PAPI has under this thread; 0: all */

#endif
