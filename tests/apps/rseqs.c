/*
 * rseqs: a program that uses restartable sequences itself, as allocators with per-CPU caches do:
 * threads add to a counter of their CPU, without atomic instructions; the sum must be right. Reads
 * a PAPI set in between. Registers the area itself if libc does not.
 */
#include "handed.h"

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

#define THREADS 4
#define ROUNDS 300000
#define CPUS 1024

static long counters[CPUS][8];
static __thread struct rseq own __attribute__((aligned(32)));
static long long faults;

static struct rseq *area(void)
{
	return __rseq_size ? (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset)
			   : &own;
}

/* Adds one to this CPU's counter; false: it was interrupted. */
static int count_once(struct rseq *r)
{
	unsigned cpu = *(volatile unsigned *)&r->cpu_id_start;

	__asm__ goto(".pushsection __rseq_cs, \"aw\"\n"
		     ".balign 32\n"
		     "3: .long 0, 0\n"
		     ".quad 1f, (2f - 1f), 4f\n"
		     ".popsection\n"
		     "leaq 3b(%%rip), %%rax\n"
		     "movq %%rax, 8(%[rseq])\n"
		     "1: cmpl %[cpu], 4(%[rseq])\n"
		     "jnz 4f\n"
		     "incq (%[counter])\n"
		     "2:\n"
		     ".pushsection __rseq_failure, \"ax\"\n"
		     ".byte 0x0f, 0xb9, 0x3d\n"
		     ".long 0x53053053\n"
		     "4: jmp %l[aborted]\n"
		     ".popsection\n"
		     :
		     : [rseq] "r"(r), [cpu] "r"(cpu), [counter] "r"(&counters[cpu % CPUS][0])
		     : "memory", "cc", "rax"
		     : aborted);
	return 1;
aborted:
	return 0;
}

static void *run(void *unused)
{
	struct counted *c = counted_new(0, NULL, 1);
	long long values[EVENTS];
	struct rseq *r = area();

	(void)unused;
	if (!__rseq_size && syscall(SYS_rseq, &own, 32, 0, 0x53053053))
		die("rseq");
	make_set(c);
	must("PAPI_start", PAPI_start(c->id));
	for (long i = 0; i < ROUNDS; i++) {
		while (!count_once(r))
			;
		if (i % 50 == 0)
			must("PAPI_read", PAPI_read(c->id, values));
		if (i % 20000 == 0)
			pin((int)(i / 20000));
	}
	must("PAPI_stop", PAPI_stop(c->id, values));
	__atomic_fetch_add(&faults, values[0], __ATOMIC_RELAXED);
	return NULL;
}

int main(void)
{
	long sum = 0;

	papi_up_threads();
	PAPI_event_name_to_code(DEFAULT_EVENT, &(int){0});
	nth_cpu(0);
	run_threads(THREADS, run);
	for (int i = 0; i < CPUS; i++)
		sum += counters[i][0];
	printf("libc registers: %s\nsum %ld\n", __rseq_size ? "yes" : "no", sum);
	fprintf(stderr, "faults %lld\n", faults);
	return sum != (long)THREADS * ROUNDS;
}
#else
int main(void)
{
	fprintf(stderr, "not for this machine\n");
	return SKIPPED;
}
#endif
