/* stepping.h: a signal after each instruction, where the processor has that. */
#ifndef STEPPING_H
#define STEPPING_H

/* The trap flag: SIGTRAP after each instruction. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define STEPS 1
#define STEP_ON() __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; " \
				   "lea 128(%%rsp), %%rsp" ::: "cc", "memory")
#define STEP_OFF() \
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; " \
			 "lea 128(%%rsp), %%rsp" :: \
				 : "cc", "memory")
#else
#define STEPS 0
#define STEP_ON() (void)0
#define STEP_OFF() (void)0
#endif

#endif
