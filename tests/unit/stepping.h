/* stepping.h: a signal after each instruction, where the processor has that. */
#ifndef STEPPING_H
#define STEPPING_H

#include <stdint.h>
#include <sys/auxv.h>

/* Handlers and debuggers must not stop in the vDSO: its clock reads again when the kernel's tick
 * came meanwhile, on a slow machine always. */
#define IN_VDSO(pc) ((uint64_t)(pc) - getauxval(AT_SYSINFO_EHDR) < 8192)

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
