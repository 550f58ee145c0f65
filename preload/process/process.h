/* process.h: the process state and the thread state.
 *
 * sp_process has its own pages, which the kernel zeroes in a child of fork (MADV_WIPEONFORK),
 * however the child is made. The child's first PAPI call finds no process state and makes a new
 * one, with an empty store; the parent's does not change. All wrappers read this state first, so
 * the check is free.
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

/* Wiped in a child. State that survives fork (settings, names, the real PAPI) is elsewhere. */
extern struct __attribute__((aligned(SP_PAGE))) sp_process {
	struct sp_papi *papi;		/* the libpapi observed; NULL: call sp_enter() */
	uint32_t generation;		/* 0: not set up */
	bool counting;			/* not disabled, and there is a store */
	bool dumped;			/* the dump is written: later changes are written at once */
	/* Set by percpu/, callsites/ and calls/; here, in a cache line that every call reads. */
	bool proof_works;		/* rseq proves that a thread stayed (rseq-proof.h) */
	bool unwinds;			/* call sites have more than one frame */
	bool histograms;		/* some set has used PAPI_profil (histograms.h) */
	bool sites_due;			/* slow path next: call sites need symbols or room */
	/* In these pages, since elsewhere the first store after a fork is a page fault. */
	struct sp_budget budget __attribute__((aligned(128)));
} sp_process SP_HIDDEN;

/* A cache line, if the loader allows it. It refuses, with an auditor (LD_AUDIT), a library whose
 * TLS has a larger alignment than libc's: 16 on aarch64. */
#ifdef __x86_64__
#define SP_THREAD_STATE_ALIGN 64
#else
#define SP_THREAD_STATE_ALIGN 16
#endif

/* No set: its first words are 0, and comparing with these takes one test less than with NULL. */
extern const char sp_no_set[128] SP_HIDDEN;
#define SP_NO_SET ((struct sp_set *)sp_no_set)

/* The word that shows whether a thread stayed on its CPU (percpu/rseq-proof.h): rseq's pointer,
 * which is a union in older headers; or a page's lock and index. */
typedef uint64_t sp_mark_word __attribute__((may_alias));
struct sp_mark {
	const sp_mark_word *word;
	uint64_t expected;		/* its value while the thread stays */
	const int32_t *cpu;		/* the thread's CPU then; -1: unknown */
};

/* No mark: a word that never has the expected value. */
extern struct sp_no_mark {
	sp_mark_word word;
	int32_t cpu;
} sp_no_mark SP_HIDDEN;
#define SP_NO_MARK { .word = &sp_no_mark.word, .expected = 1, .cpu = &sp_no_mark.cpu }
#define SP_NO_AGAIN { &sp_no_mark.word, &sp_no_mark.word }

/* The thread state. Written only by its thread. */
struct __attribute__((aligned(SP_THREAD_STATE_ALIGN))) sp_thread_state {
	uint64_t *calls;		/* in its block of the store; NULL: none yet */
	struct sp_set *set;		/* that may take its fast path (fast.h), or SP_NO_SET */
	uint32_t id;			/* unique; SP_NO_THREAD before sp_thread_state_ready() */
	uint32_t generation;		/* of the process that this belongs to */
	uint32_t ticks;			/* calls until one is timed; 0: 2^32 */
	uint32_t losses;		/* times that it may have left its CPU (rseq-proof.h) */
	struct sp_mark mark;
	uintptr_t nests;		/* frame of a NESTS row, whose inner calls count; 0 */
	/* copied after a loss to restore the mark */
	struct { sp_mark_word *to; const sp_mark_word *from; } rearm;
	int32_t cpu;			/* of a page's mark */
	int32_t tid;
	uintptr_t outer;		/* where the outermost NESTS row returns to */
	const char *region;		/* the name of its region */
	uint32_t region_call;		/* the call that began it (enum sp_site_call) */
	sp_off thread;			/* of its block */
	struct sp_thread *block;
	uintptr_t inside;		/* frame of the current call (sp_papi_front); 0: none */
	uintptr_t stack_low, stack_end;	/* of the stack used last: readable (unwind.c) */
	bool stack_whole;		/* which ends there */
	bool shares_tls;		/* a guest (shared-tls.h): rseq's area is another's */
	bool by_page;			/* the mark is a page's word (percpu/page-proof.h) */
	struct sp_set *counting[4];	/* own sets that count now, NULL at the end */
};

extern __thread struct sp_thread_state sp_thread_state __attribute__((tls_model("initial-exec")));

/* tid of a child that may share this TLS; SP_SHARED_TLS_UNKNOWN: several; 0 (shared-tls.h). */
extern __thread int32_t sp_shared_tls_tid __attribute__((tls_model("initial-exec")));
#define SP_SHARED_TLS_UNKNOWN (-1)
#define SP_NO_THREAD UINT32_MAX

extern struct sp_store sp_store;	/* core/store/store.h */
extern struct sp_conf sp_conf;		/* read once (core/base/conf.h); inherited by fork */

/* For calls before the setup, or by unknown callers: sets the process up and finds libpapi
 * (lifecycle/setup.c). Preserves errno. *observed as in sp_real_for(). */
const struct sp_real *sp_enter(uintptr_t caller, bool *observed);

/* Gives the calling thread a block in the store (lifecycle/thread.c). False: no memory. */
bool sp_thread_state_ready(void);
bool sp_thread_ended(int tid);

/* For setup.c. */
void sp_process_capture(char **environment);	/* captures the environment at the start; once */
void sp_process_name(void);		/* fills sp_process_output_vars() */
void sp_process_begin(int pid);		/* begins this process, perhaps a child of fork */
const char *sp_process_exe(void);
extern int sp_process_pid;		/* of the process that was set up */

/* False in a child of vfork, and in a child of fork before its first PAPI call. */
bool sp_process_is_ours(void);
/* Reports a fork to elf.h before the loaded objects are read, if the child has not called PAPI. */
void sp_process_check_fork(void);

/* The process's names, captured when it started. */
struct sp_output_vars;
const struct sp_output_vars *sp_process_output_vars(void);

/* Has `sspapi run` announced the place of this process's counts? */
bool sp_process_has_announced_dump(void);
/* The path of that file if child processes may also write it; otherwise "". */
const char *sp_process_announced_path(void);
uint64_t sp_process_start_ns(void);

/* Does libpapi call itself? The return address is in libpapi, or in a wrapper after a tail call. */
static inline bool sp_internal(const struct sp_papi *p, uintptr_t caller)
{
	return (caller - p->low < p->own) |	/* bitwise: one jump */
	       sp_is_own_code(caller);
}

#endif
