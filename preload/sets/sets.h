/* sets.h: sspapi's data about the application's event sets, indexed by PAPI's id.
 *
 * PAPI reuses ids at once, and sets vanish without being destroyed (PAPI_unregister_thread,
 * PAPI_shutdown). So a set's data is renewed when PAPI creates one. Each start after a change binds
 * the set to a relation. The data is private memory, mapped in chunks that stay.
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

/* A call site from which a set is usually called (callsites.h): the return address and, if
 * callers are kept, the stack words with their return addresses. `limit` and `span` are the
 * stack pointers after the call for which these words lie below the verified end of the stack. */
#define SP_STACK_WORDS 3u
#define SP_SAME_BASE	INT32_MIN
#define SP_FIRST_FP	(INT32_MIN + 1)
struct sp_known_site {
	uintptr_t to;			/* 0: unused */
	uint32_t site;
	/* last other site; replaces this one if it calls again */
	uint32_t last_site;
	uint32_t misses;		/* calls from other sites */
	enum sp_op op;			/* of the site: SP_KIND_ZERO has two */
	uintptr_t limit, span;
	bool by_fp;			/* some base is not SP_SAME_BASE */
	bool has_dead_end;		/* the last word contains no return address */
	bool is_writing;		/* its thread is writing it: nested calls must not */
	struct sp_stack_word {
		/* offset from the stack pointer after the call, or from the last base */
		int32_t at;
		/* offset from the last base to a frame pointer that is the base from here on;
		 * SP_FIRST_FP: the caller's */
		int32_t base;
		/* 0: end; if not by_fp, the first word is repeated up to SP_STACK_WORDS */
		uintptr_t to;
	} word[SP_STACK_WORDS + 1];
};

/* Kinds of calls that usually come from different call sites. */
enum sp_call_kind { SP_KIND_START, SP_KIND_STOP, SP_KIND_READ, SP_KIND_ZERO, SP_KINDS };

static inline enum sp_call_kind sp_call_kind_of(enum sp_op op)
{
	return op == SP_OP_START			? SP_KIND_START
	       : op == SP_OP_STOP			? SP_KIND_STOP
	       : op == SP_OP_RESET || op == SP_OP_ACCUM ? SP_KIND_ZERO
							: SP_KIND_READ;
}

/* Whose CPU time a set counts (counted-time.h). `counted` packs the target's tid, the kind and two
 * flags into one word: threads read it while another thread binds the set. */
enum sp_counts { SP_COUNTS_NOTHING, SP_COUNTS_OWN, SP_COUNTS_OTHER, SP_COUNTS_UNKNOWN };
#define SP_COUNTS_SHIFT		32
#define SP_COUNTS_INHERITED	(UINT64_C(1) << 62)
#define SP_COUNTS_ELSEWHERE	(UINT64_C(1) << 63)	/* a thread of another process */

/* Alignment separates sets: threads write to their sets at every reading, and neighbours in one
 * cache line cost 22 ns instead of 5. The processor fetches lines in pairs. */
struct __attribute__((aligned(128))) sp_set {
	/* One cache line, used with the writer's lines by a start and its stop. */
	/* Threads are sp_thread_state.id; 0: none. */
	/* may take the fast path: it started the set, and the set counts it or is placed */
	uint32_t fast_thread;
	/* Other threads also read the following fields. */
	/* serial number, unique in the process; 0: PAPI has destroyed the set */
	uint32_t alive;
	uint32_t creator;		/* the thread under which PAPI keeps the set; 0: attached */
	/* PAPI's id, once a thread takes the fast path for the set (fast.h) */
	int32_t number;
	bool is_bound;			/* the writer has a relation */
	/* events, target or component may differ from the relation's */
	bool changed;
	bool started;			/* PAPI runs the set */
	uint64_t counted;		/* whose CPU time it counts (enum sp_counts) */
	struct sp_writer writer __attribute__((aligned(64)));
	struct sp_percpu *percpu;		/* shadow counters; NULL: none */
	struct sp_times *times;		/* of the relation */
	struct sp_overflow_writer overflows;	/* of the relation, if the set overflows */
	sp_off relation;
	struct sp_perf_fds perf_fds;	/* PAPI's */
	/* memory that most sets need, since the first set with this id */
	struct sp_set_page *page;
	struct {
		long long *values;	/* [k], for PAPI_stop(set, NULL) */
		uint32_t *slots;	/* for the writer's intervals */
		uint32_t n_values, n_slots;
	} room;				/* stays with the id */
	/* n 0: no event is a gauge; gauges.kind stays with the id */
	struct sp_gauge_writer gauges;
	/* size of gauges.kind, followed by the kinds of all events */
	uint64_t gauges_bytes;
	uint32_t start_site;		/* of a PAPI_start that unwinds */
	struct sp_known_site known[SP_KINDS];	/* call sites (callsites.h) */
	/* The following fields are 0 in a new set. */
	uint32_t starter;		/* the thread whose relation the writer writes */
	uint32_t generation;		/* of the process that created the set */
	uint32_t k;
	int id;				/* PAPI's */
	struct sp_count_target target;	/* PAPI's data if unseen */
	int last_cpu;			/* last known CPU of another thread; SP_NO_CPU */
	int pinned_cpu;			/* the only CPU on which the set counts; SP_NO_CPU */
	uint32_t bound_changes;		/* perf_fds.changes when the relation was found */
	/* perf_fds.changes + 1 when PAPI_INHERIT changed for open counters; 0: never */
	uint64_t misread;
	bool multiplexed;		/* PAPI estimates the counts */
	/* sums of kernel counts, which fall only if other code zeroes them */
	bool is_monotonic;
	bool has_histograms;		/* of PAPI_profil (preload/calls/histograms.h) */
	/* its opening was not seen: made before fork, or another library wraps PAPI */
	bool unseen;
	/* of an unseen set: hash of its events at the last start (preload/api/count.c) */
	uint64_t events_hash;
	/* permanent readings, if SSPAPI_READINGS or sspapi.h wants them */
	struct sp_log log;
	/* perf_fds.changes + 1 if it inherits and counts all threads made since then; or 0 */
	uint64_t whole;
	/* 1 + tid of the counted thread, or 1 for the process, if not the starter
	 * (counted-time.h); 0: none */
	int other;
	uintptr_t accum_pages[4];	/* numbers of pages that arrays of PAPI_accum were in */
	/* set by sspapi_start: bind to its part (preload/handles/relations.h) */
	struct sspapi_relation *wanted;
};

