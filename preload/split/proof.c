/* proof.c: tries once whether rseq tells here that a thread was moved; see proof.h. */
#include <stdbool.h>
#include <time.h>

#include "../../core/base/sys.h"
#include "proof.h"
#include "witness.h"

static bool rseq_works;

#ifdef SP_HAVE_RSEQ
/* A section of one instruction that nobody runs.  The kernel checks that the
 * signature which glibc registered stands before the abort address, and kills the
 * process if not; both lie in our text, which stays mapped (-z nodelete). */
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
const struct rseq_cs sp_proof_section __attribute__((aligned(32), section(".data.rel.ro"))) = {
	.start_ip = (uintptr_t)sp_proof_start,
	.post_commit_offset = SECTION,
	.abort_ip = (uintptr_t)sp_proof_abort,
};

bool sp_proof_test(void)
{
	uint32_t before;

	if (__rseq_size == 0)
		return false;
	sp_proof_rseq();
	sp_put(&rseq_works, false);
	/* The shortest may be over before the thread sleeps. */
	for (struct timespec nap = { 0, 1000 }; nap.tv_nsec <= 1000000 && !sp_get(&rseq_works); nap.tv_nsec *= 10) {
		before = sp_proof_rseq();
		(void)sp_sys(SYS_nanosleep, &nap, NULL);
		sp_put(&rseq_works, sp_proof_rseq() != before);
	}
	sp_put(&sp_process.proof_works, sp_get(&rseq_works));
	return sp_get(&rseq_works);
}
#else
bool sp_proof_test(void)
{
	return false;
}
#endif

void sp_proof_say(void)
{
	if (!sp_get(&rseq_works))
		sp_process_note_quiet("neither this kernel nor this libc tells whether a thread stayed on its CPU "
				      "(rseq): no count is called proven");
}

SP_COLD uint32_t sp_proof_other(void)
{
	if (sp_get(&rseq_works) && !sp_self.is_guest)
		return sp_proof_rseq();
	if (sp_self.is_guest || !sp_witness_stayed(sp_cpu_now())) {
		sp_order();
		sp_add(&sp_self.losses, 1);
	}
	sp_order();
	return sp_self.losses;
}
