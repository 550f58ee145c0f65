/* seccomp.h: filters of system calls (seccomp), under which a call that was fine before may end the
 * process. */
#pragma once

#include "base.h"

/* How many the calling thread has: one that came since PAPI opened its events may end who opens
 * more.  (At least 1 where the kernel says only that there are some.)  Any thread, any handler. */
uint32_t sp_seccomp_filters(void);
