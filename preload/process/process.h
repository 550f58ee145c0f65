/* process.h: what there is once in a process, and once in a thread.
 *
 * sp_process has pages of its own, which the kernel gives zeroed to a child of fork
 * (MADV_WIPEONFORK): whatever makes the child, its first PAPI call finds no
 * process here and makes a new one, with an empty store, while the parent's stays
 * untouched.  All wrappers look here first, so this test costs nothing more.
 */
#ifndef SP_PROCESS_H
#define SP_PROCESS_H

#include "../../core/store/layout.h"
#include "../papi/real.h"
#include "budget.h"

#ifdef __x86_64__
#define SP_PAGE 4096
#else
#define SP_PAGE 65536			/* the largest that Linux uses elsewhere */
#endif

/* All of it is wiped in a child, and nothing else: what outlives fork (the settings, the names, the
 * real PAPI) stands elsewhere. */
extern struct __attribute__((aligned(SP_PAGE))) sp_process {
	struct sp_papi *papi;		/* the libpapi observed; NULL: ask sp_enter */
	uint32_t generation;		/* 0: nothing is set up */
	bool counting;			/* not disabled, and there is a store */
	bool dumped;			/* the dump is written: what comes now is written at once */
	/* Set by split/, sites/, calls/; here, in a line of cache that every call reads anyway. */
	bool proof_works;		/* rseq proves where a thread stayed (rseq-proof.h) */
	bool unwinds;			/* call sites have more frames than one */
	bool histograms;		/* some set had PAPI_profil's
					 * (preload/calls/histograms.h) */
	bool sites_due;			/* callsites.h: something is to be looked up, or room to be
					 * made: a start and a stop then take the slow path */
	/* Apart from what every call reads; here, since elsewhere the first store after a fork is a
	 * page fault. */
	/* of shadow counters (percpu/clock.c) */
	struct sp_budget budget __attribute__((aligned(128)));
} sp_process SP_HIDDEN;

/* A line of cache, where the loader lets us: after an auditor (LD_AUDIT) it refuses a library whose
 * threads' storage is aligned to more than that of libc, 16 on aarch64. */
#ifdef __x86_64__
#define SP_THREAD_STATE_ALIGN 64
#else
#define SP_THREAD_STATE_ALIGN 16
#endif

/* The first words of a set that no thread started, all 0: what every call compares is one test less
 * than with NULL. */
extern const char sp_no_set[128] SP_HIDDEN;
#define SP_NO_SET ((struct sp_set *)sp_no_set)

/* The word that tells whether a thread stayed on its CPU, whichever proof there is
 * (percpu/rseq-proof.h). */
/* rseq's pointer, a union in older headers; or a page's lock and index */
typedef uint64_t sp_mark_word __attribute__((may_alias));
struct sp_mark {
	const sp_mark_word *word;
	uint64_t expected;			/* its value while the thread stays */
	const int32_t *cpu;		/* and the thread's CPU then; -1: not known */
};

/* No proof: a word that never is what it should be. */
extern struct sp_no_mark {
	sp_mark_word word;
	int32_t cpu;
} sp_no_mark SP_HIDDEN;
#define SP_NO_MARK { .word = &sp_no_mark.word, .expected = 1, .cpu = &sp_no_mark.cpu }
#define SP_NO_AGAIN { &sp_no_mark.word, &sp_no_mark.word }

/* What a thread keeps for itself.  Written by its thread alone. */
struct __attribute__((aligned(SP_THREAD_STATE_ALIGN))) sp_thread_state {
	uint64_t *calls;		/* in its block of the store; NULL: none yet */
	struct sp_set *set;		/* for which it may take the fast path (fast.h); SP_NO_SET:
					 * none */
	uint32_t id;			/* no other thread of the process ever has it; SP_NO_THREAD
					 * before sp_thread_state_ready */
	uint32_t generation;		/* of the process that this belongs to */
	uint32_t ticks;			/* calls until one is timed; 0: 2^32 */
	uint32_t losses;		/* times that it may have left its CPU (rseq-proof.h) */
	struct sp_mark mark;
	uintptr_t nests;		/* the frame of a NESTS row, inside which libpapi's own
					 * calls are the readings; 0: none */
	/* after a loss the mark holds again by this copy */
	struct { sp_mark_word *to; const sp_mark_word *from; } rearm;
	int32_t cpu;			/* of a page's mark */
	int32_t tid;
	uintptr_t outer;		/* then: to where the outermost of them returns, */
	const char *region;		/* and the region that it was given, */
	uint32_t region_call;		/* by which call (enum sp_region_call) */
	sp_off thread;			/* its block */
	struct sp_thread *block;
	uintptr_t inside;		/* the frame of the call of PAPI under way, where that is
					 * asked for (sp_papi_front); 0: none */
	uintptr_t stack_low, stack_end;	/* what can be read of the stack that was in use last
					 * (callsites/unwind.c) */
	bool stack_whole;		/* and it ends there */
	bool shares_tls;			/* a child that shares another thread's TLS
						 * (shared-tls.h): rseq's area is that thread's */
	bool by_page;			/* the mark is a page's word (percpu/page-proof.h) */
	struct sp_set *counting[4];	/* its own sets that count it now; NULL from the first that
					 * is none (sets/counted-time.h) */
};

extern __thread struct sp_thread_state sp_thread_state __attribute__((tls_model("initial-exec")));

/* The tid of a child that may share this TLS (shared-tls.h): every call finds out who makes it.  0:
 * none; SP_SHARED_TLS_UNKNOWN: several, or which is not known. */
extern __thread int32_t sp_shared_tls_tid __attribute__((tls_model("initial-exec")));
#define SP_SHARED_TLS_UNKNOWN (-1)
#define SP_NO_THREAD UINT32_MAX

extern struct sp_store sp_store;	/* core/store/store.h */
extern struct sp_conf sp_conf;		/* read once, with the first call of PAPI
					 * (core/base/conf.h); children of fork have the same */

/* For a call that sp_process.papi does not settle: sets the process up, finds
 * libpapi (lifecycle/setup.c).  Saves errno.  *observed as sp_real_for. */
const struct sp_real *sp_enter(uintptr_t caller, bool *observed);

/* The calling thread's block in the store, made if need be (lifecycle/thread.c); false: no
 * memory. */
bool sp_thread_state_ready(void);
bool sp_thread_ended(int tid);

/* For setup.c. */
void sp_process_capture(char **environment);	/* what the process started with; once */
void sp_process_name(void);			/* fills sp_process_who */
void sp_process_begin(int pid);			/* a child starts now */
const char *sp_process_exe(void);
extern int sp_process_pid;			/* of the process that was set up */

/* False in a child of vfork, whose memory is its parent's; and in one of fork that has not called
 * PAPI. */
bool sp_process_is_ours(void);
void sp_process_check_fork(void);			/* before the loaded objects are looked at:
							 * a child of fork that has not called PAPI
							 * tells elf.h, if its parent had */

/* Names of the process, as captured when it started. */
struct sp_who;
const struct sp_who *sp_process_who(void);

/* Has `sspapi run` said where the counts of this process go? */
bool sp_process_has_announced_dump(void);
uint64_t sp_process_start_ns(void);

/* Is this a call that libpapi makes to itself?  Its return address is in libpapi,
 * or, where libpapi ends a function by a jump, in the wrapper that called it. */
static inline bool sp_internal(const struct sp_papi *p, uintptr_t caller)
{
	return (caller - p->low < p->own) |	/* one jump */
	       sp_is_ours(caller);
}

#endif
