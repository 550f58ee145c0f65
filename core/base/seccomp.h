/* seccomp.h: detects seccomp filters, under which a system call that worked before may kill the
 * process. */
#pragma once

#include "base.h"

/* The number of filters of the calling thread; 1 if the kernel does not report the number. If it
 * rose since PAPI opened its events, do not open more. Thread-safe and async-signal-safe. */
uint32_t sp_seccomp_filters(void);