/* Sizes of a set's page; sets that need more map memory of their own. */
#define SP_PAGE_VALUES	16u
#define SP_PAGE_SLOTS	64u
#define SP_PAGE_NATIVES	4u

struct __attribute__((aligned(128))) sp_set_page {
	long long values[SP_PAGE_VALUES];
	uint32_t slot[SP_PAGE_SLOTS];
	struct sp_native native[SP_PAGE_NATIVES];
};

extern struct sp_set *sp_sets[SP_SETS_CHUNKS] SP_HIDDEN;
extern bool sp_sets_lost;		/* out of memory for a set's data */

/* The set with this id; NULL: never seen. */
static inline struct sp_set *sp_set_of(int id)
{
	struct sp_set *chunk;

	if (SP_UNLIKELY((unsigned)id >= SP_SETS_CHUNK * SP_SETS_CHUNKS))
		return NULL;
	chunk = load_acquire(&sp_sets[(unsigned)id / SP_SETS_CHUNK]);
	return SP_LIKELY(chunk != NULL) ? &chunk[id % SP_SETS_CHUNK] : NULL;
}

/* Checks that readings of the set are recorded. */
static inline bool sp_is_recorded(const struct sp_set *s)
{
	return s && load_relaxed(&s->is_bound) && load_relaxed(&s->alive) &&
	       load_relaxed(&s->generation) == sp_process.generation;
}

/* Adds a new set, in place of an earlier one with this id. */
struct sp_set *sp_set_new(int id);

/* Finds a set that is alive in this process; adds one that so far only PAPI has. NULL: no such
 * set. */
struct sp_set *sp_set_find(int id);

/* Binds the set to the calling thread's relation for its current events, before PAPI_start.
 * Calls PAPI only if something changed. */
void sp_set_prepare(struct sp_set *s, int id);

/* Binds the set inside PAPI_start, which has opened other counters than before. */
void sp_set_prepare_again(struct sp_set *s, int id);

/* Opens shadow counters when PAPI has opened its counters before the start. */
void sp_set_bind_perf_fds(struct sp_set *s, int id);

/* Sets `counted` from the current target. The caller has taken the writer. */
void sp_set_note_counted(struct sp_set *s);

/* Fetches the texts of the set's new events now. */
void sp_set_fetch_events(int id);

/* Sends every further reading to the slow path (preload/lifecycle/exit.c). */
void sp_sets_disable_fast_path(void);

/* Query the sets that other threads have started: is one running, how many calls are being
 * recorded. */
bool sp_sets_others_running(void);
unsigned sp_sets_others_recording(void);

/* Checks whether a set other than `but` has the relation. */
bool sp_set_has_relation(sp_off relation, void *but);

void sp_sets_each(void (*with)(struct sp_set *s));

/* Forgets all call sites: their addresses may belong to other code by now. */
void sp_sets_forget_sites(void);

/* Called when this thread moves to these CPUs, before and after sched_setaffinity. */
void sp_sets_before_affinity(const struct sp_cpus *to);
void sp_sets_after_affinity(const struct sp_cpus *to);

/* Checks whether a set runs that the thread started. */
bool sp_sets_running(uint32_t thread);

/* Lets another thread start the next run (sspapi_stop). */
void sp_set_release(struct sp_set *s);

/* Unbinds the set; nothing of it is recorded until the next start. False: another thread's call
 * for the set is in flight, or this call is nested in one: that call finishes first. */
bool sp_set_unbind(struct sp_set *s);

/* Forgets a set that PAPI has destroyed, unless the id belongs to another set by now. */
void sp_set_forget(struct sp_set *s, uint32_t alive);
void sp_sets_forget(uint32_t creator);	/* all sets under this thread; 0: all sets */

#endif
