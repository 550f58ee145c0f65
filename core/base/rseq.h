/* rseq.h: finds the area in which the kernel writes the CPU of a thread. */
#pragma once

#include "base.h"

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define SP_HAVE_RSEQ 1
#endif

/* The calling thread's rseq area. Valid only if __rseq_size is not 0. */
static inline struct rseq *sp_rseq_area(void)
{
#ifdef SP_HAVE_RSEQ
	return (struct rseq *)(sp_thread_pointer() + __rseq_offset);
#else
	return NULL;
#endif
}
