/* rseq-proof.c: tests whether rseq shows that a thread was moved, and sets a thread's mark; see
 * rseq-proof.h. */
#include <stdbool.h>
#include <time.h>

#include "../../core/base/sys.h"
#include "../process/diagnostic.h"
#include "rseq-proof.h"

static bool rseq_works;

#ifdef SP_HAVE_RSEQ
/* A section of one instruction that never runs. The kernel checks that glibc's registered signature
 * precedes the abort address, and otherwise kills the process. Both are in our text, which stays
 * mapped (-z nodelete). */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".hidden sp_proof_start\n.globl sp_proof_start\n"
	"sp_proof_start:\n	nop\n"
	".hidden sp_proof_end\n.globl sp_proof_end\n"
	"sp_proof_end:\n	ud2\n"
	"	.byte 0x0f, 0xb9, 0x3d\n	.long 0x53053053\n"
	".hidden sp_proof_abort\n.globl sp_proof_abort\n"
	"sp_proof_abort:\n	ud2\n"
	".popsection\n");
#define SECTION 1
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".hidden sp_proof_start\n.globl sp_proof_start\n"
	"sp_proof_start:\n	nop\n"
	".hidden sp_proof_end\n.globl sp_proof_end\n"
	"sp_proof_end:\n	brk #0\n"
	"	.inst 0xd428bc00\n"
	".hidden sp_proof_abort\n.globl sp_proof_abort\n"
	"sp_proof_abort:\n	brk #0\n"
	".popsection\n");
#define SECTION 4
#endif
#endif

#ifdef SECTION
extern const char sp_proof_start[], sp_proof_abort[];
static const struct rseq_cs never_run __attribute__((aligned(32), section(".data.rel.ro"))) = {
	.start_ip = (uintptr_t)sp_proof_start,
	.post_commit_offset = SECTION,
	.abort_ip = (uintptr_t)sp_proof_abort,
};

/* The order lets a nested call find either no proof or this one. */
static void arm_rseq(void)
{
	struct rseq *area = sp_rseq_area();
	sp_mark_word *word = (sp_mark_word *)&area->rseq_cs;

	store_relaxed(&sp_thread_state.mark.expected, (uint64_t)(uintptr_t)&never_run);
	store_relaxed(&sp_thread_state.rearm.to, word);
	sp_order();
	store_relaxed(&sp_thread_state.rearm.from, &sp_thread_state.mark.expected);
	store_relaxed(&sp_thread_state.mark.cpu, (const int32_t *)&area->cpu_id);
	sp_order();
	store_relaxed(&sp_thread_state.mark.word, word);
	sp_proof_rearm();
}

bool sp_proof_test(void)
{
	uint32_t before;

	if (__rseq_size == 0)
		return false;
	arm_rseq();
	store_relaxed(&rseq_works, false);
	/* The shortest may end before the thread sleeps. */
	for (struct timespec delay = { 0, 1000 };
	     delay.tv_nsec <= 1000000 && !load_relaxed(&rseq_works); delay.tv_nsec *= 10) {
		before = sp_proof_count_losses();
		(void)sp_sys(SYS_nanosleep, &delay, NULL);
		store_relaxed(&rseq_works, sp_proof_count_losses() != before);
	}
	if (!load_relaxed(&rseq_works))
		sp_proof_disarm();
	store_relaxed(&sp_process.proof_works, load_relaxed(&rseq_works));
	return load_relaxed(&rseq_works);
}
#else
static void arm_rseq(void)
{
}

bool sp_proof_test(void)
{
	return false;
}
#endif

void sp_proof_report(void)
{
	if (!load_relaxed(&rseq_works))
		sp_process_note_quiet("neither this kernel nor this libc reports whether a "
				      "thread stayed on its CPU (rseq): no counts are proven");
}

/* Sets the mark in the same order: the word never equals `expected` in between. */
void sp_proof_use_page(const sp_mark_word *word)
{
	sp_thread_state.by_page = true;
	store_relaxed(&sp_thread_state.mark.cpu, &sp_thread_state.cpu);
	store_relaxed(&sp_thread_state.mark.word, word);
	sp_order();
	store_relaxed(&sp_thread_state.rearm.to, &sp_thread_state.mark.expected);
	sp_order();
	store_relaxed(&sp_thread_state.rearm.from, word);
	sp_proof_rearm();
}

SP_COLD void sp_proof_disarm(void)
{
	store_relaxed(&sp_thread_state.rearm.from, &sp_no_mark.word);
	sp_order();
	store_relaxed(&sp_thread_state.rearm.to, &sp_no_mark.word);
	sp_order();
	store_relaxed(&sp_thread_state.mark.expected, 1);
	sp_order();
	store_relaxed(&sp_thread_state.mark.word, &sp_no_mark.word);
	store_relaxed(&sp_thread_state.mark.cpu, &sp_no_mark.cpu);
	sp_thread_state.by_page = false;
}

SP_COLD void sp_proof_arm(void)
{
	if (load_relaxed(&rseq_works) && !sp_thread_state.shares_tls)
		arm_rseq();
}
